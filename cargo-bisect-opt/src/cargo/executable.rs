//! How cargo starts what it has built: in which directory, with which variables, through which runner.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    process::Command,
};

use cargo_metadata::{Artifact, Package, TargetKind};

use super::{Artifacts, Config, Subcommand, Workspace};

/// Where the dynamic linker looks for libraries.
const LIBRARY_PATH: &str = if cfg!(windows) {
    "PATH"
} else if cfg!(target_vendor = "apple") {
    "DYLD_FALLBACK_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// A test executable, a program, or an example. They are ordered as cargo runs them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Executable {
    package: PackageKey,
    kind: ExecutableKind,
    name: String,
    /// Whether it is a test: the harness of the target, not the target itself.
    pub(crate) is_test: bool,
    /// Where it is.
    pub(crate) path: PathBuf,
    source: PathBuf,
    manifest: PathBuf,
}

/// The order of packages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PackageKey {
    name: String,
    id: String,
}

/// The order of targets within a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ExecutableKind {
    Library,
    Binary,
    Test,
    Bench,
    Example,
}

impl Executable {
    /// What can be started of an artifact.
    pub(crate) fn of(artifact: Artifact) -> Option<Self> {
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

    /// Whether it is what `cargo run` runs.
    pub(crate) fn is_program(&self) -> bool {
        !self.is_test && matches!(self.kind, ExecutableKind::Binary | ExecutableKind::Example)
    }

    /// Whether a program is there when this test runs, as far as it may be started by it: cargo builds the binaries of a
    /// package for its integration tests. Unit tests start none.
    pub(crate) fn has(&self, program: &Self) -> bool {
        let starts_programs = matches!(self.kind, ExecutableKind::Test | ExecutableKind::Bench);
        !starts_programs || program.kind == ExecutableKind::Binary && program.package == self.package
    }

    /// The options with which cargo builds it, and others of its name.
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

    /// Its name, the same after each build of it.
    pub(crate) fn key(&self) -> String {
        format!("{} {:?} {} {}", self.package.id, self.kind, self.name, self.is_test)
    }

    fn package_dir(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new(""))
    }
}

impl fmt::Display for Executable {
    /// As cargo names what it runs, with the target's name in the place of the path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_test && !matches!(self.kind, ExecutableKind::Test | ExecutableKind::Bench) {
            f.write_str("unittests ")?;
        }
        let source = self.source.strip_prefix(self.package_dir()).unwrap_or(&self.source);
        write!(f, "{} ({})", source.display(), self.name)
    }
}

/// A way to start an executable.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The runner with its arguments, if there is one, and the executable.
    words: Vec<OsString>,
    /// Where it works.
    pub(crate) directory: PathBuf,
    /// What cargo sets for it.
    variables: BTreeMap<String, OsString>,
    executable: PathBuf,
}

/// What all executables of a build have in common.
#[derive(Debug)]
pub(crate) struct LaunchContext<'a> {
    /// Cargo's configuration.
    pub(crate) config: &'a Config,
    /// The workspace.
    pub(crate) workspace: &'a Workspace,
    /// What was built.
    pub(crate) artifacts: &'a Artifacts,
    /// Where the standard library is.
    pub(crate) libdir: Option<&'a Path>,
}

impl LaunchContext<'_> {
    /// How cargo would start `executable` for this subcommand.
    pub(crate) fn launch(&self, executable: &Executable, subcommand: Subcommand) -> Launch {
        let mut words = self.config.runner.clone();
        words.push(executable.path.clone().into());
        let directory = match subcommand {
            Subcommand::Test => executable.package_dir().to_owned(),
            Subcommand::Run | Subcommand::Build | Subcommand::Check => self.config.directory.clone(),
        };
        let variables = self.variables(executable);
        Launch { words, directory, variables, executable: executable.path.clone() }
    }

    /// What cargo sets (`Compilation::fill_env` in its source), later entries over earlier ones.
    fn variables(&self, executable: &Executable) -> BTreeMap<String, OsString> {
        let root = self.root(&executable.path);
        let mut variables = BTreeMap::new();
        // `[env]` hides nothing that cargo sets itself, so it comes first.
        for (name, (value, force)) in &self.config.env {
            if *force || std::env::var_os(name).is_none() {
                variables.insert(name.clone(), value.clone());
            }
        }
        variables.insert(LIBRARY_PATH.to_owned(), self.library_path(&root));
        let scripts = self.artifacts.scripts.iter().filter(|script| script.package_id.repr == executable.package.id);
        // Where it was run for the host and for the target, the one for the target counts.
        if let Some(script) = scripts.max_by_key(|script| script.out_dir.starts_with(&root)) {
            variables.insert("OUT_DIR".to_owned(), script.out_dir.as_os_str().to_owned());
            variables.extend(script.env.iter().map(|(name, value)| (name.clone(), value.into())));
        }
        variables.insert("CARGO".to_owned(), self.config.cargo_path().into());
        variables.insert("CARGO_MANIFEST_DIR".to_owned(), executable.package_dir().into());
        variables.insert("CARGO_MANIFEST_PATH".to_owned(), executable.manifest.clone().into());
        if let Some(package) = self.workspace.package(&executable.package.id) {
            variables.extend(of_package(package));
        }
        if executable.is_test && matches!(executable.kind, ExecutableKind::Test | ExecutableKind::Bench) {
            let programs = self.artifacts.executables.iter().filter(|other| {
                other.kind == ExecutableKind::Binary && !other.is_test && other.package == executable.package
            });
            variables.extend(programs.map(|bin| (format!("CARGO_BIN_EXE_{}", bin.name), bin.path.clone().into())));
        }
        variables
    }

    /// The directory of the target and profile that a file was built for: `…/debug`, or `…/<target>/debug`.
    fn root(&self, path: &Path) -> PathBuf {
        let Ok(relative) = path.strip_prefix(&self.artifacts.target_dir) else {
            return path.parent().unwrap_or(path).to_owned();
        };
        let levels = if self.config.is_cross { 2 } else { 1 };
        self.artifacts.target_dir.join(relative.components().take(levels).collect::<PathBuf>())
    }

    fn library_path(&self, root: &Path) -> OsString {
        let mut dirs: Vec<PathBuf> = Vec::new();
        let native = self.artifacts.scripts.iter().flat_map(|script| &script.linked_paths).map(|path| {
            let path = path.as_str();
            let kinds = ["dependency", "crate", "native", "framework", "all"];
            Path::new(path.split_once('=').filter(|(kind, _)| kinds.contains(kind)).map_or(path, |(_, path)| path))
        });
        dirs.extend(native.filter(|dir| dir.starts_with(root)).map(Path::to_owned));
        dirs.sort();
        dirs.dedup();
        dirs.extend([root.to_owned(), root.join("deps")]);
        dirs.extend(self.libdir.map(Path::to_owned));
        let inherited = std::env::var_os(LIBRARY_PATH).filter(|path| !path.is_empty());
        match &inherited {
            Some(path) => dirs.extend(std::env::split_paths(path)),
            // Setting the variable hides the defaults.
            None if cfg!(target_vendor = "apple") => {
                dirs.extend(std::env::home_dir().map(|home| home.join("lib")));
                dirs.extend(["/usr/local/lib", "/usr/lib"].map(PathBuf::from));
            }
            None => {}
        }
        // A directory whose name has the separator in it cannot be said; nothing can be found there.
        let dirs = dirs.into_iter().filter(|dir| std::env::join_paths([dir]).is_ok());
        std::env::join_paths(dirs).unwrap_or_default()
    }
}

/// `CARGO_PKG_*`
fn of_package(package: &Package) -> [(String, OsString); 14] {
    let version = &package.version;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let path =
        |path: &Option<cargo_metadata::camino::Utf8PathBuf>| path.as_ref().map(ToString::to_string).unwrap_or_default();
    [
        ("VERSION_MAJOR", version.major.to_string()),
        ("VERSION_MINOR", version.minor.to_string()),
        ("VERSION_PATCH", version.patch.to_string()),
        ("VERSION_PRE", version.pre.to_string()),
        ("VERSION", version.to_string()),
        ("NAME", package.name.to_string()),
        ("AUTHORS", package.authors.join(":")),
        ("DESCRIPTION", text(&package.description)),
        ("HOMEPAGE", text(&package.homepage)),
        ("REPOSITORY", text(&package.repository)),
        ("LICENSE", text(&package.license)),
        ("LICENSE_FILE", path(&package.license_file)),
        ("README", path(&package.readme)),
        ("RUST_VERSION", package.rust_version.as_ref().map(rust_version).unwrap_or_default()),
    ]
    .map(|(name, value)| (format!("CARGO_PKG_{name}"), value.into()))
}

/// As manifests write it, mostly: without the patch version, which the reader of the metadata adds where it is missing.
fn rust_version(version: &cargo_metadata::semver::Version) -> String {
    let text = version.to_string();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl Launch {
    /// The command, with these arguments.
    pub(crate) fn command(&self, arguments: &[OsString]) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(arguments).current_dir(&self.directory);
        super::scrub(&mut command);
        command.envs(&self.variables);
        command
    }

    /// The words of the command.
    pub(crate) fn words(&self) -> &[OsString] {
        &self.words
    }

    /// The variables without which the executable might work otherwise when a user starts it: those that it can ask for,
    /// since their names are in it, and the path of libraries if it needs one of `libraries` or of the standard library.
    ///
    /// # Errors
    /// If the executable cannot be read.
    pub(crate) fn needed_variables(&self, libraries: &[PathBuf]) -> std::io::Result<BTreeMap<String, OsString>> {
        let bytes = fs_err::read(&self.executable)?;
        let names = |text: &[u8]| memchr::memmem::find(&bytes, text).is_some();
        let names_library = |path: &PathBuf| path.file_name().is_some_and(|name| names(name.as_encoded_bytes()));
        let standard = format!("{}std-", std::env::consts::DLL_PREFIX);
        let has_libraries = names(standard.as_bytes()) || libraries.iter().any(names_library);
        let is_needed = |name: &str| if name == LIBRARY_PATH { has_libraries } else { names(name.as_bytes()) };
        let variables = self.variables.iter().filter(|(name, _)| is_needed(name));
        Ok(variables.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

#[cfg(test)]
#[path = "executable_tests.rs"]
mod tests;
