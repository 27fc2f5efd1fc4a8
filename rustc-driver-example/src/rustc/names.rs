//! IDs and descriptions of functions and places.

use bisect_core::{ChangeId, Field};
use rustc_middle::ty::{
    TyCtxt,
    print::{with_no_trimmed_paths, with_no_visible_paths, with_resolve_crate_name},
};
use rustc_span::{
    Span,
    def_id::{DefId, LOCAL_CRATE},
};

use super::bisection;
use crate::{Description, Gate};

/// Returns the ID of a change of `function`. `fields` distinguish it from others of the same gate in that function.
///
/// The path has numbers where items have no names (`{impl#2}`, `{closure#0}`). They count within the parent, so they
/// are the same wherever and with whatever flags the same source is compiled.
pub(super) fn id(tcx: TyCtxt<'_>, gate: Gate, function: DefId, fields: &[Field<'_>]) -> ChangeId {
    let (this, home) = (tcx.crate_name(LOCAL_CRATE), tcx.crate_name(function.krate));
    let path = tcx.def_path(function).to_string_no_crate_verbose();
    let function = [Field::Str(home.as_str()), Field::Str(&path)];
    bisection().id(gate, this.as_str(), &[&function, fields].concat())
}

/// Returns the description of a change at `span` in `function`. If a macro made it, its place is the call of the macro.
pub(super) fn describe(tcx: TyCtxt<'_>, function: DefId, span: Span) -> Description {
    Description {
        place: location(tcx, span.source_callsite()),
        // Debuggers and symbol names have this form: the crate first, and no re-exports.
        function: with_resolve_crate_name!(with_no_visible_paths!(with_no_trimmed_paths!(tcx.def_path_str(function)))),
        details: Vec::new(),
    }
}

/// Returns a location as `file:line:column`.
pub(super) fn location(tcx: TyCtxt<'_>, span: Span) -> String {
    let map = tcx.sess.source_map();
    let (file, line, column, ..) = map.span_to_location_info(span);
    let file = file.map_or_else(|| "<unknown>".to_owned(), |file| map.filename_for_diagnostics(&file.name).to_string());
    format!("{file}:{line}:{column}")
}
