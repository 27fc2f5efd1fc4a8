//! Origins: the crates whose edition is in question, which are the one that is compiled and those whose macros it expands.
//!
//! What a macro writes is of the edition of the crate that defines it, wherever it is expanded. Another crate's changes
//! are asked for in the variables of its package, whose name nobody but cargo knows; so a crate in which expressions are
//! asked for leaves a note of its package in its metadata.

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

/// The attribute that is the note: one of a tool, for only those are kept that somebody is known to read.
const NOTE: [&str; 2] = ["bisect_rustc", "package"];

/// A crate whose edition is in question.
#[derive(Debug)]
pub(super) struct Origin {
    /// Its name.
    pub(super) name: String,
    /// Its edition.
    pub(super) edition: Edition,
    /// What is asked about it.
    pub(super) bisection: Bisection,
}

/// All of them. To be called when names are resolved: then all crates are known.
pub(super) fn all(tcx: TyCtxt<'_>) -> &'static BTreeMap<StableCrateId, Origin> {
    // They are the same in the survey and in the session that follows it.
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

/// Where what the macro of one of them, or it itself, has written is from.
pub(super) fn of(tcx: TyCtxt<'_>, span: Span) -> Option<&'static Origin> {
    all(tcx).get(&tcx.stable_crate_id(writer(span)?))
}

/// The crate whose edition decides about a text. None if it is the compiler that has written it.
pub(super) fn writer(mut span: Span) -> Option<CrateNum> {
    loop {
        let expansion = span.ctxt().outer_expn_data();
        match expansion.kind {
            ExpnKind::Root if span.ctxt().is_root() => return Some(LOCAL_CRATE),
            // It was given another edition.
            ExpnKind::Root => span = expansion.call_site,
            ExpnKind::Macro(..) => return Some(expansion.macro_def_id?.krate),
            ExpnKind::AstPass(_) | ExpnKind::Desugaring(_) => return None,
        }
    }
}

/// The crate in which a text is from which the compiler has made this one, perhaps.
pub(super) fn home(mut span: Span) -> CrateNum {
    loop {
        match writer(span) {
            Some(krate) => return krate,
            None => span = span.ctxt().outer_expn_data().call_site,
        }
    }
}

/// The tools whose attributes are kept.
pub(super) fn registered_tools(tcx: TyCtxt<'_>, (): ()) -> RegisteredTools {
    let mut tools = (rustc().queries.registered_tools)(tcx, ());
    tools.insert(Ident::from_str(NOTE[0]));
    tools
}

/// Leaves the note in the crate that is compiled: its edition and, where that is known, the name and version of its package.
pub(super) fn note(tcx: TyCtxt<'_>, krate: &mut Crate) {
    let package = bisection().package().map(|Package { name, version }| format!(" {name} {version}"));
    let text = format!("{}{}", tcx.sess.edition(), package.unwrap_or_default());
    let note = format!("{} = {text:?}", NOTE.join("::"));
    rustc_builtin_macros::cmdline_attrs::inject(krate, &tcx.sess.psess, &[note]);
}

/// The edition of another crate, and what is asked about it, if it has left a note.
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
