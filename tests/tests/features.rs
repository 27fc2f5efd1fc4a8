//! `--features-of`: the features of a package that break a build, a test or a program.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use bisect_tests::harness::{Finished, Scratch, cargo, run, scrubbed};

/// A workspace beside a target directory.
pub(crate) struct Workspace {
    scratch: Scratch,
}

impl Workspace {
    /// Makes a workspace of files. The first line of a manifest is made from `NAME EDITION`.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let workspace = Self { scratch: Scratch::new() };
        for (name, text) in files {
            let text = match name.ends_with("Cargo.toml").then(|| text.split_once('\n')).flatten() {
                Some((package, rest)) if !package.starts_with('[') => {
                    let (name, edition) = package.split_once(' ').unwrap();
                    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n{rest}")
                }
                _ => (*text).to_owned(),
            };
            workspace.write(name, &text);
        }
        // So that no search creates it.
        let mut lock = scrubbed(&cargo(), &workspace.dir());
        let _ = run(lock.args(["generate-lockfile", "--offline"])).expect_status(0);
        workspace
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.dir().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.scratch.dir().join("work")
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let out = self.scratch.dir().join("out").display().to_string();
        let words: Vec<_> = line.split_whitespace().collect();
        let mut command = self.scratch.driver([&words[..1], &["--json", "--out", &out], &words[1..]].concat());
        command.current_dir(self.dir()).env("CARGO_TARGET_DIR", self.scratch.dir().join("target"));
        command
    }

    /// Searches, and checks that the user's files are the same afterwards.
    pub(crate) fn search(&self, line: &str) -> Finished {
        let before = files(&self.dir());
        let finished = run(&mut self.command(line));
        assert_eq!(files(&self.dir()), before, "{finished}");
        finished
    }

    /// Runs the command line that reproduces the first culprit.
    pub(crate) fn reproduce(&self, finished: &Finished) -> Finished {
        let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
        let mut shell = scrubbed("sh".as_ref(), &self.dir());
        let path = cargo().parent().unwrap().display().to_string() + ":" + &std::env::var("PATH").unwrap();
        shell.env("PATH", path).env("CARGO_TARGET_DIR", self.scratch.dir().join("target"));
        run(shell.args(["-c", &line]))
    }
}

/// Returns all files in a directory.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

/// Returns the features of each culprit, in the order of their names.
pub(crate) fn found(finished: &Finished) -> Vec<Vec<String>> {
    let names = |found: &serde_json::Value| {
        let changes = found["changes"].as_array().unwrap().iter();
        let name = |change: &serde_json::Value| {
            assert_eq!(change["kind"], "feature", "{finished}");
            change["name"].as_str().unwrap().to_owned()
        };
        let mut names: Vec<_> = changes.map(name).collect();
        names.sort();
        names
    };
    finished.events_of("found").iter().map(names).collect()
}

/// Returns the line that describes the search.
pub(crate) fn subject(finished: &Finished) -> &str {
    finished.stderr.lines().find(|line| line.starts_with("bisecting ")).unwrap_or_else(|| panic!("{finished}"))
}

/// Returns the command of cargo that reproduces the first culprit, without quotes.
pub(crate) fn line(finished: &Finished) -> String {
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    line.split_once(" && ").unwrap().1.replace('\'', "")
}

/// A package with 16 independent features, and a library with this source.
fn sixteen(source: &str) -> Workspace {
    let features = (0..16).map(|n| format!("f{n} = []")).collect::<Vec<_>>().join("\n");
    Workspace::new(&[("Cargo.toml", &format!("shop 2021\n[features]\n{features}\n")), ("src/lib.rs", source)])
}

/// Returns an item that breaks the build under a condition.
pub(crate) fn error_if(condition: &str) -> String {
    format!("#[cfg({condition})]\ncompile_error!(\"broken by {}\");\n", condition.replace('"', "'"))
}

#[test]
#[ignore = "slow: CI runs it"]
fn one_feature_breaks_the_build() {
    let workspace = sixteen(&error_if("feature = \"f11\""));
    for subcommand in ["build", "check"] {
        let finished = workspace.search(&format!("{subcommand} --all-features --features-of shop")).expect_status(0);
        assert_eq!(found(&finished), [["f11"]], "{finished}");
        assert!(subject(&finished).starts_with("bisecting 16 features of shop, of cargo"), "{finished}");
        assert_eq!(line(&finished), format!("cargo {subcommand} --no-default-features --features shop/f11"));
        assert_eq!(workspace.reproduce(&finished).status, Some(101));
        let change = &finished.events_of("found")[0]["changes"][0];
        assert_eq!((change["file"].as_str(), change["line"].as_u64()), (Some("Cargo.toml"), Some(17)), "{finished}");
    }
    // Two ends, log2 16 cuts, two runs that prove it, and four checks.
    let finished = workspace.search("check --all-features --features-of shop").expect_status(0);
    let runs = finished.events_of("end")[0]["runs"].as_u64().unwrap();
    assert!(runs <= 12, "{runs}: {finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn two_features_that_only_together_break_the_build() {
    let workspace = sixteen(&error_if("all(feature = \"f3\", feature = \"f12\")"));
    for jobs in ["-j1", "-j3"] {
        let finished = workspace.search(&format!("check {jobs} --all-features --features-of shop")).expect_status(0);
        assert_eq!(found(&finished), [["f12", "f3"]], "{finished}");
        let how = finished.events_of("found")[0]["failures"][0]["how"].as_str().unwrap().to_owned();
        assert!(how.contains("src/lib.rs:2:1"), "{how}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn two_features_each_of_which_breaks_the_build() {
    let workspace = sixteen(&(error_if("feature = \"f3\"") + &error_if("feature = \"f12\"")));
    let finished = workspace.search("check -F f1,f3 -rF f12 --features=f15 --features-of shop").expect_status(0);
    let mut culprits = found(&finished);
    culprits.sort();
    assert_eq!(culprits, [["f12"], ["f3"]], "{finished}");
    assert!(subject(&finished).starts_with("bisecting 4 features of shop"), "{finished}");
    assert!(line(&finished).starts_with("cargo check --no-default-features --features shop/f"), "{finished}");
    assert!(line(&finished).ends_with(" -r"), "{finished}");
}

/// A package whose features imply each other.
const LAYERS: &str = "shop 2021\n[features]\ndefault = [\"net\"]\nstd = []\nalloc = []\nio = [\"std\"]\n\
                      net = [\"io\", \"alloc\"]\nlog = []\nfull = [\"net\", \"log\", \"tls\"]\ntls = [\"io\"]\n";

fn layers(source: &str) -> Workspace {
    Workspace::new(&[("Cargo.toml", LAYERS), ("src/lib.rs", source)])
}

#[test]
#[ignore = "slow: CI runs it"]
fn implied_features_are_found_and_not_what_implies_them() {
    let workspace = layers(&error_if("all(feature = \"io\", feature = \"log\")"));
    for options in ["--all-features", "-F full", "-F log", "-F shop/log,tls", "--no-default-features -F log -F tls"] {
        let finished = workspace.search(&format!("check {options} --features-of shop")).expect_status(0);
        assert_eq!(found(&finished), [["io", "log"]], "{options}: {finished}");
        assert_eq!(line(&finished), "cargo check --no-default-features --features shop/io,shop/log", "{options}");
    }
}

#[test]
fn a_feature_is_built_with_what_it_implies() {
    // The feature breaks the build, those that it implies do not.
    let workspace = layers(&error_if("feature = \"full\""));
    let finished = workspace.search("check --all-features --features-of shop").expect_status(0);
    assert_eq!(found(&finished), [["full"]], "{finished}");
    let details = finished.events_of("found")[0].to_string();
    assert!(details.contains("it implies `alloc`, `log`, `std`, `io`, `tls` and `net`"), "{details}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_default_may_be_the_culprit() {
    let workspace = layers(&error_if("all(feature = \"default\", feature = \"tls\")"));
    let finished = workspace.search("check -F tls --features-of shop").expect_status(0);
    assert_eq!(found(&finished), [["default", "tls"]], "{finished}");
    // Without it, it is no change.
    let finished = workspace.search("check -F tls --no-default-features --features-of shop").expect_status(1);
    assert!(subject(&finished).starts_with("bisecting 3 features of shop"), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_feature_without_which_the_build_fails() {
    for (needed, expected) in [("std", "std"), ("io", "io"), ("log", "log"), ("net", "net")] {
        let workspace = layers(&error_if(&format!("not(feature = \"{needed}\")")));
        let finished = workspace.search("check --all-features --features-of shop").expect_status(0);
        assert_eq!(found(&finished), [[expected]], "{finished}");
        assert_eq!(finished.events_of("found")[0]["mode"], "disable");
        assert_eq!(workspace.reproduce(&finished).status, Some(101), "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn two_features_of_which_the_build_needs_one() {
    let workspace = layers(&error_if("not(any(feature = \"io\", feature = \"log\"))"));
    let finished = workspace.search("check --all-features --features-of shop").expect_status(0);
    assert_eq!(found(&finished), [["io", "log"]], "{finished}");
}

#[test]
fn features_that_imply_each_other_are_one_change() {
    let manifest = "shop 2021\n[features]\na = [\"b\"]\nb = [\"c\"]\nc = [\"a\"]\nd = []\ne = []\n";
    let workspace = Workspace::new(&[("Cargo.toml", manifest), ("src/lib.rs", &error_if("feature = \"b\""))]);
    let finished = workspace.search("check -F c,d,e --features-of shop").expect_status(0);
    assert_eq!(found(&finished), [["a, b, c"]], "{finished}");
    assert!(subject(&finished).starts_with("bisecting 5 features as 3 changes of shop"), "{finished}");
}

/// Optional dependencies that are features, are hidden behind some, and get features from others.
fn optional() -> Workspace {
    Workspace::new(&[
        (
            "Cargo.toml",
            "shop 2021\n[features]\ncolour = [\"dep:paint\"]\nfast = [\"pump/turbo\"]\nmaybe = [\"pump?/slow\"]\nnone = []\n\
             [dependencies]\npaint = { path = \"paint\", optional = true }\npump = { path = \"pump\", optional = true }\n",
        ),
        ("src/lib.rs", ""),
        ("paint/Cargo.toml", "paint 2021\n"),
        ("paint/src/lib.rs", ""),
        ("pump/Cargo.toml", "pump 2021\n[features]\nturbo = []\nslow = []\n"),
        ("pump/src/lib.rs", ""),
    ])
}

#[test]
#[ignore = "slow: CI runs it"]
fn optional_dependencies() {
    let workspace = optional();
    for (place, condition, expected) in [
        // The build of a dependency fails, or the package that has it.
        ("pump/src/lib.rs", "all(feature = \"turbo\", feature = \"slow\")", &["fast", "maybe"][..]),
        ("pump/src/lib.rs", "feature = \"slow\"", &["maybe", "pump"]),
        ("pump/src/lib.rs", "all()", &["pump"]),
        ("src/lib.rs", "feature = \"pump\"", &["pump"]),
        ("paint/src/lib.rs", "all()", &["colour"]),
    ] {
        workspace.write(place, &error_if(condition));
        let finished = workspace.search("check --all-features --features-of shop").expect_status(0);
        assert_eq!(found(&finished), [expected], "{condition}: {finished}");
        workspace.write(place, "");
    }
    // It stays enabled: it is a feature of another package.
    workspace.write("src/lib.rs", &error_if("all(feature = \"pump\", feature = \"none\")"));
    let finished = workspace.search("check -F pump/turbo,none --features-of shop").expect_status(0);
    assert_eq!(found(&finished), [["none"]], "{finished}");
    assert!(subject(&finished).contains("besides `pump`, which cannot be disabled"), "{finished}");
}

/// A virtual workspace: `app` needs `core` with a feature, and tests need `core` with another.
fn virtual_workspace() -> Workspace {
    Workspace::new(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"app\", \"core\"]\nresolver = \"2\"\n"),
        (
            "app/Cargo.toml",
            "app 2021\n[features]\ndefault = [\"ui\"]\nui = []\nextra = [\"core/b\"]\n\
             [dependencies]\ncore = { path = \"../core\", default-features = false, features = [\"a\"] }\n",
        ),
        ("app/src/lib.rs", ""),
        ("app/src/main.rs", "fn main() { std::process::exit(if cfg!(feature = \"ui\") { 3 } else { 0 }) }\n"),
        ("core/Cargo.toml", "core 2021\n[features]\ndefault = [\"std\"]\nstd = []\na = []\nb = []\nc = []\n"),
        ("core/src/lib.rs", ""),
    ])
}

#[test]
#[ignore = "slow: CI runs it"]
fn other_packages_keep_their_features() {
    let workspace = virtual_workspace();
    workspace.write("core/src/lib.rs", &error_if("all(feature = \"c\", feature = \"a\")"));
    workspace.write("app/src/lib.rs", &error_if("not(feature = \"ui\")"));
    let finished = workspace.search("check -F core/c --features-of core").expect_status(0);
    assert_eq!(found(&finished), [["c"]], "{finished}");
    assert!(subject(&finished).contains("3 features of core, besides `a`, which cannot be disabled"));
    assert_eq!(line(&finished), "cargo check --no-default-features --features core/c,app/default");
    // The package alone has no feature that another one enables.
    let finished = workspace.search("check -p core --all-features --features-of core").expect_status(0);
    assert_eq!(found(&finished), [["a", "c"]], "{finished}");
    assert!(line(&finished).ends_with(" -p core"), "{finished}");
    workspace.write("app/src/lib.rs", "");
    // A feature of one package that enables one of the other.
    workspace.write("core/src/lib.rs", &error_if("feature = \"b\""));
    let finished = workspace.search("check --workspace -F extra --features-of app").expect_status(0);
    assert_eq!(found(&finished), [["extra"]], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_program_and_its_arguments() {
    let workspace = virtual_workspace();
    let finished = workspace.search("run -F extra --features-of app -p app go -F x --all-features").expect_status(0);
    assert_eq!(found(&finished), [["ui"]], "{finished}");
    assert_eq!(
        line(&finished),
        "cargo run --no-default-features --features app/ui -p app go -F x --all-features",
        "{finished}"
    );
    assert_eq!(workspace.reproduce(&finished).status, Some(3));
}

/// A workspace whose root package has edition 2018, which means cargo's old resolver.
#[test]
#[ignore = "slow: CI runs it"]
fn the_old_resolver_names_features_of_the_root_package_plainly() {
    let workspace = Workspace::new(&[
        (
            "Cargo.toml",
            "root 2018\n[features]\ndefault = [\"s\"]\ns = []\nx = []\n[workspace]\nmembers = [\"m\"]\n\
             [dependencies]\nm = { path = \"m\" }\n",
        ),
        ("src/lib.rs", &error_if("feature = \"x\"")),
        ("m/Cargo.toml", "m 2018\n[features]\ndefault = [\"t\"]\nt = []\nx = []\n"),
        ("m/src/lib.rs", ""),
    ]);
    for options in ["", "--workspace"] {
        let finished = workspace.search(&format!("check -F x {options} --features-of root")).expect_status(0);
        assert_eq!(found(&finished), [["x"]], "{finished}");
    }
    workspace.write("src/lib.rs", "");
    workspace.write("m/src/lib.rs", &error_if("feature = \"x\""));
    let finished = workspace.search("check -p root -p m -F s,m/x --features-of m").expect_status(0);
    assert_eq!(found(&finished), [["x"]], "{finished}");
    assert!(subject(&finished).contains("besides `default` and `t`, which cannot be disabled"), "{finished}");
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let workspace = virtual_workspace();
    for (line, status, texts) in [
        ("check --features-of nope", 2, &["`nope` is no package of the workspace, which has `app` and `core`"][..]),
        ("check -p app --features-of core", 2, &["does not build `core`, only `app`", "-p core"]),
        (
            "check -p core --no-default-features --features-of core",
            1,
            &["no feature of `core`", "--all-features", "`std`"],
        ),
        (
            "check --no-default-features --features-of core",
            1,
            &["no enabled feature of `core` can be disabled", "`a`", "-p core"],
        ),
        ("check -p core -F typo --features-of core", 3, &["does not contain this feature: typo"]),
        ("exec --features-of core true", 2, &["--features-of needs a target that cargo builds"]),
        ("check --features-of core --commits HEAD", 2, &["cannot be used with"]),
        ("test --features-of core --codegen", 2, &["cannot be used with"]),
        ("check --features-of", 2, &["--features-of"]),
    ] {
        let finished = workspace.search(line);
        assert_eq!(finished.status, Some(status), "{line}: {finished}");
        finished.expect_message(texts);
    }
}
