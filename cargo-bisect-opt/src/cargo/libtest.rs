//! The standard test harness: parsing the failed tests from its output, and arguments that repeat only those.
//!
//! Its JSON output is unstable, so the text for people is parsed. Tests may print text that looks the same; the output
//! of the harness itself comes last. Harnesses that imitate it (libtest-mimic) are supported, too.

use std::{
    collections::{HashMap, HashSet},
    ffi::{OsStr, OsString},
};

/// The exit status of the harness if a test has failed; after a crash it differs.
pub(crate) const FAILED: i32 = 101;

/// A test that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedTest {
    /// Its name.
    pub(crate) name: String,
    /// Its output, as far as the harness shows it.
    pub(crate) printed: String,
}

/// Parses the failed tests, in the order of the final list, from the output of a test executable that ended with
/// [`FAILED`]. Returns `None` if there is no list, since the harness is another one.
pub(crate) fn failed_tests(output: &[u8]) -> Option<Vec<FailedTest>> {
    let text = without_colour(&String::from_utf8_lossy(output));
    let lines: Vec<_> = text.lines().collect();
    let summary = lines.iter().rposition(|line| line.starts_with("test result: "))?;
    let count = failed_count(lines[summary])?;
    // The last `failures:` before the summary begins the list. If the number of names differs from the summary,
    // standard error was mixed in. Then it is better to repeat everything.
    let list = lines[..summary].iter().rposition(|line| *line == "failures:")?;
    let names = lines[list + 1..summary].iter().filter_map(|line| line.strip_prefix("    "));
    let names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
    if names.len() != count || count == 0 {
        return None;
    }
    let mut printed = printed(&lines[..list], &names);
    let failed = |name: &str| FailedTest { printed: printed.remove(name).unwrap_or_default(), name: name.to_owned() };
    Some(names.into_iter().map(failed).collect())
}

/// Returns the output of each of these tests: `---- name stdout ----`, and all lines up to the next heading.
fn printed<'a>(lines: &[&str], names: &[&'a str]) -> HashMap<&'a str, String> {
    let mut printed: HashMap<&str, String> = names.iter().map(|&name| (name, String::new())).collect();
    let mut current = None;
    for line in lines {
        let heading = line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----"));
        if let Some(name) = heading.filter(|&name| printed.contains_key(name)) {
            current = Some(name);
        } else if let Some(text) = current.and_then(|name| printed.get_mut(name)) {
            text.push_str(line);
            text.push('\n');
        }
    }
    printed
}

/// Returns the tests that were reported as failed one by one: the only information if the executable did not finish.
pub(crate) fn failed_before_the_end(output: &[u8]) -> Vec<String> {
    let text = without_colour(&String::from_utf8_lossy(output));
    let name = |line: &str| Some(bare_name(line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?).to_owned());
    text.lines().filter_map(name).collect()
}

/// Returns the name of a test without what the line of its result adds: libtest-mimic aligns names after their kinds.
fn bare_name(shown: &str) -> &str {
    let shown = without_kind(shown.trim());
    shown.strip_suffix(" - should panic").unwrap_or(shown)
}

/// Returns a name without the kind that libtest-mimic puts before it: `[ui] button`.
fn without_kind(name: &str) -> &str {
    name.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(name, |(_, name)| name)
}

/// Returns the tests that have ended, passed or failed, if the executable did not finish.
pub(crate) fn ended_tests(output: &[u8]) -> HashSet<String> {
    const RESULTS: [&str; 4] = ["ok", "FAILED", "ignored", "bench:"];
    let text = without_colour(&String::from_utf8_lossy(output));
    let named = text.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
    let mut named: Vec<_> = named.collect();
    // A parallel test is named when it ends. A sequential one is named when it begins, after the one before has ended.
    named.pop_if(|(_, result)| !RESULTS.iter().any(|known| result.starts_with(known)));
    named.into_iter().map(|(name, _)| bare_name(name).to_owned()).collect()
}

/// Returns the test that began last, if the tests ran one after the other and it has not ended.
pub(crate) fn running_test(output: &[u8]) -> Option<String> {
    let text = without_colour(&String::from_utf8_lossy(output));
    let name = bare_name(text.lines().rev().find_map(|line| line.strip_prefix("test ")?.split_once(" ... "))?.0);
    (!ended_tests(output).contains(name)).then(|| name.to_owned())
}

/// Returns true if the harness printed its summary.
pub(crate) fn has_ended(output: &[u8]) -> bool {
    String::from_utf8_lossy(output).lines().any(|line| line.starts_with("test result: "))
}

/// Parses the harness's list of tests.
pub(crate) fn listed_tests(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    let name = |line: &str| {
        let name = line.strip_suffix(": test").or_else(|| line.strip_suffix(": benchmark"))?;
        Some(without_kind(name).to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// Parses the number of failed tests: `test result: FAILED. 2 passed; 3 failed; …`.
fn failed_count(summary: &str) -> Option<usize> {
    let counts = summary.strip_prefix("test result: FAILED. ")?;
    counts.split("; ").find_map(|count| count.strip_suffix(" failed"))?.parse().ok()
}

/// Returns the number of tests that the harness started to run; `None` if it did not print it.
pub(crate) fn started_tests(output: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(output);
    text.lines().find_map(|line| {
        let count = line.strip_prefix("running ")?;
        count.strip_suffix(" tests").or_else(|| count.strip_suffix(" test"))?.parse().ok()
    })
}

/// The variable with the number of tests that the harness runs in parallel.
pub(crate) const THREADS: &str = "RUST_TEST_THREADS";

/// Returns the number of tests that the harness runs in parallel with these arguments.
pub(crate) fn threads(arguments: &[OsString]) -> usize {
    let of_machine = || std::thread::available_parallelism().map_or(1, usize::from);
    asked_threads(arguments).unwrap_or_else(of_machine)
}

/// Returns the number of tests that these arguments or the environment ask the harness to run in parallel.
pub(crate) fn asked_threads(arguments: &[OsString]) -> Option<usize> {
    let mut words = arguments.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    let mut asked = None;
    while let Some(word) = words.next() {
        if let Some(count) = word.strip_prefix("--test-threads=") {
            asked = count.parse().ok();
        } else if word == "--test-threads" {
            asked = words.next().and_then(|count| count.parse().ok());
        }
    }
    let from_environment = || std::env::var(THREADS).ok()?.parse().ok();
    asked.or_else(from_environment).filter(|&count| count > 0)
}

/// Removes the escape sequences of `--color always`: `ESC [ … letter` and `ESC ( letter`. Leaves others alone: a test
/// may print the beginning of a sequence that ends only after the harness's list.
fn without_colour(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        plain.push_str(before);
        let after = after.strip_prefix(['[', '(']).unwrap_or(after);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest = rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest);
    }
    plain.push_str(rest);
    plain
}

/// The options of libtest whose value is the next word.
const WITH_VALUE: [&str; 6] = ["--color", "--format", "--logfile", "--shuffle-seed", "--skip", "--test-threads"];

/// Returns the arguments that run exactly `tests`. Arguments that select tests by name are replaced; `--ignored`,
/// `--include-ignored` and all others stay.
pub(crate) fn repeat(arguments: &[OsString], tests: &[impl AsRef<OsStr>]) -> Vec<OsString> {
    let mut words = without_names(arguments);
    words.push("--exact".into());
    words.extend(tests.iter().map(|name| name.as_ref().to_owned()));
    words
}

/// Returns arguments without those that select tests by name.
pub(crate) fn without_names(arguments: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            break;
        } else if text == "--skip" {
            words.next();
        } else if WITH_VALUE.contains(&&*text) || text == "-Z" {
            kept.push(word.clone());
            kept.extend(words.next().cloned());
        } else if text.starts_with('-') && text != "--exact" && !text.starts_with("--skip=") {
            kept.push(word.clone());
        }
    }
    kept
}

/// Returns arguments without names that run one test after the other.
pub(crate) fn one_thread(arguments: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--test-threads" {
            words.next();
        } else if !word.to_string_lossy().starts_with("--test-threads=") {
            kept.push(word.clone());
        }
    }
    kept.extend(["--test-threads".into(), "1".into()]);
    kept
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn names(output: &str) -> Option<Vec<String>> {
        Some(failed_tests(output.as_bytes())?.into_iter().map(|test| test.name).collect())
    }

    fn list(names: &[&str]) -> String {
        let mut text = String::from("\nfailures:\n");
        for name in names {
            writeln!(text, "    {name}").unwrap();
        }
        let count = names.len();
        writeln!(text, "\ntest result: FAILED. 1 passed; {count} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n")
            .unwrap();
        text
    }

    /// The output of Rust 1.95, with a test that prints the text of a harness.
    const SAMPLE: &str = "
running 4 tests
test a::ok ... ok
test ig ... ignored
test sp - should panic ... FAILED
test a::bad ... FAILED

failures:

---- sp stdout ----
failures:
    a

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

note: test did not panic as expected at src/lib.rs:1:28
---- a::bad stdout ----

thread 'a::bad' (22362) panicked at src/lib.rs:5:61:
assertion failed: false


failures:
    a::bad
    sp

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.06s

";

    #[test]
    fn the_final_list_counts() {
        assert_eq!(names(SAMPLE).unwrap(), ["a::bad", "sp"]);
        assert_eq!(started_tests(SAMPLE.as_bytes()), Some(4));
    }

    #[test]
    fn each_test_has_its_output() {
        let tests = failed_tests(SAMPLE.as_bytes()).unwrap();
        let bad = "\nthread 'a::bad' (22362) panicked at src/lib.rs:5:61:\nassertion failed: false\n\n\n";
        assert_eq!((tests[0].name.as_str(), tests[0].printed.as_str()), ("a::bad", bad));
        assert!(tests[1].printed.starts_with("failures:\n    a\n"), "{:?}", tests[1]);
        assert!(tests[1].printed.ends_with("note: test did not panic as expected at src/lib.rs:1:28\n"));
        // Not shown.
        assert_eq!(failed_tests(list(&["a"]).as_bytes()).unwrap()[0].printed, "");
    }

    #[test]
    fn failures_before_a_crash_are_known() {
        let end = SAMPLE.find("\nfailures:").unwrap();
        assert_eq!(failed_before_the_end(&SAMPLE.as_bytes()[..end]), ["sp", "a::bad"]);
    }

    #[test]
    fn ended_tests_of_an_unfinished_executable_are_known() {
        let ended = |output: &str| {
            let mut names: Vec<_> = ended_tests(output.as_bytes()).into_iter().collect();
            names.sort();
            names.join(", ")
        };
        let several = "\nrunning 6 tests\ntest ig ... ignored, slow\ntest sp - should panic ... ok\ntest a ... FAILED\n\
                       test b ... bench:          10 ns/iter (+/- 1)\n\
                       test hangs has been running for over 60 seconds\ntest c ... ok <0.001s>\n";
        assert_eq!(ended(several), "a, b, c, ig, sp");
        // Sequential tests, also those that print.
        assert_eq!(ended("running 3 tests\ntest a ... ok\ntest hangs ... "), "a");
        assert_eq!(ended("running 3 tests\ntest a ... it says\nok\ntest hangs ... not yet\nok?\n"), "a");
        assert_eq!(ended("running 3 tests\ntest a ... \x1b[32mok\x1b(B\x1b[m\n"), "a");
        // Without names: as if none had ended.
        assert_eq!(ended("\nrunning 3 tests\n.."), "");
    }

    #[test]
    fn the_list_of_tests() {
        let output =
            b"a::b: test\nsrc/lib.rs - sort (line 3): test\nquick: benchmark\nloading: done\n\n2 tests, 1 benchmark\n";
        assert_eq!(listed_tests(output), ["a::b", "src/lib.rs - sort (line 3)", "quick"]);
        // libtest-mimic.
        assert_eq!(listed_tests(b"[ui] a button: test\n[]: test\n"), ["a button", "[]"]);
        let results = b"test      a file    ... ok\ntest [ui] a button  ... FAILED\n";
        assert_eq!(failed_before_the_end(results), ["a button"]);
        assert_eq!(ended_tests(results).len(), 2);
    }

    #[test]
    fn colours_and_invalid_unicode_are_ignored() {
        let coloured = SAMPLE.replace("FAILED", "\x1b[31mFAILED\x1b(B\x1b[m");
        assert_eq!(names(&coloured).unwrap(), ["a::bad", "sp"]);
        let bytes = [b"\xff\xfe\n", SAMPLE.as_bytes(), b"\xc3"].concat();
        assert_eq!(failed_tests(&bytes).unwrap().len(), 2);
        assert_eq!(without_colour("a\x1b[1;31mb\x1b[mc\x1b"), "abc");
    }

    #[test]
    fn an_unterminated_escape_sequence_hides_no_list() {
        for start in ["\x1b]0;title", "\x1bP", "\x1b_", "\x1b"] {
            let output = format!("\nfailures:\n\n---- a stdout ----\n{start}\n") + &list(&["a"]);
            assert_eq!(names(&output).unwrap(), ["a"], "{start:?}");
        }
    }

    #[test]
    fn names_may_have_spaces() {
        let output = list(&["src/lib.rs - sort (line 3)", "case 1: x  y"]);
        assert_eq!(names(&output).unwrap(), ["src/lib.rs - sort (line 3)", "case 1: x  y"]);
    }

    #[test]
    fn output_after_the_summary_is_ignored() {
        let output = list(&["a"]) + "failures:\n    b\nbye\n";
        assert_eq!(names(&output).unwrap(), ["a"]);
    }

    #[test]
    fn lines_of_standard_error_within_the_list_are_ignored() {
        let output = list(&["a", "b"]).replace("    b\n", "warning: late\n    b\n");
        assert_eq!(names(&output).unwrap(), ["a", "b"]);
    }

    #[test]
    fn no_list_is_taken_where_it_could_be_wrong() {
        let passed = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n";
        let contradictory = list(&["a", "b"]).replace("2 failed", "3 failed");
        for output in ["", "failures:\n    a\n", passed, &contradictory, "test result: FAILED. 0 passed; 0 failed;\n"] {
            assert_eq!(names(output), None, "{output}");
        }
    }

    #[test]
    fn the_number_of_tests() {
        assert_eq!(started_tests(b"\nrunning 0 tests\n"), Some(0));
        assert_eq!(started_tests(b"running 1 test\n"), Some(1));
        for output in ["", "running fast\n", "running 0 tests of mine\n"] {
            assert_eq!(started_tests(output.as_bytes()), None, "{output}");
        }
    }

    #[test]
    fn one_test_after_the_other() {
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        for arguments in ["--nocapture", "--test-threads=4 --nocapture", "--nocapture --test-threads 4"] {
            assert_eq!(one_thread(&words(arguments)), words("--nocapture --test-threads 1"), "{arguments}");
        }
    }

    #[test]
    fn the_running_test_and_the_end_are_known() {
        let output = "running 3 tests\ntest a ... ok\ntest b - should panic ... it says\n";
        assert_eq!(running_test(output.as_bytes()).as_deref(), Some("b"));
        assert_eq!(running_test(b"running 3 tests\n"), None);
        assert_eq!(running_test(b"running 3 tests\ntest a ... ok\n"), None);
        assert!(!has_ended(output.as_bytes()));
        assert!(has_ended(SAMPLE.as_bytes()));
    }

    #[test]
    fn the_users_arguments_are_kept_except_for_names() {
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        for (arguments, kept) in [
            ("", ""),
            ("sort", ""),
            ("sort --skip slow --skip=big --exact other", ""),
            ("--test-threads 1 sort --nocapture", "--test-threads 1 --nocapture"),
            ("--test-threads=1 --ignored", "--test-threads=1 --ignored"),
            (
                "-q --include-ignored -Z unstable-options --format terse x",
                "-q --include-ignored -Z unstable-options --format terse",
            ),
            ("--nocapture -- -odd", "--nocapture"),
        ] {
            let expected = [words(kept), words("--exact a::b c")].concat();
            assert_eq!(repeat(&words(arguments), &["a::b", "c"]), expected, "{arguments}");
        }
    }
}
