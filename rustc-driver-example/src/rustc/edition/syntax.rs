//! Finds the places in the syntax tree, and gives single ones another edition.
//!
//! An edition is a property of a span: that of the macro that wrote it, else that of the crate. rustc asks the span of a block
//! for how long its last expression keeps its temporaries, and that of an `if` for those of its condition. So the span of
//! that one node gets an expansion of its own around it, which says nothing but the edition. The spans of everything
//! inside stay as they are, and with them names, lints and locations.

use std::{mem, sync::Arc};

use rustc_ast::{
    BinOpKind, Block, Crate, Expr, ExprKind, Stmt, StmtKind, Ty, TyKind,
    mut_visit::{self, MutVisitor},
};
use rustc_middle::ty::TyCtxt;
use rustc_span::{
    Span,
    edition::Edition,
    hygiene::{ExpnData, ExpnKind, LocalExpnId, Transparency},
    sym,
};

use super::{
    origin,
    place::{Kind, Place},
};

/// A place as it is met in the tree; more than once, if a macro makes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    /// What there is to show: the last expression of the block, or the `if`.
    pub(super) shown: Span,
    /// The text of the node that decides.
    pub(super) node: Span,
}

/// Visits every place of the crate; those for which `edition` has an answer are compiled as of that edition.
///
/// To be called between expansion and lowering, when all names are resolved and nothing was made of the tree yet.
pub(super) fn visit(tcx: TyCtxt<'_>, edition: &mut dyn FnMut(&Place, Met) -> Option<Edition>) {
    with_tree(tcx, |krate| Visitor { tcx, edition, parentheses: Vec::new() }.visit_crate(krate));
}

/// Has the syntax tree changed, under the same condition.
pub(super) fn with_tree(tcx: TyCtxt<'_>, change: impl FnOnce(&mut Crate)) {
    let mut lowering = tcx.resolver_for_lowering().risky_hack_borrow_mut();
    // Nobody else has it yet; were it shared, rustc would not see what changes in a copy.
    change(Arc::get_mut(&mut lowering.1).expect("the tree is for lowering alone"));
}

struct Visitor<'a, 'tcx> {
    tcx: TyCtxt<'tcx>,
    edition: &'a mut dyn FnMut(&Place, Met) -> Option<Edition>,
    /// Those around the expression that is next, from the outside.
    parentheses: Vec<Span>,
}

impl Visitor<'_, '_> {
    fn condition(&mut self, expr: &mut Expr, parentheses: &[Span], kind: Kind) {
        // The tree that is made of this one has no parentheses, but what is in them is as long as they are.
        let extent = parentheses
            .iter()
            .rev()
            .fold(expr.span, |inner, outer| if outer.contains(inner) { outer.with_ctxt(inner.ctxt()) } else { inner });
        let shown = expr.span;
        self.place(&mut expr.span, extent, shown, kind);
    }

    /// Of a method call it is the name whose edition decides which methods there are.
    fn method(&mut self, expr: &mut Expr) {
        if let ExprKind::MethodCall(call) = &mut expr.kind {
            let name = &mut call.seg.ident.span;
            let extent = *name;
            self.place(name, extent, expr.span, Kind::IntoIter);
        }
    }

    /// Visits a place whose edition is that of `node`, and whose text is `extent` later on.
    fn place(&mut self, node: &mut Span, extent: Span, shown: Span, kind: Kind) {
        if origin::of(self.tcx, *node).is_some() {
            let place = Place::new(self.tcx, extent, kind);
            // The last expression may come from a macro that is called here, or from where this macro was called.
            let shown = shown.find_ancestor_in_same_ctxt(*node).unwrap_or(*node);
            if let Some(edition) = (self.edition)(&place, Met { shown, node: *node }) {
                *node = mark(self.tcx, *node, edition);
            }
        }
    }
}

impl MutVisitor for Visitor<'_, '_> {
    fn visit_block(&mut self, block: &mut Block) {
        if let Some(Stmt { kind: StmtKind::Expr(tail), .. }) = block.stmts.last() {
            let (extent, shown) = (block.span, tail.span);
            self.place(&mut block.span, extent, shown, Kind::Tail);
        }
        mut_visit::walk_block(self, block);
    }

    fn visit_expr(&mut self, expr: &mut Expr) {
        let mut parentheses = mem::take(&mut self.parentheses);
        match &expr.kind {
            ExprKind::Paren(_) => {
                parentheses.push(expr.span);
                self.parentheses = parentheses;
            }
            ExprKind::If(condition, ..) if has_let(condition) => self.condition(expr, &parentheses, Kind::If),
            ExprKind::While(condition, ..) if has_let(condition) => self.condition(expr, &parentheses, Kind::While),
            ExprKind::MethodCall(call) if call.seg.ident.name == sym::into_iter && call.args.is_empty() => {
                self.method(expr);
            }
            _ => {}
        }
        mut_visit::walk_expr(self, expr);
    }

    fn visit_ty(&mut self, ty: &mut Ty) {
        if let TyKind::ImplTrait(..) = ty.kind {
            let extent = ty.span;
            self.place(&mut ty.span, extent, extent, Kind::ImplTrait);
        }
        mut_visit::walk_ty(self, ty);
    }
}

/// Whether a condition has patterns; others drop their temporaries at once in every edition.
fn has_let(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Let(..) => true,
        ExprKind::Binary(operator, left, right) if operator.node == BinOpKind::And => has_let(left) || has_let(right),
        ExprKind::Paren(inner) => has_let(inner),
        _ => false,
    }
}

/// The span as it would be in another edition.
fn mark(tcx: TyCtxt<'_>, span: Span, edition: Edition) -> Span {
    // As if it were not expanded from anything, which is what diagnostics and debug information then make of it.
    let expansion = ExpnData::default(ExpnKind::Root, span, edition, None, None);
    let id = tcx.with_stable_hashing_context(|context| LocalExpnId::fresh(expansion, context));
    span.apply_mark(id.to_expn_id(), Transparency::Transparent)
}
