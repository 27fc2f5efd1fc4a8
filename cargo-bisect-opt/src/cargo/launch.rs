//! The way in which cargo starts an executable: directory, variables and runner.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use cargo_metadata::Package;

use super::{Artifacts, Config, Executable, Subcommand, Workspace, executable::ExecutableKind, nextest_variables};
use crate::process::variables::{Variable, Variables};

/// The variable with the search path of the dynamic linker.
const LIBRARY_PATH: &str = if cfg!(windows) {
    "PATH"
} else if cfg!(target_vendor = "apple") {
    "DYLD_FALLBACK_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// A way to start an executable.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The runner with its arguments, if there is one, and the executable.
    words: Vec<OsString>,
    /// The working directory.
    pub(crate) directory: PathBuf,
    /// The variables that cargo sets for it.
    variables: BTreeMap<String, OsString>,
    executable: PathBuf,
    is_in_copy: bool,
}

/// The properties that all executables of a build share.
#[derive(Debug)]
pub(crate) struct LaunchContext<'a> {
    /// Cargo's configuration.
    pub(crate) config: &'a Config,
    /// The workspace.
    pub(crate) workspace: &'a Workspace,
    /// The artifacts of the build.
    pub(crate) artifacts: &'a Artifacts,
    /// The directory of the standard library.
    pub(crate) libdir: Option<&'a Path>,
}

impl LaunchContext<'_> {
    /// Returns the way in which cargo would start `executable` for this subcommand.
    pub(crate) fn launch(&self, executable: &Executable, subcommand: Subcommand) -> Launch {
        let mut words = self.config.runner.clone();
        words.push(executable.path.clone().into());
        let directory = match subcommand {
            Subcommand::Test | Subcommand::Nextest => executable.package_dir().to_owned(),
            Subcommand::Run | Subcommand::Build | Subcommand::Check => self.config.directory.clone(),
        };
        let mut variables = self.variables(executable);
        if subcommand == Subcommand::Nextest {
            let of_nextest = nextest_variables::of_test(&variables);
            variables.extend(of_nextest);
        }
        let is_in_copy = self.config.is_in_copy;
        Launch { words, directory, variables, executable: executable.path.clone(), is_in_copy }
    }

    /// Returns the variables that cargo sets (`Compilation::fill_env` in its source). Later entries take precedence.
    fn variables(&self, executable: &Executable) -> BTreeMap<String, OsString> {
        let root = self.root(&executable.path);
        let mut variables = BTreeMap::new();
        // `[env]` overrides no variable that cargo sets itself, so it comes first.
        for (name, (value, force)) in &self.config.env {
            if *force || std::env::var_os(name).is_none() {
                variables.insert(name.clone(), value.clone());
            }
        }
        variables.insert(LIBRARY_PATH.to_owned(), self.library_path(&root));
        let scripts = self.artifacts.scripts.iter().filter(|script| script.package_id.repr == executable.package.id);
        // A script that was run both for the host and for the target counts for the target.
        if let Some(script) = scripts.max_by_key(|script| script.out_dir.starts_with(&root)) {
            variables.insert("OUT_DIR".to_owned(), script.out_dir.as_os_str().to_owned());
            variables.extend(script.env.iter().map(|(name, value)| (name.clone(), value.into())));
        }
        variables.insert("CARGO".to_owned(), self.config.cargo_path().into());
        variables.insert("CARGO_MANIFEST_DIR".to_owned(), executable.package_dir().into());
        variables.insert("CARGO_MANIFEST_PATH".to_owned(), executable.manifest.clone().into());
        if let Some(package) = self.workspace.package(&executable.package.id) {
            variables.extend(package_variables(package));
        }
        if executable.is_test && matches!(executable.kind, ExecutableKind::Test | ExecutableKind::Bench) {
            let programs = self.artifacts.executables.iter().filter(|other| {
                other.kind == ExecutableKind::Binary && !other.is_test && other.package == executable.package
            });
            variables.extend(programs.map(|bin| (format!("CARGO_BIN_EXE_{}", bin.name), bin.path.clone().into())));
        }
        variables
    }

    /// Returns the directory of the target and profile of a file: `…/debug`, or `…/<target>/debug`.
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
            // Setting the variable disables the defaults.
            None if cfg!(target_vendor = "apple") => {
                dirs.extend(std::env::home_dir().map(|home| home.join("lib")));
                dirs.extend(["/usr/local/lib", "/usr/lib"].map(PathBuf::from));
            }
            None => {}
        }
        // A directory with the separator in its name cannot be part of the variable.
        let dirs = dirs.into_iter().filter(|dir| std::env::join_paths([dir]).is_ok());
        std::env::join_paths(dirs).unwrap_or_default()
    }
}

/// Returns the variables `CARGO_PKG_*`.
fn package_variables(package: &Package) -> [(String, OsString); 14] {
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

/// Formats it as most manifests do: without a patch version of 0, which the parser of the metadata adds.
fn rust_version(version: &cargo_metadata::semver::Version) -> String {
    let text = version.to_string();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl Launch {
    /// Returns the command with these arguments.
    pub(crate) fn command(&self, arguments: &[OsString]) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(arguments).current_dir(&self.directory);
        super::remove_variables(&mut command, self.is_in_copy);
        command.envs(&self.variables);
        command
    }

    /// Returns these variables with the search path of the dynamic linker that cargo sets, if the executable is to inherit
    /// another one.
    pub(crate) fn with_libraries<'a>(&self, variables: &'a Variables) -> Cow<'a, Variables> {
        let Some(inherited) = variables.get(LIBRARY_PATH) else { return Cow::Borrowed(variables) };
        let split = |path: &OsStr| std::env::split_paths(path).collect::<Vec<_>>();
        let all = self.variables.get(LIBRARY_PATH).map(|path| split(path)).unwrap_or_default();
        let present = std::env::var_os(LIBRARY_PATH).filter(|path| !path.is_empty()).map(|path| split(&path));
        let own = all.len().saturating_sub(present.map_or(0, |present| present.len()));
        let mut directories = all[..own].to_vec();
        if let Variable::Set(path) = inherited {
            directories.extend(split(path));
        }
        let mut variables = variables.clone();
        variables.set(LIBRARY_PATH, std::env::join_paths(directories).unwrap_or_default());
        Cow::Owned(variables)
    }

    /// Returns the runner, if there is one, and the executable.
    pub(crate) fn words(&self) -> &[OsString] {
        &self.words
    }

    /// Returns the variables that the executable may need when a user starts it: those whose names occur in it. Adds
    /// the path of libraries if it needs one of `libraries` or the standard library.
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
#[path = "launch_tests.rs"]
mod tests;
