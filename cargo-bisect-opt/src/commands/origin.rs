//! The origin of a search: what its record says about the command, and the steps after it.

use std::{env, ffi::OsString, path::Path};

use super::{command_line, defaults::applied::AppliedDefaults};
use crate::{output::next_steps::NextSteps, record::Provenance};

/// Returns the origin of a search, for its record.
pub(super) fn provenance(root: &Path, run_dir: &Path, defaults: &AppliedDefaults) -> Provenance {
    let words = texts(defaults.whole_line(command_line::own_words()));
    Provenance {
        command: ["cargo", "bisect-opt"].map(str::to_owned).into_iter().chain(words).collect(),
        run_dir: run_dir.display().to_string(),
        root: root.display().to_string(),
        driver: env!("CARGO_PKG_VERSION").to_owned(),
        rustc: None,
        os: env::consts::OS.to_owned(),
        arch: env::consts::ARCH.to_owned(),
    }
}

/// Returns the next steps after a search of this origin. They have the words of the user: the defaults are in use again.
pub(super) fn next_steps(provenance: &Provenance, defaults: &AppliedDefaults) -> NextSteps {
    let words: Vec<_> = texts(command_line::own_words()).collect();
    let can_resume = words.first().is_some_and(|subcommand| command_line::has_option(subcommand, "resume"));
    let steps = NextSteps::new(words, provenance.run_dir.clone(), can_resume);
    steps.with_defaults(texts(defaults.used_words().cloned().collect()).collect())
}

/// Returns words as text.
fn texts(words: Vec<OsString>) -> impl Iterator<Item = String> {
    words.into_iter().map(|word| word.to_string_lossy().into_owned())
}
