//! The facts about a place, collected one by one, and their description in a report.

use std::collections::{BTreeMap, BTreeSet};

use rustc_middle::ty::TyCtxt;
use rustc_span::{edition::Edition, hygiene::ExpnKind};

use super::{super::names, place::Kind, syntax::Met};
use crate::{Description, Gate, key_values};

/// The maximum number of macro calls in a report.
const CALLS: usize = 3;

/// The maximum number of values in a report if none of them is dropped observably.
const VALUES: usize = 3;

/// The smallest edits for a place: one that gives it the meaning of edition 2021 under edition 2024, then the reverse. One
/// of them keeps its meaning under the other edition, and one gives it the meaning of the other edition under its own.
pub(super) type Advice = [String; 2];

/// A fact about a place that a function reveals.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) function: String,
    pub(super) finding: Finding,
}

/// The content of a fact.
#[derive(Debug)]
pub(super) enum Finding {
    /// A value ends earlier or later, which only the borrow checker can observe.
    Ended {
        /// The type and the location of the value.
        value: String,
        advice: Advice,
    },
    /// A value is dropped earlier or later, which the program can observe.
    Dropped {
        /// The type and the location of the value.
        value: String,
        /// The locations of the destructors of its type that are in this crate.
        destructors: Vec<String>,
        advice: Advice,
    },
    /// A method call resolves to another method.
    Call(Advice),
    /// A type captures more lifetimes, or fewer.
    Captures {
        /// The lifetimes that only one of the editions captures.
        lifetimes: Vec<String>,
        advice: Advice,
    },
}

/// The facts about a place.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The location, as `file:line:column`.
    place: String,
    /// The line and column of the start, and those after the end.
    extent: [String; 2],
    /// The macros that write the place, and the locations of their calls, in the order of the text.
    makers: Vec<(String, String)>,
    function: Option<String>,
    dropped: BTreeMap<String, Advice>,
    ended: BTreeMap<String, Advice>,
    destructors: BTreeSet<String>,
    captured: BTreeSet<String>,
    /// The gate and the advice for a place that is not about drops.
    advice: Option<(Gate, Advice)>,
}

impl Facts {
    /// Adds an occurrence of the place in the syntax tree.
    pub(super) fn meet(&mut self, tcx: TyCtxt<'_>, met: Met) {
        if self.place.is_empty() {
            self.place = names::location(tcx, met.shown);
            let map = tcx.sess.source_map();
            let (_, line, column, end_line, end_column) = map.span_to_location_info(met.shown);
            self.extent = [format!("{line}:{column}"), format!("{end_line}:{end_column}")];
        }
        if let ExpnKind::Macro(_, name) = met.node.ctxt().outer_expn_data().kind {
            let maker = (name.to_string(), names::location(tcx, met.node.source_callsite()));
            if !self.makers.contains(&maker) {
                self.makers.push(maker);
            }
        }
    }

    /// Adds a fact.
    pub(super) fn learn(&mut self, fact: Fact) {
        // The first function by name does not depend on the order in which bodies are built.
        if self.function.as_ref().is_none_or(|function| *function > fact.function) {
            self.function = Some(fact.function);
        }
        match fact.finding {
            Finding::Ended { value, advice } => {
                self.ended.insert(value, advice);
            }
            Finding::Dropped { value, destructors, advice } => {
                self.dropped.insert(value, advice);
                self.destructors.extend(destructors);
            }
            Finding::Call(advice) => self.advice = Some((Gate::IntoIter, advice)),
            Finding::Captures { lifetimes, advice } => {
                self.captured.extend(lifetimes);
                self.advice = Some((Gate::Captures, advice));
            }
        }
    }

    /// Returns the gate of the place's change; `None` if the place makes no difference.
    pub(super) fn gate(&self) -> Option<Gate> {
        self.function.as_ref()?;
        Some(match (&self.advice, self.dropped.is_empty()) {
            (Some((gate, _)), _) => *gate,
            (None, false) => Gate::Drops,
            (None, true) => Gate::Scopes,
        })
    }

    /// Returns the description for a report. `edition` is that of the crate that wrote the place.
    pub(super) fn describe(&self, kind: Kind, edition: Edition) -> Description {
        let is_2021 = edition == Edition::Edition2021;
        let when = if is_2021 { "earlier" } else { "later" };
        let [start, end] = &self.extent;
        let mut details = vec![key_values::format(&[("expression", &kind.name()), ("start", start), ("end", end)])];
        details.extend(self.dropped.keys().map(|value| format!("dropped {when}: {value}")));
        if self.dropped.is_empty() {
            details.extend(self.ended.keys().take(VALUES).map(|value| format!("gone {when}: {value}")));
        }
        details.extend(self.destructors.iter().map(|place| format!("Drop: {place}")));
        if !self.captured.is_empty() {
            let captured: Vec<_> = self.captured.iter().map(String::as_str).collect();
            let what = if is_2021 { "captured as well" } else { "captured no more" };
            details.push(format!("{what}: {}", captured.join(", ")));
        }
        let advice = self.advice.as_ref().map(|(_, advice)| advice);
        if let Some(advice) = self.dropped.values().next().or(advice).or(self.ended.values().next()) {
            let [keep, mend] = if is_2021 { [0, 1] } else { [1, 0] };
            details.push(format!("to keep it: {}", advice[keep]));
            details.push(format!("to mend it: {}", advice[mend]));
        }
        details.extend(self.makers.iter().take(CALLS).map(|(name, call)| format!("expanded from {name}! at {call}")));
        if self.makers.len() > CALLS {
            details.push(format!("and from {} more calls", self.makers.len() - CALLS));
        }
        Description { place: self.place.clone(), function: self.function.clone().unwrap_or_default(), details }
    }
}
