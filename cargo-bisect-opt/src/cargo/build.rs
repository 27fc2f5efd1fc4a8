//! Building with cargo, and what came of it.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cargo_metadata::{Artifact, ArtifactProfile, BuildScript, CrateType, Message, TargetKind};

use super::{Arguments, CargoError, Config, Executable, Subcommand};
use crate::{
    codegen::wrapper,
    interrupt::Interrupt,
    process::{self, Ending, Job},
};

/// One build of what the user's arguments select.
#[derive(Debug)]
pub struct Build<'a> {
    /// Cargo's configuration.
    pub config: &'a Config,
    /// The user's arguments.
    pub arguments: &'a Arguments,
    /// Whether tests are built, or the program.
    pub subcommand: Subcommand,
    /// What the driver adds to the arguments: the program to build.
    pub more_arguments: &'a [OsString],
    /// Where to build.
    pub target_dir: &'a Path,
    /// Only these of the targets that the user's arguments choose among.
    pub only: Option<&'a [OsString]>,
    /// Settings that go over those of configuration files: the values of `--config`.
    pub settings: &'a [String],
    /// Flags for rustc.
    pub flags: Flags<'a>,
    /// Variables to set. Variables of build-time changes that are not among them are unset.
    pub variables: &'a BTreeMap<String, OsString>,
    /// Where cargo's progress and the compiler's messages go.
    pub output: Output<'a>,
}

/// Flags for rustc.
#[derive(Clone, Copy, Debug)]
pub enum Flags<'a> {
    /// The user's, ours, and these.
    Instrumented(&'a [String]),
    /// The user's: what is built is what cargo builds for the user.
    Plain,
}

/// Where the messages of a build go.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    /// To the user, as they come.
    Shown,
    /// To the end of this file.
    Log(&'a Path),
}

/// What a build made.
#[derive(Clone, Debug, Default)]
pub struct Artifacts {
    /// Where they were built.
    pub target_dir: PathBuf,
    /// Everything that can be started, also what is only there for others to start.
    pub executables: Vec<Executable>,
    /// What build scripts said.
    pub scripts: Vec<BuildScript>,
    /// Shared libraries.
    pub libraries: Vec<PathBuf>,
    /// The packages of which anything was built or is up to date, build scripts aside, by their IDs; and what their profile
    /// says, as far as cargo tells.
    pub packages: BTreeMap<String, BTreeMap<&'static str, String>>,
    /// How often rustc was run: what is up to date does not count.
    pub rustc_invocations: usize,
}

impl Build<'_> {
    /// Runs cargo. `scratch` is a directory for a file that nobody needs afterwards.
    ///
    /// # Errors
    /// If it fails, cannot be started, or is interrupted.
    pub fn run(&self, scratch: &Path, interrupt: &Interrupt) -> Result<Artifacts, CargoError> {
        let stderr = match self.output {
            Output::Shown => Stdio::inherit(),
            Output::Log(log) => fs_err::OpenOptions::new().create(true).append(true).open(log)?.into_parts().0.into(),
        };
        let log = scratch.join("messages.json");
        let command = self.command();
        let job = Job { command, timeout: None, log: &log, append: false, interrupt, markers: None, tail: usize::MAX };
        let finished = process::run_beside(job, stderr)?;
        let status = match finished.ending {
            Ending::Exited(status) => status,
            Ending::TimedOut | Ending::Interrupted => return Err(CargoError::Interrupted),
        };
        if !status.success() {
            let messages = match self.output {
                Output::Shown => String::new(),
                Output::Log(log) => String::from_utf8_lossy(&fs_err::read(log)?).trim_end().to_owned(),
            };
            return Err(CargoError::Build { command: self.describe(), status: process::describe(status), messages });
        }
        Ok(Artifacts { target_dir: self.target_dir.to_owned(), ..Artifacts::parse(&finished.output) })
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.config.cargo);
        command.args(self.argv()).current_dir(&self.config.directory);
        super::scrub(&mut command);
        match self.flags {
            Flags::Instrumented(more) => self.config.set_flags(&mut command, more),
            Flags::Plain => {
                self.config.set_plain_flags(&mut command);
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
        };
        let mut argv: Vec<OsString> = ours.iter().map(Into::into).collect();
        argv.push("--message-format=json-render-diagnostics".into());
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
        if self.subcommand == Subcommand::Test {
            // With the name of a test, cargo does not build examples.
            argv.extend(self.arguments.words.iter().cloned());
        }
        argv
    }

    /// The command that a user would type for it.
    fn describe(&self) -> String {
        let what = if self.subcommand == Subcommand::Test { "test --no-run" } else { "build" };
        let options = self.arguments.options.iter().chain(self.more_arguments).map(|word| word.to_string_lossy());
        [format!("cargo {what}").into()].into_iter().chain(options).collect::<Vec<_>>().join(" ")
    }
}

/// Where the wrapper keeps what the compiler says about what is built in this directory.
fn store(target_dir: &Path) -> PathBuf {
    target_dir.join("told")
}

impl Artifacts {
    /// Where the wrapper has kept what the compiler said about them.
    pub fn store(&self) -> PathBuf {
        store(&self.target_dir)
    }

    /// Reads cargo's messages, one a line.
    fn parse(output: &[u8]) -> Self {
        let mut artifacts = Self::default();
        for line in output.split(|&byte| byte == b'\n') {
            // What build tools print among them is not for us.
            match serde_json::from_slice(line) {
                Ok(Message::CompilerArtifact(artifact)) => artifacts.add(artifact),
                Ok(Message::BuildScriptExecuted(script)) => artifacts.scripts.push(script),
                _ => {}
            }
        }
        artifacts.executables.sort();
        artifacts
    }

    fn add(&mut self, artifact: Artifact) {
        self.rustc_invocations += usize::from(!artifact.fresh);
        let is_shared = |kind: &CrateType| matches!(kind, CrateType::DyLib | CrateType::CDyLib);
        if artifact.target.crate_types.iter().any(is_shared) {
            let is_library = |path: &&cargo_metadata::camino::Utf8PathBuf| {
                path.extension() == Some(std::env::consts::DLL_EXTENSION) && path.is_file()
            };
            self.libraries.extend(artifact.filenames.iter().filter(is_library).map(|path| path.clone().into()));
        }
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
mod tests {
    use super::*;

    fn config() -> Config {
        Config::load(&Arguments::default(), &std::env::vars_os().collect::<Vec<_>>()).unwrap()
    }

    fn argv(subcommand: Subcommand, line: &str, more: &[&str]) -> String {
        let words: Vec<OsString> = line.split_whitespace().map(Into::into).collect();
        let arguments = Arguments::parse(subcommand, &words);
        let more: Vec<OsString> = more.iter().map(Into::into).collect();
        let build = Build {
            config: &config(),
            arguments: &arguments,
            subcommand,
            more_arguments: &more,
            target_dir: Path::new("T"),
            only: None,
            settings: &[],
            flags: Flags::Instrumented(&[]),
            variables: &BTreeMap::new(),
            output: Output::Shown,
        };
        build.argv().join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn what_cargo_is_told() {
        let format = "--message-format=json-render-diagnostics --target-dir T";
        for (subcommand, line, more, expected) in [
            (Subcommand::Test, "", &[] as &[_], format!("test --no-run {format}")),
            (
                Subcommand::Test,
                "sort -p x -F f --no-run --message-format short --release",
                &[],
                format!("test --no-run {format} -p x -F f --release sort"),
            ),
            (Subcommand::Run, "-q file --flag", &["--bin", "x"], format!("build {format} -q --bin x")),
        ] {
            assert_eq!(argv(subcommand, line, more), expected, "{line}");
        }
    }

    #[test]
    fn messages_are_read_among_other_lines() {
        let artifact = |kind: &str, test: bool, fresh: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///w/p#0.1.0","manifest_path":"/w/p/Cargo.toml","target":{{"kind":["{kind}"],"crate_types":["bin"],"name":"n-{kind}","src_path":"/w/p/src/{kind}.rs","edition":"2024","doc":true,"doctest":true,"test":true}},"profile":{{"opt_level":"0","debuginfo":2,"debug_assertions":true,"overflow_checks":true,"test":{test}}},"features":[],"filenames":[],"executable":{executable},"fresh":{fresh}}}"#
            )
        };
        let lines = [
            "   noise".to_owned(),
            artifact("test", true, false, r#""/t/debug/deps/it-1""#),
            artifact("custom-build", false, false, "null"),
            artifact("lib", true, true, r#""/t/debug/deps/p-1""#),
            artifact("bin", false, true, r#""/t/debug/p""#),
            r#"{"reason":"build-script-executed","package_id":"path+file:///w/p#0.1.0","linked_libs":[],"linked_paths":["native=/t/x"],"cfgs":[],"env":[["A","b"]],"out_dir":"/t/out"}"#.to_owned(),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
            r#"{"reason":"of-the-future"}"#.to_owned(),
        ];
        let artifacts = Artifacts::parse(lines.join("\n").as_bytes());
        let names: Vec<_> = artifacts.executables.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["unittests src/lib.rs (n-lib)", "src/bin.rs (n-bin)", "src/test.rs (n-test)"]);
        assert_eq!(artifacts.rustc_invocations, 2);
        assert_eq!(artifacts.scripts[0].env, [("A".to_owned(), "b".to_owned())]);
    }
}
