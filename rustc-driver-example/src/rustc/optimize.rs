//! Gates `optimize` and `std`: a function whose change is off is compiled as if it were `#[optimize(none)]`.
//!
//! All relevant parts of rustc follow that attribute: passes over MIR skip the function and do not inline it, and LLVM
//! gets `optnone noinline`. The metadata of the crate has the attribute, too, so other crates that instantiate the
//! function do not optimize it either.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bisect_core::ChangeId;
use rustc_hir::{
    LangItem,
    attrs::{InlineAttr, OptimizeAttr},
    def::DefKind,
};
use rustc_middle::{
    middle::codegen_fn_attrs::{CodegenFnAttrFlags, CodegenFnAttrs},
    mir::Body,
    mono::{MonoItem, MonoItemPartitions},
    ty::TyCtxt,
    util::Providers,
};
use rustc_span::def_id::{DefId, DefIdMap, LocalDefId};

use super::{bisection, names, rustc};
use crate::Gate;

/// The IDs of the changes, by function.
static CHANGES: Mutex<Option<DefIdMap<ChangeId>>> = Mutex::new(None);

pub(super) fn replace_queries(queries: &mut Providers) {
    queries.queries.codegen_fn_attrs = codegen_fn_attrs;
    queries.extern_queries.codegen_fn_attrs = extern_codegen_fn_attrs;
    queries.queries.collect_and_partition_mono_items = collect_and_partition_mono_items;
}

/// Returns the attributes of a function of this crate.
fn codegen_fn_attrs(tcx: TyCtxt<'_>, function: LocalDefId) -> CodegenFnAttrs {
    let attrs = (rustc().queries.codegen_fn_attrs)(tcx, function);
    decide(tcx, function.to_def_id(), attrs)
}

/// Returns the attributes of a function of another crate, for its instantiation in this one.
fn extern_codegen_fn_attrs(tcx: TyCtxt<'_>, function: DefId) -> CodegenFnAttrs {
    let attrs = (rustc().extern_queries.codegen_fn_attrs)(tcx, function);
    decide(tcx, function, attrs)
}

fn decide(tcx: TyCtxt<'_>, function: DefId, mut attrs: CodegenFnAttrs) -> CodegenFnAttrs {
    if !is_change(tcx, function, &attrs) {
        return attrs;
    }
    let gate = gate(tcx, function);
    let id = names::id(tcx, gate, function, &[]);
    changes().get_or_insert_default().insert(function, id);
    if !bisection().is_on(gate, id) {
        attrs.optimize = OptimizeAttr::DoNotOptimize;
    }
    attrs
}

/// Returns true if the gate decides about the function. It does not if the attribute is already there, if inlining is
/// part of the function's meaning, or if rustc does not compile the function to code of its own.
fn is_change(tcx: TyCtxt<'_>, function: DefId, attrs: &CodegenFnAttrs) -> bool {
    const SPECIAL: CodegenFnAttrFlags = CodegenFnAttrFlags::NAKED
        .union(CodegenFnAttrFlags::FOREIGN_ITEM)
        .union(CodegenFnAttrFlags::RUSTC_STD_INTERNAL_SYMBOL)
        .union(CodegenFnAttrFlags::ALLOCATOR)
        .union(CodegenFnAttrFlags::ALLOCATOR_ZEROED)
        .union(CodegenFnAttrFlags::REALLOCATOR)
        .union(CodegenFnAttrFlags::DEALLOCATOR)
        .union(CodegenFnAttrFlags::OFFLOAD_KERNEL);
    matches!(tcx.def_kind(function), DefKind::Fn | DefKind::AssocFn | DefKind::Closure)
        && !attrs.optimize.do_not_optimize()
        && !matches!(attrs.inline, InlineAttr::Always | InlineAttr::Force { .. })
        && !attrs.flags.intersects(SPECIAL)
        // With target features rustc writes `optnone` without `noinline`, which is only at the calls. LLVM handles this
        // as intended, but its verifier rejects it.
        && (attrs.target_features.is_empty() || !tcx.sess.verify_llvm_ir())
        && tcx.intrinsic(function).is_none()
}

/// Returns the gate of a function, which depends on the origin of its crate.
fn gate(tcx: TyCtxt<'_>, function: DefId) -> Gate {
    // Drop glue is an instance of a function of `core`, but its code depends on this crate's types.
    if function.is_local() || tcx.is_lang_item(function, LangItem::DropInPlace) {
        return Gate::Optimize;
    }
    let sysroot = tcx.sess.opts.sysroot.path();
    let comes_with_rustc = tcx.used_crate_source(function.krate).paths().any(|path| path.starts_with(sysroot));
    if comes_with_rustc { Gate::Std } else { Gate::Optimize }
}

/// Returns the functions to generate machine code for, by codegen unit, and reports them.
fn collect_and_partition_mono_items(tcx: TyCtxt<'_>, (): ()) -> MonoItemPartitions<'_> {
    let partitions = (rustc().queries.collect_and_partition_mono_items)(tcx, ());
    for item in partitions.codegen_units.iter().flat_map(|unit| unit.items().keys()) {
        if let MonoItem::Fn(instance) = item {
            report(tcx, instance.def_id());
        }
    }
    partitions
}

/// Reports the functions that were inlined into this one, which may have no other code.
pub(super) fn report_inlined<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>) {
    for scope in &body.source_scopes {
        let Some((instance, _)) = scope.inlined else { continue };
        let outer = scope.inlined_parent_scope.and_then(|outer| body.source_scopes[outer].inlined);
        // If the function was inlined into the body of `outer` itself, then it was reported, or decided in another
        // crate, when that body was compiled.
        if outer.is_none_or(|(outer, _)| !has_inlined(tcx.instance_mir(outer.def), instance.def_id())) {
            report(tcx, instance.def_id());
        }
    }
}

fn has_inlined(body: &Body<'_>, function: DefId) -> bool {
    body.source_scopes.iter().any(|scope| scope.inlined.is_some_and(|(instance, _)| instance.def_id() == function))
}

/// Reports a function, if it has a change.
pub(super) fn report(tcx: TyCtxt<'_>, function: DefId) {
    // The body of an async closure that is called by value has the attributes of its parent, the other body.
    let function = match tcx.def_kind(function) {
        DefKind::SyntheticCoroutineBody => tcx.parent(function),
        _ => function,
    };
    if tcx.def_kind(function).has_codegen_attrs() {
        // This query decides the change.
        let _ = tcx.codegen_fn_attrs(function);
    }
    let id = changes().as_ref().and_then(|changes| changes.get(&function).copied());
    if let Some(id) = id {
        bisection().report(gate(tcx, function), id, || names::describe(tcx, function, tcx.def_span(function)));
    }
}

fn changes() -> MutexGuard<'static, Option<DefIdMap<ChangeId>>> {
    // Threads of the compiler may panic, but they leave a valid map.
    CHANGES.lock().unwrap_or_else(PoisonError::into_inner)
}
