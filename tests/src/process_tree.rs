//! The descendants of a command, direct and indirect, which all carry a mark in their environment.

use std::{
    fs,
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::harness::wait_until;

/// A mark that one command and all its descendants carry, in any process group or session.
#[derive(Debug)]
pub struct ProcessTree(String);

impl ProcessTree {
    /// Marks a command.
    #[must_use]
    pub fn mark(command: &mut Command) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}.{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        command.env("PROCESS_TREE", &mark);
        Self(format!("PROCESS_TREE={mark}"))
    }

    /// Returns the processes that carry the mark and still run, as `/proc` shows them.
    #[must_use]
    pub fn alive(&self) -> Vec<u32> {
        let marked = |pid: &u32| {
            // The environment of a zombie is empty, that of another user's process cannot be read.
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == self.0.as_bytes())
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(marked).collect()
    }

    /// Waits until no marked process is left.
    ///
    /// # Panics
    /// If some do not end.
    #[track_caller]
    pub fn expect_gone(&self) {
        wait_until("processes are left over", || self.alive().is_empty());
    }
}
