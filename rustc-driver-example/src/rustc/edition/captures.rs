//! Gate `captures`: the lifetimes that a returned `impl Trait` captures.
//!
//! In edition 2021 these are the lifetimes that its bounds name, in edition 2024 all lifetimes in scope. The program
//! runs the same, but callers have to keep the captured values alive. So only the borrow checker can observe the
//! difference.

use rustc_data_structures::fx::FxHashSet;
use rustc_hir::{
    GenericBound, Lifetime, LifetimeKind, OpaqueTy, OpaqueTyOrigin,
    intravisit::{self, Visitor},
};
use rustc_middle::ty::{self, GenericParamDefKind, TyCtxt};
use rustc_span::{
    def_id::{DefId, LocalDefId},
    kw,
};

use super::place::{Kind, Place};

/// The parameters that `use<…>` may name in the bounds of an `impl Trait`.
pub(super) struct Captures {
    /// The lifetimes that the bounds name.
    pub(super) named: Vec<String>,
    /// The other lifetimes in scope, which make the difference.
    pub(super) others: Vec<String>,
    /// The types and constants in scope, which are captured in every edition; `None` if one of them has no name.
    pub(super) types: Option<Vec<String>>,
}

/// Returns each `impl Trait` of the crate that differs in the other edition, with the function that returns it.
pub(super) fn all(tcx: TyCtxt<'_>) -> impl Iterator<Item = (Place, LocalDefId, Captures)> {
    tcx.hir_crate_items(()).opaques().filter_map(move |def| {
        let opaque = tcx.hir_node_by_def_id(def).expect_opaque_ty();
        let OpaqueTyOrigin::FnReturn { parent, in_trait_or_impl: None } = opaque.origin else { return None };
        let captures = captures(tcx, opaque, parent)?;
        Some((Place::new(tcx, opaque.span, Kind::ImplTrait), parent, captures))
    })
}

fn captures(tcx: TyCtxt<'_>, opaque: &OpaqueTy<'_>, function: LocalDefId) -> Option<Captures> {
    if opaque.bounds.iter().any(|bound| matches!(bound, GenericBound::Use(..))) {
        return None;
    }
    let mut named = Named(FxHashSet::default());
    named.visit_opaque_ty(opaque);
    let mut captures = Captures { named: Vec::new(), others: Vec::new(), types: Some(Vec::new()) };
    let mut lifetime = |def: DefId, name: String| {
        let is_named = def.as_local().is_some_and(|def| named.0.contains(&def));
        let those = if is_named { &mut captures.named } else { &mut captures.others };
        // All lifetimes without a name are shown alike.
        if !those.contains(&name) {
            those.push(name);
        }
    };
    let mut scopes = vec![tcx.generics_of(function)];
    scopes.extend(scopes[0].parent.map(|parent| tcx.generics_of(parent)));
    for param in scopes.iter().rev().flat_map(|generics| &generics.own_params) {
        let name = param.name.to_string();
        match param.kind {
            GenericParamDefKind::Lifetime => lifetime(param.def_id, name),
            GenericParamDefKind::Type { synthetic: true, .. } => captures.types = None,
            GenericParamDefKind::Type { .. } if param.name == kw::SelfUpper => {}
            _ => captures.types.iter_mut().for_each(|types| types.push(name.clone())),
        }
    }
    for variable in tcx.fn_sig(function).skip_binder().bound_vars() {
        if let ty::BoundVariableKind::Region(ty::BoundRegionKind::Named(def)) = variable {
            lifetime(def, tcx.item_name(def).to_string());
        }
    }
    (!captures.others.is_empty()).then_some(captures)
}

/// The lifetimes that a type names.
struct Named(FxHashSet<LocalDefId>);

impl<'tcx> Visitor<'tcx> for Named {
    fn visit_lifetime(&mut self, lifetime: &'tcx Lifetime) {
        if let LifetimeKind::Param(def) = lifetime.kind {
            self.0.insert(def);
        }
        intravisit::walk_lifetime(self, lifetime);
    }
}
