//! The values of a body, from its MIR, whose drop or end may be observed.

use rustc_data_structures::fx::FxHashSet;
use rustc_hir::find_attr;
use rustc_index::bit_set::DenseBitSet;
use rustc_middle::{
    mir::{
        Body, Local, Location, ProjectionElem, TerminatorKind,
        visit::{MutatingUseContext, NonMutatingUseContext, PlaceContext, Visitor},
    },
    ty::{self, Ty, TyCtxt, TypingEnv, significant_drop_order::extract_component_with_significant_dtor},
};
use rustc_mir_dataflow::{
    Analysis as _, MaybeReachable,
    impls::MaybeInitializedPlaces,
    move_paths::{LookupResult, MoveData, MovePathIndex},
};
use rustc_span::{Span, def_id::LocalDefId, sym};

/// A temporary or a variable.
#[derive(Debug)]
pub(super) struct Value<'tcx> {
    /// The span of the expression, or of the variable's name.
    pub(super) span: Span,
    pub(super) ty: Ty<'tcx>,
    pub(super) is_variable: bool,
    /// The types in the value that have an observable destructor. Empty if the value is never dropped because it is
    /// always moved before.
    pub(super) destructors: Vec<Ty<'tcx>>,
}

/// Returns the values of a body that are borrowed, or dropped with an observable destructor.
pub(super) fn of<'tcx>(tcx: TyCtxt<'tcx>, def: LocalDefId, body: &Body<'tcx>) -> Vec<Value<'tcx>> {
    let mut uses = Uses {
        in_place: DenseBitSet::new_empty(body.local_decls.len()),
        borrowed: DenseBitSet::new_empty(body.local_decls.len()),
    };
    uses.visit_body(body);
    // Opaque types stay opaque: the hidden type may depend on this very body.
    let env = TypingEnv::non_body_analysis(tcx, def);
    let dropped = dropped(tcx, env, body, &uses.in_place);
    body.local_decls
        .iter_enumerated()
        .skip(1 + body.arg_count)
        .filter_map(|(local, decl)| {
            let is_variable = decl.is_user_variable();
            // An operand is a temporary, too, but it ends where it is used.
            if !is_variable && !uses.in_place.contains(local) {
                return None;
            }
            let destructors = if dropped.contains(local) { destructors(tcx, env, decl.ty) } else { Vec::new() };
            // The borrow checker depends on the end of a borrowed value.
            let is_something = uses.borrowed.contains(local) || !destructors.is_empty();
            is_something.then_some(Value { span: decl.source_info.span, ty: decl.ty, is_variable, destructors })
        })
        .collect()
}

/// The values of a body by how they are used.
struct Uses {
    /// Values that are used as places, and not only stored, moved, copied or dropped as a whole.
    in_place: DenseBitSet<Local>,
    /// Values that are borrowed.
    borrowed: DenseBitSet<Local>,
}

impl<'tcx> Visitor<'tcx> for Uses {
    fn visit_place(&mut self, place: &rustc_middle::mir::Place<'tcx>, context: PlaceContext, _: Location) {
        use PlaceContext::{MutatingUse, NonMutatingUse, NonUse};

        let is_whole = place.projection.is_empty();
        match context {
            NonUse(_) => return,
            MutatingUse(
                MutatingUseContext::Drop
                | MutatingUseContext::Store
                | MutatingUseContext::Call
                | MutatingUseContext::Yield,
            )
            | NonMutatingUse(NonMutatingUseContext::Move | NonMutatingUseContext::Copy)
                if is_whole =>
            {
                return;
            }
            _ => {}
        }
        self.in_place.insert(place.local);
        if context.is_borrow() && !place.is_indirect_first_projection() {
            self.borrowed.insert(place.local);
        }
    }
}

/// Returns the values that are dropped, even if only in a panic.
fn dropped<'tcx>(
    tcx: TyCtxt<'tcx>,
    env: TypingEnv<'tcx>,
    body: &Body<'tcx>,
    in_place: &DenseBitSet<Local>,
) -> DenseBitSet<Local> {
    let mut dropped = DenseBitSet::new_empty(body.local_decls.len());
    let drops: Vec<_> = body
        .basic_blocks
        .iter_enumerated()
        .filter_map(|(block, data)| match data.terminator().kind {
            TerminatorKind::Drop { place, .. } => {
                Some((place, Location { block, statement_index: data.statements.len() }))
            }
            _ => None,
        })
        .filter(|(place, _)| body.local_decls[place.local].is_user_variable() || in_place.contains(place.local))
        .collect();
    if drops.is_empty() {
        return dropped;
    }
    let body = &without_false_edges(body);
    let moves = MoveData::gather_moves(body, tcx, |ty| ty.needs_drop(tcx, env));
    let mut initialized = MaybeInitializedPlaces::new(tcx, body, &moves)
        .exclude_inactive_in_otherwise()
        // The drop of a moved value does not panic.
        .skipping_unreachable_unwind()
        .iterate_to_fixpoint(tcx, body, None)
        .into_results_cursor(body);
    for (place, location) in drops {
        initialized.seek_before_primary_effect(location);
        let is_dropped = match (initialized.get(), moves.rev_lookup.find(place.as_ref())) {
            (MaybeReachable::Reachable(live), LookupResult::Exact(path)) => {
                is_anything_left(tcx, env, body, &moves, path, &|path| live.contains(path))
            }
            (MaybeReachable::Reachable(live), LookupResult::Parent(Some(path))) => live.contains(path),
            _ => false,
        };
        if is_dropped {
            dropped.insert(place.local);
        }
    }
    dropped
}

/// Returns the body without the edges that only the borrow checker follows. Along these edges, a value that a pattern
/// has moved is still present.
fn without_false_edges<'tcx>(body: &Body<'tcx>) -> Body<'tcx> {
    let mut body = body.clone();
    for data in body.basic_blocks_mut() {
        let kind = &mut data.terminator_mut().kind;
        if let TerminatorKind::FalseEdge { real_target, .. } | TerminatorKind::FalseUnwind { real_target, .. } = *kind {
            *kind = TerminatorKind::Goto { target: real_target };
        }
    }
    body
}

/// Returns true if something is left of a value whose parts may have been moved.
fn is_anything_left<'tcx>(
    tcx: TyCtxt<'tcx>,
    env: TypingEnv<'tcx>,
    body: &Body<'tcx>,
    moves: &MoveData<'tcx>,
    path: MovePathIndex,
    is_live: &dyn Fn(MovePathIndex) -> bool,
) -> bool {
    let parts: Vec<_> = moves.move_paths[path].children(&moves.move_paths).map(|(child, _)| child).collect();
    if parts.is_empty() {
        return is_live(path);
    }
    // For example, nothing is left of a matched `Option` if it is `None`, or if the `x` of its `Some(x)` was moved.
    let is_more =
        || others(tcx, body, moves, path).is_none_or(|others| others.iter().any(|ty| ty.needs_drop(tcx, env)));
    is_live(path) && is_more() || parts.into_iter().any(|part| is_anything_left(tcx, env, body, moves, part, is_live))
}

/// Returns the types of the parts of a value that were not moved separately; `None` if they are unknown.
fn others<'tcx>(
    tcx: TyCtxt<'tcx>,
    body: &Body<'tcx>,
    moves: &MoveData<'tcx>,
    path: MovePathIndex,
) -> Option<Vec<Ty<'tcx>>> {
    let place = moves.move_paths[path].place;
    let parts: Vec<_> = moves.move_paths[path]
        .children(&moves.move_paths)
        .map(|(_, child)| child.place.projection[place.projection.len()])
        .collect();
    let is_moved = |field: usize| {
        parts.iter().any(|part| matches!(part, ProjectionElem::Field(index, _) if index.index() == field))
    };
    let rest = |fields: &mut dyn Iterator<Item = Ty<'tcx>>| {
        fields.enumerate().filter(|&(field, _)| !is_moved(field)).map(|(_, ty)| ty).collect()
    };
    let of = place.ty(body, tcx);
    match (of.ty.kind(), of.variant_index) {
        (ty::Tuple(fields), _) => Some(rest(&mut fields.iter())),
        (ty::Adt(adt, args), Some(variant)) => {
            Some(rest(&mut adt.variant(variant).fields.iter().map(|field| field.ty(tcx, args))))
        }
        (ty::Adt(adt, args), None) if adt.is_struct() => {
            Some(rest(&mut adt.all_fields().map(|field| field.ty(tcx, args))))
        }
        (ty::Adt(adt, args), None) if adt.is_enum() => {
            let is_moved =
                |of| parts.iter().any(|part| matches!(part, ProjectionElem::Downcast(_, variant) if *variant == of));
            let variants = adt.variants().iter_enumerated().filter(|&(variant, _)| !is_moved(variant));
            Some(variants.flat_map(|(_, variant)| &variant.fields).map(|field| field.ty(tcx, args)).collect())
        }
        _ => None,
    }
}

/// Returns the types with an observable destructor among the components of this type.
///
/// These are the types whose destructors rustc's lints consider significant, and shared owners, because a program can
/// query the number of owners.
fn destructors<'tcx>(tcx: TyCtxt<'tcx>, env: TypingEnv<'tcx>, ty: Ty<'tcx>) -> Vec<Ty<'tcx>> {
    let mut found = extract_component_with_significant_dtor(tcx, env, ty).to_vec();
    shared_owners(tcx, env, ty, &mut FxHashSet::default(), &mut found);
    found
}

fn shared_owners<'tcx>(
    tcx: TyCtxt<'tcx>,
    env: TypingEnv<'tcx>,
    ty: Ty<'tcx>,
    seen: &mut FxHashSet<Ty<'tcx>>,
    found: &mut Vec<Ty<'tcx>>,
) {
    // A recursive type may contain larger and larger types without end.
    const LIMIT: usize = 500;

    let ty = tcx.try_normalize_erasing_regions(env, ty).unwrap_or(ty);
    if !ty.needs_drop(tcx, env) || seen.len() == LIMIT || !seen.insert(ty) {
        return;
    }
    let mut part = |part: Ty<'tcx>| shared_owners(tcx, env, part, seen, found);
    match *ty.kind() {
        ty::Adt(adt, _) if [sym::Rc, sym::Arc].iter().any(|&name| tcx.is_diagnostic_item(name, adt.did())) => {
            found.push(ty);
        }
        // Collections own values of their type arguments, but only pointers in their fields show it.
        ty::Adt(adt, args) if find_attr!(tcx, adt.did(), RustcInsignificantDtor) => args.types().for_each(part),
        ty::Adt(adt, args) => adt.all_fields().for_each(|field| part(field.ty(tcx, args))),
        ty::Tuple(of) => of.iter().for_each(part),
        ty::Array(of, _) | ty::Slice(of) => part(of),
        ty::Closure(_, args) => args.as_closure().upvar_tys().iter().for_each(part),
        _ => {}
    }
}
