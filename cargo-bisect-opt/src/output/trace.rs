//! The trace of a search on standard error.

use std::{
    collections::HashMap,
    io::{self, Write},
    path::PathBuf,
};

use bisect_core::search::{Mode, Question, TrialId};

use super::{
    closing,
    events::{Event, RunBegins, Sink, Start},
    groups,
    live::LiveDisplay,
    style::{BAD, BOLD, DIM, GOOD, ODD},
    terminal,
    terms::Terms,
};
use crate::{
    record::{
        CommandRecord,
        trial::{TrialOutcome, TrialRecord},
    },
    run::in_flight::InFlight,
    stderr,
    units::{grouped_plural, plural, seconds},
};

/// The trace of a search: one line per trial. With one run at a time, a line appears when its run begins; with parallel
/// runs, when its trial is answered.
#[derive(Debug)]
pub(crate) struct Trace {
    verbose: bool,
    /// The run directory, as messages show it.
    out_dir: PathBuf,
    /// The line that is not complete yet.
    open: Option<OpenLine>,
    /// The lines of other trials in flight, without their numbers and outcomes.
    begun: HashMap<TrialId, String>,
    jobs: usize,
    /// The words for changes.
    terms: Terms,
    /// True once the number of changes was shown.
    has_scope: bool,
    /// The runs in flight, if live lines show them, and the maximum width of these.
    in_flight: Option<(InFlight, Option<u16>)>,
    /// The live lines, from the first event to the last.
    live: Option<LiveDisplay>,
}

/// The line of a trial whose outcome is not known yet.
#[derive(Debug)]
struct OpenLine {
    trial: TrialId,
    /// A repeated run has no number.
    is_repeat: bool,
    /// The line without its number.
    beginning: String,
}

impl Trace {
    /// Creates a trace. A verbose one also shows patterns and logs.
    pub(crate) fn new(verbose: bool, out_dir: PathBuf) -> Self {
        let begun = HashMap::new();
        let (terms, has_scope) = (Terms::TOGGLES, false);
        Self { verbose, out_dir, open: None, begun, jobs: 1, terms, has_scope, in_flight: None, live: None }
    }

    /// Shows these runs in flight, and a summary, on live lines below the trace. A line of a trial then appears when
    /// the trial is answered.
    #[must_use]
    pub(crate) fn with_live_lines(self, in_flight: &InFlight, width: Option<u16>) -> Self {
        Self { in_flight: Some((in_flight.clone(), width)), ..self }
    }

    /// Shows an event on this terminal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn show(&mut self, err: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(start) => self.start(err, start),
            Event::Run(run) => self.run(err, run),
            Event::Trial(id, trial) => self.trial(err, *id, trial),
            Event::Preliminary(found) => {
                let which = groups::one_line(found);
                self.complete_line(err)?;
                writeln!(err, "      {BOLD}culprit {}{BOLD:#}: {which}, confirmed", found.set)
            }
            // The preliminary event showed it.
            Event::Found(found) if found.is_of_tests => self.complete_line(err),
            Event::Found(found) => {
                let n = found.changes.len();
                let noise =
                    found.noise.as_ref().map(|noise| format!("; confidence {}", noise.describe())).unwrap_or_default();
                let which = match found.within {
                    None => format!("culprit {}", found.set),
                    Some(whole) => format!("in culprit {whole}"),
                };
                self.complete_line(err)?;
                writeln!(err, "      {BOLD}{which}{BOLD:#}: {}, confirmed{noise}", plural(n, self.terms.change))
            }
            Event::Note(note) | Event::OutputLost(note) => {
                self.complete_line(err)?;
                writeln!(err, "{ODD}note{ODD:#}: {note}")
            }
            Event::Smallest(_)
            | Event::Withdrawn(_)
            | Event::Groups(_)
            | Event::List(_)
            | Event::Answer(_)
            | Event::Searched(_) => Ok(()),
            Event::End(end) => {
                self.complete_line(err)?;
                closing::show_end(err, end, &self.out_dir)
            }
        }
    }

    fn start(&mut self, err: &mut impl Write, start: &Start) -> io::Result<()> {
        let Start { search, terms, .. } = start;
        self.jobs = search.jobs;
        let at_once = if search.jobs > 1 { format!(", {} runs at once", search.jobs) } else { String::new() };
        (self.terms, self.has_scope) = (*terms, false);
        let subject = search.subject.as_ref().map(|subject| format!("{subject}, of ")).unwrap_or_default();
        writeln!(err, "{BOLD}bisecting{BOLD:#} {subject}{}{DIM}{at_once}{DIM:#}", search.target)?;
        if self.verbose {
            writeln!(err, "{DIM}seed {}; logs and results go to {}{DIM:#}", search.seed, self.out_dir.display())?;
        }
        Ok(())
    }

    fn run(&mut self, err: &mut impl Write, run: &RunBegins<'_>) -> io::Result<()> {
        let (nth, _) = run.run;
        if nth > 1 && self.in_flight.is_none() && self.jobs == 1 && self.is_open(run.trial) {
            return write!(err, ".").and_then(|()| err.flush());
        }
        if nth > 1 {
            return Ok(());
        }
        self.scope(err, run)?;
        let beginning = self.beginning(run);
        if self.jobs > 1 || self.in_flight.is_some() || self.open.is_some() {
            self.begun.insert(run.trial, beginning);
            return Ok(());
        }
        write!(err, "{}{beginning}", numbered(run.n)).and_then(|()| err.flush())?;
        self.open = Some(OpenLine { trial: run.trial, is_repeat: run.is_repeat, beginning });
        Ok(())
    }

    /// Shows how many changes are searched, as soon as that is known, and how many trials this takes.
    fn scope(&mut self, err: &mut impl Write, run: &RunBegins<'_>) -> io::Result<()> {
        let (Question::Prefix, Some((_, known)), Some(left), false) =
            (run.question, run.selected, run.left, self.has_scope)
        else {
            return Ok(());
        };
        self.has_scope = true;
        self.complete_line(err)?;
        let (changes, trials) = (grouped_plural(known, self.terms.change), plural(left, "trial"));
        let of_what = match run.tests {
            Some((_, tests)) => format!("for {}", plural(tests, "test")),
            None => "to the first culprit".to_owned(),
        };
        writeln!(err, "      {BOLD}{changes}{BOLD:#}: about {trials} {of_what}")
    }

    /// Returns the line of a trial after its number, as far as it is known when the first run begins.
    fn beginning(&self, run: &RunBegins<'_>) -> String {
        let what = self.what(run);
        let left = match (run.tests, run.left) {
            (Some((tests, all)), _) => format!("{tests} of {all} tests"),
            (None, Some(left)) => format!("about {} left", plural(left, "trial")),
            (None, None) => String::new(),
        };
        let (_, times) = run.run;
        let times = if times > 1 { format!("{times}× ") } else { String::new() };
        if self.verbose {
            let (pattern, log) = (run.pattern, run.log.display());
            let left = if left.is_empty() { what } else { format!("{what:<27} {DIM}{left}{DIM:#}") };
            return format!("{left}\n      {DIM}{pattern} → {log}{DIM:#}\n      {times}");
        }
        // A label may be as wide as both columns together.
        let what = if left.is_empty() { format!("{what:<49}") } else { format!("{what:<27} {DIM}{left:<21}{DIM:#}") };
        format!("{what} {times}")
    }

    /// Returns the selection of a run, in words.
    fn what(&self, run: &RunBegins<'_>) -> String {
        let noun = self.terms.change;
        let (with, alone) = match run.mode {
            Mode::Enable => ("with", " alone"),
            Mode::Disable => ("without", ""),
        };
        let what = match (run.question, run.selected) {
            _ if run.subject.is_some() => run.subject.clone().unwrap_or_default(),
            (Question::AllOn, _) => format!("with every {noun}"),
            (Question::AllOff, _) => format!("with no {noun}"),
            (Question::Prefix, Some((selected, known))) => format!("{with} {selected} of {}", plural(known, noun)),
            (Question::Prefix, None) => format!("{with} some of the {}", plural(2, noun).trim_start_matches("2 ")),
            (Question::FoundAlone, Some((n, _))) => format!("{with} {}{alone}", plural(n, noun)),
            (Question::FoundAlone, None) => format!("{with} the changes found{alone}"),
            (Question::AllButFound, _) if run.mode == Mode::Disable => "with the culprits alone".to_owned(),
            (Question::AllButFound, _) => "with everything else".to_owned(),
            (Question::Baseline, _) => "with what passed at first".to_owned(),
        };
        if run.is_repeat { format!("again {what}") } else { what }
    }

    fn trial(&mut self, err: &mut impl Write, id: TrialId, trial: &TrialRecord) -> io::Result<()> {
        let open = self.open.take_if(|open| open.trial == id);
        // A repeated run with another outcome is a trial of its own, whose line began without a number.
        let is_late = open.as_ref().is_some_and(|open| open.is_repeat && !trial.is_repeat);
        if open.is_none() {
            self.complete_line(err)?;
            let number = numbered((!trial.is_repeat).then_some(trial.n));
            write!(err, "{number}{}", self.begun.remove(&id).unwrap_or_default())?;
        }
        let (style, word) = match trial.outcome {
            TrialOutcome::Pass => (GOOD, "pass"),
            TrialOutcome::Fail => (BAD, "FAIL"),
            TrialOutcome::Unresolved => (ODD, "unresolved"),
        };
        // A run outside a search has no changes to count.
        let reported = self.terms.reported.filter(|_| trial.matches + trial.context.of > 0);
        let reported = reported.map(|reported| format!("{} {reported}", trial.matches));
        // Only the first of several answers of one run has a time. A run that was not started has none.
        let time = (!trial.duration.is_zero()).then(|| seconds(trial.duration));
        let reason = Some(on_one_line(&trial.reason)).filter(|reason| !reason.is_empty());
        let facts: Vec<_> = reported.into_iter().chain(time).chain(reason).collect();
        write!(err, "{style}{word}{style:#}  {DIM}{}", facts.join(", "))?;
        if is_late {
            write!(err, "; this is trial {}", trial.n)?;
        }
        writeln!(err, "{DIM:#}")
    }

    fn is_open(&self, trial: TrialId) -> bool {
        self.open.as_ref().is_some_and(|open| open.trial == trial)
    }

    /// Another writer ended the open line. It is shown again, whole, when its trial is answered.
    fn leave_line(&mut self) {
        if let Some(OpenLine { trial, beginning, .. }) = self.open.take() {
            self.begun.insert(trial, beginning);
        }
    }

    fn complete_line(&mut self, err: &mut impl Write) -> io::Result<()> {
        if self.open.take().is_some() { writeln!(err) } else { Ok(()) }
    }
}

impl Sink for Trace {
    fn event(&mut self, event: &Event<'_>, _: &CommandRecord) -> io::Result<()> {
        if matches!(event, Event::End(_)) {
            self.live = None;
        } else if let Some((in_flight, width)) = &self.in_flight {
            self.live.get_or_insert_with(|| LiveDisplay::start(in_flight, *width));
        }
        if self.live.is_some() {
            let text = terminal::text_for_stderr(|err| self.show(err, event))?;
            let label = if let Event::Run(run) = event { Some(self.what(run)) } else { None };
            return self.live.as_ref().map_or(Ok(()), |live| live.event(event, label, &text));
        }
        let mut line = stderr::line();
        if !line.is_open() {
            self.leave_line();
        }
        let result = self.show(&mut terminal::stderr(), event);
        line.set_open(self.open.is_some());
        result
    }
}

/// Joins the lines of a text with semicolons. A message of cargo or git may have several lines.
fn on_one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ").replace(":; ", ": ")
}

/// Returns the number of a trial at the beginning of its line.
fn numbered(n: Option<usize>) -> String {
    format!("{:>4}  ", n.map(|n| n.to_string()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::output::event_samples::{run_begins, trial_done};

    #[test]
    fn a_run_that_was_not_started_has_no_time() {
        let mut trace = Trace::new(false, PathBuf::from("out"));
        let mut shown = |terms: Terms, reason: &str| {
            trace.terms = terms;
            let mut err = Vec::new();
            let begins = run_begins();
            trace.show(&mut err, &Event::Run(&begins)).unwrap();
            let done = trial_done(Duration::ZERO);
            let done = TrialRecord { outcome: TrialOutcome::Unresolved, reason: reason.to_owned(), ..done };
            trace.show(&mut err, &Event::Trial(begins.trial, &done)).unwrap();
            let text = terminal::without_colors(std::str::from_utf8(&err).unwrap());
            text.split("  ").last().unwrap().to_owned()
        };
        let silent = Terms { reported: None, ..Terms::TOGGLES };
        assert_eq!(shown(silent, "does not build: E0425"), "does not build: E0425\n");
        assert_eq!(shown(Terms::TOGGLES, "does not build: E0425"), "3 reached, does not build: E0425\n");
        assert_eq!(shown(Terms::TOGGLES, ""), "3 reached\n");
        assert_eq!(shown(silent, "cargo: a\n\nCaused by:\n  b\n"), "cargo: a; Caused by: b\n");
    }

    #[test]
    fn a_line_that_a_build_ended_is_shown_again_with_its_outcome() {
        let mut trace = Trace::new(false, PathBuf::from("out"));
        let (begins, done) = (run_begins(), trial_done(Duration::from_secs(1)));
        let mut shown = |is_left: bool| {
            let mut err = Vec::new();
            trace.show(&mut err, &Event::Run(&begins)).unwrap();
            if is_left {
                err.extend_from_slice(b"\n    Blocking waiting\n");
                trace.leave_line();
            }
            trace.show(&mut err, &Event::Trial(begins.trial, &done)).unwrap();
            terminal::without_colors(std::str::from_utf8(&err).unwrap())
        };
        let (beginning, outcome) = (format!("{:>4}  {:<50}", 1, "with every change"), "pass  3 reached, 1.0s\n");
        assert_eq!(shown(false), format!("{beginning}{outcome}"));
        assert_eq!(shown(true), format!("{beginning}\n    Blocking waiting\n{beginning}{outcome}"));
    }

    #[test]
    fn outcomes_are_in_one_column_also_after_long_labels() {
        let trace = Trace::new(false, PathBuf::from("out"));
        let width = |subject: &str, left| {
            let subject = Some(subject.to_owned());
            let beginning = trace.beginning(&RunBegins { subject, left, ..run_begins() });
            terminal::without_colors(&beginning).chars().count()
        };
        let long = "alone, with a new current directory";
        assert_eq!(width(long, None), width("alone", Some(3)));
        assert_eq!(width(long, None), width("alone", None));
        let longer = "with no change, with debug-assertions=true,overflow-checks=true in every crate";
        assert_eq!(width(longer, None), longer.len() + 1);
    }
}
