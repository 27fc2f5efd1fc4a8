//! What is found out about a place, piece by piece, and what a report says of it in the end.

use std::collections::{BTreeMap, BTreeSet};

use rustc_middle::ty::TyCtxt;
use rustc_span::{edition::Edition, hygiene::ExpnKind};

use super::{describe, place::Kind, syntax::Met};
use crate::{Description, Gate};

/// Calls of a macro that are named.
const CALLS: usize = 3;

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
    /// A value is in scope for longer or shorter.
    Scope,
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
    destructors: BTreeSet<String>,
    call: Option<Advice>,
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
            Finding::Scope => {}
            Finding::Dropped { value, destructors, advice } => {
                self.dropped.insert(value, advice);
                self.destructors.extend(destructors);
            }
            Finding::Call(advice) => self.call = Some(advice),
        }
    }

    /// The gate that it is a change of; none, if it makes no difference.
    pub(super) fn gate(&self) -> Option<Gate> {
        self.function.as_ref()?;
        Some(match (&self.call, self.dropped.is_empty()) {
            (Some(_), _) => Gate::IntoIter,
            (None, false) => Gate::Drops,
            (None, true) => Gate::Scopes,
        })
    }

    /// What a report says of it, in a crate of this edition.
    pub(super) fn describe(&self, kind: Kind, edition: Edition) -> Description {
        let is_2021 = edition == Edition::Edition2021;
        let when = if is_2021 { "earlier" } else { "later" };
        let mut details = vec![format!("expression: {} {}", self.extent, kind.name())];
        details.extend(self.dropped.keys().map(|value| format!("dropped {when}: {value}")));
        details.extend(self.destructors.iter().map(|place| format!("Drop: {place}")));
        if let Some(advice) = self.dropped.values().next().or(self.call.as_ref()) {
            details.push(format!("to keep it: {}", advice[usize::from(!is_2021)]));
        }
        details.extend(self.makers.iter().take(CALLS).map(|(name, call)| format!("expanded from {name}! at {call}")));
        if self.makers.len() > CALLS {
            details.push(format!("and from {} more calls", self.makers.len() - CALLS));
        }
        Description { place: self.place.clone(), function: self.function.clone().unwrap_or_default(), details }
    }
}
