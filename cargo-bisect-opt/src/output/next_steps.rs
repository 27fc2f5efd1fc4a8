//! Command lines to run after a search.

use super::events::Event;
use crate::{
    process::shell,
    record::{conclusion_kind::ConclusionKind, culprit::CulpritRecord, end::End, exit_status::Exit},
    report::content::Report,
};

/// The run directory that commands use if they get none.
const DEFAULT_RUN_DIR: &str = "bisect.out";
/// The maximum number of culprits that are replayed.
const MAX_REPLAYED: usize = 3;
/// The number of hash digits that name a commit.
const COMMIT_DIGITS: usize = 12;
/// The options that limit the runs, and that continue a search.
const MAX_RUNS: &str = "--max-runs";
const RESUME: &str = "--resume";

/// The facts that the next steps depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextSteps {
    /// The words of the command line, from the subcommand on.
    words: Vec<String>,
    /// The words of the defaults in use.
    defaults: Vec<String>,
    /// The run directory as the command names it.
    run_dir: String,
    /// True if the subcommand has `--resume`.
    can_resume: bool,
    /// The numbers of the culprits.
    sets: Vec<usize>,
    /// The steps for single culprits, each with the number of its culprit.
    of_culprits: Vec<(usize, String)>,
    /// The command line for the smallest failing set so far.
    smallest: Option<String>,
}

impl NextSteps {
    /// Returns the steps after a command with these words, the subcommand first.
    pub(crate) fn new(words: Vec<String>, run_dir: String, can_resume: bool) -> Self {
        Self { words, run_dir, can_resume, ..Self::default() }
    }

    /// Returns the same steps after a command with these defaults, which are in use again if a step does not replace them.
    pub(crate) fn with_defaults(self, defaults: Vec<String>) -> Self {
        Self { defaults, ..self }
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
            Event::Withdrawn(culprits) => {
                self.sets.retain(|set| !culprits.contains(set));
                self.of_culprits.retain(|(set, _)| !culprits.contains(set));
            }
            _ => {}
        }
    }

    fn of_culprit(&mut self, found: &CulpritRecord) {
        let reproduce = Some(&found.reproduce).filter(|_| self.of_culprits.is_empty()).cloned();
        // A checkout would change the user's files.
        let is_harmless = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.contains("git checkout");
        let next = found.next.iter().flat_map(|next| next.lines()).filter(is_harmless).map(str::to_owned);
        let mut steps: Vec<String> = reproduce.into_iter().chain(next).collect();
        // Several culprits may have a step in common.
        let is_known = |step: &String| self.of_culprits.iter().any(|(_, known)| known == step);
        steps.retain(|step| !step.starts_with('#') && !is_known(step));
        self.of_culprits.extend(steps.into_iter().map(|step| (found.set, step)));
    }

    /// Returns the lines of a next step that searches the hunks of the commits of a culprit.
    pub(crate) fn inside_of_commits(&self, changes: &[Report]) -> Option<String> {
        let (first, last) = (changes.first()?, changes.last()?);
        let short = |hash: &'_ str| hash.get(..COMMIT_DIGITS).map(str::to_owned);
        let is_commit = first.kind.name == "commit" && last.kind.name == "commit";
        let (first, last) = (short(&first.name)?, short(&last.name)?);
        let search = |axis: String| {
            let mut words = self.with("--commits", &[axis])?;
            // Another search begins anew.
            if let Some((at, _)) = position(&words, RESUME) {
                words.remove(at);
            }
            Some(words)
        };
        let words = is_commit.then(|| search(format!("--diff={first}~1..{last}")))??;
        let merged = changes.iter().filter(|_| changes.len() == 1).find_map(Report::merged_commits);
        let merged = merged.and_then(|range| search(format!("--commits={range}")));
        let merged =
            merged.map(|words| format!("# To find the commit among those that it merges:\n{}\n", line(&words)));
        let commits = if changes.len() == 1 { "this commit" } else { "these commits" };
        // Some hunks without others are no state of the source code that the command was written for.
        let rule = if words.first().is_some_and(|word| word == "exec") {
            " (the command must exit with 125 where something cannot be tested, except by a compiler's error)"
        } else {
            ""
        };
        let hunks = format!("# To find the hunks within {commits}{rule}:\n{}", line(&words));
        Some(merged.unwrap_or_default() + &hunks)
    }

    /// Returns the next steps after a search with this end, whose continuation is known.
    pub(crate) fn after(&self, end: &End) -> Vec<String> {
        let mut steps: Vec<_> = self.of_culprits.iter().map(|(_, step)| step.clone()).collect();
        let own = |command: &str, options: &[&str]| {
            let run_dir = Some(self.run_dir.as_str()).filter(|run_dir| *run_dir != DEFAULT_RUN_DIR);
            line(&[command].into_iter().chain(run_dir).chain(options.iter().copied()).collect::<Vec<_>>())
        };
        let replays = self.sets.iter().take(MAX_REPLAYED);
        steps.extend(replays.map(|set| own("replay", &["--set", &set.to_string()])));
        steps.extend(end.continuation.clone());
        match end.status {
            Exit::Nothing | Exit::Inconsistent if self.can_be_noisy() => steps.push(line(&self.with_confidence())),
            _ => {}
        }
        steps.extend(self.smallest.clone().filter(|_| matches!(end.status, Exit::Limit | Exit::Interrupted)));
        if let Some(log) = &end.log {
            steps.push(shell::line(["cat".as_ref(), log.path.as_os_str()]));
        }
        if !self.sets.is_empty() {
            steps.push(own("report", &["--html", "bisect.html"]));
        }
        steps
    }

    /// Returns the command line that continues a search with this end: with a higher limit, if it was stopped at one.
    pub(crate) fn continuation(&self, end: &End) -> Option<String> {
        match end.status {
            Exit::Interrupted => Some(self.to_resume()),
            Exit::Unusable if end.kind == Some(ConclusionKind::Machine) => Some(self.to_resume()),
            Exit::Limit => {
                let (words, limit) = self.with_higher_limit(end)?;
                // The runs of a search with other limits may be others.
                Some(line(&if limit == MAX_RUNS { self.resumed(words) } else { words }))
            }
            _ => None,
        }
    }

    /// Returns the command line that continues the search where it is.
    pub(crate) fn to_resume(&self) -> String {
        line(&self.resumed(self.words.clone()))
    }

    /// Records that the search cannot be continued later.
    pub(crate) fn lose_journal(&mut self) {
        self.can_resume = false;
    }

    /// Returns these words with `--resume`, if the subcommand has it.
    fn resumed(&self, mut words: Vec<String>) -> Vec<String> {
        if self.can_resume && !self.has(RESUME) {
            // Later words may belong to cargo or to the target.
            words.insert(1, RESUME.to_owned());
        }
        words
    }

    /// Returns true if the command has this option of the driver, from the user or by default.
    fn has(&self, name: &str) -> bool {
        position(&self.words, name).or_else(|| position(&self.defaults, name)).is_some()
    }

    fn value_of(&self, name: &str) -> Option<usize> {
        let of = |words: &[String]| {
            let (at, length) = position(words, name)?;
            let last = words[at + length - 1].clone();
            Some(last.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')).unwrap_or(&last).to_owned())
        };
        of(&self.words).or_else(|| of(&self.defaults))?.parse().ok()
    }

    /// Returns the words of the command with others in place of one of its options; `None` if it does not have it. An
    /// option on the command line overrides its default.
    fn with(&self, name: &str, replacement: &[String]) -> Option<Vec<String>> {
        let (at, length) = position(&self.words, name).or_else(|| self.has(name).then_some((1, 0)))?;
        let mut words = self.words.clone();
        words.splice(at..at + length, replacement.iter().cloned());
        Some(words)
    }

    /// Returns the command with a higher value of the limit that ended the search, and the name of the limit.
    fn with_higher_limit(&self, end: &End) -> Option<(Vec<String>, &'static str)> {
        let is_reached = |&(name, done): &(&'static str, usize)| self.value_of(name).is_some_and(|limit| done >= limit);
        let limits = [(MAX_RUNS, end.runs), ("--max", end.sets), ("--max-set", usize::MAX)];
        let (name, _) = limits.into_iter().find(is_reached)?;
        let more = self.value_of(name)?.max(1).saturating_mul(2);
        Some((self.with(name, &[name.to_owned(), more.to_string()])?, name))
    }

    /// Returns true if the command has the option for a flaky target and does not use it.
    fn can_be_noisy(&self) -> bool {
        self.words.first().is_some_and(|subcommand| subcommand != "watch") && !self.has("--confidence")
    }

    fn with_confidence(&self) -> Vec<String> {
        let mut words = self.words.clone();
        words.splice(1..1, ["--confidence", "0.99"].map(str::to_owned));
        words
    }
}

/// Returns the position of one of the driver's options among the words of a command line, and how many words it takes.
fn position(words: &[String], name: &str) -> Option<(usize, usize)> {
    let ours = words.iter().take_while(|word| *word != "--");
    let is_it = |word: &String| word == name || word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    let at = ours.into_iter().position(is_it)?;
    let is_separate = words[at] == name && at + 1 < words.len();
    Some((at, 1 + usize::from(is_separate)))
}

/// Returns a `cargo bisect-opt` command line with these words.
fn line(words: &[impl AsRef<std::ffi::OsStr>]) -> String {
    let ours = ["cargo", "bisect-opt"].map(std::ffi::OsStr::new);
    shell::line(ours.into_iter().chain(words.iter().map(AsRef::as_ref)))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use bisect_core::{ChangeId, search::Mode};

    use super::*;
    use crate::{
        record::{SmallestSet, end::LogEnd},
        report::kind::ChangeKind,
    };

    fn found(set: usize, next: Option<&str>) -> Rc<CulpritRecord> {
        let (reproduce, next) = (format!("run {set}"), next.map(str::to_owned));
        Rc::new(CulpritRecord { set, reproduce, next, ..CulpritRecord::default() })
    }

    fn end(status: Exit, sets: usize, runs: usize) -> End {
        End { sets, trials: runs, runs, ..End::new(status, String::new()) }
    }

    fn steps(words: &str, run_dir: &str, events: &[Event<'_>], mut end: End) -> Vec<String> {
        let words = words.split(' ').map(str::to_owned).collect();
        let mut steps = NextSteps::new(words, run_dir.to_owned(), true);
        for event in events {
            steps.learn(event);
        }
        end.continuation = steps.continuation(&end);
        steps.after(&end)
    }

    #[test]
    fn culprits_are_reproduced_replayed_and_reported() {
        let found = [1, 2, 3, 4].map(|set| found(set, (set == 2).then_some("# a remark\nlook at it")));
        let found = found.each_ref().map(Event::Found);
        let replay = |set: usize| format!("cargo bisect-opt replay 'my out' --set {set}");
        let report = "cargo bisect-opt report 'my out' --html bisect.html".to_owned();
        let expected = ["run 1".to_owned(), "look at it".to_owned(), replay(1), replay(2), replay(3), report];
        assert_eq!(steps("test", "my out", &found, end(Exit::Found, 4, 9)), expected);
    }

    #[test]
    fn inside_of_a_commit_hunks_are_searched() {
        let kind = ChangeKind::own("commit", "commit", "this commit");
        let commit = |digit: &str| Report { kind, name: digit.repeat(40), ..Report::new(ChangeId(1)) };
        let inside = |commits: Vec<Report>, words: &str| {
            let words = words.split(' ').map(str::to_owned).collect();
            NextSteps::new(words, "bisect.out".to_owned(), true).inside_of_commits(&commits)
        };
        let line = "cargo bisect-opt test '--diff=aaaaaaaaaaaa~1..aaaaaaaaaaaa' -p x";
        let expected = format!("# To find the hunks within this commit:\n{line}");
        for words in ["test --commits v1..HEAD -p x", "test --resume --commits v1..HEAD -p x"] {
            assert_eq!(inside(vec![commit("a")], words).as_ref(), Some(&expected), "{words}");
        }
        let several = inside(vec![commit("a"), commit("b"), commit("c")], "test --commits=v1..HEAD").unwrap();
        assert_eq!(several.lines().last(), Some("cargo bisect-opt test '--diff=aaaaaaaaaaaa~1..cccccccccccc'"));
        let of_exec = inside(vec![commit("a")], "exec --commits=v1..HEAD ./check.sh").unwrap();
        assert!(
            of_exec.starts_with("# To find the hunks within this commit (the command must exit with 125"),
            "{of_exec}"
        );
        let merge = Report { details: vec!["merges the commits b..c".to_owned()], ..commit("a") };
        let of_merge = inside(vec![merge], "test --resume --commits v1..HEAD -p x").unwrap();
        let of_merged = "# To find the commit among those that it merges:\ncargo bisect-opt test '--commits=b..c' -p x";
        assert_eq!(of_merge, format!("{of_merged}\n{expected}"));
        assert_eq!(inside(Vec::new(), "test --commits v1..HEAD"), None);
        let found = found(1, Some(&format!("git checkout x && y\n{expected}")));
        let steps = steps("test", "bisect.out", &[Event::Found(&found)], end(Exit::Found, 1, 9));
        assert_eq!(steps[..2], ["run 1".to_owned(), line.to_owned()]);
    }

    #[test]
    fn a_search_that_was_cut_short_continues() {
        let smallest = SmallestSet {
            mode: Mode::Enable,
            changes: 3,
            of: 9,
            tests: Vec::new(),
            reproduce: "run smallest".to_owned(),
        };
        let smallest = [Event::Smallest(&smallest)];
        for (words, end, expected) in [
            ("exec --max-runs=8 a --max 1", end(Exit::Limit, 0, 8), "exec --resume --max-runs 16 a --max 1"),
            ("exec --max-runs 80 --max 1 a", end(Exit::Limit, 1, 8), "exec --max-runs 80 --max 2 a"),
            ("exec --max-set 3 a", end(Exit::Limit, 0, 8), "exec --max-set 6 a"),
            ("exec a -- --max-runs 3", end(Exit::Interrupted, 0, 8), "exec --resume a -- --max-runs 3"),
            ("exec a -- --resume", end(Exit::Interrupted, 0, 8), "exec --resume a -- --resume"),
            ("exec -q --resume a", end(Exit::Interrupted, 0, 8), "exec -q --resume a"),
        ] {
            let steps = steps(words, "bisect.out", &smallest, end);
            assert_eq!(steps, [format!("cargo bisect-opt {expected}"), "run smallest".to_owned()]);
        }
        let watch = NextSteps::new(vec!["watch".to_owned()], String::new(), false);
        let continuation = watch.continuation(&end(Exit::Interrupted, 0, 8));
        assert_eq!(continuation.as_deref(), Some("cargo bisect-opt watch"));
        // What remains is unresolved, which no limit changes.
        assert_eq!(steps("exec a", "bisect.out", &[], end(Exit::Limit, 0, 8)), [""; 0]);
    }

    #[test]
    fn a_default_that_ended_the_search_is_replaced() {
        let continued = |words: &str, defaults: &[&str], end: &End| {
            let words = words.split(' ').map(str::to_owned).collect();
            let steps = NextSteps::new(words, "bisect.out".to_owned(), true);
            steps.with_defaults(defaults.iter().map(|&word| word.to_owned()).collect()).continuation(end)
        };
        let limit = |sets| end(Exit::Limit, sets, 8);
        let expected = Some("cargo bisect-opt test --resume --max-runs 16 -p x".to_owned());
        assert_eq!(continued("test -p x", &["--count=2", "--max-runs=8"], &limit(0)), expected);
        assert_eq!(continued("test -p x", &["--max-runs", "8"], &limit(0)), expected);
        // The user's own limit has precedence, and was not reached.
        let own = continued("test --max-runs 80 -p x", &["--max-runs=8", "--max=1"], &limit(1));
        assert_eq!(own.as_deref(), Some("cargo bisect-opt test --max 2 --max-runs 80 -p x"));
        assert_eq!(continued("test -p x", &["--count=2"], &limit(0)), None);
        let steps = NextSteps::new(vec!["test".to_owned()], "bisect.out".to_owned(), true);
        let steps = steps.with_defaults(vec!["--confidence=0.9".to_owned()]);
        assert_eq!(steps.after(&end(Exit::Inconsistent, 0, 4)), [""; 0]);
    }

    #[test]
    fn a_target_that_may_be_flaky_gets_more_runs() {
        let again = |words: &str, status| steps(words, "bisect.out", &[], end(status, 0, 4));
        for status in [Exit::Nothing, Exit::Inconsistent] {
            assert_eq!(again("exec a", status), ["cargo bisect-opt exec --confidence 0.99 a"]);
        }
        assert_eq!(again("exec --confidence 0.9 a", Exit::Inconsistent), [""; 0]);
        assert_eq!(again("watch x", Exit::Inconsistent), [""; 0]);
        let log = Some(LogEnd { path: "my out/runs/1.log".into(), lines: Vec::new() });
        let unusable = End { log, ..end(Exit::Unusable, 0, 4) };
        assert_eq!(steps("exec a", "bisect.out", &[], unusable), ["cat 'my out/runs/1.log'"]);
    }
}
