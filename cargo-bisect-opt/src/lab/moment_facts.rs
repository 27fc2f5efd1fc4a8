//! The facts that a search for a moment has found out, and their words.

use std::{collections::BTreeMap, io, path::Path};

use bisect_core::{
    ChangeId,
    moments::{Finding, MomentSearch},
    search::Mode,
};

use super::target::{Reproduction, Target};
use crate::{
    record::{
        change::ChangeRecord,
        culprit::{BrokenMoment, CulpritRecord, Replay, WayBack},
        exit_status::Exit,
        snippets::Own,
    },
    report::{
        content::{Location, Report},
        watched::Description,
    },
    run::{limit::Limit, moment, reader::Reader},
    units::{grouped, listed, nearest},
};

/// A reason why a search for a moment ends without an answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum WatchError {
    #[error("interrupted")]
    Interrupted,
    #[error("the target cannot be used: {0}")]
    Unusable(String),
    #[error(
        "{0}: the program behaves differently in each run; fix the seeds of its random numbers and the order of its threads"
    )]
    Inconsistent(String),
    #[error("stopped at {0}: {1}")]
    Limit(Limit, String),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl WatchError {
    /// Returns the status of the search.
    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Interrupted => Exit::Interrupted,
            Self::Unusable(_) | Self::Io(_) => Exit::Unusable,
            Self::Inconsistent(_) => Exit::Inconsistent,
            Self::Limit(..) => Exit::Limit,
        }
    }
}

/// The facts known so far.
#[derive(Debug)]
pub(super) struct MomentFacts {
    /// The name of the condition.
    pub(super) name: String,
    pub(super) search: MomentSearch,
    pub(super) runs: usize,
    pub(super) trials: usize,
    /// The descriptions of moments, from the last run that described each.
    pub(super) moments: BTreeMap<u64, Description>,
    /// The evaluations that failed, by moment.
    pub(super) failures: BTreeMap<u64, String>,
    /// The names of other conditions.
    pub(super) other_names: Vec<String>,
    /// True if a time limit ended the program, so the last moment known may not be its last one.
    pub(super) is_cut_short: bool,
}

impl MomentFacts {
    /// Returns the facts before the first run.
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            search: MomentSearch::new(),
            runs: 0,
            trials: 0,
            moments: BTreeMap::new(),
            failures: BTreeMap::new(),
            other_names: Vec::new(),
            is_cut_short: false,
        }
    }

    /// Describes a run that ended without the number of its moments.
    pub(super) fn unended(&self, how: &str) -> String {
        match self.search.last_good() {
            Some(good) => format!(
                "the run ended with {how}, and the number of its moments is not known; `{}` holds at moment {}",
                self.name,
                grouped(good)
            ),
            None => format!(
                "the run ended with {how}, and reported nothing about `{}`: is the program annotated with the same \
                 version of `bisect-rt`, and not built with `--cfg bisect_off`?",
                self.name
            ),
        }
    }

    /// Words the finding. The answer is about the target.
    pub(super) fn found(
        &self,
        finding: Finding,
        target: &impl Target,
        set: usize,
        inputs: &Path,
    ) -> Result<(Exit, String, Option<CulpritRecord>), WatchError> {
        let name = &self.name;
        match finding {
            Finding::NoMoment => Err(WatchError::Unusable(self.no_moment())),
            Finding::NeverBad => {
                let count = grouped(self.search.count().unwrap_or_default());
                let last = if self.is_cut_short { "the last one before the program was ended" } else { "the last one" };
                let text = format!(
                    "nothing to find: `{name}` is true at moment {count}, {last}, and was not seen to break before"
                );
                Ok((Exit::Nothing, text, None))
            }
            Finding::BadFromStart => {
                let text = format!(
                    "`{name}` is false from the first moment on, as far as it was evaluated; to find the moment at which it \
                     becomes true, watch its negation: put `!(…)` in `bisect_watch!`"
                );
                Ok((Exit::Found, text, Some(self.answer(None, 1, target, set, inputs))))
            }
            Finding::Change { good, bad } => {
                let text = format!("`{name}` is true at moment {} and false at moment {}", grouped(good), grouped(bad));
                Ok((Exit::Found, text, Some(self.answer(Some(good), bad, target, set, inputs))))
            }
        }
    }

    fn no_moment(&self) -> String {
        let name = &self.name;
        let mut others = self.other_names.clone();
        others.sort();
        others.dedup();
        if let Some(meant) = nearest(name, others.iter().cloned()) {
            return format!("the program passes no moment of `{name}`: did you mean `{meant}`?");
        }
        let others = listed(others.iter().take(10).map(|other| format!("`{other}`")));
        let others = if others.is_empty() { String::new() } else { format!("; it passes moments of {others}") };
        format!(
            "the program passes no moment of `{name}`: is there a `bisect_watch!(\"{name}\", …)`, and does the program get there?{others}"
        )
    }

    fn answer(&self, good: Option<u64>, bad: u64, target: &impl Target, set: usize, inputs: &Path) -> CulpritRecord {
        let own = Own::new(target.root());
        let change = |moment: u64| {
            let described = self.moments.get(&moment);
            let report = described.map_or_else(|| Report::new(ChangeId(moment)), |moments| moments.report(moment));
            target.axis().change(report, target.root(), Mode::Enable)
        };
        let record = |change: &Report| ChangeRecord::new(change, Some(&own));
        let values = |moment| self.moments.get(&moment).map(|moment| moment.values.clone()).unwrap_or_default();
        let bad_change = change(bad);
        let moment = BrokenMoment {
            n: bad,
            of: self.search.count(),
            evaluations: self.trials,
            by: if self.runs == 1 { WayBack::Copies } else { WayBack::Reruns },
            failure: self.failures.get(&bad).cloned(),
            was_false_before: self.search.was_bad_before(),
            values: values(bad),
            last_good: good.map(|good| record(&change(good))).into_iter().collect(),
            last_good_values: good.map(values).unwrap_or_default(),
        };
        let line = |selection, reader| {
            target.reproduce(&Reproduction {
                selection,
                tests: &[],
                directory: inputs,
                stem: "culprit-1",
                reader,
                hangs: false,
            })
        };
        let (at_bad, before) = (moment::describe(bad), moment::at(good.unwrap_or(bad)));
        let replay = Replay { culprit: line(&at_bad, Reader::Replay), others: line(&before, Reader::Replay) };
        CulpritRecord {
            set,
            mode: Mode::Enable,
            confirmed: true,
            headline: self.headline(bad, bad_change.location.as_ref()),
            changes: vec![record(&bad_change)],
            reproduce: line(&at_bad, Reader::Person),
            last_change: target.last_change(&bad_change),
            replay,
            moment: Some(moment),
            // `passes` stays empty: all evaluations of a moment have the same exit status.
            ..CulpritRecord::default()
        }
    }

    /// Returns the sentence that names the first bad moment, and its place.
    fn headline(&self, bad: u64, place: Option<&Location>) -> String {
        let of = match self.search.count() {
            Some(of) => format!("of {}", grouped(of)),
            None => format!("of at least {}", grouped(self.search.reached())),
        };
        let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
        format!("`{}` breaks at moment {} {of}{place}", self.name, grouped(bad))
    }
}
