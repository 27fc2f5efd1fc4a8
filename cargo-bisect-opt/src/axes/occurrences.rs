//! Decisions on a culprit as changes: the runtime reverses those after a number.

use std::{collections::BTreeSet, io, path::Path};

use bisect_core::{
    ChangeId, Pattern, Suffix,
    protocol::names,
    search::{Mode, Order},
};

use super::{Application, Axis, CulpritChanges, CulpritWords, Files, Placeholder, facts::AxisFacts};
use crate::{
    output::terms::Terms,
    process::own_file,
    report::{content::Report, kind::ChangeKind, scan::Reports},
    run::{
        error::RunError,
        numbering::{Numbering, id},
        spec::Choice,
    },
    units::{ordinal, plural},
};

/// The terms of this axis. The run of all decisions reports at least one.
const TERMS: Terms =
    Terms { axis: "occurrence", change: "decision", reported: None, if_none_reported: Some("no decision is made") };
/// A decision.
const KIND: ChangeKind = ChangeKind::own("count", "decision", "this decision");

/// Decisions on the changes of a culprit: the first ones of all threads, then the second ones, and so on.
#[derive(Clone, Debug)]
pub(crate) struct Occurrences {
    /// The application of exactly this culprit.
    culprit: Application,
    /// The placeholder for which it has words.
    placeholder: Option<Placeholder>,
    /// The pattern that selects the changes of the culprit.
    pattern: Pattern,
    /// The number of decisions in each thread.
    each: usize,
    /// The names of the threads, in their order; at first it is not known.
    threads: Vec<String>,
}

impl Occurrences {
    /// Returns the axis of the first decision on the changes with these IDs, in whichever thread. `axis` has found them,
    /// and enables or disables exactly them.
    ///
    /// # Errors
    /// If `axis` cannot be applied without a run.
    pub(crate) fn first(axis: &dyn Axis, ids: &[ChangeId], is_enabled: bool) -> Result<Self, RunError> {
        let pattern = Pattern::new(ids.iter().map(|&id| Suffix::exactly(id)), []);
        let choice = Choice::Hashes(pattern.clone().inverted(!is_enabled));
        let culprit = axis.apply(&choice, &Files { directory: Path::new(""), stem: "", report_file: None })?;
        Ok(Self { culprit, placeholder: axis.facts().placeholder, pattern, each: 1, threads: Vec::new() })
    }

    /// Returns the names of the threads that decide, from the reports of a run of the first decisions.
    pub(crate) fn threads(reports: &Reports) -> Vec<String> {
        let described = reports.ids().contains(&id(0)).then(|| reports.get(id(0)));
        described.map_or_else(Vec::new, |report| report.text)
    }

    /// Returns the axis of this number of decisions in each of these threads.
    pub(crate) fn of(&self, each: usize, threads: &[String]) -> Self {
        Self { each, threads: threads.to_vec(), ..self.clone() }
    }

    /// Returns the number of changes in the order.
    fn count(&self) -> usize {
        self.each * self.width()
    }

    /// Returns the number of threads.
    fn width(&self) -> usize {
        self.threads.len().max(1)
    }
}

impl Axis for Occurrences {
    fn facts(&self) -> AxisFacts {
        AxisFacts { placeholder: self.placeholder, ..AxisFacts::of_known_changes(TERMS) }
    }

    fn subject(&self) -> Option<String> {
        Some(plural(self.count(), "decision"))
    }

    fn words(&self, _: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords {
            headline: Some(
                "this decision makes the difference: with those before it alone, the target passes".to_owned(),
            ),
            ..CulpritWords::default()
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::of(Order::Counter)
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let limit = choice.counter_limit(self.count());
        let mut application = self.culprit.clone();
        let (full, rest) = (limit / self.width(), limit % self.width());
        let more = if rest == 0 { String::new() } else { format!(":{}", self.threads[..rest].join(",")) };
        application.variables.set(names::UNTIL, format!("{}:{full}{more}", self.pattern));
        Ok(application)
    }

    fn read_reports(&self, choice: &Choice, report_file: &Path, reports: &mut Reports) -> io::Result<()> {
        let limit = choice.counter_limit(self.count());
        let mut made: Vec<_> = (0..limit).map(id).filter(|&id| choice.selects(id)).collect();
        if self.threads.is_empty() && !made.is_empty() {
            reports.add(Report { text: threads(&own_file::read(report_file)?), ..Report::new(made.remove(0)) });
        }
        reports.add_known(made);
        Ok(())
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        let width = self.width() as u64;
        let call = format!("the {} call", ordinal((report.id.0 / width).saturating_add(1)));
        let thread = usize::try_from(report.id.0 % width).ok().and_then(|thread| self.threads.get(thread));
        let name = match thread.map(String::as_str) {
            Some("") => format!("{call}, in a thread without a name"),
            Some(thread) => format!("{call}, in thread {thread}"),
            None => call,
        };
        Report { kind: KIND, text: vec![name.clone()], name, ..report }
    }
}

/// Returns the names of the threads that have made a first decision, as the runtime has named them in the file for
/// reports.
fn threads(reported: &[u8]) -> Vec<String> {
    let reported = String::from_utf8_lossy(reported);
    let names = reported.lines().filter_map(|line| line.strip_prefix("bisect-rt: decision 1 of thread "));
    let names: BTreeSet<_> = names.map(str::to_owned).collect();
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use bisect_core::search::{Prefix, Rank, Selection};

    use super::super::protocol::Protocol;
    use super::*;

    fn decisions(each: usize, threads: &[&str]) -> Occurrences {
        let first = Occurrences::first(&Protocol, &[ChangeId(0x12), ChangeId(0x34)], false).unwrap();
        first.of(each, &threads.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    fn below(end: u64) -> Choice {
        Choice::of(Order::Counter, &Selection { prefix: Prefix::Below(Rank(end)), ..Selection::all() })
    }

    #[test]
    fn a_prefix_is_a_number_of_decisions_on_exactly_the_culprit() {
        let files = Files { directory: Path::new("/nowhere"), stem: "x", report_file: None };
        for (threads, end, expected) in [
            (&[][..], 5, "5"),
            (&["main"], 5, "5"),
            (&["a", "b", "c"], 6, "2"),
            (&["a", "b", "c"], 7, "2:a"),
            (&["a", "b", "c"], 8, "2:a,b"),
        ] {
            let application = decisions(8, threads).apply(&below(end), &files).unwrap();
            let expected = format!("x0000000000000012+x0000000000000034:{expected}");
            assert_eq!(application.variables, [("BISECT_UNTIL", expected)].into());
            let Some(super::super::Words::Text(pattern)) = application.words else { panic!("the culprit's pattern") };
            assert_eq!(pattern, "!x0000000000000012+x0000000000000034");
        }
    }

    #[test]
    fn decisions_of_threads_take_turns() {
        for (threads, index, name) in [
            (&[][..], 1199, "the 1,200th call"),
            (&["main"], 1199, "the 1,200th call, in thread main"),
            (&["", "b"], 2398, "the 1,200th call, in a thread without a name"),
            (&["a", "b"], 2399, "the 1,200th call, in thread b"),
        ] {
            let change = decisions(2048, threads).change(Report::new(ChangeId(index)), Path::new(""), Mode::Enable);
            assert_eq!(change.name, name);
        }
    }

    #[test]
    fn the_first_run_names_the_threads() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("reports");
        let line = "bisect-rt: decision 1 of thread";
        fs_err::write(&file, format!("[bisect-match 0x12]\n{line} b\n{line} a\n{line} b\n{line} \n")).unwrap();
        let mut reports = Reports::new(true);
        decisions(1, &[]).read_reports(&below(1), &file, &mut reports).unwrap();
        assert_eq!(Occurrences::threads(&reports), ["", "a", "b"]);
        assert!(Occurrences::threads(&Reports::new(true)).is_empty());
    }
}
