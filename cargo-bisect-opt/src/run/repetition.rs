//! Several executions of the target in one run, which make the outcome of a flaky target more reliable.

use std::num::NonZeroUsize;

use bisect_core::search::Outcome;
use serde::{Deserialize, Serialize};

/// The number of executions of the target in one run, and the rule that combines their outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Repetition {
    /// One execution.
    #[default]
    Once,
    /// Executions until one fails, at most this number: the run passes if all pass.
    UntilFailure(NonZeroUsize),
    /// Executions until one passes, at most this number: the run fails if all fail.
    UntilPass(NonZeroUsize),
    /// This number of executions, each of which counts by itself.
    Each(NonZeroUsize),
}

impl Repetition {
    /// Creates the repetition that `--repeat` and `--any-pass` ask for.
    pub(crate) fn new(repeat: Option<NonZeroUsize>, any_pass: Option<NonZeroUsize>) -> Self {
        let several = |times: &NonZeroUsize| times.get() > 1;
        match (repeat.filter(several), any_pass.filter(several)) {
            (Some(times), _) => Self::UntilFailure(times),
            (None, Some(times)) => Self::UntilPass(times),
            (None, None) => Self::Once,
        }
    }

    /// Returns the maximum number of executions in a run.
    pub(crate) fn times(self) -> usize {
        match self {
            Self::Once => 1,
            Self::UntilFailure(times) | Self::UntilPass(times) | Self::Each(times) => times.get(),
        }
    }

    /// Returns whether an execution with this outcome ends the run.
    pub(crate) fn ends_with(self, outcome: Outcome) -> bool {
        match self {
            Self::Once => true,
            Self::UntilFailure(_) => outcome == Outcome::Fail,
            Self::UntilPass(_) => outcome == Outcome::Pass,
            Self::Each(_) => false,
        }
    }

    /// Returns the index of the execution whose outcome is that of the run: one that ends it, else an unresolved one,
    /// else any.
    ///
    /// # Panics
    /// If there is no execution.
    pub(crate) fn decisive(self, outcomes: &[Outcome]) -> usize {
        if let Self::Each(_) = self {
            // Each counts alike; the others follow as extra outcomes.
            return 0;
        }
        let first = |is: &dyn Fn(Outcome) -> bool| outcomes.iter().position(|&outcome| is(outcome));
        first(&|outcome| self.ends_with(outcome))
            .or_else(|| first(&|outcome| matches!(outcome, Outcome::Unresolved(_))))
            .unwrap_or_else(|| outcomes.len().checked_sub(1).expect("a run executes the target"))
    }

    /// Returns the failure rate of an execution, of a target whose runs fail at this rate.
    pub(crate) fn rate_of_execution(self, rate: f64) -> f64 {
        let root =
            |rate: f64, times: NonZeroUsize| rate.powf(1.0 / f64::from(u32::try_from(times.get()).unwrap_or(u32::MAX)));
        match self {
            Self::Once | Self::Each(_) => rate,
            Self::UntilFailure(times) => 1.0 - root(1.0 - rate, times),
            Self::UntilPass(times) => root(rate, times),
        }
    }

    /// Returns the outcomes that count in addition to that of the run.
    pub(crate) fn also(self, outcomes: &[Outcome]) -> &[Outcome] {
        if let Self::Each(_) = self { outcomes.get(1..).unwrap_or_default() } else { &[] }
    }

    /// Returns a shell command line that repeats `line` as a run does.
    pub(crate) fn line(self, line: String) -> String {
        // Two parentheses would begin an expression of bash.
        let own_shell = if line.starts_with('(') { line.clone() } else { format!("({line})") };
        match self {
            Self::Once | Self::Each(_) => line,
            Self::UntilFailure(times) => format!("(for run in $(seq {times}); do {own_shell} || exit; done)"),
            Self::UntilPass(times) => format!("(for run in $(seq {times}); do {own_shell} && exit; done)"),
        }
    }

    /// Returns a shell command line that repeats `line` until it fails, as a run does and at least this number of times.
    pub(crate) fn line_that_shows(self, executions: NonZeroUsize, line: String) -> String {
        match self {
            Self::Once | Self::Each(_) => Self::new(Some(executions), None).line(line),
            Self::UntilFailure(times) => Self::UntilFailure(times.max(executions)).line(line),
            Self::UntilPass(_) => self.line(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use bisect_core::search::Reason;

    use super::*;

    const SKIP: Outcome = Outcome::Unresolved(Reason::Skip);
    use Outcome::{Fail, Pass};

    fn times(n: usize) -> Option<NonZeroUsize> {
        NonZeroUsize::new(n)
    }

    /// Returns the outcome of a run whose executions have these outcomes, and their number.
    fn run(repetition: Repetition, executions: &[Outcome]) -> (Outcome, usize) {
        let mut outcomes = Vec::new();
        for &outcome in executions.iter().take(repetition.times()) {
            outcomes.push(outcome);
            if repetition.ends_with(outcome) {
                break;
            }
        }
        (outcomes[repetition.decisive(&outcomes)], outcomes.len())
    }

    #[test]
    fn executions_decide_the_outcome_of_the_run() {
        let (repeat, any_pass) = (Repetition::new(times(3), None), Repetition::new(None, times(3)));
        for (executions, once, of_repeat, of_any_pass) in [
            ([Pass, Pass, Pass], Pass, (Pass, 3), (Pass, 1)),
            ([Fail, Fail, Fail], Fail, (Fail, 1), (Fail, 3)),
            ([Pass, Fail, Pass], Pass, (Fail, 2), (Pass, 1)),
            ([Fail, Fail, Pass], Fail, (Fail, 1), (Pass, 3)),
            ([SKIP, Pass, Fail], SKIP, (Fail, 3), (Pass, 2)),
            ([Pass, SKIP, Pass], Pass, (SKIP, 3), (Pass, 1)),
            ([Fail, SKIP, Fail], Fail, (Fail, 1), (SKIP, 3)),
        ] {
            assert_eq!(run(Repetition::Once, &executions), (once, 1), "{executions:?}");
            assert_eq!(run(repeat, &executions), of_repeat, "{executions:?}");
            assert_eq!(run(any_pass, &executions), of_any_pass, "{executions:?}");
        }
    }

    #[test]
    fn repeated_once_is_once() {
        assert_eq!(Repetition::new(times(1), None), Repetition::Once);
        assert_eq!(Repetition::new(None, times(1)), Repetition::Once);
        assert_eq!(Repetition::Once.line("x".to_owned()), "x");
    }

    #[test]
    fn a_rate_is_of_an_execution() {
        let rates = [Repetition::Once, Repetition::new(times(2), None), Repetition::new(None, times(2))]
            .map(|repetition| repetition.rate_of_execution(0.36));
        for (rate, expected) in rates.into_iter().zip([0.36, 0.2, 0.6]) {
            assert!((rate - expected).abs() < 1e-9, "{rates:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_repeats_as_a_run_does() {
        let shell = |repetition: Repetition, line: &str| {
            let line = repetition.line(line.to_owned());
            let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        };
        let (repeat, any_pass) = (Repetition::new(times(3), None), Repetition::new(None, times(3)));
        for (repetition, line, code, printed) in [
            (repeat, "echo x", 0, "x\nx\nx\n"),
            (repeat, "echo x; (exit 7)", 7, "x\n"),
            (repeat, "cd / && echo $run && test $run = 1", 1, "1\n2\n"),
            (any_pass, "echo x", 0, "x\n"),
            (any_pass, "echo x; (exit 7)", 7, "x\nx\nx\n"),
            (any_pass, "echo $run && test $run = 2", 0, "1\n2\n"),
        ] {
            assert_eq!(shell(repetition, line), (Some(code), printed.to_owned()), "{repetition:?} {line}");
        }
    }
}
