//! Which question is most worth a run under noise.

use alloc::vec::Vec;

use super::{Flaky, Stage, history, narrowing::Narrowing};
use crate::{
    ChangeId,
    noise::Part,
    search::{
        Options,
        selection::{Prefix, Selection},
        trial::{Question, Reason},
        verdict::{Incomplete, Mode, Unusable, Verdict},
    },
};

/// A question that told nothing so often more than it told something is not asked again.
const UNRESOLVED_LIMIT: usize = 3;

/// In place of a cut that does not resolve, others are asked up to so many candidates away.
const FARTHEST: usize = 16;

/// What is still to be seen of a candidate.
enum Confirming {
    /// That it fails by itself, beside the forced ones.
    Alone(usize),
    /// That the target passes without it after that.
    Base,
}

impl Flaky {
    /// The question that is most worth a run, or how the search ends for want of one.
    pub(super) fn ask(&self, options: &Options) -> Result<(Question, Selection), Verdict> {
        let unresolved = |reason| Verdict::Incomplete(Incomplete::Unresolved(reason));
        let end = self.direction.wants(options.order, &self.runs, self.in_flight());
        if let Some(end) = end.filter(|_| self.found.is_empty()) {
            if let Some(reason) = self.refusal(&end.1) {
                return Err(Verdict::Unusable(Unusable::Unresolved(end.0, reason)));
            }
            return Ok(end);
        }
        if self.wants_again {
            let everything = history::everything(options.order, self.direction.mode());
            return Ok((self.failing_end(), everything));
        }
        match &self.stage {
            Stage::Ends => Err(match self.always() {
                Some(outcome) => Verdict::NoDifference(outcome),
                None => Verdict::Unusable(Unusable::NoReports),
            }),
            Stage::Thin(thinning) => {
                if !thinning.wants_others(&[]) {
                    return Ok((Question::Without, history::base(options.order, self.direction.mode())));
                }
                let selection = self.alone(options, thinning.others());
                self.refusal(&selection).map_or(Ok((Question::Exactly, selection)), |reason| Err(unresolved(reason)))
            }
            Stage::Narrow(narrowing) => {
                let in_flight = self.in_flight().filter_map(|trial| {
                    let has = |id| trial.selection.contains(id);
                    narrowing.part(&trial.selection, has)
                });
                let part = match self.confirming(narrowing) {
                    Some(Confirming::Alone(candidate)) => Part::alone(candidate),
                    Some(Confirming::Base) => {
                        let question = (Question::Without, history::base(options.order, self.direction.mode()));
                        return Ok(Self::named(narrowing, question));
                    }
                    None => narrowing.point().next(&in_flight.collect::<Vec<_>>()),
                };
                self.nearest(narrowing, part).map_err(unresolved)
            }
        }
    }

    /// What is still to be seen of a candidate that is likely enough to be named.
    fn confirming(&self, narrowing: &Narrowing) -> Option<Confirming> {
        let point = narrowing.point();
        if let Some(candidate) = point.found(1.0 - self.allowed()) {
            return Some(match self.failed_alone(&narrowing.with(candidate.index)) {
                None => Confirming::Alone(candidate.index),
                Some(_) => Confirming::Base,
            });
        }
        // It is the one; only whether it suffices is open.
        let candidate = point.likeliest()?;
        (candidate.probability() >= 1.0 - self.allowed() / 8.0).then_some(Confirming::Alone(candidate.index))
    }

    /// The question about these candidates, or the nearest one that may tell something.
    fn nearest(&self, narrowing: &Narrowing, part: Part) -> Result<(Question, Selection), Reason> {
        let first = narrowing.question(part);
        let Some(reason) = self.refusal(&first.1) else { return Ok(Self::named(narrowing, first)) };
        let Part { below, also: None, except: None } = part else { return Err(reason) };
        let cuts = (1..=FARTHEST).flat_map(|away| [below.checked_sub(away), below.checked_add(away)]).flatten();
        let mut others =
            cuts.filter(|&cut| cut <= narrowing.candidates()).map(|cut| narrowing.question(Part::below(cut)));
        let other = others.find(|(_, selection)| self.refusal(selection).is_none());
        other.map(|other| Self::named(narrowing, other)).ok_or(reason)
    }

    /// With no culprit found, the ends are what they were called in the calibration.
    fn named(narrowing: &Narrowing, (question, selection): (Question, Selection)) -> (Question, Selection) {
        let question = match (question, selection.inverted) {
            (Question::Rest | Question::Without, false) if narrowing.is_first() => Question::All,
            (Question::Rest | Question::Without, true) if narrowing.is_first() => Question::None,
            _ => question,
        };
        (question, selection)
    }

    /// What a run is called at the end that fails.
    fn failing_end(&self) -> Question {
        match self.direction.mode() {
            Mode::Enable => Question::All,
            Mode::Disable => Question::None,
        }
    }

    /// Why a selection is not asked for again.
    fn refusal(&self, selection: &Selection) -> Option<Reason> {
        let told = self.runs.iter().filter(|run| run.selection == *selection).count();
        let untold = self.trials.iter().filter(|asked| asked.trial.selection == *selection);
        let reasons: Vec<_> = untold.filter_map(|asked| asked.unresolved).collect();
        (reasons.len() >= told + UNRESOLVED_LIMIT).then(|| reasons[0])
    }

    pub(super) fn alone(&self, options: &Options, changes: &[ChangeId]) -> Selection {
        Selection {
            prefix: Prefix::NONE,
            forced: changes.to_vec(),
            ..history::everything(options.order, self.direction.mode())
        }
    }
}
