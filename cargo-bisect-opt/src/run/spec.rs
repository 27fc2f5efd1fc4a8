//! One run to make: what it is of, and what it needs to keep out of the way of other runs.

use std::{path::Path, process::Command};

use bisect_core::Pattern;

use super::repetition::Repetition;
use crate::process::{interrupt::Interrupt, scratch_dir::ScratchDir, slots::Slots};

/// One run to make.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// The changes to switch.
    pub(crate) pattern: &'a Pattern,
    /// Of the target's [`tests`](crate::lab::target::Target::tests), those to run, each in a process of its own, by their numbers; `None`:
    /// everything, in one go.
    pub(crate) tests: Option<&'a [usize]>,
    /// Which run of the search it is, from 1.
    pub(crate) run: usize,
    /// How often the target is executed, and what that means.
    pub(crate) repetition: Repetition,
    /// No other run with this number is going on.
    pub(crate) slot: usize,
    /// What depends on the slot.
    pub(crate) slots: &'a Slots,
    /// For files that nobody needs after the run.
    pub(crate) scratch: &'a ScratchDir,
    /// Where everything that the run prints goes.
    pub(crate) log: &'a Path,
    /// Where its reports go (`BISECT_REPORT`), as an absolute path. The target creates this file.
    pub(crate) report_file: &'a Path,
    /// Set when the user wants to stop.
    pub(crate) interrupt: &'a Interrupt,
}

impl Request<'_> {
    /// Gives a process of the run what it needs to keep out of the way of other runs, at the same time and later: among it,
    /// an empty directory for temporary files, which is to be dropped when the process has ended.
    ///
    /// # Errors
    /// If that cannot be made.
    pub(crate) fn set_apart(&self, command: &mut Command) -> std::io::Result<ScratchDir> {
        self.slots.apply(command, self.slot);
        let temporary = self.scratch.inner()?;
        command.envs(temporary.variables());
        Ok(temporary)
    }
}
