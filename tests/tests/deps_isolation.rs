//! `--deps` leaves everything of the user as it is, and stays away from the network.
#![cfg(unix)]

use std::{fs, io::ErrorKind, net::TcpListener, os::unix::fs::symlink};

use bisect_tests::{
    harness::{Running, run, wait_until},
    repository::Repository,
};

use super::deps::{Shop, found};

/// Makes a shop whose owner has a stash, a staged file, a submodule, a link, and files that git does not know.
fn untidy() -> Shop {
    let shop = Shop::with_packages(3, 1);
    let (dir, repository) = (shop.dir(), &shop.repository);
    let lock_file = fs::read(dir.join("Cargo.lock")).unwrap();
    let module = shop.scratch.dir().join("module");
    fs::create_dir(&module).unwrap();
    let of_module = Repository::new(&module);
    of_module.write("file", "m");
    of_module.commit("module");
    repository.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", "../module", "sub"]);
    repository.git(&["commit", "-q", "-m", "submodule", "sub", ".gitmodules"]);
    repository.write("src/stashed.rs", "");
    repository.git(&["stash", "push", "-q", "-u"]);
    fs::write(dir.join("Cargo.lock"), lock_file).unwrap();
    repository.write("staged", "s");
    repository.git(&["add", "staged"]);
    repository.write("staged", "s, and edited");
    repository.write("sub/file", "edited");
    repository.write("untracked", "u");
    symlink("nowhere", dir.join("link")).unwrap();
    assert_eq!(repository.git(&["stash", "list"]).lines().count(), 1);
    shop
}

#[test]
fn everything_of_the_user_stays_after_success_and_failure() {
    let shop = untidy();
    let state = shop.repository.state();
    // `search` compares all files, with those of git and of the submodule.
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["p1 0.3.1 -> 0.3.2"]]);
    let _ = shop.search("exec", &["--deps=HEAD", "false"]).expect_status(1);
    let _ = shop.search("test", &["--deps=HEAD", "--max-runs=1"]).expect_status(5);
    assert!(shop.repository.state() == state, "git answers as before");
    shop.repository.write("link-target", "");
    assert!(shop.repository.state() != state, "the comparison sees a new file");
}

#[test]
fn everything_of_the_user_stays_after_an_interrupt_and_a_kill() {
    let shop = untidy();
    let state = shop.repository.state();
    let started = shop.scratch.dir().join("started");
    let script = format!("rm -rf .git src; echo >> '{}'; exec sleep 1000000", started.display());
    let out = shop.scratch.dir().join("out").display().to_string();
    for signal in ["INT", "KILL"] {
        // `git status` has refreshed the index.
        let before = shop.everything();
        let running = Running::start(&mut shop.command(&["exec", "--out", &out, "--deps=HEAD", "sh", "-c", &script]));
        wait_until("a run starts", || started.exists());
        running.signal(signal);
        let _ = running.finish();
        assert!(shop.everything() == before, "after {signal}");
        assert!(shop.repository.state() == state, "after {signal}");
        fs::remove_file(&started).unwrap();
    }
}

#[test]
fn no_request_goes_to_a_registry() {
    let shop = Shop::with_packages(2, 1);
    let registry = TcpListener::bind("127.0.0.1:0").unwrap();
    registry.set_nonblocking(true).unwrap();
    let protocol = "sparse";
    let address = format!("{protocol}+http://{}/", registry.local_addr().unwrap());
    let config = fs::read_to_string(shop.dir().join(".cargo/config.toml")).unwrap();
    shop.repository.write(".cargo/config.toml", &format!("{config}[registries.far]\nindex = '{address}'\n"));
    let manifest = fs::read_to_string(shop.dir().join("Cargo.toml")).unwrap();
    shop.repository.write("Cargo.toml", &format!("{manifest}absent = {{ version = '1', registry = 'far' }}\n"));
    let mut command = shop.command(&["test", "--deps"]);
    let home = shop.scratch.dir().join("home");
    let finished = run(command.env_remove("CARGO_NET_OFFLINE").env("CARGO_HOME", home)).expect_status(2);
    finished.expect_message(&["without network"]);
    let error = registry.accept().expect_err("nobody connects");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}
