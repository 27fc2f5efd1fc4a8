//! Explanations of outcomes that ignore the changes of the run: its number, or the changes of the run before.
//!
//! If one run of a target affects the next, outcomes follow one of these rules. A search that alternates between
//! questions that fail and questions that pass can be in step with the rule, and then blames an innocent change.
//!
//! If such a rule explains all outcomes, and runs of the same changes contradict each other, the search ends, and the
//! rule is its answer.

use alloc::vec::Vec;

use super::Run;
use crate::before::tuning;
use crate::{
    before::model::rank::Rank,
    before::model::{
        selection::Selection,
        verdict::{CarryOver, Effect},
    },
};

/// Number of runs of everything and of nothing at the start of each search.
const ENDS: usize = 2;

/// A rule that all outcomes so far follow.
#[derive(Clone, Debug)]
pub(in crate::before) struct Rule {
    carry_over: CarryOver,
    /// The outcome of the next run that the rule predicts, if it predicts one: true for a failure.
    pub(in crate::before) next_fails: Option<bool>,
    /// The weight of the rule compared with other rules: simple rules weigh more.
    pub(in crate::before) weight: u32,
    /// Number of failures and of passes that the rule predicted.
    foretold: [usize; 2],
    /// Number of possible rules of this kind.
    alternatives: usize,
}

impl Rule {
    /// Returns true if the rule has made enough predictions to be reported.
    fn is_sure(&self) -> bool {
        let chances = self.alternatives.next_power_of_two().ilog2() as usize;
        self.foretold.iter().all(|&count| count >= tuning::MIN_RULE_PREDICTIONS + chances.div_ceil(2))
    }
}

/// Returns the rules that the outcomes of these runs follow, in the order in which the runs were started. `known` are
/// all changes.
pub(in crate::before) fn rules(known: &[Rank], runs: &[Run]) -> Vec<Rule> {
    // Trials are numbered as they are started; parallel runs end in any order.
    let mut runs = runs.to_vec();
    runs.sort_by_key(|run| run.trial);
    let all = of(known, &runs);
    // The first run at each end may have been another experiment, to choose the tests that later runs repeat.
    if all.is_empty() && runs.len() > ENDS { of(known, &runs[ENDS..]) } else { all }
}

fn of(known: &[Rank], runs: &[Run]) -> Vec<Rule> {
    let failed: Vec<bool> = runs.iter().map(|run| run.failed).collect();
    if failed.iter().all(|&fails| fails) || !failed.contains(&true) {
        return Vec::new();
    }
    cycles(&failed).chain(after_many(known, runs)).chain(after_change(known, runs)).collect()
}

fn foretold(outcomes: impl Iterator<Item = bool>) -> [usize; 2] {
    outcomes.fold(
        [0, 0],
        |[failures, passes], failed| {
            if failed { [failures + 1, passes] } else { [failures, passes + 1] }
        },
    )
}

/// Returns the more frequent outcome after runs that ended like the last one: true for a failure.
pub(in crate::before) fn tendency(runs: &[Run]) -> Option<bool> {
    let last = runs.last()?.failed;
    let after = runs.windows(2).filter(|pair| pair[0].failed == last).map(|pair| pair[1].failed);
    let [failures, passes] = foretold(after);
    (failures != passes).then_some(failures > passes)
}

/// Returns the cycles that the outcomes follow. The shortest one has the highest weight; the others repeat it, or claim
/// more than the outcomes show.
fn cycles(failed: &[bool]) -> impl Iterator<Item = Rule> {
    let follows = move |length: &usize| failed.iter().skip(*length).zip(failed).all(|(one, other)| one == other);
    let lengths = (2..=tuning::MAX_CYCLE_LENGTH)
        .filter(|&length| length + tuning::MIN_CYCLE_PREDICTIONS <= failed.len())
        .filter(follows);
    lengths.map(|length| Rule {
        carry_over: CarryOver::Cycle(failed[..length].to_vec()),
        next_fails: Some(failed[failed.len() - length]),
        weight: 1 << (2 * (tuning::MAX_CYCLE_LENGTH - length)),
        foretold: foretold(failed[length..].iter().copied()),
        alternatives: tuning::MAX_CYCLE_LENGTH,
    })
}

/// Returns the number of changes that a selection enables.
fn enabled(known: &[Rank], selection: &Selection) -> usize {
    let selected = selection.count(known);
    if selection.inverted { known.len() - selected } else { selected }
}

/// Returns the rule that a run fails, or passes, if the number of changes enabled in the run before reaches a
/// threshold.
fn after_many(known: &[Rank], runs: &[Run]) -> Option<Rule> {
    let (latest, follow) = (runs.last()?, runs.get(1..)?);
    // The minimum and the maximum number of changes enabled in the run before a pass, and before a failure.
    let mut ranges: [Option<(usize, usize)>; 2] = [None; 2];
    for (before, run) in runs.iter().zip(follow) {
        let number = enabled(known, &before.selection);
        let range = &mut ranges[usize::from(run.failed)];
        let (low, high) = range.unwrap_or((number, number));
        *range = Some((low.min(number), high.max(number)));
        // The ranges overlap, so there is no threshold. Usually a few runs show this.
        if let [Some(passes), Some(failures)] = ranges
            && passes.1 >= failures.0
            && failures.1 >= passes.0
        {
            return None;
        }
    }
    let [passes, failures] = [ranges[0]?, ranges[1]?];
    let many_fails = passes.1 < failures.0;
    let (few, many) = if many_fails { (passes, failures) } else { (failures, passes) };
    let present = enabled(known, &latest.selection);
    let next_fails = if present <= few.1 {
        Some(!many_fails)
    } else if present >= many.0 {
        Some(many_fails)
    } else {
        None
    };
    Some(Rule {
        carry_over: CarryOver::Many(effect(many_fails)),
        next_fails,
        weight: tuning::PREVIOUS_RUN_RULE_WEIGHT,
        foretold: foretold(follow.iter().map(|run| run.failed)),
        alternatives: known.len(),
    })
}

fn effect(fails: bool) -> Effect {
    if fails { Effect::Fails } else { Effect::Passes }
}

/// Returns the rules that a run fails, or passes, if one change was enabled in the run before.
fn after_change(known: &[Rank], runs: &[Run]) -> Vec<Rule> {
    let (Some(last), Some(follow)) = (runs.last(), runs.get(1..)) else { return Vec::new() };
    let is_on = |run: &Run, change: Rank| run.selection.contains(change) != run.selection.inverted;
    let foretold = foretold(follow.iter().map(|run| run.failed));
    let mut rules = Vec::new();
    for fails in [true, false] {
        // Each pair of runs eliminates the changes that do not explain it, so even of many changes only few remain
        // soon.
        let mut left: Vec<Rank> = known.to_vec();
        for (before, run) in runs.iter().zip(follow) {
            left.retain(|&change| (is_on(before, change) == fails) == run.failed);
        }
        let count = u32::try_from(left.len()).unwrap_or(u32::MAX);
        rules.extend(left.iter().map(|&change| Rule {
            carry_over: CarryOver::Change(change, effect(fails)),
            next_fails: Some(is_on(last, change) == fails),
            weight: tuning::PREVIOUS_RUN_RULE_WEIGHT / count.max(1),
            foretold,
            alternatives: 2 * known.len(),
        }));
    }
    rules
}

/// Returns true if, at least twice, a run ended differently from an earlier run with the same selection. Then the
/// outcome does not follow the selection alone.
fn is_contradicted(runs: &[Run]) -> bool {
    let contradicts = |&(index, run): &(usize, &Run)| {
        runs[..index].iter().any(|before| before.failed != run.failed && before.selection == run.selection)
    };
    runs.iter().enumerate().filter(contradicts).nth(1).is_some()
}

/// Returns the rules that all outcomes of these runs follow instead of the changes.
fn explanations(known: &[Rank], runs: &[Run]) -> Vec<Rule> {
    if runs.len() > tuning::MAX_RUNS_FOR_RULES || !is_contradicted(runs) { Vec::new() } else { rules(known, runs) }
}

/// Returns the rule that all outcomes of these runs follow instead of the changes, if there is enough evidence for one.
pub(in crate::before) fn explanation(known: &[Rank], runs: &[Run]) -> Option<CarryOver> {
    let sure = explanations(known, runs).into_iter().filter(Rule::is_sure);
    sure.max_by_key(|rule| rule.weight).map(|rule| rule.carry_over)
}

/// Returns true if all outcomes of these runs follow a rule instead of the changes, whether there is enough evidence for
/// it or not.
pub(super) fn may_explain(known: &[Rank], runs: &[Run]) -> bool {
    !explanations(known, runs).is_empty()
}
