//! Live lines below the trace: one for each run in flight, and a summary of the search.

use std::{
    collections::HashMap,
    env, fmt,
    io::{self, Write as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike as _};

use super::{
    events::{Event, Sink},
    live_screen::LiveScreen,
    progress::SearchProgress,
    style::DIM,
    terminal,
};
use crate::{
    record::CommandRecord,
    run::in_flight::InFlight,
    stderr::{self, LiveLines},
    units::{plural, whole_seconds},
};

/// The time between two changes of the live lines.
const TICK: Duration = Duration::from_millis(100);

/// Marks truncated text.
const CUT: &str = "…";

/// Returns true if live lines are wanted: on a terminal that can move its cursor, and if the user has decided nothing, not
/// where a service records the screen.
pub(crate) fn are_wanted(always: Option<bool>) -> bool {
    let is = |name: &str, value: &str| env::var_os(name).is_some_and(|set| set == value);
    let can_move = terminal::is_terminal() && !is("TERM", "dumb");
    let is_recorded = env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
    can_move && always.unwrap_or(!is_recorded)
}

/// The live lines of a search. Dropping this removes them.
#[derive(Debug)]
pub(super) struct LiveDisplay {
    lines: Arc<SharedLines>,
    /// Dropping it ends the thread that changes the lines.
    stop: Option<mpsc::Sender<()>>,
    ticker: Option<JoinHandle<()>>,
}

/// The live lines, which threads share.
struct SharedLines {
    bar: ProgressBar,
    screen: LiveScreen,
    in_flight: InFlight,
    state: Mutex<LiveState>,
}

struct LiveState {
    progress: SearchProgress,
    /// The number and the description of each run, by its number among all runs.
    labels: HashMap<usize, (Option<usize>, String)>,
    is_parallel: bool,
    /// The lines that were drawn last.
    drawn: String,
    /// True if no run was in flight at the last change. The moment between two runs is not shown.
    was_idle: bool,
}

impl LiveDisplay {
    /// Shows live lines of at most this width, until the result is dropped.
    pub(super) fn start(in_flight: &InFlight, max_width: Option<u16>) -> Self {
        let screen = LiveScreen::with_max_width(max_width);
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::term_like(Box::new(screen.clone())));
        bar.set_style(ProgressStyle::with_template("{msg}").expect("the template is constant"));
        let progress = SearchProgress::new(Instant::now());
        let state =
            LiveState { progress, labels: HashMap::new(), is_parallel: false, drawn: String::new(), was_idle: true };
        let lines = Arc::new(SharedLines { bar, screen, in_flight: in_flight.clone(), state: Mutex::new(state) });
        let (stop, stopped) = mpsc::channel::<()>();
        let drawn = lines.clone();
        let ticker = thread::Builder::new().name("live".into()).spawn(move || {
            while stopped.recv_timeout(TICK) == Err(mpsc::RecvTimeoutError::Timeout) {
                drawn.draw();
            }
        });
        stderr::line().set_live_lines(Some(lines.clone()));
        Self { lines, stop: Some(stop), ticker: ticker.ok() }
    }

    /// Handles an event and prints its lines, `text`. A run that begins is described by `label`.
    ///
    /// # Errors
    /// If the lines cannot be written.
    pub(super) fn event(&self, event: &Event<'_>, label: Option<String>, text: &str) -> io::Result<()> {
        // Nothing else is written meanwhile.
        let _line = stderr::line();
        self.lines.learn(event, label);
        if text.is_empty() { Ok(()) } else { self.lines.write_above(text) }
    }
}

impl Drop for LiveDisplay {
    fn drop(&mut self) {
        drop(self.stop.take());
        // The thread does not panic; if it did, the lines are removed all the same.
        let _ = self.ticker.take().map(JoinHandle::join);
        let mut line = stderr::line();
        line.set_live_lines(None);
        self.lines.bar.finish_and_clear();
    }
}

impl SharedLines {
    fn state(&self) -> MutexGuard<'_, LiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, event: &Event<'_>, label: Option<String>) {
        let mut state = self.state();
        state.progress.learn(event, Instant::now());
        match event {
            Event::Start(start) => state.is_parallel = start.search.jobs > 1,
            Event::Run(run) => {
                let in_flight: Vec<_> = self.in_flight.states().iter().map(|(_, run)| run.number).collect();
                state.labels.retain(|number, _| in_flight.contains(number));
                state.labels.insert(run.number, (run.n, label.unwrap_or_default()));
            }
            _ => {}
        }
    }

    /// Draws the lines as they are now.
    fn draw(&self) {
        let runs = self.in_flight.states();
        let mut state = self.state();
        if runs.is_empty() && !std::mem::replace(&mut state.was_idle, true) {
            return;
        }
        state.was_idle = runs.is_empty();
        let (width, height) = (usize::from(self.screen.width()), usize::from(self.screen.height()));
        let now = Instant::now();
        // The summary, the line of the cursor, and a line that says how many runs are left out.
        let room = height.saturating_sub(3).max(1);
        let shown = if runs.len() > room + 1 { room } else { runs.len() };
        let mut lines: Vec<_> = runs
            .iter()
            .take(shown)
            .map(|(slot, run)| {
                let (n, label) = state.labels.get(&run.number).map_or((None, "one more run"), |(n, label)| (*n, label));
                let number = match n {
                    _ if state.is_parallel => format!("[{}]", slot + 1),
                    Some(n) => n.to_string(),
                    None => String::new(),
                };
                let time = whole_seconds(now.saturating_duration_since(run.since));
                cut(&format!("{number:>4}  {label:<27} {DIM}{}, {time}{DIM:#}", run.activity), width)
            })
            .collect();
        if shown < runs.len() {
            lines.push(cut(&format!("      {DIM}{CUT} and {}{DIM:#}", plural(runs.len() - shown, "more run")), width));
        }
        lines.push(summary(&state.progress.parts(now), width));
        let text = lines.join("\n");
        if text != state.drawn {
            state.drawn.clone_from(&text);
            drop(state);
            self.bar.set_message(text);
        }
    }
}

/// Returns a line of this width, without anything but text and colours. Names of programs may have other characters.
fn cut(line: &str, width: usize) -> String {
    let line = line.replace(['\n', '\t'], " ");
    // Text in memory can be written.
    let shown = terminal::text_for_stderr(|out| out.write_all(line.as_bytes())).unwrap_or_default();
    console::truncate_str(&shown, width, CUT).into_owned()
}

/// Returns the summary of as many parts as fit.
fn summary(parts: &[String], width: usize) -> String {
    let line = |parts: &[String]| format!("      {}", parts.join(" · "));
    let fits = |&count: &usize| console::measure_text_width(&line(&parts[..count])) <= width;
    let count = (1..=parts.len()).rev().find(fits).unwrap_or(1);
    cut(&line(&parts[..count]), width)
}

impl LiveLines for SharedLines {
    fn write_above(&self, text: &str) -> io::Result<()> {
        self.screen.hold();
        self.bar.suspend(|| self.screen.push(text));
        self.screen.release()
    }

    fn while_hidden(&self, write: &mut dyn FnMut()) {
        self.bar.suspend(write);
    }
}

impl fmt::Debug for SharedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLines").finish_non_exhaustive()
    }
}

/// A listener that writes to the terminal by other means, while no live lines are shown.
#[derive(Debug)]
pub(crate) struct BesideLive<S> {
    sink: S,
    /// True if it writes something for each trial.
    shows_trials: bool,
}

impl<S: Sink> BesideLive<S> {
    /// Wraps a listener.
    pub(crate) fn new(sink: S, shows_trials: bool) -> Self {
        Self { sink, shows_trials }
    }
}

impl<S: Sink> Sink for BesideLive<S> {
    fn event(&mut self, event: &Event<'_>, record: &CommandRecord) -> io::Result<()> {
        let is_silent = match event {
            Event::Run(_) | Event::Smallest(_) | Event::Note(_) => true,
            Event::Start(_) | Event::Trial(..) => !self.shows_trials,
            _ => false,
        };
        if is_silent {
            self.sink.event(event, record)
        } else {
            stderr::beside_live_lines(|| self.sink.event(event, record))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_moves_no_cursor_and_has_the_width_that_is_shown() {
        assert_eq!(cut("running a\nb\x1b[2J\r, 1s", 80), "running a b␛[2J␍, 1s");
        assert_eq!(cut("running 编译器编译器", 13), "running 编译…");
    }

    #[test]
    fn a_summary_has_as_many_parts_as_fit() {
        let parts = ["trial 7 of about 14", "11 of 1,204 changes still suspect", "12s"].map(str::to_owned);
        assert_eq!(summary(&parts, 80), "      trial 7 of about 14 · 11 of 1,204 changes still suspect · 12s");
        assert_eq!(summary(&parts, 40), "      trial 7 of about 14");
        assert_eq!(summary(&parts, 20), "      trial 7 of ab…");
    }
}
