//! A project with the arguments of one command line: its builds, and the ways to start its executables.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{
    Arguments, Artifacts, Build, BuildOutput, Built, CargoError, Config, Executable, IfMissing, Launch, SlotDirs,
    Subcommand, Workspace, build::Flags, graph::Package, launch::LaunchContext, profile_option, profiles::Profiles,
    toolchain::Toolchain,
};
use crate::process::{interrupt::Interrupt, owned_dir::OwnedDir, variables::Variables};

/// A project, with the user's arguments and configuration.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    /// The subcommand of cargo.
    pub(crate) subcommand: Subcommand,
    /// The working directory of cargo.
    pub(crate) directory: PathBuf,
    /// The target platform.
    pub(crate) triple: String,
    /// Set if a runner of cargo's configuration starts the executables.
    pub(crate) has_runner: bool,
    pub(super) arguments: Arguments,
    pub(super) config: Config,
    pub(super) workspace: Workspace,
    /// The option that selects the program to build, if the user did not.
    pub(super) program: Vec<OsString>,
    slot_dirs: Arc<SlotDirs>,
    pub(super) toolchain: Toolchain,
    libdir: Option<PathBuf>,
    /// The arguments after `--`.
    pub(super) target_arguments: Vec<OsString>,
}

/// The additions to the user's arguments for one build.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuildOverrides {
    /// Environment variables for the compiler.
    pub(crate) variables: Variables,
    /// Flags for the compiler.
    pub(crate) flags: Vec<String>,
    /// Values for `--config`, which override configuration files.
    pub(crate) settings: Vec<String>,
    /// Options that replace the user's choice of cargo targets.
    pub(crate) only: Option<Vec<OsString>>,
    /// Options that replace the user's choice of features.
    pub(crate) features: Option<Vec<OsString>>,
    /// The handling of packages and targets that the options name and the sources do not have.
    pub(crate) if_missing: IfMissing,
    /// Leaves out the driver's own flags and debug information.
    pub(crate) is_plain: bool,
    /// True if the build has a new directory, so that nothing of earlier builds is used.
    pub(crate) is_from_scratch: bool,
    /// True if the build depends on more than cargo knows, so that it must not share artifacts with other builds.
    pub(crate) needs_own_artifacts: bool,
}

impl Project {
    /// Reads the configuration and the workspace. `cargo_arguments` are those before `--`, `target_arguments` those
    /// after it.
    ///
    /// # Errors
    /// If the arguments, the configuration or the workspace are invalid.
    pub(crate) fn load(
        subcommand: Subcommand,
        cargo_arguments: &[OsString],
        target_arguments: &[OsString],
    ) -> Result<Self, CargoError> {
        let arguments = Arguments::parse(subcommand, cargo_arguments);
        if arguments.doc {
            return Err(CargoError::Usage(
                "documentation tests cannot be searched: rustdoc compiles and runs them in one step\n\
                 help: turn the example into a test, and search that"
                    .to_owned(),
            ));
        }
        if let (true, Some(word)) = (subcommand.is_build(), arguments.words.iter().chain(target_arguments).next()) {
            let (name, word) = (subcommand.name(), word.display());
            return Err(CargoError::Usage(format!("`cargo {name}` takes only options, and `{word}` is not an option")));
        }
        Self::load_in(&std::env::current_dir()?, subcommand, arguments, target_arguments, None)
    }

    /// Returns the same command line for a copy of the sources, with the same target directories. `directory` corresponds
    /// to the working directory of the driver.
    ///
    /// # Errors
    /// If the arguments, the configuration or the workspace are invalid there.
    pub(crate) fn in_copy(&self, directory: &Path) -> Result<Self, CargoError> {
        let slot_dirs = Some(self.slot_dirs.clone());
        let mut copy =
            Self::load_in(directory, self.subcommand, self.arguments.clone(), &self.target_arguments, slot_dirs)?;
        copy.config.is_in_copy = true;
        Ok(copy)
    }

    fn load_in(
        start: &Path,
        subcommand: Subcommand,
        arguments: Arguments,
        target_arguments: &[OsString],
        slot_dirs: Option<Arc<SlotDirs>>,
    ) -> Result<Self, CargoError> {
        let config = Config::load_in(start, &arguments, &std::env::vars_os().collect::<Vec<_>>())?;
        let workspace = Workspace::load(&config, &arguments)?;
        let own_dirs = || SlotDirs::new(&workspace.build_directory(&config, &arguments), &workspace.root()).into();
        let program = match subcommand {
            Subcommand::Run => workspace.binary(&arguments)?,
            _ => Vec::new(),
        };
        Ok(Self {
            subcommand,
            directory: config.directory.clone(),
            triple: config.triple.clone(),
            has_runner: !config.runner.is_empty(),
            slot_dirs: slot_dirs.unwrap_or_else(own_dirs),
            toolchain: Toolchain::default(),
            libdir: config.target_libdir(),
            arguments,
            config,
            workspace,
            program,
            target_arguments: target_arguments.to_vec(),
        })
    }

    /// Makes a directory for one search, see [`SlotDirs::scratch`].
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn scratch(&self) -> io::Result<OwnedDir> {
        self.slot_dirs.scratch()
    }

    /// Returns the directory of the workspace.
    pub(crate) fn root(&self) -> PathBuf {
        self.workspace.root()
    }

    /// Returns the output of `rustc -vV`; empty if that fails.
    pub(crate) fn rustc_version(&self) -> &str {
        &self.config.rustc_version
    }

    /// Returns the packages whose compilation can be searched.
    ///
    /// # Errors
    /// If `cargo metadata` fails.
    pub(crate) fn packages(&self) -> Result<Vec<Package>, CargoError> {
        let tests = self.arguments.has_development(self.subcommand);
        self.workspace.graph(&self.config, &self.arguments, tests, &self.profiles().named_packages())
    }

    /// Returns the packages that the user selects, as in the command line.
    pub(crate) fn named_packages(&self) -> &[OsString] {
        &self.arguments.packages
    }

    /// Returns the user's profiles.
    pub(crate) fn profiles(&self) -> Profiles {
        Profiles::read(&self.root(), &self.config.directory, &self.arguments.config)
    }

    /// Returns the profile that the command line uses.
    pub(crate) fn profile(&self) -> UsedProfile {
        let name = self.arguments.profile();
        let is_selected = self.arguments.selects_profile();
        let effective = if is_selected { name.clone() } else { self.subcommand.default_profile().to_owned() };
        UsedProfile { name, effective, is_selected }
    }

    /// Returns the user's own wrapper of rustc.
    pub(crate) fn rustc_wrapper(&self) -> Option<&Path> {
        self.config.rustc_wrapper.as_deref()
    }

    /// Builds the executables in a slot, parallel to builds in other slots. A slot starts with a copy of earlier
    /// artifacts only if there are no flags: with other flags they are useless. `scratch` is a directory for temporary
    /// files.
    ///
    /// # Errors
    /// If the build fails, cannot be started, or is interrupted; or if the slot's directory cannot be made.
    pub(crate) fn build_in(
        &self,
        slot: usize,
        with: &BuildOverrides,
        output: BuildOutput<'_>,
        scratch: &Path,
        interrupt: &Interrupt,
    ) -> Result<Artifacts, CargoError> {
        let built = self.attempt_in(slot, with, output, scratch, None, interrupt)?;
        if built.artifacts.is_complete { Ok(built.artifacts) } else { Err(built.to_error()) }
    }

    /// Runs a build that may fail, with a timeout, in a slot.
    ///
    /// # Errors
    /// See [`Build::attempt`]; or if the slot's directory cannot be made.
    pub(crate) fn attempt_in(
        &self,
        slot: usize,
        with: &BuildOverrides,
        output: BuildOutput<'_>,
        scratch: &Path,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
    ) -> Result<Built, CargoError> {
        let (of_slot, new);
        let target_dir = if with.is_from_scratch {
            new = scratch.join("target");
            new.as_path()
        } else {
            of_slot = self.slot_dirs.get(slot, with.flags.is_empty(), interrupt)?;
            of_slot.path()
        };
        match self.prepare_build(target_dir, with, output) {
            Some(build) => build.attempt(scratch, timeout, interrupt),
            None => Ok(Built::of_nothing(target_dir)),
        }
    }

    /// Returns a build of the packages and targets that are not missing; `None` if there are none.
    fn prepare_build<'a>(
        &'a self,
        target_dir: &'a Path,
        with: &'a BuildOverrides,
        output: BuildOutput<'a>,
    ) -> Option<Build<'a>> {
        // Cargo refuses to build a target by its name without the features that it requires.
        let only = with.only.as_deref().filter(|_| with.features.is_none() || !self.workspace.has_required_features());
        let mut options = match only {
            None => self.arguments.options.clone(),
            Some(targets) => [self.arguments.options_of_any_target().as_slice(), targets].concat(),
        };
        if with.if_missing != IfMissing::Refuse {
            let present = self.workspace.present_options(&options, &self.arguments);
            if with.if_missing == IfMissing::LeaveOut && present.has_nothing {
                return None;
            }
            options = present.options;
        }
        Some(Build {
            config: &self.config,
            arguments: &self.arguments,
            subcommand: self.subcommand.of_cargo(),
            more_arguments: &self.program,
            target_dir,
            options,
            features: with.features.as_deref(),
            settings: &with.settings,
            flags: if with.is_plain { Flags::Plain(&with.flags) } else { Flags::Instrumented(&with.flags) },
            variables: &with.variables,
            output,
        })
    }

    /// Returns the executables that cargo would run, in its order.
    ///
    /// # Errors
    /// If a subcommand that runs executables has none, or if `cargo run` has several.
    pub(crate) fn executables<'a>(&self, artifacts: &'a Artifacts) -> Result<Vec<&'a Executable>, CargoError> {
        let all = artifacts.executables.iter();
        match self.subcommand {
            Subcommand::Build | Subcommand::Check => Ok(Vec::new()),
            Subcommand::Test | Subcommand::Nextest => {
                let tests: Vec<_> = all.filter(|executable| executable.is_test).collect();
                if tests.is_empty() {
                    return Err(CargoError::Nothing(format!(
                        "`{}` has nothing to run: no target has tests",
                        self.command_line()
                    )));
                }
                Ok(tests)
            }
            Subcommand::Run => {
                let programs: Vec<_> = all.filter(|executable| executable.is_program()).collect();
                match programs.as_slice() {
                    [_] => Ok(programs),
                    [] => Err(CargoError::Nothing(format!("`{}` has no program to run", self.command_line()))),
                    _ => {
                        let names: Vec<_> = programs.iter().map(ToString::to_string).collect();
                        Err(CargoError::Usage(format!("which program? Name one with --bin: {}", names.join(", "))))
                    }
                }
            }
        }
    }

    /// Returns the way in which cargo would start an executable.
    pub(crate) fn launch(&self, artifacts: &Artifacts, executable: &Executable) -> Launch {
        let launcher = LaunchContext {
            config: &self.config,
            workspace: &self.workspace,
            artifacts,
            libdir: self.libdir.as_deref(),
        };
        launcher.launch(executable, self.subcommand)
    }

    /// Returns the arguments for the executables.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        if self.subcommand == Subcommand::Nextest {
            return self.arguments.nextest.harness_arguments();
        }
        let mut arguments = self.arguments.words.clone();
        if self.subcommand == Subcommand::Run && !arguments.is_empty() && !self.target_arguments.is_empty() {
            // After the program's first argument, `--` is an argument of the program.
            arguments.push("--".into());
        }
        arguments.extend(self.target_arguments.iter().cloned());
        arguments
    }

    /// Returns whether the command line selects tests.
    pub(crate) fn names_tests(&self) -> bool {
        !self.arguments.nextest.selection.is_empty()
            || !self.arguments.words.is_empty()
            || !self.target_arguments.is_empty()
    }

    /// Returns the user's flags for the compiler.
    pub(crate) fn flags(&self) -> &[String] {
        &self.config.rustflags
    }
}

/// The profile that a command line uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsedProfile {
    /// Its name, under which packages are configured.
    pub(crate) name: String,
    /// The profile whose settings apply: `test` for tests in the profile `dev` by default.
    pub(crate) effective: String,
    /// True if an option selects it.
    pub(crate) is_selected: bool,
}

/// Returns the same project, built in another profile.
pub(crate) fn in_profile(project: &Project, name: &str) -> Project {
    let arguments = profile_option::with_profile(&project.arguments, project.subcommand, name);
    Project { arguments, ..project.clone() }
}

/// Returns the same project with target directories of its own, which are deleted with it.
///
/// # Errors
/// If they cannot be made.
pub(crate) fn with_own_target_directories(project: &Project) -> io::Result<Project> {
    let slot_dirs = Arc::new(SlotDirs::in_scratch(project.scratch()?, &project.root()));
    Ok(Project { slot_dirs, ..project.clone() })
}

/// Returns the project for `cargo check` of what a project builds. Its target directories are in `scratch`.
///
/// # Errors
/// If the arguments are invalid.
pub(crate) fn for_check(project: &Project, scratch: OwnedDir) -> Result<Project, CargoError> {
    let arguments = project.arguments.for_check(project.subcommand, &project.program);
    let slot_dirs = Arc::new(SlotDirs::in_scratch(scratch, &project.root()));
    Project::load_in(&std::env::current_dir()?, Subcommand::Check, arguments, &[], Some(slot_dirs))
}

/// Returns the command of a build in `target_dir`, without overrides.
#[cfg(test)]
pub(super) fn cargo_for_tests(project: &Project, target_dir: &Path) -> std::process::Command {
    project
        .prepare_build(target_dir, &BuildOverrides::default(), BuildOutput::Shown(|_| {}))
        .expect("all is built")
        .command()
}
