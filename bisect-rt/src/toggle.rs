//! A toggle: the static behind an annotated place, and its decisions.

use std::{
    fmt,
    panic::Location,
    sync::atomic::{
        AtomicU8,
        Ordering::{Acquire, Release},
    },
};

use bisect_core::{ChangeId, Field, IdHasher, protocol::xxh3};

use crate::{
    config::{self, Setting},
    decision::{self, Nesting},
    fingerprint::Fingerprint,
    report::Text,
};

/// A place in the source that can be switched.
///
/// Its layout is told (`repr(C)`, here and below), because a library that was built apart from the program has the same
/// type by another compilation: `registry` reads both.
#[derive(Debug)]
#[repr(C)]
pub struct Toggle {
    pub(crate) name: &'static str,
    /// All toggles of a name have the same, and those of another name another.
    pub(crate) name_hash: u64,
    pub(crate) place: Place,
    pub(crate) key: Key,
    pub(crate) default: Default,
    /// What is known about this toggle: one of the constants below.
    state: AtomicU8,
}

// The first three are what an `Option<bool>` is in memory, so that a known decision is taken as it stands.
/// Off, whoever asks.
const OFF: u8 = 0;
/// On, whoever asks.
const ON: u8 = 1;
/// Nobody bisects this one.
const AT_DEFAULT: u8 = 2;
/// It depends on who asks.
const DEPENDS: u8 = 3;
/// Not asked yet.
const NEW: u8 = 4;

/// Where something stands in the source, as the compiler names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(C)]
pub struct Place {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// What the changes of a toggle are.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub enum Key {
    /// The place itself.
    Site,
    /// Who called it.
    Caller,
    /// The call stack, of at most so many frames.
    Stack(usize),
    /// The place itself, in this package, and what is compiled in.
    Build(Package, bool),
}

/// A package of cargo's.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Package {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// The most frames of a stack that a toggle may ask for.
pub(crate) const MAX_DEPTH: usize = 128;

/// What a toggle does when nobody bisects.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub enum Default {
    /// It is on.
    On,
    /// It is a gate: its body tells.
    Body,
}

impl Place {
    /// A place; line and column count from 1.
    #[must_use]
    pub const fn new(file: &'static str, line: u32, column: u32) -> Self {
        Self { file, line, column }
    }

    pub(crate) fn fields(&self) -> [Field<'static>; 3] {
        [Field::Str(self.file), Field::U64(self.line.into()), Field::U64(self.column.into())]
    }
}

impl Package {
    /// The lowest bits of the IDs of all its build-time changes.
    fn id(&self) -> ChangeId {
        ChangeId::of(&[Field::Str(self.name), Field::Str(self.version)])
    }
}

impl From<&Location<'static>> for Place {
    fn from(location: &Location<'static>) -> Self {
        Self::new(location.file(), location.line(), location.column())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Key {
    /// Call stacks of at most `depth` frames.
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
    /// A toggle that nobody has asked yet.
    #[must_use]
    pub const fn new(name: &'static str, place: Place, key: Key, default: Default) -> Self {
        Self { name, name_hash: xxh3::hash(name.as_bytes(), 0), place, key, default, state: AtomicU8::new(NEW) }
    }

    /// Whether this site is on; `None` if nobody bisects it.
    #[inline]
    pub fn site(&'static self) -> Option<bool> {
        match self.state.load(Acquire) {
            OFF => Some(false),
            ON => Some(true),
            AT_DEFAULT => None,
            _ => self.first_of_site(),
        }
    }

    #[cold]
    #[inline(never)]
    fn first_of_site(&'static self) -> Option<bool> {
        if let Known::Decision(decision) = self.known() {
            return decision;
        }
        let nesting = Nesting::enter()?;
        let id = self.id(&self.place, None);
        let decision = decision::first(&nesting, self, id, |text| self.describe(&self.place, text))?;
        // Only now, behind the report, may other threads act on it.
        self.state.store(if decision { ON } else { OFF }, Release);
        Some(decision)
    }

    // The others are cold for the callers' sake: what stands in the way of an inactive point is to be short.

    /// Whether this site is on for the value with this hash; `None` if nobody bisects it.
    #[cold]
    #[inline(never)]
    pub fn keyed_site(&'static self, value: u64) -> Option<bool> {
        match self.known() {
            Known::Decision(decision) => decision,
            Known::Depends => self.at(self.place, self.address(), Some(value)),
        }
    }

    /// Whether this toggle is on for its caller; `None` if nobody bisects it.
    #[cold]
    #[inline(never)]
    pub fn caller(&'static self, caller: &'static Location<'static>, value: Option<u64>) -> Option<bool> {
        match self.known() {
            Known::Decision(decision) => decision,
            Known::Depends => self.at(caller.into(), &raw const *caller as u64, value),
        }
    }

    /// Whether this toggle is on for the call stack; `None` if nobody bisects it. Never inlined, because the frame of
    /// its caller, the toggled function, is to be the first beyond this one's.
    #[cfg(feature = "stacks")]
    #[cold]
    #[inline(never)]
    pub fn stack(&'static self, value: Option<u64>) -> Option<bool> {
        match self.known() {
            Known::Decision(decision) => decision,
            Known::Depends => crate::stack::decide(self, value),
        }
    }

    /// The decision for a place, which `address` stands for in this process.
    fn at(&'static self, place: Place, address: u64, value: Option<u64>) -> Option<bool> {
        let mut fingerprint = Fingerprint::new(self.address(), value);
        fingerprint.add(address);
        let key = fingerprint.key();
        decision::seen(key).or_else(|| self.first_at(&place, value, key))
    }

    #[cold]
    #[inline(never)]
    fn first_at(&'static self, place: &Place, value: Option<u64>, key: u64) -> Option<bool> {
        let nesting = Nesting::enter()?;
        decision::first_of_key(&nesting, self, key, self.id(place, value), |text| self.describe(place, text))
    }

    /// What is known before asking who asks.
    #[inline]
    fn known(&self) -> Known {
        match self.state.load(Acquire) {
            ON => Known::Decision(Some(true)),
            OFF => Known::Decision(Some(false)),
            AT_DEFAULT => Known::Decision(None),
            DEPENDS => Known::Depends,
            _ => self.resolve(),
        }
    }

    #[cold]
    fn resolve(&self) -> Known {
        let (state, known) = match config::setting(self.name) {
            Setting::Default => (AT_DEFAULT, Known::Decision(None)),
            Setting::Fixed(on) => (if *on { ON } else { OFF }, Known::Decision(Some(*on))),
            Setting::Search(_) => (DEPENDS, Known::Depends),
        };
        self.state.store(state, Release);
        known
    }

    /// The ID of the change at a place: the toggle's own, or its caller's.
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

    /// The line that names the change at a place.
    pub(crate) fn describe(&self, place: &Place, text: &mut Text) {
        text.line(format_args!("{place} {}", self.name));
    }

    /// What tells this toggle from the others of the process.
    pub(crate) fn address(&self) -> u64 {
        &raw const *self as u64
    }
}

/// What a toggle knows without looking at who asks.
enum Known {
    /// The decision; `None`: nobody bisects this toggle.
    Decision(Option<bool>),
    /// It depends on who asks, or is not asked yet.
    Depends,
}
