//! The type of an expression that never returns, where nothing else determines it: `()` in edition 2021, `!` in 2024.
//!
//! This is decided for the whole crate, so it is one change. rustc's own lints know where it makes a difference: the
//! survey listens to them.

use std::{
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustc_ast::Crate;
use rustc_errors::{DiagInner, emitter::Emitter};
use rustc_interface::Config;
use rustc_middle::ty::TyCtxt;
use rustc_session::lint::Level;
use rustc_span::{
    Span,
    edition::Edition,
    hygiene::{ExpnData, ExpnKind, LocalExpnId, Transparency},
    source_map::SourceMap,
    sym,
};

use super::super::names;

/// The lints about types that flow into unsafe code, and about code that compiles only with `()`.
const LINTS: [&str; 2] = ["never_type_fallback_flowing_into_unsafe", "dependency_on_unit_never_type_fallback"];

/// The spans that the lints pointed at.
static FOUND: Mutex<Vec<Span>> = Mutex::new(Vec::new());

/// Enables the lints in a session, and replaces its printing of diagnostics by a listener.
pub(super) fn listen(config: &mut Config) {
    // This level overrides the levels in the crate.
    config.opts.lint_opts.extend(LINTS.map(|lint| (lint.to_owned(), Level::ForceWarn)));
    config.psess_created = Some(Box::new(|session| session.dcx().set_emitter(Box::new(Listener))));
}

fn found_spans() -> MutexGuard<'static, Vec<Span>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the locations where the type matters, in the order of the text.
pub(super) fn found(tcx: TyCtxt<'_>) -> Vec<String> {
    let mut found: Vec<_> = mem::take(&mut *found_spans()).into_iter().map(Span::source_callsite).collect();
    found.sort();
    found.dedup();
    found.into_iter().map(|span| names::location(tcx, span)).collect()
}

/// Gives a crate the types that an edition has for expressions that never return.
pub(super) fn impose(tcx: TyCtxt<'_>, krate: &mut Crate, edition: Edition) {
    let ty = if edition.at_least_rust_2024() { "never" } else { "unit" };
    let before = krate.attrs.len();
    let attribute = format!("rustc_never_type_options(fallback = \"{ty}\")");
    rustc_builtin_macros::cmdline_attrs::inject(krate, &tcx.sess.psess, &[attribute]);
    for attribute in &mut krate.attrs[before..] {
        // The attribute is internal to the compiler: only the span of an expansion that allows it may have it.
        let mut expansion = ExpnData::default(ExpnKind::Root, attribute.span, tcx.sess.edition(), None, None);
        expansion.allow_internal_unstable = Some([sym::rustc_attrs].into());
        let id = tcx.with_stable_hashing_context(|context| LocalExpnId::fresh(expansion, context));
        attribute.span = attribute.span.apply_mark(id.to_expn_id(), Transparency::Transparent);
    }
}

/// An emitter that records the lints and prints nothing.
struct Listener;

impl Emitter for Listener {
    fn source_map(&self) -> Option<&SourceMap> {
        None
    }

    fn emit_diagnostic(&mut self, diagnostic: DiagInner) {
        // The name of a lint is accessible only in its debug format.
        let lint = format!("{:?}", diagnostic.is_lint);
        if LINTS.iter().any(|name| lint.contains(name)) {
            found_spans().extend(diagnostic.span.primary_span());
        }
    }
}
