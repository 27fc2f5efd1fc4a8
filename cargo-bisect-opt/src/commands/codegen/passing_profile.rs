//! The good side of a target that fails in one profile and passes in another: the smallest set that decides.
//!
//! A `debug_assert!` with a side effect, code under `cfg(debug_assertions)` and an overflow that only checks catch make
//! a target pass in the dev profile, and fail in release at every level of optimization. A `debug_assert!` that does not
//! hold, a check that the compiler adds, and large stack frames make it fail in the dev profile, and pass in release.
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

use super::CodegenSearches;
use crate::{
    axes::{compared_options::Settings, compilation::Compilation, fixed::Fixed},
    cargo::{
        BuildOverrides,
        graph::Package,
        profiles::{CHECKS, KEYS, Profiles},
    },
    lab::Lab,
    output::events::Event,
    run::result::RunResult,
    targets::project::ProjectTarget,
    units,
};

/// The search for a good side, with experiments that compile all crates in one way.
pub(super) struct PassingProfile<'a> {
    /// The searches that it belongs to.
    pub(super) drill: &'a CodegenSearches,
    /// The compilation in the profile in which the target fails. Its good options stay, and are not enough.
    pub(super) compilation: &'a Compilation,
    /// The name of the profile whose settings are tried.
    pub(super) name: &'a str,
    /// The settings that are tried.
    pub(super) keys: &'a [&'static str],
    /// The user's profiles.
    pub(super) profiles: Profiles,
    /// The tests that fail without them; empty if they are not known.
    pub(super) failing: BTreeSet<String>,
}

/// The result of the search for a good side.
pub(super) enum GoodSide {
    /// A compilation whose good side is the smallest set of settings with which the target passes, or at least fewer of
    /// its tests fail.
    Found(Arc<Compilation>),
    /// The settings of the profile change nothing.
    Nothing,
    /// The user wants to stop, or no run is left.
    Stopped,
}

/// The outcome of the target in a profile as it is.
pub(super) enum OwnOutcome {
    /// It fails: these tests, if they are known.
    Fails(BTreeSet<String>),
    /// It passes, or the run has no result.
    DoesNotFail,
    /// The user wants to stop, or no run is left.
    Stopped,
}

/// The result of an experiment.
enum Experiment {
    Run(Box<RunResult>),
    NoResult,
    /// The user wants to stop, or no run is left.
    Stopped,
}

/// The result of an attempt.
#[derive(PartialEq, Eq)]
enum Tried {
    /// Only these tests still fail; none if the target passes.
    Helps(BTreeSet<String>),
    /// It fails as before, or has no result.
    Fails,
    /// The user wants to stop, or no run is left.
    Stopped,
}

impl<'a> PassingProfile<'a> {
    /// Returns the search for a good side among all settings of a profile.
    pub(super) fn new(drill: &'a CodegenSearches, name: &'a str) -> Self {
        let profiles = drill.project.profiles();
        Self { drill, compilation: &drill.compilation, name, keys: &KEYS, profiles, failing: BTreeSet::new() }
    }

    /// Searches for a good side.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(super) fn find(&self, lab: &mut Lab<'_>) -> io::Result<GoodSide> {
        let Self { compilation: Compilation { contrast, profile, .. }, name, .. } = *self;
        let usual = &contrast.good;
        let tried = self.differing();
        let with_usual = if *usual == Settings::default() {
            "without the flags of --bad".to_owned()
        } else {
            format!("with {usual}")
        };
        let also = if self.is_whole() {
            format!("the target fails in the {profile} profile")
        } else {
            format!("the target also fails {with_usual} in every crate")
        };
        let advice = format!(
            "check that it passes {}. If it does, another setting of the {name} profile decides, which is not searched \
             (panic, lto, debug, strip): copy its keys to [profile.{profile}] one by one",
            self.option()
        );
        if tried.is_empty() {
            let keys = units::listed(self.keys.iter().map(|&key| key.to_owned()));
            lab.emit(&Event::Note(&format!(
                "{also}, and the {name} profile has the same {keys} as the {profile} profile; {advice}"
            )))?;
            return Ok(GoodSide::Nothing);
        }
        let added = Settings { keys: tried.clone(), ..Settings::default() };
        let what = if self.is_whole() { "settings" } else { "checks" };
        lab.emit(&Event::Note(&format!("{also}. Next, with the {what} of the {name} profile: {added}")))?;
        let mut all = usual.clone();
        all.keys.extend(tried);
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
        for keys in smaller_sets(&all.keys, &usual.keys, self.keys) {
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
        let bad = if self.is_whole() { format!("--bad {profile} ") } else { String::new() };
        lab.emit(&Event::Note(&format!(
            "{passes} with {all}, and with no smaller set of settings. The crates are now searched with {bad}--good '{all}'"
        )))?;
        Ok(GoodSide::Found(Arc::new(self.with(&all))))
    }

    /// Runs the target in the profile in which it is to fail.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(super) fn as_it_stands(&self, lab: &mut Lab<'_>) -> io::Result<OwnOutcome> {
        let Compilation { packages, profile, .. } = self.compilation;
        let all = packages.iter().map(|package| package.change).collect();
        let build = self.compilation.with(&all, &BTreeMap::new());
        Ok(match self.experiment(lab, build, format!("in the {profile} profile"))? {
            Experiment::Run(run) if run.outcome == Outcome::Fail => {
                OwnOutcome::Fails(known_tests(&run).unwrap_or_default())
            }
            Experiment::Run(_) | Experiment::NoResult => OwnOutcome::DoesNotFail,
            Experiment::Stopped => OwnOutcome::Stopped,
        })
    }

    /// Returns the compilation with all settings of the profile.
    pub(super) fn whole(&self) -> Compilation {
        let mut good = self.compilation.contrast.good.clone();
        good.keys.extend(self.differing());
        self.with(&good)
    }

    /// Returns true if all settings of the profile are tried that can be.
    fn is_whole(&self) -> bool {
        self.keys.len() == KEYS.len()
    }

    /// Returns the words for the option that chooses the profile.
    fn option(&self) -> String {
        let option = |name: &str| if name == "release" { "--release".to_owned() } else { format!("--profile {name}") };
        match self.name {
            "dev" | "test" => format!("without {}", option(&self.compilation.profile)),
            name => format!("with {}", option(name)),
        }
    }

    /// Returns the settings that are tried: those with another value in any package.
    fn differing(&self) -> BTreeMap<String, String> {
        let differing = |&key: &&'static str| {
            let value = self.compilation.packages.iter().find_map(|package| {
                let value = self.value(package, key);
                (value != self.compilation.bad_value(package, key)).then_some(value)
            })?;
            Some((key.to_owned(), value))
        };
        self.keys.iter().filter_map(differing).collect()
    }

    /// Returns the value of a key in a package, by the profile whose settings are tried.
    fn value(&self, package: &Package, key: &str) -> String {
        let default = self.drill.project.subcommand.default_profile();
        let profile = if self.name == "dev" { default } else { self.name };
        self.profiles.key_of(profile, key, (package.spec.as_str(), package.is_own), variable)
    }

    /// Returns the compilation with these good options, in which packages have the values of the profile.
    fn with(&self, good: &Settings) -> Compilation {
        let exceptions = self.compilation.packages.iter().filter_map(|package| {
            let tried = good.keys.iter().filter(|(key, _)| self.keys.contains(&key.as_str()));
            let own = tried.map(|(key, usual)| (key.clone(), self.value(package, key), usual));
            let own = own.filter(|(_, value, usual)| value != *usual).map(|(key, value, _)| (key, value));
            let own: BTreeMap<_, _> = own.collect();
            (!own.is_empty()).then_some((package.change, own))
        });
        self.compilation.with_good(good.clone(), exceptions.collect())
    }

    /// Runs the target with all crates compiled with these options.
    fn attempt(&self, lab: &mut Lab<'_>, good: &Settings) -> io::Result<Tried> {
        let build = self.with(good).with(&BTreeSet::<ChangeId>::new(), &BTreeMap::new());
        Ok(match self.experiment(lab, build, format!("with {good} in every crate"))? {
            Experiment::Run(run) if run.outcome == Outcome::Pass => Tried::Helps(BTreeSet::new()),
            Experiment::Run(run) if run.outcome == Outcome::Fail => match known_tests(&run) {
                Some(failing) if failing.is_subset(&self.failing) && failing != self.failing => Tried::Helps(failing),
                _ => Tried::Fails,
            },
            Experiment::Run(_) | Experiment::NoResult => Tried::Fails,
            Experiment::Stopped => Tried::Stopped,
        })
    }

    /// Runs the target with this build.
    fn experiment(&self, lab: &mut Lab<'_>, build: BuildOverrides, subject: String) -> io::Result<Experiment> {
        if lab.stops_at_limit() || lab.interrupt.requested() {
            return Ok(Experiment::Stopped);
        }
        let CodegenSearches { settings, project, .. } = self.drill;
        let fixed = Box::new(Fixed { build, subject });
        let mut target = ProjectTarget::new(settings.clone(), project.clone(), fixed, None);
        Ok(match lab.try_once(&mut target)? {
            Ok(run) => Experiment::Run(Box::new(run)),
            Err(_) if lab.interrupt.requested() => Experiment::Stopped,
            Err(_) => Experiment::NoResult,
        })
    }
}

/// Returns the tests that failed, if all that failed are known.
fn known_tests(run: &RunResult) -> Option<BTreeSet<String>> {
    let is_known = run.failures.iter().all(|failed| failed.test.is_some()) && !run.failed_tests.is_empty();
    is_known.then(|| run.failed_tests.iter().cloned().collect())
}

/// Returns the value of an environment variable, which may be a key of a profile.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the subsets of settings that are smaller than all of them, the smallest first, without those that are a part
/// of `usual`. Of equal sizes, those without the usual settings come first, and then those of the first keys in `order`.
fn smaller_sets(
    all: &BTreeMap<String, String>,
    usual: &BTreeMap<String, String>,
    order: &[&str],
) -> Vec<BTreeMap<String, String>> {
    let mut settings: Vec<_> = all.iter().collect();
    settings.sort_by_key(|(key, _)| (usual.contains_key(*key), order.iter().position(|other| other == key)));
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
        "with the good options in every crate, this still fails: {names}. If it passes in the dev profile, search it alone, \
         by name: then {assertions} and {overflow} are tried, too"
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
            let sets = smaller_sets(&map(all), &map(usual), &["da", "oc"]);
            sets.iter().map(|set| set.keys().cloned().collect::<Vec<_>>().join("+")).collect::<Vec<_>>()
        };
        assert_eq!(sets(&["opt", "da", "oc"], &["opt"]), ["da", "oc", "da+oc", "da+opt", "oc+opt"]);
        assert_eq!(sets(&["opt", "oc"], &["opt"]), ["oc"]);
        assert_eq!(sets(&["da"], &[]), [""; 0]);
        assert_eq!(sets(&["oc", "da"], &[]), ["da", "oc"]);
    }
}
