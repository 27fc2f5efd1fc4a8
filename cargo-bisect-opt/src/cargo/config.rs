//! Cargo's configuration, as far as the driver needs it to add flags to a build and to start executables.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use cargo_config2::{Flags, PathAndArgs, ResolveOptions, TargetTriple};

use super::{Arguments, CargoError};
use crate::process::{self, scratch_dir::temp_dir};

/// The variables with flags. The first overrides the second, and both override all flags of the configuration.
const ENCODED: &str = "CARGO_ENCODED_RUSTFLAGS";
const RUSTFLAGS: &str = "RUSTFLAGS";
/// The variable for `build.rustflags`. Cargo appends it to the configured flags; cargo-config2 would replace them.
const BUILD_FLAGS: &str = "CARGO_BUILD_RUSTFLAGS";
const RUSTC_WRAPPER: &str = "RUSTC_WRAPPER";

/// The driver's flags: the runtime follows frame pointers if the whole program has them.
const DRIVER_FLAGS: [&str; 3] = ["-Cforce-frame-pointers=yes", "--cfg", "bisect_frame_pointers"];

/// The variables that add debug information, without which the answer has no lines. They override manifests for this
/// build only, and do not change the code.
const RELEASE_PROFILE: [(&str, &str); 2] =
    [("CARGO_PROFILE_RELEASE_DEBUG", "limited"), ("CARGO_PROFILE_RELEASE_STRIP", "none")];

/// Cargo's settings from the environment, the configuration files and the arguments.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The cargo that runs the driver.
    pub(crate) cargo: OsString,
    /// The working directory of cargo.
    pub(crate) directory: PathBuf,
    /// The target platform.
    pub(crate) triple: String,
    /// Set if it was given explicitly. Then cargo builds in a directory with its name.
    pub(crate) is_cross: bool,
    /// The runner for executables of that target, with its arguments; empty if there is none.
    pub(crate) runner: Vec<OsString>,
    /// The user's flags for rustc.
    pub(crate) rustflags: Vec<String>,
    /// The values of `[env]`, with a flag for those that override the environment.
    pub(crate) env: BTreeMap<String, (OsString, bool)>,
    /// Set if intermediate files have their own directory.
    pub(crate) has_build_dir: bool,
    /// The user's wrapper of rustc.
    pub(crate) rustc_wrapper: Option<PathBuf>,
    /// Set if the directory is in a copy of the user's sources.
    pub(crate) is_in_copy: bool,
    rustc: PathAndArgs,
    /// The output of `rustc -vV`; empty if it fails.
    pub(crate) rustc_version: String,
}

/// The settings of one source of configuration.
#[derive(Debug, Default)]
struct Layer {
    /// `target.*.rustflags`
    target_flags: Vec<String>,
    /// `build.rustflags`, which flags of the target override.
    build_flags: Vec<String>,
    runner: Option<Vec<OsString>>,
    env: BTreeMap<String, (OsString, bool)>,
}

impl Config {
    /// Reads the configuration for cargo in the working directory of the driver.
    ///
    /// # Errors
    /// See [`load_in`](Self::load_in).
    #[cfg(test)]
    pub(crate) fn load(arguments: &Arguments, environment: &[(OsString, OsString)]) -> Result<Self, CargoError> {
        Self::load_in(&std::env::current_dir()?, arguments, environment)
    }

    /// Reads the configuration for cargo in the directory that the arguments name, from `start`, with this environment.
    ///
    /// # Errors
    /// If it is invalid, or for more than one target.
    pub(crate) fn load_in(
        start: &Path,
        arguments: &Arguments,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, CargoError> {
        let mut directory = start.to_owned();
        directory.extend(&arguments.directory);
        let variables = environment.iter().filter(|(name, _)| name != BUILD_FLAGS).cloned();
        let options = ResolveOptions::default().env(variables);
        let mut base = cargo_config2::Config::load_with_options(&directory, options.clone())?;
        let rustc_version = version_of(base.rustc(), &directory);
        // Loaded again with the host: without it, cargo-config2 runs cargo to find the host, and cargo starts ten
        // processes to describe the system.
        if let Some(host) = rustc_version.lines().find_map(|line| line.strip_prefix("host: ")) {
            base = cargo_config2::Config::load_with_options(&directory, options.host_triple(host))?;
        }
        let given = arguments.config.iter().map(|given| GivenConfig::load(given, &directory, &base));
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let (triple, is_cross) = target(arguments, &given, &base)?;
        let triple = &triple;

        let mut merged = Layer::of(&base, triple)?;
        for given in &given {
            merged.add(given.layer(triple)?);
        }
        if let Some((_, flags)) = environment.iter().find(|(name, _)| name == BUILD_FLAGS) {
            merged.build_flags.extend(Flags::from_space_separated(&flags.to_string_lossy()).flags);
        }
        let from_environment = environment.iter().any(|(name, _)| name == ENCODED || name == RUSTFLAGS);
        let rustflags = if from_environment {
            flags(base.rustflags(triple)?)
        } else if merged.target_flags.is_empty() {
            merged.build_flags
        } else {
            merged.target_flags
        };
        Ok(Self {
            cargo: base.cargo().to_owned(),
            directory,
            triple: triple.triple().to_owned(),
            is_cross,
            runner: merged.runner.unwrap_or_default(),
            rustflags,
            env: merged.env,
            has_build_dir: given
                .iter()
                .map(|given| &given.config)
                .chain([&base])
                .any(|config| config.build.build_dir.is_some()),
            rustc_wrapper: rustc_wrapper(&given, &base, environment),
            rustc: base.rustc().clone(),
            rustc_version,
            is_in_copy: false,
        })
    }

    /// Returns the configuration for cargo in another directory, with the same settings.
    pub(crate) fn moved_to(&self, directory: PathBuf) -> Self {
        Self { directory, ..self.clone() }
    }

    /// Sets [`ENCODED`] to the user's flags, the driver's and `more`. Enables debug information unless the environment
    /// sets it.
    pub(crate) fn set_flags(&self, command: &mut Command, more: &[String]) {
        let flags: Vec<_> = self
            .rustflags
            .iter()
            .map(String::as_str)
            .chain(DRIVER_FLAGS)
            .chain(more.iter().map(String::as_str))
            .collect();
        command.env(ENCODED, flags.join("\x1f")).env_remove(RUSTFLAGS);
        command.envs(RELEASE_PROFILE.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()));
    }

    /// Sets [`ENCODED`] to the user's flags and `more`.
    pub(crate) fn set_plain_flags(&self, command: &mut Command, more: &[String]) {
        command.env(ENCODED, [&self.rustflags[..], more].concat().join("\x1f")).env_remove(RUSTFLAGS);
    }

    /// Asks rustc for the directory of the standard library, for programs that link to it dynamically.
    pub(crate) fn target_libdir(&self) -> Option<PathBuf> {
        let mut rustc = Command::from(&self.rustc);
        rustc.args(["--print", "target-libdir", "--target", &self.triple]).current_dir(&self.directory);
        let output = process::output_of(rustc).ok().filter(|output| output.status.success())?;
        let path = String::from_utf8(output.stdout).ok()?;
        Some(path.trim_end().into()).filter(|path: &PathBuf| !path.as_os_str().is_empty())
    }

    /// Returns the path of cargo: the value of `CARGO` in programs that cargo starts.
    pub(crate) fn cargo_path(&self) -> PathBuf {
        let cargo = Path::new(&self.cargo);
        if cargo.components().count() > 1 {
            return cargo.to_owned();
        }
        let mut name = self.cargo.clone();
        if cargo.extension().is_none_or(|extension| extension != std::env::consts::EXE_EXTENSION) {
            name.push(std::env::consts::EXE_SUFFIX);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        process::find_in_path(&path, Path::new(""), Path::new(&name)).unwrap_or_else(|| cargo.to_owned())
    }
}

/// Returns the output of `rustc -vV`, or an empty text if it fails.
fn version_of(rustc: &PathAndArgs, directory: &Path) -> String {
    let mut command = Command::from(rustc);
    command.arg("-vV").current_dir(directory);
    let output = process::output_of(command).ok().filter(|output| output.status.success());
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the target platform, and whether it was given explicitly.
fn target(
    arguments: &Arguments,
    given: &[GivenConfig],
    base: &cargo_config2::Config,
) -> Result<(TargetTriple, bool), CargoError> {
    let mut targets: Vec<_> = arguments.targets.iter().map(|target| target.to_string_lossy().into_owned()).collect();
    // The last source with a value overrides the others.
    for config in given.iter().rev().map(|given| &given.config).chain([base]) {
        if targets.is_empty() {
            targets = config.build_target_for_cli(&targets)?;
        }
    }
    let is_cross = !targets.is_empty();
    for target in targets.iter_mut().filter(|target| *target == "host-tuple") {
        base.host_triple()?.clone_into(target);
    }
    let mut triples = base.build_target_for_config(&targets)?;
    triples.dedup();
    match triples.pop() {
        Some(triple) if triples.is_empty() => Ok((triple, is_cross)),
        _ => {
            let targets = targets.join(", ");
            Err(CargoError::Usage(format!("cannot run executables for several targets ({targets})")))
        }
    }
}

/// Returns the user's wrapper of rustc. `RUSTC_WRAPPER` overrides the configuration; if it is empty, there is none.
fn rustc_wrapper(
    given: &[GivenConfig],
    base: &cargo_config2::Config,
    environment: &[(OsString, OsString)],
) -> Option<PathBuf> {
    let variable = environment.iter().find(|(name, _)| name == RUSTC_WRAPPER).map(|(_, path)| path.into());
    let configured = || given.iter().rev().find_map(GivenConfig::rustc_wrapper).or(base.build.rustc_wrapper.clone());
    variable.or_else(configured).filter(|path: &PathBuf| !path.as_os_str().is_empty())
}

fn flags(flags: Option<Flags>) -> Vec<String> {
    flags.map(|flags| flags.flags).unwrap_or_default()
}

impl Layer {
    fn of(config: &cargo_config2::Config, triple: &TargetTriple) -> Result<Self, CargoError> {
        let build_flags = flags(config.build.rustflags.clone());
        // The flags of the target, if there are any, else those of `build` again.
        let resolved = flags(config.rustflags(triple)?);
        let target_flags = if resolved == build_flags { Vec::new() } else { resolved };
        let words = |runner: PathAndArgs| [runner.path.into_os_string()].into_iter().chain(runner.args).collect();
        let runner = config.runner(triple)?.map(words);
        let env = config.env.iter().map(|(name, entry)| (name.clone(), (entry.value.clone(), entry.force))).collect();
        Ok(Self { target_flags, build_flags, runner, env })
    }

    /// Adds a layer of higher precedence. Flags are joined with the higher ones last, so that these win where cargo
    /// would replace the others (flags that are written as one text).
    fn add(&mut self, higher: Self) {
        self.target_flags.extend(higher.target_flags);
        self.build_flags.extend(higher.build_flags);
        self.runner = higher.runner.or(self.runner.take());
        self.env.extend(higher.env);
    }
}

/// The value of one `--config`, read as if it were the only configuration.
struct GivenConfig {
    config: cargo_config2::Config,
    /// The directory where it was read, to which its relative paths seem to be relative.
    place: tempfile::TempDir,
    /// The directory to which they are really relative.
    base: PathBuf,
}

impl GivenConfig {
    fn load(given: &OsStr, directory: &Path, base: &cargo_config2::Config) -> Result<Self, CargoError> {
        let file = directory.join(given);
        let (text, base_dir) = if !given.is_empty() && file.exists() {
            let base_dir = file.parent().and_then(Path::parent).unwrap_or(directory).to_owned();
            (fs_err::read_to_string(&file)?, base_dir)
        } else {
            (given.to_string_lossy().into_owned(), directory.to_owned())
        };
        // cargo-config2 reads only files, and only where cargo would look for them.
        let place = tempfile::tempdir_in(temp_dir())?;
        fs_err::create_dir(place.path().join(".cargo"))?;
        fs_err::write(place.path().join(".cargo/config.toml"), text)?;
        let options = ResolveOptions::default()
            .env([("", ""); 0])
            .cargo(base.cargo())
            .rustc(base.rustc().clone())
            .host_triple(base.host_triple()?)
            .cargo_home(None);
        let config = cargo_config2::Config::load_with_options(place.path(), options)
            .map_err(|error| CargoError::Usage(format!("--config {}: {error}", given.display())))?;
        Ok(Self { config, place, base: base_dir })
    }

    fn layer(&self, triple: &TargetTriple) -> Result<Layer, CargoError> {
        let mut layer = Layer::of(&self.config, triple)?;
        let paths = layer.runner.iter_mut().filter_map(|runner| runner.first_mut());
        for path in paths.chain(layer.env.values_mut().map(|(value, _)| value)) {
            *path = self.rebase(Path::new(path)).into_os_string();
        }
        Ok(layer)
    }

    fn rustc_wrapper(&self) -> Option<PathBuf> {
        self.config.build.rustc_wrapper.as_deref().map(|path| self.rebase(path))
    }

    /// Corrects a path that seems to be relative to the place where this was read.
    fn rebase(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.place.path()).map_or_else(|_| path.to_owned(), |relative| self.base.join(relative))
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
