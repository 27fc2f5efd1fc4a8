//! The beginning of a search: a new one, or one that `--resume` continues.

use std::{ffi::OsStr, io, path::Path};

use super::{
    command_line,
    conditions::{Conditions, ResumeError, SearchLine},
    defaults::applied::AppliedDefaults,
    search_options::SearchArgs,
};
use crate::{
    lab::journal::Journal,
    output::run_dir::{self, RunDir, RunDirError},
    process::{machine_fault::patiently, shell},
    run::seed::Seed,
};

/// The resources with which a command begins.
#[derive(Debug)]
pub(super) struct Beginning {
    pub(super) run_dir: RunDir,
    /// The ends of runs that are not repeated, and of those to come.
    pub(super) journal: Journal,
    /// True if the user gave the seed, to repeat a search.
    pub(super) is_repeated: bool,
}

impl Beginning {
    /// Begins a search with this seed, or continues the one in its run directory. The sources are below `root`.
    ///
    /// # Errors
    /// If the run directory cannot be used, or the search cannot be continued. Then nothing in it has changed.
    pub(super) fn of_search(
        root: &Path,
        args: &SearchArgs,
        defaults: &AppliedDefaults,
        seed: Seed,
    ) -> Result<Self, ResumeError> {
        let run_dir = patiently(|| if args.resume { RunDir::reopen(&args.out) } else { RunDir::create(&args.out) })?;
        let words = command_line::own_words();
        let searched = command_line::option_axis(&words);
        let line = SearchLine {
            words: command_line::essential(&words),
            defaults: defaults.texts(command_line::is_essential),
            of_defaults: defaults.used_words().cloned().collect(),
        };
        let now = Conditions::now(root, (seed, args.seed.is_some()), line, searched);
        let directory = || args.out.clone();
        if args.resume {
            let earlier = conditions_of(&args.out)?;
            if let Some(what) = earlier.difference(&now) {
                return Err(ResumeError::Changed { directory: directory(), what });
            }
            let journal = Journal::open(&run_dir.journal()).map_err(|source| match source.kind() {
                io::ErrorKind::NotFound => nothing(&args.out),
                _ => ResumeError::Journal { directory: directory(), source },
            })?;
            run_dir.empty_trials().map_err(|source| ResumeError::Journal { directory: directory(), source })?;
            return Ok(Self { run_dir, journal, is_repeated: earlier.is_repeated });
        }
        // The journal comes last: where it is, a killed search can be continued.
        let written = run_dir.write_conditions(&now).and_then(|()| Journal::create(&run_dir.journal()));
        // The search itself needs neither.
        let journal = written.unwrap_or_else(|error| Journal::lost(&error));
        Ok(Self { run_dir, journal, is_repeated: now.is_repeated })
    }

    /// Begins a command that cannot be continued.
    ///
    /// # Errors
    /// If the run directory cannot be used.
    pub(super) fn without_journal(args: &SearchArgs) -> Result<Self, RunDirError> {
        let run_dir = patiently(|| RunDir::create(&args.out))?;
        Ok(Self { run_dir, journal: Journal::default(), is_repeated: args.seed.is_some() })
    }
}

/// Returns the seed of a search: the one that the user gave, that of the interrupted search, or a new one.
///
/// # Errors
/// If there is no search to continue, or if it had another seed.
pub(super) fn seed(args: &SearchArgs) -> Result<Seed, ResumeError> {
    if !args.resume {
        return Ok(args.seed.unwrap_or_else(Seed::draw));
    }
    let earlier = conditions_of(&args.out)?.seed;
    if args.seed.is_some_and(|seed| seed != earlier) {
        return Err(ResumeError::Changed { directory: args.out.clone(), what: format!("its seed was {earlier}") });
    }
    Ok(earlier)
}

/// Returns the conditions of the interrupted search in a run directory.
fn conditions_of(directory: &Path) -> Result<Conditions, ResumeError> {
    match RunDir::read_conditions(directory) {
        Ok(conditions) => conditions.ok_or_else(|| nothing(directory)),
        // The directory of a search is made after its builds.
        Err(RunDirError::None { .. }) if run_dir::is_unwritten(directory) => Err(nothing(directory)),
        Err(error) => Err(error.into()),
    }
}

/// Returns the error for a directory without a search that can be continued.
fn nothing(directory: &Path) -> ResumeError {
    let ours = ["cargo", "bisect-opt"].map(OsStr::new);
    let words = command_line::own_words();
    let target = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let words = words.iter().enumerate().filter(|(i, word)| *i > target || *word != "--resume");
    let line = shell::line(ours.into_iter().chain(words.map(|(_, word)| word.as_os_str())));
    ResumeError::Nothing { directory: directory.to_owned(), line }
}
