//! The specification of a run, and the means that separate it from other runs.

use std::{
    borrow::Cow,
    fmt, io,
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
};

use bisect_core::{
    ChangeId, Matcher, Pattern,
    search::{Order, Prefix, Question, Rank, Selection, Trial},
};

use super::{in_flight::RunEntry, repetition::Repetition};
use crate::process::{
    interrupt::Interrupt, machine_fault::MachineFault, own_file, scratch_dir::ScratchDir, slots::Slots,
};

/// The specification of a run. The lab makes it once; it is shared down to the process that is started.
#[derive(Clone, Debug)]
pub(crate) struct RunSpec {
    /// The number of the run among those of all searches, from 1.
    pub(crate) number: usize,
    /// The selection that is run, with the ID of the trial that the run is made for.
    pub(crate) trial: Trial,
    /// The use of the result.
    pub(crate) purpose: Purpose,
    /// The changes to enable.
    pub(crate) choice: Choice,
    /// The number of executions of the target, and the rule that combines their outcomes.
    pub(crate) repetition: Repetition,
    /// The numbers of the tests to run, each in its own process; `None` for everything, in one go.
    pub(crate) tests: Option<Vec<usize>>,
    /// The file for everything that the run prints.
    pub(crate) log: PathBuf,
    /// The file for its reports (`BISECT_REPORT`), as an absolute path. The runner creates it.
    pub(crate) report_file: PathBuf,
    /// The number of a slot, which no other run has at the same time.
    pub(crate) slot: usize,
}

/// The purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It answers the question of the trial.
    Answer,
    /// It asks for the text of the changes that the trial has switched. Its outcome does not count.
    Text,
    /// It repeats a trial that failed in another way than what is searched for.
    Repeat,
    /// It shows if the end that passes fails in that way, too.
    Control,
}

impl RunSpec {
    /// Creates empty files for the reports and the log. Makes their directories again if they were deleted. If the
    /// reports cannot be in the run directory, they are in `scratch`. Returns the specification with the file for
    /// reports, and an error if one of the files will not be in the run directory.
    ///
    /// # Errors
    /// If there is no file for reports: the runtime only appends to a file that exists.
    pub(crate) fn create_files(&self, scratch: &Path) -> io::Result<(Cow<'_, Self>, Option<io::Error>)> {
        let create = |file: &Path| {
            file.parent().map_or(Ok(()), fs_err::create_dir_all)?;
            own_file::create(file).map(drop)
        };
        let log = create(&self.log).err();
        let Err(error) = create(&self.report_file) else { return Ok((Cow::Borrowed(self), log)) };
        if MachineFault::of(&error) != Some(MachineFault::Space) {
            return Err(error);
        }
        let report_file = scratch.join("reports");
        create(&report_file)?;
        Ok((Cow::Owned(Self { report_file, ..self.clone() }), log.or(Some(error))))
    }
}

/// The changes that a run enables, as an axis applies them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// A pattern that matches hashes.
    Hashes(Pattern),
    /// Positions in a given order. The program gets no pattern.
    Positions(Selection),
}

impl Choice {
    /// Returns the choice of these changes.
    pub(crate) fn of(order: Order, selection: &Selection) -> Self {
        match order {
            Order::ByHash => Self::Hashes(selection.pattern()),
            Order::Given | Order::Counter => Self::Positions(selection.clone()),
        }
    }

    /// Returns the same choice for a run that asks for text.
    pub(crate) fn with_text(self) -> Self {
        match self {
            Self::Hashes(pattern) => Self::Hashes(pattern.verbose(true)),
            positions @ Self::Positions(_) => positions,
        }
    }

    /// Returns true if the run is asked for text about the changes.
    pub(crate) fn asks_for_text(&self) -> bool {
        match self {
            Self::Hashes(pattern) => Matcher::new(pattern).is_some_and(|matcher| matcher.verbose()),
            Self::Positions(_) => false,
        }
    }

    /// Returns the pattern, for an axis whose changes are hashes.
    ///
    /// # Panics
    /// If the axis has a given order.
    pub(crate) fn pattern(&self) -> &Pattern {
        match self {
            Self::Hashes(pattern) => pattern,
            Self::Positions(_) => panic!("an axis with a given order has no patterns"),
        }
    }

    /// Returns the number of steps to take, for an axis that counts `count` steps and cannot leave out one of them.
    ///
    /// # Panics
    /// If the changes of the axis are hashes.
    pub(crate) fn counter_limit(&self, count: usize) -> usize {
        match self {
            Self::Hashes(_) => panic!("an axis without a given order has no steps"),
            Self::Positions(selection) if selection.inverted => selection.mirrored(count).counter_limit(count),
            Self::Positions(selection) => selection.counter_limit(count),
        }
    }

    /// Returns the steps, of the first `count`, that a run with this choice takes; if it disables steps, those that it
    /// leaves out.
    ///
    /// # Panics
    /// If the changes of the axis are hashes.
    pub(crate) fn switched_steps(&self, count: usize) -> Range<usize> {
        let limit = self.counter_limit(count);
        if self.is_inverted() { limit..count } else { 0..limit }
    }

    /// Returns true if the selected changes are disabled, and all others enabled.
    ///
    /// # Panics
    /// If the changes of the axis are hashes.
    pub(crate) fn is_inverted(&self) -> bool {
        match self {
            Self::Hashes(_) => panic!("an axis without a given order has no positions"),
            Self::Positions(selection) => selection.inverted,
        }
    }

    /// Returns the positions, among the first `count`, that are enabled beyond a prefix of enabled ones, and those that
    /// are disabled in it. `None` if the choice has gaps.
    ///
    /// # Panics
    /// If the changes of the axis are hashes.
    pub(crate) fn exceptions(&self, count: usize) -> Option<(Vec<usize>, Vec<usize>)> {
        let Self::Positions(selection) = self else { panic!("an axis without a given order has no positions") };
        let end = match (selection.inverted, selection.prefix, selection.gaps.as_slice()) {
            (false, Prefix::Below(end), []) => end,
            (false, Prefix::All, []) | (true, Prefix::NONE, _) => Rank::at(count),
            // Of a mirrored selection, the prefix is the gap before the disabled positions.
            (true, Prefix::All, []) => Rank::FIRST,
            (true, Prefix::All, [gap]) if gap.start == Rank::FIRST => gap.end,
            _ => return None,
        };
        let is_enabled = |index: &usize| selection.enables(Rank::at(*index));
        let end = end.index().min(count);
        Some(((end..count).filter(is_enabled).collect(), (0..end).filter(|index| !is_enabled(index)).collect()))
    }

    /// Returns true if the choice names a change by itself, to select it beside a prefix.
    ///
    /// # Panics
    /// If the changes of the axis are hashes.
    pub(crate) fn forces(&self, id: ChangeId) -> bool {
        match self {
            Self::Hashes(_) => panic!("an axis without a given order has no positions"),
            Self::Positions(selection) => {
                let rank = Order::Given.rank(id);
                selection.forced.contains(&rank) && !selection.excluded.contains(&rank)
            }
        }
    }

    /// Returns true if the choice names a change by itself, not to select it.
    ///
    /// # Panics
    /// If the changes of the axis are hashes.
    pub(crate) fn excludes(&self, id: ChangeId) -> bool {
        match self {
            Self::Hashes(_) => panic!("an axis without a given order has no positions"),
            Self::Positions(selection) => selection.excluded.contains(&Order::Given.rank(id)),
        }
    }

    /// Returns true if a change is enabled.
    pub(crate) fn enables(&self, id: ChangeId) -> bool {
        match self {
            Self::Hashes(pattern) => Matcher::new(pattern).is_none_or(|matcher| matcher.should_enable(id)),
            Self::Positions(selection) => selection.enables(Order::Given.rank(id)),
        }
    }

    /// Returns true if a change is selected: the target reports it. A selected change may be enabled or disabled.
    pub(crate) fn selects(&self, id: ChangeId) -> bool {
        match self {
            Self::Hashes(pattern) => Matcher::new(pattern).is_some_and(|matcher| matcher.should_report(id)),
            Self::Positions(selection) => selection.contains(Order::Given.rank(id)),
        }
    }

    /// Returns the end state that this choice equals, if there is one.
    pub(crate) fn end_state(&self) -> Option<EndState> {
        let all = match self {
            Self::Hashes(pattern) => {
                let plain = pattern.clone().verbose(false);
                [false, true].into_iter().find(|&inverted| plain == Pattern::all().inverted(inverted))
            }
            Self::Positions(selection) => {
                let all = Selection { inverted: selection.inverted, ..Selection::all() };
                (*selection == all).then_some(selection.inverted)
            }
        };
        all.map(|inverted| if inverted { EndState::AllOff } else { EndState::AllOn })
    }

    /// Returns the choice of an end state, in the order of this one.
    pub(crate) fn at_end(&self, end: EndState) -> Self {
        let order = if matches!(self, Self::Hashes(_)) { Order::ByHash } else { Order::Given };
        Self::of(order, &Selection { inverted: end == EndState::AllOff, ..Selection::all() })
    }
}

impl fmt::Display for Choice {
    /// Writes the pattern, or positions from 1: `1-500,702`. After a leading `!`, only the positions that follow are
    /// disabled. Each excluded position follows after `without`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let selection = match self {
            Self::Hashes(pattern) => return pattern.fmt(f),
            Self::Positions(selection) => selection,
        };
        if selection.inverted {
            f.write_str("!")?;
        }
        let mut parts = Vec::new();
        let mut next = 0;
        let gaps = selection.gaps.iter().map(|gap| (gap.start.0, gap.end.0));
        let end = match selection.prefix {
            Prefix::Below(end) => Some(end.0),
            Prefix::All => None,
        };
        for (gap, after) in gaps.chain(end.map(|end| (end, end))) {
            match gap.saturating_sub(next) {
                0 => {}
                1 => parts.push(gap.to_string()),
                _ => parts.push(format!("{}-{gap}", next + 1)),
            }
            next = after;
        }
        if end.is_none() {
            parts.push(format!("{}-", next + 1));
        }
        let is_forced = |change: &&Rank| end.is_some_and(|end| change.0 >= end);
        parts.extend(selection.forced.iter().filter(is_forced).map(|change| (change.0 + 1).to_string()));
        f.write_str(&parts.join(","))?;
        selection.excluded.iter().try_for_each(|change| write!(f, " without {}", change.0 + 1))
    }
}

/// The two end states of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndState {
    /// Every change enabled.
    AllOn,
    /// Every change disabled.
    AllOff,
}

impl EndState {
    /// Returns the end state that a question is about, if any.
    pub(crate) fn of(question: Question) -> Option<Self> {
        match question {
            Question::AllOn => Some(Self::AllOn),
            Question::AllOff => Some(Self::AllOff),
            _ => None,
        }
    }

    /// Returns the end state that passes, in a search whose runs switch changes as this selection does.
    pub(crate) fn passing(selection: &Selection) -> Self {
        if selection.inverted { Self::AllOn } else { Self::AllOff }
    }

    /// Returns the other end state.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::AllOn => Self::AllOff,
            Self::AllOff => Self::AllOn,
        }
    }
}

/// The surroundings of a run: the slots of its search, its directory for temporary files, the user's request to stop,
/// and its entry among the runs in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    /// The variables that depend on the slot.
    pub(crate) slots: &'a Slots,
    /// A directory that is deleted after the run.
    pub(crate) scratch: &'a ScratchDir,
    /// A flag that is raised when the run must end.
    pub(crate) interrupt: &'a Interrupt,
    /// The entry of the run among those in flight.
    pub(crate) seat: &'a RunEntry,
}

impl Surroundings<'_> {
    /// Separates a process of the run from other runs, parallel and later ones, by variables. Returns an empty
    /// directory for its temporary files, to be dropped when the process has ended.
    ///
    /// # Errors
    /// If that directory cannot be made.
    pub(crate) fn set_apart(&self, command: &mut Command, slot: usize) -> io::Result<ScratchDir> {
        self.slots.apply(command, slot);
        let temporary = self.scratch.inner()?;
        command.envs(temporary.variables());
        Ok(temporary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_written_from_one() {
        let all = Selection::all();
        let below = |end| Selection { prefix: Prefix::Below(Rank(end)), ..all.clone() };
        for (selection, expected) in [
            (all.clone(), "1-"),
            (Selection { inverted: true, ..all.clone() }, "!1-"),
            (below(500), "1-500"),
            (below(1), "1"),
            (Selection { forced: vec![Rank(701), Rank(3)], ..below(500) }, "1-500,702"),
            (Selection { forced: vec![Rank(7)], ..below(0) }, "8"),
            (Selection { gaps: vec![Rank(2)..Rank(4), Rank(5)..Rank(9)], ..below(10) }, "1-2,5,10"),
            (Selection { excluded: vec![Rank(2)], ..all.clone() }, "1- without 3"),
        ] {
            assert_eq!(Choice::of(Order::Given, &selection).to_string(), expected);
        }
    }

    #[test]
    fn end_states_are_known_in_both_orders() {
        for order in [Order::ByHash, Order::Given] {
            let all = Choice::of(order, &Selection::all());
            assert_eq!(all.end_state(), Some(EndState::AllOn));
            assert_eq!(all.clone().with_text().end_state(), Some(EndState::AllOn));
            assert_eq!(all.at_end(EndState::AllOff).end_state(), Some(EndState::AllOff));
            let some = Selection { prefix: Prefix::Below(Rank(1 << 62)), ..Selection::all() };
            assert_eq!(Choice::of(order, &some).end_state(), None);
        }
    }
}
