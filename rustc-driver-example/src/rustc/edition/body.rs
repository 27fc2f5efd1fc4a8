//! The facts about places that follow from one body.

use rustc_data_structures::fx::{FxHashMap, FxHashSet};
use rustc_hir::{
    Block, Expr, ExprKind, HirId, ItemLocalId, LetStmt, Pat, PatKind, StmtKind,
    intravisit::{self, Visitor},
};
use rustc_middle::{
    middle::region::ScopeData,
    mir::Body,
    ty::{
        Ty, TyCtxt, TypeckResults,
        adjustment::{Adjust, DerefAdjustKind, PointerCoercion},
    },
};
use rustc_span::{BytePos, Span, SyntaxContext, def_id::LocalDefId, sym};

use super::{
    describe,
    facts::Fact,
    place::{Kind, Place},
    scopes::Scopes,
    values,
};

/// Returns the facts about the places that the values of a body pass, and about its calls of `into_iter`.
pub(super) fn facts<'tcx>(tcx: TyCtxt<'tcx>, def: LocalDefId, body: &Body<'tcx>) -> Vec<(Place, Fact)> {
    // A body that rustc derives from another one has no text.
    let Some(hir) = tcx.hir_maybe_body_owned_by(def) else { return Vec::new() };
    let types = tcx.typeck(def);
    let tree = tcx.region_scope_tree(def);
    let mut text = Text::new(types);
    text.visit_expr(hir.value);
    let call =
        |&(name, receiver): &(Span, Span)| (Place::new(tcx, name, Kind::IntoIter), describe::call(tcx, def, receiver));
    let mut facts: Vec<_> = text.into_iters.iter().map(call).collect();
    let values = values::of(tcx, def, body);

    // The variables and temporaries that are dropped at the ends of blocks.
    let mut variables = FxHashSet::default();
    let mut blocks = FxHashSet::default();
    for value in values.iter().filter(|value| !value.destructors.is_empty()) {
        if value.is_variable {
            variables.insert(start(value.span));
        } else {
            let scopes = text.origins(value).into_iter().filter_map(|id| tree.temporary_scope(id).temp_lifetime);
            blocks.extend(
                scopes.filter(|scope| matches!(scope.data, ScopeData::Remainder(_))).map(|scope| scope.local_id),
            );
        }
    }
    let has_variables = |block: &Block<'_>| {
        blocks.contains(&block.hir_id.local_id)
            || block.stmts.iter().any(|statement| match statement.kind {
                StmtKind::Let(LetStmt { pat, super_: None, .. }) => {
                    let mut any = false;
                    pat.walk_always(|pat| any |= variables.contains(&start(pat.span)));
                    any
                }
                _ => false,
            })
    };
    let scopes = Scopes { tcx, tree, types, body: def, has_variables: &has_variables };

    for value in &values {
        let origins = if value.is_variable {
            text.variables
                .get(&start(value.span))
                .copied()
                .into_iter()
                .filter(|&(variable, init)| {
                    // The variable must live as long as temporaries of its initializer do by default.
                    tree.var_scope(variable) == Some(tree.default_temporary_scope(super::scopes::node(init)).0)
                })
                .map(|(_, init)| init)
                .collect()
        } else {
            text.origins(value)
        };
        for origin in origins {
            for passed in scopes.passed(origin).into_iter().filter(|passed| passed.kind != Kind::While) {
                let place = Place::new(tcx, passed.node, passed.kind);
                facts.push((place, describe::passing(tcx, def, value, &passed)));
            }
        }
    }
    facts
}

/// Returns the key that identifies the span of a name, wherever the span ends.
fn start(span: Span) -> (BytePos, SyntaxContext) {
    (span.lo(), span.ctxt())
}

/// The expressions of a body, to find the origins of values in MIR.
struct Text<'tcx> {
    types: &'tcx TypeckResults<'tcx>,
    expressions: FxHashMap<Span, Vec<(ItemLocalId, Vec<Ty<'tcx>>)>>,
    /// Variables of `super let`, which are named temporaries, and their initializers.
    variables: FxHashMap<(BytePos, SyntaxContext), (ItemLocalId, ItemLocalId)>,
    /// Calls of `into_iter` on boxed slices: the spans of the name and of the receiver.
    into_iters: Vec<(Span, Span)>,
}

impl<'tcx> Text<'tcx> {
    fn new(types: &'tcx TypeckResults<'tcx>) -> Self {
        Self { types, expressions: FxHashMap::default(), variables: FxHashMap::default(), into_iters: Vec::new() }
    }

    /// Returns the expressions for which a temporary may have been made. There are several if macros have several at
    /// the same span.
    fn origins(&self, value: &values::Value<'tcx>) -> Vec<ItemLocalId> {
        let Some(candidates) = self.expressions.get(&value.span) else { return Vec::new() };
        let of_type: Vec<_> =
            candidates.iter().filter(|(_, types)| types.contains(&value.ty)).map(|&(id, _)| id).collect();
        if of_type.is_empty() { candidates.iter().map(|&(id, _)| id).collect() } else { of_type }
    }

    fn add(&mut self, span: Span, id: HirId, types: Vec<Ty<'tcx>>) {
        self.expressions.entry(span).or_default().push((id.local_id, types));
    }
}

impl<'tcx> Visitor<'tcx> for Text<'tcx> {
    fn visit_expr(&mut self, expr: &'tcx Expr<'tcx>) {
        let adjustments = self.types.expr_adjustments(expr);
        let types: Vec<_> = self
            .types
            .expr_ty_opt(expr)
            .into_iter()
            .chain(adjustments.iter().map(|adjustment| adjustment.target))
            .collect();
        // For these adjustments of the value of a block, rustc uses the span of the tail expression.
        let is_about_end = adjustments.iter().any(|adjustment| {
            matches!(
                adjustment.kind,
                Adjust::Deref(DerefAdjustKind::Builtin) | Adjust::Pointer(PointerCoercion::Unsize)
            )
        });
        if let ExprKind::Block(Block { expr: Some(tail), .. }, _) = expr.kind
            && is_about_end
        {
            self.add(tail.span, expr.hir_id, types.clone());
        }
        if let ExprKind::MethodCall(name, receiver, [], _) = expr.kind
            && name.ident.name == sym::into_iter
            && self.types.expr_ty_opt(receiver).and_then(Ty::boxed_ty).is_some_and(Ty::is_slice)
        {
            self.into_iters.push((name.ident.span, receiver.span));
        }
        self.add(expr.span, expr.hir_id, types);
        intravisit::walk_expr(self, expr);
    }

    fn visit_local(&mut self, local: &'tcx LetStmt<'tcx>) {
        if let (Some(_), Some(init)) = (local.super_, local.init) {
            local.pat.walk_always(|pat: &Pat<'_>| {
                if let PatKind::Binding(..) = pat.kind {
                    self.variables.insert(start(pat.span), (pat.hir_id.local_id, init.hir_id.local_id));
                }
            });
        }
        intravisit::walk_local(self, local);
    }
}
