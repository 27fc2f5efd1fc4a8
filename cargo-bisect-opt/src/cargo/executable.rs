//! Executables that cargo has built: tests, programs and examples.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

use cargo_metadata::{Artifact, TargetKind};
use serde::{Deserialize, Serialize};

/// A test executable, a program or an example. The order is that in which cargo runs them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Executable {
    pub(super) package: PackageKey,
    pub(super) kind: ExecutableKind,
    pub(super) name: String,
    /// Set for the test harness of a target, not the target itself.
    pub(crate) is_test: bool,
    /// The path of the file.
    pub(crate) path: PathBuf,
    source: PathBuf,
    pub(super) manifest: PathBuf,
}

/// The package of an executable, with the order of packages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct PackageKey {
    name: String,
    pub(super) id: String,
}

/// The kind of an executable, in the order of targets within a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum ExecutableKind {
    Library,
    Binary,
    Test,
    Bench,
    Example,
}

impl Executable {
    /// Returns the executable of an artifact, if it has one.
    pub(crate) fn of_artifact(artifact: Artifact) -> Option<Self> {
        let is = |kind| artifact.target.kind.contains(&kind);
        let kind = if is(TargetKind::Bin) {
            ExecutableKind::Binary
        } else if is(TargetKind::Test) {
            ExecutableKind::Test
        } else if is(TargetKind::Bench) {
            ExecutableKind::Bench
        } else if is(TargetKind::Example) {
            ExecutableKind::Example
        } else {
            ExecutableKind::Library
        };
        let manifest: PathBuf = artifact.manifest_path.into();
        let id = artifact.package_id.repr;
        // `…#name@version`, or `…/name#version`.
        let (url, fragment) = id.split_once('#').unwrap_or((&id, ""));
        let name = fragment.split_once('@').map_or_else(|| url.rsplit('/').next().unwrap_or(url), |(name, _)| name);
        Some(Self {
            package: PackageKey { name: name.to_owned(), id },
            kind,
            name: artifact.target.name,
            is_test: artifact.profile.test,
            path: artifact.executable?.into(),
            source: artifact.target.src_path.into(),
            manifest,
        })
    }

    /// Returns whether `cargo run` can run it.
    pub(crate) fn is_program(&self) -> bool {
        !self.is_test && matches!(self.kind, ExecutableKind::Binary | ExecutableKind::Example)
    }

    /// Returns whether a program exists when this test runs, as far as the test may start it. Cargo builds the binaries
    /// of a package for its integration tests. Unit tests start no programs.
    pub(crate) fn has(&self, program: &Self) -> bool {
        let starts_programs = matches!(self.kind, ExecutableKind::Test | ExecutableKind::Bench);
        !starts_programs || program.kind == ExecutableKind::Binary && program.package == self.package
    }

    /// Returns the options that make cargo build it, and others of the same name.
    pub(crate) fn options(&self) -> Vec<OsString> {
        let named = |option: &str| vec![option.into(), self.name.clone().into()];
        match self.kind {
            ExecutableKind::Library => vec!["--lib".into()],
            ExecutableKind::Binary => named("--bin"),
            ExecutableKind::Test => named("--test"),
            ExecutableKind::Bench => named("--bench"),
            ExecutableKind::Example => named("--example"),
        }
    }

    /// Returns the options that select its package.
    pub(super) fn package_options(&self) -> Vec<OsString> {
        vec!["-p".into(), self.package.name.clone().into()]
    }

    /// Returns the ID of the test executable in nextest, and the kind of its target.
    pub(super) fn nextest_id(&self) -> (String, &'static str) {
        let (package, name) = (&self.package.name, &self.name);
        match self.kind {
            ExecutableKind::Library => (package.clone(), "lib"),
            ExecutableKind::Binary => (format!("{package}::bin/{name}"), "bin"),
            ExecutableKind::Test => (format!("{package}::{name}"), "test"),
            ExecutableKind::Bench => (format!("{package}::bench/{name}"), "bench"),
            ExecutableKind::Example => (format!("{package}::example/{name}"), "example"),
        }
    }

    /// Returns an identifier that is the same after each build, also of a copy of the sources at another place.
    pub(crate) fn key(&self) -> String {
        let PackageKey { name, id } = &self.package;
        // The names of packages in one workspace differ.
        let package = if id.starts_with("path+") { name } else { id };
        format!("{package} {:?} {} {}", self.kind, self.name, self.is_test)
    }

    /// Returns the directory of its package.
    pub(super) fn package_dir(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new(""))
    }
}

impl fmt::Display for Executable {
    /// Formats it as cargo does when it runs it, with the target's name instead of the path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_test && !matches!(self.kind, ExecutableKind::Test | ExecutableKind::Bench) {
            f.write_str("unittests ")?;
        }
        let source = self.source.strip_prefix(self.package_dir()).unwrap_or(&self.source);
        write!(f, "{} ({})", source.display(), self.name)
    }
}
