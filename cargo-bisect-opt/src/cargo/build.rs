//! Building with cargo, and what came of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use cargo_metadata::{
    Artifact, ArtifactProfile, BuildScript, CrateType, Message, TargetKind, diagnostic::DiagnosticLevel,
};

use super::{Arguments, BuiltFile, CargoError, Config, Executable, Subcommand};
use crate::{
    compiler::wrapper,
    process::{self, Ending, ProcessSpec, interrupt::Interrupt},
};

/// One build of what the user's arguments select.
#[derive(Debug)]
pub(crate) struct Build<'a> {
    /// Cargo's configuration.
    pub(crate) config: &'a Config,
    /// The user's arguments.
    pub(crate) arguments: &'a Arguments,
    /// Whether tests are built, the program, or whatever the arguments say.
    pub(crate) subcommand: Subcommand,
    /// What the driver adds to the arguments: the program to build.
    pub(crate) more_arguments: &'a [OsString],
    /// Where to build.
    pub(crate) target_dir: &'a Path,
    /// Only these of the targets that the user's arguments choose among.
    pub(crate) only: Option<&'a [OsString]>,
    /// Settings that go over those of configuration files: the values of `--config`.
    pub(crate) settings: &'a [String],
    /// Flags for rustc.
    pub(crate) flags: Flags<'a>,
    /// Variables to set. Variables of build-time changes that are not among them are unset.
    pub(crate) variables: &'a BTreeMap<String, OsString>,
    /// Where cargo's progress and the compiler's messages go.
    pub(crate) output: BuildOutput<'a>,
}

/// Flags for rustc.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flags<'a> {
    /// The user's, ours, and these.
    Instrumented(&'a [String]),
    /// The user's, and these: what is built is what cargo builds for the user.
    Plain(&'a [String]),
}

/// Where the messages of a build go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BuildOutput<'a> {
    /// To the user: cargo's as they come, the compiler's errors at the end. Warnings of the user's crates are not about the
    /// search.
    Shown,
    /// To the end of this file.
    Log(&'a Path),
}

/// Has cargo build what does not depend on what fails.
pub(crate) const KEEP_GOING: &str = "--keep-going";

/// A build that has come to its end, well or not.
#[derive(Debug)]
pub(crate) struct Built {
    /// What it made, as far as it came.
    pub(crate) artifacts: Artifacts,
    /// How it ended; it was not interrupted.
    pub(crate) ending: Ending,
    /// Whether cargo came to compiling. If not, it failed for reasons of its own.
    pub(crate) began: bool,
    /// What cargo and the compiler said; empty if it was shown.
    pub(crate) messages: Vec<u8>,
}

impl Built {
    /// That it failed, in words for the user; `command` is what was run.
    pub(crate) fn to_error(&self, command: String) -> CargoError {
        let status = match self.ending {
            Ending::Exited(status) => process::describe(status),
            Ending::TimedOut | Ending::Stopped(_) | Ending::Interrupted => "timeout".to_owned(),
        };
        let messages = String::from_utf8_lossy(&self.messages).trim_end().to_owned();
        CargoError::Build { command, status, messages }
    }
}

/// What a build made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Artifacts {
    /// Whether the build succeeded: this is all then.
    pub(crate) is_complete: bool,
    /// Where they were built.
    pub(crate) target_dir: PathBuf,
    /// Everything that can be started, also what is only there for others to start.
    pub(crate) executables: Vec<Executable>,
    /// What build scripts said.
    pub(crate) scripts: Vec<BuildScript>,
    /// Shared libraries.
    pub(crate) libraries: Vec<PathBuf>,
    /// The packages of which anything was built or is up to date, build scripts aside, by their IDs; and what their profile
    /// says, as far as cargo tells.
    pub(crate) packages: BTreeMap<String, BTreeMap<&'static str, String>>,
    /// The names of the files that were made or are up to date, without directory and extension, and without the `lib` that
    /// libraries begin with.
    pub(crate) stems: BTreeSet<String>,
    /// What is started, and the shared libraries, to see whether someone exchanges them.
    pub(crate) built: Vec<BuiltFile>,
    /// How often rustc was run: what is up to date does not count.
    pub(crate) rustc_invocations: usize,
    /// Crates that were compiled and build scripts that were run, or were up to date.
    pub(crate) units: usize,
}

impl Build<'_> {
    /// Runs cargo. `scratch` is a directory for a file that nobody needs afterwards.
    ///
    /// # Errors
    /// If it fails, cannot be started, or is interrupted.
    pub(crate) fn run(&self, scratch: &Path, interrupt: &Interrupt) -> Result<Artifacts, CargoError> {
        let built = self.attempt(scratch, None, interrupt)?;
        if built.artifacts.is_complete { Ok(built.artifacts) } else { Err(built.to_error(self.describe())) }
    }

    /// The same, for a build that may fail. One that takes longer than `timeout` is ended, with the compilers that it has
    /// started; but what was compiled by then is kept, so it is taken up again as long as that leads any further.
    ///
    /// # Errors
    /// If it cannot be started, or is interrupted.
    pub(crate) fn attempt(
        &self,
        scratch: &Path,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
    ) -> Result<Built, CargoError> {
        let (mut invocations, mut reached) = (0, 0);
        loop {
            let mut built = self.attempt_once(scratch, timeout, interrupt)?;
            let Artifacts { units, rustc_invocations, .. } = built.artifacts;
            invocations += rustc_invocations;
            // Some are compiled anew each time, so that alone does not lead any further.
            if built.ending != Ending::TimedOut || rustc_invocations == 0 || units <= reached {
                built.artifacts.rustc_invocations = invocations;
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
        let (stderr, said_before) = match self.output {
            BuildOutput::Shown => (Stdio::inherit(), 0),
            BuildOutput::Log(log) => {
                let file = fs_err::OpenOptions::new().create(true).append(true).open(log)?;
                let length = file.metadata()?.len();
                (file.into_parts().0.into(), length)
            }
        };
        let log = scratch.join("messages.json");
        let command = self.command();
        let job = ProcessSpec { command, timeout, log: &log, append: false, interrupt, reader: None, tail: usize::MAX };
        let finished = process::run_beside(job, stderr)?;
        if finished.ending == Ending::Interrupted {
            return Err(CargoError::Interrupted);
        }
        let mut messages = match self.output {
            BuildOutput::Shown => {
                anstream::eprint!("{}", errors(&finished.output));
                Vec::new()
            }
            BuildOutput::Log(log) => fs_err::read(log)?,
        };
        messages.drain(..usize::try_from(said_before).map_or(messages.len(), |before| before.min(messages.len())));
        let (artifacts, began) = Artifacts::parse(&finished.output);
        let is_complete = matches!(finished.ending, Ending::Exited(status) if status.success());
        let target_dir = self.target_dir.to_owned();
        let built = artifacts.executables.iter().map(|executable| &executable.path).chain(&artifacts.libraries);
        let built = built.map(|path| BuiltFile::new(path)).collect();
        let artifacts = Artifacts { is_complete, target_dir, built, ..artifacts };
        Ok(Built { artifacts, ending: finished.ending, began, messages })
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.config.cargo);
        command.args(self.argv()).current_dir(&self.config.directory);
        super::scrub(&mut command);
        match self.flags {
            Flags::Instrumented(more) => self.config.set_flags(&mut command, more),
            Flags::Plain(more) => {
                self.config.set_plain_flags(&mut command, more);
                command.env(wrapper::STORE, store(self.target_dir));
            }
        }
        if self.config.has_build_dir {
            // Else intermediate files would go where the user's are.
            command.env("CARGO_BUILD_BUILD_DIR", self.target_dir);
        }
        command.envs(self.variables);
        command
    }

    fn argv(&self) -> Vec<OsString> {
        let ours: &[&str] = match self.subcommand {
            Subcommand::Test => &["test", "--no-run"],
            Subcommand::Run => &["build"],
            // With the first error, cargo would stop wherever it happens to be; which errors there are would be chance.
            Subcommand::Build | Subcommand::Check if self.arguments.options.iter().any(|word| word == KEEP_GOING) => {
                &[self.subcommand.name()]
            }
            Subcommand::Build | Subcommand::Check => &[self.subcommand.name(), KEEP_GOING],
        };
        let mut argv: Vec<OsString> = ours.iter().map(Into::into).collect();
        argv.push(
            match self.output {
                BuildOutput::Shown => "--message-format=json-diagnostic-rendered-ansi",
                BuildOutput::Log(_) => "--message-format=json-render-diagnostics",
            }
            .into(),
        );
        argv.extend(["--target-dir".into(), self.target_dir.into()]);
        match self.only {
            None => argv.extend(self.arguments.options.iter().cloned()),
            Some(targets) => {
                argv.extend(self.arguments.options_of_any_target());
                argv.extend(targets.iter().cloned());
            }
        }
        argv.extend(self.settings.iter().flat_map(|setting| ["--config".into(), setting.into()]));
        argv.extend(self.more_arguments.iter().cloned());
        if self.subcommand != Subcommand::Run {
            // With the name of a test, cargo does not build examples. Other words it complains about.
            argv.extend(self.arguments.words.iter().cloned());
        }
        argv
    }

    /// The command that a user would type for it.
    pub(super) fn describe(&self) -> String {
        let what = match self.subcommand {
            Subcommand::Test => "test --no-run",
            Subcommand::Run | Subcommand::Build => "build",
            Subcommand::Check => "check",
        };
        let options = self.arguments.options.iter().chain(self.more_arguments).map(|word| word.to_string_lossy());
        [format!("cargo {what}").into()].into_iter().chain(options).collect::<Vec<_>>().join(" ")
    }
}

/// The compiler's errors among cargo's messages, as it renders them, each once: a library and its tests have the same ones.
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

/// Where the wrapper keeps what the compiler says about what is built in this directory.
fn store(target_dir: &Path) -> PathBuf {
    target_dir.join("told")
}

impl Artifacts {
    /// Where the wrapper has kept what the compiler said about them.
    pub(crate) fn store(&self) -> PathBuf {
        store(&self.target_dir)
    }

    /// A file that is not the one that was built any more, if there is one.
    pub(crate) fn exchanged(&self) -> Option<&Path> {
        self.built.iter().find(|file| file.is_exchanged()).map(BuiltFile::path)
    }

    /// Reads cargo's messages, one a line. The second part of the result is whether cargo came to compiling.
    fn parse(output: &[u8]) -> (Self, bool) {
        let (mut artifacts, mut began) = (Self::default(), false);
        for line in output.split(|&byte| byte == b'\n') {
            // What build tools print among them is not for us.
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
        self.rustc_invocations += usize::from(!artifact.fresh);
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
            self.executables.extend(Executable::of(artifact));
        }
    }
}

/// The keys of a profile that cargo tells, with their values as TOML.
fn profile(profile: &ArtifactProfile) -> BTreeMap<&'static str, String> {
    let level = &profile.opt_level;
    let level = if level.parse::<u8>().is_ok() { level.clone() } else { format!("\"{level}\"") };
    [
        ("opt-level", level),
        ("debug-assertions", profile.debug_assertions.to_string()),
        ("overflow-checks", profile.overflow_checks.to_string()),
    ]
    .into()
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
