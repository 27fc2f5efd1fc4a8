//! Versions of a package that this machine knows: those in cargo's copy of the index, and those whose source is here.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use cargo_metadata::semver::Version;
use serde::Deserialize;

/// A version of a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KnownVersion {
    /// Its number.
    pub(crate) version: Version,
    /// The checksum of its source, if the index has it.
    pub(super) checksum: Option<String>,
    /// True if its authors have withdrawn it.
    pub(crate) is_yanked: bool,
    /// True if its source is on this machine.
    pub(crate) is_here: bool,
}

impl std::fmt::Display for KnownVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.version.fmt(f)?;
        if self.is_yanked { f.write_str(" (yanked)") } else { Ok(()) }
    }
}

/// A line of the index. Other fields do not matter.
#[derive(Debug, Deserialize)]
struct IndexEntry {
    vers: Version,
    #[serde(default)]
    yanked: bool,
    cksum: Option<String>,
}

impl KnownVersion {
    /// Returns a version whose source is on this machine. Nothing else is known about it.
    pub(crate) fn here(version: Version) -> Self {
        Self { version, checksum: None, is_yanked: false, is_here: true }
    }
}

/// Returns the known versions between two versions of a package, from the first to the last. `source` is the directory
/// of its source, in cargo's home or in a vendored directory. There, each version has a directory beside the others.
///
/// A pre-release counts only beside another one, because cargo selects it only then.
pub(super) fn versions_between(name: &str, first: &Version, last: &Version, source: &Path) -> Vec<KnownVersion> {
    let Some(sources) = source.parent() else { return Vec::new() };
    let mut known: BTreeMap<Version, KnownVersion> = BTreeMap::new();
    for (directory, suffix) in [(Some(sources.to_owned()), ""), (beside(sources, "cache"), ".crate")] {
        let versions = directory.into_iter().flat_map(|directory| versions_in(&directory, name, suffix));
        known.extend(versions.map(|version| (version.clone(), KnownVersion::here(version))));
    }
    for IndexEntry { vers, yanked, cksum } in index_of(sources, name) {
        let missing = KnownVersion { is_here: false, ..KnownVersion::here(vers.clone()) };
        let entry = known.entry(vers).or_insert(missing);
        (entry.is_yanked, entry.checksum) = (yanked, cksum);
    }
    let (low, high) = if first < last { (first, last) } else { (last, first) };
    let allows_pre = !low.pre.is_empty() || !high.pre.is_empty();
    let is_between = |version: &Version| low < version && version < high && (allows_pre || version.pre.is_empty());
    let between = known.into_iter().filter(|(version, _)| is_between(version)).map(|(_, known)| known);
    if first < last { between.collect() } else { between.rev().collect() }
}

/// Returns the directory of a registry for other files: `registry/cache/X` or `registry/index/X` for `registry/src/X`.
fn beside(sources: &Path, kind: &str) -> Option<PathBuf> {
    let of_all = sources.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "src"))?;
    Some(of_all.with_file_name(kind).join(sources.file_name()?))
}

/// Returns the versions in the names of files: `NAME-VERSION`, before this suffix.
fn versions_in(directory: &Path, name: &str, suffix: &str) -> Vec<Version> {
    let entries = fs_err::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let version = |entry: fs_err::DirEntry| {
        let file = entry.file_name();
        let version = file.to_str()?.strip_suffix(suffix)?.strip_prefix(name)?.strip_prefix('-')?;
        Version::parse(version).ok()
    };
    entries.filter_map(version).collect()
}

/// Returns what cargo's copy of the index says about a package; nothing, if there is none. Between bytes of 0, that file
/// has a line of JSON for each version. The rest of its format depends on the version of cargo.
fn index_of(sources: &Path, name: &str) -> Vec<IndexEntry> {
    let name = name.to_lowercase();
    let folder = match name.len() {
        1 | 2 => name.len().to_string(),
        3 => format!("3/{}", &name[..1]),
        _ if name.is_ascii() => format!("{}/{}", &name[..2], &name[2..4]),
        _ => return Vec::new(),
    };
    let file = beside(sources, "index").map(|index| index.join(".cache").join(folder).join(name));
    let Some(text) = file.and_then(|file| fs_err::read(file).ok()) else { return Vec::new() };
    let lines = text.split(|&byte| byte == 0).filter(|line| line.first() == Some(&b'{'));
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(first: &str, last: &str, source: &Path) -> Vec<String> {
        let parse = |version: &str| Version::parse(version).unwrap();
        let describe = |known: KnownVersion| format!("{known}{}", if known.is_here { "" } else { ", missing" });
        versions_between("glyph", &parse(first), &parse(last), source).into_iter().map(describe).collect()
    }

    #[test]
    fn the_index_lists_versions_and_the_sources_are_here_or_not() {
        let home = tempfile::tempdir().unwrap();
        let line = |version: &str, yanked: bool| {
            format!("{version}\0{{\"name\":\"glyph\",\"vers\":\"{version}\",\"deps\":[],\"yanked\":{yanked}}}\0")
        };
        let lines = [("0.1.1", false), ("0.1.3", true), ("0.1.10", false), ("0.1.4-rc.1", false), ("0.1.2", false)];
        let lines: String = lines.iter().map(|&(version, yanked)| line(version, yanked)).collect();
        let registry = home.path().join("registry");
        for (path, text) in [
            ("index/mirror-1f/.cache/gl/yp/glyph", format!("\u{3}\u{2}\0\0\0etag\0{lines}")),
            ("cache/mirror-1f/glyph-0.1.3.crate", String::new()),
            ("cache/mirror-1f/glyph-macros-0.1.9.crate", String::new()),
            ("src/mirror-1f/glyph-0.1.10/Cargo.toml", String::new()),
            ("index/other-2e/.cache/gl/yp/glyph", line("0.1.8", false)),
        ] {
            fs_err::create_dir_all(registry.join(path).parent().unwrap()).unwrap();
            fs_err::write(registry.join(path), text).unwrap();
        }
        let source = registry.join("src/mirror-1f/glyph-0.1.11");
        let all = ["0.1.2, missing", "0.1.3 (yanked)", "0.1.10"];
        assert_eq!(between("0.1.1", "0.1.11", &source), all);
        let reversed: Vec<_> = all.into_iter().rev().collect();
        assert_eq!(between("0.1.11", "0.1.1", &source), reversed);
        assert_eq!(between("0.1.3", "0.1.4", &source), [""; 0]);
        assert_eq!(between("0.1.3", "0.1.5-rc.2", &source), ["0.1.4-rc.1, missing"]);
    }

    #[test]
    fn a_vendored_directory_has_no_index() {
        let vendor = tempfile::tempdir().unwrap();
        for directory in ["glyph-1.0.0", "glyph-1.2.0", "glyph-1.1.0", "glyph"] {
            fs_err::create_dir(vendor.path().join(directory)).unwrap();
        }
        assert_eq!(between("1.0.0", "1.2.0", &vendor.path().join("glyph-1.2.0")), ["1.1.0"]);
    }
}
