//! Gate `halve`: a custom pass over MIR, with one change per rewritten place. The README explains it step by step.
//!
//! The pass rewrites `x / 8` of signed integers to `x >> 3`. That is wrong for negative numbers: `-1 / 8` is 0,
//! `-1 >> 3` is -1. The error is deliberate, for a search to find.

use bisect_core::Field;
use rustc_middle::{
    mir::{BinOp, Body, Operand, Rvalue, Statement, StatementKind, interpret::Scalar},
    ty::TyCtxt,
};

use super::{bisection, names};
use crate::Gate;

/// Returns the body with the divisions replaced whose changes are on.
pub(super) fn run<'tcx>(tcx: TyCtxt<'tcx>, body: &'tcx Body<'tcx>) -> &'tcx Body<'tcx> {
    let mut new = None;
    for (block, data) in body.basic_blocks.iter_enumerated() {
        for (index, statement) in data.statements.iter().enumerate() {
            if let Some(shift) = as_shift(tcx, body, statement)
                && is_on(tcx, body, statement)
            {
                // Most bodies have no division: they are not copied.
                let new = new.get_or_insert_with(|| body.clone());
                new.basic_blocks_mut()[block].statements[index].kind = shift;
            }
        }
    }
    new.map_or(body, |new| tcx.arena.alloc(new))
}

/// Returns the replacement of a statement, if the pass applies to it.
fn as_shift<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>, statement: &Statement<'tcx>) -> Option<StatementKind<'tcx>> {
    let StatementKind::Assign(assignment) = &statement.kind else { return None };
    let (place, Rvalue::BinaryOp(BinOp::Div, operands)) = &**assignment else { return None };
    let (dividend, Operand::Constant(divisor)) = &**operands else { return None };
    // Inlined code belongs to another function, and is a change of that function only.
    let scope = &body.source_scopes[statement.source_info.scope];
    if scope.inlined.is_some() || scope.inlined_parent_scope.is_some() || !divisor.const_.ty().is_signed() {
        return None;
    }
    let value = divisor.const_.try_to_scalar_int()?;
    let value =
        u128::try_from(value.to_int(value.size())).ok().filter(|&value| value > 1 && value.is_power_of_two())?;
    let bits = Scalar::from_u32(value.trailing_zeros());
    let bits = Operand::const_from_scalar(tcx, tcx.types.u32, bits, divisor.span);
    Some(StatementKind::Assign(Box::new((*place, Rvalue::BinaryOp(BinOp::Shr, Box::new((dividend.clone(), bits)))))))
}

/// Reports the change at a statement, and returns true if it is on.
fn is_on(tcx: TyCtxt<'_>, body: &Body<'_>, statement: &Statement<'_>) -> bool {
    let (function, span) = (body.source.def_id(), statement.source_info.span.source_callsite());
    let (_, line, column, ..) = tcx.sess.source_map().span_to_location_info(span);
    let id = names::id(tcx, Gate::Halve, function, &[Field::U64(line as u64), Field::U64(column as u64)]);
    bisection().report(Gate::Halve, id, || names::describe(tcx, function, span));
    bisection().is_on(Gate::Halve, id)
}
