//! Places: pieces of syntax whose meaning differs between editions 2021 and 2024.
//!
//! The survey and the session that decides share nothing but the source text. So a place is identified by its position
//! in that text. Code from a macro has its position in the macro, so that all expansions are one place.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use bisect_core::Field;
use rustc_middle::ty::TyCtxt;
use rustc_session::config::Input;
use rustc_span::{
    BytePos, FileName, SourceFile, Span, StableSourceFileId,
    def_id::{CrateNum, LOCAL_CRATE, StableCrateId},
};

use super::origin::{self, Origin};

/// The kind of syntax of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A block, for the temporaries of the expression at its end.
    Tail,
    /// An `if` with a `let` in its condition, for the temporaries of the condition.
    If,
    /// A `while` with a `let` in its condition. rustc lowers it to an `if` with a `let`, but the `else` only leaves the
    /// loop, so that the difference is not observable.
    While,
    /// The method name in a call of `into_iter`, for boxed slices.
    IntoIter,
    /// An `impl Trait`, for the lifetimes that it captures.
    ImplTrait,
    /// The whole crate.
    Crate,
}

impl Kind {
    /// Returns the name of the kind in reports and IDs.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tail => "tail of a block",
            Self::If => "if let",
            Self::While => "while let",
            Self::IntoIter => "call of into_iter",
            Self::ImplTrait => "impl Trait",
            Self::Crate => "crate",
        }
    }

    /// Returns true if the place determines the scopes of temporaries.
    pub(super) const fn is_scope(self) -> bool {
        matches!(self, Self::Tail | Self::If | Self::While)
    }
}

/// A place, identified by its position in the source text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    /// The crate that wrote the place.
    pub(super) writer: StableCrateId,
    file: Arc<str>,
    /// The line and column where the place starts, both from 1.
    start: (usize, usize),
    end: (usize, usize),
    pub(super) kind: Kind,
}

impl Place {
    /// Returns the place of this kind at a span.
    pub(super) fn new(tcx: TyCtxt<'_>, span: Span, kind: Kind) -> Self {
        let map = tcx.sess.source_map();
        let position = |at: BytePos| {
            let at = map.lookup_char_pos(at);
            (at.line, at.col.0 + 1)
        };
        let file = file(tcx, &map.lookup_source_file(span.lo()));
        let writer = tcx.stable_crate_id(origin::home(span));
        Self { writer, file, start: position(span.lo()), end: position(span.hi()), kind }
    }

    /// Returns the place for the whole compiled crate.
    pub(super) fn krate(tcx: TyCtxt<'_>) -> Self {
        let writer = tcx.stable_crate_id(LOCAL_CRATE);
        Self { writer, file: Arc::default(), start: (1, 1), end: (1, 1), kind: Kind::Crate }
    }

    /// Returns the crate that wrote the place, which is one of the origins.
    ///
    /// # Panics
    /// If the crate is none of the origins: then the place is in no survey.
    pub(super) fn origin(&self, tcx: TyCtxt<'_>) -> &'static Origin {
        &origin::all(tcx)[&self.writer]
    }

    /// Returns the fields of the place's ID, except the crate. They do not depend on the directory of the source on
    /// this machine.
    pub(super) fn fields(&self) -> [Field<'_>; 6] {
        let number = |number: usize| Field::U64(number as u64);
        let [(line, column), (end_line, end_column)] = [self.start, self.end];
        [
            Field::Str(&self.file),
            number(line),
            number(column),
            number(end_line),
            number(end_column),
            Field::Str(self.kind.name()),
        ]
    }
}

/// Returns a name of a source file that is the same on every machine: its path relative to the folder of the crate's
/// first file. A file elsewhere, like one from a build script, is identified by its contents.
fn file(tcx: TyCtxt<'_>, file: &SourceFile) -> Arc<str> {
    // The names are kept for both sessions, which read the same files.
    static NAMES: Mutex<BTreeMap<StableSourceFileId, Arc<str>>> = Mutex::new(BTreeMap::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.entry(file.stable_id).or_insert_with(|| name(tcx, file).into()).clone()
}

fn name(tcx: TyCtxt<'_>, file: &SourceFile) -> String {
    let inside = || Some(path(file)?.strip_prefix(root(tcx, file.cnum)?.parent()?).ok()?.to_owned());
    if let Some(path) = inside() {
        let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        return parts.join("/");
    }
    let mut name = String::from("#");
    for byte in file.src_hash.hash_bytes() {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

/// Returns the path of the first file of a crate.
fn root(tcx: TyCtxt<'_>, krate: CrateNum) -> Option<PathBuf> {
    if krate == LOCAL_CRATE {
        let first = match &tcx.sess.io.input {
            Input::File(path) => path,
            // If the crate is read from standard input, its files are relative to the working directory.
            Input::Str { .. } => Path::new("-"),
        };
        return std::path::absolute(first).ok();
    }
    path(&tcx.sess.source_map().lookup_source_file(tcx.def_span(krate.as_def_id()).lo()))
}

fn path(file: &SourceFile) -> Option<PathBuf> {
    let FileName::Real(name) = &file.name else { return None };
    std::path::absolute(name.local_path()?).ok()
}
