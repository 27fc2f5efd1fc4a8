//! A peer: the search of Go's `golang.org/x/tools/cmd/bisect`, written anew from its behaviour.
//!
//! Its purpose is independence. It shares no code with `bisect-core`, not even patterns and markers. A program of ours
//! that both can search therefore speaks the protocol, not only our dialect, and the benches have a search to compare
//! with. Like its model it trusts the target.
//!
//! The method for a failing suffix: run both halves on their own. If one fails, go on with it (easy). If neither does,
//! the failure takes changes from both (hard): narrow the first half beside the whole second one, then the second
//! beside the changes found in the first.

use std::{collections::BTreeSet, fmt};

/// The values of Go's flags of the same names, with Go's defaults.
#[derive(Clone, Copy, Debug)]
pub struct GoPeer {
    /// The number of runs for each trial, which must agree.
    pub count: usize,
    /// The number of sets after which the search stops.
    pub max: Option<usize>,
    /// The size of the largest set to search for.
    pub max_set: Option<usize>,
}

impl Default for GoPeer {
    fn default() -> Self {
        Self { count: 2, max: None, max_set: None }
    }
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The sets, in the order in which they were found.
    pub sets: Vec<Set>,
    /// Disabling the sets breaks the target, instead of enabling them.
    pub disable: bool,
    /// The number of trials.
    pub trials: usize,
    /// The number of runs of the target.
    pub runs: usize,
}

/// One set that breaks the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// The changes that the confirming run reported, least first.
    pub ids: BTreeSet<u64>,
    /// The confirming run failed. Go's tool names the set either way.
    pub confirmed: bool,
}

/// The reason why there is nothing to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// The target ends the same way with no change and with every change.
    NoDifference {
        /// The result of both runs.
        success: bool,
    },
    /// The target failed under this pattern and reported no change that the pattern selects.
    NoMatches {
        /// The pattern.
        pattern: String,
    },
    /// The runs of one trial differed, or two trials contradict each other.
    Inconsistent {
        /// The pattern of the last run.
        pattern: String,
    },
    /// Different changes have the same 64 bits.
    NotIsolated,
    /// The failing set has more changes than `max_set`.
    TooLarge,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stuck::NoDifference { success: true } => f.write_str("passes both ways"),
            Stuck::NoDifference { success: false } => f.write_str("fails both ways"),
            Stuck::NoMatches { pattern } => write!(f, "fails under {pattern} without a match"),
            Stuck::Inconsistent { pattern } => write!(f, "inconsistent under {pattern}"),
            Stuck::NotIsolated => f.write_str("no single change can be told apart"),
            Stuck::TooLarge => f.write_str("every failing set is too large"),
        }
    }
}

impl std::error::Error for Stuck {}

impl GoPeer {
    /// Searches a target: a function from a pattern to true for a success, and the reported IDs.
    ///
    /// # Errors
    /// If no set can be named: see [`Stuck`].
    pub fn search(self, target: impl FnMut(&str) -> (bool, Vec<u64>)) -> Result<Report, Stuck> {
        match self.search_until_stuck(target) {
            (report, None) => Ok(report),
            (_, Some(stuck)) => Err(stuck),
        }
    }

    /// Searches a target like [`Self::search`]. If it gets stuck, returns the reason together with the report so far.
    pub fn search_until_stuck(self, target: impl FnMut(&str) -> (bool, Vec<u64>)) -> (Report, Option<Stuck>) {
        let mut session = Session {
            peer: self,
            target,
            inverted: false,
            digits: 16,
            skipped: Vec::new(),
            report: Report { sets: Vec::new(), disable: false, trials: 0, runs: 0 },
        };
        let stuck = session.search().err();
        (session.report, stuck)
    }
}

/// A search in progress. Selections are kept in the syntax of patterns: a suffix is a string of `0` and `1`, or `x` and
/// hex digits.
struct Session<F> {
    peer: GoPeer,
    target: F,
    inverted: bool,
    /// The number of hex digits that distinguish one change from another, with one to spare.
    digits: usize,
    /// The changes of the sets found so far.
    skipped: Vec<String>,
    report: Report,
}

/// The result of a trial.
struct Trial {
    pattern: String,
    success: bool,
    /// The reported IDs in the trial's suffix, each once.
    ids: Vec<u64>,
}

impl<F: FnMut(&str) -> (bool, Vec<u64>)> Session<F> {
    fn search(&mut self) -> Result<(), Stuck> {
        let (none, all) = (self.ask("n".into(), "")?, self.ask("y".into(), "")?);
        if none.success == all.success {
            return Err(Stuck::NoDifference { success: all.success });
        }
        self.digits = telling_digits(none.ids.iter().chain(&all.ids).copied());
        self.inverted = all.success;
        self.report.disable = all.success;
        let mut failing = if all.success { none } else { all };
        while let Some(names) = self.narrow(&failing, "", &[])? {
            let confirming = self.ask(self.pattern(true, "", &names), "")?;
            let set = Set { ids: confirming.ids.into_iter().collect(), confirmed: !confirming.success };
            self.report.sets.push(set);
            if self.peer.max.is_some_and(|max| self.report.sets.len() >= max) {
                break;
            }
            self.skipped.splice(0..0, names);
            failing = self.ask(self.pattern(false, "", &[]), "")?;
            if failing.success {
                break;
            }
        }
        if self.report.sets.is_empty() { Err(Stuck::TooLarge) } else { Ok(()) }
    }

    /// Returns the names of one set among the changes with this suffix, given that they fail together with `beside`.
    /// Returns `None` if the set would be too large.
    fn narrow(&mut self, failing: &Trial, suffix: &str, beside: &[String]) -> Result<Option<Vec<String>>, Stuck> {
        if let [id] = failing.ids[..] {
            let digits = format!("{id:016x}");
            return Ok(Some(vec![format!("x{}", &digits[16 - self.digits..])]));
        }
        if suffix.len() >= 64 {
            return Err(Stuck::NotIsolated);
        }
        let shared = shared_suffix(&failing.ids);
        let [zero, one] = ["0", "1"].map(|bit| bit.to_owned() + &shared);
        for half in [&zero, &one] {
            let trial = self.ask(self.pattern(false, half, beside), half)?;
            if !trial.success {
                return self.narrow(&trial, half, beside);
            }
        }
        if self.peer.max_set.is_some_and(|max| beside.len() + 2 > max) {
            return Ok(None);
        }
        let Some(first) = self.narrow_beside(&zero, &[beside, std::slice::from_ref(&one)].concat())? else {
            return Ok(None);
        };
        let second = self.narrow_beside(&one, &[beside, &first].concat())?;
        Ok(second.map(|second| [first, second].concat()))
    }

    /// Calls [`Self::narrow`] for a half that is known to fail together with `beside`.
    fn narrow_beside(&mut self, half: &str, beside: &[String]) -> Result<Option<Vec<String>>, Stuck> {
        let trial = self.ask(self.pattern(false, half, beside), half)?;
        if trial.success {
            return Err(Stuck::Inconsistent { pattern: trial.pattern });
        }
        self.narrow(&trial, half, beside)
    }

    /// Runs one trial; of the reported IDs, those that end in `suffix` count.
    fn ask(&mut self, pattern: String, suffix: &str) -> Result<Trial, Stuck> {
        self.report.trials += 1;
        let mut runs = (0..self.peer.count.max(1)).map(|_| {
            self.report.runs += 1;
            (self.target)(&pattern)
        });
        let (success, mut ids) = runs.next().expect("at least one run");
        if runs.any(|(other, _)| other != success) {
            return Err(Stuck::Inconsistent { pattern });
        }
        let bits = u64::from_str_radix(suffix, 2).unwrap_or(0);
        ids.retain(|id| (id ^ bits).trailing_zeros() as usize >= suffix.len());
        ids.sort_unstable();
        ids.dedup();
        if !success && ids.is_empty() {
            return Err(Stuck::NoMatches { pattern });
        }
        Ok(Trial { pattern, success, ids })
    }

    /// Returns the pattern that selects a suffix (if any) and `beside`, and nothing that is skipped.
    fn pattern(&self, verbose: bool, suffix: &str, beside: &[String]) -> String {
        let marks = [("v", verbose), ("!", self.inverted)];
        let mut pattern: String = marks.iter().filter(|(_, wanted)| *wanted).map(|(mark, _)| *mark).collect();
        let start = pattern.len();
        let added = [suffix].into_iter().filter(|suffix| !suffix.is_empty());
        for (sign, term) in added
            .chain(beside.iter().map(String::as_str))
            .map(|term| ('+', term))
            .chain(self.skipped.iter().map(|term| ('-', term.as_str())))
        {
            pattern.push(sign);
            pattern.push_str(term);
        }
        if pattern.len() == start {
            pattern.push('y');
        }
        pattern
    }
}

/// Returns the longest string of bits that all IDs end in.
fn shared_suffix(ids: &[u64]) -> String {
    let differing = ids.iter().fold(0, |bits, id| bits | (id ^ ids[0]));
    let length = differing.trailing_zeros() as usize;
    format!("{:064b}", ids[0]).split_off(64 - length)
}

/// Returns the number of hex digits at the end that distinguish all IDs, and one more in case there are others; at most
/// 16.
fn telling_digits(ids: impl Iterator<Item = u64>) -> usize {
    let mut reversed: Vec<u64> = ids.map(u64::reverse_bits).collect();
    reversed.sort_unstable();
    reversed.dedup();
    // IDs with equal ends are neighbours now.
    let shared = reversed.windows(2).map(|pair| (pair[0] ^ pair[1]).leading_zeros() as usize).max();
    shared.map_or(1, |bits| (bits / 4 + 2).min(16))
}

/// Returns the IDs that a target reported in its output, in order: at most one a line.
#[must_use]
pub fn reported_ids(output: &[u8]) -> Vec<u64> {
    output.split(|&byte| byte == b'\n').filter_map(|line| marker(&String::from_utf8_lossy(line))).collect()
}

fn marker(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("[bisect-match ")?;
    let (digits, _) = rest.split_once(']')?;
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => u64::from_str_radix(digits, 2).ok(),
    }
}

#[cfg(test)]
#[path = "go_peer_tests.rs"]
mod tests;
