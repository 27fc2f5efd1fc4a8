//! Reads the text of a program: `fn name(a, b) = expression;` and `show expression;`.

use std::{error, fmt};

use crate::tree::{Expr, Form, Function, Operator, Position, Program};

/// A mistake in the text, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The position.
    pub at: Position,
    /// The text that should stand there.
    pub expected: &'static str,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: expected {}", self.at.line, self.at.column, self.expected)
    }
}

impl error::Error for SyntaxError {}

/// The levels of binary operators, from the weakest to the strongest.
const LEVELS: [&[(&str, Operator)]; 3] = [
    &[("<", Operator::Less), ("=", Operator::Equal)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

/// The deepest nesting of expressions.
const MOST_LEVELS: usize = 200;

/// Parses a program.
///
/// # Errors
/// If the text is not a program; the error has the position.
pub fn parse(text: &str) -> Result<Program, SyntaxError> {
    let mut parser = Parser { tokens: tokens(text), next: 0, depth: 0 };
    let mut program = Program::default();
    while !parser.peek().is_empty() {
        if parser.take("fn") {
            program.functions.push(parser.function()?);
        } else if parser.take("show") {
            program.shown.push(parser.expression()?);
        } else {
            return Err(parser.error("`fn` or `show`"));
        }
        parser.expect(";", "`;`")?;
    }
    Ok(program)
}

/// Splits the text into names, numbers and signs; the last token is empty. A `#` begins a comment.
fn tokens(text: &str) -> Vec<(&str, Position)> {
    let mut tokens = Vec::new();
    let mut line = 1;
    for source in text.lines() {
        let code = source.split('#').next().unwrap_or_default();
        let mut rest = code.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let end = if is_word(first) { rest.find(|c| !is_word(c)) } else { Some(first.len_utf8()) };
            let (token, behind) = rest.split_at(end.unwrap_or(rest.len()));
            tokens.push((token, position(line, &code[..code.len() - rest.len()])));
            rest = behind.trim_start();
        }
        line += 1;
    }
    tokens.push(("", position(line, "")));
    tokens
}

/// Returns the position after the first characters of a line.
fn position(line: u32, before: &str) -> Position {
    Position { line, column: u32::try_from(before.chars().count()).map_or(u32::MAX, |count| count.saturating_add(1)) }
}

struct Parser<'a> {
    tokens: Vec<(&'a str, Position)>,
    next: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a str {
        self.tokens[self.next].0
    }

    fn at(&self) -> Position {
        self.tokens[self.next].1
    }

    fn error(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { at: self.at(), expected }
    }

    fn take(&mut self, token: &str) -> bool {
        let is_next = self.peek() == token;
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, token: &str, expected: &'static str) -> Result<(), SyntaxError> {
        if self.take(token) { Ok(()) } else { Err(self.error(expected)) }
    }

    fn name(&mut self) -> Result<String, SyntaxError> {
        let name = self.peek();
        if !name.starts_with(|c: char| c.is_alphabetic()) || ["fn", "show", "if", "then", "else"].contains(&name) {
            return Err(self.error("a name"));
        }
        self.next += 1;
        Ok(name.to_owned())
    }

    /// Parses items with commas between them, up to a closing parenthesis.
    fn list<T>(&mut self, item: fn(&mut Self) -> Result<T, SyntaxError>) -> Result<Vec<T>, SyntaxError> {
        let mut items = Vec::new();
        while !self.take(")") {
            if !items.is_empty() {
                self.expect(",", "`,` or `)`")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn function(&mut self) -> Result<Function, SyntaxError> {
        let name = self.name()?;
        self.expect("(", "`(`")?;
        let parameters = self.list(Self::name)?;
        self.expect("=", "`=`")?;
        Ok(Function { name, parameters, body: self.expression()? })
    }

    fn expression(&mut self) -> Result<Expr, SyntaxError> {
        if self.depth == MOST_LEVELS {
            return Err(self.error("fewer levels of expressions"));
        }
        self.depth += 1;
        let expr = self.binary(0);
        self.depth -= 1;
        expr
    }

    fn binary(&mut self, level: usize) -> Result<Expr, SyntaxError> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| *sign == self.peek()) {
            let at = self.at();
            self.next += 1;
            let right = self.binary(level + 1)?;
            left = Expr { at, form: Form::Binary(*operator, Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, SyntaxError> {
        let at = self.at();
        if self.take("-") {
            if self.depth == MOST_LEVELS {
                return Err(self.error("fewer levels of expressions"));
            }
            self.depth += 1;
            let expr = self.unary()?;
            self.depth -= 1;
            return Ok(Expr { at, form: Form::Negative(Box::new(expr)) });
        }
        if self.take("(") {
            let inner = self.expression()?;
            self.expect(")", "`)`")?;
            return Ok(inner);
        }
        if self.take("if") {
            let condition = self.expression()?;
            self.expect("then", "`then`")?;
            let then = self.expression()?;
            self.expect("else", "`else`")?;
            return Ok(Expr { at, form: Form::If(Box::new([condition, then, self.expression()?])) });
        }
        if self.peek().starts_with(|c: char| c.is_ascii_digit()) {
            let number = self.peek().parse().map_err(|_| self.error("a number of at most 63 bits"))?;
            self.next += 1;
            return Ok(Expr { at, form: Form::Number(number) });
        }
        let name = self.name().map_err(|error| SyntaxError { expected: "an expression", ..error })?;
        let form = if self.take("(") { Form::Call(name, self.list(Self::expression)?) } else { Form::Name(name) };
        Ok(Expr { at, form })
    }
}
