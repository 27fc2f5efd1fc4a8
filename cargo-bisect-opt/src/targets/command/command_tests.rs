//! Tests of commands as targets: places of placeholders, outputs that are read, and lines to paste into a shell.

use std::{cell::RefCell, fs, num::NonZeroUsize, process::Command};

use bisect_core::{
    ChangeId,
    search::{Outcome, Prefix, Rank, Selection, TrialId},
};

use super::*;
use crate::run::spec::Choice;
use crate::{
    axes::protocol::Protocol,
    lab::target::Runner,
    process::{SpawnError, interrupt::Interrupt, scratch_dir::ScratchDir, slots::Slots},
    run::{
        in_flight::InFlight,
        reader::Reader,
        repetition::Repetition,
        spec::{Purpose, RunSpec, Surroundings},
    },
};

fn options(words: &[&str]) -> CommandOptions {
    CommandOptions {
        words: words.iter().map(|&word| word.into()).collect(),
        root: std::env::temp_dir(),
        inputs: std::env::temp_dir().join("inputs"),
        timeout: None,
        skip_code: 125,
        fail_when: None,
        same_failure: false,
        direction: None,
        seed: Seed::parse("7").unwrap(),
        launcher: None,
    }
}

/// Returns a reproduction for a person.
fn again<'a>(selection: &'a Selection, directory: &'a Path) -> Reproduction<'a> {
    Reproduction { selection, tests: &[], directory, stem: "", reader: Reader::Person, hangs: false }
}

fn target(words: &[&str]) -> Result<CommandTarget, UsageError> {
    CommandTarget::new(options(words), Box::new(Protocol))
}

/// Returns the specification of the run with this number.
fn spec(dir: &Path, pattern: &str, number: usize, repetition: Repetition) -> RunSpec {
    RunSpec {
        number,
        trial: trial(Question::Prefix),
        purpose: Purpose::Answer,
        choice: Choice::Hashes(pattern.parse().unwrap()),
        repetition,
        tests: None,
        log: dir.join("log"),
        report_file: dir.join("report"),
        slot: 3,
    }
}

fn make(
    target: &CommandTarget,
    dir: &Path,
    pattern: &str,
    number: usize,
    repetition: Repetition,
) -> Result<CommandRun, RunError> {
    let (slots, scratch) = (&Slots::inherited(), &ScratchDir::new().unwrap());
    let surroundings =
        Surroundings { slots, scratch, interrupt: &Interrupt::default(), seat: &InFlight::default().begin(0, 1) };
    target.runner().run(&spec(dir, pattern, number, repetition), &target.known_failures(), &surroundings)
}

/// Returns a trial, with the fields that the target reads.
fn trial(question: Question) -> Trial {
    Trial { id: TrialId(0), question, selection: Selection::all(), tests: vec![0] }
}

fn judge(target: &mut CommandTarget, shown: CommandRun) -> RunResult {
    match target.judge(&trial(Question::Prefix), shown) {
        Judgement::Ready(mut results) => results.remove(0),
        Judgement::Pending(_) => panic!("it can always be judged"),
    }
}

/// Runs a command as a target, in its own directory.
fn run_as(
    words: &[&str],
    pattern: &str,
    change: impl FnOnce(&mut CommandOptions),
) -> (Result<RunResult, RunError>, String) {
    run_again(words, pattern, (1, Repetition::Once), change)
}

/// Runs a command like `run_as`, as a later run or with several executions.
fn run_again(
    words: &[&str],
    pattern: &str,
    (number, repetition): (usize, Repetition),
    change: impl FnOnce(&mut CommandOptions),
) -> (Result<RunResult, RunError>, String) {
    let dir = tempfile::tempdir().unwrap();
    let mut options = options(words);
    options.root = dir.path().into();
    change(&mut options);
    let mut target = CommandTarget::new(options, Box::new(Protocol)).unwrap();
    let run = make(&target, dir.path(), pattern, number, repetition).map(|shown| judge(&mut target, shown));
    (run, fs::read_to_string(dir.path().join("log")).unwrap_or_default())
}

fn run(words: &[&str], pattern: &str) -> (RunResult, String) {
    let (run, log) = run_as(words, pattern, |_| {});
    (run.unwrap(), log)
}

#[test]
fn a_failure_with_lost_reports_tells_nothing() {
    // The runtime prints this message.
    let script = "echo 'bisect-rt: BISECT_REPORT: no storage space: reports are lost' >&2; exit $1";
    for (status, outcome) in [("1", Outcome::Unresolved(Reason::Environment)), ("0", Outcome::Pass)] {
        let (run, _) = run(&["sh", "-c", script, "PATTERN", status], "y");
        assert_eq!(run.outcome, outcome);
        assert_eq!(run.reason.ends_with("reports are lost"), status == "1", "{}", run.reason);
    }
}

#[test]
fn placeholders_are_filled_in_values_and_arguments_only() {
    // Written like this, the name in the script is not a placeholder.
    let script = r#"echo "$V|$(printenv PAT''TERN)|$1|$2""#;
    let words = ["V=a:PATTERN", "PATTERN=PATTERN", "sh", "-c", script, "sh", "xPATTERNxPATTERN", "PATTERN RANDOM"];
    let (_, log) = run(&words, "!01+x3");
    let random = log.trim_end().rsplit(' ').next().unwrap();
    assert_eq!(log, format!("a:!01+x3|!01+x3|x!01+x3x!01+x3|!01+x3 {random}\n"));
    random.parse::<u64>().unwrap();

    // The name of the program is not a place for the placeholder.
    let (error, _) = run_as(&["PATTERN", "PATTERN"], "y", |_| {});
    let Err(RunError::Spawn(error @ SpawnError::NotFound { .. })) = error else { panic!("{error:?}") };
    assert!(error.to_string().contains("`PATTERN`"), "{error}");
}

#[test]
fn each_run_has_one_random_number_of_its_own() {
    let words = ["V=RANDOM", "sh", "-c", "test $V = $1 && echo $V", "sh", "RANDOM", "PATTERN"];
    let log = |run: usize, seed: &str| {
        let seed = Seed::parse(seed).unwrap();
        run_again(&words, "y", (run, Repetition::Once), |options| options.seed = seed).1
    };
    let numbers: Vec<_> = [(1, "7"), (2, "7"), (1, "8")].map(|(run, seed)| log(run, seed)).into();
    assert!(numbers.iter().all(|number| number.trim_end().parse::<u64>().is_ok()), "{numbers:?}");
    assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2] && numbers[2] != numbers[0], "{numbers:?}");
    assert_eq!(log(2, "7"), numbers[1], "the same for the same seed and run");
    let mut exec = target(&words).unwrap();
    assert_eq!(exec.take_notes(), ["RANDOM comes from the seed 7: --seed 7 repeats it"]);
    assert!(target(&["PATTERN", "PATTERN"]).unwrap().take_notes().is_empty());
}

#[test]
fn what_failed_by_chance_is_reproduced_by_the_same_chance() {
    let mut exec = target(&["sh", "-c", "exit $1", "sh", "1", "RANDOM", "PATTERN"]).unwrap();
    let all = Selection::all();
    let dir = tempfile::tempdir().unwrap();
    let before = exec.reproduce(&again(&all, dir.path()));
    let shown = make(&exec, dir.path(), "y", 5, Repetition::Once).unwrap();
    assert_eq!(judge(&mut exec, shown).outcome, Outcome::Fail);
    let after = exec.reproduce(&again(&all, dir.path()));
    let number = Seed::parse("7").unwrap().number(5, 0).to_string();
    assert!(!before.contains(&number) && after.contains(&number), "{before} {after}");
}

#[test]
fn a_run_may_execute_it_several_times() {
    let three = NonZeroUsize::new(3).unwrap();
    let (repeat, any_pass) = (Repetition::UntilFailure(three), Repetition::UntilPass(three));
    // Each execution counts itself and the previous ones by a file, reports its number, and prints it with a random
    // number.
    let script =
        "echo x >> count; n=$(wc -l < count); echo $((n)) $1; echo [bisect-match 0x$((n))] >> $BISECT_REPORT; ";
    for (repetition, then, outcome, executions) in [
        (Repetition::Once, "exit 0", Outcome::Pass, 1),
        (repeat, "exit 0", Outcome::Pass, 3),
        (repeat, "test $n != 2", Outcome::Fail, 2),
        (repeat, "exit 125", Outcome::Unresolved(Reason::Skip), 3),
        (any_pass, "exit 1", Outcome::Fail, 3),
        (any_pass, "test $n = 2", Outcome::Pass, 2),
        // Each execution has the whole time limit.
        (repeat, "test $n = 1 || sleep 1000", Outcome::Fail, 2),
    ] {
        let script = format!("{script}{then}");
        let words = ["sh", "-c", &script, "sh", "RANDOM", "PATTERN"];
        let timeout = |options: &mut CommandOptions| {
            options.timeout = then.contains("sleep").then_some(Duration::from_millis(500));
        };
        let (run, log) = run_again(&words, "y", (1, repetition), timeout);
        let run = run.unwrap();
        assert_eq!((run.outcome, run.executions), (outcome, executions), "{then}");
        assert_eq!(run.reports.len(), executions, "{then}");
        let lines: Vec<_> = log.lines().filter_map(|line| line.split_once(' ')).collect();
        let numbers: Vec<_> = (1..=executions).map(|n| n.to_string()).collect();
        assert_eq!(lines.iter().map(|&(n, _)| n).collect::<Vec<_>>(), numbers, "{log}");
        assert!(lines.windows(2).all(|pair| pair[0].1 != pair[1].1), "{log}");
    }
}

#[test]
fn another_failure_is_unresolved_if_asked_for() {
    let script = "case $1 in y) exit 3;; n) kill -SEGV $$;; v) exit 0;; *) exit 4;; esac";
    for same_failure in [false, true] {
        let words = ["sh", "-c", script, "sh", "PATTERN"];
        let options = CommandOptions { same_failure, ..options(&words) };
        let exec = RefCell::new(CommandTarget::new(options, Box::new(Protocol)).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let run = |pattern: &str, question: Question| {
            let mut exec = exec.borrow_mut();
            let shown = make(&exec, dir.path(), pattern, 1, Repetition::Once).unwrap();
            exec.learn(&trial(question), &shown).unwrap();
            let run = judge(&mut exec, shown);
            (run.outcome, run.reason)
        };
        let failed = |words: &str| (Outcome::Fail, words.to_owned());
        assert_eq!(run("y", Question::AllOn), failed("exit status 3"));
        assert_eq!(run("y", Question::Prefix), failed("exit status 3"));
        let other = run("01", Question::Prefix);
        if same_failure {
            let words = "another failure: exit status 4".to_owned();
            assert_eq!(other, (Outcome::Unresolved(Reason::Skip), words));
            assert!(exec.borrow_mut().take_notes().concat().contains("--same-failure=no"));
            assert_eq!(run("10", Question::Prefix).0, Outcome::Unresolved(Reason::Skip));
        } else {
            assert_eq!(other, failed("exit status 4"));
        }
        assert!(exec.borrow_mut().take_notes().is_empty(), "once is enough");
        // Where it fails so only with no change, that is how it passes.
        let usual = (Outcome::Pass, "signal 11, as at the other end".to_owned());
        let usual = if same_failure { usual } else { failed("signal 11") };
        assert_eq!(run("!y", Question::AllOff), usual);
        let notes = exec.borrow_mut().take_notes().concat();
        assert_eq!(notes.contains("replace signal 11 by exit status 3"), same_failure, "{notes}");
        assert_eq!(run("!y", Question::Prefix), usual);
    }
}

/// A script that compiles, and then tests, ends with the same status whichever of both fails.
#[test]
fn what_does_not_compile_is_unresolved() {
    let script = "case $1 in y) echo 'running 1 test'; exit 101;; \
                  *) printf 'error[E0425]: no x\\n --> src/lib.rs:3:5\\n\\nerror: could not compile `a`\\n'; exit 101;; esac";
    let words = ["sh", "-c", script, "sh", "PATTERN"];
    for same_failure in [false, true] {
        let mut exec =
            CommandTarget::new(CommandOptions { same_failure, ..options(&words) }, Box::new(Protocol)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut run = |pattern: &str, question: Question| {
            let shown = make(&exec, dir.path(), pattern, 1, Repetition::Once).unwrap();
            exec.learn(&trial(question), &shown).unwrap();
            let run = judge(&mut exec, shown);
            (run.outcome, run.reason)
        };
        assert_eq!(run("y", Question::AllOn).0, Outcome::Fail);
        let expected = if same_failure {
            (Outcome::Unresolved(Reason::Build), "does not build: error[E0425] at src/lib.rs:3:5".to_owned())
        } else {
            (Outcome::Fail, "exit status 101".to_owned())
        };
        assert_eq!(run("01", Question::Prefix), expected);
        assert_eq!(run("n", Question::AllOff), expected, "and it is not what passes");
    }
}

#[test]
fn usage() {
    for words in [&[][..], &["A=PATTERN"], &["A=PATTERN", "B=1"]] {
        assert_eq!(target(words).unwrap_err(), UsageError::NoCommand, "{words:?}");
    }
    for words in [&["PATTERN"][..], &["PATTERN=1", "true"], &["A=RANDOM", "true", "RANDOM", "pattern"]] {
        let error = target(words).unwrap_err();
        assert!(matches!(error, UsageError::NoPlaceholder(_)), "{words:?}");
        assert!(error.to_string().contains("exec BISECT_PATTERN=PATTERN ./program"));
    }
    // A word that only looks like a variable is a command.
    for words in [&["./a=b", "PATTERN"][..], &["1=2", "PATTERN"], &["=", "PATTERN"], &["a", "b=PATTERN"]] {
        assert_eq!(target(words).unwrap().runner.program, words[0], "{words:?}");
    }
}

#[test]
fn reports_come_from_the_file_and_from_both_outputs() {
    let script =
        "echo 'a [bisect-match 0x1]'; echo 'b [bisect-match 0x2]' >&2; echo 'c [bisect-match 0x3]' >> $BISECT_REPORT";
    let words = ["sh", "-c", script, "sh", "PATTERN"];
    let (run, log) = run(&words, "vy");
    assert_eq!(run.reports.ids(), [ChangeId(1), ChangeId(2), ChangeId(3)]);
    assert_eq!(run.reports.get(ChangeId(3)).text, ["c"]);
    assert_eq!(log, "a [bisect-match 0x1]\nb [bisect-match 0x2]\n");
    // The text is not read if the pattern does not ask for it.
    let (run, _) = self::run(&words, "y");
    assert_eq!((run.reports.len(), run.reports.get(ChangeId(3)).text), (3, Vec::new()));
}

#[test]
fn how_it_ends_is_the_outcome() {
    use bisect_core::search::Reason;

    let skip = Outcome::Unresolved(Reason::Skip);
    for (script, outcome, reason) in [
        ("exit 0", Outcome::Pass, ""),
        ("exit 1", Outcome::Fail, "exit status 1"),
        ("echo bad; exit 1", Outcome::Fail, "exit status 1"),
        ("kill -ABRT $$", Outcome::Fail, "signal 6"),
        ("exit 125", skip, "exit status 125"),
    ] {
        let (run, _) = run(&["sh", "-c", script, "PATTERN"], "y");
        assert_eq!((run.outcome, run.reason.as_str()), (outcome, reason), "{script}");
    }
    let words = ["sh", "-c", "echo bad >&2; exit 1", "PATTERN"];
    for (regex, outcome) in [("^bad$", Outcome::Fail), ("^good$", skip)] {
        let regex = Regex::new(&format!("(?m){regex}")).unwrap();
        let (run, _) = run_as(&words, "y", |options| options.fail_when = Some(regex));
        assert_eq!(run.unwrap().outcome, outcome);
    }
    let words = ["sh", "-c", "sleep 1000", "PATTERN"];
    let (run, _) = run_as(&words, "y", |options| options.timeout = Some(Duration::from_millis(50)));
    let run = run.unwrap();
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Fail, "timeout"));
}

#[test]
fn an_interrupt_is_no_outcome() {
    let interrupt = Interrupt::default();
    interrupt.raise();
    let dir = tempfile::tempdir().unwrap();
    let (slots, scratch) = (&Slots::inherited(), &ScratchDir::new().unwrap());
    let surroundings = Surroundings { slots, scratch, interrupt: &interrupt, seat: &InFlight::default().begin(0, 1) };
    let exec = target(&["true", "PATTERN"]).unwrap();
    let result = exec.runner().run(&spec(dir.path(), "y", 1, Repetition::Once), &exec.known_failures(), &surroundings);
    assert!(matches!(result, Err(RunError::Interrupted)));
}

#[test]
fn what_is_shown_can_be_pasted() {
    let script = r#"printf '%s\n' "$V" "$1" "$2" > out"#;
    let words = ["V=it's PATTERN", "sh", "-c", script, "sh", "", "$HOME PATTERN\n\"!\""];
    let exec = target(&words).unwrap();
    assert_eq!(shlex::split(&exec.describe()).unwrap(), words);

    let dir = tempfile::tempdir().unwrap();
    let below = Selection { prefix: Prefix::Below(Rank(1 << 62)), ..Selection::all() };
    let line = exec.reproduce(&again(&below, dir.path()));
    let status = Command::new("sh").args(["-c", &line]).current_dir(dir.path()).status().unwrap();
    assert!(status.success());
    let out = fs::read_to_string(dir.path().join("out")).unwrap();
    assert_eq!(out, "it's 00\n\n$HOME 00\n\"!\"\n");
    // The name of a variable stays outside the quotes; inside, a shell would take the word for a command.
    assert!(line.starts_with("V=\""), "{line}");
}
