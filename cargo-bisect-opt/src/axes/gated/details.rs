//! Details of a report about an expression, in the words of one direction of the search.
//!
//! `bisect-rustc` describes the effect of an enabled change: what the other edition drops earlier or captures as well. Where
//! disabled changes break the target, the effect of the present edition is of interest, which is the opposite.

use bisect_core::search::Mode;

/// The beginnings of details that have an opposite.
const OPPOSITES: [[&str; 2]; 3] = [
    ["dropped earlier: ", "dropped later: "],
    ["gone earlier: ", "gone later: "],
    ["captured as well: ", "captured no more: "],
];
/// Begins the edit with which both editions have the meaning of the crate's own one.
const KEEP: &str = "to keep it: ";
/// Begins the edit with which both editions have the meaning of the other one.
const MEND: &str = "to mend it: ";

/// Returns the details for people: the effect that breaks the target, and the edit that mends it.
pub(super) fn in_direction(details: &[String], mode: Mode) -> Vec<String> {
    let unwanted = match mode {
        Mode::Enable => MEND,
        Mode::Disable => KEEP,
    };
    let wanted = details.iter().filter(|detail| !detail.starts_with(unwanted));
    match mode {
        Mode::Enable => wanted.cloned().collect(),
        Mode::Disable => wanted.map(|detail| opposite(detail)).collect(),
    }
}

fn opposite(detail: &str) -> String {
    let both = OPPOSITES.into_iter().flat_map(|[one, other]| [[one, other], [other, one]]);
    let mut replaced = both.filter_map(|[from, to]| Some(to.to_owned() + detail.strip_prefix(from)?));
    replaced.next().unwrap_or_else(|| detail.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_about_what_breaks_the_target() {
        let all = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let reported = "dropped earlier: Guard (a.rs:2:3)\ngone later: Row\ncaptured no more: '_\nDrop: a.rs:1:1\n\
                        to keep it: match f() { … }\nto mend it: let t = f();\nexpanded from m! at a.rs:9:1";
        for (mode, shown) in [
            (
                Mode::Enable,
                "dropped earlier: Guard (a.rs:2:3)\ngone later: Row\ncaptured no more: '_\nDrop: a.rs:1:1\n\
                 to keep it: match f() { … }\nexpanded from m! at a.rs:9:1",
            ),
            (
                Mode::Disable,
                "dropped later: Guard (a.rs:2:3)\ngone earlier: Row\ncaptured as well: '_\nDrop: a.rs:1:1\n\
                 to mend it: let t = f();\nexpanded from m! at a.rs:9:1",
            ),
        ] {
            assert_eq!(in_direction(&all(reported), mode), all(shown), "{mode:?}");
        }
    }
}
