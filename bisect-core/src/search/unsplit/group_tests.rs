//! Group tests: runs of arbitrary parts of the candidates, beside the prefixes that prove the answer.
//!
//! *n* prefixes at once tell *n* + 1 parts of the candidates apart. If a single change is needed, *n* groups tell 2^*n*
//! parts apart, because a run fails if and only if its group contains the change (Dorfman, "The Detection of Defective
//! Members of Large Populations", 1943). Groups prove nothing. They determine the [`suspects`], and the cuts that are
//! asked for next halve the suspects instead of all candidates. If no single change explains all runs, several are
//! needed together, or several fail on their own: then [`pairs`](super::pairs) of changes are the suspects.
//!
//! Only prefixes prove the answer. So it depends neither on the number of trials in flight nor on the order in which
//! runs end, unless changes hide others: a prefix may pass because it contains a change that hides a culprit. Where the
//! answer may depend on the cuts, because a cut is unresolved or a failing run did not report exactly the known
//! candidates, groups no longer determine them.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use crate::search::{
    ledger::Asked,
    model::{
        mode::Mode,
        rank::{Rank, simplest_cut},
        selection::{Prefix, Selection},
        trial::Outcome,
    },
    sequential::{Procedure, lookahead},
    tuning,
};

/// Returns the candidates of a procedure that explain all runs, if one of them is needed: each failing run switches the
/// candidate, and no passing run does.
pub(super) fn suspects<'a>(procedure: &Procedure, runs: impl Iterator<Item = (&'a Selection, Outcome)>) -> Vec<Rank> {
    let Some((forced, bracket)) = procedure.narrowing() else { return Vec::new() };
    let (mode, excluded) = (procedure.mode(), procedure.excluded());
    let mut suspects = bracket.candidates().to_vec();
    for (selection, outcome) in runs {
        let switches = |&change: &Rank| switches(mode, selection, change);
        let fails = outcome == Outcome::Fail;
        let tells = forced.iter().all(switches) && !(fails && excluded.iter().any(switches));
        if tells && !matches!(outcome, Outcome::Unresolved(_)) {
            suspects.retain(|change| switches(change) == fails);
        }
    }
    suspects
}

/// Returns true if a selection *switches* this change: gives it the state that breaks the target in this mode.
pub(super) fn switches(mode: Mode, selection: &Selection, change: Rank) -> bool {
    selection.enables(change) == (mode == Mode::Enable)
}

/// Returns the questions of up to `count` groups. Each one halves every part into which earlier selections divide the
/// suspects. `asked` are the selections of runs that are in flight or about to start.
pub(super) fn groups<'a>(
    procedure: &Procedure,
    suspects: &[Rank],
    asked: impl Iterator<Item = &'a Selection>,
    count: usize,
) -> Vec<Asked> {
    let mut parts = vec![0; suspects.len()];
    for selection in asked {
        split(&mut parts, |index| selection.contains(suspects[index]));
    }
    let mut groups = Vec::new();
    let Some((_, bracket)) = procedure.narrowing() else { return groups };
    while groups.len() < count {
        let chosen = half_of_each(&parts, &parts);
        let Some((prefix, gaps)) = selection_of(suspects, &chosen, bracket.high()) else { break };
        let before = parts.clone();
        split(&mut parts, |index| chosen[index]);
        if parts == before {
            break;
        }
        groups.push(lookahead::group(procedure, prefix, gaps));
    }
    groups
}

/// Splits each part into its other and its chosen suspects. `parts[i]` is the number of the part of suspect `i`, from 0
/// and without omissions.
pub(in crate::search) fn split(parts: &mut [usize], is_chosen: impl Fn(usize) -> bool) {
    let halves = 2 * parts.iter().max().map_or(0, |last| last + 1);
    let mut numbers = vec![0; halves];
    for (index, part) in parts.iter_mut().enumerate() {
        *part = 2 * *part + usize::from(is_chosen(index));
        numbers[*part] = 1;
    }
    // A half that has no suspect gets no number.
    let mut next = 0;
    for number in &mut numbers {
        next += *number;
        *number = next - *number;
    }
    for part in parts {
        *part = numbers[*part];
    }
}

/// Chooses half of each part. In neighbouring cells these are alternately the first and the second half, so that the
/// chosen halves of both are one interval. `cells[i]` is the number of the cell of suspect `i`, and a part is in one
/// cell.
pub(in crate::search) fn half_of_each(parts: &[usize], cells: &[usize]) -> Vec<bool> {
    let count = parts.iter().chain(cells).max().map_or(0, |last| last + 1);
    let mut sizes = vec![0; count];
    for &part in parts {
        sizes[part] += 1;
    }
    // The order in which the cells begin.
    let mut order = vec![None; count];
    let mut begun: usize = 0;
    for &cell in cells {
        if order[cell].is_none() {
            order[cell] = Some(begun);
            begun += 1;
        }
    }
    let mut seen = vec![0; count];
    let is_chosen = |(&part, &cell): (&usize, &usize)| {
        seen[part] += 1;
        let (place, size): (usize, usize) = (seen[part], sizes[part]);
        let is_in_first_half = 2 * place <= size;
        // A single suspect needs no further test.
        if order[cell].is_some_and(|order| order.is_multiple_of(2)) {
            is_in_first_half
        } else {
            size > 1 && !is_in_first_half
        }
    };
    parts.iter().zip(cells).map(is_chosen).collect()
}

/// Returns the end and the gaps of a selection that contains the chosen suspects and not the others. `high` is its end if
/// it contains the last suspect. `None` if no suspect is chosen, or if there are too many gaps.
pub(in crate::search) fn selection_of(
    suspects: &[Rank],
    chosen: &[bool],
    high: Prefix,
) -> Option<(Prefix, Vec<Range<Rank>>)> {
    let cut =
        |index: usize| index.checked_sub(1).map_or(Rank::FIRST, |left| simplest_cut(suspects[left], suspects[index]));
    let mut gaps = Vec::new();
    let mut gap = None;
    for (index, &is_chosen) in chosen.iter().enumerate() {
        match gap {
            None if !is_chosen => gap = Some(cut(index)),
            Some(start) if is_chosen => {
                gaps.push(start..cut(index));
                gap = None;
            }
            _ => {}
        }
    }
    let prefix = gap.map_or(high, Prefix::Below);
    (prefix != Prefix::NONE && gaps.len() <= tuning::MAX_GROUP_GAPS).then_some((prefix, gaps))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::search::{model::options::Options, sequential::Answer};

    /// Returns a procedure with `changes` changes that asks for its first cut.
    fn procedure(changes: usize) -> Procedure {
        let mut procedure = Procedure::new(Options::default());
        let reported = (0..changes).map(|i| Rank(i as u64 + 1)).collect::<Vec<_>>().into();
        for outcome in [Outcome::Fail, Outcome::Pass] {
            procedure.answer(&Answer { trial: None, outcome, reported: Some(&reported) });
        }
        procedure
    }

    fn fails(selection: &Selection, needed: Rank) -> Outcome {
        if selection.contains(needed) { Outcome::Fail } else { Outcome::Pass }
    }

    #[test]
    fn each_group_halves_all_parts() {
        for (changes, bits) in [(2, 1), (3, 2), (8, 3), (100, 7), (1000, 10)] {
            let procedure = procedure(changes);
            let all = suspects(&procedure, [].into_iter());
            let groups = groups(&procedure, &all, [].into_iter(), 64);
            assert_eq!(groups.len(), bits, "of {changes}");
            for needed in all.clone() {
                let runs = groups.iter().map(|asked| (&asked.selection, fails(&asked.selection, needed)));
                assert_eq!(suspects(&procedure, runs), [needed], "of {changes}");
            }
        }
    }

    #[test]
    fn runs_that_no_single_change_explains_leave_no_suspects() {
        let procedure = procedure(64);
        let all = suspects(&procedure, [].into_iter());
        let first_half = Selection { prefix: Prefix::Below(all[32]), ..Selection::all() };
        let second_half = Selection { gaps: vec![Rank::FIRST..all[32]], ..Selection::all() };
        let runs = [(&first_half, Outcome::Pass), (&second_half, Outcome::Pass)];
        assert_eq!(suspects(&procedure, runs.into_iter()), []);
        let runs = [(&first_half, Outcome::Pass), (&second_half, Outcome::Fail)];
        assert_eq!(suspects(&procedure, runs.into_iter()), all[32..]);
    }

    proptest! {
        #[test]
        fn a_selection_contains_the_chosen_suspects(chosen in vec(any::<bool>(), 1..40), step in 1..1000_u64) {
            let suspects: Vec<_> = (0..chosen.len() as u64).map(|i| Rank(i * step)).collect();
            match selection_of(&suspects, &chosen, Prefix::All) {
                None => prop_assert!(!chosen.contains(&true)),
                Some((prefix, gaps)) => {
                    let selection = Selection { prefix, gaps, ..Selection::all() };
                    let contained: Vec<_> = suspects.iter().map(|&change| selection.contains(change)).collect();
                    prop_assert_eq!(contained, chosen);
                }
            }
        }
    }
}
