//! What is found out about a place, for people.

use std::collections::{BTreeMap, BTreeSet};

use rustc_middle::ty::{
    self, Ty, TyCtxt,
    print::{with_forced_trimmed_paths, with_no_trimmed_paths, with_no_visible_paths, with_resolve_crate_name},
};
use rustc_span::{Span, def_id::LocalDefId, edition::Edition, hygiene::ExpnKind};

use super::{
    place,
    scopes::{Passed, What},
    syntax::Met,
    values::Value,
};
use crate::{Description, Gate};

/// Calls of a macro that are named.
const CALLS: usize = 3;

/// What one value shows of a place that it passes.
#[derive(Debug)]
pub(super) struct Fact {
    function: String,
    kind: &'static str,
    dropped: Option<Dropped>,
}

/// A value, if somebody notices when it is dropped.
#[derive(Debug)]
struct Dropped {
    /// Its type and where it is.
    value: String,
    /// Where destructors of its type are.
    destructors: Vec<String>,
    /// The edit that keeps what each edition makes of the place, 2021 first, in the other one.
    advice: [String; 2],
}

/// What all values show of a place.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// `file:line:column` and, after a space, the lines and columns that it is from and to.
    place: String,
    extent: String,
    function: Option<String>,
    kind: &'static str,
    dropped: BTreeMap<String, [String; 2]>,
    destructors: BTreeSet<String>,
    makers: BTreeSet<(String, String)>,
}

impl Facts {
    /// The place was met in the syntax tree.
    pub(super) fn meet(&mut self, tcx: TyCtxt<'_>, met: Met) {
        if self.place.is_empty() {
            self.place = location(tcx, met.shown);
            let map = tcx.sess.source_map();
            let (_, line, column, end_line, end_column) = map.span_to_location_info(met.shown);
            self.extent = format!("{line}:{column}-{end_line}:{end_column}");
        }
        if let ExpnKind::Macro(_, name) = met.node.ctxt().outer_expn_data().kind {
            self.makers.insert((name.to_string(), location(tcx, met.node.source_callsite())));
        }
    }

    /// A value was found to pass it.
    pub(super) fn learn(&mut self, fact: Fact) {
        // The same whatever the order in which bodies were built.
        if self.function.as_ref().is_none_or(|function| *function > fact.function) {
            self.function = Some(fact.function);
        }
        self.kind = fact.kind;
        if let Some(Dropped { value, destructors, advice }) = fact.dropped {
            self.dropped.insert(value, advice);
            self.destructors.extend(destructors);
        }
    }

    /// The gate that it is a change of; none, if it makes no difference.
    pub(super) fn gate(&self) -> Option<Gate> {
        self.function.as_ref()?;
        Some(if self.dropped.is_empty() { Gate::Scopes } else { Gate::Drops })
    }
}

/// What a value shows of a place.
pub(super) fn fact<'tcx>(tcx: TyCtxt<'tcx>, def: LocalDefId, value: &Value<'tcx>, passed: &Passed<'tcx>) -> Fact {
    let is_noticed = passed.is_noticed && !value.destructors.is_empty();
    let dropped = is_noticed.then(|| Dropped {
        value: format!("{} ({})", type_name(value.ty), location(tcx, written(value.span))),
        destructors: value.destructors.iter().filter_map(|&ty| destructor(tcx, ty)).collect(),
        advice: advice(tcx, value, passed),
    });
    Fact { function: function_name(tcx, def), kind: kind(passed), dropped }
}

/// A place, in a crate of this edition.
pub(super) fn change(facts: &Facts, edition: Edition) -> Description {
    let is_2021 = edition == Edition::Edition2021;
    let mut details = vec![format!("expression: {} {}", facts.extent, facts.kind)];
    let when = if is_2021 { "earlier" } else { "later" };
    details.extend(facts.dropped.keys().map(|value| format!("dropped {when}: {value}")));
    details.extend(facts.destructors.iter().map(|place| format!("Drop: {place}")));
    if let Some(advice) = facts.dropped.values().next() {
        details.push(format!("to keep it: {}", advice[usize::from(!is_2021)]));
    }
    details.extend(facts.makers.iter().take(CALLS).map(|(name, call)| format!("expanded from {name}! at {call}")));
    if facts.makers.len() > CALLS {
        details.push(format!("and from {} more calls", facts.makers.len() - CALLS));
    }
    let function = facts.function.clone().unwrap_or_default();
    Description { place: facts.place.clone(), function, details }
}

fn kind(passed: &Passed<'_>) -> &'static str {
    match passed.what {
        What::Block(_) => "tail of a block",
        What::If(_) => "if let",
    }
}

/// How what each edition makes of the place, 2021 first, is written in the other one.
fn advice<'tcx>(tcx: TyCtxt<'tcx>, value: &Value<'tcx>, passed: &Passed<'tcx>) -> [String; 2] {
    let text = |span: Span| {
        let text = tcx.sess.source_map().span_to_snippet(span).ok()?;
        Some(text).filter(|text| text.len() <= 60 && !text.contains('\n'))
    };
    let value = text(written(value.span)).unwrap_or_else(|| "…".to_owned());
    match passed.what {
        What::Block(_) => [
            format!("before the block, declare `let t;`; in it, assign `t = {value};` and use `t`"),
            format!("in the block, before its end: `let t = {value};`, and use `t`"),
        ],
        What::If(expr) => {
            let parts = match expr.kind {
                rustc_hir::ExprKind::If(condition, ..) => match condition.kind {
                    rustc_hir::ExprKind::Let(part) => Some((text(part.pat.span), text(part.init.span))),
                    _ => None,
                },
                _ => None,
            };
            let parts = parts.and_then(|(pattern, init)| Some((pattern?, init?)));
            let later = match &parts {
                Some((pattern, init)) => format!("match {init} {{ {pattern} => {{ … }} _ => {{ … }} }}"),
                None => format!("before the `if`: `let t = {value};`, and use `t`"),
            };
            [later, format!("before the `if`: `let t = {value};`; use `t`, and begin the `else` with `drop(t);`")]
        }
    }
}

/// The line of the `Drop` implementation, where it is in this crate.
fn destructor(tcx: TyCtxt<'_>, ty: Ty<'_>) -> Option<String> {
    let ty::Adt(adt, _) = ty.kind() else { return None };
    let destructor = tcx.adt_destructor(adt.did())?.did.as_local()?;
    Some(location(tcx, tcx.def_span(tcx.local_parent(destructor))))
}

fn type_name(ty: Ty<'_>) -> String {
    with_forced_trimmed_paths!(ty.to_string())
}

fn function_name(tcx: TyCtxt<'_>, def: LocalDefId) -> String {
    with_resolve_crate_name!(with_no_visible_paths!(with_no_trimmed_paths!(tcx.def_path_str(def))))
}

/// The text of this crate that a span comes from: where macros of other crates were called.
fn written(mut span: Span) -> Span {
    while !place::is_own(span) {
        span = span.ctxt().outer_expn_data().call_site;
    }
    span
}

fn location(tcx: TyCtxt<'_>, span: Span) -> String {
    let map = tcx.sess.source_map();
    let (file, line, column, ..) = map.span_to_location_info(span);
    let file = file.map_or_else(|| "<unknown>".to_owned(), |file| map.filename_for_diagnostics(&file.name).to_string());
    format!("{file}:{line}:{column}")
}
