//! The places that a value passes on the way to its drop in edition 2021.
//!
//! In edition 2021 a temporary lives until the end of the enclosing statement (or function, loop, branch). In edition
//! 2024 it lives until the end of the innermost enclosing place, if there is one within that statement. So each place
//! around the temporary may make a difference. It does if something observable happens between the end of the place and
//! the end of the statement.

use rustc_hir::{
    self as hir, BinOpKind, Expr, ExprKind, HirId, ItemLocalId, LoopSource, Node,
    def::{DefKind, Res},
};
use rustc_middle::{
    middle::region::{Scope, ScopeData, ScopeTree},
    ty::{TyCtxt, TypeckResults},
};
use rustc_span::{Span, def_id::LocalDefId};

use super::place::Kind;

/// A body and its scopes, for the analysis of its values.
pub(super) struct Scopes<'a, 'tcx> {
    pub(super) tcx: TyCtxt<'tcx>,
    pub(super) tree: &'tcx ScopeTree,
    pub(super) types: &'tcx TypeckResults<'tcx>,
    pub(super) body: LocalDefId,
    /// A function that returns true if a block drops variables at its end, which may be observable.
    pub(super) has_variables: &'a dyn Fn(&hir::Block<'_>) -> bool,
}

/// A place that a value passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed<'tcx> {
    pub(super) kind: Kind,
    /// The span of the node whose edition decides.
    pub(super) node: Span,
    pub(super) what: What<'tcx>,
    /// True if something happens between the end of the place and the end of the value's scope in edition 2021, so that
    /// an earlier destructor is observable.
    pub(super) is_noticed: bool,
    /// True if that scope ends with the place itself, for example with a function's body: in between, only the
    /// variables of the block are dropped.
    pub(super) is_outermost: bool,
}

/// The syntax of a place that a value passes.
#[derive(Clone, Copy, Debug)]
pub(super) enum What<'tcx> {
    /// A block, which has an expression at its end.
    Block(&'tcx hir::Block<'tcx>),
    /// An `if` with a `let` in its condition.
    If(&'tcx Expr<'tcx>),
}

impl<'tcx> Scopes<'_, 'tcx> {
    /// Returns the places on the way out from an expression to the end of its temporaries, the innermost first.
    ///
    /// Returns no places if the temporaries of the expression live as long as the variable that they are assigned to.
    pub(super) fn passed(&self, from: ItemLocalId) -> Vec<Passed<'tcx>> {
        if let Some(end) = self.tree.temporary_scope(from).temp_lifetime
            && end == self.tree.default_temporary_scope(node(from)).0
        {
            return self.between(from, end);
        }
        Vec::new()
    }

    /// Returns the places between an expression and a scope around it.
    fn between(&self, from: ItemLocalId, end: Scope) -> Vec<Passed<'tcx>> {
        let mut passed = Vec::new();
        let mut scope = node(from);
        loop {
            let found = match scope.data {
                ScopeData::Node => self.block_that_ends_in(scope.local_id),
                ScopeData::IfThen => self.if_with_branch(scope.local_id),
                _ => None,
            };
            if let Some((kind, span, what)) = found {
                let is_noticed = self.is_noticed(what, kind, end);
                let whole = match what {
                    What::Block(block) => self.tcx.parent_hir_id(block.hir_id),
                    What::If(expr) => expr.hir_id,
                };
                let is_outermost = whole.local_id == end.local_id;
                passed.push(Passed { kind, node: span, what, is_noticed, is_outermost });
            }
            if scope == end {
                return passed;
            }
            let Some(parent) = self.tree.opt_encl_scope(scope) else { return passed };
            scope = parent;
        }
    }

    fn hir_id(&self, id: ItemLocalId) -> HirId {
        HirId { owner: self.types.hir_owner, local_id: id }
    }

    fn block_that_ends_in(&self, tail: ItemLocalId) -> Option<(Kind, Span, What<'tcx>)> {
        match self.tcx.parent_hir_node(self.hir_id(tail)) {
            Node::Block(block) if block.expr.is_some_and(|expr| expr.hir_id.local_id == tail) => {
                Some((Kind::Tail, block.span, What::Block(block)))
            }
            _ => None,
        }
    }

    fn if_with_branch(&self, then: ItemLocalId) -> Option<(Kind, Span, What<'tcx>)> {
        match self.tcx.parent_hir_node(self.hir_id(then)) {
            Node::Expr(expr) if matches!(expr.kind, ExprKind::If(..)) => {
                let kind = if self.is_while(expr) { Kind::While } else { Kind::If };
                Some((kind, expr.span, What::If(expr)))
            }
            _ => None,
        }
    }

    fn is_while(&self, condition: &Expr<'_>) -> bool {
        let mut around = self.tcx.hir_parent_iter(condition.hir_id).map(|(_, node)| node);
        matches!(around.next(), Some(Node::Block(_)))
            && matches!(around.next(), Some(Node::Expr(Expr { kind: ExprKind::Loop(_, _, LoopSource::While, _), .. })))
    }

    /// Returns true if something observable may happen between the end of a place and the end of a scope around it.
    fn is_noticed(&self, what: What<'tcx>, kind: Kind, end: Scope) -> bool {
        let mut inner = match what {
            What::Block(block) => {
                if (self.has_variables)(block) {
                    return true;
                }
                block.hir_id
            }
            What::If(expr) => {
                let ExprKind::If(_, _, otherwise) = expr.kind else { return true };
                if kind == Kind::While {
                    return false;
                }
                if otherwise.is_some_and(|otherwise| !is_nothing(otherwise)) {
                    return true;
                }
                expr.hir_id
            }
        };
        while inner.local_id != end.local_id {
            let outer = self.tcx.parent_hir_id(inner);
            match self.step(inner, self.tcx.hir_node(outer), end) {
                Step::Silent => inner = outer,
                Step::End => return false,
                Step::Noticed => return true,
            }
        }
        false
    }

    /// Classifies the execution between the end of a node and the end of its parent.
    fn step(&self, inner: HirId, outer: Node<'tcx>, end: Scope) -> Step {
        match outer {
            Node::Block(block) => {
                let is_end = block.expr.is_some_and(|tail| tail.hir_id == inner);
                Step::silent_if(is_end && !(self.has_variables)(block))
            }
            Node::ExprField(_) => Step::Silent,
            // The temporaries of a `let` with `else` are dropped before the `else` block runs.
            Node::LetStmt(binding) if binding.super_.is_none() => Step::End,
            Node::Arm(arm) if arm.hir_id.local_id == end.local_id => Step::End,
            Node::Stmt(_) => Step::End,
            Node::Expr(expr) => self.step_in_expression(inner, expr, end),
            _ => Step::Noticed,
        }
    }

    fn step_in_expression(&self, inner: HirId, outer: &'tcx Expr<'tcx>, end: Scope) -> Step {
        let is_adjusted = |expr: &Expr<'_>| {
            // An overloaded dereference runs code.
            self.types.expr_adjustments(expr).iter().any(|adjustment| {
                use rustc_middle::ty::adjustment::{Adjust, DerefAdjustKind};
                matches!(adjustment.kind, Adjust::Deref(DerefAdjustKind::Overloaded(_)))
            })
        };
        let rest_is_nothing =
            |exprs: &[Expr<'_>]| exprs.iter().skip_while(|expr| expr.hir_id != inner).skip(1).all(is_nothing);
        if let Node::Expr(inner) = self.tcx.hir_node(inner)
            && is_adjusted(inner)
        {
            return Step::Noticed;
        }
        match outer.kind {
            ExprKind::Block(..)
            | ExprKind::AddrOf(..)
            | ExprKind::Cast(..)
            | ExprKind::Type(..)
            | ExprKind::Field(..)
            | ExprKind::Let(_)
            | ExprKind::Ret(_)
            | ExprKind::Break(..)
            | ExprKind::Repeat(..) => Step::Silent,
            ExprKind::Unary(hir::UnOp::Not, _) => Step::silent_if(!self.types.is_method_call(outer)),
            ExprKind::Tup(exprs) | ExprKind::Array(exprs) => Step::silent_if(rest_is_nothing(exprs)),
            ExprKind::Struct(_, fields, hir::StructTailExpr::None) => Step::silent_if(
                fields
                    .iter()
                    .skip_while(|field| field.hir_id != inner && field.expr.hir_id != inner)
                    .skip(1)
                    .all(|field| is_nothing(field.expr)),
            ),
            ExprKind::Call(function, arguments) => {
                let is_constructor = matches!(
                    function.kind,
                    ExprKind::Path(hir::QPath::Resolved(None, path))
                        if matches!(path.res, Res::SelfCtor(_) | Res::Def(DefKind::Ctor(..), _))
                );
                Step::silent_if(is_constructor && rest_is_nothing(arguments))
            }
            ExprKind::Binary(operator, left, right) => {
                let never_fails = matches!(
                    operator.node,
                    BinOpKind::BitAnd
                        | BinOpKind::BitOr
                        | BinOpKind::BitXor
                        | BinOpKind::Eq
                        | BinOpKind::Ne
                        | BinOpKind::Lt
                        | BinOpKind::Le
                        | BinOpKind::Gt
                        | BinOpKind::Ge
                );
                let is_last = right.hir_id == inner || left.hir_id == inner && is_nothing(right);
                Step::silent_if(never_fails && is_last && !self.types.is_method_call(outer))
            }
            ExprKind::Assign(target, value, _) => {
                // The value is evaluated first; then the old value of the target is dropped.
                let is_plain = matches!(target.kind, ExprKind::Path(hir::QPath::Resolved(None, path)) if matches!(path.res, Res::Local(_)));
                let ty = self.types.expr_ty(target);
                let env = rustc_middle::ty::TypingEnv::non_body_analysis(self.tcx, self.body);
                Step::silent_if(value.hir_id == inner && is_plain && !ty.needs_drop(self.tcx, env))
            }
            ExprKind::If(condition, then, otherwise) if condition.hir_id == inner => {
                if then.hir_id.local_id == end.local_id {
                    return Step::End;
                }
                Step::silent_if(is_nothing(then) && otherwise.is_none_or(is_nothing))
            }
            _ => Step::Noticed,
        }
    }
}

/// The execution between the ends of two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing observable.
    Silent,
    /// The temporaries are dropped.
    End,
    /// Something observable, or it is unknown.
    Noticed,
}

impl Step {
    fn silent_if(silent: bool) -> Self {
        if silent { Self::Silent } else { Self::Noticed }
    }
}

pub(super) fn node(id: ItemLocalId) -> Scope {
    Scope { local_id: id, data: ScopeData::Node }
}

/// Returns true if the evaluation of an expression does nothing observable.
fn is_nothing(expr: &Expr<'_>) -> bool {
    match expr.kind {
        ExprKind::Lit(_) | ExprKind::Block(hir::Block { stmts: [], expr: None, .. }, None) => true,
        // Other code may change a static, so its reading is observable.
        ExprKind::Path(hir::QPath::Resolved(None, path)) => !matches!(path.res, Res::Def(DefKind::Static { .. }, _)),
        ExprKind::Block(hir::Block { stmts: [], expr: Some(expr), .. }, None) => is_nothing(expr),
        ExprKind::Tup(exprs) | ExprKind::Array(exprs) => exprs.iter().all(is_nothing),
        ExprKind::AddrOf(_, _, expr) | ExprKind::Cast(expr, _) | ExprKind::Unary(hir::UnOp::Not, expr) => {
            is_nothing(expr)
        }
        _ => false,
    }
}
