//! The good side of a target that fails even without optimization: what else the dev profile checks.
//!
//! A `debug_assert!` with a side effect, code under `cfg(debug_assertions)` and an overflow that only checks catch make
//! a target pass in the dev profile, and fail in release at every level of optimization.
//!
//! Checks are the second guess, not a part of the first. With optimization and checks in one good side, a culprit would
//! not say which of them matters, and the search would go on for functions and passes where none can decide. So checks
//! cost runs only where optimization explains nothing. The smallest sufficient set of settings is searched, because the
//! workaround has all of them. Other settings (`panic`, `lto`, `debug`, `strip`) are only named.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

use bisect_core::{ChangeId, search::Outcome};

use super::Drill;
use crate::{
    axes::{compilation::Compilation, contrast::Settings, fixed::Fixed},
    cargo::{
        graph::Package,
        profiles::{CHECKS, Profiles},
    },
    lab::Lab,
    output::events::Event,
    targets::project::ProjectTarget,
    units,
};

/// The search for a good side, with experiments that compile all crates in one way.
pub(super) struct DevSide<'a> {
    /// The searches that it belongs to.
    pub(super) drill: &'a Drill,
    /// The compilation with the default good side, with which the target fails.
    pub(super) compilation: &'a Compilation,
    /// The user's profiles.
    pub(super) profiles: Profiles,
    /// The tests that fail with it; empty if they are not known.
    pub(super) failing: BTreeSet<String>,
}

/// The result of the search for a good side.
pub(super) enum GoodSide {
    /// A compilation whose good side is the smallest set of settings with which the target passes, or at least fewer of
    /// its tests fail.
    Found(Arc<Compilation>),
    /// The checks of the dev profile change nothing.
    Nothing,
    /// The user wants to stop, or no run is left.
    Stopped,
}

/// The result of an experiment.
#[derive(PartialEq, Eq)]
enum Tried {
    /// Only these tests still fail; none if the target passes.
    Helps(BTreeSet<String>),
    /// It fails as before, or has no result.
    Fails,
    /// The user wants to stop, or no run is left.
    Stopped,
}

impl DevSide<'_> {
    /// Searches for a good side.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(super) fn find(&self, lab: &mut Lab<'_>) -> io::Result<GoodSide> {
        let Compilation { contrast, profile, .. } = self.compilation;
        let usual = &contrast.good;
        let with_usual = if *usual == Settings::default() {
            "without the flags of --bad".to_owned()
        } else {
            format!("with {usual}")
        };
        let checks: BTreeMap<_, _> = CHECKS.into_iter().filter_map(|key| self.dev_value(key)).collect();
        let option = if profile == "release" { "--release".to_owned() } else { format!("--profile {profile}") };
        let advice = format!(
            "check that it passes without {option}. If it does, another setting of the dev profile decides, which is not \
             searched (panic, lto, debug, strip): copy its keys to [profile.{profile}] one by one"
        );
        if checks.is_empty() {
            let [assertions, overflow] = CHECKS;
            lab.emit(&Event::Note(&format!(
                "the target also fails {with_usual} in every crate, and the dev profile has the same {assertions} and {overflow} \
                 as the {profile} profile; {advice}"
            )))?;
            return Ok(GoodSide::Nothing);
        }
        let added = Settings { keys: checks.clone(), ..Settings::default() };
        lab.emit(&Event::Note(&format!(
            "the target also fails {with_usual} in every crate. Next, with the checks of the dev profile: {added}"
        )))?;
        let mut all = usual.clone();
        all.keys.extend(checks);
        let still_failing = match self.attempt(lab, &all)? {
            Tried::Helps(still_failing) => still_failing,
            Tried::Stopped => return Ok(GoodSide::Stopped),
            Tried::Fails => {
                lab.emit(&Event::Note(&format!("the target also fails with {all} in every crate; {advice}")))?;
                return Ok(GoodSide::Nothing);
            }
        };
        let passes = if still_failing.is_empty() { "the target passes" } else { "fewer tests fail" };
        let enough = Tried::Helps(still_failing);
        for keys in smaller_sets(&all.keys, &usual.keys) {
            let settings = Settings { keys, ..usual.clone() };
            let tried = self.attempt(lab, &settings)?;
            if tried == Tried::Stopped {
                return Ok(GoodSide::Stopped);
            }
            if tried == enough {
                all = settings;
                break;
            }
        }
        lab.emit(&Event::Note(&format!(
            "{passes} with {all}, and fewer settings are not enough: crates are searched with --good '{all}'"
        )))?;
        Ok(GoodSide::Found(Arc::new(self.with(&all))))
    }

    /// Returns one of the checks with its value in the dev profile, if any package has another value with the bad
    /// options.
    fn dev_value(&self, key: &str) -> Option<(String, String)> {
        let differing = self.compilation.packages.iter().find_map(|package| {
            let value = self.of_dev(package, key);
            let bad = self.compilation.bad_value(package, key).map(str::to_owned);
            let of_profile = || self.check_in(&self.compilation.profile, package, key);
            (value != bad.unwrap_or_else(of_profile)).then_some(value)
        })?;
        Some((key.to_owned(), differing))
    }

    fn of_dev(&self, package: &Package, key: &str) -> String {
        self.check_in(self.drill.project.subcommand.default_profile(), package, key)
    }

    /// Returns the value of a check in a package, by a profile.
    fn check_in(&self, profile: &str, package: &Package, key: &str) -> String {
        let named = (package.spec.as_str(), package.is_own);
        self.profiles.has_check(profile, key, named, variable).to_string()
    }

    /// Returns the compilation with these good options, in which packages have the checks of the dev profile.
    fn with(&self, good: &Settings) -> Compilation {
        let exceptions = self.compilation.packages.iter().filter_map(|package| {
            let checks = good.keys.iter().filter(|(key, _)| CHECKS.contains(&key.as_str()));
            let own = checks.map(|(key, usual)| (key.clone(), self.of_dev(package, key), usual));
            let own = own.filter(|(_, value, usual)| value != *usual).map(|(key, value, _)| (key, value));
            let own: BTreeMap<_, _> = own.collect();
            (!own.is_empty()).then_some((package.change, own))
        });
        self.compilation.with_good(good.clone(), exceptions.collect())
    }

    /// Runs the target with all crates compiled with these options.
    fn attempt(&self, lab: &mut Lab<'_>, good: &Settings) -> io::Result<Tried> {
        if lab.stops_at_limit() || lab.interrupt.requested() {
            return Ok(Tried::Stopped);
        }
        let build = self.with(good).with(&BTreeSet::<ChangeId>::new(), &BTreeMap::new());
        let fixed = Fixed { build, subject: format!("with {good} in every crate") };
        let Drill { settings, project, .. } = self.drill;
        let mut target = ProjectTarget::new(settings.clone(), project.clone(), Box::new(fixed), None);
        let Ok(run) = lab.try_once(&mut target)? else {
            return Ok(if lab.interrupt.requested() { Tried::Stopped } else { Tried::Fails });
        };
        let is_known = run.failures.iter().all(|failed| failed.test.is_some()) && !run.failed_tests.is_empty();
        let failing: BTreeSet<_> = run.failed_tests.into_iter().collect();
        Ok(match run.outcome {
            Outcome::Pass => Tried::Helps(BTreeSet::new()),
            Outcome::Fail if is_known && failing.is_subset(&self.failing) && failing != self.failing => {
                Tried::Helps(failing)
            }
            _ => Tried::Fails,
        })
    }
}

/// Returns the value of an environment variable, which may be a key of a profile.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the subsets of settings that are smaller than all of them, the smallest first, without those that are a part
/// of `usual`. Of equal sizes, those without the usual settings come first.
fn smaller_sets(all: &BTreeMap<String, String>, usual: &BTreeMap<String, String>) -> Vec<BTreeMap<String, String>> {
    let mut settings: Vec<_> = all.iter().collect();
    settings.sort_by_key(|(key, _)| usual.contains_key(*key));
    let subset = |mask: usize| {
        let chosen = settings.iter().enumerate().filter(move |(place, _)| mask >> place & 1 == 1);
        chosen.map(|(_, &(key, value))| (key.clone(), value.clone())).collect::<BTreeMap<_, _>>()
    };
    // A smaller mask has the settings that come first.
    let mut subsets: Vec<_> = (1..(1_usize << settings.len()) - 1).map(subset).collect();
    subsets.retain(|subset| subset.keys().any(|key| !usual.contains_key(key)));
    subsets.sort_by_key(BTreeMap::len);
    subsets
}

/// Returns a note about tests that fail in both ways, while culprits of others were found.
pub(super) fn note_about_the_rest(failing: &BTreeSet<String>) -> String {
    let names = units::listed(failing.iter().cloned());
    let [assertions, overflow] = CHECKS;
    format!(
        "also with the good options in every crate, this fails: {names}. If it passes in the dev profile, search it alone, by \
         name: {assertions} and {overflow} are then tried, too"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_checks_come_before_pairs() {
        let map =
            |keys: &[&str]| keys.iter().map(|key| ((*key).to_owned(), "1".to_owned())).collect::<BTreeMap<_, _>>();
        let sets = |all: &[&str], usual: &[&str]| {
            let sets = smaller_sets(&map(all), &map(usual));
            sets.iter().map(|set| set.keys().cloned().collect::<Vec<_>>().join("+")).collect::<Vec<_>>()
        };
        assert_eq!(sets(&["opt", "da", "oc"], &["opt"]), ["da", "oc", "da+oc", "da+opt", "oc+opt"]);
        assert_eq!(sets(&["opt", "oc"], &["opt"]), ["oc"]);
        assert_eq!(sets(&["da"], &[]), [""; 0]);
    }
}
