//! A toggle: the static of an annotated place.

use std::{
    fmt,
    panic::Location,
    sync::atomic::{AtomicU8, AtomicU64},
};

use bisect_core::{ChangeId, Field, IdHasher, protocol::xxh3};

/// A place in the source that can be switched.
///
/// Its layout is fixed (`repr(C)`, here and below), because a library that was built apart from the program contains
/// the same type from another compilation, and `registry` reads both.
#[derive(Debug)]
#[repr(C)]
pub struct Toggle {
    pub(crate) name: &'static str,
    /// The hash of the name, equal for all toggles with the same name.
    pub(crate) name_hash: u64,
    pub(crate) place: Place,
    pub(crate) key: Key,
    pub(crate) default: Default,
    /// The known part of the decision, one of the values in [`state`]. Only `decide` uses it.
    pub(super) state: AtomicU8,
    /// The value of `BISECT_FIX` with which the place was compiled.
    pub(crate) fix: Option<&'static str>,
    /// The number of decisions that a setting made differently from the default. Only `count` uses it.
    pub(super) count: AtomicU64,
}

/// The known part of a toggle's decision. The first three values are those of an `Option<bool>` in memory, so a known
/// decision needs no conversion.
pub(super) mod state {
    /// Off for all changes.
    pub(in crate::active) const OFF: u8 = 0;
    /// On for all changes.
    pub(in crate::active) const ON: u8 = 1;
    /// Not bisected.
    pub(in crate::active) const AT_DEFAULT: u8 = 2;
    /// On or off for each change separately.
    pub(in crate::active) const DEPENDS: u8 = 3;
    /// Off for all changes by a setting, which is not the default: decisions are counted.
    pub(in crate::active) const COUNTED_OFF: u8 = 4;
    /// On for all changes by a setting, which is not the default: decisions are counted.
    pub(in crate::active) const COUNTED_ON: u8 = 5;
    /// Not looked up yet.
    pub(in crate::active) const NEW: u8 = 6;
}

/// A place in the source, as the compiler names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(C)]
pub struct Place {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The kind of changes that a toggle has.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub enum Key {
    /// The place itself.
    Site,
    /// The places that call it.
    Caller,
    /// The call stacks, of at most this number of frames.
    Stack(usize),
    /// The place itself, in this package; true if the change is compiled in.
    Build(Package, bool),
}

/// A package of cargo.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Package {
    /// The name of the package.
    pub name: &'static str,
    /// The version of the package.
    pub version: &'static str,
}

/// The maximum depth of a toggle by stack, in frames.
pub(crate) const MAX_DEPTH: usize = 128;

/// The behaviour of a toggle that is not bisected.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub enum Default {
    /// The toggle is on.
    On,
    /// The toggle is a gate: its body decides.
    Body,
}

impl Place {
    /// Makes a place; line and column count from 1.
    #[must_use]
    pub const fn new(file: &'static str, line: u32, column: u32) -> Self {
        Self { file, line, column }
    }

    pub(crate) fn fields(&self) -> [Field<'static>; 3] {
        [Field::Str(self.file), Field::U64(self.line.into()), Field::U64(self.column.into())]
    }
}

impl Package {
    /// Returns the hash that gives the lowest bits of the IDs of all build-time changes in this package.
    fn id(&self) -> ChangeId {
        ChangeId::of(&[Field::Str(self.name), Field::Str(self.version)])
    }
}

impl From<&'static Location<'static>> for Place {
    fn from(location: &'static Location<'static>) -> Self {
        Self::new(location.file(), location.line(), location.column())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Key {
    /// Returns the key for call stacks of at most `depth` frames.
    ///
    /// # Panics
    /// If `depth` is 0 or more than 128; in a static that is a compile error.
    #[must_use]
    pub const fn stack(depth: usize) -> Self {
        assert!(depth >= 1 && depth <= MAX_DEPTH, "the depth of a stack is 1 to 128 frames");
        Self::Stack(depth)
    }
}

impl Toggle {
    /// Makes a toggle that is not looked up yet.
    #[must_use]
    pub const fn new(name: &'static str, place: Place, key: Key, default: Default, fix: Option<&'static str>) -> Self {
        Self {
            name,
            name_hash: xxh3::hash(name.as_bytes(), 0),
            place,
            key,
            default,
            state: AtomicU8::new(state::NEW),
            fix,
            count: AtomicU64::new(0),
        }
    }

    /// Returns the state in which this toggle is compiled, if it is fixed.
    #[inline(never)]
    pub(crate) fn fixed(&self) -> Option<bool> {
        // The macros have refused malformed values. So this is not the parser of patterns, which would make each
        // program with a toggle larger.
        let mut settings = self.fix?.as_bytes().split(|byte| *byte == b';');
        settings.find_map(|setting| match setting.strip_prefix(self.name.as_bytes())? {
            b"=on" => Some(true),
            b"=off" => Some(false),
            _ => None,
        })
    }

    /// Returns the ID of the change at a place: the toggle's own, or its caller's.
    pub(crate) fn id(&self, place: &Place, value: Option<u64>) -> ChangeId {
        let mut hasher = IdHasher::new();
        hasher.field(Field::Str(self.name));
        for field in place.fields() {
            hasher.field(field);
        }
        if let Some(value) = value {
            hasher.field(Field::U64(value));
        }
        let id = hasher.finish();
        match self.key {
            Key::Build(package, _) => id.in_crate(package.id()),
            Key::Site | Key::Caller | Key::Stack(_) => id,
        }
    }

    /// Returns the text that names the change at a place.
    pub(crate) fn title(&self, place: &Place) -> impl fmt::Display {
        struct Title(Place, &'static str);

        impl fmt::Display for Title {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {}", self.0, self.1)
            }
        }

        Title(*place, self.name)
    }

    /// Returns the address of the toggle, which is unique in the process.
    pub(crate) fn address(&self) -> u64 {
        &raw const *self as u64
    }
}
