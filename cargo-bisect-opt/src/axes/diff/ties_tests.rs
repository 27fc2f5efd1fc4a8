//! Tests of ties with a compiler that knows which parts need each other.

use std::{convert::Infallible, path::PathBuf};

use super::{super::checks::MAX_CHECKS, *};
use crate::vcs::patch::trees::{ChangedFile, FileMode, FileVersion};

const LIMIT: CheckLimit = CheckLimit { most: MAX_CHECKS, show: None };

/// A compiler that requires some parts for others, and names the missing ones by their definitions.
struct Needs {
    /// Pairs: the first part does not compile without the second.
    pairs: Vec<(usize, usize)>,
    checks: usize,
}

impl Check for Needs {
    type Error = Infallible;

    fn check(&mut self, parts: &PartSet) -> Result<Checked, Infallible> {
        self.checks += 1;
        let missing = self.pairs.iter().filter(|(one, other)| parts.contains(one) && !parts.contains(other));
        let errors = missing.map(|(one, other)| ((PathBuf::from(format!("part{one}.rs")), 0), format!("f{other}")));
        let (places, names): (BTreeSet<_>, BTreeSet<_>) = errors.unzip();
        Ok(if names.is_empty() {
            Checked::Compiles
        } else {
            Checked::Fails(Complaint { places, names, ..Complaint::default() })
        })
    }
}

/// A compiler that does not say what is missing.
struct Silent(Needs);

impl Check for Silent {
    type Error = Infallible;

    fn check(&mut self, parts: &PartSet) -> Result<Checked, Infallible> {
        let Ok(checked) = self.0.check(parts);
        Ok(if checked == Checked::Compiles { checked } else { Checked::Fails(Complaint::default()) })
    }
}

/// Returns a patch that adds one file for each part. Part `n` defines `fn`, and uses the functions of `uses`.
fn patch(uses: &[&[usize]]) -> Patch {
    let file = |(n, uses): (usize, &&[usize])| {
        let calls = uses.iter().fold(String::new(), |calls, used| format!("{calls} f{used}();"));
        let content = format!("fn f{n}() {{ {calls} }}\n").into_bytes();
        let path = PathBuf::from(format!("part{n}.rs"));
        ChangedFile { old: None, new: Some(FileVersion { path, mode: FileMode::Plain, content }) }
    };
    Patch::new(uses.iter().enumerate().map(file).collect())
}

/// Returns the order, and the groups with the number of checks.
fn divided(uses: &[&[usize]], pairs: &[(usize, usize)]) -> (Vec<usize>, Vec<Vec<usize>>, usize) {
    let patch = patch(uses);
    let words: Vec<_> = patch.parts().iter().map(|part| PartWords::of(&patch, part)).collect();
    let ties = Ties::new(&patch, &words);
    let mut compiler = Needs { pairs: pairs.to_vec(), checks: 0 };
    let Ok(groups) = ties.groups(ties.order(), &mut compiler, LIMIT);
    (ties.order(), groups, compiler.checks)
}

#[test]
fn definitions_come_before_uses() {
    let (order, groups, checks) = divided(&[&[3], &[0], &[], &[2]], &[(0, 3), (1, 0), (3, 2)]);
    assert_eq!(order, [2, 3, 0, 1]);
    assert_eq!(groups, [[2], [3], [0], [1]]);
    assert_eq!(checks, 3, "all prefixes of the order compile");
}

#[test]
fn what_the_compiler_does_not_read_is_tied_to_nothing() {
    let version = |path: &str, content: &str| {
        Some(FileVersion { path: path.into(), mode: FileMode::Plain, content: content.into() })
    };
    let file = |path: &str, new: &str| ChangedFile { old: version(path, "fn f() {}\n"), new: version(path, new) };
    let patch =
        Patch::new(vec![file("a.rs", "fn g() {}\n"), file("b.rs", "fn h() {}\n"), file("c.md", "f, g and h\n")]);
    let words: Vec<_> = patch.parts().iter().map(|part| PartWords::of(&patch, part)).collect();
    let ties = Ties::new(&patch, &words);
    let mut compiler = Needs { pairs: vec![(0, 1), (1, 0)], checks: 0 };
    assert_eq!(ties.groups(ties.order(), &mut compiler, LIMIT), Ok(vec![vec![2], vec![0, 1]]));
}

#[test]
fn parts_that_need_each_other_are_one_change() {
    let (_, groups, _) = divided(&[&[1], &[0], &[], &[]], &[(0, 1), (1, 0)]);
    let mut groups = groups;
    groups.sort();
    assert_eq!(groups, [vec![0, 1], vec![2], vec![3]]);
}

#[test]
fn parts_that_are_far_from_each_other_are_tied_without_those_between() {
    for (count, pairs) in [(16, vec![(0, 15), (15, 0)]), (24, vec![(0, 23), (23, 5), (5, 0), (9, 21), (4, 9)])] {
        let uses: Vec<&[usize]> = vec![&[]; count];
        let patch = patch(&uses);
        let words: Vec<_> = patch.parts().iter().map(|part| PartWords::of(&patch, part)).collect();
        let ties = Ties::new(&patch, &words);
        let mut compiler = Silent(Needs { pairs: pairs.clone(), checks: 0 });
        let Ok(groups) = ties.groups(ties.order(), &mut compiler, LIMIT);
        let mut joint: Vec<_> = groups.iter().filter(|group| group.len() > 1).cloned().collect();
        joint.sort();
        let expected = if count == 16 { [vec![0, 15]] } else { [vec![0, 5, 23]] };
        assert_eq!(joint, expected, "{groups:?}");
        // Each prefix compiles.
        let place = |part: usize| groups.iter().position(|group| group.contains(&part)).unwrap();
        assert!(pairs.iter().all(|&(one, other)| place(other) <= place(one)), "{groups:?}");
        assert!(compiler.0.checks <= 6 * count, "{} checks", compiler.0.checks);
    }
}

#[test]
fn errors_correct_an_order_that_names_do_not_show() {
    // The text of no part shows that it needs another one.
    for count in [2, 5, 9, 16] {
        let uses: Vec<&[usize]> = vec![&[]; count];
        let pairs: Vec<_> = (0..count - 1).map(|n| (n, n + 1)).collect();
        let (_, groups, checks) = divided(&uses, &pairs);
        let expected: Vec<_> = (0..count).rev().map(|n| vec![n]).collect();
        assert_eq!(groups, expected);
        assert!(checks <= 12 * count, "{checks} checks");
    }
}

#[test]
fn a_large_order_that_compiles_is_not_checked_at_each_part() {
    let uses: Vec<&[usize]> = vec![&[]; 160];
    let (order, groups, checks) = divided(&uses, &[]);
    assert_eq!(groups, order.iter().map(|&part| vec![part]).collect::<Vec<_>>());
    assert!(checks <= 2 * MIN_RANGES, "{checks} checks");
    // Two parts in one small range need each other: the errors are found out where the range is divided, if at all.
    let (_, groups, checks) = divided(&uses, &[(40, 120), (120, 40)]);
    assert!(groups.contains(&vec![40, 120]), "{groups:?}");
    assert!(checks <= 6 * MIN_RANGES, "{checks} checks");
}

#[test]
fn what_is_enabled_alone_gets_what_it_needs() {
    let patch = patch(&[&[], &[], &[], &[]]);
    let words: Vec<_> = patch.parts().iter().map(|part| PartWords::of(&patch, part)).collect();
    let ties = Ties::new(&patch, &words);
    let all: PartSet = (0..4).collect();
    let mut compiler = Needs { pairs: vec![(3, 1), (1, 0)], checks: 0 };
    assert_eq!(ties.extended([3].into(), &all, &mut compiler), Ok(Some([0, 1, 3].into())));
    assert_eq!(ties.extended([2].into(), &all, &mut compiler), Ok(Some([2].into())));
    assert_eq!(ties.extended([3].into(), &[3].into(), &mut compiler), Ok(None));
}

#[test]
fn joined_groups_take_the_later_place() {
    let groups = vec![vec![0], vec![1], vec![2, 3]];
    assert_eq!(joined(groups.clone(), &[(3, 0)]), [vec![1], vec![0, 2, 3]]);
    assert_eq!(joined(groups.clone(), &[(2, 3)]), groups);
}
