//! Steps of a counter as changes: a command gets the number of steps to take.

use std::{ffi::OsStr, io, path::Path};

use bisect_core::search::{Mode, Order};
use regex::bytes::Regex;

use super::{
    AfterBuild, Application, Axis, CulpritChanges, CulpritWords, Files, Placeholder, Words,
    command_spec::{Asked, AxisError, CommandSpec, OptionSpec, Prepared},
    facts::AxisFacts,
};
use crate::{
    output::terms::Terms,
    process::own_file,
    report::{content::Report, kind::ChangeKind, scan::Reports},
    run::{
        error::RunError,
        numbering::{Numbering, id},
        spec::Choice,
    },
    units::plural,
};

/// `cargo bisect-opt count`.
pub(super) const COMMAND: CommandSpec = CommandSpec {
    name: "count",
    about: "Find the first step of a counter that makes a command fail",
    details: "COUNT is replaced by the number of steps to take.",
    usage: "cargo bisect-opt count [OPTIONS] [VAR=value]... COMMAND [ARGS]...",
    options: &[
        OptionSpec {
            name: MAX_COUNT,
            value: Some("N"),
            is_required: false,
            help: "The number of steps with which the command fails",
            details: "By default, it is the first that fails of 1, 2, 4, 8, …",
        },
        OptionSpec {
            name: LABEL,
            value: Some("REGEX"),
            is_required: false,
            help: "Describe the step by the last line of the output that matches",
            details: "The line is printed by a run that ends with this step.",
        },
    ],
    prepare: Count::prepare,
};

const MAX_COUNT: &str = "max-count";
const LABEL: &str = "label";
/// The maximum number of steps. The search lists all of them.
const MAX_STEPS: usize = 1 << 24;
/// The maximum number of characters of a line that describes a step.
const SHOWN: usize = 500;

/// The constants of this axis. The run of all steps reports at least one.
const FACTS: AxisFacts = AxisFacts {
    placeholder: Some(Placeholder {
        word: "COUNT",
        is_required: true,
        is_path: false,
        usage: "the word COUNT must stand in the value of a variable or in an argument, where the command expects the \
                number of steps; for example: cargo bisect-opt count ./check --limit=COUNT",
    }),
    ..AxisFacts::of_known_changes(Terms {
        axis: "count",
        change: "step",
        reported: None,
        if_none_reported: Some("no step is taken"),
    })
};
/// A step of the counter.
const KIND: ChangeKind = ChangeKind::own("count", "step", "the last step");

/// Steps of a counter as changes, in their order.
#[derive(Debug)]
struct Count {
    steps: usize,
    /// The expression for the line about the last step.
    label: Option<Regex>,
}

impl Count {
    /// Reads the options. Without a number of steps, each power of two is one.
    ///
    /// # Errors
    /// If the number of steps or the expression cannot be used.
    fn prepare(asked: &Asked) -> Result<Prepared, AxisError> {
        let text = |value: &OsStr| value.to_string_lossy().into_owned();
        let label = asked.value(LABEL).map(text).map(|expression| Regex::new(&expression)).transpose();
        let label = label.map_err(|error| AxisError::Usage(format!("--label: {error}")))?;
        let Some(given) = asked.value(MAX_COUNT).map(text) else {
            let powers = (1..=MAX_STEPS.ilog2()).map(|bits| 1 << bits);
            let axis = Box::new(Self { steps: 1, label: label.clone() });
            let larger = powers.map(move |steps| Box::new(Self { steps, label: label.clone() }) as Box<dyn Axis>);
            return Ok(Prepared { axis, larger: Box::new(larger) });
        };
        let steps = given.parse().ok().filter(|steps| (1..=MAX_STEPS).contains(steps));
        steps.map(|steps| Self { steps, label }.into()).ok_or_else(|| {
            AxisError::Usage(format!("--max-count: `{given}` is not a number of steps from 1 to {MAX_STEPS}"))
        })
    }

    /// Returns the last line of a log that describes a step.
    fn label_in(&self, log: &Path) -> io::Result<Option<String>> {
        let Some(label) = &self.label else { return Ok(None) };
        let printed = own_file::read(log)?;
        let line = printed.rsplit(|&byte| byte == b'\n').find(|line| label.is_match(line));
        Ok(line.map(|line| String::from_utf8_lossy(line).trim().chars().take(SHOWN).collect()))
    }
}

impl Axis for Count {
    fn facts(&self) -> AxisFacts {
        FACTS
    }

    fn subject(&self) -> Option<String> {
        Some(plural(self.steps, "step"))
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        let (before, with) = match culprit.mode {
            Mode::Enable => ("passes", "fails"),
            Mode::Disable => ("fails", "passes"),
        };
        let headline = format!("up to the step before this one the target {before}, and with it, it {with}");
        CulpritWords { headline: Some(headline), ..CulpritWords::default() }
    }

    fn numbering(&self) -> Numbering {
        Numbering::reversible(Order::Counter, self.steps)
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(Application {
            words: Some(Words::Text(choice.counter_limit(self.steps).to_string())),
            ..Application::default()
        })
    }

    fn collect(&self, choice: &Choice, built: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()> {
        let limit = choice.counter_limit(self.steps);
        let mut taken: Vec<_> = self.numbering().reported(choice).collect();
        let last = taken.last().copied().filter(|&last| limit.checked_sub(1).map(id) == Some(last));
        let labelled = last.zip(self.label_in(built.log)?);
        if labelled.is_some() {
            taken.pop();
        }
        reports.add_known(taken);
        if let Some((last, line)) = labelled {
            reports.add(Report::with_text(last, line));
        }
        Ok(())
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        let step = format!("step {}", report.id.0.saturating_add(1));
        // Without a line about it, the step is only a number.
        let name = report.text.first().map_or_else(|| step.clone(), |line| format!("{step}: {line}"));
        Report { kind: KIND, text: vec![name.clone()], name, ..report }
    }
}

#[cfg(test)]
mod tests {
    use bisect_core::{
        ChangeId,
        search::{Prefix, Rank, Selection},
    };

    use super::*;

    fn prepare(max_count: Option<&str>, label: Option<&str>) -> Result<Prepared, AxisError> {
        let mut asked = Asked::default();
        if let Some(max_count) = max_count {
            asked.add(&COMMAND.options[0], Some(max_count.into()));
        }
        if let Some(label) = label {
            asked.add(&COMMAND.options[1], Some(label.into()));
        }
        Count::prepare(&asked)
    }

    fn count(max_count: &str, label: Option<&str>) -> Box<dyn Axis> {
        let Prepared { axis, mut larger } = prepare(Some(max_count), label).unwrap_or_else(|error| panic!("{error}"));
        assert!(larger.next().is_none());
        axis
    }

    fn choice(selection: &Selection) -> Choice {
        Numbering::reversible(Order::Counter, 9).choice(selection)
    }

    #[test]
    fn a_prefix_is_a_number_of_steps() {
        let count = count("9", None);
        let files = Files { directory: Path::new("/nowhere"), stem: "x", report_file: None };
        let words = |selection| match count.apply(&choice(&selection), &files).unwrap().words {
            Some(Words::Text(text)) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(words(Selection::all()), "9");
        assert_eq!(words(Selection { inverted: true, ..Selection::all() }), "0");
        assert_eq!(words(Selection { prefix: Prefix::Below(Rank(4)), ..Selection::all() }), "4");
        assert_eq!(words(Selection { prefix: Prefix::NONE, forced: vec![Rank(4)], ..Selection::all() }), "5");
        assert_eq!(words(Selection { excluded: vec![Rank(4)], ..Selection::all() }), "4");
        // Where steps repair, those that are left out are the last ones.
        assert_eq!(words(Selection { prefix: Prefix::Below(Rank(4)), inverted: true, ..Selection::all() }), "5");
    }

    #[test]
    fn the_last_line_that_matches_describes_the_last_step() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        fs_err::write(&log, "pass (1) a\npass (2) b\r\nNOT pass (3) c\nended").unwrap();
        let count = count("9", Some(r"^pass \(\d+\)"));
        let mut reports = Reports::new(true);
        let built = AfterBuild { artifacts: None, log: &log };
        let alone = choice(&Selection { prefix: Prefix::NONE, forced: vec![Rank(1)], ..Selection::all() });
        count.collect(&alone, &built, &mut reports).unwrap();
        assert_eq!(reports.ids(), [ChangeId(1)]);
        let change = count.change(reports.get(ChangeId(1)), Path::new(""), Mode::Enable);
        assert_eq!(change.name, "step 2: pass (2) b");
        assert_eq!(count.change(Report::new(ChangeId(4)), Path::new(""), Mode::Enable).name, "step 5");
    }

    #[test]
    fn without_a_number_all_powers_of_two_are_tried() {
        let Prepared { axis, larger } = prepare(None, None).unwrap_or_else(|error| panic!("{error}"));
        let subjects: Vec<_> = std::iter::once(axis).chain(larger).filter_map(|axis| axis.subject()).collect();
        assert_eq!(subjects[..3], ["1 step", "2 steps", "4 steps"]);
        assert_eq!(subjects.last().map(String::as_str), Some("16777216 steps"));
    }

    #[test]
    fn numbers_that_count_nothing_are_refused() {
        for (max_count, label, error) in [
            ("0", None, "`0` is not a number of steps"),
            ("-3", None, "`-3` is not"),
            ("1e3", None, "from 1 to 16777216"),
            ("99999999999999999999", None, "from 1 to"),
            ("3", Some("("), "--label: "),
        ] {
            let Err(AxisError::Usage(text)) = prepare(Some(max_count), label) else { panic!("{max_count} {label:?}") };
            assert!(text.contains(error), "{text}");
        }
    }
}
