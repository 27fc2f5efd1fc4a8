//! The workspace: its packages, its target directory, and the program that `cargo run` runs.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use cargo_metadata::{Metadata, MetadataCommand, Package, TargetKind};

use super::{
    Arguments, CargoError, Config,
    graph::{self, Package as Compiled},
    is_spec_of,
    missing_targets::PresentOptions,
};
use crate::process;

/// The workspace as `cargo metadata` describes it.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    metadata: Metadata,
}

impl Workspace {
    /// Runs `cargo metadata`.
    ///
    /// # Errors
    /// Cargo's message: there is no workspace, or its manifests are wrong.
    pub(crate) fn load(config: &Config, arguments: &Arguments) -> Result<Self, CargoError> {
        let mut options = arguments.of_workspace();
        options.push("--no-deps".into());
        Ok(Self { metadata: metadata(config, &options, None)? })
    }

    /// Returns the packages that a build with these arguments may compile for its target.
    ///
    /// # Errors
    /// If `cargo metadata` fails.
    pub(crate) fn graph(
        &self,
        config: &Config,
        arguments: &Arguments,
        tests: bool,
        named: &BTreeSet<String>,
    ) -> Result<Vec<Compiled>, CargoError> {
        let mut options = arguments.of_workspace();
        options.extend(["--filter-platform".into(), config.triple.clone().into()]);
        options.extend(arguments.of_graph.iter().cloned());
        let directory = self.build_directory(config, arguments);
        let metadata = metadata(config, &options, Some(&directory))?;
        let roots = if arguments.all_members {
            metadata.workspace_members.clone()
        } else {
            self.packages(arguments).iter().map(|package| package.id.clone()).collect()
        };
        // A package may be named in a form that only cargo knows. Then all packages count.
        let roots = if roots.is_empty() { metadata.workspace_members.clone() } else { roots };
        Ok(graph::packages(&metadata, &roots, tests, named))
    }

    /// Returns its directory, to which rustc's file names are relative.
    pub(crate) fn root(&self) -> PathBuf {
        self.metadata.workspace_root.clone().into()
    }

    /// Returns the driver's target directory: inside the user's, so that the user's artifacts stay.
    pub(crate) fn build_directory(&self, config: &Config, arguments: &Arguments) -> PathBuf {
        let users = match &arguments.target_dir {
            Some(dir) => config.directory.join(dir),
            None => self.metadata.target_directory.clone().into(),
        };
        users.join("bisect-opt")
    }

    /// Returns the user's target directory, as configuration files and variables choose it.
    pub(crate) fn target_directory(&self) -> PathBuf {
        self.metadata.target_directory.clone().into()
    }

    /// Returns the directories outside of the workspace that its manifests name: members, dependencies, and patches.
    pub(crate) fn outside_paths(&self) -> Vec<PathBuf> {
        let root = self.root();
        let members = self.metadata.packages.iter().filter_map(|package| package.manifest_path.parent());
        let dependencies = self.metadata.packages.iter().flat_map(|package| &package.dependencies);
        let dependencies = dependencies.filter_map(|dependency| dependency.path.clone());
        let manifest = fs_err::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
        let manifest: toml::Table = manifest.parse().unwrap_or_default();
        let tables = |table: Option<&toml::Value>| {
            let values = table.and_then(toml::Value::as_table).into_iter().flat_map(|table| table.values().cloned());
            values.collect::<Vec<_>>()
        };
        let patches = tables(manifest.get("patch"));
        let patches = patches.iter().flat_map(|of_source| tables(Some(of_source)));
        let paths = patches.chain(tables(manifest.get("replace")));
        let paths = paths.filter_map(|patch| Some(root.join(patch.get("path")?.as_str()?)));
        let all = members.map(PathBuf::from).chain(dependencies.map(PathBuf::from)).chain(paths);
        all.filter(|path| !path.starts_with(&root) || path.components().any(|part| part.as_os_str() == "..")).collect()
    }

    /// Returns a package of the workspace.
    pub(crate) fn package(&self, id: &str) -> Option<&Package> {
        self.metadata.packages.iter().find(|package| package.id.repr == id)
    }

    /// Returns the arguments that make cargo build exactly the program that `cargo run` would run.
    ///
    /// # Errors
    /// Cargo's message, if there is none, or more than one.
    pub(crate) fn binary(&self, arguments: &Arguments) -> Result<Vec<OsString>, CargoError> {
        match arguments.bins.len() + arguments.examples.len() {
            0 => {}
            1 => return Ok(Vec::new()),
            _ => return Err(usage("`cargo run` can run at most one executable, but multiple were specified")),
        }
        let packages = self.packages(arguments);
        if packages.is_empty() {
            // Only cargo knows whether the name is valid.
            return Ok(Vec::new());
        }
        let defaults: Vec<_> = packages.iter().filter_map(|package| package.default_run.as_deref()).collect();
        if let [name] = defaults.as_slice() {
            return Ok(vec!["--bin".into(), name.into()]);
        }
        let is_bin = |target: &&cargo_metadata::Target| target.kind.contains(&TargetKind::Bin);
        let bins = packages.iter().flat_map(|package| package.targets.iter().filter(is_bin));
        let mut names: Vec<_> = bins.map(|target| target.name.as_str()).collect();
        names.sort_unstable();
        match names.as_slice() {
            [] => Err(usage(
                "a bin target must be available for `cargo run`\nhelp: name another package with -p, or an example with --example",
            )),
            [name] => Ok(vec!["--bin".into(), name.into()]),
            names => Err(usage(&format!(
                "`cargo run` could not determine which binary to run. Use the `--bin` option to specify a binary, \
                 or the `default-run` manifest key.\navailable binaries: {}",
                names.join(", ")
            ))),
        }
    }

    /// Returns all packages of the workspace.
    pub(super) fn members(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }

    /// Returns true if there are targets that are only built with some features.
    pub(super) fn has_required_features(&self) -> bool {
        self.members().iter().any(|member| member.targets.iter().any(|target| !target.required_features.is_empty()))
    }

    /// Returns the options without packages and targets that the workspace does not have.
    pub(super) fn present_options(&self, options: &[OsString], arguments: &Arguments) -> PresentOptions {
        let members = self.members();
        let defaults = if arguments.all_members { members.clone() } else { self.metadata.workspace_default_packages() };
        let is_dependency = |spec: &str| {
            let name = spec.split(['@', ':']).next().unwrap_or(spec);
            let lock = cargo_lock::Lockfile::load(self.root().join("Cargo.lock")).ok();
            let mut packages = lock.iter().flat_map(|lock| &lock.packages);
            packages.any(|package| package.name.as_str() == name && package.source.is_some())
        };
        PresentOptions::of(options, &members, &defaults, is_dependency)
    }

    /// Returns the packages that the arguments select.
    fn packages(&self, arguments: &Arguments) -> Vec<&Package> {
        if arguments.packages.is_empty() {
            return self.metadata.workspace_default_packages();
        }
        let specs: Vec<_> = arguments.packages.iter().map(|spec| spec.to_string_lossy()).collect();
        let is_selected = |package: &&Package| specs.iter().any(|spec| is_spec_of(spec, package));
        self.metadata.packages.iter().filter(is_selected).collect()
    }
}

/// Has cargo complete the lock file without network, and describe all packages.
///
/// # Errors
/// Cargo's message.
pub(super) fn resolve(config: &Config, arguments: &Arguments, target: &Path) -> Result<Metadata, CargoError> {
    let mut options = arguments.of_workspace();
    options.retain(|option| option != "--locked" && option != "--frozen" && option != "--offline");
    options.extend(["--offline".into(), "--all-features".into()]);
    metadata(config, &options, Some(target))
}

/// Describes the members of the workspace for cargo in `directory`, without a look at the rest of cargo's configuration.
///
/// # Errors
/// Cargo's message: there is no workspace, or its manifests are wrong.
pub(super) fn members(directory: &Path, arguments: &Arguments) -> Result<Metadata, CargoError> {
    let mut options = arguments.of_workspace();
    options.push("--no-deps".into());
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    parsed(&run_metadata(&cargo, directory, &options, None)?)
}

/// Returns the description of all packages as cargo prints it.
///
/// # Errors
/// Cargo's message.
pub(super) fn metadata_text(config: &Config, arguments: &Arguments) -> Result<String, CargoError> {
    let mut options = arguments.of_workspace();
    options.push("--all-features".into());
    run_metadata(&config.cargo, &config.directory, &options, None)
}

/// Runs `cargo metadata`. Cargo stores rustc's answers in a target directory: `target_dir`, not the user's.
fn metadata(config: &Config, options: &[OsString], target_dir: Option<&Path>) -> Result<Metadata, CargoError> {
    parsed(&run_metadata(&config.cargo, &config.directory, options, target_dir)?)
}

/// Returns what `cargo metadata` prints.
fn run_metadata(
    cargo: &OsStr,
    directory: &Path,
    options: &[OsString],
    target_dir: Option<&Path>,
) -> Result<String, CargoError> {
    let options = options.iter().map(|option| option.to_string_lossy().into_owned()).collect::<Vec<_>>();
    let mut command = MetadataCommand::new();
    command.cargo_path(cargo).current_dir(directory).other_options(options);
    if let Some(directory) = target_dir {
        command.env("CARGO_TARGET_DIR", directory);
    }
    let stdout = answer(command.cargo_command())?;
    // A wrapper of cargo may print other lines.
    Ok(stdout.lines().find(|line| line.starts_with('{')).unwrap_or_default().to_owned())
}

fn parsed(json: &str) -> Result<Metadata, CargoError> {
    MetadataCommand::parse(json)
        .map_err(|error| CargoError::Workspace(format!("cannot read the output of `cargo metadata`: {error}")))
}

/// Returns what a command of cargo prints on standard output.
///
/// # Errors
/// Cargo's message, if it fails.
pub(super) fn answer(command: Command) -> Result<String, CargoError> {
    let output = process::output_of(command)?;
    if !output.status.success() {
        // The driver adds `error: ` itself.
        let stderr = String::from_utf8_lossy(&output.stderr);
        let message = stderr.trim_end();
        return Err(CargoError::Workspace(message.strip_prefix("error: ").unwrap_or(message).to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn usage(text: &str) -> CargoError {
    CargoError::Usage(text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cargo::Subcommand;

    /// A workspace with a root package of two binaries, a member of one, one that says which, and one with none.
    fn workspace() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let package = |path: &str, name: &str, more: &str, bins: &[&str]| {
            let dir = dir.path().join(path);
            fs_err::create_dir_all(dir.join("src/bin")).unwrap();
            fs_err::write(dir.join("src/lib.rs"), "").unwrap();
            for bin in bins {
                fs_err::write(dir.join(format!("src/bin/{bin}.rs")), "fn main() {}").unwrap();
            }
            let manifest = format!("package = {{ name = '{name}', version = '1.2.3', edition = '2024'{more} }}\n");
            fs_err::write(dir.join("Cargo.toml"), manifest).unwrap();
        };
        package("", "root", "", &["b", "a"]);
        package("one", "one", "", &["only"]);
        package("says", "says", ", default-run = 'y'", &["x", "y"]);
        package("none", "none", "", &[]);
        let manifest = fs_err::read_to_string(dir.path().join("Cargo.toml")).unwrap();
        fs_err::write(dir.path().join("Cargo.toml"), manifest + "workspace.members = ['one', 'says', 'none']\n")
            .unwrap();
        dir
    }

    #[test]
    fn the_program_that_cargo_run_means() {
        let dir = workspace();
        let load = |line: &str| {
            let words = [OsString::from("-C"), dir.path().into()].into_iter();
            let words: Vec<_> = words.chain(line.split_whitespace().map(Into::into)).collect();
            let arguments = Arguments::parse(Subcommand::Run, &words);
            let config = Config::load(&arguments, &std::env::vars_os().collect::<Vec<_>>()).unwrap();
            (Workspace::load(&config, &arguments).unwrap(), arguments, config)
        };
        let binary = |line: &str| {
            let (workspace, arguments, _) = load(line);
            match workspace.binary(&arguments) {
                Ok(words) => words.join("".as_ref()).into_string().unwrap(),
                Err(error) => error.to_string().lines().last().unwrap().to_owned(),
            }
        };
        for (line, expected) in [
            ("", "available binaries: a, b"),
            ("--bin a", ""),
            ("--bin a --example b", "`cargo run` can run at most one executable, but multiple were specified"),
            ("-p one", "--binonly"),
            ("-p one@1.2", "--binonly"),
            ("-p one@1.3", ""),
            ("-C one", "--binonly"),
            ("--manifest-path one/Cargo.toml", "--binonly"),
            ("-p says", "--biny"),
            ("-p none", "help: name another package with -p, or an example with --example"),
            ("-p unknown", ""),
        ] {
            assert_eq!(binary(line), expected, "{line}");
        }

        let (workspace, arguments, config) = load("-C one");
        assert_eq!(workspace.root(), dir.path().canonicalize().unwrap());
        let target = workspace.build_directory(&config, &arguments);
        assert!(target.ends_with("bisect-opt"), "{target:?}");
        let (workspace, arguments, config) = load("-C one --target-dir x");
        assert_eq!(workspace.build_directory(&config, &arguments), dir.path().join("one/x/bisect-opt"));
    }

    #[test]
    fn without_a_workspace_cargo_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let arguments = Arguments::parse(Subcommand::Run, &["-C".into(), dir.path().into()]);
        let config = Config::load(&arguments, &std::env::vars_os().collect::<Vec<_>>()).unwrap();
        let error = Workspace::load(&config, &arguments).unwrap_err().to_string();
        assert!(error.contains("could not find `Cargo.toml`"), "{error}");
    }
}
