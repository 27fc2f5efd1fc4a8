//! Builds with cargo, and their results.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use cargo_metadata::{
    Artifact, ArtifactProfile, BuildScript, CrateType, Message, TargetKind, diagnostic::DiagnosticLevel,
};

use bisect_core::protocol::names;
use serde::{Deserialize, Serialize};

use super::{
    Arguments, BuiltFile, CargoError, Config, Executable, Subcommand, build_progress::BuildProgress, feature_options,
};
use crate::{
    compiler::wrapper,
    process::{self, Ending, ProcessSpec, ReadAlong, interrupt::Interrupt, own_file, variables::Variables},
    run::in_flight::RunEntry,
    stderr,
};

/// One build of the targets that the user's arguments select.
#[derive(Debug)]
pub(crate) struct Build<'a> {
    /// Cargo's configuration.
    pub(crate) config: &'a Config,
    /// The user's arguments.
    pub(crate) arguments: &'a Arguments,
    /// The subcommand, which decides whether tests, a program or the selected targets are built.
    pub(crate) subcommand: Subcommand,
    /// The option that selects the program to build.
    pub(crate) more_arguments: &'a [OsString],
    /// The target directory.
    pub(crate) target_dir: &'a Path,
    /// The user's options for cargo, or those that replace them.
    pub(crate) options: Vec<OsString>,
    /// Options that replace the user's choice of features.
    pub(crate) features: Option<&'a [OsString]>,
    /// Values for `--config`, which override configuration files.
    pub(crate) settings: &'a [String],
    /// Flags for rustc.
    pub(crate) flags: Flags<'a>,
    /// Variables to set. All other variables of build-time changes are unset.
    pub(crate) variables: &'a Variables,
    /// The destination of cargo's progress and the compiler's messages.
    pub(crate) output: BuildOutput<'a>,
}

/// Flags for rustc.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flags<'a> {
    /// The user's flags, the driver's, and these.
    Instrumented(&'a [String]),
    /// The user's flags and these: the artifacts are those that cargo builds for the user.
    Plain(&'a [String]),
}

/// The destination of the messages of a build.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BuildOutput<'a> {
    /// The terminal: cargo writes its messages there at once, and this function the compiler's errors at the end.
    /// Warnings are left out, since they are not about the search.
    Shown(fn(&str)),
    /// The end of this file.
    Log(&'a Path),
    /// The end of the log of a run, whose entry among those in flight shows the progress.
    Run {
        /// The file.
        log: &'a Path,
        /// The entry of the run.
        seat: &'a RunEntry,
        /// The number of units of an earlier build, if there was one.
        total: Option<usize>,
    },
}

/// Returns true if cargo reads flags of the compiler from this variable.
fn sets_flags(name: &OsStr) -> bool {
    name.to_string_lossy().ends_with("RUSTFLAGS")
}

/// The option that makes cargo continue after an error with crates that do not depend on the failed one.
pub(crate) const KEEP_GOING: &str = "--keep-going";

/// A build that has ended, successfully or not.
#[derive(Debug)]
pub(crate) struct Built {
    /// The command that a user would type for it.
    command: String,
    /// Its artifacts, as far as they were built.
    pub(crate) artifacts: Artifacts,
    /// The way it ended; it was not interrupted.
    pub(crate) ending: Ending,
    /// Set if cargo started to compile. If not, it failed before.
    pub(crate) began: bool,
    /// The messages of cargo and the compiler; empty if they were shown.
    pub(crate) messages: Vec<u8>,
}

impl Built {
    /// Returns a successful result without artifacts.
    pub(super) fn of_nothing(target_dir: &Path) -> Self {
        let artifacts = Artifacts { is_complete: true, target_dir: target_dir.to_owned(), ..Artifacts::default() };
        let (command, messages) = (String::new(), Vec::new());
        Self { command, artifacts, ending: Ending::Exited(ExitStatus::default()), began: true, messages }
    }

    /// Returns the error for a failed build.
    pub(crate) fn to_error(&self) -> CargoError {
        let status = match self.ending {
            Ending::Exited(status) => process::describe(status),
            Ending::TimedOut | Ending::Stopped(_) | Ending::Interrupted => "timeout".to_owned(),
        };
        let messages = String::from_utf8_lossy(&self.messages).trim_end().to_owned();
        CargoError::Build { command: self.command.clone(), status, messages }
    }
}

/// The artifacts of a build.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Artifacts {
    /// Set if the build succeeded, so that no artifact is missing.
    pub(crate) is_complete: bool,
    /// The target directory.
    pub(crate) target_dir: PathBuf,
    /// All executables, also those that only tests start.
    pub(crate) executables: Vec<Executable>,
    /// The output of build scripts.
    pub(crate) scripts: Vec<BuildScript>,
    /// The shared libraries.
    pub(crate) libraries: Vec<PathBuf>,
    /// The settings of the profile that cargo reports, by the ID of each package with a current artifact other than a
    /// build script.
    pub(crate) packages: BTreeMap<String, BTreeMap<String, String>>,
    /// The names of the current files, without directory, extension and the `lib` of libraries.
    pub(crate) stems: BTreeSet<String>,
    /// The executables and shared libraries, to detect whether another process replaces them.
    pub(crate) built: Vec<BuiltFile>,
    /// The number of crates that were compiled without an error, and were not up to date.
    pub(crate) compiled_crates: usize,
    /// The number of compiled crates and executed build scripts, including those that were up to date.
    pub(crate) units: usize,
}

impl Build<'_> {
    /// Runs a build that may fail. A build that takes longer than `timeout` is ended, with its compilers, and repeated
    /// as long as it makes progress: crates that were compiled are kept. `scratch` is a directory for a temporary file.
    ///
    /// # Errors
    /// If it cannot be started, or is interrupted.
    pub(crate) fn attempt(
        &self,
        scratch: &Path,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
    ) -> Result<Built, CargoError> {
        let (mut crates, mut reached) = (0, 0);
        loop {
            let mut built = self.attempt_once(scratch, timeout, interrupt)?;
            let Artifacts { units, compiled_crates, .. } = built.artifacts;
            crates += compiled_crates;
            // Some crates are compiled each time, which alone is no progress.
            if built.ending != Ending::TimedOut || compiled_crates == 0 || units <= reached {
                built.artifacts.compiled_crates = crates;
                return Ok(built);
            }
            reached = units;
        }
    }

    fn attempt_once(
        &self,
        scratch: &Path,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
    ) -> Result<Built, CargoError> {
        let (stderr, length_before) = match self.output {
            BuildOutput::Shown(_) => (Stdio::inherit(), 0),
            BuildOutput::Log(log) | BuildOutput::Run { log, .. } => {
                let file = own_file::append(log)?;
                let length = file.metadata()?.len();
                (file.into_parts().0.into(), length)
            }
        };
        let log = scratch.join("messages.json");
        let command = self.command();
        let mut progress = match self.output {
            BuildOutput::Run { seat, total, .. } => Some(BuildProgress::new(seat, total)),
            BuildOutput::Shown(_) | BuildOutput::Log(_) => None,
        };
        let reader = progress.as_mut().map(|progress| progress as &mut dyn ReadAlong);
        let spec = ProcessSpec { command, timeout, log: &log, append: false, interrupt, reader, tail: usize::MAX };
        let finished = match self.output {
            // Cargo writes there itself.
            BuildOutput::Shown(_) => stderr::beside_live_lines(|| process::run_except_stderr(spec, stderr))?,
            BuildOutput::Log(_) | BuildOutput::Run { .. } => process::run_except_stderr(spec, stderr)?,
        };
        if finished.ending == Ending::Interrupted {
            return Err(CargoError::Interrupted);
        }
        let mut messages = match self.output {
            BuildOutput::Shown(show) => {
                show(&errors(&finished.output));
                Vec::new()
            }
            BuildOutput::Log(log) | BuildOutput::Run { log, .. } => own_file::read(log)?,
        };
        messages.drain(..usize::try_from(length_before).map_or(messages.len(), |before| before.min(messages.len())));
        if let Some(why) = wrapper::own_failure(&messages) {
            // Its text has the number of the system's error, if there was one.
            return Err(CargoError::Io(io::Error::other(why)));
        }
        let (artifacts, began) = Artifacts::parse(&finished.output);
        let is_complete = matches!(finished.ending, Ending::Exited(status) if status.success());
        let target_dir = self.target_dir.to_owned();
        let built = artifacts.executables.iter().map(|executable| &executable.path).chain(&artifacts.libraries);
        let built = built.map(|path| BuiltFile::new(path)).collect();
        let artifacts = Artifacts { is_complete, target_dir, built, ..artifacts };
        Ok(Built { command: self.describe(), artifacts, ending: finished.ending, began, messages })
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.config.cargo);
        command.args(self.argv()).current_dir(&self.config.directory);
        super::remove_variables(&mut command, self.config.is_in_copy);
        match self.flags {
            Flags::Instrumented(more) => self.config.set_flags(&mut command, more),
            Flags::Plain(more) => {
                // Flags of the compiler may be among the variables that differ. Then cargo reads them itself.
                if !self.variables.names().any(sets_flags) {
                    self.config.set_plain_flags(&mut command, more);
                }
                command.env(names::OPT_STORE, store(self.target_dir));
            }
        }
        if self.config.has_build_dir {
            // Otherwise intermediate files would mix with the user's.
            command.env("CARGO_BUILD_BUILD_DIR", self.target_dir);
        }
        self.variables.apply(&mut command);
        command
    }

    fn argv(&self) -> Vec<OsString> {
        let ours: &[&str] = match self.subcommand {
            Subcommand::Test | Subcommand::Nextest => &["test", "--no-run"],
            Subcommand::Run => &["build"],
            // Without it, cargo would stop at the first error, and the set of errors would be a matter of chance.
            Subcommand::Build | Subcommand::Check if self.arguments.options.iter().any(|word| word == KEEP_GOING) => {
                &[self.subcommand.name()]
            }
            Subcommand::Build | Subcommand::Check => &[self.subcommand.name(), KEEP_GOING],
        };
        let mut argv: Vec<OsString> = ours.iter().map(Into::into).collect();
        argv.push(
            match self.output {
                BuildOutput::Shown(_) => "--message-format=json-diagnostic-rendered-ansi",
                BuildOutput::Log(_) | BuildOutput::Run { .. } => "--message-format=json-render-diagnostics",
            }
            .into(),
        );
        argv.extend(["--target-dir".into(), self.target_dir.into()]);
        argv.extend(self.with_features(&self.options));
        argv.extend(self.settings.iter().flat_map(|setting| ["--config".into(), setting.into()]));
        argv.extend(self.more_arguments.iter().cloned());
        if self.subcommand != Subcommand::Run {
            // With the name of a test, cargo does not build examples. It rejects other words.
            argv.extend(self.arguments.words.iter().cloned());
        }
        argv
    }

    /// Returns these options with the features of this build.
    fn with_features(&self, options: &[OsString]) -> Vec<OsString> {
        match self.features {
            Some(features) => feature_options::replaced(self.subcommand, options, features),
            None => options.to_vec(),
        }
    }

    /// Returns the command that a user would type for it.
    fn describe(&self) -> String {
        let what = match self.subcommand {
            Subcommand::Test | Subcommand::Nextest => "test --no-run",
            Subcommand::Run | Subcommand::Build => "build",
            Subcommand::Check => "check",
        };
        let options = self.with_features(&self.arguments.options);
        let options = options.iter().chain(self.more_arguments).map(|word| word.to_string_lossy());
        [format!("cargo {what}").into()].into_iter().chain(options).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the compiler's rendered errors among cargo's messages, each once: a library and its tests share them.
fn errors(output: &[u8]) -> String {
    let mut errors: Vec<String> = Vec::new();
    for line in output.split(|&byte| byte == b'\n') {
        if let Ok(Message::CompilerMessage(message)) = serde_json::from_slice(line) {
            let message = message.message;
            let is_error =
                matches!(message.level, DiagnosticLevel::Error | DiagnosticLevel::Ice | DiagnosticLevel::FailureNote);
            errors.extend(message.rendered.filter(|rendered| is_error && !errors.contains(rendered)));
        }
    }
    errors.concat()
}

/// Returns the directory in which the wrapper stores the compiler's reports about a target directory.
fn store(target_dir: &Path) -> PathBuf {
    target_dir.join("compiler-reports")
}

impl Artifacts {
    /// Returns the directory in which the wrapper has stored the compiler's reports.
    pub(crate) fn store(&self) -> PathBuf {
        store(&self.target_dir)
    }

    /// Returns a file that another process has replaced since the build, if there is one.
    pub(crate) fn exchanged(&self) -> Option<&Path> {
        self.built.iter().find(|file| file.is_exchanged()).map(BuiltFile::path)
    }

    /// Parses cargo's messages, one a line. The second part of the result says whether cargo started to compile.
    fn parse(output: &[u8]) -> (Self, bool) {
        let (mut artifacts, mut began) = (Self::default(), false);
        for line in output.split(|&byte| byte == b'\n') {
            // Other lines are output of build tools.
            match serde_json::from_slice(line) {
                Ok(Message::CompilerArtifact(artifact)) => artifacts.add(artifact),
                Ok(Message::BuildScriptExecuted(script)) => {
                    artifacts.units += 1;
                    artifacts.scripts.push(script);
                }
                Ok(Message::BuildFinished(_)) => began = true,
                _ => {}
            }
        }
        artifacts.executables.sort();
        (artifacts, began)
    }

    fn add(&mut self, artifact: Artifact) {
        self.units += 1;
        self.compiled_crates += usize::from(!artifact.fresh);
        let is_shared = |kind: &CrateType| matches!(kind, CrateType::DyLib | CrateType::CDyLib);
        if artifact.target.crate_types.iter().any(is_shared) {
            let is_library = |path: &&cargo_metadata::camino::Utf8PathBuf| {
                path.extension() == Some(std::env::consts::DLL_EXTENSION) && path.is_file()
            };
            self.libraries.extend(artifact.filenames.iter().filter(is_library).map(|path| path.clone().into()));
        }
        let stems = artifact.filenames.iter().filter_map(|path| path.file_stem());
        self.stems.extend(stems.map(|stem| stem.strip_prefix("lib").unwrap_or(stem).to_owned()));
        if !artifact.target.kind.contains(&TargetKind::CustomBuild) {
            self.packages.insert(artifact.package_id.repr.clone(), profile(&artifact.profile));
            self.executables.extend(Executable::of_artifact(artifact));
        }
    }
}

/// Returns the keys of a profile that cargo reports, with their values as TOML.
fn profile(profile: &ArtifactProfile) -> BTreeMap<String, String> {
    let level = &profile.opt_level;
    let level = if level.parse::<u8>().is_ok() { level.clone() } else { format!("\"{level}\"") };
    let values = [
        ("opt-level", level),
        ("debug-assertions", profile.debug_assertions.to_string()),
        ("overflow-checks", profile.overflow_checks.to_string()),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
