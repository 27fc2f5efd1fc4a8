//! `test --victim`: the user's files, and the directory for temporary files, are as before, however a search ends.
#![cfg(target_os = "linux")]

use std::{fs, path::PathBuf, process::Command};

use bisect_tests::{
    harness::{Fixture, Running, run, wait_until},
    process_tree::ProcessTree,
    repository::{Repository, RepositoryState},
};

use super::victim;

/// A checkout with changed, staged, stashed, untracked and ignored files.
struct Checkout {
    cast: Fixture,
    repository: Repository,
    temporary: PathBuf,
}

impl Checkout {
    fn new() -> Self {
        let cast = Fixture::new("cast");
        let repository = Repository::new(cast.dir());
        repository.write(".gitignore", "out\ntmp\nCargo.lock\nignored.txt\n");
        repository.write("staged.txt", "1");
        repository.git(&["add", "."]);
        repository.git(&["commit", "-qm", "all"]);
        repository.write("staged.txt", "stashed");
        repository.git(&["stash", "-q"]);
        repository.write("staged.txt", "2");
        repository.git(&["add", "staged.txt"]);
        for name in ["staged.txt", "untracked.txt", "ignored.txt"] {
            repository.write(name, "3");
        }
        let temporary = cast.dir().join("tmp");
        fs::create_dir(&temporary).unwrap();
        Self { cast, repository, temporary }
    }

    fn command(&self, plot: &str) -> Command {
        let mut command = victim::command(&self.cast, plot, "--victim t100");
        command.env("TMPDIR", &self.temporary);
        command
    }

    fn state(&self) -> (RepositoryState, Vec<u8>, Option<Vec<u8>>) {
        let read = |name: &str| fs::read(self.cast.dir().join(name));
        (self.repository.state(), read("ignored.txt").unwrap(), read("Cargo.lock").ok())
    }

    fn leftovers(&self) -> usize {
        fs::read_dir(&self.temporary).unwrap().count()
    }

    /// Sends a signal to a search whose run hangs, and returns its exit status.
    fn end_by(&self, signal: &str) -> Option<i32> {
        fs::remove_dir_all(self.cast.dir().join("out")).unwrap();
        let mut command = self.command("victim=100 hang=50");
        let tree = ProcessTree::mark(&mut command);
        let running = Running::start(&mut command);
        let log = self.cast.dir().join("out/runs/0001.log");
        let hangs = || fs::read_to_string(&log).is_ok_and(|text| text.contains("test tests::t050 ..."));
        wait_until("a run hangs", hangs);
        running.signal(signal);
        let status = running.finish().status;
        tree.expect_gone();
        status
    }
}

#[test]
fn however_a_search_ends_all_files_are_as_before() {
    let checkout = Checkout::new();
    // Cargo itself makes the lock file that is missing.
    let _ = run(&mut checkout.command("victim=100 always")).expect_status(1);
    let before = checkout.state();
    assert_eq!(checkout.end_by("INT"), Some(130));
    assert!(checkout.state() == before && checkout.leftovers() == 0);
    assert_eq!(checkout.end_by("KILL"), None);
    assert!(checkout.state() == before);
    assert_ne!(checkout.leftovers(), 0, "nobody is there to delete it");
    let _ = run(&mut checkout.command("victim=100 pollute=17")).expect_status(0);
    assert!(checkout.state() == before && checkout.leftovers() == 0);
}
