//! Searches for a moment in known sequences, compared with all of their values.

use alloc::{vec, vec::Vec};

use proptest::prelude::*;

use super::*;

/// Searches a sequence; `true` is good. Returns the finding, the evaluated moments, and the moments that a run from the
/// last good one passes in all.
fn search(values: &[bool]) -> (Finding, Vec<u64>, u64) {
    let mut search = MomentSearch::new();
    let (mut evaluated, mut repeated) = (Vec::new(), 0);
    let count = values.len() as u64;
    loop {
        let moment = match search.step() {
            MomentStep::Done(finding) => {
                assert_eq!(search.evaluations(), evaluated.len());
                return (finding, evaluated, repeated);
            }
            MomentStep::Forward(moment) if moment > count => {
                search.ended(count).unwrap();
                continue;
            }
            MomentStep::Forward(moment) => moment,
            MomentStep::Back { from, to } => {
                assert_eq!(search.last_good(), Some(from), "one checkpoint is enough");
                repeated += to - from;
                to
            }
        };
        evaluated.push(moment);
        let verdict = if value(values, moment) { MomentVerdict::Good } else { MomentVerdict::Bad };
        search.record(moment, verdict).unwrap();
    }
}

fn value(values: &[bool], moment: u64) -> bool {
    values[usize::try_from(moment).unwrap() - 1]
}

fn check(values: &[bool]) {
    let (finding, evaluated, repeated) = search(values);
    let count = values.len() as u64;
    match finding {
        Finding::NoMoment => assert_eq!(count, 0),
        Finding::NeverBad => assert!(values[values.len() - 1] && evaluated.contains(&count)),
        Finding::BadFromStart => assert!(evaluated.contains(&1) && evaluated.iter().all(|&at| !value(values, at))),
        Finding::Change { good, bad } => {
            assert!(bad == good + 1 && value(values, good) && !value(values, bad));
            assert!(evaluated.contains(&good) && evaluated.contains(&bad));
        }
    }
    let log2 = count.checked_ilog2().unwrap_or(0) as usize;
    assert!(evaluated.len() <= 2 * log2 + 3, "{} of {count}", evaluated.len());
    assert!(repeated <= count, "{repeated} of {count}");
    let mut unique = evaluated.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), evaluated.len(), "no moment is evaluated twice");
    // A sequence that changes once has one answer.
    if let Some(bad) = values.iter().position(|&good| !good)
        && bad > 0
        && values[bad..].iter().all(|&good| !good)
    {
        assert_eq!(finding, Finding::Change { good: bad as u64, bad: bad as u64 + 1 });
    }
}

#[test]
fn all_short_sequences() {
    for count in 0..=12_u32 {
        for bits in 0..1_u32 << count {
            let values: Vec<_> = (0..count).map(|bit| bits >> bit & 1 == 1).collect();
            check(&values);
        }
    }
}

#[test]
fn all_places_of_one_change() {
    for count in [100, 127, 128, 129, 1000] {
        for first_bad in 0..=count {
            check(&(0..count).map(|moment| moment < first_bad).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_condition_that_is_false_at_first() {
    let mut values = vec![false; 3];
    values.extend([true; 50]);
    values.extend([false; 20]);
    assert_eq!(search(&values).0, Finding::Change { good: 53, bad: 54 });
    assert_eq!(search(&[false; 9]).0, Finding::BadFromStart);
    assert_eq!(search(&values[..40]).0, Finding::NeverBad);
}

#[test]
fn observations_that_contradict_each_other_are_refused() {
    let mut search = MomentSearch::new();
    search.record(1, MomentVerdict::Good).unwrap();
    assert_eq!(search.record(1, MomentVerdict::Good), Err(Contradiction::NotAsked { moment: 1 }));
    search.record(2, MomentVerdict::Good).unwrap();
    assert_eq!(search.ended(1), Err(Contradiction::EndedEarly { count: 1, reached: 2 }));
    search.ended(9).unwrap();
    assert_eq!(search.ended(8), Err(Contradiction::EndedEarly { count: 8, reached: 2 }));
    assert_eq!(search.record(3, MomentVerdict::Bad), Err(Contradiction::NotAsked { moment: 3 }));
    search.record(9, MomentVerdict::Bad).unwrap();
    assert_eq!(search.step(), MomentStep::Back { from: 2, to: 5 });
}

proptest! {
    #[test]
    fn sequences_of_any_values(values in prop::collection::vec(any::<bool>(), 0..3000)) {
        check(&values);
    }

    #[test]
    fn sequences_with_few_changes(lengths in prop::collection::vec(1_usize..2000, 0..6), first: bool) {
        let runs = lengths.iter().enumerate();
        check(&runs.flat_map(|(i, &length)| vec![first ^ (i % 2 == 1); length]).collect::<Vec<_>>());
    }
}
