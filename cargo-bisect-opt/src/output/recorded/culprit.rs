//! Culprits in `result.json`: all that an answer shows, without the sources and the target.

use bisect_core::search::Mode;
use serde::{Deserialize, Serialize};

use crate::{
    output::{
        events::{Found, PatchFiles, Replay},
        headline,
    },
    record::{
        change::ChangeFacts,
        mode_name,
        noise::CulpritEstimate,
        pasted::PastedLines,
        snippets::{self, Own},
        source_place::SourcePlace,
    },
    report::{content::Report, kind::ShownSource},
    run::result::Failed,
    vcs::blame::LastChange,
};

/// A culprit of a search, as the run directory keeps it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RecordedCulprit {
    /// The number of the culprit, from 1.
    pub(crate) set: usize,
    /// The number of the search that found it, from 1; 0 if that is unknown.
    #[serde(default)]
    pub(crate) search: usize,
    /// The operation that breaks the target.
    #[serde(with = "mode_name")]
    pub(crate) mode: Mode,
    #[serde(default)]
    pub(crate) confirmed: bool,
    /// The sentence that says what the culprit does.
    #[serde(default)]
    pub(crate) headline: String,
    pub(crate) changes: Vec<RecordedChange>,
    /// The tests that fail with exactly these changes, where that is known.
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    /// True if each of several tests is searched on its own.
    #[serde(default)]
    pub(crate) is_of_tests: bool,
    /// The ways in which they fail, if these are distinguished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) failures: Vec<Failed>,
    /// A command line that runs the target with exactly these changes.
    #[serde(default)]
    pub(crate) reproduce: String,
    /// A command line that runs the target in a neighbouring state that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) passes: Option<String>,
    /// A short command line about the changes, without files of this search, to quote in an issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) short: Option<String>,
    /// The results of the command lines, which were run as printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pasted: Option<PastedLines>,
    /// The failure at the other end of the search, which these changes replace by another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replaces: Option<String>,
    /// The last change of the decisive place of the first change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_change: Option<LastChange>,
    /// The command lines for `replay`.
    pub(crate) replay: Replay,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stop_gap: Option<RecordedStopGap>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) patches: Option<PatchFiles>,
    /// The next step, as lines for a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// The confidence in it, if the search was noisy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<CulpritEstimate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) moment: Option<RecordedMoment>,
    /// The number of the culprit that this one is a part of, if a search within that culprit found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<usize>,
}

/// A change of a [`RecordedCulprit`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedChange {
    #[serde(flatten)]
    pub(crate) facts: ChangeFacts,
    /// The noun for its kind; `… of` only if there is a name.
    #[serde(default)]
    pub(crate) noun: String,
    /// Further lines about it, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) details: Vec<String>,
    /// True if the details are lines of a patch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_patch: bool,
    /// The code at the decisive places.
    #[serde(default)]
    pub(crate) source: Vec<SourcePlace>,
}

/// A workaround until a culprit is fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedStopGap {
    /// The place for it, in a few words.
    #[serde(rename = "where")]
    pub(crate) place: String,
    /// The text to write there, or the action to take.
    pub(crate) text: String,
}

/// The moments of a condition that breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedMoment {
    /// The first bad moment.
    pub(crate) n: u64,
    /// The number of moments of the program, if it came to its end.
    pub(crate) of: Option<u64>,
    /// The number of evaluations of the condition.
    pub(crate) evaluations: usize,
    /// `copies` or `reruns`.
    pub(crate) by: String,
    pub(crate) failure: Option<String>,
    pub(crate) was_false_before: bool,
    pub(crate) values: Vec<String>,
    pub(crate) last_good: Vec<RecordedChange>,
    pub(crate) last_good_values: Vec<String>,
}

impl RecordedCulprit {
    /// Returns remarks about the line that fails and the one that passes, if they were not run or ended in another way.
    pub(crate) fn remarks(&self) -> [&'static str; 2] {
        self.pasted.map_or([""; 2], PastedLines::remarks)
    }

    /// Records a culprit that the search with this number has found. The user's own code is read from below the root of
    /// `own`; without it, no code is recorded.
    pub(crate) fn new(search: usize, found: &Found, own: Option<&Own<'_>>) -> Self {
        let changes = |reports: &[Report]| reports.iter().map(|report| RecordedChange::new(report, own)).collect();
        Self {
            set: found.set,
            search,
            mode: found.mode,
            confirmed: found.confirmed,
            headline: own.map(|own| headline::headline(own, found)).unwrap_or_default(),
            changes: changes(&found.changes),
            tests: found.tests.clone(),
            is_of_tests: found.is_of_tests,
            failures: found.failures.clone(),
            reproduce: found.reproduce.clone(),
            passes: found.passes.clone(),
            short: found.short.clone(),
            pasted: found.pasted,
            replaces: found.replaces.clone(),
            last_change: found.last_change.clone(),
            replay: found.replay.clone(),
            stop_gap: found
                .stop_gap
                .as_ref()
                .map(|gap| RecordedStopGap { place: gap.place.to_owned(), text: gap.text.clone() }),
            patches: found.patches.clone(),
            next: found.next.clone(),
            noise: found.noise.clone(),
            moment: found.moments.as_ref().map(|moments| RecordedMoment {
                n: moments.n,
                of: moments.of,
                evaluations: moments.evaluations,
                by: moments.by.to_owned(),
                failure: moments.failure.clone(),
                was_false_before: moments.was_false_before,
                values: moments.values.clone(),
                last_good: changes(&moments.last_good),
                last_good_values: moments.last_good_values.clone(),
            }),
            within: found.within,
        }
    }
}

impl RecordedChange {
    fn new(report: &Report, own: Option<&Own<'_>>) -> Self {
        let mut facts = ChangeFacts::from(report);
        if let Some(own) = own {
            for (frame, known) in facts.frames.iter_mut().zip(&report.frames) {
                frame.own = own.is_own(known);
            }
        }
        Self {
            facts,
            noun: report.kind.noun.to_owned(),
            details: report.details.clone(),
            is_patch: report.kind.source == ShownSource::Patch,
            source: own.map(|own| snippets::places(own, report)).unwrap_or_default(),
        }
    }
}
