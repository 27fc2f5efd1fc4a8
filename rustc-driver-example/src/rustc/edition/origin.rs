//! Origins: the crates whose edition is in question, which are the compiled crate and those whose macros it expands.
//!
//! Code from a macro has the edition of the crate that defines the macro, wherever it is expanded. Changes in another
//! crate are requested by the variable of its package, whose name only cargo knows. So a crate in which changes are
//! requested stores a note of its package in its metadata.

use std::{collections::BTreeMap, env, sync::OnceLock};

use rustc_ast::Crate;
use rustc_middle::ty::{RegisteredTools, TyCtxt};
use rustc_span::{
    Ident, Span, Symbol,
    def_id::{CrateNum, LOCAL_CRATE, StableCrateId},
    edition::Edition,
    hygiene::ExpnKind,
};

use super::super::{bisection, rustc};
use crate::{
    Gate,
    bisection::{Bisection, Package},
};

/// The attribute that holds the note. It is an attribute of a tool, because rustc keeps only attributes with a known
/// reader.
const NOTE: [&str; 2] = ["bisect_rustc", "package"];

/// A crate whose edition is in question.
#[derive(Debug)]
pub(super) struct Origin {
    /// The name of the crate.
    pub(super) name: String,
    /// The edition of the crate.
    pub(super) edition: Edition,
    /// The settings for the crate.
    pub(super) bisection: Bisection,
}

/// Returns all origins. Must be called after the resolution of names, when all crates are known.
pub(super) fn all(tcx: TyCtxt<'_>) -> &'static BTreeMap<StableCrateId, Origin> {
    // The origins are the same in the survey and in the session that follows it.
    static ORIGINS: OnceLock<BTreeMap<StableCrateId, Origin>> = OnceLock::new();
    ORIGINS.get_or_init(|| {
        let krate = |krate| {
            let (edition, bisection) =
                if krate == LOCAL_CRATE { (tcx.sess.edition(), bisection().clone()) } else { noted(tcx, krate)? };
            let name = tcx.crate_name(krate).to_string();
            let asks = bisection.asks_for(&Gate::OF_EDITIONS);
            asks.then(|| (tcx.stable_crate_id(krate), Origin { name, edition, bisection }))
        };
        tcx.crates(()).iter().copied().chain([LOCAL_CRATE]).filter_map(krate).collect()
    })
}

/// Returns the origin that wrote the text at a span, directly or in a macro; `None` if no origin wrote it.
pub(super) fn of(tcx: TyCtxt<'_>, span: Span) -> Option<&'static Origin> {
    all(tcx).get(&tcx.stable_crate_id(writer(span)?))
}

/// Returns the crate whose edition applies to the text at a span; `None` if the compiler generated the text.
pub(super) fn writer(mut span: Span) -> Option<CrateNum> {
    loop {
        let expansion = span.ctxt().outer_expn_data();
        match expansion.kind {
            ExpnKind::Root if span.ctxt().is_root() => return Some(LOCAL_CRATE),
            // The span was given another edition.
            ExpnKind::Root => span = expansion.call_site,
            ExpnKind::Macro(..) => return Some(expansion.macro_def_id?.krate),
            ExpnKind::AstPass(_) | ExpnKind::Desugaring(_) => return None,
        }
    }
}

/// Returns the crate that wrote the text at a span. If the compiler generated it, returns the crate that wrote the text
/// from which it was generated.
pub(super) fn home(mut span: Span) -> CrateNum {
    loop {
        match writer(span) {
            Some(krate) => return krate,
            None => span = span.ctxt().outer_expn_data().call_site,
        }
    }
}

/// Returns the registered tools, with that of the note.
pub(super) fn registered_tools(tcx: TyCtxt<'_>, (): ()) -> RegisteredTools {
    let mut tools = (rustc().queries.registered_tools)(tcx, ());
    tools.insert(Ident::from_str(NOTE[0]));
    tools
}

/// Adds the note to the compiled crate: its edition and, if they are known, the name and version of its package.
pub(super) fn note(tcx: TyCtxt<'_>, krate: &mut Crate) {
    let package = bisection().package().map(|Package { name, version }| format!(" {name} {version}"));
    let text = format!("{}{}", tcx.sess.edition(), package.unwrap_or_default());
    let note = format!("{} = {text:?}", NOTE.join("::"));
    rustc_builtin_macros::cmdline_attrs::inject(krate, &tcx.sess.psess, &[note]);
}

/// Returns the edition of another crate and the settings for it, if the crate has a note.
fn noted(tcx: TyCtxt<'_>, krate: CrateNum) -> Option<(Edition, Bisection)> {
    let note = tcx.get_attrs_by_path(krate.as_def_id(), &NOTE.map(Symbol::intern)).next()?;
    let text = note.value_str()?.to_string();
    let mut words = text.split(' ').map(str::to_owned);
    let edition = words.next()?.parse().ok()?;
    let package = words.next().zip(words.next()).map(|(name, version)| Package { name, version });
    match Bisection::of(package, |name| env::var(name)) {
        Ok(read) => Some((edition, read.reporting_with(bisection()))),
        Err(problem) => tcx.dcx().fatal(format!("bisect-rustc: {problem}")),
    }
}
