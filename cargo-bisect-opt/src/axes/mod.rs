//! What a change is: how a selection is applied, what a run reports of it, and how a culprit is worded.
//!
//! Of what is compiled, each axis is a [`Level`]: the packages of the graph ([`crates::Crates`]), the functions and expressions
//! that `bisect-rustc` tells ([`gated::Gated`]), and the passes that the compiler counts ([`passes::Counted`]). Cargo
//! compiles; how, is said by its profiles and by the plans that the wrapper follows.

pub(crate) mod compilation;
pub(crate) mod contrast;
pub(crate) mod crates;
pub(crate) mod fixed;
pub(crate) mod gated;
pub(crate) mod passes;
pub(crate) mod stop_gap;

use std::{collections::BTreeSet, ffi::OsString, fmt::Debug, io, path::Path};

use bisect_core::{ChangeId, Pattern};

use crate::{
    cargo::{Artifacts, BuildOverrides},
    compiler::{plan, wrapper},
    output::events::{Change, StopGap},
    report::scan::Reports,
};
use compilation::Compilation;

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Depth {
    /// Which crates.
    Crates,
    /// Which functions of them, if there is a `bisect-rustc`.
    Functions,
    /// Which pass of the compiler.
    Passes,
}

/// What one search is about: changes that are compiled in.
pub(crate) trait Level: Debug + Send + Sync {
    /// How things are compiled.
    fn compilation(&self) -> &Compilation;

    /// As the JSON names what is searched.
    fn name(&self) -> &'static str;

    /// What is searched, for people.
    fn subject(&self) -> String;

    /// What a culprit of so many changes says.
    fn headline(&self, changes: usize) -> String;

    /// The build for a pattern. `None`: there is none.
    fn build_with(&self, pattern: &Pattern) -> Option<BuildOverrides>;

    /// The same, told as shortly as can be, for people to build it again.
    fn build_again(&self, pattern: &Pattern) -> Option<BuildOverrides> {
        self.build_with(pattern)
    }

    /// Whether what differs is how code is optimized, and not what it means.
    fn is_about_optimization(&self) -> bool {
        true
    }

    /// The packages that are compiled in the bad way with a pattern.
    fn bad(&self, pattern: &Pattern) -> BTreeSet<ChangeId>;

    /// Adds what was built with the pattern to the reports; without artifacts, if it did not build. Where a build is what
    /// is searched, artifacts are as many as there were before it failed.
    ///
    /// # Errors
    /// If what the compiler said cannot be read.
    fn report(&self, pattern: &Pattern, artifacts: Option<&Artifacts>, reports: &mut Reports) -> io::Result<()>;

    /// A change that was reported with this text, of a project in the directory `root`.
    fn describe(&self, id: ChangeId, text: &[String], root: &Path) -> Change;

    /// What keeps a user going until these changes are mended: what passes, by what the search has shown.
    fn stop_gap(&self, _ids: &[ChangeId], _changes: &[Change]) -> Option<StopGap> {
        None
    }

    /// What else the builds have shown, for people.
    fn summary(&self) -> Option<String> {
        None
    }
}

/// Variables (`NAME=value`) and settings (as for `--config`) with which cargo builds what a level builds for a pattern.
pub(crate) fn reproduce(level: &dyn Level, pattern: &Pattern) -> (Vec<String>, Vec<String>) {
    let Some(BuildOverrides { mut variables, settings, .. }) = level.build_again(pattern) else {
        return Default::default();
    };
    let shortly = level.compilation().shortly(&level.bad(pattern));
    let is_told = |name: &String| name.starts_with(plan::PREFIX) || name.starts_with(plan::BISECT_RUSTC_PREFIX);
    if variables.keys().any(is_told) {
        // Nothing is kept.
        variables.insert(wrapper::VARIABLE.to_owned(), "{}".into());
    } else {
        variables.clear();
    }
    let assignment = |(name, value): (String, OsString)| format!("{name}={}", value.display());
    (variables.into_iter().map(assignment).collect(), shortly.unwrap_or(settings))
}
