//! Change IDs: 64-bit hashes that name changes, equal at compile time and at run time.
//!
//! Patterns select by the lowest bits of an ID, so those bits must be as well distributed as all others. The lowest
//! bits of Go's FNV-1a depend only on the lowest bits of the input. XXH3 ends in an avalanche step. The length of each
//! field is hashed before the field, so that ("ab", "c") and ("a", "bc") are different changes.

use core::fmt;

use super::xxh3;

/// The name of a change: a 64-bit hash without further meaning to its users.
///
/// It is displayed as in markers:
/// ```
/// use bisect_core::ChangeId;
///
/// assert_eq!(ChangeId(0x3f).to_string(), "0x000000000000003f");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId(pub u64);

/// The number of low bits of a build-time ID that name its crate.
const CRATE_BITS: u32 = 16;
const CRATE_MASK: u64 = (1 << CRATE_BITS) - 1;

impl ChangeId {
    /// Returns the ID of `fields` in a constant; `N` is [`Field::encoded_len`] of the same fields.
    /// [`const_id!`](crate::const_id) computes `N`.
    ///
    /// ```
    /// use bisect_core::{ChangeId, Field};
    ///
    /// const FIELDS: &[Field<'static>] = &[Field::Str("fold"), Field::U64(12)];
    /// const ID: ChangeId = ChangeId::of_const::<{ Field::encoded_len(FIELDS) }>(FIELDS);
    /// assert_eq!(ID, ChangeId::of(FIELDS));
    /// ```
    ///
    /// # Panics
    /// If `N` is not that length. In a constant, this is a compile error.
    #[must_use]
    pub const fn of_const<const N: usize>(fields: &[Field<'_>]) -> Self {
        let mut bytes = [0; N];
        let mut end = 0;
        let mut i = 0;
        while i < fields.len() {
            end = fields[i].encode(&mut bytes, end);
            i += 1;
        }
        assert!(end == N, "N must be the encoded length of the fields");
        Self(xxh3::hash(&bytes, 0))
    }

    /// Returns the ID of `fields`, equal to [`of_const`](Self::of_const) of the same fields.
    ///
    /// Fields are delimited, so their borders matter:
    /// ```
    /// use bisect_core::{ChangeId, Field};
    ///
    /// let id = ChangeId::of(&[Field::Str("ab"), Field::Str("c")]);
    /// assert_ne!(id, ChangeId::of(&[Field::Str("a"), Field::Str("bc")]));
    /// ```
    #[must_use]
    pub fn of(fields: &[Field<'_>]) -> Self {
        let mut hasher = IdHasher::new();
        for &field in fields {
            hasher.field(field);
        }
        hasher.finish()
    }

    /// Returns this ID with its low 16 bits replaced by those of `crate_id`.
    ///
    /// Build-time changes carry their crate there. In the order of the search, the changes of a crate are then
    /// neighbours, so a search decides whole crates first and later trials rebuild few crates.
    ///
    /// ```
    /// use bisect_core::ChangeId;
    ///
    /// let change = ChangeId(0x1111_2222_3333_4444).in_crate(ChangeId(0xaaaa_bbbb_cccc_dddd));
    /// assert_eq!(change, ChangeId(0x1111_2222_3333_dddd));
    /// ```
    #[must_use]
    pub const fn in_crate(self, crate_id: Self) -> Self {
        Self(self.0 & !CRATE_MASK | crate_id.0 & CRATE_MASK)
    }
}

impl fmt::Display for ChangeId {
    /// Writes `0x` and 16 hex digits, as in markers and in the driver's JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x}", self.0)
    }
}

impl fmt::Debug for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChangeId({self})")
    }
}

/// One of the values from which an ID is hashed.
#[derive(Clone, Copy, Debug)]
pub enum Field<'a> {
    /// A text.
    Str(&'a str),
    /// A number, encoded as eight bytes, least significant first.
    U64(u64),
}

/// Number of bytes before each field: its length, as a `u64`, least significant byte first.
const LENGTH_BYTES: usize = 8;

impl Field<'_> {
    /// Returns the number of bytes of the encoded `fields`, lengths included: the parameter of
    /// [`ChangeId::of_const`].
    ///
    /// ```
    /// use bisect_core::Field;
    ///
    /// assert_eq!(Field::encoded_len(&[Field::Str("fold"), Field::U64(12)]), (8 + 4) + (8 + 8));
    /// ```
    #[must_use]
    pub const fn encoded_len(fields: &[Field<'_>]) -> usize {
        let mut sum = 0;
        let mut i = 0;
        while i < fields.len() {
            sum += LENGTH_BYTES + fields[i].byte_len();
            i += 1;
        }
        sum
    }

    const fn byte_len(&self) -> usize {
        match self {
            Field::Str(text) => text.len(),
            Field::U64(_) => 8,
        }
    }

    /// Writes this field at `start` and returns its end.
    const fn encode(&self, out: &mut [u8], start: usize) -> usize {
        let at = copy(&(self.byte_len() as u64).to_le_bytes(), out, start);
        match self {
            Field::Str(text) => copy(text.as_bytes(), out, at),
            Field::U64(number) => copy(&number.to_le_bytes(), out, at),
        }
    }
}

/// Copies like `copy_from_slice` to a part of a slice, also in constants. Returns the end of the copy.
const fn copy(from: &[u8], to: &mut [u8], start: usize) -> usize {
    let mut i = 0;
    while i < from.len() {
        to[start + i] = from[i];
        i += 1;
    }
    start + from.len()
}

/// A hasher that takes fields one by one, where their number is not known in advance (a call stack).
///
/// ```
/// use bisect_core::{ChangeId, Field, IdHasher};
///
/// let mut hasher = IdHasher::new();
/// for name in ["main", "optimize", "fold"] {
///     hasher.field(Field::Str(name));
/// }
/// hasher.bytes(b"x + 0");
/// let fields = ["main", "optimize", "fold", "x + 0"].map(Field::Str);
/// assert_eq!(hasher.finish(), ChangeId::of(&fields));
/// ```
#[derive(Clone)]
pub struct IdHasher(xxh3::Hasher);

impl IdHasher {
    /// Returns a hasher that has no fields yet.
    #[must_use]
    pub fn new() -> Self {
        Self(xxh3::Hasher::new())
    }

    /// Adds one field.
    pub fn field(&mut self, field: Field<'_>) -> &mut Self {
        match field {
            Field::Str(text) => self.bytes(text.as_bytes()),
            Field::U64(number) => self.bytes(&number.to_le_bytes()),
        }
    }

    /// Adds one field of plain bytes; a text and its UTF-8 bytes are the same field.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Returns the ID of the fields so far. More fields may follow.
    #[must_use]
    pub fn finish(&self) -> ChangeId {
        ChangeId(self.0.digest())
    }
}

impl Default for IdHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for IdHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IdHasher").field(&self.finish()).finish()
    }
}

/// Computes a [`ChangeId`] at compile time, equal to [`ChangeId::of`] of the same fields. The fields are constants.
///
/// ```
/// use bisect_core::{ChangeId, Field, const_id};
///
/// const ID: ChangeId = const_id!(Field::Str("fold"), Field::Str(file!()), Field::U64(line!() as u64));
/// assert_eq!(const_id!(Field::Str("fold")), ChangeId::of(&[Field::Str("fold")]));
/// ```
#[macro_export]
macro_rules! const_id {
    ($($field:expr),+ $(,)?) => {{
        const FIELDS: &[$crate::Field<'static>] = &[$($field),+];
        const ID: $crate::ChangeId = $crate::ChangeId::of_const::<{ $crate::Field::encoded_len(FIELDS) }>(FIELDS);
        ID
    }};
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const PINNED: ChangeId = const_id!(Field::Str("newsort"), Field::Str("src/lib.rs"), Field::U64(12), Field::U64(5));

    #[test]
    fn ids_are_the_same_in_every_release() {
        // Computed with another implementation of XXH3 (the Python package `xxhash`). A changed value breaks every
        // pattern that a user has written down.
        assert_eq!(PINNED, ChangeId(0xe655_b4dd_710c_419b));
        assert_eq!(ChangeId::of(&[]), ChangeId(0x2d06_8005_38d3_94c2));
        assert_eq!(ChangeId::of(&[Field::Str("")]), ChangeId(0xc77b_3abb_6f87_acd9));
        assert_eq!(ChangeId::of(&[Field::U64(u64::MAX)]), ChangeId(0x08fb_d09c_a6e3_2ebe));
        // Computed with the implementation of bisect-core 0.1.0: an input that is hashed in blocks, and the seeds of
        // stacks.
        assert_eq!(ChangeId::of(&[Field::Str("uvwxyz"); 40]), ChangeId(0xcc42_5196_c40c_a39a));
        assert_eq!(xxh3::hash(&[7; 3000], 5), 0x481d_788a_2b69_e849);
    }

    #[test]
    fn hashes_at_run_time_are_those_of_constants() {
        for len in [0, 3, 8, 16, 100, 240, 241, 1024, 3000] {
            let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(len).collect();
            for seed in [0, 1, 1 << 63, u64::MAX] {
                assert_eq!(xxh3::run_time_hash(&bytes, seed), xxh3::hash(&bytes, seed), "{len} bytes, seed {seed:#x}");
            }
        }
    }

    #[test]
    fn constant_and_run_time_ids_agree() {
        let fields = [Field::Str("newsort"), Field::Str("src/lib.rs"), Field::U64(12), Field::U64(5)];
        assert_eq!(ChangeId::of(&fields), PINNED);
        let long = Field::Str("0123456789abcdefghijklmnopqrstuvwxyz".split_at(30).1);
        assert_eq!(ChangeId::of(&[long; 40]), ChangeId::of_const::<{ 40 * 14 }>(&[long; 40]));
    }

    #[test]
    fn fields_are_delimited() {
        assert_ne!(
            ChangeId::of(&[Field::Str("ab"), Field::Str("c")]),
            ChangeId::of(&[Field::Str("a"), Field::Str("bc")])
        );
        assert_ne!(ChangeId::of(&[Field::Str("ab")]), ChangeId::of(&[Field::Str("ab"), Field::Str("")]));
    }

    #[test]
    fn low_bits_of_neighbouring_lines_are_mixed() {
        // Go's hash gives the same three low bits to 31 of 32 sites on lines divisible by 8.
        let mut seen = [0; 8];
        for line in (8..=8 * 512).step_by(8) {
            let id = ChangeId::of(&[Field::Str("src/lib.rs"), Field::U64(line)]);
            seen[usize::try_from(id.0 & 7).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&n| (40..=90).contains(&n)), "512 lines over 8 residues: {seen:?}");
    }

    #[test]
    fn build_time_ids_carry_their_crate_in_the_low_16_bits() {
        let id = ChangeId(0x1111_2222_3333_4444).in_crate(ChangeId(0xaaaa_bbbb_cccc_dddd));
        assert_eq!(id, ChangeId(0x1111_2222_3333_dddd));
    }
}
