//! Tests with small projects that are really built and run: repetition, failures that count, lines to paste.

use std::{
    collections::HashMap,
    path::Path,
    process::{Command, Output},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bisect_core::{
    ChangeId, Pattern, Suffix,
    search::{Observation, Options, Order, Outcome, Question, Reason, Search, Selection, Step, Trial, TrialId},
};
use regex::bytes::Regex;

use super::{
    command_line::CommandLine,
    options::{PerTest, ProjectOptions},
    prepare::{prepare, toggles},
    runner::ProjectRun,
    target::ProjectTarget,
};
use crate::{
    axes::Files,
    cargo::{CargoError, Subcommand, toggles as lists},
    fixture::Fixture,
    lab::target::{Judge, Judgement, Runner, Target},
    process::{interrupt::Interrupt, scratch_dir::ScratchDir, slots::Slots},
    report::kind::ChangeKind,
    run::{
        error::RunError,
        repetition::Repetition,
        result::RunResult,
        spec::{Choice, RunSpec, Surroundings},
    },
};

fn settings(subcommand: Subcommand, fixture: &Fixture, line: &str, toggles: &[&str]) -> ProjectOptions {
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
        launcher: None,
        quiet: true,
    }
}

/// A target with a directory for its files.
struct Bench {
    program: ProjectTarget,
    dir: tempfile::TempDir,
    runs: usize,
    repetition: Repetition,
}

/// Returns the specification of a run with a pattern.
fn spec(dir: &Path, pattern: &Pattern, repetition: Repetition) -> RunSpec {
    RunSpec {
        number: 1,
        trial: trial(pattern),
        choice: Choice::Hashes(pattern.clone()),
        repetition,
        tests: None,
        log: dir.join("log"),
        report_file: dir.join("reports"),
        slot: 0,
    }
}

impl Bench {
    fn new(settings: ProjectOptions) -> Self {
        let program = prepare(settings, &Interrupt::default()).unwrap_or_else(|error| panic!("{error}"));
        Self { program, dir: tempfile::tempdir().unwrap(), runs: 0, repetition: Repetition::Once }
    }

    fn test(line: &str, toggles: &[&str]) -> Self {
        Self::new(settings(Subcommand::Test, Fixture::toggles(), line, toggles))
    }

    fn shown(&mut self, pattern: &Pattern) -> Result<ProjectRun, RunError> {
        self.runs += 1;
        let (slots, scratch) = (&Slots::inherited(), &ScratchDir::new().unwrap());
        let surroundings = Surroundings { slots, scratch, interrupt: &Interrupt::default() };
        let spec = spec(self.dir.path(), pattern, self.repetition);
        let shown = self.program.runner().run(&spec, &self.program.brief(), &surroundings)?;
        self.program.learn(&trial(pattern), &shown)?;
        Ok(shown)
    }

    /// Returns the kind of the changes of a toggle.
    fn kind(&self, toggle: &str) -> ChangeKind {
        self.program.change(crate::report::text::parse(ChangeId(0), vec![format!("src/lib.rs:1:1 {toggle}")])).kind
    }

    fn reproduce(&self, pattern: &str) -> String {
        let ProjectTarget { runner, knowledge, needed_variables, .. } = &self.program;
        let needed_variables = &mut *needed_variables.borrow_mut();
        let line = CommandLine { runner, knowledge, needed_variables };
        let files = Files { directory: self.dir.path(), stem: "", report_file: None };
        line.of(&Choice::Hashes(pattern.parse().unwrap()), &[], &files)
    }

    fn builds(&self) -> (usize, usize) {
        let builds = self.program.knowledge.builds;
        (builds.builds, builds.rustc_invocations)
    }

    /// Runs once, and also at the end states if it must be known what fails there.
    fn try_run(&mut self, pattern: &Pattern) -> Result<RunResult, RunError> {
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

    fn run(&mut self, pattern: &str) -> RunResult {
        self.try_run(&pattern.parse().unwrap()).unwrap_or_else(|error| panic!("{pattern}: {error}"))
    }

    /// Returns the outcome, the failed tests, and the number of reported changes.
    fn outcome(&mut self, pattern: &str) -> (Outcome, Vec<String>, usize) {
        let run = self.run(pattern);
        (run.outcome, run.failed_tests, run.reports.len())
    }

    fn log(&self) -> String {
        fs_err::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// Searches as the driver does. Returns each culprit's size and the tests that it breaks.
    fn search(&mut self) -> Vec<(usize, Vec<String>)> {
        let mut search = Search::new(Options::default());
        let mut tests = HashMap::new();
        while let Step::Run(trial) = search.step() {
            let run = self.try_run(&trial.pattern()).unwrap();
            search
                .record(trial.id, [Observation::of_ids(Order::ByHash, run.outcome, run.reports.ids().iter().copied())]);
            tests.insert(trial.id, run.failed_tests);
        }
        search.test(0).found().iter().map(|set| (set.changes.len(), tests[&set.confirmed_by].clone())).collect()
    }

    fn shell(&self, pattern: &str) -> Output {
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
fn trial(pattern: &Pattern) -> Trial {
    let question = match pattern {
        _ if *pattern == Pattern::all() => Question::AllOn,
        _ if *pattern == Pattern::all().inverted(true) => Question::AllOff,
        _ => Question::Prefix,
    };
    Trial { id: TrialId(0), question, selection: Selection::all(), tests: vec![0] }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn refused(settings: ProjectOptions) -> CargoError {
    prepare(settings, &Interrupt::default()).map(|program| program.describe()).unwrap_err()
}

#[test]
fn only_the_tests_that_fail_one_way_are_repeated_and_count() {
    let mut bench = Bench::test("-p gates --lib", &["way"]);
    let culprit = strings(&["tests::fails_if_way_is_on"]);
    assert_eq!(bench.outcome("y"), (Outcome::Fail, culprit.clone(), 1));
    assert!(bench.log().contains("running 6 tests"), "the first two runs run everything: {}", bench.log());
    let notes = bench.program.take_notes();
    let both = "left out, because they fail both ways: tests::broken_anyway, tests::fails_if_both_calls_are_doubled";
    assert_eq!(notes, [both]);

    let id = bench.run("y").reports.ids()[0];
    let run = bench.run(&format!("v{}", Pattern::new([Suffix::exactly(id)], [])));
    assert_eq!((run.outcome, &run.failed_tests), (Outcome::Fail, &culprit));
    assert_eq!(run.reports.get(id).text.len(), 1);
    assert!(run.reports.get(id).text[0].ends_with(" way"), "{:?}", run.reports.get(id).text);
    assert!(bench.log().contains("running 1 test\n"), "{}", bench.log());
    assert_eq!(bench.outcome("n").0, Outcome::Pass);
    assert_eq!((bench.program.terms().axis, bench.kind("way")), ("toggles", ChangeKind::SITE));
    assert_eq!(bench.kind("double"), ChangeKind::STACK);

    assert_eq!(bench.shell("y").status.code(), Some(101), "{}", bench.reproduce("y"));
    assert_eq!(bench.shell("n").status.code(), Some(0));
}

#[test]
fn what_fails_only_with_everything_disabled_is_found_among_what_fails_both_ways() {
    let mut bench = Bench::test("-p gates --lib", &["shield"]);
    assert_eq!(bench.outcome("y"), (Outcome::Pass, Vec::new(), 1));
    assert_eq!(bench.outcome("n"), (Outcome::Fail, strings(&["tests::fails_if_shield_is_off"]), 1));
}

#[test]
fn a_pair_of_call_stacks_is_found() {
    let mut bench = Bench::test("-p gates fails_if_both", &["double"]);
    assert_eq!(bench.search(), [(2, strings(&["tests::fails_if_both_calls_are_doubled"]))]);
    assert!(bench.runs <= 12, "{} runs", bench.runs);
}

#[test]
fn toggles_in_a_child_process_are_found() {
    let mut bench = Bench::test("-p gates --test child", &["program"]);
    assert_eq!(bench.search(), [(1, strings(&["a_child_fails"]))]);
    // The test asks for one of cargo's variables, and only that one is needed.
    let line = bench.reproduce("y");
    assert!(line.contains(" CARGO_BIN_EXE_gates=") && !line.contains("CARGO_PKG_"), "{line}");
    // The executable is searched for the names of variables once, not for each culprit.
    let needed = || bench.program.needed_variables.borrow_mut();
    let keys: Vec<_> = needed().keys().cloned().collect();
    assert_eq!(keys.len(), 1);
    needed().insert(keys[0].clone(), Arc::new([("KEPT".to_owned(), "yes".into())].into()));
    let line = bench.reproduce("y");
    assert!(line.contains(" KEPT=yes ") && !line.contains(" CARGO_BIN_EXE_gates="), "{line}");
    needed().clear();
    assert_eq!((bench.shell("y").status.code(), bench.shell("n").status.code()), (Some(101), Some(0)));
}

#[test]
fn a_filter_that_matches_no_test_is_an_error() {
    let mut bench = Bench::test("-p gates --lib nonesuch", &[]);
    let error = bench.try_run(&Pattern::all()).unwrap_err().to_string();
    assert!(error.ends_with("nonesuch` runs no test: no name of a test matches what is asked for"), "{error}");
}

#[test]
fn a_run_that_hangs_has_failed() {
    let mut settings = settings(Subcommand::Test, Fixture::toggles(), "-p gates --lib --- --ignored", &["way"]);
    settings.timeout = Some(Duration::from_millis(300));
    let run = Bench::new(settings).run("y");
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Fail, "timeout"));
    assert_eq!(run.failed_tests, ["tests::takes_for_ever"]);
}

#[test]
fn an_interrupt_stops_builds_and_runs() {
    let interrupt = Interrupt::default();
    interrupt.raise();
    let wanted = settings(Subcommand::Test, Fixture::toggles(), "-p gates --lib --- --ignored", &["way"]);
    assert!(matches!(prepare(wanted.clone(), &interrupt), Err(CargoError::Interrupted)));

    let bench = Bench::new(wanted);
    // The test that hangs is interrupted as soon as it runs.
    let interrupt = Interrupt::default();
    let (log, over) = (bench.dir.path().join("log"), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let is_running = || fs_err::read_to_string(&log).is_ok_and(|text| text.contains("running 1 test"));
            while !is_running() && !over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            interrupt.raise();
        });
        let (slots, scratch) = (&Slots::inherited(), &ScratchDir::new().unwrap());
        let surroundings = Surroundings { slots, scratch, interrupt: &interrupt };
        let spec = spec(bench.dir.path(), &Pattern::all(), Repetition::Once);
        let result = bench.program.runner().run(&spec, &bench.program.brief(), &surroundings);
        over.store(true, Ordering::Relaxed);
        assert!(matches!(result, Err(RunError::Interrupted)));
    });
}

#[test]
fn only_failures_that_match_count() {
    let mut settings = settings(Subcommand::Test, Fixture::toggles(), "-p gates fails_if", &["double"]);
    settings.fail_when = Some(Regex::new("another message").unwrap());
    let run = Bench::new(settings).run("y");
    assert_eq!(run.outcome, Outcome::Unresolved(Reason::Skip));
    assert_eq!(run.reason, "another failure: exit status 101");
}

#[test]
fn a_program_is_run_where_the_user_is() {
    let fixture = Fixture::toggles();
    let mut bench = Bench::new(settings(Subcommand::Run, fixture, "-p gates", &["program"]));
    assert_eq!(bench.search(), [(1, Vec::new())]);
    bench.run("n");
    assert_eq!(bench.log(), format!("in {} with []\n", fixture.path().display()));
    assert_eq!((bench.shell("y").status.code(), bench.shell("n").status.code()), (Some(1), Some(0)));

    let mut bench = Bench::new(settings(Subcommand::Run, fixture, "-p gates a -x --- b", &["program"]));
    assert_eq!(bench.run("n").outcome, Outcome::Fail);
    assert!(bench.log().ends_with("with [\"a\", \"-x\", \"--\", \"b\"]\n"), "{}", bench.log());
}

#[test]
fn toggles_are_listed_and_unknown_ones_refused() {
    let fixture = Fixture::toggles();
    let names = |line: &str| {
        let toggles = toggles(&fixture.words(line), &[], true, &Interrupt::default()).unwrap();
        toggles.into_iter().map(|toggle| toggle.name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("-p gates"), "double program shield way");
    assert_eq!(names("-p top"), "fast fast fast safe");

    let error = refused(settings(Subcommand::Test, fixture, "-p gates", &["weg"]));
    assert_eq!(error.to_string(), "no toggle is called `weg`\nhelp: there is `double`, `program`, `shield`, `way`");
    assert!(error.is_usage());
}

#[test]
fn several_executions_are_one_run_of_one_build() {
    // The second of three executions fails, unless no change is enabled.
    let library = "
#[test]
fn counts() {
    use std::{fs, io::Write, path::Path};

    let file = Path::new(env!(\"CARGO_MANIFEST_DIR\")).join(\"count\");
    fs::OpenOptions::new().append(true).create(true).open(&file).unwrap().write_all(b\"x\").unwrap();
    assert!(cfg!(one = \"n\") || fs::read(&file).unwrap().len() % 3 != 2);
}
#[test]
fn broken_anyway() { panic!() }
";
    let fixture = Fixture::new(&[("Cargo.toml", MANIFEST), ("src/lib.rs", library)]);
    let mut settings = settings(Subcommand::Test, &fixture, "", &[]);
    settings.rustflags = Some("--cfg one=\"PATTERN\"".to_owned());
    let mut bench = Bench::new(settings);
    bench.repetition = Repetition::UntilFailure(std::num::NonZeroUsize::new(3).unwrap());
    let culprit = strings(&["counts"]);
    for (pattern, outcome, failed, executions) in [
        // A test that was broken anyway ends no run before that is known.
        ("y", Outcome::Fail, &culprit, 3),
        ("01", Outcome::Fail, &culprit, 2),
        ("n", Outcome::Pass, &Vec::new(), 3),
    ] {
        let run = bench.run(pattern);
        assert_eq!((run.outcome, &run.failed_tests, run.executions), (outcome, failed, executions), "{pattern}");
        assert!(run.build_time > Duration::ZERO);
        assert_eq!(bench.log().matches("running 1 test\n").count(), run.executions * usize::from(pattern != "y"));
    }
    // The first run also needed the failures at the end states.
    assert_eq!(bench.builds().0, 5);
}

#[test]
fn build_time_changes_are_searched_by_building() {
    let mut bench = Bench::test("-p top", &[]);
    // `fast` and `safe`; with `safe` off another test fails, so one of them is left out.
    assert_eq!(bench.outcome("y"), (Outcome::Fail, strings(&["tests::fails_if_the_second_is_fast"]), 4));
    assert_eq!(bench.outcome("n"), (Outcome::Pass, Vec::new(), 4));
    assert_eq!(bench.kind("fast"), ChangeKind::BUILD);

    // Only crates with other decisions are compiled again: `top`, and only its test that is repeated.
    let listed = toggles(&Fixture::toggles().words("-p top"), &[], true, &Interrupt::default()).unwrap();
    let safe = listed.iter().find(|toggle| toggle.name == "safe").unwrap();
    let safe = safe.build.as_ref().unwrap().id;
    bench.run("y");
    let before = bench.builds();
    let without_safe = Pattern::new([Suffix::ALL], [Suffix::exactly(safe)]).to_string();
    assert_eq!(bench.outcome(&without_safe).2, 3);
    assert_eq!(bench.builds(), (before.0 + 1, before.1 + 1));

    let found: Vec<_> = bench.search();
    assert_eq!(found, [(1, strings(&["tests::fails_if_the_second_is_fast"]))]);
    assert!(bench.program.summary().unwrap().contains(" builds for these runs started rustc "));
}

#[test]
fn the_line_that_reproduces_a_build_time_change_builds_it() {
    let mut bench = Bench::test("-p top", &["fast"]);
    bench.run("y");
    bench.run("n");
    let line = bench.reproduce("n");
    assert!(line.contains(" BISECT_BUILD_low_1_2_3_rc_1=off cargo test "), "{line}");
    assert!(line.ends_with(" -- --exact tests::fails_if_the_second_is_fast"), "{line}");
    assert_eq!(bench.shell("n").status.code(), Some(0));
    assert_eq!(bench.shell("y").status.code(), Some(101));
}

const MANIFEST: &str = "package = { name = 'p', version = '0.1.0', edition = '2024' }\n[workspace]\n";

#[test]
fn flags_for_the_compiler_are_searched_through_its_messages() {
    // Two changes, reported by the compiler in its warnings. With both, the test fails.
    let library = "
#[cfg(any(one = \"y\", one = \"n\", one = \"01\", one = \"x0000000000000001\"))]
#[deprecated(note = \"[bisect-match 0x1]\")]
pub(crate) fn one() {}
#[cfg(any(one = \"y\", one = \"01\", one = \"x0000000000000001\"))]
#[test]
fn breaks() { one(); panic!() }
#[cfg(one = \"n\")]
pub(crate) fn reports() { one() }
#[test]
fn works() {}
#[cfg(one = \"x1\")]
compile_error!(\"cannot be built so\");
";
    let fixture = Fixture::new(&[("Cargo.toml", MANIFEST), ("src/lib.rs", library)]);
    let mut settings = settings(Subcommand::Test, &fixture, "", &[]);
    settings.rustflags = Some("--cfg one=\"PATTERN\"".to_owned());
    let mut bench = Bench::new(settings);
    let breaks = strings(&["breaks"]);
    assert_eq!(bench.outcome("y"), (Outcome::Fail, breaks.clone(), 1));
    assert_eq!(bench.outcome("n"), (Outcome::Pass, Vec::new(), 1));
    assert_eq!(bench.outcome("y"), (Outcome::Fail, breaks, 1), "cargo repeats the messages of what is up to date");
    assert_eq!(bench.run("y").reports.ids(), [ChangeId(1)]);
    let run = bench.run("x1");
    assert_eq!(
        (run.outcome, run.reason.as_str()),
        (Outcome::Unresolved(Reason::Build), "does not build: error at src/lib.rs:13:1")
    );
    assert!(bench.log().contains("cannot be built so"), "{}", bench.log());
    assert_eq!(bench.program.terms().axis, "rustflags");
    let line = bench.reproduce("y");
    assert!(line.contains("RUSTFLAGS='--cfg one=\"y\"' cargo test "), "{line}");
}

#[test]
fn what_does_not_build_is_told_in_cargos_words() {
    let fixture = Fixture::new(&[("Cargo.toml", MANIFEST), ("src/lib.rs", "fn f() { nonsense }")]);
    let error = refused(settings(Subcommand::Test, &fixture, "", &[]));
    assert!(matches!(error, CargoError::Build { .. }));
    let text = error.to_string();
    assert!(text.starts_with("`cargo test --no-run --offline` failed with exit status 101\n"), "{text}");
    assert!(text.contains("cannot find value `nonsense`"), "{text}");
}

#[test]
fn a_program_without_the_runtime_is_not_started_to_list_toggles() {
    let started = "fn main() { std::fs::write(\"started\", \"\").unwrap(); println!(\"x\\tsite\\ta.rs:1:1\\ton\"); }";
    let fixture = Fixture::new(&[("Cargo.toml", MANIFEST), ("src/main.rs", started)]);
    let error = refused(settings(Subcommand::Run, &fixture, "", &[]));
    assert!(matches!(error, CargoError::Toggles(lists::ToggleError::NoToggles)), "{error}");
    assert!(!error.is_usage());
    assert!(!fixture.path().join("started").exists());
}

#[test]
fn a_project_without_tests_and_documentation_tests_are_refused() {
    let manifest = format!("{MANIFEST}[lib]\ntest = false\n");
    let fixture = Fixture::new(&[("Cargo.toml", &manifest), ("src/lib.rs", "")]);
    let error = refused(settings(Subcommand::Test, &fixture, "", &[])).to_string();
    assert!(error.ends_with("has nothing to run: no target has tests"), "{error}");
    assert!(refused(settings(Subcommand::Test, &fixture, "--doc", &[])).is_usage());
    let error = refused(settings(Subcommand::Run, &fixture, "", &[]));
    assert_eq!(error.to_string(), "a bin target must be available for `cargo run`");
}
