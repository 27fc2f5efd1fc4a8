//! Test executables that run tests by name, and the victim among their tests.

use std::{collections::BTreeMap, ffi::OsString, path::Path, sync::Arc, time::Duration};

use super::options::VictimOptions;
use crate::{
    cargo::{Artifacts, BuildOutput, BuildOverrides, CargoError, Executable, Launch, Project, libtest},
    output::terminal,
    process::{
        self, Ending, Finished, ProcessSpec, interrupt::Interrupt, scratch_dir::ScratchDir, shell, slots::Slots,
    },
    run::outcome::SEARCHED,
    targets::project::ProjectOptions,
};

/// The time in which an executable must list its tests.
const LISTING_TIMEOUT: Duration = Duration::from_secs(30);

/// More threads than usual are at least this many, if there are as many tests, and this many times more than usual.
const MIN_MORE_THREADS: usize = 16;
const MORE_THREADS_FACTOR: usize = 4;

/// A test executable, with the tests that the user selects.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    /// Its name, as cargo shows it.
    pub(crate) name: String,
    /// The command line of the user.
    pub(crate) command_line: String,
    /// The words with which cargo builds and runs only this executable.
    cargo_words: Vec<OsString>,
    /// The directory of the workspace.
    pub(crate) root: std::path::PathBuf,
    /// The tests, in the order of the harness. If they run one after the other, this is their order.
    pub(crate) tests: Vec<String>,
    /// The tests that the harness leaves out, unless the user asks for them.
    ignored: Vec<String>,
    /// All tests of an executable that takes only one name: those that are not to run are left out by name.
    skipped: Option<Vec<String>>,
    /// The number of tests that usually run at once.
    pub(crate) threads: usize,
    /// A number of tests that exceeds that of processors; `None` if the user or the harness decides, or if there are too
    /// few tests.
    pub(crate) more_threads: Option<usize>,
    pub(super) launch: Launch,
    /// The user's arguments, without names of tests.
    arguments: Vec<OsString>,
    libraries: Vec<std::path::PathBuf>,
}

/// A reason why there is no victim.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SuiteError {
    /// The tests cannot be built, listed or run.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// The name is wrong, or a choice is missing.
    #[error("{0}")]
    Usage(String),
    /// There is nothing to search.
    #[error("{0}")]
    Nothing(String),
}

/// Builds the tests of a project, and lists them.
///
/// # Errors
/// If they cannot be built, or if no executable lists its tests.
pub(crate) fn suites(options: &ProjectOptions, interrupt: &Interrupt) -> Result<Vec<Arc<Suite>>, SuiteError> {
    let project = Project::load(options.subcommand, &options.cargo, &options.target)?;
    let scratch = ScratchDir::new().map_err(CargoError::from)?;
    let log = scratch.path().join("build.log");
    let output = if options.quiet { BuildOutput::Log(&log) } else { BuildOutput::Shown(terminal::show_lines) };
    let plain = BuildOverrides { is_plain: true, ..BuildOverrides::default() };
    let artifacts = project.build_in(0, &plain, output, scratch.path(), interrupt)?;
    let executables = project.executables(&artifacts)?;
    let suites = executables.into_iter().map(|executable| Suite::list(&project, &artifacts, executable, interrupt));
    let suites: Vec<_> = suites.collect::<Result<_, _>>()?;
    let suites: Vec<_> = suites.into_iter().filter(|suite| !suite.tests.is_empty()).map(Arc::new).collect();
    if suites.is_empty() {
        return Err(SuiteError::Nothing(format!(
            "`{}` lists no tests: --victim needs the standard test harness, or one with the same options",
            project.command_line()
        )));
    }
    Ok(suites)
}

impl Suite {
    fn list(
        project: &Project,
        artifacts: &Artifacts,
        executable: &Executable,
        interrupt: &Interrupt,
    ) -> Result<Self, CargoError> {
        let (launch, arguments) = (project.launch(artifacts, executable), project.arguments());
        let mut suite = Self {
            name: executable.to_string(),
            command_line: project.command_line(),
            cargo_words: project.command_words(&BuildOverrides::default(), &project.options_for_only(executable), &[]),
            root: project.root(),
            tests: Vec::new(),
            ignored: Vec::new(),
            skipped: None,
            threads: libtest::threads(&arguments),
            more_threads: None,
            launch,
            arguments: libtest::without_names(&arguments),
            libraries: artifacts.libraries.clone(),
        };
        let selects = |option: &&str| arguments.iter().any(|word| word == option);
        let tests = suite.listed(&arguments, &[], interrupt)?;
        if ["--ignored", "--include-ignored"].iter().any(selects) {
            suite.tests = tests;
        } else {
            suite.ignored = suite.listed(&arguments, &["--ignored"], interrupt)?;
            suite.tests = tests.into_iter().filter(|test| !suite.ignored.contains(test)).collect();
        }
        if !suite.takes_several_names(interrupt)? {
            suite.skipped = Some(suite.listed(&suite.arguments, &[], interrupt)?);
        } else if libtest::asked_threads(&arguments).is_none() {
            let more = suite.tests.len().min(MIN_MORE_THREADS.max(MORE_THREADS_FACTOR * suite.threads));
            suite.more_threads = Some(more).filter(|more| *more > suite.threads);
        }
        Ok(suite)
    }

    /// Returns true if the executable selects several tests by name. libtest-mimic takes only one name.
    fn takes_several_names(&self, interrupt: &Interrupt) -> Result<bool, CargoError> {
        let [first, .., last] = self.tests.as_slice() else { return Ok(true) };
        Ok(self.listed(&self.arguments, &["--exact", first, last], interrupt)?.len() == 2)
    }

    /// Returns the tests that the executable lists with these arguments.
    fn listed(&self, arguments: &[OsString], more: &[&str], interrupt: &Interrupt) -> Result<Vec<String>, CargoError> {
        let words = arguments.iter().cloned().chain(more.iter().map(OsString::from)).chain(["--list".into()]);
        let options = VictimOptions { timeout: Some(LISTING_TIMEOUT), ..VictimOptions::default() };
        let finished = self.run(&words.collect::<Vec<_>>(), &options, interrupt)?;
        Ok(match finished.ending {
            Ending::Exited(status) if status.success() => libtest::listed_tests(&finished.output),
            // It is another harness.
            _ => Vec::new(),
        })
    }

    /// Runs the executable with these arguments.
    ///
    /// # Errors
    /// If it cannot be run.
    pub(super) fn run(
        &self,
        arguments: &[OsString],
        options: &VictimOptions,
        interrupt: &Interrupt,
    ) -> Result<Finished, CargoError> {
        let scratch = ScratchDir::new()?;
        let mut command = self.launch.command(arguments);
        command.envs(scratch.variables());
        Slots::inherited().apply(&mut command, 0);
        let command = match &options.launcher {
            Some(launcher) => launcher.wrap(&command, options.skip_code),
            None => command,
        };
        let (log, timeout) = (&scratch.path().join("log"), options.timeout);
        let spec = ProcessSpec { command, timeout, log, append: false, interrupt, reader: None, tail: SEARCHED };
        let finished = process::run(spec)?;
        if finished.ending == Ending::Interrupted { Err(CargoError::Interrupted) } else { Ok(finished) }
    }

    /// Returns the suite without one of its tests.
    pub(crate) fn without(&self, test: &str) -> Self {
        let tests = self.tests.iter().filter(|other| *other != test).cloned().collect();
        Self { tests, ..self.clone() }
    }

    /// Returns the arguments that run exactly these tests, one after the other or with as many threads as usual.
    pub(super) fn arguments_for(&self, tests: &[&str], is_serial: bool) -> Vec<OsString> {
        let mut arguments = if is_serial { libtest::one_thread(&self.arguments) } else { self.arguments.clone() };
        arguments.push("--exact".into());
        match &self.skipped {
            Some(all) if tests.len() > 1 => {
                let others = all.iter().filter(|test| !tests.contains(&test.as_str()));
                arguments.extend(others.flat_map(|test| ["--skip".into(), OsString::from(test)]));
            }
            _ => arguments.extend(tests.iter().map(OsString::from)),
        }
        arguments
    }

    /// Returns the command line with which cargo runs exactly these tests.
    pub(super) fn cargo_line(&self, tests: &[&str], is_serial: bool) -> String {
        let arguments = self.arguments_for(tests, is_serial);
        shell::line(self.cargo_words.iter().cloned().chain(["--".into()]).chain(arguments))
    }

    /// Returns the positions of the tests with this name; if there is none, of those whose paths end in it.
    pub(crate) fn positions(&self, name: &str) -> (Vec<usize>, Vec<usize>) {
        let suffix = format!("::{name}");
        let all = |fits: &dyn Fn(&String) -> bool| (0..self.tests.len()).filter(|&at| fits(&self.tests[at])).collect();
        (all(&|test| test == name), all(&|test| test.ends_with(&suffix)))
    }

    /// Returns the full name of a test that the harness leaves out, if it has this name or a path that ends in it.
    pub(crate) fn ignored(&self, name: &str) -> Option<&str> {
        let suffix = format!("::{name}");
        self.ignored.iter().map(String::as_str).find(|test| *test == name || test.ends_with(&suffix))
    }

    /// Returns the variables that the executable needs when a user starts it.
    pub(super) fn needed_variables(&self) -> BTreeMap<String, OsString> {
        // An executable that cannot be read now can hardly be started. The rest of the line is still correct.
        self.launch.needed_variables(&self.libraries).unwrap_or_default()
    }

    /// Returns the directory in which cargo starts the executable.
    pub(super) fn directory(&self) -> &Path {
        &self.launch.directory
    }
}
