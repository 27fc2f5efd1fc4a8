//! From crates to functions to passes: one search after the other, each of what the one before has found.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use bisect_core::ChangeId;

use super::{
    Among, Depth, Functions, Level,
    compilation::Compilation,
    driver::{self, DriverError},
    plan::CounterKind,
    settings::{Contrast, SettingsError},
    wrapper::Session,
};
use crate::{
    cargo::{CargoError, Project},
    events::{Answer, Event, Explained},
    exit_code::Exit,
    lab::{Lab, Named, Searched},
    options::CodegenArgs,
    program::{Program, Settings},
};

/// What the user asks for.
#[derive(Debug)]
pub struct Drill {
    /// What is run, and how.
    pub settings: Settings,
    /// How far to go.
    pub depth: Depth,
    /// Where `bisect-rustc` is, if the user says so.
    pub driver: Option<PathBuf>,
    /// How things are compiled.
    pub compilation: Arc<Compilation>,
    /// What is compiled.
    pub project: Arc<Project>,
}

/// Why there is no search.
#[derive(Debug, thiserror::Error)]
pub enum DrillError {
    /// `--good` or `--bad` cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The `bisect-rustc` that was named cannot be used.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// What is to be built cannot be.
    #[error(transparent)]
    Cargo(#[from] CargoError),
}

impl DrillError {
    /// Whether other words on the command line would help.
    pub fn is_usage(&self) -> bool {
        match self {
            DrillError::Settings(_) => true,
            DrillError::Driver(error) => error.is_usage(),
            DrillError::Cargo(error) => error.is_usage(),
        }
    }
}

impl Drill {
    /// Reads what is needed before the first build. `scratch` is a directory for files that nobody needs afterwards.
    ///
    /// # Errors
    /// If the arguments, the configuration or the workspace are not as they should be.
    pub fn prepare(settings: Settings, asked: CodegenArgs, scratch: &Path) -> Result<Self, DrillError> {
        let contrast = Contrast::parse(&asked.good, &asked.bad)?;
        let project = Project::load(settings.subcommand, &settings.cargo, &settings.target)?;
        let compilation = Compilation {
            packages: project.packages()?,
            contrast,
            profile: project.profile(),
            session: Session {
                inner: project.rustc_wrapper().map(Path::to_owned),
                compiled: Some(scratch.join("compiled")),
            },
            wrapper: std::env::current_exe().map_err(CargoError::Io)?,
        };
        let (depth, driver) = (asked.level, asked.driver);
        Ok(Self { settings, depth, driver, compilation: Arc::new(compilation), project: Arc::new(project) })
    }

    /// Searches as deep as asked for, and as the toolchain allows.
    ///
    /// # Errors
    /// If an event cannot be told.
    pub fn run(&self, lab: &mut Lab<'_>) -> io::Result<Exit> {
        let level = self.level(Among::Crates { seen: Mutex::default() });
        let crates = Program::compiled(self.settings.clone(), self.project.clone(), level);
        let Searched { mut end, found } = lab.search(&crates)?;
        if end.status == Exit::Found && self.depth > Depth::Crates {
            let driver = self.driver();
            if let Err(error) = &driver {
                lab.tell(&Event::Note(&error.to_string()))?;
            }
            for culprit in &found {
                let explained = self.explain(lab, &crates, culprit, driver.as_ref().ok())?;
                if lab.interrupt.requested() {
                    end.status = Exit::Interrupted;
                    break;
                }
                lab.tell(&Event::Answer(&explained))?;
            }
        }
        end.sets = found.len();
        (end.trials, end.runs) = (lab.before.trials, lab.before.runs);
        lab.tell(&Event::End(&end))?;
        Ok(end.status)
    }

    fn level(&self, among: Among) -> Level {
        Level { compilation: self.compilation.clone(), among }
    }

    fn driver(&self) -> Result<PathBuf, DriverError> {
        driver::find(self.driver.as_deref(), &self.project.rustc_version())
    }

    /// What it is in these crates.
    fn explain(
        &self,
        lab: &mut Lab<'_>,
        crates: &Program,
        culprit: &Named,
        driver: Option<&PathBuf>,
    ) -> io::Result<Answer> {
        let culprits: BTreeSet<_> = culprit.changes.iter().copied().collect();
        let tests = &culprit.found.tests;
        let mut answer = Answer { crates: culprit.found.changes.clone(), ..Answer::default() };
        if let Some(driver) = driver {
            let functions = Functions {
                culprits: culprits.clone(),
                driver: driver.clone(),
                told: Mutex::default(),
            };
            let functions = crates.narrowed(tests, self.level(Among::Functions(functions)));
            let searched = lab.search(&functions)?;
            answer.functions = explained(lab, &searched, "function")?;
        }
        if self.depth == Depth::Passes {
            for package in &culprits {
                self.passes(lab, crates, tests, &culprits, *package, &mut answer)?;
            }
        }
        Ok(answer)
    }

    /// Which pass it is in one of these crates: LLVM's, or else one of rustc's own.
    fn passes(
        &self,
        lab: &mut Lab<'_>,
        crates: &Program,
        tests: &[String],
        culprits: &BTreeSet<ChangeId>,
        package: ChangeId,
        answer: &mut Answer,
    ) -> io::Result<()> {
        for of in [CounterKind::Llvm, CounterKind::Mir] {
            let level = Level::passes(self.compilation.clone(), culprits.clone(), package, of);
            let level = match level.listed(&self.project, lab.interrupt) {
                Ok(level) => level,
                Err(CargoError::Interrupted) => return Ok(()),
                Err(error) => {
                    lab.tell(&Event::Note(&format!("passes cannot be counted: {error}")))?;
                    continue;
                }
            };
            let searched = lab.search(&crates.narrowed(tests, level))?;
            let passes = explained(lab, &searched, "pass")?;
            if !matches!(passes, Explained::No(_)) {
                answer.passes.push(passes);
                return Ok(());
            }
        }
        Ok(())
    }
}

fn explained(lab: &mut Lab<'_>, searched: &Searched, what: &str) -> io::Result<Explained> {
    let changes: Vec<_> = searched.found.iter().flat_map(|named| named.found.changes.iter().cloned()).collect();
    if searched.end.status == Exit::Found && !changes.is_empty() {
        return Ok(Explained::By(changes));
    }
    lab.tell(&Event::Note(&format!("no {what} was found: {}", searched.end.conclusion)))?;
    Ok(Explained::No(searched.end.conclusion.clone()))
}
