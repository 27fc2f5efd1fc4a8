//! Whole searches as text files: `tests/searches/*.txt`. How to add one: `tests/searches/README.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Write,
    fs,
    num::NonZeroUsize,
    path::Path,
};

use bisect_core::{
    ChangeId,
    search::{Observation, Options, Outcome, Question, Reason, Search, Step},
};

use crate::simulator::{Run, id};

/// Between the settings and the search that they lead to.
const SEPARATOR: &str = "----\n";

/// A condition on which changes are on: `a & b | !c & d`, or the number of the run: `run>5`.
struct Formula(Vec<Vec<Literal>>);

enum Literal {
    On(String),
    Off(String),
    RunAfter(usize),
}

impl Formula {
    fn parse(text: &str) -> Self {
        let literal = |text: &str| match (text.trim().strip_prefix('!'), text.trim().strip_prefix("run>")) {
            (Some(name), _) => Literal::Off(name.into()),
            (_, Some(run)) => Literal::RunAfter(run.parse().unwrap()),
            _ => Literal::On(text.trim().into()),
        };
        Self(text.split('|').map(|and| and.split('&').map(literal).collect()).collect())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().filter_map(|literal| match literal {
            Literal::On(name) | Literal::Off(name) => Some(name.as_str()),
            Literal::RunAfter(_) => None,
        })
    }

    fn holds(&self, run: &Run<'_>) -> bool {
        self.0.iter().any(|and| {
            and.iter().all(|literal| match literal {
                Literal::On(name) => run.enabled(id(name)),
                Literal::Off(name) => !run.enabled(id(name)),
                Literal::RunAfter(number) => run.number > *number,
            })
        })
    }
}

/// The settings of one file.
struct Scenario {
    options: Options,
    fails: Formula,
    unresolved: Option<Formula>,
    names: BTreeMap<ChangeId, String>,
    reports: Reports,
}

enum Reports {
    Honest,
    Everything,
    Nothing,
}

impl Scenario {
    fn parse(text: &str) -> Self {
        let mut settings: BTreeMap<&str, &str> = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("no `key: value`: {line}")))
            .collect();
        let mut take = |key: &str| settings.remove(key);
        let number = |text: Option<&str>| text.map(|n| n.parse::<usize>().unwrap());
        let fails = Formula::parse(take("fails").expect("`fails` says what to search for"));
        let unresolved = take("unresolved").map(Formula::parse);
        let filler = number(take("others")).unwrap_or(0);
        let mentioned = fails.names().chain(unresolved.iter().flat_map(Formula::names)).map(String::from);
        let names = mentioned.chain((0..filler).map(|i| format!("other-{i}"))).map(|name| (id(&name), name)).collect();
        let reports = match take("reports") {
            None => Reports::Honest,
            Some("everything") => Reports::Everything,
            Some("nothing") => Reports::Nothing,
            Some(other) => panic!("reports: {other}"),
        };
        let options = Options {
            runs_per_trial: number(take("runs per trial")).and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MIN),
            max_sets: number(take("max sets")).and_then(NonZeroUsize::new),
            max_set_size: number(take("max set size")).and_then(NonZeroUsize::new),
            max_runs: number(take("max runs")),
            ..Options::default()
        };
        assert!(settings.is_empty(), "unknown settings: {settings:?}");
        Self { options, fails, unresolved, names, reports }
    }

    fn observe(&self, run: &Run<'_>) -> Observation {
        let outcome = match &self.unresolved {
            Some(unresolved) if unresolved.holds(run) => Outcome::Unresolved(Reason::Skip),
            _ if self.fails.holds(run) => Outcome::Fail,
            _ => Outcome::Pass,
        };
        let ids = self.names.keys().copied();
        let reported = match self.reports {
            Reports::Honest => run.reported(ids),
            Reports::Everything => ids.collect(),
            Reports::Nothing => Vec::new(),
        };
        Observation { outcome, reported }
    }

    fn name(&self, ids: &[ChangeId]) -> String {
        ids.iter().map(|id| self.names[id].as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The whole search, as text.
    fn transcript(&self) -> String {
        let mut search = Search::new(self.options.clone());
        let (mut text, mut found) = (String::new(), 0);
        loop {
            let step = search.step();
            for culprit in &search.found()[found..] {
                writeln!(text, "found ({:?}): {}", culprit.mode, self.name(&culprit.changes)).unwrap();
                found += 1;
            }
            match step {
                Step::Run(trial) => {
                    let seen = self.observe(&Run { number: search.runs(), selection: &trial.selection });
                    let question = format!("{:?}", trial.question).to_lowercase();
                    let outcome = match seen.outcome {
                        Outcome::Pass => "pass",
                        Outcome::Fail => "FAIL",
                        Outcome::Unresolved(_) => "unresolved",
                    };
                    let (number, changes) = (trial.id.0 + 1, seen.reported.len());
                    let asked = match trial.question {
                        Question::Exactly => self.name(&trial.selection.forced),
                        _ => trial.pattern().to_string(),
                    };
                    writeln!(text, "{number:>3} {question} {asked}: {outcome}, {changes} changes").unwrap();
                    search.record(trial.id, seen);
                }
                Step::Wait => panic!("nothing is in flight, yet the search waits"),
                Step::Done(verdict) => {
                    writeln!(text, "{verdict:?} after {} runs", search.runs()).unwrap();
                    return text;
                }
            }
        }
    }
}

#[test]
fn searches_are_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/searches");
    let update = env::var_os("UPDATE_SEARCHES").is_some();
    let mut differing = BTreeSet::new();
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        count += 1;
        let file = fs::read_to_string(&path).unwrap();
        let (settings, expected) = file.split_once(SEPARATOR).unwrap_or((&file, ""));
        let actual = Scenario::parse(settings).transcript();
        if actual == expected {
            continue;
        }
        if update {
            fs::write(&path, format!("{settings}{SEPARATOR}{actual}")).unwrap();
        } else {
            println!("{}:\n{actual}", path.display());
            differing.insert(path.file_name().unwrap().to_owned());
        }
    }
    assert!(differing.is_empty(), "{differing:?} differ; see tests/searches/README.md");
    assert!(count >= 12, "only {count} searches were found");
}
