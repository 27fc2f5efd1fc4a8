//! What people see: the trace on standard error, results on standard output. No other module knows terminals.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use anstyle::{AnsiColor, Style};
use bisect_core::search::Question;

use crate::{
    cargo::toggles::{Table, Toggle},
    describe::Frame,
    events::{Change, End, Event, Found, RunBegins, Sink, Start, TrialDone},
    exit_code::Exit,
    source::{self, Own},
    target::Kind,
};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default().bold();
/// What is wrong.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
const ODD: Style = AnsiColor::Yellow.on_default().bold();

/// The step-by-step account of a search, on standard error.
#[derive(Debug)]
pub struct Trace {
    verbose: bool,
    out_dir: PathBuf,
    /// A line was opened and is not complete.
    open: bool,
    runs: usize,
}

impl Trace {
    /// A trace; a verbose one shows patterns and logs, which are in `out_dir`.
    pub fn new(verbose: bool, out_dir: &Path) -> Self {
        Self { verbose, out_dir: out_dir.to_owned(), open: false, runs: 0 }
    }

    fn start(&self, err: &mut impl Write, start: &Start) -> io::Result<()> {
        writeln!(err, "{BOLD}bisecting{BOLD:#} {}", start.target)?;
        if self.verbose {
            writeln!(err, "{DIM}logs and results go to {}{DIM:#}", self.out_dir.display())?;
        }
        Ok(())
    }

    /// Opens the line of a run. It is completed when the run's trial is answered.
    fn run(&mut self, err: &mut impl Write, run: &RunBegins<'_>) -> io::Result<()> {
        self.runs += 1;
        let (nth, of) = run.run;
        if nth > 1 {
            return write!(err, ".").and_then(|()| err.flush());
        }
        let what = match (run.question, run.selected) {
            (Question::All, _) => "with every change".to_owned(),
            (Question::None, _) => "with no change".to_owned(),
            (Question::Prefix, Some((selected, known))) => format!("with {selected} of {known} changes"),
            (Question::Prefix, None) => "with some of the changes".to_owned(),
            (Question::Exactly, Some((1, _))) => "with 1 change alone".to_owned(),
            (Question::Exactly, Some((n, _))) => format!("with {n} changes alone"),
            (Question::Exactly, None) => "with the changes found alone".to_owned(),
            (Question::Rest, _) => "with everything else".to_owned(),
            (Question::Without, _) => "once more as at first".to_owned(),
        };
        write!(err, "{:>4}  {what:<28}", run.n)?;
        if let Some(left) = run.left {
            let about = format!("about {left} left");
            write!(err, "{DIM}{about:<16}{DIM:#}")?;
        } else {
            write!(err, "{:16}", "")?;
        }
        if self.verbose {
            let log = self.out_dir.join("runs").join(format!("{:04}.log", self.runs));
            write!(err, "\n      {DIM}{} → {}{DIM:#}\n      ", run.pattern, log.display())?;
        }
        if of > 1 {
            write!(err, "{of}× ")?;
        }
        self.open = true;
        err.flush()
    }

    fn trial(&mut self, err: &mut impl Write, trial: &TrialDone) -> io::Result<()> {
        self.open = false;
        let (style, word) = match trial.outcome {
            "pass" => (GOOD, "pass"),
            "fail" => (BAD, "FAIL"),
            _ => (ODD, "unresolved"),
        };
        let changes = plural(trial.matches, "change");
        write!(err, "{style}{word}{style:#}  {DIM}{changes}, {}", seconds(trial.duration))?;
        if trial.reason.is_empty() { writeln!(err, "{DIM:#}") } else { writeln!(err, ", {}{DIM:#}", trial.reason) }
    }

    fn complete_line(&mut self, err: &mut impl Write) -> io::Result<()> {
        if std::mem::take(&mut self.open) { writeln!(err) } else { Ok(()) }
    }
}

impl Sink for Trace {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let mut err = anstream::stderr().lock();
        match event {
            Event::Start(start) => self.start(&mut err, start),
            Event::Run(run) => self.run(&mut err, run),
            Event::Trial(trial) => self.trial(&mut err, trial),
            Event::Found(found) => {
                let n = found.changes.len();
                writeln!(err, "      {BOLD}culprit {}{BOLD:#}: {}, confirmed", found.set, plural(n, "change"))
            }
            Event::Note(note) => {
                self.complete_line(&mut err)?;
                writeln!(err, "{ODD}note{ODD:#}: {note}")
            }
            Event::End(end) => {
                self.complete_line(&mut err)?;
                end_line(&mut err, end)
            }
        }
    }
}

fn end_line(err: &mut impl Write, end: &End) -> io::Result<()> {
    let (trials, runs) = (plural(end.trials, "trial"), plural(end.runs, "run"));
    writeln!(err, "{} {DIM}({trials}, {runs}, {}){DIM:#}", end.conclusion, seconds(end.duration))
}

/// What is said on standard error where there is no trace: why nothing was found.
#[derive(Debug)]
pub struct Conclusion;

impl Sink for Conclusion {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::End(end) if end.status != Exit::Found => end_line(&mut anstream::stderr().lock(), end),
            _ => Ok(()),
        }
    }
}

/// The answer, on standard output.
#[derive(Debug)]
pub struct Results {
    root: PathBuf,
}

impl Results {
    /// Results of a target whose own code is below `root`.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn found(&self, out: &mut impl Write, found: &Found) -> io::Result<()> {
        let these = if found.changes.len() == 1 { "this change" } else { "these changes together" };
        let does = if found.mode == "enable" { "enabling" } else { "disabling" };
        writeln!(out, "{BAD}culprit {}{BAD:#}{BOLD}: {does} {these} makes the target fail{BOLD:#}", found.set)?;
        for (i, change) in found.changes.iter().enumerate() {
            writeln!(out)?;
            self.change(out, change, (found.changes.len() > 1).then_some(i + 1))?;
        }
        if !found.tests.is_empty() {
            writeln!(out, "\n{BOLD}it fails:{BOLD:#} {}", found.tests.join(", "))?;
        }
        writeln!(out, "\n{BOLD}to reproduce:{BOLD:#}\n  {}\n", found.reproduce)
    }

    fn change(&self, out: &mut impl Write, change: &Change, number: Option<usize>) -> io::Result<()> {
        let number = number.map(|n| format!("{n}. ")).unwrap_or_default();
        let name = if change.name.is_empty() { String::new() } else { format!(" `{}`", change.name) };
        let what = match change.kind {
            Kind::Site => "site",
            Kind::Caller => "a caller of",
            Kind::Stack => "call stack of",
            Kind::Build => "build-time choice",
        };
        let what = if name.is_empty() { what.trim_end_matches(" of") } else { what };
        let place = match (&change.file, change.line, change.column) {
            (Some(file), Some(line), Some(column)) => format!(" at {file}:{line}:{column}"),
            (Some(file), Some(line), None) => format!(" at {file}:{line}"),
            _ => String::new(),
        };
        writeln!(out, "{number}{what}{BOLD}{name}{BOLD:#}{place}  {DIM}{}{DIM:#}", change.id)?;
        let own = Own::new(&self.root);
        // The user's own frames stand out; of runs of others, what is in between is only counted.
        for frames in change.frames.chunk_by(|a, b| own.is_own(a) == own.is_own(b)) {
            match frames {
                [first, .., last] if !own.is_own(first) && frames.len() > 2 => {
                    show_frame(out, &own, first)?;
                    writeln!(out, "    {DIM}… {}{DIM:#}", plural(frames.len() - 2, "frame"))?;
                    show_frame(out, &own, last)?;
                }
                _ => frames.iter().try_for_each(|each| show_frame(out, &own, each))?,
            }
        }
        // What a target that is not ours says may be more than a place.
        if change.name.is_empty() && change.frames.is_empty() {
            for line in &change.text {
                writeln!(out, "    {line}")?;
            }
        }
        let snippets = source::snippets(&own, change);
        if snippets.is_empty() { Ok(()) } else { writeln!(out, "\n{snippets}") }
    }
}

fn show_frame(out: &mut impl Write, own: &Own<'_>, frame: &Frame) -> io::Result<()> {
    let (mark, style) = if own.is_own(frame) { ("➜", BOLD) } else { (" ", DIM) };
    writeln!(out, "  {mark} {style}{}{style:#}", frame.function)?;
    let (Some(file), Some(line)) = (&frame.file, frame.line) else { return Ok(()) };
    let column = frame.column.map(|column| format!(":{column}")).unwrap_or_default();
    writeln!(out, "        {DIM}{}:{line}{column}{DIM:#}", own.shorten(file).display())
}

impl Sink for Results {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let Event::Found(found) = event else { return Ok(()) };
        let mut out = anstream::stdout().lock();
        self.found(&mut out, found)?;
        out.flush()
    }
}

/// The toggles of a workspace, on standard output: a table, or a line of JSON each.
///
/// # Errors
/// If they cannot be written.
pub fn list(toggles: &BTreeSet<Toggle>, json: bool) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    if !json {
        return write!(out, "{}", Table(toggles));
    }
    for toggle in toggles {
        serde_json::to_writer(&mut out, toggle)?;
        writeln!(out)?;
    }
    Ok(())
}

/// `1 change`, `2 changes`.
pub fn plural(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

fn seconds(duration: Duration) -> String {
    match duration.as_secs_f64() {
        short if short < 0.0995 => format!("{:.0}ms", short * 1000.0),
        long if long < 99.5 => format!("{long:.1}s"),
        minutes => format!("{:.0}m{:02.0}s", (minutes / 60.0).floor(), minutes % 60.0),
    }
}
