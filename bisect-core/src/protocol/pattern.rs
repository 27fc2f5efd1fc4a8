//! Patterns: the texts that select changes.
//!
//! ```text
//! pattern = ""                                nobody is bisecting
//!         | "v"* "!"* ( "y" | "n" | terms )   v: reports are for people; !: inverts what is enabled, never what is reported
//! terms   = ["+"|"-"] suffix ( ("+"|"-") suffix )*      all + before all -; a leading - removes from everything
//! suffix  = "y" | [01]+ | "x" [0-9a-fA-F]+    the IDs that end in these bits; at most 64; y: every ID
//! ```
//! `n` is `!y`. The last term that matches an ID decides whether the pattern selects it.

use alloc::vec::Vec;
use core::{fmt, str::FromStr};

use crate::ChangeId;

/// A parsed pattern. Parsing what it displays gives it back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// Reports are for people: they carry text, not only the marker.
    pub verbose: bool,
    /// Selected changes are disabled, all others enabled.
    pub inverted: bool,
    /// What is selected, later terms over earlier ones: additions first, then removals. None: the empty pattern.
    terms: Vec<Term>,
}

/// One step of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// Select the changes whose IDs end so.
    Add(Suffix),
    /// Do not select them.
    Remove(Suffix),
}

/// The lowest bits of an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Suffix {
    bits: u64,
    len: u32,
}

impl Suffix {
    /// The suffix of every ID.
    pub const ALL: Self = Self { bits: 0, len: 0 };

    /// The lowest `len` bits of `bits`.
    ///
    /// # Panics
    /// If `len` is greater than 64.
    #[must_use]
    pub const fn new(bits: u64, len: u32) -> Self {
        assert!(len <= 64, "an ID has 64 bits");
        Self { bits: bits & mask(len), len }
    }

    /// The suffix that only this ID has.
    #[must_use]
    pub const fn exactly(id: ChangeId) -> Self {
        Self { bits: id.0, len: 64 }
    }

    /// Whether `id` ends in these bits.
    #[must_use]
    pub const fn matches(self, id: ChangeId) -> bool {
        id.0 & self.mask() == self.bits
    }

    pub(crate) const fn mask(self) -> u64 {
        mask(self.len)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.bits
    }
}

const fn mask(len: u32) -> u64 {
    if len == 0 { 0 } else { u64::MAX >> (64 - len) }
}

impl Pattern {
    /// The pattern that selects every change (`y`).
    #[must_use]
    pub fn all() -> Self {
        Self::new([Suffix::ALL], [])
    }

    /// The pattern that selects what ends in one of `add`, but not in one of `remove`.
    #[must_use]
    pub fn new(add: impl IntoIterator<Item = Suffix>, remove: impl IntoIterator<Item = Suffix>) -> Self {
        let mut terms: Vec<_> = add.into_iter().map(Term::Add).collect();
        terms.extend(remove.into_iter().map(Term::Remove));
        Self { verbose: false, inverted: false, terms }
    }

    /// The same pattern with the reports asked for as `verbose` says.
    #[must_use]
    pub fn verbose(self, verbose: bool) -> Self {
        Self { verbose, ..self }
    }

    /// The same selection, disabled instead of enabled if `inverted`.
    #[must_use]
    pub fn inverted(self, inverted: bool) -> Self {
        Self { inverted, ..self }
    }

    /// Whether this is the empty pattern: nobody is bisecting.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms, in order.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = match self.terms.as_slice() {
            [] => return Ok(()),
            // A leading `-` says the `y`.
            [Term::Add(Suffix::ALL), rest @ ..] if matches!(rest, [Term::Remove(_), ..]) => rest,
            terms => terms,
        };
        if self.verbose {
            f.write_str("v")?;
        }
        if self.inverted {
            if *terms == [Term::Add(Suffix::ALL)] {
                return f.write_str("n");
            }
            f.write_str("!")?;
        }
        for (i, term) in terms.iter().enumerate() {
            match term {
                Term::Add(suffix) if i == 0 => write!(f, "{suffix}")?,
                Term::Add(suffix) => write!(f, "+{suffix}")?,
                Term::Remove(suffix) => write!(f, "-{suffix}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Suffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len {
            0 => f.write_str("y"),
            len if len % 4 == 0 => write!(f, "x{:0width$x}", self.bits, width = len as usize / 4),
            len => write!(f, "{:0width$b}", self.bits, width = len as usize),
        }
    }
}

/// Why a text is no pattern, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The byte of the text at which it goes wrong; its length if it ends too early.
    pub offset: usize,
    /// What is wrong there.
    pub kind: ParseErrorKind,
}

/// What can be wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// A term, or what should follow `v`, `!` or `x`, is missing.
    MissingTerm,
    /// A character that cannot stand here.
    Unexpected(char),
    /// A term of more than 64 bits.
    TermTooLong,
    /// A `+` behind a `-`.
    AddAfterRemove,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ParseErrorKind::MissingTerm => f.write_str("a term is missing")?,
            ParseErrorKind::Unexpected(c) => write!(f, "unexpected {c:?}")?,
            ParseErrorKind::TermTooLong => f.write_str("a term has more than 64 bits")?,
            ParseErrorKind::AddAfterRemove => f.write_str("`+` after `-`")?,
        }
        write!(f, " at byte {}", self.offset)
    }
}

impl core::error::Error for ParseError {}

impl FromStr for Pattern {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let mut parser = Parser { text, at: 0 };
        let verbose = parser.skip_all(b'v') > 0;
        let inverted = parser.skip_all(b'!') % 2 == 1;
        if parser.rest() == "n" {
            return Ok(Self::all().verbose(verbose).inverted(!inverted));
        }
        let terms = parser.terms()?;
        Ok(Self { verbose, inverted, terms })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_all(&mut self, byte: u8) -> usize {
        let start = self.at;
        while self.take(byte) {}
        self.at - start
    }

    fn terms(&mut self) -> Result<Vec<Term>, ParseError> {
        let mut terms = Vec::new();
        let mut remove = self.take(b'-');
        if remove {
            terms.push(Term::Add(Suffix::ALL));
        } else {
            self.take(b'+');
        }
        loop {
            let suffix = self.suffix()?;
            terms.push(if remove { Term::Remove(suffix) } else { Term::Add(suffix) });
            match self.peek() {
                None => return Ok(terms),
                Some(b'+') if remove => return Err(self.error(ParseErrorKind::AddAfterRemove)),
                Some(b'+') => {}
                Some(b'-') => remove = true,
                Some(_) => return Err(self.unexpected()),
            }
            self.at += 1;
        }
    }

    fn suffix(&mut self) -> Result<Suffix, ParseError> {
        if self.take(b'y') {
            return Ok(Suffix::ALL);
        }
        let start = self.at;
        let bits_per_digit = if self.take(b'x') { 4 } else { 1 };
        let (mut bits, mut len) = (0, 0);
        while let Some(digit) = self.digit(1 << bits_per_digit) {
            len += bits_per_digit;
            if len > 64 {
                return Err(ParseError { offset: start, kind: ParseErrorKind::TermTooLong });
            }
            bits = bits << bits_per_digit | digit;
        }
        match (len, self.peek()) {
            (0, None | Some(b'+' | b'-')) => Err(self.error(ParseErrorKind::MissingTerm)),
            (0, Some(_)) => Err(self.unexpected()),
            _ => Ok(Suffix { bits, len }),
        }
    }

    fn digit(&mut self, radix: u32) -> Option<u64> {
        let digit = char::from(self.peek()?).to_digit(radix)?;
        self.at += 1;
        Some(digit.into())
    }

    fn unexpected(&self) -> ParseError {
        let c = self.rest().chars().next();
        self.error(c.map_or(ParseErrorKind::MissingTerm, ParseErrorKind::Unexpected))
    }

    fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError { offset: self.at, kind }
    }
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
