//! The command lines that a user, or a program, may run after a search.

use super::{
    events::{End, Event, Found},
    exit_status::Exit,
};
use crate::process::shell;

/// The run directory that commands use if they get none.
const DEFAULT_RUN_DIR: &str = "bisect.out";
/// The maximum number of culprits that are replayed.
const MAX_REPLAYED: usize = 3;
/// The digits of a commit that name it.
const COMMIT_DIGITS: usize = 12;

/// The facts that the next steps depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextSteps {
    /// The words of the command line, from the subcommand on.
    words: Vec<String>,
    /// The run directory as the command names it.
    run_dir: String,
    /// The numbers of the culprits.
    sets: Vec<usize>,
    /// The steps for single culprits.
    of_culprits: Vec<String>,
    /// The command line for the smallest failing set so far.
    smallest: Option<String>,
}

impl NextSteps {
    /// Returns the steps after a command with these words, the subcommand first.
    pub(crate) fn new(words: Vec<String>, run_dir: String) -> Self {
        Self { words, run_dir, ..Self::default() }
    }

    /// Learns from an event.
    pub(crate) fn learn(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(_) | Event::Preliminary(_) => self.smallest = None,
            Event::Smallest(smallest) => self.smallest = Some(smallest.reproduce.clone()),
            Event::Found(found) => {
                self.smallest = None;
                self.sets.push(found.set);
                self.of_culprit(found);
            }
            _ => {}
        }
    }

    fn of_culprit(&mut self, found: &Found) {
        let reproduce = Some(&found.reproduce).filter(|_| self.of_culprits.is_empty()).cloned();
        // A checkout would change the user's files.
        let is_harmless = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.contains("git checkout");
        let next = found.next.iter().flat_map(|next| next.lines()).filter(is_harmless).map(str::to_owned);
        let mut steps: Vec<String> = reproduce.into_iter().chain(next).collect();
        steps.extend(self.inside_of_commits(found));
        steps.retain(|step| !step.starts_with('#'));
        self.of_culprits.extend(steps);
    }

    /// Returns the command line that searches the hunks of the commits of a culprit.
    fn inside_of_commits(&self, found: &Found) -> Option<String> {
        let [first, .., last] = match found.changes.as_slice() {
            [only] => [only, only],
            [first, .., last] => [first, last],
            [] => return None,
        };
        let short = |hash: &'_ str| hash.get(..COMMIT_DIGITS).map(str::to_owned);
        let is_commit = first.kind.name == "commit" && last.kind.name == "commit";
        let (first, last) = (short(&first.name)?, short(&last.name)?);
        let mut words = self.words.clone();
        let (at, length) = self.option("--commits").filter(|_| is_commit)?;
        words.splice(at..at + length, [format!("--diff={first}^..{last}")]);
        Some(line(&words))
    }

    /// Returns the steps after a search that ended so.
    pub(crate) fn after(&self, end: &End) -> Vec<String> {
        let mut steps = self.of_culprits.clone();
        let own = |command: &str, options: &[&str]| {
            let run_dir = Some(self.run_dir.as_str()).filter(|run_dir| *run_dir != DEFAULT_RUN_DIR);
            line(&[command].into_iter().chain(run_dir).chain(options.iter().copied()).collect::<Vec<_>>())
        };
        let replays = self.sets.iter().take(MAX_REPLAYED);
        steps.extend(replays.map(|set| own("replay", &["--set", &set.to_string()])));
        match end.status {
            Exit::Limit => steps.extend(self.with_higher_limit(end).map(|words| line(&words))),
            Exit::Interrupted => steps.push(line(&self.words)),
            Exit::Nothing | Exit::Inconsistent if self.can_be_noisy() => steps.push(line(&self.with_confidence())),
            _ => {}
        }
        steps.extend(self.smallest.clone().filter(|_| matches!(end.status, Exit::Limit | Exit::Interrupted)));
        if let Some(log) = &end.log {
            steps.push(shell::line(["cat".as_ref(), log.path.as_os_str()]));
        }
        if !self.sets.is_empty() {
            steps.push(own("report", &[]));
        }
        steps
    }

    /// Returns the index of an option of ours, and the number of its words.
    fn option(&self, name: &str) -> Option<(usize, usize)> {
        let ours = self.words.iter().take_while(|word| *word != "--");
        let is_it = |word: &String| word == name || word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        let at = ours.into_iter().position(is_it)?;
        let is_separate = self.words[at] == name && at + 1 < self.words.len();
        Some((at, 1 + usize::from(is_separate)))
    }

    fn value_of(&self, name: &str) -> Option<usize> {
        let (at, length) = self.option(name)?;
        let last = &self.words[at + length - 1];
        last.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')).unwrap_or(last).parse().ok()
    }

    /// Returns the command with a higher value of the limit that ended the search.
    fn with_higher_limit(&self, end: &End) -> Option<Vec<String>> {
        let is_reached = |&(name, done): &(&'static str, usize)| self.value_of(name).is_some_and(|limit| done >= limit);
        let limits = [("--max-runs", end.runs), ("--max", end.sets), ("--max-set", usize::MAX)];
        let (name, _) = limits.into_iter().find(is_reached)?;
        let (at, length) = self.option(name)?;
        let mut words = self.words.clone();
        let more = self.value_of(name)?.max(1).saturating_mul(2);
        words.splice(at..at + length, [name.to_owned(), more.to_string()]);
        Some(words)
    }

    /// Returns true if the command has the option for a flaky target and does not use it.
    fn can_be_noisy(&self) -> bool {
        self.words.first().is_some_and(|subcommand| subcommand != "watch") && self.option("--confidence").is_none()
    }

    fn with_confidence(&self) -> Vec<String> {
        let mut words = self.words.clone();
        words.splice(1..1, ["--confidence", "0.99"].map(str::to_owned));
        words
    }
}

/// Returns the command line of a command of ours.
fn line(words: &[impl AsRef<std::ffi::OsStr>]) -> String {
    let ours = ["cargo", "bisect-opt"].map(std::ffi::OsStr::new);
    shell::line(ours.into_iter().chain(words.iter().map(AsRef::as_ref)))
}
