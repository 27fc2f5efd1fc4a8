//! `--deps`: updates in the lock file, with versions of packages in a folder that replaces the registry.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use bisect_tests::{
    harness::{Finished, Running, Scratch, cargo, paste, run, scrubbed, wait_until},
    repository::Repository,
};

/// A version of a package: name, version, lines of its manifest, source.
pub(crate) type Version<'a> = (&'a str, &'a str, &'a str, &'a str);

/// A workspace with old and new versions of its dependencies.
pub(crate) struct Shop {
    pub(crate) scratch: Scratch,
    pub(crate) repository: Repository,
}

impl Shop {
    /// Makes a package that depends on all of `needs`, with a test in `source`. Its committed lock file has the old
    /// versions, and the one in the work tree the new ones.
    pub(crate) fn new(needs: &str, source: &str, old: &[Version<'_>], new: &[Version<'_>]) -> Self {
        Self::with_files(&[], needs, source, old, new)
    }

    /// Makes one with more files in its folder.
    pub(crate) fn with_files(
        files: &[(&str, &str)],
        needs: &str,
        source: &str,
        old: &[Version<'_>],
        new: &[Version<'_>],
    ) -> Self {
        let shop = Self::unpublished(files, needs, source);
        for version in old {
            shop.publish(*version);
        }
        shop.commit_lock_file();
        for version in new {
            shop.publish(*version);
        }
        shop.update();
        shop
    }

    /// Makes one in which no version is published.
    pub(crate) fn unpublished(files: &[(&str, &str)], needs: &str, source: &str) -> Self {
        let scratch = Scratch::new();
        for name in ["shop", "versions", "tmp"] {
            fs::create_dir(scratch.dir().join(name)).unwrap();
        }
        let repository = Repository::new(&scratch.dir().join("shop"));
        let manifest =
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n";
        repository.write("Cargo.toml", &format!("{manifest}{needs}"));
        repository.write("src/lib.rs", source);
        for (path, text) in files {
            repository.write(path, text);
        }
        repository.write(".gitignore", "ignored\n");
        let versions = scratch.dir().join("versions").display().to_string();
        let config =
            format!("[source.crates-io]\nreplace-with = 'versions'\n[source.versions]\ndirectory = '{versions}'\n");
        repository.write(".cargo/config.toml", &config);
        Self { scratch, repository }
    }

    /// Commits a lock file with all published versions.
    pub(crate) fn commit_lock_file(&self) {
        self.cargo(&["generate-lockfile", "--offline"]);
        self.repository.commit("old");
    }

    /// Updates the lock file to the published versions.
    pub(crate) fn update(&self) {
        self.cargo(&["update", "--offline"]);
        self.repository.write("untracked", "u");
        self.repository.write("ignored", "i");
    }

    /// Makes a shop that depends on `count` packages, `p0`, `p1`, …, each with an update of which `broken` is wrong.
    pub(crate) fn with_packages(count: usize, broken: usize) -> Self {
        let names: Vec<_> = (0..count).map(|number| format!("p{number}")).collect();
        let version =
            |number: usize, is_new: bool| format!("pub fn v() -> bool {{ {} }}\n", !(is_new && number == broken));
        let sources: Vec<_> = (0..count).map(|number| [version(number, false), version(number, true)]).collect();
        let packages = |new: usize| -> Vec<Version<'_>> {
            let name = |number: usize| names[number].as_str();
            (0..count)
                .map(|number| (name(number), ["0.3.1", "0.3.2"][new], "", sources[number][new].as_str()))
                .collect()
        };
        let needs: Vec<_> = names.iter().map(|name| format!("{name} = '0.3'\n")).collect();
        let all: Vec<_> = names.iter().map(|name| format!("{name}::v()")).collect();
        let source = format!("#[test] fn sells() {{ assert!({}); }}\n", all.join(" && "));
        Self::new(&needs.concat(), &source, &packages(0), &packages(1))
    }

    pub(crate) fn publish(&self, (name, version, more, source): Version<'_>) {
        let dir = self.scratch.dir().join(format!("versions/{name}-{version}"));
        fs::create_dir_all(dir.join("src")).unwrap();
        let manifest = format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n{more}\n");
        for (file, text) in
            [("Cargo.toml", manifest.as_str()), ("src/lib.rs", source), (".cargo-checksum.json", "{\"files\":{}}")]
        {
            fs::write(dir.join(file), text).unwrap();
        }
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.scratch.dir().join("shop")
    }

    pub(crate) fn cargo(&self, words: &[&str]) {
        let _ = run(scrubbed(&cargo(), &self.dir()).args(words)).expect_status(0);
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.scratch.driver(words);
        command.current_dir(self.dir()).env("CARGO_TARGET_DIR", self.scratch.dir().join("target"));
        command.env("TMPDIR", self.scratch.dir().join("tmp"));
        command
    }

    /// Searches, and checks that nothing of the user's has changed and nothing is left.
    pub(crate) fn search(&self, subcommand: &str, words: &[&str]) -> Finished {
        let out = self.scratch.dir().join("out").display().to_string();
        let before = self.everything();
        let finished = run(&mut self.command(&[&[subcommand, "--json", "--out", &out], words].concat()));
        assert_eq!(self.everything(), before);
        assert_eq!(self.leftovers(), 0);
        finished
    }

    /// Returns all files of the work tree and of git, with their times.
    pub(crate) fn everything(&self) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
        fn add(dir: &Path, all: &mut BTreeMap<PathBuf, (SystemTime, Vec<u8>)>) {
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                let (path, metadata) = (entry.path(), entry.metadata().unwrap());
                if metadata.is_dir() {
                    add(&path, all);
                } else {
                    all.insert(path.clone(), (metadata.modified().unwrap(), fs::read(&path).unwrap_or_default()));
                }
            }
        }
        let mut all = BTreeMap::new();
        add(&self.dir(), &mut all);
        all
    }

    /// Returns the number of directories of searches: of copies and for temporary files.
    fn leftovers(&self) -> usize {
        let count = |dir: &str| {
            let entries = fs::read_dir(self.scratch.dir().join(dir)).into_iter().flatten().map(Result::unwrap);
            entries.filter(|entry| entry.path().join(".lock").exists()).count()
        };
        count("tmp") + count("target/bisect-opt")
    }
}

/// Returns the texts of the changes of each culprit.
pub(crate) fn found(finished: &Finished) -> Vec<Vec<String>> {
    let texts = |found: &serde_json::Value| {
        let changes = found["changes"].as_array().unwrap().iter();
        changes
            .flat_map(|change| {
                assert_eq!(change["kind"], "dependency", "{finished}");
                change["text"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned())
            })
            .collect()
    };
    finished.events_of("found").iter().map(texts).collect()
}

#[test]
fn the_update_that_breaks_a_test_is_found() {
    let shop = Shop::with_packages(12, 7);
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["p7 0.3.1 -> 0.3.2"]]);
    let before = shop.everything();
    assert_eq!(paste(&shop.command(&["test", "--deps"]), &finished), 2, "{finished}");
    assert_eq!(shop.everything(), before);
    assert_eq!(finished.events_of("found")[0]["short"], "cargo update -p p7@0.3.2 --precise 0.3.1");
    assert_eq!(shop.leftovers(), 0);
    assert_eq!(finished.events_of("start")[0]["axis"], "deps");
    let builds = finished.events_of("end")[0]["trials"].as_u64().unwrap();
    assert!(builds <= u64::from(12_u32.ilog2()) + 6, "{finished}");
    let finished = shop.search("test", &["--deps=HEAD", "-j2", "sells"]).expect_status(0);
    assert_eq!(found(&finished), [["p7 0.3.1 -> 0.3.2"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_answer_says_who_requires_it_and_can_be_replayed() {
    let shop = Shop::with_packages(3, 1);
    let finished = run(&mut shop.command(&["test", "--deps"])).expect_status(0);
    for fact in [
        "this update makes the target fail",
        "p1 0.3.1 -> 0.3.2, required by shop 0.1.0",
        "culprit-1.lock \"$tree/Cargo.lock\" &&",
    ] {
        assert!(finished.stdout.contains(fact), "{fact}: {finished}");
    }
    finished.expect_message(&["3 updates since the Cargo.lock of `HEAD`"]);
    let before = shop.everything();
    for (option, status) in [(None, 101), (Some("--off"), 0)] {
        let mut command = shop.command(&["replay"]);
        let _ = run(command.args(option)).expect_status(status);
        assert_eq!(shop.everything(), before);
        assert_eq!(shop.leftovers(), 0);
    }
}

/// `text` 1.1 needs `glyph` 0.1.2; `wrong` has the old behaviour replaced.
fn text_and_glyph(wrong: &str) -> Shop {
    let value = |name: &str| if name == wrong { "pub fn v() -> u32 { 2 }" } else { "pub fn v() -> u32 { 1 }" };
    Shop::new(
        "text = '1'\nglyph = '0.1'\nfree = '2'\n",
        "#[test] fn width() { assert_eq!(text::v() * glyph::v(), 1); }\n",
        &[
            ("text", "1.0.0", "[dependencies]\nglyph = '0.1'", "pub fn v() -> u32 { 1 }"),
            ("glyph", "0.1.1", "", "pub fn v() -> u32 { 1 }"),
            ("free", "2.0.0", "", ""),
        ],
        &[
            ("text", "1.1.0", "[dependencies]\nglyph = '0.1.2'", value("text")),
            ("glyph", "0.1.2", "", value("glyph")),
            ("free", "2.0.1", "", ""),
        ],
    )
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_need_is_an_order_and_not_a_tie() {
    let finished = text_and_glyph("text").search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["text 1.0.0 -> 1.1.0"]]);
    let finished = run(&mut text_and_glyph("text").command(&["test", "--deps"])).expect_status(0);
    assert!(finished.stdout.contains("it needs glyph 0.1.1 -> 0.1.2"), "{finished}");
    let finished = text_and_glyph("glyph").search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["glyph 0.1.1 -> 0.1.2"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn versions_that_pin_each_other_are_one_change() {
    let shop = Shop::new(
        "outer = '1'\nfree = '1'\n",
        "#[test] fn fine() { assert!(outer::v()); }\n",
        &[
            ("outer", "1.0.0", "[dependencies]\ninner = '=1.0.0'", "pub fn v() -> bool { inner::v() }"),
            ("inner", "1.0.0", "", "pub fn v() -> bool { true }"),
            ("free", "1.0.0", "", ""),
        ],
        &[
            ("outer", "1.0.1", "[dependencies]\ninner = '=1.0.1'", "pub fn v() -> bool { inner::v() }"),
            ("inner", "1.0.1", "", "pub fn v() -> bool { false }"),
            ("free", "1.0.1", "", ""),
        ],
    );
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["inner 1.0.0 -> 1.0.1", "outer 1.0.0 -> 1.0.1"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn additions_and_removals_belong_to_who_requires_them() {
    let shop = Shop::new(
        "outer = '1'\nother = '1'\nfree = '1'\n",
        "#[test] fn fine() { assert!(outer::v() && other::v()); }\n",
        &[
            ("outer", "1.0.0", "[dependencies]\nlow = '1'\ngone = '1'", "pub fn v() -> bool { low::v() && gone::v() }"),
            ("other", "1.0.0", "[dependencies]\nlow = '1'", "pub fn v() -> bool { low::v() }"),
            ("low", "1.0.0", "", "pub fn v() -> bool { true }"),
            ("gone", "1.0.0", "", "pub fn v() -> bool { true }"),
            ("free", "1.0.0", "", ""),
        ],
        &[
            (
                "outer",
                "1.0.1",
                "[dependencies]\nlow = '2'\nfresh = '1'",
                "pub fn v() -> bool { low::v() && fresh::v() }",
            ),
            ("other", "1.0.1", "[dependencies]\nlow = '2'", "pub fn v() -> bool { true }"),
            ("low", "2.0.0", "", "pub fn v() -> bool { true }"),
            ("fresh", "1.0.0", "", "pub fn v() -> bool { false }"),
            ("free", "1.0.1", "", ""),
        ],
    );
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["outer 1.0.0 -> 1.0.1"]]);
    // Neither the additions nor the removals are changes.
    run(&mut shop.command(&["test", "--deps"])).expect_status(0).expect_message(&["3 updates since"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn an_update_that_does_not_compile_is_found_by_a_build() {
    let old = "pub fn call(n: u32) -> u32 { n }";
    let shop = Shop::new(
        "api = '0.2'\nfree = '1'\nmore = '1'\n",
        "pub fn f() -> u32 { api::call(1) }\n",
        &[("api", "0.2.0", "", old), ("free", "1.0.0", "", ""), ("more", "1.0.0", "", "")],
        &[("api", "0.2.1", "", "pub fn called() {}"), ("free", "1.0.1", "", ""), ("more", "1.0.1", "", "")],
    );
    for subcommand in ["build", "check"] {
        let finished = shop.search(subcommand, &["--deps"]).expect_status(0);
        assert_eq!(found(&finished), [["api 0.2.0 -> 0.2.1"]]);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_command_runs_in_the_copy() {
    let shop = Shop::with_packages(5, 3);
    let before = shop.everything();
    let cargo = cargo().display().to_string();
    let finished = shop.search("exec", &["--deps=HEAD", &cargo, "test", "-q"]).expect_status(0);
    assert_eq!(found(&finished), [["p3 0.3.1 -> 0.3.2"]]);
    let script = "echo x > left; echo y >> src/lib.rs; ! grep -A1 '\"p2\"' Cargo.lock | grep -q 0.3.2";
    let finished = shop.search("exec", &["--deps=HEAD", "sh", "-c", script]).expect_status(0);
    assert_eq!(found(&finished), [["p2 0.3.1 -> 0.3.2"]]);
    assert_eq!(shop.everything(), before);
    // The user's target directory has nothing that cargo built in the copy.
    assert!(!shop.scratch.dir().join("target/debug").exists());
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_lock_file_may_be_old() {
    let shop = Shop::with_packages(4, 2);
    let old = shop.repository.git(&["show", "HEAD:Cargo.lock"]);
    shop.scratch.write("old.lock", &old);
    shop.repository.commit("new");
    let finished = shop.search("test", &["--deps", "../old.lock"]).expect_status(0);
    assert_eq!(found(&finished), [["p2 0.3.1 -> 0.3.2"]]);
    let finished = shop.search("test", &["--deps", "HEAD~1"]).expect_status(0);
    assert_eq!(found(&finished), [["p2 0.3.1 -> 0.3.2"]]);
    shop.search("test", &["--deps"]).expect_status(1).expect_message(&["the same versions as that of `HEAD`"]);
    for (unknown, why) in [("--deps=nowhere", "no such file"), ("--deps=", "no revision is given")] {
        let finished = shop.search("test", &[unknown]).expect_status(2);
        finished.expect_message(&[why, "give an old lock file"]);
    }
    for (text, reason) in [
        ("[[package]]\nname = 1\n", "it is damaged, or no lock file of cargo"),
        ("version = 99\n", "it has format version 99, and this release of cargo-bisect-opt reads versions 1 to 4"),
        ("<<<<<<< ours\nversion = 4\n", "it has conflict markers"),
    ] {
        shop.scratch.write("bad.lock", text);
        let finished = shop.search("test", &["--deps=../bad.lock"]).expect_status(2);
        finished.expect_message(&["the lock file of `../bad.lock` cannot be used:", reason]);
        assert!(!finished.stderr.contains("parse error: "), "{finished}");
    }
}

#[test]
fn versions_that_are_not_on_this_machine_are_refused() {
    let shop = Shop::with_packages(3, 2);
    fs::remove_dir_all(shop.scratch.dir().join("versions/p1-0.3.1")).unwrap();
    let finished = shop.search("test", &["--deps"]);
    let finished = finished.expect_status(2);
    finished.expect_message(&["without network", "cargo fetch"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn path_dependencies_outside_of_the_workspace_are_reached() {
    let shop = Shop::with_packages(3, 0);
    fs::create_dir_all(shop.scratch.dir().join("beside/src")).unwrap();
    let manifest = "[package]\nname = \"beside\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    shop.scratch.write("beside/Cargo.toml", manifest);
    shop.scratch.write("beside/src/lib.rs", "pub fn b() {}\n");
    let text = fs::read_to_string(shop.dir().join("Cargo.toml")).unwrap();
    shop.repository.write("Cargo.toml", &(text + "beside = { path = '../beside' }\n"));
    shop.cargo(&["metadata", "--offline", "--format-version=1"]);
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["p0 0.3.1 -> 0.3.2"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn after_an_interrupt_nothing_is_left_and_after_a_kill_the_next_search_deletes_it() {
    let shop = Shop::with_packages(3, 0);
    let before = shop.everything();
    let started = shop.scratch.dir().join("started");
    let script = format!("echo >> '{}'; exec sleep 1000000", started.display());
    let out = shop.scratch.dir().join("out").display().to_string();
    for signal in ["INT", "KILL"] {
        let mut command = shop.command(&["exec", "--out", &out, "--deps=HEAD", "sh", "-c", &script]);
        let running = Running::start(&mut command);
        wait_until("a run starts", || started.exists());
        running.signal(signal);
        let status = running.finish().status;
        assert_eq!(status, if signal == "INT" { Some(130) } else { None });
        assert_eq!(shop.everything(), before);
        assert_eq!(shop.leftovers() > 0, signal == "KILL", "after {signal}");
        fs::remove_file(&started).unwrap();
    }
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["p0 0.3.1 -> 0.3.2"]]);
}
