//! Tests of whole searches without processes: on a simulated target, the output of all listeners is text.

#[path = "../../../bisect-core/tests/search/behaviour.rs"]
mod behaviour;
mod clock;
mod fake_target;
mod golden;
mod loop_tests;
mod resumed;

use std::{
    cell::{Cell, RefCell},
    io::{self, Write},
    num::NonZeroUsize,
    path::Path,
    rc::Rc,
};

use bisect_core::search::{Noise, Options};
use regex::Regex;
use tempfile::TempDir;

use super::{Lab, Searched, Totals, journal::Journal, target::Target};
use crate::{
    output::{
        closing::Closing,
        events::{Event, Sink},
        formats::text,
        json::Json,
        listeners::{Listener, Listeners},
        next_steps::NextSteps,
        recording::Recording,
        results::Results,
        run_dir::RunDir,
        run_dir_files::{self, RunDirFiles},
        terminal::{self, Terminal},
        trace::Trace,
    },
    process::interrupt::Interrupt,
    record::{
        CommandRecord, Provenance,
        end::{Answer, Fact},
        exit_status::Exit,
        noise,
    },
    run::{in_flight::InFlight, repetition::Repetition, seed::Seed},
};
use behaviour::Settings;
use fake_target::FakeTarget;

/// The heading of the settings of another search, which examines the culprit with this number.
const WITHIN: &str = "# in culprit ";
/// The heading of the settings of a single run of another target.
const ONCE: &str = "# once more\n";

/// The output of a search.
struct Simulated {
    /// The terminal: the trace and the answer, without colours.
    screen: String,
    /// The answer alone, and the answer that `report` shows afterwards.
    answers: [String; 2],
    /// The lines of `--json`.
    events: String,
    status: Exit,
    /// The patterns of the runs, in the order of their numbers.
    sent: Vec<String>,
    /// The journal.
    journal: String,
    /// The run directory.
    directory: TempDir,
}

/// Makes the searches that these settings describe.
fn simulate(text: &str) -> Simulated {
    simulate_in(tempfile::tempdir().expect("a temporary directory"), text)
}

/// Makes the searches that these settings describe, from the journal in a directory, if there is one.
fn simulate_in(directory: TempDir, text: &str) -> Simulated {
    let interrupt = Interrupt::default();
    let blocks = blocks(text);
    let mut settings = Settings::parse(blocks[0].1);
    let mut first = FakeTarget::parse(&mut settings, &interrupt);
    let jobs = settings.number("jobs").unwrap_or(NonZeroUsize::MIN);
    let confidence = settings.number("confidence");
    let repetition = Repetition::new(settings.number("repeat"), settings.number("any pass"));
    let options = Options {
        runs_per_trial: settings.number("count").unwrap_or(NonZeroUsize::MIN),
        max_sets: settings.number("max"),
        max_set_size: settings.number("max set"),
        max_runs: settings.number("max runs"),
        seed: first.seed(),
        noise: confidence.map_or(Noise::Suspected(noise::CONFIDENCE), Noise::Expected),
        ..Options::default()
    };
    let verbosity = settings.take("verbosity").unwrap_or("normal");
    let (screen, answer, events) = (Text::default(), Text::default(), Text::default());
    let out_dir = Path::new("bisect.out");
    let trace = match verbosity {
        "quiet" => Listener::new("the trace", OnScreen(Closing { out_dir: out_dir.to_owned() }, screen.clone())),
        verbosity => {
            Listener::new("the trace", OnScreen(Trace::new(verbosity == "verbose", out_dir.to_owned()), screen.clone()))
        }
    };
    settings.finish();
    let run_dir = open_run_dir(&directory);
    let journal = Journal::open(&run_dir.journal()).or_else(|_| Journal::create(&run_dir.journal()));
    let journal = journal.expect("a journal");
    let results = OnScreen(Results::default(), screen.clone());
    let results_alone = OnScreen(Results::default(), answer.clone());
    let provenance = Provenance { root: first.root().display().to_string(), ..Provenance::default() };
    let mut lab = Lab {
        pasted: Cell::default(),
        options,
        jobs,
        repetition,
        seed: Seed::parse(&first.seed().to_string()).expect("a seed"),
        is_repeated: false,
        since: None,
        run_dir: &run_dir,
        journal: Rc::new(journal),
        out_dir,
        listeners: Listeners::new(
            Recording::new(provenance),
            [
                Listener::new("the run directory", RunDirFiles::new(&run_dir)).lasting(),
                trace,
                Listener::new("the answer alone", results_alone).with_certain_culprits(),
                Listener::new("the answer", results).with_certain_culprits(),
                Listener::new("the events", Json(events.clone())).with_certain_culprits(),
            ],
        ),
        interrupt: &interrupt,
        totals: Totals::default(),
        budget: None,
        cut_short: None,
        parent_culprit: None,
        numbered: 0,
        in_flight: InFlight::default(),
        searches: 0,
        next_steps: NextSteps::new(vec!["simulate".to_owned()], "bisect.out".to_owned(), true),
    };
    let (status, sent) = search_all(&mut lab, &mut first, &blocks[1..]).expect("nothing is in the way of listeners");
    drop(lab);
    let journal = fs_err::read_to_string(run_dir.journal()).expect("a journal");
    let recorded = run_dir_files::read_all(directory.path()).expect("it was recorded").expect("there is an answer");
    let answers = [answer.take(), terminal::without_colors(&text::render(&recorded))];
    Simulated {
        screen: without_times(&screen.take()),
        answers,
        events: rounded(&without_times(&events.take())),
        status,
        sent,
        journal,
        directory,
    }
}

/// Opens the run directory, or creates it.
fn open_run_dir(directory: &TempDir) -> RunDir {
    // Creating it would delete an earlier journal.
    let is_new = !directory.path().join("bisect-opt.json").exists();
    let open = || if is_new { RunDir::create(directory.path()) } else { RunDir::reopen(directory.path()) };
    open().expect("a run directory")
}

/// Returns the heading and the settings of each search. The first search has no heading.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let headings = text.match_indices(WITHIN).chain(text.match_indices(ONCE)).map(|(at, _)| at);
    let mut borders: Vec<_> = headings.chain([text.len()]).collect();
    borders.sort_unstable();
    let others = borders.windows(2).map(|ends| text[ends[0]..ends[1]].split_once('\n').expect("a heading is a line"));
    std::iter::once(("", &text[..borders[0]])).chain(others).collect()
}

/// Makes the first search, then others that examine its culprits, as `--codegen` does.
fn search_all(lab: &mut Lab<'_>, first: &mut FakeTarget, others: &[(&str, &str)]) -> io::Result<(Exit, Vec<String>)> {
    if others.is_empty() {
        let Searched { end, found, .. } = lab.search(first)?;
        lab.list(&found)?;
        return Ok((lab.end(end)?, first.sent()));
    }
    let mut end = lab.search(first)?.end;
    let mut sent = first.sent();
    for (heading, settings) in others {
        let mut settings = Settings::parse(settings);
        let mut target = FakeTarget::parse(&mut settings, lab.interrupt);
        settings.finish();
        match heading.strip_prefix(WITHIN) {
            None => {
                let run = lab.try_once(&mut target)?;
                let note = format!("once more: {:?}", run.ok().map(|run| run.outcome));
                lab.emit(&Event::Note(&note))?;
            }
            Some(number) => {
                let culprit = number.parse().expect("a number");
                lab.parent_culprit = Some(culprit);
                let found = lab.search(&mut target)?.found;
                let changes = found.iter().flat_map(|named| &named.found.changes);
                let facts = changes.map(|change| Fact::new("inside", change.name.clone())).collect();
                let answer = Answer { set: culprit, facts, advice: vec!["look at it".to_owned()] };
                lab.emit(&Event::Answer(&answer))?;
                end.answers.push(answer);
            }
        }
        sent.extend(target.sent());
    }
    (end.trials, end.runs) = (lab.totals.trials, lab.totals.runs);
    Ok((lab.end(end)?, sent))
}

/// Text that several writers share.
#[derive(Clone, Default)]
struct Text(Rc<RefCell<Vec<u8>>>);

impl Text {
    fn take(&self) -> String {
        String::from_utf8(self.0.take()).expect("we write text")
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A listener that shows events on a terminal.
trait Show {
    fn show(&mut self, out: &mut Vec<u8>, event: &Event<'_>, record: &CommandRecord) -> io::Result<()>;
}

impl Show for Trace {
    fn show(&mut self, out: &mut Vec<u8>, event: &Event<'_>, _: &CommandRecord) -> io::Result<()> {
        self.show(&mut Terminal::new(out), event)
    }
}

impl Show for Closing {
    fn show(&mut self, out: &mut Vec<u8>, event: &Event<'_>, _: &CommandRecord) -> io::Result<()> {
        Closing::show(self, &mut Terminal::new(out), event)
    }
}

impl Show for Results {
    fn show(&mut self, out: &mut Vec<u8>, event: &Event<'_>, record: &CommandRecord) -> io::Result<()> {
        Results::show(self, &mut Terminal::new(out), event, record)
    }
}

/// A listener on a shared terminal, where the trace and the answer come in the order in which they are written.
struct OnScreen<S>(S, Text);

impl<S: Show> Sink for OnScreen<S> {
    fn event(&mut self, event: &Event<'_>, record: &CommandRecord) -> io::Result<()> {
        let mut shown = Vec::new();
        self.0.show(&mut shown, event, record)?;
        let shown = String::from_utf8(shown).expect("a terminal gets text");
        write!(self.1, "{}", terminal::without_colors(&shown))
    }
}

/// Returns the text without the times that clocks have measured. The times of runs are logical, and stay.
fn without_times(text: &str) -> String {
    let in_words = Regex::new(r"(?m)(\(\d+ trials?, \d+ runs?, )[0-9ms.]+\)$").expect("it is constant");
    let in_json = Regex::new(r#"(?m)^(\{"v":1,"event":"end",.*"ms":)\d+"#).expect("it is constant");
    let start = Regex::new(r#""start_ms":\d+"#).expect("it is constant");
    let text = in_words.replace_all(text, "${1}TIME)");
    start.replace_all(&in_json.replace_all(&text, "${1}0"), r#""start_ms":0"#).into_owned()
}

/// Returns the lines with rates and probabilities cut to four digits. Further digits are not promised.
fn rounded(events: &str) -> String {
    let long = Regex::new(r"(\d\.\d{4})\d+").expect("it is constant");
    long.replace_all(events, "$1").into_owned()
}
