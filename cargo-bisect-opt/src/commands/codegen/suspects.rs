//! Search for passes that each repair the target when they are disabled.
//!
//! A group is disabled together, and halved if that repairs the target.

use std::collections::BTreeSet;

use bisect_core::search::Outcome;

use crate::compiler::passes::Pass;

/// The maximum number of builds for the search.
pub(crate) const BUILDS: usize = 16;

/// The result of the search.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Suspects {
    /// The passes that each repair the target.
    pub(crate) repairing: Vec<String>,
    /// The number of passes that do not repair it, because their group does not.
    pub(crate) cleared: usize,
    /// The number of passes without a result.
    pub(crate) unknown: usize,
}

impl Suspects {
    /// Searches among these passes, with at most `runs` runs. `without` makes a run without some of the passes, and
    /// returns `None` if it was not made.
    ///
    /// # Errors
    /// If a run fails with an error.
    pub(crate) fn find<E>(
        names: &[String],
        runs: usize,
        without: impl FnMut(&[String]) -> Result<Option<Outcome>, E>,
    ) -> Result<Self, E> {
        let mut finder = Finder { suspects: Self::default(), runs, without };
        finder.look_into(names, false)?;
        Ok(finder.suspects)
    }

    /// Describes the result for people. `flags` returns the flags that disable a pass.
    pub(crate) fn describe(&self, flags: impl Fn(&str) -> String) -> String {
        let Self { repairing, cleared, unknown } = self;
        let untried = if *unknown > 0 { format!("; {unknown} were not tried") } else { String::new() };
        match repairing.as_slice() {
            [] if *cleared == 0 => format!("it is not known whether leaving out another pass repairs it{untried}"),
            [] => format!("none of {cleared} other passes that ran on it repairs it when it is left out{untried}"),
            [name] => format!(
                "so does leaving out {name} alone ({}): the fault may lie there, and show only later{untried}",
                flags(name)
            ),
            [name, ..] => format!(
                "so does leaving out any of {} alone ({}, …): the fault may lie there, and show only later{untried}",
                repairing.join(", "),
                flags(name)
            ),
        }
    }
}

/// A search for passes that repair the target.
struct Finder<F> {
    suspects: Suspects,
    runs: usize,
    without: F,
}

impl<E, F: FnMut(&[String]) -> Result<Option<Outcome>, E>> Finder<F> {
    /// Returns true if disabling a group repairs the target. Records the passes of the group that repair it alone.
    fn look_into(&mut self, group: &[String], is_known_to_help: bool) -> Result<bool, E> {
        if group.is_empty() {
            return Ok(false);
        }
        let mut helps = is_known_to_help;
        if !helps || group.len() == 1 {
            let outcome = if self.runs == 0 { None } else { (self.without)(group)? };
            self.runs = self.runs.saturating_sub(1);
            match outcome {
                Some(Outcome::Pass) if group.len() == 1 => {
                    self.suspects.repairing.push(group[0].clone());
                    return Ok(true);
                }
                Some(Outcome::Fail) => {
                    self.suspects.cleared += group.len();
                    return Ok(false);
                }
                // The target may not even compile without all of these.
                Some(Outcome::Pass) => helps = true,
                Some(Outcome::Unresolved(_)) if group.len() > 1 => {}
                Some(Outcome::Unresolved(_)) | None => {
                    self.suspects.unknown += group.len();
                    return Ok(false);
                }
            }
        }
        let (first, second) = group.split_at(group.len().div_ceil(2));
        let first_helps = self.look_into(first, false)?;
        // If the first half does not help, the second one does, unless only both together help. Single passes are
        // always run.
        let second_helps = self.look_into(second, !first_helps && helps)?;
        Ok(first_helps || second_helps)
    }
}

/// Returns the names of the other passes that ran on the same function before the culprit, each once, in order.
pub(crate) fn others(all: &[Pass], culprit: &Pass) -> Vec<String> {
    let function = culprit.function();
    let before = all.iter().filter(|pass| pass.unit == culprit.unit && pass.number <= culprit.number);
    let mut seen: BTreeSet<_> = [culprit.name.as_str()].into();
    // The flags separate names by commas, and rustc splits flags at spaces. Names with brackets belong to analyses,
    // which do not change code.
    let can_be_named = |name: &str| !name.contains([' ', ',', '<']);
    before
        .filter(|pass| pass.function() == function && can_be_named(&pass.name))
        .filter(|pass| seen.insert(&pass.name))
        .map(|pass| pass.name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use bisect_core::search::Reason;

    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.chars().map(|c| c.to_string()).collect()
    }

    /// Searches a target that passes without any of `repairing`, and does not compile without any of `needed`. Returns
    /// the result, and the number of runs.
    fn find(all: &str, repairing: &str, needed: &str, runs: usize) -> (String, usize, usize, usize) {
        let mut made = 0;
        let found = Suspects::find(&names(all), runs, |group: &[String]| {
            made += 1;
            let has = |of: &str| group.iter().any(|name| of.contains(name.as_str()));
            Ok::<_, Infallible>(Some(match () {
                () if has(needed) => Outcome::Unresolved(Reason::Build),
                () if has(repairing) => Outcome::Pass,
                () => Outcome::Fail,
            }))
        });
        let Ok(Suspects { repairing, cleared, unknown }) = found;
        (repairing.concat(), cleared, unknown, made)
    }

    #[test]
    fn those_that_repair_it_alone_are_found() {
        for (all, repairing, needed, expected) in [
            ("", "", "", ("", 0, 0, 0)),
            ("a", "", "", ("", 1, 0, 1)),
            ("a", "a", "", ("a", 0, 0, 1)),
            ("abcdefgh", "", "", ("", 8, 0, 1)),
            ("abcdefgh", "a", "", ("a", 7, 0, 7)),
            ("abcdefgh", "h", "", ("h", 7, 0, 5)),
            ("abcd", "ad", "", ("ad", 2, 0, 7)),
            ("abcd", "a", "d", ("a", 2, 1, 7)),
        ] {
            let (names, cleared, unknown, most) = expected;
            let found = find(all, repairing, needed, BUILDS);
            assert_eq!((found.0.as_str(), found.1, found.2), (names, cleared, unknown), "{all} {repairing} {needed}");
            assert!(found.3 <= most, "{} runs for {all} {repairing} {needed}", found.3);
        }
    }

    #[test]
    fn the_result_is_described() {
        for (repairing, cleared, unknown, text) in [
            ("", 0, 2, "it is not known whether leaving out another pass repairs it; 2 were not tried"),
            ("", 3, 0, "none of 3 other passes that ran on it repairs it when it is left out"),
            ("a", 3, 0, "so does leaving out a alone (-no=a): the fault may lie there, and show only later"),
            (
                "ab",
                3,
                0,
                "so does leaving out any of a, b alone (-no=a, …): the fault may lie there, and show only later",
            ),
        ] {
            let suspects = Suspects { repairing: names(repairing), cleared, unknown };
            assert_eq!(suspects.describe(|name| format!("-no={name}")), text);
        }
    }

    #[test]
    fn what_there_are_no_runs_for_is_not_known() {
        let (repairing, cleared, unknown, runs) = find("abcdefgh", "ah", "", 4);
        assert_eq!((repairing.as_str(), runs), ("a", 4));
        assert_eq!(cleared + unknown, 7);
    }

    #[test]
    fn a_group_that_helps_only_together_clears_nobody() {
        // The target passes only if both are disabled.
        let found = Suspects::find(&names("ab"), BUILDS, |group: &[String]| {
            Ok::<_, Infallible>(Some(if group.len() == 2 { Outcome::Pass } else { Outcome::Fail }))
        });
        let Ok(found) = found;
        assert_eq!(found, Suspects { repairing: Vec::new(), cleared: 2, unknown: 0 });
    }

    #[test]
    fn other_passes_are_those_of_the_same_function_before() {
        let pass = |number, name: &str, on: &str| Pass {
            unit: "u".to_owned(),
            number,
            name: name.to_owned(),
            on: on.to_owned(),
        };
        let all = [
            pass(1, "early", "[module]"),
            pass(2, "sroa", "a::f"),
            pass(3, "gvn", "a::g"),
            pass(4, "licm", "loop %x in function a::f"),
            pass(5, "sroa", "a::f"),
            pass(6, "inline", "(a::f)"),
            pass(7, "X86 Selection", "a::f"),
            pass(8, "isel", "a::f"),
            pass(9, "late", "a::f"),
            pass(7, "RequireAnalysisPass<llvm::AAManager>", "a::f"),
        ];
        assert_eq!(others(&all, &all[7]), ["sroa", "licm", "inline"]);
        assert_eq!(others(&all, &all[0]), Vec::<String>::new());
    }
}
