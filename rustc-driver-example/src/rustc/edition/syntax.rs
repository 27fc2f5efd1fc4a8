//! Finds the places in the syntax tree, and gives another edition to single ones.
//!
//! An edition is a property of a span: that of the macro that wrote it, else that of the crate. The edition of a
//! block's span decides how long the block keeps the temporaries of its last expression, and that of an `if` decides
//! the same for its condition. So the span of that one node gets its own expansion, which has no information but the
//! edition. The spans of everything inside stay as they are, and with them names, lints and locations.

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

/// An occurrence of a place in the tree. A place in a macro may have several.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    /// The span to show in reports, like that of the last expression of a block, or of an `if`.
    pub(super) shown: Span,
    /// The span of the node whose edition decides.
    pub(super) node: Span,
}

/// Visits every place of the crate. If `edition` returns an edition for a place, the place is compiled in that edition.
///
/// Must be called between expansion and lowering, when all names are resolved and the tree is not lowered yet.
pub(super) fn visit(tcx: TyCtxt<'_>, edition: &mut dyn FnMut(&Place, Met) -> Option<Edition>) {
    with_tree(tcx, |krate| Visitor { tcx, edition, parentheses: Vec::new() }.visit_crate(krate));
}

/// Changes the syntax tree, under the same condition as [`visit`].
pub(super) fn with_tree(tcx: TyCtxt<'_>, change: impl FnOnce(&mut Crate)) {
    let mut lowering = tcx.resolver_for_lowering().risky_hack_borrow_mut();
    // The tree must not be shared: rustc would not see the changes in a copy.
    change(Arc::get_mut(&mut lowering.1).expect("the tree is for lowering alone"));
}

struct Visitor<'a, 'tcx> {
    tcx: TyCtxt<'tcx>,
    edition: &'a mut dyn FnMut(&Place, Met) -> Option<Edition>,
    /// The spans of the parentheses around the next expression, the outermost first.
    parentheses: Vec<Span>,
}

impl Visitor<'_, '_> {
    fn condition(&mut self, expr: &mut Expr, parentheses: &[Span], kind: Kind) {
        // Lowering removes parentheses, and the expression in them gets their span.
        let extent = parentheses
            .iter()
            .rev()
            .fold(expr.span, |inner, outer| if outer.contains(inner) { outer.with_ctxt(inner.ctxt()) } else { inner });
        let shown = expr.span;
        self.place(&mut expr.span, extent, shown, kind);
    }

    /// Visits a method call. The edition of the method's name decides which methods are found.
    fn method(&mut self, expr: &mut Expr) {
        if let ExprKind::MethodCall(call) = &mut expr.kind {
            let name = &mut call.seg.ident.span;
            let extent = *name;
            self.place(name, extent, expr.span, Kind::IntoIter);
        }
    }

    /// Visits a place. `node` is the span whose edition decides, and `extent` is its span after lowering.
    fn place(&mut self, node: &mut Span, extent: Span, shown: Span, kind: Kind) {
        if origin::of(self.tcx, *node).is_some() {
            let place = Place::new(self.tcx, extent, kind);
            // The span to show may come from a macro that is called here, or from the caller of this macro.
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

/// Returns true if a condition has patterns. Other conditions drop their temporaries at once in every edition.
fn has_let(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Let(..) => true,
        ExprKind::Binary(operator, left, right) if operator.node == BinOpKind::And => has_let(left) || has_let(right),
        ExprKind::Paren(inner) => has_let(inner),
        _ => false,
    }
}

/// Returns the span with another edition.
fn mark(tcx: TyCtxt<'_>, span: Span, edition: Edition) -> Span {
    // Diagnostics and debug information treat a root expansion as text that was not expanded.
    let expansion = ExpnData::default(ExpnKind::Root, span, edition, None, None);
    let id = tcx.with_stable_hashing_context(|context| LocalExpnId::fresh(expansion, context));
    span.apply_mark(id.to_expn_id(), Transparency::Transparent)
}
