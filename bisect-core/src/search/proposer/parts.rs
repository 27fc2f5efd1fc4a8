//! Parts of a list of changes that runs do not tell apart, and the selections that divide them.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use crate::search::{
    model::{
        mode::Mode,
        rank::{Rank, simplest_cut},
        selection::{Prefix, Selection},
    },
    tuning,
};

/// Returns true if a selection *switches* this change: gives it the state that breaks the target in this mode.
pub(in crate::search) fn switches(mode: Mode, selection: &Selection, change: Rank) -> bool {
    selection.enables(change) == (mode == Mode::Enable)
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
