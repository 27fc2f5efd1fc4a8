//! Lines of `bisect-rt` about a watched condition, parsed once: evaluations, ends, and descriptions of moments.
//!
//! A line is `bisect-watch 1 PROCESS KIND …`. Other lines of the file are not ours. A line of ours in an unknown form is
//! an error: a search that ignored it could name the wrong moment.
//!
//! The lines, each of one `write`:
//!
//! ```text
//! bisect-watch 1 PROCESS probe N good              or: bad, bad panicked PLACE: MESSAGE, bad crashed signal 6,
//!                                                  bad crashed SIGTERM before its value was known
//! bisect-watch 1 PROCESS confirm N bad             the evaluation that repeats the decisive one
//! bisect-watch 1 PROCESS ended N                   the program ended by itself after N moments
//! bisect-watch 1 PROCESS cut-short N               SIGTERM ended the program after N moments
//! bisect-watch 1 PROCESS rerun N WHY               no copy of the process works at moment N
//! bisect-watch 1 PROCESS diverged N HOW            a copy ended before moment N
//! bisect-watch 1 PROCESS at N FILE:LINE:COL NAME   a description; `frame N …` and `value N …` follow
//! bisect-watch 1 PROCESS other NAME                a condition with another name was passed
//! ```

use std::collections::BTreeMap;

use bisect_core::{ChangeId, moments::MomentVerdict};

use super::{content::Report, text};

const MARK: &str = "bisect-watch ";
const VERSION: &str = "1";
/// The maximum number of processes that are distinguished.
const MOST_PROCESSES: usize = 1000;

/// The lines of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WatchedProcess {
    /// The evaluations and the end, in order.
    pub(crate) facts: Vec<WatchFact>,
    /// The evaluation that repeats the decisive one.
    pub(crate) confirmed: Option<Evaluation>,
    /// The descriptions of moments.
    pub(crate) moments: BTreeMap<u64, Description>,
    /// The reason why copies of the process could not be used, from the first line about it.
    pub(crate) no_copies: Option<String>,
    /// The names of conditions that are not watched.
    pub(crate) other_names: Vec<String>,
}

/// A fact about the course of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WatchFact {
    /// The condition was evaluated.
    Probed(Evaluation),
    /// The program ended by itself after this number of moments.
    Ended(u64),
    /// SIGTERM ended the program after this number of moments.
    CutShort(u64),
    /// A copy of the process did not reach this moment, but ended in this way.
    Diverged(u64, String),
}

/// The value of the condition at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Evaluation {
    /// The moment.
    pub(crate) moment: u64,
    /// The value.
    pub(crate) verdict: MomentVerdict,
    /// The reason why the evaluation failed: a panic or a crash.
    pub(crate) failure: Option<String>,
}

/// The description of a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Description {
    /// The place and the name, and the functions of the call stack, innermost first.
    lines: Vec<String>,
    /// The user's values.
    pub(crate) values: Vec<String>,
}

impl Description {
    /// Returns the description as a report about the moment.
    pub(crate) fn report(&self, moment: u64) -> Report {
        Report { details: self.values.clone(), ..text::parse(ChangeId(moment), self.lines.clone()) }
    }
}

/// A line that has no meaning, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WatchLineError {
    /// A line of another version of `bisect-rt`.
    #[error("the program has a `bisect-rt` of another version, which writes `{0}`: use the same version of both")]
    Version(String),
    /// A line in an unknown form.
    #[error(
        "`{0}` in the report file is not a line of `bisect-rt`: let nothing else write to the file that BISECT_REPORT names"
    )]
    Form(String),
    /// Too many processes.
    #[error(
        "more than {MOST_PROCESSES} processes were watched: start fewer programs that call `bisect_watch!`, or watch one of them by `exec`"
    )]
    Processes,
}

/// Parses a report file. Returns the lines of each process, in the order of their first lines.
///
/// # Errors
/// If a line has no meaning.
pub(crate) fn parse(file: &[u8]) -> Result<Vec<WatchedProcess>, WatchLineError> {
    let mut numbers: Vec<u32> = Vec::new();
    let mut processes: Vec<WatchedProcess> = Vec::new();
    for line in String::from_utf8_lossy(file).lines() {
        let Some(rest) = line.strip_prefix(MARK) else { continue };
        let shown = || line.chars().take(200).collect::<String>();
        let (version, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        if version != VERSION {
            return Err(WatchLineError::Version(shown()));
        }
        let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let number = number.parse().map_err(|_| WatchLineError::Form(shown()))?;
        let at = numbers.iter().position(|&known| known == number).unwrap_or_else(|| {
            numbers.push(number);
            processes.push(WatchedProcess::default());
            numbers.len() - 1
        });
        if numbers.len() > MOST_PROCESSES {
            return Err(WatchLineError::Processes);
        }
        processes[at].add(rest).ok_or_else(|| WatchLineError::Form(shown()))?;
    }
    Ok(processes)
}

impl WatchedProcess {
    /// Returns true if the process passed a watched moment.
    pub(crate) fn has_moments(&self) -> bool {
        self.facts.iter().any(|fact| !matches!(fact, WatchFact::Ended(0) | WatchFact::CutShort(0)))
    }

    /// Adds a line without its prefix; `None` if it has no meaning.
    fn add(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        if kind == "other" {
            self.other_names.push(rest.to_owned());
            return Some(());
        }
        let (moment, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let moment: u64 = moment.parse().ok()?;
        match kind {
            "probe" => self.facts.push(WatchFact::Probed(evaluation(moment, rest)?)),
            "confirm" => self.confirmed = Some(evaluation(moment, rest)?),
            "ended" => self.facts.push(WatchFact::Ended(moment)),
            "cut-short" => self.facts.push(WatchFact::CutShort(moment)),
            "diverged" => self.facts.push(WatchFact::Diverged(moment, rest.to_owned())),
            "rerun" => drop(self.no_copies.get_or_insert_with(|| rest.to_owned())),
            "at" => {
                self.moments.insert(moment, Description { lines: vec![rest.to_owned()], values: Vec::new() });
            }
            "frame" => self.moments.get_mut(&moment)?.lines.push(format!("  {rest}")),
            "value" => self.moments.get_mut(&moment)?.values.push(rest.to_owned()),
            _ => return None,
        }
        Some(())
    }
}

/// Parses `good`, `bad`, `bad panicked MESSAGE` or `bad crashed HOW`.
fn evaluation(moment: u64, text: &str) -> Option<Evaluation> {
    let (verdict, failure) = match text.split_once(' ') {
        None if text == "good" => (MomentVerdict::Good, None),
        None if text == "bad" => (MomentVerdict::Bad, None),
        Some(("bad", how)) => {
            let (kind, what) = how.split_once(' ')?;
            match kind {
                "panicked" => (MomentVerdict::Bad, Some(format!("panicked at {what}"))),
                "crashed" => (MomentVerdict::Bad, Some(format!("ended the process with {what}"))),
                _ => return None,
            }
        }
        _ => return None,
    };
    (moment > 0).then_some(Evaluation { moment, verdict, failure })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probed(moment: u64, verdict: MomentVerdict) -> WatchFact {
        WatchFact::Probed(Evaluation { moment, verdict, failure: None })
    }

    #[test]
    fn a_search_in_one_run() {
        let file = "bisect-watch 1 7 other cheap\n\
                    [bisect-match 0x0123456789abcdef]\n\
                    bisect-watch 1 7 probe 1 good\n\
                    bisect-watch 1 7 probe 2 bad panicked src/main.rs:3:5: no key\n\
                    bisect-watch 1 7 at 1 src/main.rs:31:9 acyclic\n\
                    bisect-watch 1 7 frame 1 app::main at src/main.rs:31:9\n\
                    bisect-watch 1 7 value 1   [1, 2]\n\
                    bisect-watch 1 7 confirm 2 bad crashed signal 6\n\
                    bisect-watch 1 8 ended 0\n";
        let processes = parse(file.as_bytes()).unwrap();
        let [process, other] = &processes[..] else { panic!("{processes:?}") };
        assert!(process.has_moments() && !other.has_moments());
        let failure = Some("panicked at src/main.rs:3:5: no key".to_owned());
        let bad = WatchFact::Probed(Evaluation { moment: 2, verdict: MomentVerdict::Bad, failure });
        assert_eq!(process.facts, [probed(1, MomentVerdict::Good), bad]);
        assert_eq!(process.confirmed.as_ref().unwrap().failure.as_deref(), Some("ended the process with signal 6"));
        assert_eq!(process.other_names, ["cheap"]);
        let report = process.moments[&1].report(1);
        assert_eq!(
            (report.name.as_str(), report.frames.len(), &report.details[..]),
            ("acyclic", 1, &["  [1, 2]".to_owned()][..])
        );
        assert_eq!(report.location.unwrap().to_string(), "src/main.rs:31:9");
    }

    #[test]
    fn runs_that_end_and_copies_that_go_astray() {
        let file = "bisect-watch 1 7 rerun 1 threads 2\nbisect-watch 1 7 probe 1 good\nbisect-watch 1 7 ended 9\n\
                    bisect-watch 1 7 diverged 5 exit status 1\nbisect-watch 1 7 cut-short 9\n";
        let [process] = &parse(file.as_bytes()).unwrap()[..] else { panic!("one process") };
        assert_eq!(process.no_copies.as_deref(), Some("threads 2"));
        let diverged = WatchFact::Diverged(5, "exit status 1".to_owned());
        let ends = [WatchFact::Ended(9), diverged, WatchFact::CutShort(9)];
        assert_eq!(process.facts[0], probed(1, MomentVerdict::Good));
        assert_eq!(process.facts[1..], ends);
    }

    #[test]
    fn lines_without_a_meaning_are_refused() {
        for line in [
            "bisect-watch 1 x probe 1 good",
            "bisect-watch 1 7",
            "bisect-watch 1 7 probe",
            "bisect-watch 1 7 probe 0 good",
            "bisect-watch 1 7 probe -1 good",
            "bisect-watch 1 7 probe 1 goods",
            "bisect-watch 1 7 probe 1 good again",
            "bisect-watch 1 7 probe 1 bad somehow x",
            "bisect-watch 1 7 frame 1 main",
            "bisect-watch 1 7 ended 99999999999999999999",
            "bisect-watch 1 7 later 1",
        ] {
            let error = parse(line.as_bytes()).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{line}` in the report file is not a line of `bisect-rt`: ")),
                "{error}"
            );
        }
        for line in ["bisect-watch 2 7 probe 1 good", "bisect-watch "] {
            let error = parse(line.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("the program has a `bisect-rt` of another version, which writes "), "{error}");
        }
        let many = (0..=MOST_PROCESSES)
            .map(|process| format!("bisect-watch 1 {process} ended 1"))
            .collect::<Vec<_>>()
            .join("\n");
        let error = parse(many.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("processes were watched: start fewer programs that call"), "{error}");
        assert_eq!(parse(b"bisect-watcher\n\xff\n").unwrap(), []);
    }
}
