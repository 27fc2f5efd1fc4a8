//! Features of a package as changes: each run builds with some of those that the command line enables.
//!
//! A feature is built together with those that it implies. So a run cannot have every selection. A change that is
//! enabled by itself takes along what it implies, and one that is left out takes along what implies it. If changes are
//! disabled, it is the reverse: one that is disabled by itself takes along what implies it. The order of the search is
//! the one whose prefixes need none of that: implied features come first, or, if changes are disabled, last.

use std::{collections::BTreeSet, ffi::OsStr, path::Path, slice};

use bisect_core::{
    ChangeId,
    search::{Mode, Order},
};

use super::{
    Application, Axis, CulpritChanges, CulpritWords, Files,
    command_spec::AxisError,
    facts::AxisFacts,
    headlines,
    option_axis::{AxisResult, OptionAxis, SearchedTarget},
};
use crate::{
    cargo::{self, BuildCounts, BuildOverrides, CargoError, SearchedFeatures},
    output::terms::Terms,
    report::{
        content::{Location, Report},
        kind::ChangeKind,
    },
    run::{
        error::RunError,
        numbering::{Numbering, id, position},
        spec::Choice,
    },
    units::{listed, plural},
};

/// `--features-of`.
pub(super) const OPTION: OptionAxis = OptionAxis {
    name: "features-of",
    value: "PKG",
    has_default: false,
    searches_environment: false,
    question: "which features of a package",
    help: "Find the features of package PKG that make the target fail",
    details: "Those that the command line enables are searched (`--all-features`, `--features` and `default`), and the \
              features that they imply. For `test` and `run`, a run that does not build is unresolved.",
    prepare,
};

/// The constants of this axis. A run reports all features that it switches; a package without any is refused before it.
const FACTS: AxisFacts = AxisFacts {
    builds: true,
    decides_which_tests_there_are: true,
    ..AxisFacts::of_known_changes(Terms {
        axis: "features",
        change: "feature",
        reported: None,
        if_none_reported: Some("no feature is enabled"),
    })
};
/// A feature, or several that imply each other.
const KIND: ChangeKind = ChangeKind::own("feature", "feature", "this feature");
/// The maximum number of features that a line names.
const MAX_NAMES: usize = 8;

/// The enabled features of a package. *None* has only those that cannot be disabled, *all* is the user's command line.
#[derive(Debug)]
struct Features {
    features: SearchedFeatures,
    relation: Relation,
}

fn prepare(target: &SearchedTarget<'_>, package: Option<&OsStr>) -> AxisResult {
    let Some(project) = target.project else {
        return Err(AxisError::Usage(
            "--features-of needs a target that cargo builds: use it with `test`, `run`, `build` or `check`".to_owned(),
        ));
    };
    let package = package.unwrap_or_default().to_string_lossy();
    let features = cargo::features_of(project, &package).map_err(|error| match error {
        CargoError::Nothing(why) => AxisError::Nothing(why),
        error => error.into(),
    })?;
    let implies = |a: usize, b: usize| features.graph.implies(&features.changes[a][0], &features.changes[b][0]);
    let relation = Relation::new(features.changes.len(), implies);
    Ok(Box::new(Features { features, relation }))
}

/// The implications among changes, which are numbered so that each follows those that it implies.
#[derive(Debug)]
struct Relation {
    /// For each change those that it implies, and itself.
    implied: Vec<BTreeSet<usize>>,
    /// For each change those that imply it, and itself.
    dependents: Vec<BTreeSet<usize>>,
}

impl Relation {
    /// Creates the relation of `count` changes. `implies` is transitive and reflexive.
    fn new(count: usize, implies: impl Fn(usize, usize) -> bool) -> Self {
        let related = |is_related: &dyn Fn(usize, usize) -> bool| {
            (0..count).map(|a| (0..count).filter(|&b| is_related(a, b)).collect()).collect()
        };
        Self { implied: related(&implies), dependents: related(&|a, b| implies(b, a)) }
    }

    /// Returns the changes that a run enables.
    fn enabled(&self, choice: &Choice) -> BTreeSet<usize> {
        let (count, is_inverted) = (self.implied.len(), choice.is_inverted());
        let companions = if is_inverted { &self.dependents } else { &self.implied };
        let selected = (0..count).filter(|change| choice.selects(id(*change)));
        let forced = (0..count).filter(|change| choice.forces(id(*change)));
        let switched: BTreeSet<usize> =
            selected.chain(forced.flat_map(|change| companions[change].iter().copied())).collect();
        let switched: BTreeSet<usize> = switched.into_iter().filter(|change| !choice.excludes(id(*change))).collect();
        let complete = switched.iter().copied().filter(|&change| companions[change].is_subset(&switched));
        let complete: BTreeSet<usize> = complete.collect();
        if is_inverted { (0..count).filter(|change| !complete.contains(change)).collect() } else { complete }
    }
}

impl Features {
    /// Returns the change with an ID.
    fn at(&self, id: ChangeId) -> Option<usize> {
        position(id).filter(|&change| change < self.count())
    }

    fn count(&self) -> usize {
        self.features.changes.len()
    }

    /// Returns the names of changes, without one.
    fn names(&self, changes: &BTreeSet<usize>, except: usize) -> Option<String> {
        let names: Vec<_> =
            changes.iter().filter(|&&change| change != except).map(|&change| self.name(change)).collect();
        let more = names.len().saturating_sub(MAX_NAMES);
        let shown = names.iter().take(MAX_NAMES).map(|name| format!("`{name}`"));
        (!names.is_empty()).then(|| listed(shown.chain((more > 0).then(|| format!("{more} more")))))
    }

    fn name(&self, change: usize) -> String {
        self.features.changes[change].join(", ")
    }
}

impl Axis for Features {
    fn facts(&self) -> AxisFacts {
        FACTS
    }

    fn subject(&self) -> Option<String> {
        let SearchedFeatures { package, changes, fixed, .. } = &self.features;
        let features = changes.iter().map(Vec::len).sum();
        let tied =
            if features > changes.len() { format!(" as {}", plural(changes.len(), "change")) } else { String::new() };
        let fixed = match fixed.len() {
            0 => String::new(),
            _ => format!(
                ", besides {}, which cannot be disabled",
                listed(fixed.iter().map(|feature| format!("`{feature}`")))
            ),
        };
        Some(format!("{}{tied} of {package}{fixed}", plural(features, "feature")))
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords {
            headline: Some(headlines::of_parts(FACTS.terms.change, culprit.ids.len(), culprit.mode)),
            ..CulpritWords::default()
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::reversible(Order::Given, self.count())
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let changes = self.relation.enabled(choice);
        let features = changes.iter().flat_map(|&change| self.features.changes[change].iter().cloned()).collect();
        // The artifacts are those that cargo builds for the user.
        let features = Some(self.features.options(&features));
        let build = BuildOverrides { features, is_plain: true, ..BuildOverrides::default() };
        Ok(Application { build: Some(build), ..Application::default() })
    }

    fn change(&self, report: Report, root: &Path, mode: Mode) -> Report {
        let is_disabled = mode == Mode::Disable;
        let Some(change) = self.at(report.id) else { return report };
        let SearchedFeatures { manifest, lines, changes, .. } = &self.features;
        let file = manifest.strip_prefix(root).unwrap_or(manifest).display().to_string();
        let line = lines.get(&changes[change][0]).copied();
        let (relation, of) = if is_disabled {
            (&self.relation.dependents, "without it, cargo disables")
        } else {
            (&self.relation.implied, "it implies")
        };
        let details: Vec<_> =
            self.names(&relation[change], change).map(|names| format!("{of} {names}")).into_iter().collect();
        let location = Location { line, ..Location::of_file(file) };
        let name = self.name(change);
        Report {
            kind: KIND,
            location: Some(location),
            text: [slice::from_ref(&name), &details].concat(),
            name,
            details,
            ..report
        }
    }

    fn summary(&self, builds: BuildCounts) -> Option<String> {
        Some(builds.summary())
    }
}

#[cfg(test)]
mod tests {
    use bisect_core::search::{Prefix, Rank, Selection};

    use super::*;

    /// Returns a relation in which each change implies those of its line, also indirectly.
    fn relation(lines: &[&[usize]]) -> Relation {
        fn implies(lines: &[&[usize]], a: usize, b: usize) -> bool {
            a == b || lines[a].iter().any(|&next| implies(lines, next, b))
        }
        Relation::new(lines.len(), |a, b| implies(lines, a, b))
    }

    fn enabled(relation: &Relation, selection: &Selection) -> Vec<usize> {
        let numbering = Numbering::reversible(Order::Given, relation.implied.len());
        relation.enabled(&numbering.choice(selection)).into_iter().collect()
    }

    /// Returns the selection of the first changes in the order of the search, with others beside them, and without some.
    fn select(prefix: u64, forced: &[u64], excluded: &[u64], inverted: bool) -> Selection {
        let ranks = |ids: &[u64]| ids.iter().map(|&id| Rank(id)).collect();
        let (forced, excluded) = (ranks(forced), ranks(excluded));
        Selection { prefix: Prefix::Below(Rank(prefix)), forced, excluded, inverted, ..Selection::all() }
    }

    #[test]
    fn an_enabled_change_takes_along_what_it_implies() {
        // 0: std, 1: alloc, 2: io needs std, 3: net needs io, 4: full needs net and alloc.
        let relation = relation(&[&[], &[], &[0], &[2], &[3, 1]]);
        for (prefix, forced, excluded, expected) in [
            (0, &[][..], &[][..], &[][..]),
            (3, &[], &[], &[0, 1, 2]),
            (5, &[], &[], &[0, 1, 2, 3, 4]),
            (0, &[3], &[], &[0, 2, 3]),
            (2, &[3], &[], &[0, 1, 2, 3]),
            (5, &[], &[1], &[0, 2, 3]),
            (5, &[], &[0], &[1]),
            (0, &[4], &[2], &[0, 1]),
        ] {
            let selection = select(prefix, forced, excluded, false);
            assert_eq!(enabled(&relation, &selection), expected, "{selection:?}");
        }
        let gap = Selection { gaps: vec![Rank(0)..Rank(1)], ..select(5, &[], &[], false) };
        assert_eq!(enabled(&relation, &gap), [1], "nothing is enabled without what it implies");
    }

    #[test]
    fn a_disabled_change_takes_along_what_implies_it() {
        let relation = relation(&[&[], &[], &[0], &[2], &[3, 1]]);
        // The order is the reverse one: position 0 is the change 4.
        for (prefix, forced, excluded, expected) in [
            (0, &[][..], &[][..], &[0, 1, 2, 3, 4][..]),
            (1, &[], &[], &[0, 1, 2, 3]),
            (5, &[], &[], &[]),
            (0, &[2], &[], &[0, 1]),
            (0, &[4], &[], &[1]),
            (5, &[], &[2], &[0, 2]),
            (5, &[], &[0], &[0, 1, 2, 3, 4]),
        ] {
            let selection = select(prefix, forced, excluded, true);
            assert_eq!(enabled(&relation, &selection), expected, "{selection:?}");
        }
    }

    #[test]
    fn every_run_is_closed() {
        let relation = relation(&[&[], &[0], &[0], &[1, 2], &[], &[3, 4]]);
        let bits = |mask: u64| (0..6).filter(move |bit| mask >> bit & 1 == 1).collect::<Vec<_>>();
        for (prefix, mask) in (0..=6).flat_map(|prefix| (0..64).map(move |mask| (prefix, mask))) {
            for (forced, excluded) in [(bits(mask), Vec::new()), (Vec::new(), bits(mask)), (bits(mask), bits(mask / 3))]
            {
                for inverted in [false, true] {
                    let selection = select(prefix, &forced, &excluded, inverted);
                    let enabled: BTreeSet<_> = enabled(&relation, &selection).into_iter().collect();
                    let is_closed = enabled.iter().all(|&change| relation.implied[change].is_subset(&enabled));
                    assert!(is_closed, "{selection:?}: {enabled:?}");
                }
            }
        }
    }
}
