//! The bench for tests of the target: small projects that are really built and run.

use std::{
    collections::HashMap,
    path::Path,
    process::{Command, Output},
};

use bisect_core::{
    ChangeId, Pattern,
    search::{Mode, Observation, Options, Order, Outcome, Question, Search, Selection, Step, Trial, TrialId},
};

use super::{
    command_line::CommandLine,
    options::{PerTest, ProjectOptions},
    prepare::prepare,
    runner::ProjectRun,
    target::ProjectTarget,
};
use crate::{
    axes::Files,
    cargo::{CargoError, Subcommand},
    fixture::Fixture,
    lab::target::{Judge, Judgement, Runner, Target},
    process::{interrupt::Interrupt, scratch_dir::ScratchDir, slots::Slots},
    report::kind::ChangeKind,
    run::{
        error::RunError,
        in_flight::InFlight,
        reader::Reader,
        repetition::Repetition,
        result::RunResult,
        spec::{Choice, Purpose, RunSpec, Surroundings},
    },
};

/// The manifest of a package of its own.
pub(super) const MANIFEST: &str = "package = { name = 'p', version = '0.1.0', edition = '2024' }\n[workspace]\n";

pub(super) fn settings(subcommand: Subcommand, fixture: &Fixture, line: &str, toggles: &[&str]) -> ProjectOptions {
    let (cargo, target) = line.split_once("--- ").unwrap_or((line, ""));
    ProjectOptions {
        subcommand,
        cargo: fixture.words(cargo),
        target: target.split_whitespace().map(Into::into).collect(),
        toggles: toggles.iter().map(|&name| name.to_owned()).collect(),
        all_tests: false,
        per_test: PerTest::Never,
        rustflags: None,
        timeout: None,
        skip_code: 125,
        fail_when: None,
        same_failure: true,
        direction: None,
        launcher: None,
        quiet: true,
    }
}

/// A target with a directory for its files.
pub(super) struct Bench {
    pub(super) program: ProjectTarget,
    pub(super) dir: tempfile::TempDir,
    pub(super) runs: usize,
    pub(super) repetition: Repetition,
}

/// Returns the specification of a run with a pattern.
pub(super) fn spec(dir: &Path, pattern: &Pattern, repetition: Repetition) -> RunSpec {
    RunSpec {
        number: 1,
        trial: trial(pattern),
        purpose: Purpose::Answer,
        choice: Choice::Hashes(pattern.clone()),
        repetition,
        tests: None,
        log: dir.join("log"),
        report_file: dir.join("reports"),
        slot: 0,
    }
}

impl Bench {
    pub(super) fn new(settings: ProjectOptions) -> Self {
        let program = prepare(settings, &Interrupt::default()).unwrap_or_else(|error| panic!("{error}"));
        Self { program, dir: tempfile::tempdir().unwrap(), runs: 0, repetition: Repetition::Once }
    }

    pub(super) fn test(line: &str, toggles: &[&str]) -> Self {
        Self::new(settings(Subcommand::Test, Fixture::toggles(), line, toggles))
    }

    pub(super) fn shown(&mut self, pattern: &Pattern) -> Result<ProjectRun, RunError> {
        self.runs += 1;
        let (slots, scratch) = (&Slots::inherited(), &ScratchDir::new().unwrap());
        let surroundings =
            Surroundings { slots, scratch, interrupt: &Interrupt::default(), seat: &InFlight::default().begin(0, 1) };
        let spec = spec(self.dir.path(), pattern, self.repetition);
        let shown = self.program.runner().run(&spec, &self.program.known_failures(), &surroundings)?;
        self.program.learn(&trial(pattern), &shown)?;
        Ok(shown)
    }

    /// Returns the kind of the changes of a toggle.
    pub(super) fn kind(&self, toggle: &str) -> ChangeKind {
        let report = crate::report::text::parse(ChangeId(0), vec![format!("src/lib.rs:1:1 {toggle}")]);
        self.program.axis().change(report, self.program.root(), Mode::Enable).kind
    }

    pub(super) fn reproduce(&self, pattern: &str) -> String {
        let ProjectTarget { runner, knowledge, needed_variables, .. } = &self.program;
        let needed_variables = &mut *needed_variables.borrow_mut();
        let line = CommandLine { runner, knowledge, needed_variables, reader: Reader::Person, limit: Vec::new() };
        let files = Files { directory: self.dir.path(), stem: "", report_file: None };
        line.of(&Choice::Hashes(pattern.parse().unwrap()), &[], &files)
    }

    pub(super) fn builds(&self) -> (usize, usize) {
        let builds = self.program.knowledge.builds;
        (builds.builds, builds.compiled_crates)
    }

    /// Runs once, and also at the end states if it must be known what fails there.
    pub(super) fn try_run(&mut self, pattern: &Pattern) -> Result<RunResult, RunError> {
        let shown = self.shown(pattern)?;
        let mut results = match self.program.judge(&trial(pattern), shown) {
            Judgement::Ready(results) => results,
            Judgement::Pending(shown) => {
                self.shown(&Pattern::all())?;
                self.shown(&Pattern::all().inverted(true))?;
                match self.program.judge(&trial(pattern), shown) {
                    Judgement::Ready(results) => results,
                    Judgement::Pending(_) => panic!("both ends are known"),
                }
            }
        };
        Ok(results.remove(0))
    }

    pub(super) fn run(&mut self, pattern: &str) -> RunResult {
        self.try_run(&pattern.parse().unwrap()).unwrap_or_else(|error| panic!("{pattern}: {error}"))
    }

    /// Returns the outcome, the failed tests, and the number of reported changes.
    pub(super) fn outcome(&mut self, pattern: &str) -> (Outcome, Vec<String>, usize) {
        let run = self.run(pattern);
        (run.outcome, run.failed_tests, run.reports.len())
    }

    pub(super) fn log(&self) -> String {
        fs_err::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// Searches as the driver does. Returns each culprit's size and the tests that it breaks.
    pub(super) fn search(&mut self) -> Vec<(usize, Vec<String>)> {
        let mut search = Search::new(Options::default());
        let mut tests = HashMap::new();
        while let Step::Run(trial) = search.step() {
            let run = self.try_run(&trial.pattern()).unwrap();
            let observation = Observation::of_ids(Order::ByHash, run.outcome, run.reports.ids().iter().copied());
            search.record(trial.id, [observation]);
            tests.insert(trial.id, run.failed_tests);
        }
        search.test(0).found().iter().map(|set| (set.changes.len(), tests[&set.confirmed_by].clone())).collect()
    }

    pub(super) fn shell(&self, pattern: &str) -> Output {
        let line = self.reproduce(pattern);
        let mut command = Command::new("sh");
        // The command line must work by itself, wherever it is pasted.
        command.args(["-c", &line]).current_dir("/").env_remove("LD_LIBRARY_PATH");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG")) {
            command.env_remove(name);
        }
        command.output().unwrap()
    }
}

/// Returns a trial with this pattern, and with the fields that the target reads.
pub(super) fn trial(pattern: &Pattern) -> Trial {
    let question = match pattern {
        _ if *pattern == Pattern::all() => Question::AllOn,
        _ if *pattern == Pattern::all().inverted(true) => Question::AllOff,
        _ => Question::Prefix,
    };
    Trial { id: TrialId(0), question, selection: Selection::all(), tests: vec![0] }
}

pub(super) fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

pub(super) fn refused(settings: ProjectOptions) -> CargoError {
    prepare(settings, &Interrupt::default()).map(|program| program.describe()).unwrap_err()
}
