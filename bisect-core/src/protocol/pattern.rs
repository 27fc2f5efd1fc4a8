//! Patterns: the texts that select changes.
//!
//! ```text
//! pattern = ""                                there is no search
//!         | "v"* "!"* ( "y" | "n" | terms )   v: reports are for people; !: inverts what is enabled, not reports
//! terms   = ["+"|"-"] suffix ( ("+"|"-") suffix )*      all + before all -; a leading - removes from everything
//! suffix  = "y" | [01]+ | "x" [0-9a-fA-F]+    the IDs that end in these bits; at most 64; y: every ID
//! ```
//! `n` is `!y`. The last term that matches an ID decides if the pattern selects it.

use alloc::vec::Vec;
use core::{fmt, str::FromStr};

use crate::ChangeId;

/// A parsed pattern. Parsing its displayed text gives an equal pattern. The default is the empty pattern.
///
/// ```text
/// pattern = ""                                there is no search
///         | "v"* "!"* ( "y" | "n" | terms )   v: reports are for people; !: inverts what is enabled, not reports
/// terms   = ["+"|"-"] suffix ( ("+"|"-") suffix )*      all + before all -; a leading - removes from everything
/// suffix  = "y" | [01]+ | "x" [0-9a-fA-F]+    the IDs that end in these bits; at most 64; y: every ID
/// ```
/// `n` is `!y`. The last term that matches an ID decides if the pattern selects it.
///
/// ```
/// use bisect_core::{ChangeId, ParseErrorKind, Pattern, Suffix, Term};
///
/// let pattern: Pattern = "v!01+x3f-1101".parse()?;
/// assert!(pattern.verbose && pattern.inverted);
/// assert_eq!(pattern.terms()[1], Term::Add(Suffix::new(0x3f, 8)));
/// assert_eq!(pattern.terms()[2], Term::Remove(Suffix::new(0b1101, 4)));
/// assert_eq!(pattern.to_string().parse::<Pattern>()?, pattern);
///
/// let error = "01-1+1".parse::<Pattern>().unwrap_err();
/// assert_eq!((error.offset, error.kind), (4, ParseErrorKind::AddAfterRemove));
/// # Ok::<(), bisect_core::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// Reports are for people: they carry text, not only the marker.
    pub verbose: bool,
    /// Selected changes are disabled, all others enabled.
    pub inverted: bool,
    /// The selection: additions first, then removals; later terms override earlier ones. No terms: the empty pattern.
    terms: Vec<Term>,
}

/// One step of a pattern. The last step that matches an ID decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// Selects the changes whose IDs have this suffix.
    Add(Suffix),
    /// Deselects the changes whose IDs have this suffix.
    Remove(Suffix),
}

/// The lowest bits of an ID, at most 64. Hex digits are displayed if their number is whole, else binary ones.
///
/// ```
/// use bisect_core::{ChangeId, Suffix};
///
/// let suffix = Suffix::new(0b101, 3);
/// assert!(suffix.matches(ChangeId(0b1101)) && !suffix.matches(ChangeId(0b1111)));
/// assert_eq!([suffix, Suffix::new(0x3f, 8), Suffix::ALL].map(|suffix| suffix.to_string()), ["101", "x3f", "y"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Suffix {
    bits: u64,
    len: u32,
}

impl Suffix {
    /// The suffix of every ID.
    pub const ALL: Self = Self { bits: 0, len: 0 };

    /// Returns the suffix of the lowest `len` bits of `bits`.
    ///
    /// # Panics
    /// If `len` is greater than 64.
    #[must_use]
    pub const fn new(bits: u64, len: u32) -> Self {
        assert!(len <= 64, "an ID has 64 bits");
        Self { bits: bits & mask(len), len }
    }

    /// Returns the suffix of all 64 bits, which only this ID has.
    #[must_use]
    pub const fn exactly(id: ChangeId) -> Self {
        Self { bits: id.0, len: 64 }
    }

    /// Returns true if `id` ends in these bits.
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
    /// Returns the pattern that selects every change (`y`).
    #[must_use]
    pub fn all() -> Self {
        Self::new([Suffix::ALL], [])
    }

    /// Returns the pattern that selects the IDs with a suffix in `add` and none in `remove`. Without a suffix in either,
    /// it is the empty pattern.
    ///
    /// ```
    /// use bisect_core::{ChangeId, Pattern, Suffix};
    ///
    /// let pattern = Pattern::new([Suffix::new(0b1, 1)], [Suffix::exactly(ChangeId(0x3f))]).verbose(true);
    /// assert_eq!(pattern.to_string(), "v1-x000000000000003f");
    /// assert_eq!(Pattern::all().inverted(true).to_string(), "n");
    /// assert!(Pattern::new([], []).is_empty());
    /// ```
    #[must_use]
    pub fn new(add: impl IntoIterator<Item = Suffix>, remove: impl IntoIterator<Item = Suffix>) -> Self {
        let mut terms: Vec<_> = add.into_iter().map(Term::Add).collect();
        terms.extend(remove.into_iter().map(Term::Remove));
        Self { verbose: false, inverted: false, terms }
    }

    /// Returns the same pattern with `verbose` set: reports with text, or markers only.
    #[must_use]
    pub fn verbose(self, verbose: bool) -> Self {
        Self { verbose, ..self }
    }

    /// Returns the same selection, disabled instead of enabled if `inverted`.
    #[must_use]
    pub fn inverted(self, inverted: bool) -> Self {
        Self { inverted, ..self }
    }

    /// Returns true if this is the empty pattern, which means that there is no search.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the terms, in order.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = match self.terms.as_slice() {
            [] => return Ok(()),
            // A leading `-` implies the `y`.
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

/// The reason why a text is no pattern, and its position. The message is a phrase with the byte, for a line that names
/// the option or variable before it.
///
/// ```
/// use bisect_core::Pattern;
///
/// let error = "x3+z".parse::<Pattern>().unwrap_err();
/// assert_eq!(format!("MY_PATTERN: {error}"), "MY_PATTERN: unexpected 'z' at byte 3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The byte of the text at which the error is; the length of the text if it ends too early.
    pub offset: usize,
    /// The kind of error.
    pub kind: ParseErrorKind,
}

/// The kinds of errors in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// A term is missing, or the text required after `v`, `!` or `x`.
    MissingTerm,
    /// A character that is not allowed here.
    Unexpected(char),
    /// A term of more than 64 bits.
    TermTooLong,
    /// A `+` after a `-`.
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

    /// Parses a pattern.
    ///
    /// # Errors
    /// If the text does not have the form of a [`Pattern`]; the error names the byte.
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
