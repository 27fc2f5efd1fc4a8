//! Commands as targets: where the pattern goes, what is read from them, what can be pasted into a shell.

use std::{fs, path::PathBuf};

use bisect_core::{ChangeId, search::Outcome};

use super::*;
use crate::{interrupt::Interrupt, process::SpawnError, scratch_dir::ScratchDir, slots::Slots};

fn settings(words: &[&str]) -> Settings {
    Settings {
        words: words.iter().map(|&word| word.into()).collect(),
        root: std::env::temp_dir(),
        timeout: None,
        skip_code: 125,
        fail_when: None,
        launcher: None,
    }
}

/// Runs words as a target in a directory of their own.
fn run_as(words: &[&str], pattern: &str, change: impl FnOnce(&mut Settings)) -> (Result<Run, RunError>, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { dir.path().join(name) };
    let mut settings = settings(words);
    settings.root = dir.path().into();
    change(&mut settings);
    let request = Request {
        pattern: &pattern.parse().unwrap(),
        tests: None,
        slot: 3,
        slots: &Slots::inherited(),
        scratch: &ScratchDir::new().unwrap(),
        in_company: false,
        log: &path("log"),
        report_file: &path("report"),
        interrupt: &Interrupt::default(),
    };
    let run = Exec::new(settings).unwrap().run(&request);
    (run, fs::read_to_string(path("log")).unwrap_or_default())
}

fn run(words: &[&str], pattern: &str) -> (Run, String) {
    let (run, log) = run_as(words, pattern, |_| {});
    (run.unwrap(), log)
}

#[test]
fn placeholders_are_filled_in_values_and_arguments_only() {
    // Written so, the name in the script is none of the places.
    let script = r#"echo "$V|$(printenv PAT''TERN)|$1|$2""#;
    let words = ["V=a:PATTERN", "PATTERN=PATTERN", "sh", "-c", script, "sh", "xPATTERNxPATTERN", "PATTERN RANDOM"];
    let (_, log) = run(&words, "!01+x3");
    let random = log.trim_end().rsplit(' ').next().unwrap();
    assert_eq!(log, format!("a:!01+x3|!01+x3|x!01+x3x!01+x3|!01+x3 {random}\n"));
    random.parse::<u64>().unwrap();

    // The command itself is no place for it.
    let (error, _) = run_as(&["PATTERN", "PATTERN"], "y", |_| {});
    let Err(RunError::Spawn(error @ SpawnError::NotFound { .. })) = error else { panic!("{error:?}") };
    assert!(error.to_string().contains("`PATTERN`"), "{error}");
}

#[test]
fn each_run_has_one_random_number_of_its_own() {
    let words = ["V=RANDOM", "sh", "-c", "test $V = $1 && echo $V", "sh", "RANDOM", "PATTERN"];
    let numbers: Vec<_> = (0..3).map(|_| run(&words, "y").1).collect();
    assert!(numbers.iter().all(|number| number.trim_end().parse::<u64>().is_ok()), "{numbers:?}");
    assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2], "{numbers:?}");
}

#[test]
fn usage() {
    for words in [&[][..], &["A=PATTERN"], &["A=PATTERN", "B=1"]] {
        assert_eq!(Exec::new(settings(words)).unwrap_err(), UsageError::NoCommand, "{words:?}");
    }
    for words in [&["PATTERN"][..], &["PATTERN=1", "true"], &["A=RANDOM", "true", "RANDOM", "pattern"]] {
        let error = Exec::new(settings(words)).unwrap_err();
        assert_eq!(error, UsageError::NoPattern, "{words:?}");
        assert!(error.to_string().contains("exec BISECT_PATTERN=PATTERN ./program"));
    }
    // What only looks like a variable is a command.
    for words in [&["./a=b", "PATTERN"][..], &["1=2", "PATTERN"], &["=", "PATTERN"], &["a", "b=PATTERN"]] {
        assert_eq!(Exec::new(settings(words)).unwrap().program, words[0], "{words:?}");
    }
}

#[test]
fn reports_come_from_the_file_and_from_both_outputs() {
    let script =
        "echo 'a [bisect-match 0x1]'; echo 'b [bisect-match 0x2]' >&2; echo 'c [bisect-match 0x3]' >> $BISECT_REPORT";
    let words = ["sh", "-c", script, "sh", "PATTERN"];
    let (run, log) = run(&words, "vy");
    assert_eq!(run.reports.ids(), [ChangeId(1), ChangeId(2), ChangeId(3)]);
    assert_eq!(run.reports.text(ChangeId(3)), ["c"]);
    assert_eq!(log, "a [bisect-match 0x1]\nb [bisect-match 0x2]\n");
    // Nobody reads the text if the pattern does not ask for it.
    let (run, _) = self::run(&words, "y");
    assert_eq!((run.reports.len(), run.reports.text(ChangeId(3))), (3, [].as_slice()));
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
        let (run, _) = run_as(&words, "y", |settings| settings.fail_when = Some(regex));
        assert_eq!(run.unwrap().outcome, outcome);
    }
    let words = ["sh", "-c", "sleep 1000", "PATTERN"];
    let (run, _) = run_as(&words, "y", |settings| settings.timeout = Some(Duration::from_millis(50)));
    let run = run.unwrap();
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Fail, "timeout"));
}

#[test]
fn an_interrupt_is_no_outcome() {
    let interrupt = Interrupt::default();
    interrupt.raise();
    let dir = tempfile::tempdir().unwrap();
    let request = Request {
        pattern: &Pattern::all(),
        tests: None,
        slot: 0,
        slots: &Slots::inherited(),
        scratch: &ScratchDir::new().unwrap(),
        in_company: false,
        log: &dir.path().join("log"),
        report_file: &dir.path().join("report"),
        interrupt: &interrupt,
    };
    let result = Exec::new(settings(&["true", "PATTERN"])).unwrap().run(&request);
    assert!(matches!(result, Err(RunError::Interrupted)));
}

#[test]
fn what_is_shown_can_be_pasted() {
    let script = r#"printf '%s\n' "$V" "$1" "$2" > out"#;
    let words = ["V=it's PATTERN", "sh", "-c", script, "sh", "", "$HOME PATTERN\n\"!\""];
    let exec = Exec::new(settings(&words)).unwrap();
    assert_eq!(shlex::split(&exec.describe()).unwrap(), words);

    let dir = tempfile::tempdir().unwrap();
    let line = exec.reproduce(&"v!01".parse().unwrap(), &[]);
    let status = Command::new("sh").args(["-c", &line]).current_dir(dir.path()).status().unwrap();
    assert!(status.success());
    let out = fs::read_to_string(dir.path().join("out")).unwrap();
    assert_eq!(out, "it's v!01\n\n$HOME v!01\n\"!\"\n");
    // A name stays outside of the quotes; inside, a shell would take the word for a command.
    assert!(line.starts_with("V=\""), "{line}");
}
