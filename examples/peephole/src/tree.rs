//! Programs as trees: functions, and expressions with their positions.

use std::fmt;

/// A program: functions, and the expressions that it shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The functions, in the order of the source.
    pub functions: Vec<Function>,
    /// The expressions whose values the program prints.
    pub shown: Vec<Expr>,
}

/// A function: its value is that of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name.
    pub name: String,
    /// The names of the parameters.
    pub parameters: Vec<String>,
    /// The expression.
    pub body: Expr,
}

/// A position in the source; lines and columns count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// The position of its operator, or of its first character.
    pub at: Position,
    /// The form.
    pub form: Form,
}

/// The forms of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A number.
    Number(i64),
    /// A parameter.
    Name(String),
    /// The number with the other sign.
    Negative(Box<Expr>),
    /// Two numbers and an operator.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// The second expression if the first one is not 0, or else the third one.
    If(Box<[Expr; 3]>),
    /// The value of a function.
    Call(String, Vec<Expr>),
}

/// The operators; the shifts are the optimizer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, rounded towards 0.
    Divide,
    /// `%`, with the sign of the first number.
    Remainder,
    /// `<`: 1 or 0.
    Less,
    /// `=`: 1 or 0.
    Equal,
    /// Multiplication by a power of two.
    ShiftLeft,
    /// Division by a power of two, rounded down.
    ShiftRight,
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Less => "<",
            Self::Equal => "=",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
        })
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.form {
            Form::Number(number) => write!(f, "{number}"),
            Form::Name(name) => f.write_str(name),
            Form::Negative(expr) => write!(f, "-{expr}"),
            Form::Binary(operator, left, right) => write!(f, "({left} {operator} {right})"),
            Form::If(parts) => write!(f, "(if {} then {} else {})", parts[0], parts[1], parts[2]),
            Form::Call(name, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(ToString::to_string).collect();
                write!(f, "{name}({})", arguments.join(", "))
            }
        }
    }
}
