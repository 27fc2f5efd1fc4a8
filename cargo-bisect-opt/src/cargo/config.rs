//! Cargo's configuration, as far as it matters when the driver adds flags to a build and starts what was built.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use cargo_config2::{Flags, PathAndArgs, ResolveOptions, TargetTriple};

use super::{Arguments, CargoError};

/// Variables with flags, from the first that counts; both hide all flags of the configuration.
const ENCODED: &str = "CARGO_ENCODED_RUSTFLAGS";
const RUSTFLAGS: &str = "RUSTFLAGS";
/// The variable for `build.rustflags`, to which cargo appends it; the library would put it in their place.
const BUILD_FLAGS: &str = "CARGO_BUILD_RUSTFLAGS";
const RUSTC_WRAPPER: &str = "RUSTC_WRAPPER";

/// Flags of ours: the runtime follows frame pointers where the whole program has them.
const OUR_FLAGS: [&str; 3] = ["-Cforce-frame-pointers=yes", "--cfg", "bisect_frame_pointers"];

/// Without debug information there are no lines in the answer. Variables go over what a manifest says, but they are for this
/// build only, and change nothing in the code.
const RELEASE_PROFILE: [(&str, &str); 2] =
    [("CARGO_PROFILE_RELEASE_DEBUG", "limited"), ("CARGO_PROFILE_RELEASE_STRIP", "none")];

/// What cargo would do here, by the environment, the configuration files and the arguments.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The cargo that runs us.
    pub(crate) cargo: OsString,
    /// Where cargo works.
    pub(crate) directory: PathBuf,
    /// The target that is built for.
    pub(crate) triple: String,
    /// Whether it was asked for: cargo then builds in a directory of its name.
    pub(crate) is_cross: bool,
    /// What starts executables of that target, with its arguments; empty: nothing.
    pub(crate) runner: Vec<OsString>,
    /// The user's flags for rustc.
    pub(crate) rustflags: Vec<String>,
    /// `[env]`: values, and whether they hide what is set.
    pub(crate) env: BTreeMap<String, (OsString, bool)>,
    /// Whether intermediate files go to a directory of their own.
    pub(crate) has_build_dir: bool,
    /// What starts rustc in the user's place.
    pub(crate) rustc_wrapper: Option<PathBuf>,
    rustc: PathAndArgs,
}

/// What one source of configuration says.
#[derive(Debug, Default)]
struct Layer {
    /// `target.*.rustflags`
    target_flags: Vec<String>,
    /// `build.rustflags`; not used where there are flags of the target.
    build_flags: Vec<String>,
    runner: Option<Vec<OsString>>,
    env: BTreeMap<String, (OsString, bool)>,
}

impl Config {
    /// Reads the configuration for cargo in the directory that the arguments name, with this environment.
    ///
    /// # Errors
    /// If it is wrong, or for more than one target.
    pub(crate) fn load(arguments: &Arguments, environment: &[(OsString, OsString)]) -> Result<Self, CargoError> {
        let mut directory = std::env::current_dir()?;
        directory.extend(&arguments.directory);
        let variables = environment.iter().filter(|(name, _)| name != BUILD_FLAGS).cloned();
        let options = ResolveOptions::default().env(variables);
        let base = cargo_config2::Config::load_with_options(&directory, options)?;
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
        })
    }

    /// The user's flags, ours, and `more`, for [`ENCODED`]; and debug information, unless the environment says otherwise.
    pub(crate) fn set_flags(&self, command: &mut Command, more: &[String]) {
        let flags: Vec<_> =
            self.rustflags.iter().map(String::as_str).chain(OUR_FLAGS).chain(more.iter().map(String::as_str)).collect();
        command.env(ENCODED, flags.join("\x1f")).env_remove(RUSTFLAGS);
        command.envs(RELEASE_PROFILE.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()));
    }

    /// The user's flags and `more`, and nothing else.
    pub(crate) fn set_plain_flags(&self, command: &mut Command, more: &[String]) {
        command.env(ENCODED, [&self.rustflags[..], more].concat().join("\x1f")).env_remove(RUSTFLAGS);
    }

    /// Where the standard library is, for programs that link to it dynamically. `None` if rustc does not say.
    pub(crate) fn target_libdir(&self) -> Option<PathBuf> {
        let mut rustc = Command::from(&self.rustc);
        rustc.args(["--print", "target-libdir", "--target", &self.triple]).current_dir(&self.directory);
        let output = rustc.output().ok().filter(|output| output.status.success())?;
        let path = String::from_utf8(output.stdout).ok()?;
        Some(path.trim_end().into()).filter(|path: &PathBuf| !path.as_os_str().is_empty())
    }

    /// What `rustc -vV` prints.
    pub(crate) fn rustc_version(&self) -> Option<String> {
        let mut rustc = Command::from(&self.rustc);
        let output = rustc.arg("-vV").current_dir(&self.directory).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The cargo that runs us, as a path: what `CARGO` is in programs that cargo starts.
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
        let found = std::env::split_paths(&path).map(|dir| dir.join(&name)).find(|path| path.is_file());
        found.unwrap_or_else(|| cargo.to_owned())
    }
}

/// The target that is built for, and whether it was asked for.
fn target(
    arguments: &Arguments,
    given: &[GivenConfig],
    base: &cargo_config2::Config,
) -> Result<(TargetTriple, bool), CargoError> {
    let mut targets: Vec<_> = arguments.targets.iter().map(|target| target.to_string_lossy().into_owned()).collect();
    // The last that says something hides the others.
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
            Err(CargoError::Usage(format!("cannot run what is built for several targets ({targets})")))
        }
    }
}

/// What starts rustc, if anything does. The variable that is not named like the configuration goes over all of it, and an
/// empty one over all that it says.
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
        // Those of the target, if there are any, else those of `build` once more.
        let resolved = flags(config.rustflags(triple)?);
        let target_flags = if resolved == build_flags { Vec::new() } else { resolved };
        let words = |runner: PathAndArgs| [runner.path.into_os_string()].into_iter().chain(runner.args).collect();
        let runner = config.runner(triple)?.map(words);
        let env = config.env.iter().map(|(name, entry)| (name.clone(), (entry.value.clone(), entry.force))).collect();
        Ok(Self { target_flags, build_flags, runner, env })
    }

    /// Adds what `higher` says. Flags are joined; where cargo would replace them, since both are written as one text,
    /// the higher come last and win.
    fn add(&mut self, higher: Self) {
        self.target_flags.extend(higher.target_flags);
        self.build_flags.extend(higher.build_flags);
        self.runner = higher.runner.or(self.runner.take());
        self.env.extend(higher.env);
    }
}

/// One `--config`, read as if it were the only configuration.
struct GivenConfig {
    config: cargo_config2::Config,
    /// Where it was read: paths in it that are relative seem to be relative to this.
    place: tempfile::TempDir,
    /// What they are really relative to.
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
        // The library reads files only, and only where cargo would look for them.
        let place = tempfile::tempdir()?;
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

    /// A path that seems to be where this was read.
    fn rebase(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.place.path()).map_or_else(|_| path.to_owned(), |relative| self.base.join(relative))
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
