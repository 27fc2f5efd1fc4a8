//! `.ci/run`: a step runs again if any file that it reads has changed, and otherwise does not.
//!
//! `.ci/run` runs in a copy of the repository, with a cache of its own. Few of these tests run a step: `--plan` prints
//! which ones would run.
#![cfg(target_os = "linux")]

use std::{
    collections::BTreeSet,
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use bisect_tests::{
    harness::{Finished, Scratch, root, run, scrubbed},
    repository::Repository,
};

/// A copy of all files of the repository, and an empty cache directory.
struct RepositoryCopy {
    scratch: Scratch,
}

/// A line of `.ci/run --plan`.
struct Step {
    name: String,
    has_passed: bool,
    key: String,
    inputs: Vec<String>,
}

impl RepositoryCopy {
    /// Makes a copy, unless there is no git or bash.
    fn new() -> Option<Self> {
        let can_run = |program: &str| Command::new(program).arg("--version").output().is_ok();
        let list = || run(scrubbed("git".as_ref(), root()).args(["ls-files", "-z"]));
        let listed = ["bash", "git"].into_iter().all(can_run).then(list).filter(|listed| listed.status == Some(0));
        let Some(listed) = listed else {
            // Not `eprintln!`: the harness would capture it.
            writeln!(std::io::stderr(), "*** SKIPPED: no bash, no git, or no git repository ***")
                .expect("standard error is there");
            return None;
        };
        let clone = Self { scratch: Scratch::new() };
        for name in listed.stdout.split_terminator('\0').filter(|name| root().join(name).exists()) {
            let path = clone.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(root().join(name), path).unwrap();
        }
        // Its commit is empty: files that git does not ignore count, too.
        let repository = Repository::new(&clone.tree());
        repository.git(&["commit", "-q", "--allow-empty", "-m", "empty"]);
        Some(clone)
    }

    fn tree(&self) -> PathBuf {
        self.scratch.dir().join("tree")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.tree().join(name)
    }

    fn cache(&self) -> PathBuf {
        self.scratch.dir().join("cache/bisect-opt-ci")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = scrubbed(program.as_ref(), &self.tree());
        command.env("XDG_CACHE_HOME", self.scratch.dir().join("cache"));
        command
    }

    fn ci(&self, words: &[&str]) -> Finished {
        run(self.command(".ci/run").args(words))
    }

    /// Returns the plan of these steps, or of all.
    fn plan(&self, steps: &[&str]) -> Vec<Step> {
        let plan = self.ci(&[&["--plan"], steps].concat()).expect_status(0);
        let step = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            let [name, state, key, inputs @ ..] = &words[..] else { panic!("{line}") };
            assert!(["passed", "runs"].contains(&&**state) && !inputs.is_empty(), "{line}");
            Step { name: name.clone(), has_passed: state == "passed", key: key.clone(), inputs: inputs.to_vec() }
        };
        plan.stdout.lines().map(step).collect()
    }

    /// Returns those of these steps, or of all, that would run.
    fn that_run(&self, steps: &[&str]) -> BTreeSet<String> {
        self.plan(steps).into_iter().filter(|step| !step.has_passed).map(|step| step.name).collect()
    }

    /// Makes each of these steps, or of all, passed. Returns them.
    fn pass(&self, steps: &[&str]) -> Vec<Step> {
        let plan = self.plan(steps);
        for Step { name, key, has_passed, .. } in &plan {
            assert!(!has_passed, "{name} has not run");
            let proof = self.cache().join("green").join(name).join(key);
            fs::create_dir_all(&proof).unwrap();
            fs::write(proof.join("log"), "").unwrap();
        }
        assert_eq!(self.that_run(steps), BTreeSet::new());
        plan
    }

    /// Returns a file that this input selects, and that is not an input of all steps.
    fn file_of(&self, input: &str) -> String {
        let listed = run(self.command("git").args(["ls-files", "--others", "--", input])).expect_status(0);
        let is_common = |name: &str| name.ends_with("Cargo.toml") || name.ends_with("Cargo.lock");
        let file = listed.stdout.lines().find(|name| !is_common(name));
        file.unwrap_or_else(|| panic!("{input} selects no file")).to_owned()
    }

    /// Changes a byte of a file, and returns the steps that would run then. Restores the file.
    fn that_run_if_changed(&self, name: &str, steps: &[&str]) -> BTreeSet<String> {
        let path = self.path(name);
        let before = fs::read(&path).unwrap();
        let mut after = before.clone();
        // The first line of a script stays.
        let place = before.iter().position(|byte| *byte == b'\n').map_or(0, |end| (end + 3).min(before.len() - 1));
        after[place] ^= 1;
        fs::write(&path, after).unwrap();
        let changed = self.that_run(steps);
        fs::write(&path, before).unwrap();
        changed
    }
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

fn remove(path: &Path) {
    fs::remove_file(path).unwrap();
}

fn expect_lines(finished: &Finished, begins: &[&str]) {
    for begin in begins {
        assert!(finished.stdout.lines().any(|line| line.starts_with(begin)), "no line {begin:?}\n{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_step_runs_again_if_an_input_changes() {
    let Some(clone) = RepositoryCopy::new() else { return };
    let steps = ["models"];
    clone.pass(&steps);
    assert_eq!(clone.that_run_if_changed("bisect-rt/src/active/decide.rs", &steps), names(steps));
    assert_eq!(clone.that_run_if_changed("cargo-bisect-opt/src/lib.rs", &steps), names([]));

    let new = clone.path("bisect-core/src/a name with blanks.rs");
    fs::write(&new, "").unwrap();
    assert_eq!(clone.that_run(&steps), names(steps));
    remove(&new);
    assert_eq!(clone.that_run(&steps), names([]));

    let file = clone.path("bisect-rt/src/lib.rs");
    let mode = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o755);
    assert_eq!(clone.that_run(&steps), names(steps), "it can be executed");
    mode(0o644);
    assert_eq!(clone.that_run(&steps), names([]));

    let gone = clone.path("bisect-macros/src/lib.rs");
    remove(&gone);
    assert_eq!(clone.that_run(&steps), names(steps));
}

#[test]
#[ignore = "slow: CI runs it"]
fn one_byte_of_any_input_makes_exactly_its_steps_run_again() {
    let Some(clone) = RepositoryCopy::new() else { return };
    let steps = clone.pass(&[]);
    let inputs: BTreeSet<_> = steps.iter().flat_map(|step| &step.inputs).collect();
    for input in inputs {
        let with_it: Vec<_> = steps.iter().filter(|step| step.inputs.contains(input)).map(|step| &*step.name).collect();
        let file = clone.file_of(input);
        assert_eq!(clone.that_run_if_changed(&file, &[]), names(with_it.iter().copied()), "{file}");
    }
    let all = names(steps.iter().map(|step| &*step.name));
    for file in ["Cargo.lock", ".ci/run", ".ci/sealed", ".cargo/config.toml", "tests/Cargo.toml"] {
        assert_eq!(clone.that_run_if_changed(file, &[]), all, "{file}");
    }
    assert_eq!(clone.that_run(&[]), names([]), "all files are restored");
}

/// Makes the step `book` one that copies an input, takes no time, and fails if it is asked to.
fn with_small_step(clone: &RepositoryCopy) {
    let script = fs::read_to_string(clone.path(".ci/run")).unwrap();
    let (before, after) = script.split_once("\nbook() {\n").unwrap();
    let small = "mkdir -p target/book && cp book/book.toml target/book/ && [[ ! ${FAILS:-} ]]\n  return\n";
    fs::write(clone.path(".ci/run"), format!("{before}\nbook() {{\n  {small}{after}")).unwrap();
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_step_that_passed_does_not_run_again_and_its_outputs_are_there() {
    let Some(clone) = RepositoryCopy::new() else { return };
    with_small_step(&clone);
    let output = clone.path("target/book/book.toml");
    expect_lines(&clone.ci(&["book"]).expect_status(0), &["== book: ok after"]);
    remove(&output);
    let again = clone.ci(&["book"]).expect_status(0);
    expect_lines(&again, &["== book: not run: it passed with the same inputs", "0 passed, 0 failed"]);
    assert!(output.exists());
    expect_lines(&clone.ci(&["--fresh", "book"]).expect_status(0), &["== book: ok after"]);

    // The log of a failure would contradict the log that is kept.
    assert_eq!(clone.that_run(&["book"]), names([]));
    let fails = run(clone.command(".ci/run").args(["--fresh", "book"]).env("FAILS", "yes")).expect_status(1);
    expect_lines(&fails, &["== book: FAILED (status 1)", "0 passed, 1 failed"]);
    assert_eq!(clone.that_run(&["book"]), names(["book"]));
}

#[test]
fn a_step_passes_though_its_log_cannot_be_kept() {
    let Some(clone) = RepositoryCopy::new() else { return };
    with_small_step(&clone);
    fs::create_dir_all(clone.cache()).unwrap();
    fs::write(clone.cache().join("green"), "no folder").unwrap();
    let passed = clone.ci(&["book"]).expect_status(0);
    expect_lines(&passed, &["== book: ok after", "== book: will run again", "0 passed, 0 failed"]);
    assert!(clone.path("target/book/book.toml").exists());
}

#[test]
fn an_unknown_step_is_refused() {
    let Some(clone) = RepositoryCopy::new() else { return };
    for words in [&["--plan", "nothing"][..], &["nothing"]] {
        let refused = clone.ci(words).expect_status(2);
        assert!(refused.stderr.contains("no step nothing; the steps are: tools"), "{refused}");
    }
}
