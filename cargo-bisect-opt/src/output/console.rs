//! What people see: the trace on standard error, results on standard output. No other module knows terminals.

use std::{
    collections::{BTreeSet, HashMap},
    io::{self, Write},
    path::{Path, PathBuf},
};

use anstyle::{AnsiColor, Style};
use bisect_core::search::{Question, TrialId};

use super::{
    events::{Answer, End, Event, Fact, Found, LogEnd, RunBegins, Sink, Start, StopGap, TrialDone},
    exit_status::Exit,
    groups::{self, Group},
    snippets::{self, Own},
    terminal::Terminal,
};
use crate::{
    cargo::toggles::{Toggle, ToggleTable},
    report::{
        content::{Frame, Location, Report},
        kind::ChangeKind,
    },
    units::{listed, plural, seconds},
};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default().bold();
/// What is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
const ODD: Style = AnsiColor::Yellow.on_default().bold();

/// The step-by-step account of a search, on standard error: a line a trial. With one run at a time a line appears when its
/// run begins, else when its trial is answered.
#[derive(Debug)]
pub(crate) struct Trace {
    verbose: bool,
    out_dir: PathBuf,
    /// The trial whose line was opened and is not complete.
    open: Option<TrialId>,
    /// Whether that line has no number, because it is of a repeated run.
    open_is_repeat: bool,
    /// How the lines of other trials that have begun begin, without their numbers.
    begun: HashMap<TrialId, String>,
    jobs: usize,
    /// What a change is called.
    noun: &'static str,
    /// What it means that a change was reported.
    reported: &'static str,
}

impl Trace {
    /// A trace; a verbose one shows patterns and logs, which are in `out_dir`.
    pub(crate) fn new(verbose: bool, out_dir: &Path) -> Self {
        let (out_dir, begun) = (out_dir.to_owned(), HashMap::new());
        Self {
            verbose,
            out_dir,
            open: None,
            open_is_repeat: false,
            begun,
            jobs: 1,
            noun: "change",
            reported: "reached",
        }
    }

    /// Shows an event on this terminal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn show(&mut self, err: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(start) => self.start(err, start),
            Event::Run(run) => self.run(err, run),
            Event::Trial(trial) => self.trial(err, trial),
            Event::Sighted(found) => {
                let which = groups::in_short(found);
                self.complete_line(err)?;
                writeln!(err, "      {BOLD}culprit {}{BOLD:#}: {which}, confirmed", found.set)
            }
            // It was told when it was found.
            Event::Found(found) if found.is_of_tests => self.complete_line(err),
            Event::Found(found) => {
                let n = found.changes.len();
                let sure = found.noise.as_ref().map(|noise| format!("; {}", noise.words())).unwrap_or_default();
                let which = match found.within {
                    None => format!("culprit {}", found.set),
                    Some(whole) => format!("in culprit {whole}"),
                };
                self.complete_line(err)?;
                writeln!(err, "      {BOLD}{which}{BOLD:#}: {}, confirmed{sure}", plural(n, self.noun))
            }
            Event::Note(note) | Event::Lost(note) => {
                self.complete_line(err)?;
                writeln!(err, "{ODD}note{ODD:#}: {note}")
            }
            Event::Groups(_) | Event::List(_) | Event::Answer(_) => Ok(()),
            Event::End(end) => {
                self.complete_line(err)?;
                end_line(err, end)
            }
        }
    }

    fn start(&mut self, err: &mut impl Write, start: &Start) -> io::Result<()> {
        self.jobs = start.jobs;
        let at_once = if start.jobs > 1 { format!(", {} runs at once", start.jobs) } else { String::new() };
        (self.noun, self.reported) = match start.axis {
            "crates" => ("crate", "compiled so"),
            "functions" => ("function", "compiled so"),
            "passes" => ("pass", "run"),
            "expressions" => ("expression", "compiled so"),
            "rustflags" => ("change", "reported"),
            _ => ("change", "reached"),
        };
        let subject = start.subject.as_ref().map(|subject| format!("{subject}, of ")).unwrap_or_default();
        writeln!(err, "{BOLD}bisecting{BOLD:#} {subject}{}{DIM}{at_once}{DIM:#}", start.target)?;
        if self.verbose {
            writeln!(err, "{DIM}seed {}; logs and results go to {}{DIM:#}", start.seed, self.out_dir.display())?;
        }
        Ok(())
    }

    fn run(&mut self, err: &mut impl Write, run: &RunBegins<'_>) -> io::Result<()> {
        let (nth, _) = run.run;
        if self.jobs == 1 && nth > 1 && self.open == Some(run.trial) {
            return write!(err, ".").and_then(|()| err.flush());
        }
        if nth > 1 {
            return Ok(());
        }
        let beginning = self.beginning(run);
        if self.jobs > 1 || self.open.is_some() {
            self.begun.insert(run.trial, beginning);
            return Ok(());
        }
        self.open = Some(run.trial);
        self.open_is_repeat = run.is_repeat;
        write!(err, "{}{beginning}", numbered(run.n)).and_then(|()| err.flush())
    }

    /// The line of a trial behind its number, as far as it is known when its first run begins.
    fn beginning(&self, run: &RunBegins<'_>) -> String {
        let noun = self.noun;
        let what = match (run.question, run.selected) {
            _ if run.subject.is_some() => run.subject.clone().unwrap_or_default(),
            (Question::AllOn, _) => format!("with every {noun}"),
            (Question::AllOff, _) => format!("with no {noun}"),
            (Question::Prefix, Some((selected, known))) => format!("with {selected} of {}", plural(known, noun)),
            (Question::Prefix, None) => format!("with some of the {}", plural(2, noun).trim_start_matches("2 ")),
            (Question::FoundAlone, Some((n, _))) => format!("with {} alone", plural(n, noun)),
            (Question::FoundAlone, None) => "with the changes found alone".to_owned(),
            (Question::AllButFound, _) => "with everything else".to_owned(),
            (Question::Baseline, _) => "with what passed at first".to_owned(),
        };
        let what = if run.is_repeat { format!("again {what}") } else { what };
        let left = match (run.tests, run.left) {
            (Some((tests, all)), _) => format!("{tests} of {all} tests"),
            (None, Some(left)) => format!("about {} left", plural(left, "trial")),
            (None, None) => String::new(),
        };
        let mut details = String::new();
        if self.verbose {
            details = format!("\n      {DIM}{} → {}{DIM:#}\n      ", run.pattern, run.log.display());
        }
        let (_, times) = run.run;
        let times = if times > 1 { format!("{times}× ") } else { String::new() };
        format!("{what:<28}{DIM}{left:<22}{DIM:#}{details}{times}")
    }

    fn trial(&mut self, err: &mut impl Write, trial: &TrialDone) -> io::Result<()> {
        // It has ended otherwise than before, which makes it a trial of its own.
        let is_news = self.open == Some(trial.trial) && self.open_is_repeat && !trial.is_repeat;
        if self.open == Some(trial.trial) {
            self.open = None;
        } else {
            self.complete_line(err)?;
            let number = numbered((!trial.is_repeat).then_some(trial.n));
            write!(err, "{number}{}", self.begun.remove(&trial.trial).unwrap_or_default())?;
        }
        let (style, word) = match trial.outcome {
            "pass" => (GOOD, "pass"),
            "fail" => (BAD, "FAIL"),
            _ => (ODD, "unresolved"),
        };
        write!(err, "{style}{word}{style:#}  {DIM}{} {}, {}", trial.matches, self.reported, seconds(trial.duration))?;
        if !trial.reason.is_empty() {
            write!(err, ", {}", trial.reason)?;
        }
        if is_news {
            write!(err, "; this is trial {}", trial.n)?;
        }
        writeln!(err, "{DIM:#}")
    }

    fn complete_line(&mut self, err: &mut impl Write) -> io::Result<()> {
        if self.open.take().is_some() { writeln!(err) } else { Ok(()) }
    }
}

impl Sink for Trace {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.show(&mut Terminal::new(anstream::stderr().lock()), event)
    }
}

/// A line's beginning: the number of its trial, if it has one.
fn numbered(n: Option<usize>) -> String {
    format!("{:>4}  ", n.map(|n| n.to_string()).unwrap_or_default())
}

fn end_line(err: &mut impl Write, end: &End) -> io::Result<()> {
    let (trials, runs) = (plural(end.trials, "trial"), plural(end.runs, "run"));
    writeln!(err, "{} {DIM}({trials}, {runs}, {}){DIM:#}", end.conclusion, seconds(end.duration))?;
    let Some(LogEnd { path, lines }) = &end.log else { return Ok(()) };
    writeln!(err, "\n{BOLD}the end of {}:{BOLD:#}", path.display())?;
    lines.iter().try_for_each(|line| writeln!(err, "  {DIM}|{DIM:#} {line}"))
}

/// What is said on standard error where there is no trace: why nothing was found.
#[derive(Debug)]
pub(crate) struct Conclusion;

impl Conclusion {
    /// Shows an event on this terminal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn show(err: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::End(end) if end.status != Exit::Found => end_line(err, end),
            Event::Lost(what) => writeln!(err, "{ODD}note{ODD:#}: {what}"),
            _ => Ok(()),
        }
    }
}

impl Sink for Conclusion {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        Self::show(&mut Terminal::new(anstream::stderr().lock()), event)
    }
}

/// So many tests that fail by a culprit are named.
const TESTS: usize = 12;

/// The answer, on standard output, or where that is lost on standard error.
#[derive(Debug)]
pub(crate) struct Results {
    root: PathBuf,
    is_beside_trace: bool,
}

impl Results {
    /// Results of a target whose own code is below `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), is_beside_trace: false }
    }

    /// The same on standard error.
    pub(crate) fn beside_trace(root: &Path) -> Self {
        Self { is_beside_trace: true, ..Self::new(root) }
    }

    /// Shows an event on this terminal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn show(&self, out: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
        match event {
            // They come together.
            Event::Found(found) if found.is_of_tests => {}
            Event::Found(found) => self.found(out, found)?,
            Event::Groups(groups) => groups.iter().try_for_each(|group| self.group(out, group))?,
            Event::List(culprits) => {
                writeln!(out, "{BOLD}culprits:{BOLD:#}")?;
                culprits
                    .iter()
                    .try_for_each(|found| writeln!(out, "  {:>2}  {}", found.set, groups::in_short(found)))?;
                writeln!(out)?;
            }
            Event::Answer(answer) => show_answer(out, answer)?,
            // The trace says it there.
            Event::Lost(what) if !self.is_beside_trace => writeln!(out, "{ODD}note{ODD:#}: {what}")?,
            _ => return Ok(()),
        }
        out.flush()
    }

    fn found(&self, out: &mut impl Write, found: &Found) -> io::Result<()> {
        let headline = headline(found);
        match found.within {
            None => writeln!(out, "{BAD}culprit {}{BAD:#}{BOLD}: {headline}{BOLD:#}", found.set)?,
            Some(whole) => writeln!(out, "{BAD}in culprit {whole}{BAD:#}{BOLD}: {headline}{BOLD:#}")?,
        }
        self.changes(out, &found.changes)?;
        show_tests(out, found)?;
        writeln!(out, "\n{BOLD}to reproduce:{BOLD:#}\n  {}\n", found.reproduce)?;
        if let Some(StopGap { place, text }) = &found.stop_gap {
            writeln!(out, "{BOLD}until it is mended{BOLD:#}, {place}:")?;
            text.lines().try_for_each(|line| writeln!(out, "  {line}"))?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Shows culprits that are the same but for the test that they come from.
    fn group(&self, out: &mut impl Write, group: &Group) -> io::Result<()> {
        let [first, ..] = group.culprits.as_slice() else { return Ok(()) };
        if group.culprits.len() == 1 {
            return self.found(out, first);
        }
        let numbers = listed(group.culprits.iter().map(|found| found.set.to_string()));
        let headline = headline(first);
        writeln!(out, "{BAD}culprits {numbers}{BAD:#}{BOLD}, each on its own: {headline}{BOLD:#}")?;
        writeln!(out, "{DIM}They differ only in the test that the call comes from.{DIM:#}")?;
        self.changes(out, &group.shared)?;
        for found in &group.culprits {
            let ids: Vec<_> = found.changes.iter().map(|change| change.id.to_string()).collect();
            writeln!(out, "\n{BOLD}culprit {}{BOLD:#}  {DIM}{}{DIM:#}", found.set, ids.join(" + "))?;
            show_tests(out, found)?;
            writeln!(out, "{BOLD}to reproduce:{BOLD:#}\n  {}", found.reproduce)?;
        }
        writeln!(out)
    }

    fn changes(&self, out: &mut impl Write, changes: &[Report]) -> io::Result<()> {
        for (i, change) in changes.iter().enumerate() {
            writeln!(out)?;
            self.change(out, change, (changes.len() > 1).then_some(i + 1))?;
        }
        Ok(())
    }

    fn change(&self, out: &mut impl Write, change: &Report, number: Option<usize>) -> io::Result<()> {
        let number = number.map(|n| format!("{n}. ")).unwrap_or_default();
        let name = if change.name.is_empty() { String::new() } else { format!(" `{}`", change.name) };
        let what = match change.kind {
            ChangeKind::Site => "site",
            ChangeKind::Caller => "a caller of",
            ChangeKind::Stack => "call stack of",
            ChangeKind::Build => "build-time choice",
            ChangeKind::Crate => "crate",
            ChangeKind::Function => "function",
            ChangeKind::Pass => "pass",
            ChangeKind::Expression => "expression",
            ChangeKind::Item => "line",
        };
        let what = if name.is_empty() { what.trim_end_matches(" of") } else { what };
        let location = change.location.as_ref().filter(|location| location.line.is_some());
        let place = location.map(|location| format!(" at {location}")).unwrap_or_default();
        let package = change.package.as_ref().map(|package| format!(" of {package}")).unwrap_or_default();
        let place = package + &place;
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
        let is_unknown = change.name.is_empty() && change.frames.is_empty();
        let details = if is_unknown { &change.text } else { &change.details };
        details.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
        let snippets = snippets::snippets(&own, change);
        if snippets.is_empty() { Ok(()) } else { writeln!(out, "\n{snippets}") }
    }
}

/// What a culprit says.
fn headline(found: &Found) -> String {
    found.headline.clone().unwrap_or_else(|| {
        let these = if found.changes.len() == 1 { "this change" } else { "these changes together" };
        let does = if found.mode == "enable" { "enabling" } else { "disabling" };
        format!("{does} {these} makes the target fail")
    })
}

/// The tests that fail by a culprit, and how sure that is.
fn show_tests(out: &mut impl Write, found: &Found) -> io::Result<()> {
    match found.tests.as_slice() {
        [] => match found.failures.as_slice() {
            [] => {}
            [failed, ..] => writeln!(out, "\n{BOLD}it fails:{BOLD:#} {}", failed.how)?,
        },
        [test] => writeln!(out, "\n{BOLD}it fails:{BOLD:#} {test}{}", how(found, test))?,
        tests => {
            let more = tests.len().saturating_sub(TESTS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let shown: Vec<_> = tests.iter().take(TESTS).map(|test| test.clone() + &how(found, test)).collect();
            let shown = shown.join(", ");
            writeln!(out, "\n{BOLD}these {} fail:{BOLD:#} {shown}{more}", plural(tests.len(), "test"))?;
        }
    }
    if let Some(sureness) = &found.noise {
        let test = sureness.test.as_ref().filter(|_| found.tests.len() > 1);
        let of = test.map(|test| format!("{test}: ")).unwrap_or_default();
        writeln!(out, "\n{BOLD}sure:{BOLD:#} {of}{}", sureness.words())?;
    }
    Ok(())
}

/// How a test fails with a culprit, if that is told.
fn how(found: &Found, test: &str) -> String {
    let failed = found.failures.iter().filter(|failed| failed.test.as_deref().is_none_or(|name| name == test));
    let how: Vec<_> = failed.map(|failed| failed.how.as_str()).collect();
    if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) }
}

fn show_answer(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    writeln!(out, "{BAD}culprit {}{BAD:#}{BOLD}, in short:{BOLD:#}", answer.set)?;
    for Fact { of, text } in &answer.facts {
        writeln!(out, "  {DIM}{of:<10}{DIM:#}{BOLD}{text}{BOLD:#}")?;
    }
    if !answer.advice.is_empty() {
        writeln!(out, "\n{BOLD}next:{BOLD:#}")?;
        answer.advice.iter().try_for_each(|advice| writeln!(out, "  - {advice}"))?;
    }
    writeln!(out)
}

fn show_frame(out: &mut impl Write, own: &Own<'_>, frame: &Frame) -> io::Result<()> {
    let (mark, style) = if own.is_own(frame) { ("➜", BOLD) } else { (" ", DIM) };
    writeln!(out, "  {mark} {style}{}{style:#}", frame.function)?;
    let Some(location) = &frame.location else { return Ok(()) };
    let file = own.shorten(&location.file).display().to_string();
    writeln!(out, "        {DIM}{}{DIM:#}", Location { file, ..location.clone() })
}

impl Sink for Results {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        if self.is_beside_trace {
            self.show(&mut Terminal::new(anstream::stderr().lock()), event)
        } else {
            self.show(&mut Terminal::new(anstream::stdout().lock()), event)
        }
    }
}

/// The toggles of a workspace, on standard output: a table, or a line of JSON each.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn list(toggles: &BTreeSet<Toggle>, json: bool) -> io::Result<()> {
    let mut out = Terminal::new(anstream::stdout().lock());
    if !json {
        return write!(out, "{}", ToggleTable(toggles));
    }
    for toggle in toggles {
        serde_json::to_writer(&mut out, toggle)?;
        writeln!(out)?;
    }
    Ok(())
}
