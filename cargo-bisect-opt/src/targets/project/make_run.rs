//! One run of a project: of everything, of single tests, or of a build.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    build, dependent_tests, execution,
    run_context::RunContext,
    runner::{KnownFailures, Parts, ProjectRun, ProjectRunner},
    separately,
};
use crate::{
    axes::StoredKnowledge,
    cargo::{Artifacts, BuildCounts, line_settings},
    lab::target::Runner,
    run::{
        error::RunError,
        pasting::{LineResult, Pasting},
        result::Note,
        spec::{RunSpec, Surroundings},
    },
};

/// The knowledge from earlier builds, for the journal.
#[derive(Serialize, Deserialize)]
struct BuildKnowledge<'a> {
    /// The first build.
    artifacts: Option<Cow<'a, Artifacts>>,
    /// The knowledge of the axis.
    axis: Option<serde_json::Value>,
}

impl Runner for ProjectRunner {
    type KnownFailures = KnownFailures;
    type Observations = ProjectRun;

    fn run(
        &self,
        spec: &RunSpec,
        known_failures: &KnownFailures,
        surroundings: &Surroundings<'_>,
    ) -> Result<ProjectRun, RunError> {
        let (spec, lost_log) = spec.create_files(surroundings.scratch.path())?;
        let spec = &*spec;
        let run = RunContext::new(self, known_failures, spec, surroundings)?;
        let mut builds = BuildCounts::default();
        let (parts, mut notes) = match &spec.tests {
            None if self.options.subcommand.is_build() => {
                let attempt = build::attempt(&run, &mut builds)?;
                let notes = attempt.notes();
                (Parts::Together(attempt), notes)
            }
            None => {
                let (mut attempt, artifacts) = execution::attempt(&run, &mut builds)?;
                if let Some(artifacts) = artifacts {
                    attempt.dependent = dependent_tests::find(&run, &attempt, &artifacts)?;
                }
                let notes = attempt.notes();
                (Parts::Together(attempt), notes)
            }
            Some(tests) => {
                let (solos, lost_log) = separately::run(&run, tests, &mut builds)?;
                let notes = solos.iter().flat_map(|solo| solo.attempt.notes()).chain(lost_log).collect();
                (Parts::Separate(solos), notes)
            }
        };
        notes.extend(lost_log.map(|error| Note::lost_log(&error)));
        Ok(ProjectRun { parts, builds, notes })
    }

    /// Returns the knowledge from builds. A target that is built before the search has learned nothing from runs.
    fn knowledge(&self) -> Option<String> {
        if !self.axis.facts().builds {
            return None;
        }
        let knowledge = BuildKnowledge {
            artifacts: self.artifacts.get().map(Cow::Borrowed),
            axis: self.axis.stored().and_then(StoredKnowledge::knowledge),
        };
        serde_json::to_string(&knowledge).ok()
    }

    fn restore(&self, knowledge: &str) -> serde_json::Result<()> {
        let BuildKnowledge { artifacts, axis } = serde_json::from_str(knowledge)?;
        if let Some(artifacts) = artifacts {
            self.artifacts.get_or_init(|| artifacts.into_owned());
        }
        self.axis.stored().zip(axis).map_or(Ok(()), |(stored, axis)| stored.restore(axis))
    }

    fn paste(&self, line: &Pasting<'_>) -> LineResult {
        if self.options.launcher.is_some() {
            return LineResult::NotRun;
        }
        line.run(self.kind(), self.options.skip_code, line_settings::of_pasted_lines(&self.project, line.is_alone))
    }
}
