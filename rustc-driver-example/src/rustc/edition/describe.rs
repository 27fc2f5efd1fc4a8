//! Descriptions of values, places and functions.

use rustc_hir::ExprKind;
use rustc_middle::ty::{
    self, Ty, TyCtxt,
    print::{with_forced_trimmed_paths, with_no_trimmed_paths, with_no_visible_paths, with_resolve_crate_name},
};
use rustc_span::{
    Span, Symbol,
    def_id::{LOCAL_CRATE, LocalDefId},
    hygiene::ExpnKind,
};

use super::{
    super::names::location,
    captures::Captures,
    facts::{Advice, Fact, Finding},
    origin,
    scopes::{Passed, What},
    values::Value,
};
use crate::Description;

/// The advice to make an `if` without `else` drop the temporaries of its condition when it ends.
const IN_A_STATEMENT: &str = "put `;` behind it, or `{ …; }` around it";

/// The maximum length of source text in advice, in bytes.
const SNIPPET: usize = 60;

/// Returns the fact that a value passes a place.
pub(super) fn passing<'tcx>(tcx: TyCtxt<'tcx>, def: LocalDefId, value: &Value<'tcx>, passed: &Passed<'tcx>) -> Fact {
    let name = format!("{} ({})", type_name(value.ty), location(tcx, written(tcx, value.span)));
    let advice = about_drop(tcx, value, passed);
    let finding = if passed.is_noticed && !value.destructors.is_empty() {
        let destructors = value.destructors.iter().filter_map(|&ty| destructor(tcx, ty)).collect();
        Finding::Dropped { value: name, destructors, advice }
    } else {
        Finding::Ended { value: name, advice }
    };
    Fact { function: function_name(tcx, def), finding }
}

/// Returns the fact that `into_iter` is called on a boxed slice.
pub(super) fn call(tcx: TyCtxt<'_>, def: LocalDefId, receiver: Span) -> Fact {
    let receiver = snippet(tcx, receiver);
    let advice = [format!("{receiver}.iter()"), format!("IntoIterator::into_iter({receiver})")];
    Fact { function: function_name(tcx, def), finding: Finding::Call(advice) }
}

/// Returns the fact that an `impl Trait` captures other lifetimes.
pub(super) fn capturing(tcx: TyCtxt<'_>, function: LocalDefId, captures: &Captures) -> Fact {
    let Captures { named, others, types } = captures;
    let advice = [named.clone(), [&named[..], others].concat()].map(|lifetimes| {
        let last = types.clone().unwrap_or_else(|| vec!["…".to_owned()]);
        let step = format!("`+ use<{}>` in its bounds", [lifetimes, last].concat().join(", "));
        if types.is_some() { step } else { format!("name the types of arguments that are `impl Trait`, then {step}") }
    });
    Fact { function: function_name(tcx, function), finding: Finding::Captures { lifetimes: others.clone(), advice } }
}

/// Returns the description of the crate, where the type of expressions that never return matters in these places.
pub(super) fn krate(tcx: TyCtxt<'_>, never_types: &[String]) -> Description {
    let mut details = vec!["crate: what never returns is `()` in edition 2021, `!` in edition 2024".to_owned()];
    details.extend(never_types.iter().map(|place| format!("decides: {place}")));
    details.extend(["keep", "mend"].map(|verb| format!("to {verb} it: write the types there")));
    let place = never_types.first().cloned().unwrap_or_default();
    Description { place, function: tcx.crate_name(LOCAL_CRATE).to_string(), details }
}

fn about_drop<'tcx>(tcx: TyCtxt<'tcx>, value: &Value<'tcx>, passed: &Passed<'tcx>) -> Advice {
    let macro_name = macro_that_received(written(tcx, value.span), written(tcx, passed.node));
    let value = snippet(tcx, value.span);
    if let Some(name) = macro_name {
        return [
            format!("before the call of {name}!: `let t = {value};`, and use `t` in the call"),
            format!("in the call of {name}!, pass a block that uses `t`: `{{ let t = {value}; … }}`"),
        ];
    }
    match passed.what {
        What::Block(_) => {
            let declared =
                if passed.is_outermost { "first in the block" } else { "before the statement that the block is in" };
            [
                format!("declare `let t;` {declared}; at its end, assign `t = {value};` and use `t`"),
                format!("in the block, before its end: `let t = {value};`, and use `t`"),
            ]
        }
        What::If(expr) => {
            let ExprKind::If(condition, _, otherwise) = expr.kind else { return Advice::default() };
            let ahead = format!("before the `if`: `let t = {value};`");
            match (condition.kind, otherwise) {
                // This is the suggestion of rustc's lint, which has none for chains.
                (ExprKind::Let(part), _) => {
                    let [init, pattern] = [part.init.span, part.pat.span].map(|span| snippet(tcx, span));
                    let later = format!("match {init} {{ {pattern} => {{ … }} _ => {{ … }} }}");
                    let earlier = match otherwise {
                        Some(_) => format!("{ahead}; use `t`, and begin the `else` with `drop(t);`"),
                        None => IN_A_STATEMENT.to_owned(),
                    };
                    [later, earlier]
                }
                (_, None) => [format!("{ahead}, and use `t`"), IN_A_STATEMENT.to_owned()],
                (_, Some(_)) => [
                    format!("{ahead}, and use `t`"),
                    "before the `if`, find out in a block of its own whether the conditions hold: `let t = { …; };`"
                        .to_owned(),
                ],
            }
        }
    }
}

/// Returns the name of the macro that contains `place` and received `value` as an argument. An edit of that macro cannot name
/// the value.
fn macro_that_received(value: Span, mut place: Span) -> Option<Symbol> {
    while !place.ctxt().is_root() {
        let expansion = place.ctxt().outer_expn_data();
        place = expansion.call_site;
        if let ExpnKind::Macro(_, name) = expansion.kind
            && place.eq_ctxt(value)
        {
            return Some(name);
        }
    }
    None
}

/// Returns the source text at a span, or `…` if it is long or has several lines.
fn snippet(tcx: TyCtxt<'_>, span: Span) -> String {
    let text = tcx.sess.source_map().span_to_snippet(written(tcx, span)).ok();
    text.filter(|text| text.len() <= SNIPPET && !text.contains('\n')).unwrap_or_else(|| "…".to_owned())
}

/// Returns the location of the `Drop` implementation of a type, if it is in this crate.
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

/// Returns the span in the text of the compiled crate or of an origin: code from other macros is replaced by the calls
/// of these macros.
fn written(tcx: TyCtxt<'_>, mut span: Span) -> Span {
    while origin::writer(span) != Some(LOCAL_CRATE) && origin::of(tcx, span).is_none() {
        span = span.ctxt().outer_expn_data().call_site;
    }
    span
}
