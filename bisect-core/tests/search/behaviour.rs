//! The behaviour of a simulated target as text: the changes that make each test fail, and the rates of failure.
//!
//! The goldens of the engine and those of the driver's loop share this file, so they share the language of their
//! settings.

use std::collections::{BTreeMap, BTreeSet};

use bisect_core::{
    ChangeId, Field,
    search::{Outcome, Reason},
};

/// Returns the ID of a named change.
pub(crate) fn id(name: &str) -> ChangeId {
    ChangeId::of(&[Field::Str(name)])
}

/// The settings of a scenario: `key: value`, one per line. Lines that begin with `#` are comments.
pub(crate) struct Settings<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Settings<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        Self(lines.map(|line| line.split_once(": ").unwrap_or_else(|| panic!("no `key: value`: {line}"))).collect())
    }

    /// Removes a setting and returns its value. Settings that are never taken are unknown.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'a str> {
        self.0.remove(key)
    }

    pub(crate) fn number<T: std::str::FromStr>(&mut self, key: &str) -> Option<T> {
        let parse = |text: &str| text.parse().unwrap_or_else(|_| panic!("{key}: `{text}` is no number"));
        self.take(key).map(parse)
    }

    /// Checks that every setting was taken.
    ///
    /// # Panics
    /// If a setting was not taken.
    pub(crate) fn finish(self) {
        assert!(self.0.is_empty(), "unknown settings: {:?}", self.0);
    }
}

/// The state at the beginning of a run.
pub(crate) struct Moment<'a> {
    /// The number of the run, from 1.
    pub(crate) number: usize,
    /// A function that returns true if a change is enabled in this run.
    pub(crate) is_on: &'a dyn Fn(ChangeId) -> bool,
    /// A function that returns true if a change was enabled in the run before. Before the first run, no change was.
    pub(crate) was_on: &'a dyn Fn(ChangeId) -> bool,
}

/// A condition: `a & b | !c & after d`, or the number of the run: `run>5`.
struct Formula(Vec<Vec<Literal>>);

enum Literal {
    On(String),
    Off(String),
    After(String),
    RunAfter(usize),
}

impl Literal {
    fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some(name) = text.strip_prefix('!') {
            return Self::Off(name.into());
        }
        if let Some(name) = text.strip_prefix("after ") {
            return Self::After(name.into());
        }
        text.strip_prefix("run>").map_or_else(|| Self::On(text.into()), |run| Self::RunAfter(run.parse().unwrap()))
    }

    fn name(&self) -> Option<&str> {
        match self {
            Self::On(name) | Self::Off(name) | Self::After(name) => Some(name),
            Self::RunAfter(_) => None,
        }
    }

    fn holds(&self, at: &Moment<'_>) -> bool {
        match self {
            Self::On(name) => (at.is_on)(id(name)),
            Self::Off(name) => !(at.is_on)(id(name)),
            Self::After(name) => (at.was_on)(id(name)),
            Self::RunAfter(number) => at.number > *number,
        }
    }
}

impl Formula {
    fn parse(text: &str) -> Self {
        Self(text.split('|').map(|and| and.split('&').map(Literal::parse).collect()).collect())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().filter_map(Literal::name)
    }

    /// Returns the indices of the alternatives that hold.
    fn holding(&self, at: &Moment<'_>) -> impl Iterator<Item = usize> {
        let holds = |and: &Vec<Literal>| and.iter().all(|literal| literal.holds(at));
        self.0.iter().enumerate().filter(move |(_, and)| holds(and)).map(|(i, _)| i)
    }
}

/// The failure rates of a test: `0.7`, or `0.7 else 0.1`, or one rate for each alternative of its formula: `1, 0.5`.
struct Rates {
    alternatives: Vec<f64>,
    otherwise: f64,
}

impl Rates {
    fn parse(text: &str) -> Self {
        let (alternatives, otherwise) = text.split_once(" else ").unwrap_or((text, "0"));
        let rate = |text: &str| text.trim().parse().unwrap_or_else(|_| panic!("`{text}` is no rate"));
        Self { alternatives: alternatives.split(',').map(rate).collect(), otherwise: rate(otherwise) }
    }

    /// Returns the failure rate where these alternatives hold, each of which fails independently.
    fn of(&self, holding: impl Iterator<Item = usize>) -> f64 {
        let rate = |alternative: usize| *self.alternatives.get(alternative).unwrap_or(&self.alternatives[0]);
        1.0 - holding.map(rate).fold(1.0 - self.otherwise, |passes, rate| passes * (1.0 - rate))
    }
}

struct Test {
    name: String,
    fails: Formula,
    rates: Rates,
    /// The changes that the test reaches; `None` for all.
    reaches: Option<BTreeSet<ChangeId>>,
}

/// A simulated target.
pub(crate) struct Behaviour {
    /// The tests; a target without tests has one entry, for the whole target.
    tests: Vec<Test>,
    has_tests: bool,
    unresolved: Option<Formula>,
    /// The outcomes of a cycle, whatever is enabled: true for a failure.
    cycle: Vec<bool>,
    seed: u64,
    names: BTreeMap<ChangeId, String>,
}

/// Returns the names and values of `a = value; b = value`, in that order.
fn by_name(text: &str) -> Vec<(&str, &str)> {
    let pair = |text| str::split_once(text, '=').unwrap_or_else(|| panic!("no `name = value`: {text}"));
    text.split(';').map(pair).map(|(name, value)| (name.trim(), value.trim())).collect()
}

impl Behaviour {
    pub(crate) fn parse(settings: &mut Settings<'_>) -> Self {
        let listed = settings.take("tests");
        let (rates, reaches) = (settings.take("rates"), settings.take("reaches"));
        let reaches = reaches.map(by_name).unwrap_or_default();
        let of_test = |name: &str, all: Vec<(&str, &str)>| {
            all.into_iter().find(|(other, _)| *other == name).map(|(_, value)| value.to_owned())
        };
        let test = |(name, fails): (&str, &str), rates: Option<String>| Test {
            name: name.to_owned(),
            fails: Formula::parse(fails),
            rates: Rates::parse(rates.as_deref().unwrap_or("1")),
            reaches: of_test(name, reaches.clone()).map(|names| names.split(' ').map(id).collect()),
        };
        let tests: Vec<_> = match listed {
            Some(listed) => {
                let rates = rates.map(by_name).unwrap_or_default();
                by_name(listed).into_iter().map(|each| test(each, of_test(each.0, rates.clone()))).collect()
            }
            None => {
                settings.take("fails").map(|fails| test(("", fails), rates.map(str::to_owned))).into_iter().collect()
            }
        };
        let unresolved = settings.take("unresolved").map(Formula::parse);
        let cycle = settings.take("cycle").unwrap_or_default();
        let cycle: Vec<_> = cycle.split_whitespace().map(|word| word == "fail").collect();
        assert!(!tests.is_empty() || !cycle.is_empty(), "`fails`, `tests` or `cycle` says when the target fails");
        let others = settings.number("others").unwrap_or(0);
        let formulas = tests.iter().map(|test| &test.fails).chain(&unresolved);
        let mentioned = formulas.flat_map(Formula::names).map(String::from);
        let names = mentioned.chain((0..others).map(|i| format!("other-{i}"))).map(|name| (id(&name), name)).collect();
        let seed = settings.number("seed").unwrap_or(0);
        Self { tests, has_tests: listed.is_some(), unresolved, cycle, seed, names }
    }

    /// Returns the seed of all random choices, of the target and of the search.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns all changes.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ChangeId> {
        self.names.keys().copied()
    }

    pub(crate) fn name(&self, id: ChangeId) -> &str {
        &self.names[&id]
    }

    /// Returns the names of the tests, if the target has several.
    pub(crate) fn tests(&self) -> Vec<&str> {
        self.tests.iter().filter(|_| self.has_tests).map(|test| test.name.as_str()).collect()
    }

    /// Returns true if a test reaches a change.
    pub(crate) fn reaches(&self, test: usize, id: ChangeId) -> bool {
        let reaches = self.tests.get(test).and_then(|test| test.reaches.as_ref());
        reaches.is_none_or(|reaches| reaches.contains(&id))
    }

    /// Returns the outcome of a test, or of the whole target if it has no tests. The same execution of the same run has
    /// the same outcome.
    pub(crate) fn outcome(&self, test: usize, execution: usize, at: &Moment<'_>) -> Outcome {
        if self.unresolved.as_ref().is_some_and(|unresolved| unresolved.holding(at).next().is_some()) {
            return Outcome::Unresolved(Reason::Skip);
        }
        let fails = match (self.cycle.as_slice(), self.tests.get(test)) {
            ([], Some(Test { fails, rates, .. })) => {
                rates.of(fails.holding(at)) > self.chance(test, execution, at.number)
            }
            (cycle, _) => cycle[(at.number - 1) % cycle.len()],
        };
        if fails { Outcome::Fail } else { Outcome::Pass }
    }

    /// Returns a number in [0, 1).
    fn chance(&self, test: usize, execution: usize, number: usize) -> f64 {
        let numbers = [self.seed, number as u64, test as u64, execution as u64].map(Field::U64);
        let high = u32::try_from(ChangeId::of(&numbers).0 >> 32).expect("32 bits");
        f64::from(high) / (f64::from(u32::MAX) + 1.0)
    }
}
