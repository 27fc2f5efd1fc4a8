//! The optimizer: rules that each replace an expression by a cheaper one, and ask before they do.

use crate::{
    gate::Gate,
    interpret::apply,
    tree::{Expr, Form, Operator, Program},
};

/// A rule: its name, and the function that returns the cheaper expression if the rule fits.
struct Rule {
    name: &'static str,
    rewrite: fn(&Form) -> Option<Form>,
}

/// The rules, in the order in which they are tried.
const RULES: [Rule; 8] = [
    Rule { name: "fold", rewrite: fold },
    Rule { name: "no-addition", rewrite: no_addition },
    Rule { name: "no-multiplication", rewrite: no_multiplication },
    Rule { name: "minus-self", rewrite: minus_self },
    Rule { name: "minus-negative", rewrite: minus_negative },
    Rule { name: "known-condition", rewrite: known_condition },
    Rule { name: "shift-for-multiply", rewrite: shift_for_multiply },
    Rule { name: "shift-for-divide", rewrite: shift_for_divide },
];

/// Returns the program with all rewrites that the gate enables. `file` is the path of its source, for reports.
#[must_use]
pub fn optimize(program: &Program, file: &str, gate: &Gate) -> Program {
    let mut optimized = program.clone();
    for function in &mut optimized.functions {
        Optimizer { function: &function.name, file, gate }.expr(&mut function.body);
    }
    optimized
}

/// The optimizer of one function.
struct Optimizer<'a> {
    function: &'a str,
    file: &'a str,
    gate: &'a Gate,
}

impl Optimizer<'_> {
    /// Rewrites an expression, its parts first.
    fn expr(&self, expr: &mut Expr) {
        match &mut expr.form {
            Form::Number(_) | Form::Name(_) => {}
            Form::Negative(inner) => self.expr(inner),
            Form::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            Form::If(parts) => parts.iter_mut().for_each(|part| self.expr(part)),
            Form::Call(_, arguments) => arguments.iter_mut().for_each(|argument| self.expr(argument)),
        }
        for rule in &RULES {
            if let Some(form) = (rule.rewrite)(&expr.form) {
                let new = Expr { at: expr.at, form };
                let text = || format!("{expr} becomes {new}");
                if self.gate.is_enabled(rule.name, self.function, self.file, expr.at, text) {
                    *expr = new;
                }
            }
        }
    }
}

/// `2 + 3` is 5.
fn fold(form: &Form) -> Option<Form> {
    match form {
        Form::Negative(inner) => Some(Form::Number(number(inner)?.wrapping_neg())),
        Form::Binary(operator, left, right) => apply(*operator, number(left)?, number(right)?).ok().map(Form::Number),
        _ => None,
    }
}

/// `x + 0`, `0 + x` and `x - 0` are x.
fn no_addition(form: &Form) -> Option<Form> {
    let Form::Binary(operator @ (Operator::Add | Operator::Subtract), left, right) = form else { return None };
    match (number(left), number(right)) {
        (_, Some(0)) => Some(left.form.clone()),
        (Some(0), _) if *operator == Operator::Add => Some(right.form.clone()),
        _ => None,
    }
}

/// `x * 1`, `1 * x` and `x / 1` are x.
fn no_multiplication(form: &Form) -> Option<Form> {
    let Form::Binary(operator @ (Operator::Multiply | Operator::Divide), left, right) = form else { return None };
    match (number(left), number(right)) {
        (_, Some(1)) => Some(left.form.clone()),
        (Some(1), _) if *operator == Operator::Multiply => Some(right.form.clone()),
        _ => None,
    }
}

/// `x - x` is 0, if x is a parameter: a call may have no value.
fn minus_self(form: &Form) -> Option<Form> {
    let Form::Binary(Operator::Subtract, left, right) = form else { return None };
    (left.form == right.form && matches!(left.form, Form::Name(_))).then_some(Form::Number(0))
}

/// `x - -y` is `x + y`, and `--x` is x.
fn minus_negative(form: &Form) -> Option<Form> {
    let negative = |expr: &Expr| if let Form::Negative(inner) = &expr.form { Some(inner.clone()) } else { None };
    match form {
        Form::Negative(inner) => Some(negative(inner)?.form),
        Form::Binary(Operator::Subtract, left, right) => {
            Some(Form::Binary(Operator::Add, left.clone(), negative(right)?))
        }
        _ => None,
    }
}

/// `if 1 then x else y` is x.
fn known_condition(form: &Form) -> Option<Form> {
    let Form::If(parts) = form else { return None };
    Some(if number(&parts[0])? == 0 { &parts[2] } else { &parts[1] }.form.clone())
}

/// `x * 8` and `8 * x` are `x << 3`.
fn shift_for_multiply(form: &Form) -> Option<Form> {
    let Form::Binary(Operator::Multiply, left, right) = form else { return None };
    shifted(Operator::ShiftLeft, left, right).or_else(|| shifted(Operator::ShiftLeft, right, left))
}

/// `x / 8` is `x >> 3`.
fn shift_for_divide(form: &Form) -> Option<Form> {
    let Form::Binary(Operator::Divide, left, right) = form else { return None };
    shifted(Operator::ShiftRight, left, right)
}

/// Returns a shift of `expr` if the other number is a power of two.
fn shifted(operator: Operator, expr: &Expr, power: &Expr) -> Option<Form> {
    let bits = number(power).filter(|&number| number > 1 && number & (number - 1) == 0)?.trailing_zeros();
    let bits = Expr { at: power.at, form: Form::Number(bits.into()) };
    Some(Form::Binary(operator, Box::new(expr.clone()), Box::new(bits)))
}

fn number(expr: &Expr) -> Option<i64> {
    if let Form::Number(number) = expr.form { Some(number) } else { None }
}
