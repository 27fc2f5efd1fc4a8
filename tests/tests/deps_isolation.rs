//! `--deps` leaves everything of the user as it is, and stays away from the network.
#![cfg(unix)]

use std::{fs, os::unix::fs::symlink, process::Command};

use bisect_tests::{
    harness::{Running, Scratch, cargo, run, wait_until},
    repository::Repository,
};

use super::{
    deps::{Shop, found},
    deps_registry::Registry,
};

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
#[ignore = "slow: CI runs it"]
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
#[ignore = "slow: CI runs it"]
fn a_lock_file_that_is_a_link_leads_to_no_other_file() {
    let shop = Shop::with_packages(3, 1);
    let real = shop.scratch.dir().join("real.lock");
    fs::rename(shop.dir().join("Cargo.lock"), &real).unwrap();
    symlink(&real, shop.dir().join("Cargo.lock")).unwrap();
    let before = fs::read(&real).unwrap();
    let finished = run(&mut shop.command(&["test", "--json", "--deps", "-j2"])).expect_status(0);
    assert_eq!(found(&finished), [["p1 0.3.1 -> 0.3.2"]]);
    for (option, status) in [(None, 101), (Some("--off"), 0)] {
        let _ = run(shop.command(&["replay"]).args(option)).expect_status(status);
    }
    assert!(fs::read(&real).unwrap() == before);
    assert!(shop.dir().join("Cargo.lock").is_symlink());
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_working_directory_may_be_above_the_workspace() {
    let shop = Shop::with_packages(3, 1);
    let above = shop.scratch.dir();
    fs::write(above.join("Cargo.lock"), "of another workspace").unwrap();
    fs::create_dir(above.join("beside")).unwrap();
    // Cargo reads the configuration of its working directory.
    fs::rename(shop.dir().join(".cargo"), above.join(".cargo")).unwrap();
    let search = |directory: &str, words: &[&str]| run(shop.command(words).current_dir(above.join(directory)));
    let manifest = ["--manifest-path", "shop/Cargo.toml"];
    let finished = search("", &[&["test", "--deps"], &manifest[..]].concat()).expect_status(0);
    assert!(finished.stdout.contains("culprit-1.lock \"$tree/Cargo.lock\" &&"), "{finished}");
    for (option, status) in [(None, 101), (Some("--off"), 0)] {
        let _ = run(shop.command(&["replay"]).args(option).current_dir(above)).expect_status(status);
    }
    assert_eq!(fs::read_to_string(above.join("Cargo.lock")).unwrap(), "of another workspace");
    let finished = search("beside", &["test", "--deps", "--manifest-path", "../shop/Cargo.toml"]).expect_status(2);
    finished.expect_message(&["the working directory is neither in the workspace"]);
    // A path that leads into the workspace through a link.
    symlink(shop.dir(), above.join("link")).unwrap();
    let through = above.join("link/Cargo.toml").display().to_string();
    let finished = search("shop", &["test", "--deps", "--manifest-path", &through]).expect_status(2);
    finished.expect_message(&["names a file of your work tree"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_replay_has_what_is_beside_the_workspace() {
    let count = "std::env::var(\"CARGO_ENCODED_RUSTFLAGS\").unwrap().matches(\"cfg=once\").count()";
    let shop = Shop::with_files(
        &[("build.rs", &format!("fn main() {{ assert_eq!({count}, 1); }}\n"))],
        "p = '1'\nq = '1'\n",
        "#[test] fn fine() { assert!(p::v() && std::fs::read(\"../data/file\").is_ok()); }\n",
        &[("p", "1.0.0", "", "pub fn v() -> bool { true }\n"), ("q", "1.0.0", "", "")],
        &[("p", "1.0.1", "", "pub fn v() -> bool { false }\n"), ("q", "1.0.1", "", "")],
    );
    let above = shop.scratch.dir();
    fs::create_dir(above.join("data")).unwrap();
    fs::write(above.join("data/file"), "").unwrap();
    let command = |words: &[&str]| {
        let mut command = shop.command(words);
        command.current_dir(above);
        command
    };
    // The target directory is beside the workspace, and cargo reads the configuration that is above both only once.
    fs::rename(shop.dir().join(".cargo"), above.join(".cargo")).unwrap();
    let config = fs::read_to_string(above.join(".cargo/config.toml")).unwrap();
    let flags = "[build]\nrustflags = ['--cfg=once']\n";
    fs::write(above.join(".cargo/config.toml"), config + flags).unwrap();
    let mut search = command(&["test", "--json", "--deps", "--manifest-path=shop/Cargo.toml"]);
    // Below the configuration, a replay would read it twice.
    let elsewhere = Scratch::new();
    search.env("CARGO_TARGET_DIR", above.join("target")).env("TMPDIR", elsewhere.dir());
    let finished = run(&mut search).expect_status(0);
    assert_eq!(found(&finished), [["p 1.0.0 -> 1.0.1"]], "{finished}");
    for (option, status) in [(None, 101), (Some("--off"), 0)] {
        let _ = run(command(&["replay"]).args(option).env("TMPDIR", elsewhere.dir())).expect_status(status);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn no_request_goes_to_a_registry() {
    let (registry, shop) = Registry::with_shop();
    for (version, value) in [("1.0.1", true), ("1.0.2", false)] {
        registry.release(version, value);
        registry.fetch(&shop);
    }
    // A search in which cargo selects versions, builds, and fails.
    let before = registry.connections();
    let cargo = cargo().display().to_string();
    for words in [&["test", "--json", "--deps=versions"][..], &["exec", "--json", "--deps=HEAD", &cargo, "test"]] {
        let finished = run(&mut registry.search(&shop, words)).expect_status(0);
        assert_eq!(found(&finished)[0], ["glyph 1.0.0 -> 1.0.2"]);
        assert_eq!(registry.connections(), before, "{finished}");
    }
    // A version that is not on this machine is not requested, either.
    let manifest = fs::read_to_string(shop.dir().join("Cargo.toml")).unwrap();
    shop.repository.write("Cargo.toml", &format!("{manifest}absent = {{ version = '1', registry = 'own' }}\n"));
    run(&mut registry.search(&shop, &["test", "--deps"])).expect_status(2).expect_message(&["without network"]);
    assert_eq!(registry.connections(), before);
    // With these settings, cargo by itself would connect.
    let mut by_itself = Command::new(&cargo);
    let search = registry.search(&shop, &[]);
    by_itself.args(["update"]).current_dir(shop.dir()).envs(search.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let _ = run(by_itself.env_remove("CARGO_NET_OFFLINE"));
    assert!(registry.connections() > before);
}
