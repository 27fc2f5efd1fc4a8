//! The constants of an axis.

use super::Placeholder;
use crate::output::terms::Terms;

/// The properties of an axis that stay the same in a search, as one value. Some depend on the target or on an option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxisFacts {
    /// The name of the axis and the words for its changes.
    pub(crate) terms: Terms,
    /// The origin of the reports.
    pub(crate) reporter: Reporter,
    /// The time from which likely changes are known.
    pub(crate) likely: LikelyKnown,
    /// The source code of runs.
    pub(crate) sources: SourceVersions,
    /// True if each run begins with a build. A command builds nothing that the driver sees.
    pub(crate) builds: bool,
    /// True if a test may exist only with some of the changes. Without them, it cannot fail, so it passes. Otherwise the
    /// run without changes would be unresolved.
    pub(crate) decides_which_tests_there_are: bool,
    /// True if an enabled change can make cargo stop before it compiles anything, for example because a version needs a
    /// newer compiler. Then that is a failed build. If cargo also refuses the run without changes, the target cannot be
    /// used.
    pub(crate) decides_whether_cargo_compiles: bool,
    /// The word of a command line that the changes replace.
    pub(crate) placeholder: Option<Placeholder>,
}

impl AxisFacts {
    /// Returns the constants of an axis whose changes the target reports.
    pub(crate) const fn of(terms: Terms) -> Self {
        Self {
            terms,
            reporter: Reporter::Target,
            likely: LikelyKnown::Never,
            sources: SourceVersions::Same,
            builds: false,
            decides_which_tests_there_are: false,
            decides_whether_cargo_compiles: false,
            placeholder: None,
        }
    }

    /// Returns the constants of an axis whose changes affect builds, which report them.
    pub(crate) const fn of_builds(terms: Terms) -> Self {
        Self { reporter: Reporter::Build, builds: true, ..Self::of(terms) }
    }

    /// Returns the constants of an axis that reports its changes itself.
    pub(crate) const fn of_known_changes(terms: Terms) -> Self {
        Self { reporter: Reporter::Axis, ..Self::of(terms) }
    }
}

/// The origin of the reports of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reporter {
    /// The processes of the run, in match markers, or the compiler in the same form. Only a run that asks for text
    /// describes the changes.
    Target,
    /// The build. Every run describes the changes. The processes may report changes, too.
    Build,
    /// The axis itself. Every run describes the changes.
    Axis,
    /// The processes, which answer requests in another form. A repeated execution would repeat the requests.
    Answers,
}

impl Reporter {
    /// Returns true if the target's output and its report file are scanned for match markers.
    pub(crate) fn is_target(self) -> bool {
        matches!(self, Self::Target | Self::Build)
    }

    /// Returns true if only a run that asks for text describes the changes.
    pub(crate) fn needs_text_run(self) -> bool {
        self == Self::Target
    }

    /// Returns true if tests that hang or crash are run again by themselves, to name them.
    pub(crate) fn names_unended_tests(self) -> bool {
        self != Self::Answers
    }
}

/// The time from which an axis knows changes that are likelier than others to be searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LikelyKnown {
    /// It never knows some.
    Never,
    /// Before the first run.
    BeforeRuns,
    /// After the runs at both end states.
    AfterEnds,
}

/// The source code of the runs of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceVersions {
    /// All runs have the same.
    Same,
    /// Runs have different versions, in which the lines of failures differ.
    Whole,
    /// The same, and a run may combine parts of two versions that work only together, such as halves of a function.
    Combined,
}

impl SourceVersions {
    /// Returns true if runs have different source code.
    pub(crate) fn differ(self) -> bool {
        self != Self::Same
    }
}
