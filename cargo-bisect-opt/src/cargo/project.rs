//! A project as one command line of cargo's sees it: built, and its executables started, as often as needed.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    Arguments, Artifacts, Build, BuildOutput, Built, CargoError, Config, Executable, Launch, SlotDirs, Subcommand,
    Workspace,
    build::Flags,
    executable::LaunchContext,
    graph::Package,
    profiles::Profiles,
    toggles::{self, Libraries, Toggle},
};
use crate::process::{self, Ending, ProcessSpec, interrupt::Interrupt, owned_dir::OwnedDir};

/// Listing the toggles takes no time; a program that does not come back is not listing them.
const LISTING: Duration = Duration::from_secs(30);
/// More than any list.
const LIST: usize = 64 << 20;

/// A project, with the user's arguments and configuration.
#[derive(Debug)]
pub(crate) struct Project {
    /// Whether it is tested, its program run, or only built.
    pub(crate) subcommand: Subcommand,
    /// Where cargo works.
    pub(crate) directory: PathBuf,
    arguments: Arguments,
    config: Config,
    workspace: Workspace,
    /// Says which program is built, if the user did not.
    program: Vec<OsString>,
    slot_dirs: SlotDirs,
    libdir: Option<PathBuf>,
    /// The words behind `--`.
    target_words: Vec<OsString>,
}

/// What one build has beyond the user's arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuildOverrides {
    /// Variables, for the compiler to see.
    pub(crate) variables: BTreeMap<String, OsString>,
    /// Flags for the compiler.
    pub(crate) flags: Vec<String>,
    /// Settings that go over those of configuration files, as for `--config`.
    pub(crate) settings: Vec<String>,
    /// Only these of the targets that the user's arguments choose among, as cargo's options.
    pub(crate) only: Option<Vec<OsString>>,
    /// Nothing of ours, and no debug information that the user has not asked for.
    pub(crate) is_plain: bool,
}

impl Project {
    /// Reads what is needed before a build: `cargo_words` are cargo's arguments, `target_words` those behind `--`.
    ///
    /// # Errors
    /// If they, the configuration or the workspace are not as they should be.
    pub(crate) fn load(
        subcommand: Subcommand,
        cargo_words: &[OsString],
        target_words: &[OsString],
    ) -> Result<Self, CargoError> {
        let arguments = Arguments::parse(subcommand, cargo_words);
        if arguments.doc {
            return Err(CargoError::Usage(
                "documentation tests cannot be searched: rustdoc compiles and runs them in one go\n\
                 help: make a test of the example, and search that"
                    .to_owned(),
            ));
        }
        if let (true, Some(word)) = (subcommand.is_build(), arguments.words.iter().chain(target_words).next()) {
            let (name, word) = (subcommand.name(), word.display());
            return Err(CargoError::Usage(format!("`cargo {name}` takes options only, and `{word}` is none")));
        }
        let config = Config::load(&arguments, &std::env::vars_os().collect::<Vec<_>>())?;
        let workspace = Workspace::load(&config, &arguments)?;
        let program = match subcommand {
            Subcommand::Run => workspace.binary(&arguments)?,
            Subcommand::Test | Subcommand::Build | Subcommand::Check => Vec::new(),
        };
        Ok(Self {
            subcommand,
            directory: config.directory.clone(),
            slot_dirs: SlotDirs::new(&workspace.build_directory(&config, &arguments), &workspace.root()),
            libdir: config.target_libdir(),
            arguments,
            config,
            workspace,
            program,
            target_words: target_words.to_vec(),
        })
    }

    /// See [`SlotDirs::scratch`].
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn scratch(&self) -> io::Result<OwnedDir> {
        self.slot_dirs.scratch()
    }

    /// The directory of the workspace.
    pub(crate) fn root(&self) -> PathBuf {
        self.workspace.root()
    }

    /// What the compiler in use says of itself; empty if it does not.
    pub(crate) fn rustc_version(&self) -> String {
        self.config.rustc_version().unwrap_or_default()
    }

    /// What may be searched by how it is compiled.
    ///
    /// # Errors
    /// If cargo cannot say what the packages are.
    pub(crate) fn packages(&self) -> Result<Vec<Package>, CargoError> {
        let tests = self.arguments.has_development(self.subcommand);
        self.workspace.graph(&self.config, &self.arguments, tests, &self.profiles().named_packages())
    }

    /// Whether the user says which packages of the workspace are built.
    pub(crate) fn names_packages(&self) -> bool {
        !self.arguments.packages.is_empty()
    }

    /// Whether the profile of this build has the crates optimized together where they are linked.
    pub(crate) fn has_lto(&self) -> bool {
        self.profiles().has_lto(&self.profile(), |name| std::env::var(name).ok())
    }

    fn profiles(&self) -> Profiles {
        Profiles::read(&self.root(), &self.config.directory, &self.arguments.config)
    }

    /// The target that is compiled for.
    pub(crate) fn triple(&self) -> &str {
        &self.config.triple
    }

    /// The name of the profile.
    pub(crate) fn profile(&self) -> String {
        self.arguments.profile()
    }

    /// The user's own wrapper of rustc.
    pub(crate) fn rustc_wrapper(&self) -> Option<&Path> {
        self.config.rustc_wrapper.as_deref()
    }

    /// Builds what is to be run. `scratch` is a directory for files that nobody needs afterwards.
    ///
    /// # Errors
    /// See [`Build::run`].
    pub(crate) fn build(
        &self,
        with: &BuildOverrides,
        output: BuildOutput<'_>,
        scratch: &Path,
        interrupt: &Interrupt,
    ) -> Result<Artifacts, CargoError> {
        self.build_in(0, with, output, scratch, interrupt)
    }

    /// As [`build`](Self::build), beside builds in other slots. With other flags nothing that was built before is of use, so a
    /// slot starts with a copy of that only where there are none.
    ///
    /// # Errors
    /// See [`Build::run`]; or if there is no room for the slot.
    pub(crate) fn build_in(
        &self,
        slot: usize,
        with: &BuildOverrides,
        output: BuildOutput<'_>,
        scratch: &Path,
        interrupt: &Interrupt,
    ) -> Result<Artifacts, CargoError> {
        let target_dir = self.slot_dirs.get(slot, with.flags.is_empty(), interrupt)?;
        self.prepare_build(target_dir.path(), with, output).run(scratch, interrupt)
    }

    /// The same, for a build that may fail, and that may take so long.
    ///
    /// # Errors
    /// See [`Build::attempt`]; or if there is no room for the slot.
    pub(crate) fn attempt_in(
        &self,
        slot: usize,
        with: &BuildOverrides,
        output: BuildOutput<'_>,
        scratch: &Path,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
    ) -> Result<Built, CargoError> {
        let target_dir = self.slot_dirs.get(slot, with.flags.is_empty(), interrupt)?;
        self.prepare_build(target_dir.path(), with, output).attempt(scratch, timeout, interrupt)
    }

    /// That a build failed, in words for the user.
    pub(crate) fn build_error(&self, built: &Built) -> CargoError {
        built.to_error(self.prepare_build(Path::new(""), &BuildOverrides::default(), BuildOutput::Shown).describe())
    }

    fn prepare_build<'a>(
        &'a self,
        target_dir: &'a Path,
        with: &'a BuildOverrides,
        output: BuildOutput<'a>,
    ) -> Build<'a> {
        Build {
            config: &self.config,
            arguments: &self.arguments,
            subcommand: self.subcommand,
            more_arguments: &self.program,
            target_dir,
            only: with.only.as_deref(),
            settings: &with.settings,
            flags: if with.is_plain { Flags::Plain(&with.flags) } else { Flags::Instrumented(&with.flags) },
            variables: &with.variables,
            output,
        }
    }

    /// The executables that cargo would run, in its order.
    ///
    /// # Errors
    /// If there is none, but for a subcommand that runs none; or several programs, of which cargo would run one.
    pub(crate) fn executables<'a>(&self, artifacts: &'a Artifacts) -> Result<Vec<&'a Executable>, CargoError> {
        let all = artifacts.executables.iter();
        match self.subcommand {
            Subcommand::Build | Subcommand::Check => Ok(Vec::new()),
            Subcommand::Test => {
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

    /// How cargo would start an executable.
    pub(crate) fn launch(&self, artifacts: &Artifacts, executable: &Executable) -> Launch {
        let launcher = LaunchContext {
            config: &self.config,
            workspace: &self.workspace,
            artifacts,
            libdir: self.libdir.as_deref(),
        };
        launcher.launch(executable, self.subcommand)
    }

    /// The arguments of the executables.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = self.arguments.words.clone();
        if self.subcommand == Subcommand::Run && !arguments.is_empty() && !self.target_words.is_empty() {
            // Behind the first of the program's arguments, cargo does not take `--` for itself.
            arguments.push("--".into());
        }
        arguments.extend(self.target_words.iter().cloned());
        arguments
    }

    /// Whether the command line says which tests are run.
    pub(crate) fn names_tests(&self) -> bool {
        !self.arguments.words.is_empty() || !self.target_words.is_empty()
    }

    /// The toggles of everything that was built, also of programs that only tests start.
    ///
    /// # Errors
    /// If an executable cannot be read or started, or does not come back.
    pub(crate) fn toggles(
        &self,
        artifacts: &Artifacts,
        scratch: &Path,
        interrupt: &Interrupt,
    ) -> Result<BTreeSet<Toggle>, CargoError> {
        let libraries = Libraries::among(artifacts.libraries.iter().cloned())?;
        let log = scratch.join("toggles.log");
        let mut found = BTreeSet::new();
        for executable in &artifacts.executables {
            if !libraries.or_runtime_in(&fs_err::read(&executable.path)?) {
                continue;
            }
            // Should it not list its toggles after all, a test executable lists its tests, and nothing is run.
            let arguments: &[OsString] = if executable.is_test { &["--list".into()] } else { &[] };
            let mut command = self.launch(artifacts, executable).command(arguments);
            command.env(toggles::VARIABLE, "1");
            let job = ProcessSpec {
                command,
                timeout: Some(LISTING),
                log: &log,
                append: false,
                interrupt,
                reader: None,
                tail: LIST,
            };
            let finished = process::run(job)?;
            match finished.ending {
                Ending::Interrupted => return Err(CargoError::Interrupted),
                Ending::TimedOut | Ending::Stopped(_) => {
                    return Err(CargoError::Nothing(format!(
                        "{executable} did not list its toggles within {LISTING:?}"
                    )));
                }
                Ending::Exited(_) => found.extend(toggles::parse(&finished.output)),
            }
        }
        Ok(found)
    }

    /// The command that a user would type for it, on one line.
    pub(crate) fn command_line(&self) -> String {
        process::shell::line(self.command_words(&[], &self.target_words))
    }

    /// The words with which a user would have cargo build and run, with these settings, and these arguments behind `--`.
    pub(crate) fn command_words(&self, settings: &[String], target_words: &[OsString]) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["cargo".into(), self.subcommand.name().into()];
        words.extend(self.arguments.typed.iter().cloned());
        // Of two that say different things, the last counts.
        words.extend(settings.iter().flat_map(|setting| ["--config".into(), setting.into()]));
        if !target_words.is_empty() {
            words.push("--".into());
            words.extend(target_words.iter().cloned());
        }
        words
    }

    /// The user's flags for the compiler.
    pub(crate) fn flags(&self) -> &[String] {
        &self.config.rustflags
    }
}

#[cfg(test)]
impl Project {
    /// Cargo as it is run for a build.
    pub(crate) fn cargo_for_tests(&self, with: &BuildOverrides) -> std::process::Command {
        self.prepare_build(&self.target_dir(), with, BuildOutput::Shown).command()
    }

    /// Where it builds.
    pub(crate) fn target_dir(&self) -> PathBuf {
        self.slot_dirs.get(0, false, &Interrupt::default()).unwrap().path().to_owned()
    }
}
