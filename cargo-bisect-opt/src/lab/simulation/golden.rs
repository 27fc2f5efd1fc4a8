//! Tests of whole searches as text files: the output on the terminal, and the output of `--json`.
//!
//! A file in `testdata/searches/` begins with its settings. `UPDATE_SEARCHES=1` writes the rest.

use std::{
    collections::BTreeSet,
    env,
    fmt::Write,
    path::{Path, PathBuf},
};

use super::simulate;

const SCREEN: &str = "---- screen\n";
const EVENTS: &str = "---- events\n";

/// Lines before and after a difference that are shown with it.
const CONTEXT: usize = 3;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/searches").join(name.replace('_', "-")).with_extension("txt")
}

/// Returns the settings of a search.
pub(super) fn settings(name: &str) -> String {
    let text = fs_err::read_to_string(path(name)).unwrap();
    text.split_once(SCREEN).map_or(text.as_str(), |(settings, _)| settings).to_owned()
}

fn check(name: &str) {
    let path = path(name);
    let expected = fs_err::read_to_string(&path).unwrap();
    let settings = expected.split_once(SCREEN).map_or(expected.as_str(), |(settings, _)| settings);
    let searched = simulate(settings);
    let [answer, reported] = &searched.answers;
    assert!(reported.starts_with(answer), "a report repeats the answer\n{}", difference(answer, reported));
    let actual = [settings, SCREEN, &searched.screen, EVENTS, &searched.events].concat();
    if actual == expected {
        return;
    }
    if env::var_os("UPDATE_SEARCHES").is_some() {
        fs_err::write(&path, actual).unwrap();
    } else {
        let difference = difference(&expected, &actual);
        panic!("{} differs; UPDATE_SEARCHES=1 writes it anew\n{difference}", path.display());
    }
}

/// Returns the lines from the first difference to the last one, with some lines around them.
fn difference(expected: &str, actual: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (expected.lines().collect(), actual.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let before = old.iter().zip(&new).take_while(same).count();
    let after = old[before..].iter().rev().zip(new[before..].iter().rev()).take_while(same).count();
    let (old_end, new_end) = (old.len() - after, new.len() - after);
    let mut text = String::new();
    let mut add = |mark: &str, lines: &[&str]| {
        for line in lines {
            writeln!(text, "{mark} {line}").expect("a string takes everything");
        }
    };
    add(" ", &old[before.saturating_sub(CONTEXT)..before]);
    add("-", &old[before..old_end]);
    add("+", &new[before..new_end]);
    add(" ", &old[old_end..old.len().min(old_end + CONTEXT)]);
    text
}

/// Calls a macro with the names of all recorded searches, in two lists: those that can be continued from each of their
/// states, and the others. The others are interrupted, or have a run that depends on the run before it.
macro_rules! searches {
    ($call:ident) => {
        $call! {
            continued: plain, verbose, quiet, pair_with_stacks, disable, count, count_noisy, repeat, parallel,
            parallel_random, ignores_pattern, ignores_pattern_parallel, nothing_to_find, fails_both_ways, unresolved,
            noisy, noisy_parallel, noisy_limit, only_noise, withdrawn, contradicts_itself, carry_over, carry_over_cycle, per_test,
            per_test_parallel, per_test_unexplained, per_test_noisy, per_test_groups, per_test_never, per_test_always,
            max_runs, max_sets, max_set_below_all, max_set_size, per_test_max_runs, several_searches;
            others: carry_over_change, interrupted, interrupted_parallel;
        }
    };
}
pub(super) use searches;

/// Defines a test for each file.
macro_rules! goldens {
    (continued: $($continued:ident),*; others: $($other:ident),*;) => {
        /// The names of all files.
        const NAMES: &[&str] = &[$(stringify!($continued),)* $(stringify!($other)),*];
        $(#[test] fn $continued() { check(stringify!($continued)); })*
        $(#[test] fn $other() { check(stringify!($other)); })*
    };
}

searches!(goldens);

#[test]
fn every_file_is_a_test() {
    let folder = path("plain").parent().expect("it is in a folder").to_owned();
    let files = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: BTreeSet<_> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "txt")).collect();
    assert_eq!(files, NAMES.iter().map(|name| path(name)).collect());
}

#[test]
fn a_difference_is_shown_with_the_lines_around_it() {
    let expected = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    for (actual, shown) in [
        ("1\n2\n3\n4\nx\ny\n6\n7\n8\n9\n", "  2\n  3\n  4\n- 5\n+ x\n+ y\n  6\n  7\n  8\n"),
        ("1\n3\n4\n5\n6\n7\n8\n9\n", "  1\n- 2\n  3\n  4\n  5\n"),
        ("1\n2\n3\n4\n5\n6\n7\n8\n9\n9\n", "  7\n  8\n  9\n+ 9\n"),
    ] {
        assert_eq!(difference(expected, actual), shown);
    }
}
