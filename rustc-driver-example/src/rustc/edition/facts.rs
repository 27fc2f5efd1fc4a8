//! What is found out about a place, piece by piece, and what a report says of it in the end.

use std::collections::{BTreeMap, BTreeSet};

use rustc_middle::ty::TyCtxt;
use rustc_span::{edition::Edition, hygiene::ExpnKind};

use super::{describe, place::Kind, syntax::Met};
use crate::{Description, Gate};

/// Calls of a macro that are named.
const CALLS: usize = 3;

/// Values that are named of which nobody notices where they are dropped.
const VALUES: usize = 3;

/// The smallest edits that keep the meaning of a place: that of edition 2021 under edition 2024, then the other way round.
pub(super) type Advice = [String; 2];

/// What a function shows of a place.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) function: String,
    pub(super) finding: Finding,
}

/// What it is.
#[derive(Debug)]
pub(super) enum Finding {
    /// A value is there for longer or shorter, which only the borrow checker can tell.
    Ended {
        /// Its type and where it is.
        value: String,
        advice: Advice,
    },
    /// A value is dropped elsewhere, and somebody notices.
    Dropped {
        /// Its type and where it is.
        value: String,
        /// Where the destructors of its type are, as far as they are in this crate.
        destructors: Vec<String>,
        advice: Advice,
    },
    /// A method call is one of another method.
    Call(Advice),
    /// A type may be made of more lifetimes, or fewer.
    Captures {
        /// These.
        lifetimes: Vec<String>,
        advice: Advice,
    },
}

/// All that is known of a place.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// `file:line:column`.
    place: String,
    /// The lines and columns that it is from and to.
    extent: String,
    /// The macros that make it, and where they are called, in the order of the text.
    makers: Vec<(String, String)>,
    function: Option<String>,
    dropped: BTreeMap<String, Advice>,
    ended: BTreeMap<String, Advice>,
    destructors: BTreeSet<String>,
    captured: BTreeSet<String>,
    /// Of what is no destructor.
    advice: Option<(Gate, Advice)>,
}

impl Facts {
    /// The place was met in the syntax tree.
    pub(super) fn meet(&mut self, tcx: TyCtxt<'_>, met: Met) {
        if self.place.is_empty() {
            self.place = describe::location(tcx, met.shown);
            let map = tcx.sess.source_map();
            let (_, line, column, end_line, end_column) = map.span_to_location_info(met.shown);
            self.extent = format!("{line}:{column}-{end_line}:{end_column}");
        }
        if let ExpnKind::Macro(_, name) = met.node.ctxt().outer_expn_data().kind {
            let maker = (name.to_string(), describe::location(tcx, met.node.source_callsite()));
            if !self.makers.contains(&maker) {
                self.makers.push(maker);
            }
        }
    }

    /// A function showed something of it.
    pub(super) fn learn(&mut self, fact: Fact) {
        // The same function whatever the order in which bodies are built.
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

    /// The gate that it is a change of; none, if it makes no difference.
    pub(super) fn gate(&self) -> Option<Gate> {
        self.function.as_ref()?;
        Some(match (&self.advice, self.dropped.is_empty()) {
            (Some((gate, _)), _) => *gate,
            (None, false) => Gate::Drops,
            (None, true) => Gate::Scopes,
        })
    }

    /// What a report says of it, where this edition is that of who has written it.
    pub(super) fn describe(&self, kind: Kind, edition: Edition) -> Description {
        let is_2021 = edition == Edition::Edition2021;
        let when = if is_2021 { "earlier" } else { "later" };
        let mut details = vec![format!("expression: {} {}", self.extent, kind.name())];
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
            details.push(format!("to keep it: {}", advice[usize::from(!is_2021)]));
        }
        details.extend(self.makers.iter().take(CALLS).map(|(name, call)| format!("expanded from {name}! at {call}")));
        if self.makers.len() > CALLS {
            details.push(format!("and from {} more calls", self.makers.len() - CALLS));
        }
        Description { place: self.place.clone(), function: self.function.clone().unwrap_or_default(), details }
    }
}
