//! A target that runs in this process: any number of changes, a formula that decides which of them break it, and good
//! or bad manners. Our search and that of [`go_peer`](crate::go_peer) can both search it.

use std::collections::BTreeSet;

use bisect_core::{
    ChangeId, Field, Matcher, Pattern,
    search::{Observation, Options, Order, Outcome, Search, Verdict},
};

use crate::{
    go_peer::{GoPeer, Report, Stuck},
    rounds::search_in_rounds,
};

/// A formula: returns true if the target fails, given a predicate of the changes that are enabled, by index.
pub type Formula = Box<dyn Fn(&dyn Fn(usize) -> bool) -> bool>;

/// The simulated target.
pub struct Simulator {
    /// The ID of each change, by its index.
    ids: Vec<ChangeId>,
    fails: Formula,
    manners: Manners,
    runs: usize,
    /// The last pattern and its result: an honest target gives the same result twice.
    last: Option<(String, (bool, Vec<u64>))>,
}

/// The ways in which a target reports and follows patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manners {
    /// The target enables what the pattern enables and reports what it selects.
    Honest,
    /// Every change is enabled and reported under every pattern except `n`.
    IgnoresPattern,
    /// The target reports every change under every pattern.
    ReportsEverything,
    /// The target follows the pattern and reports nothing.
    Silent,
    /// The target passes whenever text is requested: a search that requests text to confirm a culprit cannot confirm
    /// it.
    PassesWhenWatched,
    /// The target always fails from this run on (counted from 1).
    BreaksAt(usize),
}

/// The answer of our engine about a simulated target.
#[derive(Clone, Debug)]
pub struct Found {
    /// The end of the search.
    pub verdict: Verdict,
    /// The culprits, as indices of changes.
    pub sets: Vec<BTreeSet<usize>>,
    /// The number of runs of the search.
    pub runs: usize,
    /// The number of rounds, in each of which all runs in flight end.
    pub rounds: usize,
}

impl std::fmt::Debug for Simulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulator")
            .field("changes", &self.ids.len())
            .field("manners", &self.manners)
            .finish_non_exhaustive()
    }
}

impl Simulator {
    /// Returns an honest target of `changes` changes with the IDs that `seed` gives them.
    #[must_use]
    pub fn new(seed: u64, changes: usize, fails: Formula) -> Self {
        let ids = (0..changes as u64).map(|i| ChangeId::of(&[Field::U64(seed), Field::U64(i)])).collect();
        Self { ids, fails, manners: Manners::Honest, runs: 0, last: None }
    }

    /// Returns a target that fails whenever all changes of one of these sets are enabled.
    #[must_use]
    pub fn failing_with(seed: u64, changes: usize, sets: Vec<BTreeSet<usize>>) -> Self {
        Self::new(seed, changes, Box::new(move |on| sets.iter().any(|set| set.iter().all(|&change| on(change)))))
    }

    /// Returns the same target with other manners.
    #[must_use]
    pub fn with(self, manners: Manners) -> Self {
        Self { manners, ..self }
    }

    /// Returns the ID of a change.
    #[must_use]
    pub fn id(&self, change: usize) -> ChangeId {
        self.ids[change]
    }

    /// Runs the target once. Returns true for a success, and the reported IDs.
    ///
    /// # Panics
    /// If the pattern is malformed or empty: no search may send it.
    pub fn run(&mut self, pattern: &str) -> (bool, Vec<u64>) {
        self.runs += 1;
        if let Some((last, shown)) = &self.last
            && last == pattern
            && !matches!(self.manners, Manners::BreaksAt(_))
        {
            return shown.clone();
        }
        let shown = self.show(pattern);
        self.last = Some((pattern.to_owned(), shown.clone()));
        shown
    }

    fn show(&self, pattern: &str) -> (bool, Vec<u64>) {
        let parsed: Pattern = pattern.parse().unwrap_or_else(|error| panic!("pattern {pattern:?}: {error}"));
        let matcher = Matcher::new(&parsed).expect("a search sends no empty pattern");
        let asked = |id: &ChangeId| matcher.should_report(*id);
        let ignores = self.manners == Manners::IgnoresPattern && pattern != "n";
        let fails = match self.manners {
            Manners::PassesWhenWatched if matcher.verbose() => false,
            Manners::BreaksAt(run) if self.runs >= run => true,
            _ => (self.fails)(&|change| ignores || matcher.should_enable(self.ids[change])),
        };
        let reported: Vec<u64> = match self.manners {
            Manners::Silent => Vec::new(),
            Manners::IgnoresPattern | Manners::ReportsEverything => self.ids.iter().map(|id| id.0).collect(),
            _ => self.ids.iter().filter(|id| asked(id)).map(|id| id.0).collect(),
        };
        (!fails, reported)
    }

    /// Searches the target with our engine. All runs of a round take the same time.
    pub fn search(&mut self, options: Options) -> Found {
        let mut search = Search::new(options);
        let (verdict, rounds) = search_in_rounds(&mut search, |search, trial| {
            let (success, ids) = self.run(&trial.pattern().to_string());
            let outcome = if success { Outcome::Pass } else { Outcome::Fail };
            search.record(trial.id, [Observation::of_ids(Order::ByHash, outcome, ids.into_iter().map(ChangeId))]);
        });
        let found = search.test(0).found();
        let sets = found.iter().map(|culprit| self.indices(culprit.ids(Order::ByHash))).collect();
        Found { verdict, sets, runs: search.progress().runs(), rounds }
    }

    /// Searches the target with the peer.
    ///
    /// # Errors
    /// If the peer gives up, with the reason.
    pub fn search_like_go(&mut self, peer: GoPeer) -> Result<Report, Stuck> {
        peer.search(|pattern| self.run(pattern))
    }

    /// Returns the indices of changes, for comparisons.
    ///
    /// # Panics
    /// If one of them is no change of this target.
    pub fn indices(&self, ids: impl IntoIterator<Item = ChangeId>) -> BTreeSet<usize> {
        let index = |id| self.ids.iter().position(|&known| known == id).expect("only reported changes are named");
        ids.into_iter().map(index).collect()
    }
}
