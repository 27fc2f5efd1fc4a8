//! The meaning of programs: an interpreter of trees, optimized or not.

use std::{error, fmt};

use crate::tree::{Expr, Form, Operator, Program};

/// A reason why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// A division by 0.
    DivisionByZero,
    /// A name that is no parameter.
    UnknownName(String),
    /// A name that is no function with this number of parameters.
    UnknownFunction(String),
    /// More calls within each other than the interpreter allows.
    TooDeep,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivisionByZero => f.write_str("division by 0"),
            Self::UnknownName(name) => write!(f, "no parameter is called `{name}`"),
            Self::UnknownFunction(name) => write!(f, "no function `{name}` has this number of parameters"),
            Self::TooDeep => f.write_str("too many calls within each other"),
        }
    }
}

impl error::Error for EvalError {}

/// The most calls within each other.
const MOST_CALLS: usize = 200;

/// Returns the values that a program shows. A value is an error where an expression has none.
#[must_use]
pub fn run(program: &Program) -> Vec<Result<i64, EvalError>> {
    program.shown.iter().map(|expr| Frame { program, values: &[], depth: 0 }.value(expr)).collect()
}

/// A call in progress.
struct Frame<'a> {
    program: &'a Program,
    /// The values of the parameters, with their names.
    values: &'a [(&'a str, i64)],
    depth: usize,
}

impl Frame<'_> {
    fn value(&self, expr: &Expr) -> Result<i64, EvalError> {
        Ok(match &expr.form {
            Form::Number(number) => *number,
            Form::Name(name) => self
                .values
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| *value)
                .ok_or_else(|| EvalError::UnknownName(name.clone()))?,
            Form::Negative(expr) => self.value(expr)?.wrapping_neg(),
            Form::Binary(operator, left, right) => apply(*operator, self.value(left)?, self.value(right)?)?,
            Form::If(parts) => self.value(if self.value(&parts[0])? == 0 { &parts[2] } else { &parts[1] })?,
            Form::Call(name, arguments) => self.call(name, arguments)?,
        })
    }

    fn call(&self, name: &str, arguments: &[Expr]) -> Result<i64, EvalError> {
        let is_called = |parameters: &[String]| parameters.len() == arguments.len();
        let functions = &self.program.functions;
        let function = functions.iter().find(|function| function.name == name && is_called(&function.parameters));
        let function = function.ok_or_else(|| EvalError::UnknownFunction(name.to_owned()))?;
        if self.depth == MOST_CALLS {
            return Err(EvalError::TooDeep);
        }
        let names = function.parameters.iter().map(String::as_str);
        let values = names.zip(arguments).map(|(name, argument)| Ok((name, self.value(argument)?)));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        Frame { program: self.program, values: &values, depth: self.depth + 1 }.value(&function.body)
    }
}

/// Returns the value of an operator; numbers have 64 bits and wrap around.
///
/// # Errors
/// If it divides by 0.
pub fn apply(operator: Operator, left: i64, right: i64) -> Result<i64, EvalError> {
    Ok(match operator {
        Operator::Add => left.wrapping_add(right),
        Operator::Subtract => left.wrapping_sub(right),
        Operator::Multiply => left.wrapping_mul(right),
        Operator::Divide | Operator::Remainder if right == 0 => return Err(EvalError::DivisionByZero),
        Operator::Divide => left.wrapping_div(right),
        Operator::Remainder => left.wrapping_rem(right),
        Operator::Less => i64::from(left < right),
        Operator::Equal => i64::from(left == right),
        Operator::ShiftLeft => left.wrapping_shl(bits(right)),
        Operator::ShiftRight => left.wrapping_shr(bits(right)),
    })
}

/// Returns the number of bits of a shift: the low six bits of a number.
fn bits(number: i64) -> u32 {
    u32::try_from(number & 63).unwrap_or_default()
}
