//! The peer on small formulas: its results, and the cases in which it gives up.

use super::*;

/// Returns a target over the IDs 0, 1, 2 …, whose pattern matcher understands only the patterns of the peer.
fn target(ids: &[u64], fails: impl Fn(&dyn Fn(u64) -> bool) -> bool) -> impl FnMut(&str) -> (bool, Vec<u64>) {
    move |pattern| {
        let bare = pattern.trim_start_matches('v');
        let (inverted, bare) = bare.strip_prefix('!').map_or((false, bare), |rest| (true, rest));
        let (inverted, bare) = if bare == "n" { (true, "y") } else { (inverted, bare) };
        let selects = |id: u64| {
            let mut selected = bare == "y" || bare.starts_with('-');
            for term in bare.replace('+', " +").replace('-', " -").split(' ') {
                let ends = |suffix: &str| match suffix.strip_prefix('x') {
                    Some(hex) => format!("{id:016x}").ends_with(hex),
                    None => format!("{id:064b}").ends_with(suffix),
                };
                match term.split_at_checked(1) {
                    Some(("+", suffix)) if ends(suffix) => selected = true,
                    Some(("-", suffix)) if ends(suffix) => selected = false,
                    _ => {}
                }
            }
            selected
        };
        let failed = fails(&|id| selects(id) != inverted);
        (!failed, ids.iter().copied().filter(|&id| selects(id)).collect())
    }
}

fn sets(report: &Report) -> Vec<Vec<u64>> {
    report.sets.iter().map(|set| set.ids.iter().copied().collect()).collect()
}

const SIXTEEN: [u64; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

#[test]
fn one_change_takes_the_easy_way() {
    let mut patterns = Vec::new();
    let mut inner = target(&SIXTEEN, |on| on(6));
    let report = GoPeer { count: 1, ..GoPeer::default() }
        .search(|pattern| {
            patterns.push(pattern.to_owned());
            inner(pattern)
        })
        .unwrap();
    assert_eq!(sets(&report), [[6]]);
    assert!(report.sets[0].confirmed && !report.disable);
    // One hex digit distinguishes them, and one is to spare.
    assert_eq!(patterns, ["n", "y", "+0", "+00", "+10", "+010", "+110", "+0110", "v+x06", "-x06"]);
    assert_eq!((report.trials, report.runs), (10, 10));
}

#[test]
fn every_trial_is_run_twice_by_default() {
    let report = GoPeer::default().search(target(&SIXTEEN, |on| on(6))).unwrap();
    assert_eq!((report.trials, report.runs), (10, 20));
}

#[test]
fn a_pair_in_both_halves_takes_the_hard_way() {
    let report = GoPeer::default().search(target(&SIXTEEN, |on| on(4) && on(7))).unwrap();
    assert_eq!(sets(&report), [[4, 7]]);
}

#[test]
fn several_sets_are_found_one_after_the_other() {
    let fails = |on: &dyn Fn(u64) -> bool| on(3) || on(9) && on(12) && on(2) || on(0) && on(15);
    let report = GoPeer::default().search(target(&SIXTEEN, fails)).unwrap();
    let mut found = sets(&report);
    found.sort();
    assert_eq!(found, [vec![0, 15], vec![2, 9, 12], vec![3]]);
    let one = GoPeer { max: Some(1), ..GoPeer::default() }.search(target(&SIXTEEN, fails)).unwrap();
    assert_eq!(one.sets.len(), 1);
}

#[test]
fn disabling_is_searched_with_inverted_patterns() {
    let mut patterns = Vec::new();
    let mut inner = target(&SIXTEEN, |on| !on(5) && !on(6));
    let report = GoPeer::default()
        .search(|pattern| {
            patterns.push(pattern.to_owned());
            inner(pattern)
        })
        .unwrap();
    assert_eq!(sets(&report), [[5, 6]]);
    assert!(report.disable);
    assert!(patterns.iter().all(|pattern| pattern == "n" || pattern == "y" || pattern.contains('!')), "{patterns:?}");
}

#[test]
fn a_set_that_is_too_large_is_given_up() {
    let pair = || target(&SIXTEEN, |on| on(4) && on(7));
    assert_eq!(GoPeer { max_set: Some(1), ..GoPeer::default() }.search(pair()), Err(Stuck::TooLarge));
    assert!(GoPeer { max_set: Some(2), ..GoPeer::default() }.search(pair()).is_ok());
}

#[test]
fn what_it_cannot_search_is_an_error() {
    let search = |target: &mut dyn FnMut(&str) -> (bool, Vec<u64>)| GoPeer::default().search(target);
    assert_eq!(search(&mut |_| (true, vec![])), Err(Stuck::NoDifference { success: true }));
    assert_eq!(search(&mut |_| (false, vec![1])), Err(Stuck::NoDifference { success: false }));
    let silent = &mut |pattern: &str| (pattern == "n", vec![]);
    assert_eq!(search(silent), Err(Stuck::NoMatches { pattern: "y".into() }));
    let mut run = 0;
    let flaky = &mut |_: &str| {
        run += 1;
        (run != 4, vec![1])
    };
    assert_eq!(search(flaky), Err(Stuck::Inconsistent { pattern: "y".into() }));
    // The target fails with everything, but then with neither both halves nor one beside the other.
    let contradicting = &mut |pattern: &str| (pattern != "y", vec![0, 1]);
    assert_eq!(search(contradicting), Err(Stuck::Inconsistent { pattern: "+0+1".into() }));
}

#[test]
fn suffixes_and_digits() {
    assert_eq!(shared_suffix(&[0b0101, 0b1101, 0b0001]), "01");
    assert_eq!(shared_suffix(&[0, 1]), "");
    assert_eq!(telling_digits([0x11, 0x21, 0x31].into_iter()), 3);
    assert_eq!(telling_digits([5, 5].into_iter()), 1);
    assert_eq!(telling_digits([0, 1 << 63].into_iter()), 16);
}

#[test]
fn markers_are_read_from_any_bytes() {
    let output = b"\xff\xfe [bisect-match 0x00000000000000ff] \xff\nno match\n[bisect-match 101]\n[bisect-match 0xZZ]";
    assert_eq!(reported_ids(output), [255, 5]);
}
