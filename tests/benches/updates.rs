//! `--deps` on real differences between versions of published packages: answers, trials, builds, compiled crates.
//!
//! Seven change what a function returns, three deprecate a function that the package may not use. All are updated at
//! once, with what they depend on; three are also searched among few updates, and two among more than 200. One more
//! version was withdrawn because code does not compile with it, and one needs a newer compiler than all others.
//!
//! The table is Markdown, for BENCHMARKS.md. `ONLY=name` selects the rows of a package, `FEW=1` those with few
//! updates. Needs the registry, and a cargo that resolves as of a date. Ends with status 1 if an answer is wrong, or a
//! limit is exceeded.
//!
//! *Update* is what the search must find, *updates* are the changed entries of the lock file. Each search begins with an
//! empty target directory, and the limit on rustc is for the whole search. Among seven updates, both ends alone exceed a
//! quarter of the crates for each trial. Both ends need all crates whose versions differ, and those that depend on them; a
//! prefix of updates needs only old crates that depend on new ones. One crate for each trial is that of the user.

use std::{env, fs, process::ExitCode};

use bisect_tests::harness::{Finished, Scratch, cargo, run, scrubbed};

/// Packages with the requirement that both versions satisfy, and the old version.
const PACKAGES: [(&str, &str, &str); 15] = [
    ("unicode-width", "0.1", "0.1.11"),
    ("unicode-segmentation", "1", "1.10.1"),
    ("fastrand", "2", "2.0.2"),
    ("syn", "2", "2.0.60"),
    ("humantime", "2", "2.1.0"),
    ("bstr", "1", "1.6.0"),
    ("regex", "1", "1.7.3"),
    ("chrono", "0.4", "0.4.22"),
    ("indexmap", "2", "2.1.0"),
    ("tempfile", "3", "3.10.0"),
    ("serde_json", "1", "1.0.100"),
    ("semver", "1", "1.0.17"),
    ("uuid", "1", "1.6.0"),
    ("textwrap", "0.16", "0.16.0"),
    ("url", "2", "2.5.0"),
];

/// The number of packages, from the first one, of a small lock file: those that the tests need.
const FEW: usize = 7;

/// The words after `cargo bisect-opt` of each case, and the package whose update is to blame.
const CASES: [(&str, &str); 10] = [
    ("test --lib --deps old.lock -- widths", "unicode-width"),
    ("test --lib --deps old.lock -- graphemes", "unicode-segmentation"),
    ("test --lib --deps old.lock -- random", "fastrand"),
    ("test --lib --deps old.lock -- raw_borrow", "syn"),
    ("test --lib --deps old.lock -- microseconds", "humantime"),
    ("test --lib --deps old.lock -- hexadecimal", "bstr"),
    ("test --lib --deps old.lock -- named_group", "regex"),
    ("check --deps old.lock --features date", "chrono"),
    ("check --deps old.lock --features removal", "indexmap"),
    ("check --deps old.lock --features path", "tempfile"),
];

/// The withdrawn version: its checksum, its case, and its package. Enum variants cannot be imported from a type alias.
const YANKED: (&str, &str) = ("0.4.36", "3313f40d6fa9e783bbb01e814800bde9618da2207c72e9782f35e8dc7c77dabc");
const OF_YANKED: [(&str, &str); 1] = [("check --deps old.lock --features variants", "chrono")];

/// The cases among many updates.
const OF_MANY: [(&str, &str); 3] = [
    ("exec --deps=old.lock sh compiler.sh", "notify-types"),
    ("test --lib --deps old.lock -- widths", "unicode-width"),
    ("check --deps old.lock --features date", "chrono"),
];

/// More packages, which are locked, and compiled on Windows only.
const MANY: &str = r#"[target.'cfg(windows)'.dependencies]
actix-web = "4"
axum = "0.7"
bytemuck = { version = "1", features = ["derive"] }
clap = { version = "4", features = ["derive"] }
criterion = "0.5"
hyper = { version = "1", features = ["full"] }
image = "0.25"
lettre = "0.11"
notify = "8"
ratatui = "0.29"
rayon = "1"
reqwest = { version = "0.12", features = ["json", "gzip", "stream"] }
rusqlite = "0.32"
rustls = "0.23"
tokio = { version = "1", features = ["full"] }
tonic = "0.12"
tracing-subscriber = { version = "0.3", features = ["env-filter", "json"] }
wasm-bindgen-futures = "0.4"
zip = "2"
"#;

/// The dates of the lock files with many packages.
const DATES: [&str; 2] = ["2025-03-01T00:00:00Z", "2026-11-20T00:00:00Z"];

/// Fails if any package needs Rust 1.90 or newer.
const COMPILER: &str = r#""${CARGO:-cargo}" metadata --offline --all-features --format-version=1 > metadata.json || exit 125
! grep -q '"rust_version":"1\.9' metadata.json
"#;

const SOURCE: &str = r#"#![deny(deprecated)]
#[cfg(feature = "date")]
pub fn date() -> chrono::NaiveDate {
    chrono::NaiveDate::from_ymd(2020, 1, 1)
}
#[cfg(feature = "removal")]
pub fn remove(map: &mut indexmap::IndexMap<u8, u8>) {
    map.remove(&1);
}
#[cfg(feature = "path")]
pub fn path(dir: tempfile::TempDir) -> std::path::PathBuf {
    dir.into_path()
}
#[cfg(feature = "variants")]
pub fn is_single(result: chrono::LocalResult<u8>) -> bool {
    use chrono::LocalResult::*;
    matches!(result, Single(_))
}
#[test]
fn widths() {
    assert_eq!(unicode_width::UnicodeWidthStr::width("\u{2764}\u{fe0f}"), 1);
}
#[test]
fn graphemes() {
    assert_eq!(unicode_segmentation::UnicodeSegmentation::graphemes("\u{915}\u{94d}\u{924}", true).count(), 2);
}
#[test]
fn random() {
    assert_eq!(fastrand::Rng::with_seed(7).u64(..), 16_292_765_481_176_799_425);
}
#[test]
fn raw_borrow() {
    assert!(matches!(syn::parse_str::<syn::Expr>("&raw const x"), Ok(syn::Expr::Verbatim(_))));
}
#[test]
fn microseconds() {
    assert!(humantime::parse_duration("1 \u{b5}s").is_err());
}
#[test]
fn hexadecimal() {
    assert_eq!(format!("{:?}", bstr::BStr::new(b"\xff")), "\"\\xFF\"");
}
#[test]
fn named_group() {
    assert!(regex::Regex::new("(?<n>a)").is_err());
}
"#;

fn main() -> ExitCode {
    if !env::args().any(|argument| argument == "--bench") {
        println!("measured by `cargo bench` only");
        return ExitCode::SUCCESS;
    }
    println!(
        "Decides the order of updates: real differences between versions of published packages, searched by\n\
         `--deps`. *Crates*: how often cargo starts rustc for everything, old and new. The limits are log2\n\
         N + 6 trials, and a quarter of the new crates for each trial, or both ends and one crate for each\n\
         trial.\n"
    );
    println!("| update | updates | trials | limit | crates, old | new | rustc started | limit |");
    println!("|:--|--:|--:|--:|--:|--:|--:|--:|");
    let only = env::var("ONLY").unwrap_or_default();
    let mut all_right = true;
    let mut search = |shop: &dyn Fn() -> Shop, cases: &[(&str, &str)]| {
        let mut cases = cases.iter().filter(|(_, package)| package.contains(&only)).peekable();
        let shop = cases.peek().map(|_| shop());
        for (words, package) in cases {
            all_right &= shop.as_ref().is_some_and(|shop| shop.search(words, package));
        }
    };
    search(&|| Shop::new(FEW, "", None), &CASES[..3]);
    if env::var_os("FEW").is_none() {
        search(&|| Shop::new(PACKAGES.len(), "", None), &CASES);
        search(&Shop::with_yanked_version, &OF_YANKED);
        search(&|| Shop::new(PACKAGES.len(), MANY, Some(DATES)), &OF_MANY);
    }
    if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A package with two lock files: `Cargo.lock` has the newest versions, `old.lock` the old ones.
struct Shop {
    scratch: Scratch,
}

impl Shop {
    /// Makes one with some of the packages, and more in its manifest. With dates, versions are those of these dates.
    fn new(count: usize, more: &str, dates: Option<[&str; 2]>) -> Self {
        let shop = Self { scratch: Scratch::new() };
        fs::create_dir(shop.scratch.dir().join("src")).expect("the folder can be made");
        shop.scratch.write("src/lib.rs", SOURCE);
        shop.scratch.write("compiler.sh", COMPILER);
        for is_old in [true, false] {
            shop.scratch.write("Cargo.toml", &(manifest(&PACKAGES[..count], is_old) + more));
            let mut resolve = vec!["generate-lockfile"];
            if let Some([old, new]) = dates {
                resolve.extend(["-Zunstable-options", "--publish-time", if is_old { old } else { new }]);
            }
            shop.cargo(&resolve);
            shop.cargo(&["fetch"]);
            if is_old {
                fs::rename(shop.scratch.dir().join("Cargo.lock"), shop.scratch.dir().join("old.lock"))
                    .expect("the lock file is there");
            }
        }
        shop
    }

    /// Makes one whose lock file has a version that cargo does not select by itself.
    fn with_yanked_version() -> Self {
        let shop = Self::new(PACKAGES.len(), "", None);
        let lock_file = shop.scratch.read("Cargo.lock");
        let (before, chrono) = lock_file.split_once("name = \"chrono\"\n").expect("chrono is locked");
        let (_, after) = chrono.split_once("dependencies").expect("chrono has dependencies");
        let (version, checksum) = YANKED;
        let source = chrono.lines().find(|line| line.starts_with("source")).expect("chrono has a source");
        let chrono = format!("version = \"{version}\"\n{source}\nchecksum = \"{checksum}\"\ndependencies{after}");
        shop.scratch.write("Cargo.lock", &format!("{before}name = \"chrono\"\n{chrono}"));
        shop.cargo(&["fetch"]);
        shop
    }

    /// Runs cargo with network.
    fn cargo(&self, words: &[&str]) -> String {
        let mut command = scrubbed(&cargo(), self.scratch.dir());
        command.args(words).env("CARGO_NET_OFFLINE", "false").env("RUSTC_BOOTSTRAP", "1");
        run(&mut command).expect_status(0).stdout
    }

    /// Returns the number of times that cargo would start rustc to compile everything.
    fn crates(&self, words: &str) -> u64 {
        let words: Vec<_> = words.split(' ').collect();
        let mut build = match words[0] {
            "exec" => return 0,
            "test" => vec!["test", "--no-run", "--lib"],
            other => vec![other],
        };
        let features = words.iter().position(|&word| word == "--features");
        build.extend(features.into_iter().flat_map(|position| &words[position..]));
        build.extend(["--unit-graph", "-Zunstable-options"]);
        let graph: serde_json::Value = serde_json::from_str(&self.cargo(&build)).expect("cargo prints JSON");
        let units = graph["units"].as_array().expect("there are units").iter();
        units.filter(|unit| unit["mode"] != "run-custom-build").count() as u64
    }

    /// Returns that number for the old lock file.
    fn crates_of_old(&self, words: &str) -> u64 {
        let new = self.scratch.read("Cargo.lock");
        self.scratch.write("Cargo.lock", &self.scratch.read("old.lock"));
        let crates = self.crates(words);
        self.scratch.write("Cargo.lock", &new);
        crates
    }

    /// Searches, prints a row, and returns true if the answer is right.
    fn search(&self, words: &str, package: &str) -> bool {
        let (old, new) = (self.crates_of_old(words), self.crates(words));
        let (subcommand, rest) = words.split_once(' ').expect("a subcommand");
        let words = [subcommand, "--json"].into_iter().chain(rest.split(' '));
        // Nothing that another search compiled is there.
        let target = self.scratch.dir().join("target").join(package);
        let finished = run(self.scratch.driver(words).env("CARGO_TARGET_DIR", &target));
        // A search that ends early has built nothing.
        let _ = fs::remove_dir_all(target);
        let found = names(&finished);
        let updates = number_before(&finished.stderr, " update");
        let compiled = finished.stderr.split("for these runs compiled ").nth(1).map_or(0, first_number);
        let trials = finished.events_of("end").first().and_then(|end| end["trials"].as_u64()).unwrap_or(0);
        let most_trials = u64::from(updates.max(1).ilog2()) + 6;
        let most_compiled = (new * trials / 4).max(if new == 0 { 0 } else { old + new + trials });
        println!("| {package} | {updates} | {trials} | {most_trials} | {old} | {new} | {compiled} | {most_compiled} |");
        let is_within = trials <= most_trials && compiled as u64 <= most_compiled;
        let is_right = finished.status == Some(0) && found == [package] && is_within;
        if !is_right {
            println!("wrong: {found:?}\n{finished}");
        }
        is_right
    }
}

fn manifest(packages: &[(&str, &str, &str)], is_old: bool) -> String {
    let requirements = packages.iter().map(|&(name, new, old)| {
        let version = if is_old { format!("={old}") } else { new.to_owned() };
        let features = if name == "syn" { ", features = [\"full\", \"extra-traits\"]" } else { "" };
        format!("{name} = {{ version = \"{version}\"{features} }}\n")
    });
    format!(
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n[features]\ndate = []\n\
         removal = []\npath = []\nvariants = []\n[dependencies]\n{}",
        requirements.collect::<String>()
    )
}

/// Returns the names of all changes of all culprits.
fn names(finished: &Finished) -> Vec<String> {
    let found = finished.events_of("found");
    let changes = found.iter().filter_map(|found| found["changes"].as_array()).flatten();
    changes.filter_map(|change| change["name"].as_str().map(str::to_owned)).collect()
}

/// Returns the first number that this text follows.
fn number_before(text: &str, after: &str) -> usize {
    let before = text.split(after).next().unwrap_or_default();
    before.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn first_number(text: &str) -> usize {
    text.split(|c: char| !c.is_ascii_digit()).next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
