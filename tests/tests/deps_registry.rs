//! `--deps` with packages of an alternative registry: a local server whose connections are counted.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use bisect_tests::harness::{cargo, run, scrubbed};

use super::deps::{Shop, found};

/// A registry with a sparse index, for packages with names of four letters or more.
pub(crate) struct Registry {
    root: PathBuf,
    home: PathBuf,
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Registry {
    /// Starts one in a folder. It ends with the process.
    fn new(root: PathBuf, home: PathBuf) -> Self {
        fs::create_dir_all(&root).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        fs::write(root.join("config.json"), format!("{{\"dl\":\"http://{address}/{{crate}}-{{version}}.crate\"}}\n"))
            .unwrap();
        let connections = Arc::<AtomicUsize>::default();
        let (counter, served) = (connections.clone(), root.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map(Result::unwrap) {
                counter.fetch_add(1, Ordering::SeqCst);
                // A client may go away at any time.
                let _ = answer(&stream, &served);
            }
        });
        Self { root, home, address, connections }
    }

    /// Makes a shop whose only old version is that of `glyph`, 1.0.0, from a registry.
    pub(crate) fn with_shop() -> (Self, Shop) {
        let shop = Shop::new("free = '1'\n", "", &[("free", "1.0.0", "", "")], &[("free", "1.0.1", "", "")]);
        let registry = Self::new(shop.scratch.dir().join("registry"), shop.scratch.dir().join("home"));
        let config = fs::read_to_string(shop.dir().join(".cargo/config.toml")).unwrap();
        let (protocol, address) = ("sparse", &registry.address);
        let index = format!("[registries.own]\nindex = '{protocol}+http://{address}/'\n");
        shop.repository.write(".cargo/config.toml", &(config + &index));
        let manifest = fs::read_to_string(shop.dir().join("Cargo.toml")).unwrap();
        let needs = "glyph = { version = '1', registry = 'own' }\n";
        shop.repository.write("Cargo.toml", &(manifest + needs));
        shop.repository.write("src/lib.rs", "#[test] fn fine() { assert!(glyph::v()); }\n");
        shop.repository.git(&["checkout", "Cargo.lock"]);
        registry.release("1.0.0", true);
        registry.fetch(&shop);
        shop.repository.commit("with another registry");
        (registry, shop)
    }

    /// Adds a version of `glyph`, whose function returns a value.
    pub(crate) fn release(&self, version: &str, value: bool) {
        self.release_of_edition(version, value, "2021");
    }

    /// Adds a version of `glyph` that uses this edition.
    fn release_of_edition(&self, version: &str, value: bool, edition: &str) {
        let stem = format!("glyph-{version}");
        let dir = self.root.join(&stem);
        fs::create_dir_all(dir.join("src")).unwrap();
        let manifest = format!("[package]\nname = \"glyph\"\nversion = \"{version}\"\nedition = \"{edition}\"\n");
        fs::write(dir.join("Cargo.toml"), manifest).unwrap();
        fs::write(dir.join("src/lib.rs"), format!("pub fn v() -> bool {{ {value} }}\n")).unwrap();
        let script = "tar czf \"$0.crate\" \"$0\" && cat \"$0.crate\" | { sha256sum || shasum -a 256; } 2>/dev/null";
        let sum = run(Command::new("sh").current_dir(&self.root).args(["-c", script, &stem])).expect_status(0).stdout;
        let sum = sum.split_whitespace().next().unwrap();
        let line = format!(
            "{{\"name\":\"glyph\",\"vers\":\"{version}\",\"deps\":[],\"cksum\":\"{sum}\",\"features\":{{}},\
             \"yanked\":false}}\n"
        );
        let file = self.root.join("gl/yp/glyph");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, fs::read_to_string(&file).unwrap_or_default() + &line).unwrap();
    }

    /// Updates the lock file of a shop, and downloads its packages.
    pub(crate) fn fetch(&self, shop: &Shop) {
        for words in [&["fetch"][..], &["update", "glyph"], &["fetch"]] {
            let _ = run(&mut self.cargo(shop, words)).expect_status(0);
        }
    }

    /// Returns a command of cargo that may use the network.
    fn cargo(&self, shop: &Shop, words: &[&str]) -> Command {
        let mut command = scrubbed(&cargo(), &shop.dir());
        command.args(words).env("CARGO_HOME", &self.home).env("CARGO_NET_OFFLINE", "false");
        command
    }

    /// Returns a search that may use the network, and whose network would lead here.
    pub(crate) fn search(&self, shop: &Shop, words: &[&str]) -> Command {
        let mut command = shop.command(words);
        command.env("CARGO_HOME", &self.home).env_remove("CARGO_NET_OFFLINE");
        command.env("CARGO_HTTP_PROXY", format!("http://{}", self.address));
        command
    }

    /// Returns the number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Answers a request for a file.
fn answer(mut stream: &TcpStream, root: &std::path::Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
    let (status, body) = fs::read(root.join(path)).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    stream.write_all(&body)
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_first_bad_version_in_an_alternative_registry_is_found() {
    let (registry, shop) = Registry::with_shop();
    for (version, value) in [("1.0.1", true), ("1.0.2", false), ("1.0.3", false)] {
        registry.release(version, value);
        registry.fetch(&shop);
    }
    let finished = run(&mut registry.search(&shop, &["test", "--json", "--deps=versions"])).expect_status(0);
    assert_eq!(found(&finished), [["glyph 1.0.0 -> 1.0.3"], ["glyph 1.0.1 -> 1.0.2"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn versions_that_are_not_on_this_machine_are_named() {
    let (registry, shop) = Registry::with_shop();
    for (version, value) in [("1.0.1", true), ("1.0.2", true), ("1.0.3", false)] {
        registry.release(version, value);
    }
    registry.fetch(&shop);
    let finished = run(&mut registry.search(&shop, &["test", "--json", "--deps=versions"])).expect_status(0);
    assert_eq!(found(&finished), [["glyph 1.0.0 -> 1.0.3"]]);
    finished.expect_message(&[
        "the versions of glyph 1.0.0 -> 1.0.3 are not searched: intermediate versions not on this machine: 1.0.1, 1.0.2",
    ]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_version_that_is_too_new_for_cargo_makes_the_answer_a_range() {
    let (registry, shop) = Registry::with_shop();
    registry.release("1.0.1", true);
    registry.fetch(&shop);
    registry.release_of_edition("1.0.2", true, "2099");
    let _ = run(&mut registry.cargo(&shop, &["update", "glyph"])).expect_status(0);
    // Cargo downloads the version before it finds that it cannot read the manifest.
    let _ = run(&mut registry.cargo(&shop, &["fetch"])).expect_status(101);
    registry.release("1.0.3", false);
    for words in [["update", "glyph"].as_slice(), &["fetch"]] {
        let _ = run(&mut registry.cargo(&shop, words)).expect_status(0);
    }
    let finished = run(&mut registry.search(&shop, &["test", "--json", "--deps=versions"])).expect_status(5);
    assert_eq!(found(&finished), [vec!["glyph 1.0.0 -> 1.0.3"], vec!["glyph 1.0.1 -> 1.0.2", "glyph 1.0.2 -> 1.0.3"]]);
    finished.expect_message(&["cargo refuses these versions: "]);
}
