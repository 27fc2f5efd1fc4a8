//! The conditions of a search: what must be the same for `--resume` to continue it.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::Command,
    time::UNIX_EPOCH,
};

use bisect_core::protocol::names;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    axes::option_axis::OptionAxis,
    output::run_dir::RunDirError,
    process::{self, variables::is_secret},
    run::seed::Seed,
    units::listed,
    vcs::source_files::{revision, source_files},
};

/// The maximum number of files whose contents are compared. Above it, only sizes and times are: reading would take too
/// long.
const MAX_READ_FILES: usize = 20_000;
/// The maximum number of files that a message names.
const MAX_NAMED: usize = 3;
/// The variables that change how code is compiled.
const VARIABLES: [&str; 7] = [
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTUP_TOOLCHAIN",
    names::RUSTC,
];
/// Name prefixes of further variables that change how code is compiled.
const VARIABLE_FAMILIES: [&str; 3] = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_"];

/// The conditions of a search, as its run directory records them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Conditions {
    /// The user's working directory.
    directory: PathBuf,
    /// The words of the command line, without options that only affect the output, and without limits.
    words: Vec<String>,
    /// The defaults of further options, and their origins.
    #[serde(default)]
    defaults: BTreeMap<String, String>,
    /// The seed of the search.
    pub(super) seed: Seed,
    /// True if the user gave the seed, to repeat a search.
    pub(super) is_repeated: bool,
    /// The output of `rustc -vV`, if the root has a manifest.
    toolchain: Option<String>,
    variables: BTreeMap<String, String>,
    /// The hashes of all variables, if these are searched.
    #[serde(default)]
    environment: BTreeMap<String, u64>,
    /// The revision that is checked out, if versions are searched.
    revision: Option<String>,
    files: BTreeMap<PathBuf, FileState>,
}

/// The parts of a command line that determine its search.
#[derive(Clone, Debug)]
pub(super) struct SearchLine {
    /// The words of the user.
    pub(super) words: Vec<OsString>,
    /// The defaults of further options, for people, by their keys.
    pub(super) defaults: BTreeMap<String, String>,
    /// The words of the defaults.
    pub(super) of_defaults: Vec<OsString>,
}

/// The state of a file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FileState {
    size: u64,
    /// The time of the last modification, in nanoseconds.
    modified: u128,
    /// The hash of the content; `None` if there are more than [`MAX_READ_FILES`] files.
    hash: Option<u64>,
}

impl PartialEq for FileState {
    fn eq(&self, other: &Self) -> bool {
        match (self.hash, other.hash) {
            (Some(a), Some(b)) => self.size == other.size && a == b,
            _ => self.size == other.size && self.modified == other.modified,
        }
    }
}

impl Eq for FileState {}

/// A reason why a search cannot be continued.
#[derive(Debug, thiserror::Error)]
pub(super) enum ResumeError {
    /// The directory cannot be used.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// The directory has no search that can be continued.
    #[error(
        "there is no search in `{}` to continue: it was stopped before its first run, its files were deleted, or `--out` named another directory; to start it again: {line}",
        directory.display()
    )]
    Nothing {
        /// The directory.
        directory: PathBuf,
        /// The command line without `--resume`.
        line: String,
    },
    /// The conditions are not the same.
    #[error("the search in `{}` cannot be continued: {what}; restore this, or leave out `--resume` to search from the beginning", directory.display())]
    Changed {
        /// The run directory.
        directory: PathBuf,
        /// The change, for people.
        what: String,
    },
    /// The journal cannot be read or written.
    #[error("the search in `{}` cannot be continued: {source}; leave out `--resume` to search from the beginning", directory.display())]
    Journal {
        /// The run directory.
        directory: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl Conditions {
    /// Returns the present conditions of a search with this seed. The sources are below `root`. `line` is the
    /// command line.
    pub(super) fn now(
        root: &Path,
        (seed, is_repeated): (Seed, bool),
        line: SearchLine,
        searched: Option<&OptionAxis>,
    ) -> Self {
        let directory = env::current_dir().unwrap_or_default();
        let has_manifest = root.join("Cargo.toml").is_file();
        let revision = revision(root);
        let names = if has_manifest || revision.is_some() { source_files(root) } else { Vec::new() };
        let mut files: Vec<_> = names.into_iter().map(|name| root.join(name)).collect();
        files.extend(named_files(line.words.iter().chain(&line.of_defaults), &directory));
        let is_read = files.len() <= MAX_READ_FILES;
        let state = |path: PathBuf| Some((path.clone(), FileState::of(&path, is_read)?));
        Self {
            revision: revision.filter(|_| searched.is_some()),
            words: line.words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            defaults: line.defaults,
            directory,
            seed,
            is_repeated,
            toolchain: if has_manifest { rustc_version(root) } else { None },
            variables: variables(env::vars_os()),
            environment: match searched {
                Some(OptionAxis { searches_environment: true, .. }) => hashes(env::vars_os()),
                _ => BTreeMap::new(),
            },
            files: files.into_iter().filter_map(state).collect(),
        }
    }

    /// Returns what has changed; `None` if nothing has.
    pub(super) fn difference(&self, now: &Self) -> Option<String> {
        if self.words != now.words {
            return Some(format!("its command line was `cargo bisect-opt {}`", self.words.join(" ")));
        }
        if let Some(key) = changed(&self.defaults, &now.defaults).next() {
            let was = self.defaults.get(key).map_or("none", |text| text);
            return Some(format!("the default of the option `{key}` has changed: it was {was}"));
        }
        if self.directory != now.directory {
            return Some(format!("it was started in `{}`", self.directory.display()));
        }
        if self.toolchain != now.toolchain {
            let version = |text: &Option<String>| match text {
                Some(text) => format!("`{}`", text.lines().next().unwrap_or_default()),
                None => "unknown".to_owned(),
            };
            let (was, is) = (version(&self.toolchain), version(&now.toolchain));
            return Some(format!("the toolchain was {was} and is {is} now"));
        }
        if let Some(name) = changed(&self.variables, &now.variables).next() {
            let was = self.variables.get(name).map_or("not set".to_owned(), |value| format!("`{value}`"));
            return Some(format!("the environment variable `{name}` has changed: it was {was}"));
        }
        if let Some(name) = changed(&self.environment, &now.environment).next() {
            return Some(format!("the environment variable `{name}` has changed"));
        }
        if self.revision != now.revision {
            let was = self.revision.as_deref().unwrap_or("none");
            return Some(format!("another revision is checked out: it was {was}"));
        }
        let files: Vec<_> = changed(&self.files, &now.files).collect();
        let shown = |path: &&PathBuf| format!("`{}`", path.strip_prefix(&now.directory).unwrap_or(path).display());
        let named = files.iter().take(MAX_NAMED).map(shown);
        let more = files.len().saturating_sub(MAX_NAMED);
        let more = (more > 0).then(|| format!("{more} more"));
        let verb = if files.len() == 1 { "has" } else { "have" };
        (!files.is_empty()).then(|| format!("{} {verb} changed", listed(named.chain(more))))
    }
}

impl FileState {
    fn of(path: &Path, is_read: bool) -> Option<Self> {
        let metadata = fs_err::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        let hash = if is_read { Some(xxh3_64(&fs_err::read(path).ok()?)) } else { None };
        Some(Self { size: metadata.len(), modified, hash })
    }
}

/// Returns the keys with different values.
fn changed<'a, K: Ord, V: PartialEq>(
    was: &'a BTreeMap<K, V>,
    is: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = &'a K> + use<'a, K, V> {
    let gone_or_other = was.iter().filter(|(key, value)| is.get(key) != Some(value)).map(|(key, _)| key);
    gone_or_other.chain(is.keys().filter(|key| !was.contains_key(key)))
}

/// Returns the files that words of a command line name: scripts, lists.
fn named_files<'a>(words: impl Iterator<Item = &'a OsString>, directory: &Path) -> Vec<PathBuf> {
    let names = words.flat_map(|word| {
        let text = word.to_string_lossy().into_owned();
        let value = text.split_once('=').map(|(_, value)| value.to_owned());
        [Some(text), value].into_iter().flatten()
    });
    names.map(|name| directory.join(name)).filter(|path| path.is_file()).collect()
}

/// Returns the variables that change how code is compiled. Others may have any bytes; the value of one of these is only
/// compared and shown.
fn variables(all: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<String, String> {
    let ours =
        all.filter_map(|(name, value)| Some((name.into_string().ok().filter(|it| affects_compilation(it))?, value)));
    ours.map(|(name, value)| (name, value.to_string_lossy().into_owned())).collect()
}

/// Returns the hashes of the values of variables; of a secret, only that it is set. A shell sets `_` for each command.
fn hashes(all: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<String, u64> {
    let others = all.filter(|(name, _)| name != "_");
    let hash = |name: &OsStr, value: &OsStr| if is_secret(name) { 0 } else { xxh3_64(value.as_encoded_bytes()) };
    others.map(|(name, value)| (name.to_string_lossy().into_owned(), hash(&name, &value))).collect()
}

fn affects_compilation(name: &str) -> bool {
    VARIABLES.contains(&name) || VARIABLE_FAMILIES.iter().any(|family| name.starts_with(family))
}

fn rustc_version(root: &Path) -> Option<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.arg("-vV").current_dir(root);
    let output = process::output_of(command).ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(files: &[(&str, u64)]) -> Conditions {
        let state = |hash: u64| FileState { size: 1, modified: hash.into(), hash: Some(hash) };
        Conditions {
            directory: "/work".into(),
            words: vec!["test".to_owned(), "-j".to_owned(), "2".to_owned()],
            defaults: [("count".to_owned(), "`--count=3`, by X".to_owned())].into(),
            seed: Seed::parse("7").unwrap(),
            is_repeated: false,
            toolchain: Some("rustc 1.95.0 (abc)\nhost: x".to_owned()),
            variables: [("RUSTFLAGS".to_owned(), "-g".to_owned())].into(),
            environment: [("TZ".to_owned(), 7)].into(),
            revision: None,
            files: files.iter().map(|&(name, hash)| (Path::new("/work").join(name), state(hash))).collect(),
        }
    }

    #[test]
    fn each_difference_is_named() {
        let was = conditions(&[("a.rs", 1), ("b.rs", 1)]);
        assert_eq!(was.difference(&was.clone()), None);
        let differences = [
            (
                Conditions { words: vec!["run".to_owned()], ..was.clone() },
                "its command line was `cargo bisect-opt test -j 2`",
            ),
            (
                Conditions { defaults: BTreeMap::new(), ..was.clone() },
                "the default of the option `count` has changed: it was `--count=3`, by X",
            ),
            (Conditions { directory: "/other".into(), ..was.clone() }, "it was started in `/work`"),
            (
                Conditions { toolchain: None, ..was.clone() },
                "the toolchain was `rustc 1.95.0 (abc)` and is unknown now",
            ),
            (
                Conditions { variables: BTreeMap::new(), ..was.clone() },
                "the environment variable `RUSTFLAGS` has changed: it was `-g`",
            ),
            (
                Conditions { environment: [("TZ".to_owned(), 8)].into(), ..was.clone() },
                "the environment variable `TZ` has changed",
            ),
            (
                Conditions { revision: Some("1".to_owned()), ..was.clone() },
                "another revision is checked out: it was none",
            ),
            (conditions(&[("a.rs", 2), ("b.rs", 1)]), "`a.rs` has changed"),
            (conditions(&[("b.rs", 1), ("c.rs", 1)]), "`a.rs` and `c.rs` have changed"),
            (
                conditions(&[("b.rs", 3), ("c.rs", 1), ("d.rs", 1), ("e.rs", 1)]),
                "`a.rs`, `b.rs`, `c.rs` and 2 more have changed",
            ),
        ];
        for (now, expected) in differences {
            assert_eq!(was.difference(&now).as_deref(), Some(expected));
        }
    }

    #[cfg(unix)]
    #[test]
    fn variables_that_are_not_utf_8_do_no_harm() {
        use std::os::unix::ffi::OsStringExt;
        let bytes = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let all: [(&[u8], &[u8]); 4] =
            [(b"OLDPWD", b"/caf\xe9"), (b"CARGO_BUILD_\xff", b"x"), (b"RUSTFLAGS", b"-L/caf\xe9"), (b"RUSTC", b"r")];
        let found = variables(all.into_iter().map(|(name, value)| (bytes(name), bytes(value))));
        let expected = [("RUSTC", "r"), ("RUSTFLAGS", "-L/caf\u{fffd}")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn a_file_that_was_only_touched_is_the_same() {
        let was = FileState { size: 1, modified: 1, hash: Some(9) };
        assert_eq!(was, FileState { modified: 2, ..was });
        assert_ne!(FileState { hash: None, ..was }, FileState { modified: 2, hash: None, ..was });
        assert_ne!(was, FileState { hash: Some(8), ..was });
    }

    #[test]
    fn the_files_that_words_name_count() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["run.sh", "items"] {
            fs_err::write(dir.path().join(name), "x").unwrap();
        }
        let words = ["list", "--items=items", "sh", "run.sh", "none.sh"].map(OsString::from);
        let expected = ["items", "run.sh"].map(|name| dir.path().join(name));
        assert_eq!(named_files(words.iter(), dir.path()), expected);
    }
}
