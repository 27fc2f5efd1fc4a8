//! `--resume` on each axis: a search is killed at chosen moments, and at random ones, and continues.
#![cfg(unix)]

use std::{any::Any, env, fs, path::PathBuf, process::Command, thread, time::Instant};

use bisect_tests::{
    foreign,
    harness::{Fixture, Running, RustcDriver, Scratch, root, run, rustc_driver, temp_dir},
    release_cases,
};

use crate::{
    commits, deps, deps_versions, diff, diff_of_cargo, features,
    resume::{answer, check, check_resumed, list, runs, with},
    victim,
};

/// A search, and what its command needs.
struct Search {
    command: Command,
    out: PathBuf,
    /// Deletes the directories.
    place: Box<dyn Any>,
}

/// Kills a search and continues it, at as many evenly spaced moments as `MOMENTS` says. Without it, at the first of four
/// moments that is within the search.
fn at_random_moments(search: &Search) {
    let wanted: Option<u32> = env::var("MOMENTS").ok().map(|text| text.parse().expect("MOMENTS is a number"));
    let moments: Vec<_> = match wanted {
        Some(moments) => (0..moments).map(|moment| f64::from(2 * moment + 1) / f64::from(2 * moments)).collect(),
        None => vec![0.5, 0.25, 0.75, 0.125],
    };
    let Search { command, out, .. } = search;
    let mut seeded = with(command, "--seed=5");
    // The first one compiles what all have in common.
    let _ = run(&mut seeded);
    let begun = Instant::now();
    let whole = run(&mut seeded);
    let (took, all) = (begun.elapsed(), runs(out));
    let mut killed = 0;
    for moment in &moments {
        if wanted.is_none() && killed > 0 {
            break;
        }
        let _ = fs::remove_dir_all(out);
        let running = Running::start(&mut seeded);
        // Any moment will do: this is no synchronisation.
        thread::sleep(took.mul_f64(*moment));
        running.signal("KILL");
        if running.finish().status.is_some() || !out.join("journal.jsonl").exists() {
            continue;
        }
        killed += 1;
        check_resumed(command, out, &whole, all);
    }
    eprintln!("killed {killed} times of {} in {took:?}", moments.len());
    assert!(killed > 0, "no moment was within the search");
    check_leftovers(search);
}

/// Checks that the next search deletes the directories that the killed ones left in the search's own `TMPDIR`.
fn check_leftovers(Search { command, .. }: &Search) {
    let Some((_, Some(tmp))) = command.get_envs().find(|(name, _)| *name == "TMPDIR") else { return };
    if tmp == temp_dir() {
        return; // other tests have directories there
    }
    let _ = run(&mut with(command, "--quiet"));
    let names = fs::read_dir(tmp).unwrap().map(|entry| entry.unwrap().file_name());
    // A linker that was killed leaves files of its own, such as `ccUe5nTl.res`.
    let left: Vec<_> = names.filter(|name| !name.to_string_lossy().starts_with("cc")).collect();
    assert!(left.is_empty(), "left: {left:?}");
}

/// Makes two tests of each search: with the numbers of runs after which it is killed, and with random moments.
macro_rules! axes {
    ($($(#[$attribute:meta])* $axis:ident: $moments:expr,)*) => {
        mod at_chosen_moments {
            $(#[test]
            $(#[$attribute])*
            fn $axis() {
                let Some(search) = Option::<super::Search>::from(super::$axis()) else { return };
                super::check(&search.command, &search.out, $moments);
                super::check_leftovers(&search);
                drop(search.place);
            })*
        }

        mod at_random_moments {
            $(#[test]
            #[ignore = "slow: CI runs it"]
            fn $axis() {
                let Some(search) = Option::<super::Search>::from(super::$axis()) else { return };
                super::at_random_moments(&search);
                drop(search.place);
            })*
        }
    };
}

// Real processes are killed at each moment of a search of lines (`resume.rs`), and simulated searches continue from each of
// their states. So a few moments of each axis are enough here.
axes! {
    lines: [1, 2, 4, 9, 16],
    #[ignore = "slow: CI runs it"]
    flaky_command: [2, 11, 40],
    counter: [1, 3, 7, 9],
    #[ignore = "slow: CI runs it"]
    commits: [2, 6],
    #[ignore = "slow: CI runs it"]
    hunks: [2, 6],
    #[ignore = "slow: CI runs it"]
    hunks_of_a_crate: [2, 6],
    #[ignore = "slow: CI runs it"]
    updates: [1, 6],
    #[ignore = "slow: CI runs it"]
    versions_of_an_update: [3, 9],
    #[ignore = "slow: CI runs it"]
    cargo_features: [1, 6],
    #[ignore = "slow: CI runs it"]
    other_tests: [4, 14],
    #[ignore = "slow: CI runs it"]
    stacks_of_several_tests: [3, 15],
    #[ignore = "slow: CI runs it"]
    single_decisions: [4, 20],
    #[ignore = "slow: CI runs it"]
    choices_at_build_time: [1, 9],
    #[ignore = "slow: CI runs it"]
    crates_and_passes: [4, 9],
    #[ignore = "slow: CI runs it"]
    functions: [5],
    #[ignore = "slow: CI runs it"]
    expressions: [4],
}

fn lines() -> Search {
    let scratch = Scratch::new();
    let (command, out) = (list(&scratch), scratch.dir().join("bisect.out"));
    Search { command, out, place: Box::new(scratch) }
}

fn flaky_command() -> Search {
    let scratch = Scratch::new();
    let mut command = scratch.driver(["exec", "--json", "FOREIGN_CHANGES=PATTERN", "sh"]);
    command.arg(root().join("tests/fixtures/chance/chance.sh")).args(["100", "900", "RANDOM"]);
    command.arg(foreign::executable()).arg("--fails-when=12");
    let out = scratch.dir().join("bisect.out");
    Search { command, out, place: Box::new(scratch) }
}

fn counter() -> Search {
    let scratch = Scratch::new();
    let command = scratch.driver(["count", "--json", "--max-count", "100", "sh", "-c", "[ $1 -lt 37 ]", "sh", "COUNT"]);
    let out = scratch.dir().join("bisect.out");
    Search { command, out, place: Box::new(scratch) }
}

fn commits() -> Search {
    let place = commits::Place::with_numbers(40, &[7, 20, 21]);
    let command = place.command(&[], &["sh", "-c", commits::CHECK, "sh", "23"]);
    Search { command, out: place.out(), place: Box::new(place) }
}

fn hunks() -> Search {
    let place = diff::Place::new();
    let text = |is_new| diff::lines(200, |line| is_new && line % 10 == 0);
    place.repository.write("a", &text(false));
    place.repository.commit("old");
    place.repository.write("a", &text(true));
    let command = place.command(&[&["exec", "--diff"][..], &diff::grep("new 70")].concat());
    Search { command, out: place.scratch.dir().join("out"), place: Box::new(place) }
}

fn hunks_of_a_crate() -> Search {
    let place = diff_of_cargo::shop();
    let command = place.command(&["test", "--diff"]);
    Search { command, out: place.scratch.dir().join("out"), place: Box::new(place) }
}

/// A repeated check would be recorded twice. The answer shows the hunk that the culprit needs, which a run has decided.
#[test]
#[ignore = "slow: CI runs it"]
fn checks_of_hunks_are_not_repeated() {
    let place = diff_of_cargo::shop();
    let command = place.command(&["test", "--diff", "--seed=5"]);
    let checks = || fs::read_to_string(place.scratch.dir().join("out/checks.jsonl")).unwrap();
    let sorted = |checks: String| {
        let mut lines: Vec<_> = checks.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let whole = run(&mut with(&command, "--quiet"));
    let of_whole = sorted(checks());
    let limited = run(&mut with(&command, "--max-runs=3")).expect_status(5);
    let before = checks();
    assert!(!before.is_empty(), "{limited}");
    for _ in 0..2 {
        let resumed = run(&mut with(&command, "--resume"));
        let after = checks();
        assert!(after.starts_with(&before), "{before}\n{after}");
        assert_eq!(sorted(after), of_whole, "{resumed}");
        assert_eq!(answer(&resumed), answer(&whole), "{resumed}");
    }
}

fn updates() -> Search {
    of_shop(deps::Shop::with_packages(8, 5), "--deps")
}

fn versions_of_an_update() -> Search {
    of_shop(deps_versions::shop_with_versions(), "--deps=versions")
}

fn of_shop(shop: deps::Shop, option: &str) -> Search {
    let out = shop.dir().parent().unwrap().join("out");
    let words = ["test", "--json", option, "--out", &out.display().to_string()];
    let command = shop.command(&words);
    Search { command, out, place: Box::new(shop) }
}

fn cargo_features() -> Search {
    let workspace = features::Workspace::new(&[
        ("Cargo.toml", "app 2021\n[features]\na = []\nb = []\nc = []\nd = ['a']\ne = []\n"),
        ("src/lib.rs", "#[test]\nfn fine() {\n    assert!(!cfg!(all(feature = \"c\", feature = \"e\")));\n}\n"),
    ]);
    let command = workspace.command("test --features-of app --all-features");
    let out = workspace.dir().parent().unwrap().join("out");
    Search { command, out, place: Box::new(workspace) }
}

fn other_tests() -> Search {
    let cast = Fixture::new("cast");
    let command = victim::command(&cast, "victim=30 pollute=17", "--victim tests::t030");
    let out = cast.dir().join("out");
    Search { command, out, place: Box::new(cast) }
}

/// Returns a search of a fixture.
fn in_fixture(fixture: Fixture, words: &[&str]) -> Search {
    let out = fixture.dir().join("out");
    let mut command = fixture.driver([&words[..1], &["--json", "--out"]].concat());
    command.arg(&out).args(&words[1..]);
    Search { command, out, place: Box::new(fixture) }
}

fn stacks_of_several_tests() -> Search {
    in_fixture(Fixture::new("crowd"), &["test", "--", "player_0"])
}

fn single_decisions() -> Search {
    in_fixture(Fixture::new("calls"), &["test", "--when", "--toggle=line", "--", "a_short_day"])
}

fn choices_at_build_time() -> Search {
    in_fixture(Fixture::new("tenfold"), &["run", "-p", "app"])
}

fn crates_and_passes() -> Search {
    in_fixture(Fixture::new("scales"), &["test", "--codegen", "-papp", "--test=works"])
}

fn functions() -> Option<Search> {
    let compiler = rustc_driver()?;
    let fixture = Fixture::new("release");
    let cases = release_cases::cases(fixture.dir());
    let case = cases.into_iter().find(|case| case.is_default() && case.functions.len() == 1);
    let words = case.expect("the table has a case of one function").arguments();
    let words: Vec<_> = words.iter().map(String::as_str).chain(["--level", "functions"]).collect();
    Some(compiled_by(&compiler, in_fixture(fixture, &words)))
}

fn expressions() -> Option<Search> {
    let compiler = rustc_driver()?;
    // `functions` searches tests. This build runs nothing, and compiles little.
    let words = ["check", "--edition=2021", "-p", "returns"];
    Some(compiled_by(&compiler, in_fixture(Fixture::new("loans"), &words)))
}

/// Returns a search with a compiler of its own.
fn compiled_by(compiler: &RustcDriver, mut search: Search) -> Search {
    search.command.env("RUSTC", &compiler.rustc).env("BISECT_RUSTC", &compiler.driver);
    search
}
