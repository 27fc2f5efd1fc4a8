//! Parts of a patch, each a change of its own, and the files that any selection of them makes.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use super::{
    aligned, finer,
    items::Items,
    lines::{self, LineHunk},
    trees::{ChangedFile, FileMode, FileVersion},
};

/// The difference between two trees, divided into parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patch {
    files: Vec<ChangedFile>,
    parts: Vec<PatchPart>,
    /// Files that a work tree has, and no selection.
    removed: Vec<PathBuf>,
}

/// A part of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatchPart {
    /// The index of the file.
    file: usize,
    /// The part of the difference between both versions of the file.
    pub(crate) piece: Piece,
}

/// A part of the difference between two versions of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The file is new.
    Added,
    /// The file is deleted.
    Deleted,
    /// The file has another name.
    Renamed,
    /// The file has another mode.
    Mode,
    /// The content has changed, and has no lines: the file is binary, or a link.
    Content,
    /// Lines have changed.
    Lines(LineHunk),
}

/// The files of a selection, by path. `None`: there is no such file.
pub(crate) type Composition<'a> = BTreeMap<&'a PathBuf, Option<FileVersion>>;

impl Patch {
    /// Divides the differences of files into parts.
    pub(crate) fn new(files: Vec<ChangedFile>) -> Self {
        let mut parts = Vec::new();
        for (file, changed) in files.iter().enumerate() {
            parts.extend(pieces(changed).into_iter().map(|piece| PatchPart { file, piece }));
        }
        Self { files, parts, removed: Vec::new() }
    }

    /// Divides the difference between two selections of a patch into smaller parts: lines that resemble each other.
    pub(crate) fn finer(before: &Composition<'_>, after: &Composition<'_>) -> Self {
        let (mut files, mut removed) = (Vec::new(), Vec::new());
        for (&path, old) in before {
            match (old.clone(), after.get(path).cloned().flatten()) {
                (None, None) => removed.push(path.clone()),
                (old, new) => files.push(ChangedFile { old, new }),
            }
        }
        let Self { files, parts, .. } = Self::new(files);
        let divided = |part: &PatchPart| match (&part.piece, &files[part.file]) {
            (Piece::Lines(hunk), ChangedFile { old: Some(old), new: Some(new) }) => {
                let (old, new) = (lines::split(&old.content), lines::split(&new.content));
                finer::divided(hunk, &old, &new).into_iter().map(Piece::Lines).collect()
            }
            (piece, _) => vec![piece.clone()],
        };
        let parts = parts.iter().flat_map(|part| {
            let file = part.file;
            divided(part).into_iter().map(move |piece| PatchPart { file, piece })
        });
        Self { parts: parts.collect(), files, removed }
    }

    /// Returns the parts, in the order of their files and lines.
    pub(crate) fn parts(&self) -> &[PatchPart] {
        &self.parts
    }

    /// Returns the number of files with changes.
    pub(crate) fn file_count(&self) -> usize {
        self.parts.iter().map(|part| part.file).collect::<BTreeSet<_>>().len()
    }

    /// Returns the file of a part.
    pub(crate) fn file_of(&self, part: &PatchPart) -> &ChangedFile {
        &self.files[part.file]
    }

    /// Returns true if two parts are of the same file.
    pub(crate) fn is_of_same_file(one: &PatchPart, other: &PatchPart) -> bool {
        one.file == other.file
    }

    /// Returns the lines that a part removes, with their first line from 1.
    pub(crate) fn removed(&self, part: &PatchPart) -> (usize, Vec<&[u8]>) {
        let file = self.file_of(part);
        let old = file.old.as_ref().map_or(&[][..], |old| &old.content);
        match &part.piece {
            Piece::Lines(hunk) => (hunk.old.start + 1, lines::split(old)[hunk.old.clone()].to_vec()),
            Piece::Deleted => (1, lines::split(old)),
            _ => (1, Vec::new()),
        }
    }

    /// Returns the lines that a part adds, with their first line from 1.
    pub(crate) fn added(&self, part: &PatchPart) -> (usize, Vec<&[u8]>) {
        let file = self.file_of(part);
        let new = file.new.as_ref().map_or(&[][..], |new| &new.content);
        match &part.piece {
            Piece::Lines(hunk) => (hunk.new.start + 1, lines::split(new)[hunk.new.clone()].to_vec()),
            Piece::Added => (1, lines::split(new)),
            _ => (1, Vec::new()),
        }
    }

    /// Returns the files that a selection of parts makes from the old tree, among those that differ.
    pub(crate) fn compose(&self, is_enabled: impl Fn(usize) -> bool) -> Composition<'_> {
        let mut made = Composition::new();
        let paths = self.files.iter().flat_map(|file| [&file.old, &file.new]).flatten().map(|version| &version.path);
        made.extend(paths.chain(&self.removed).map(|path| (path, None)));
        let mut parts = self.parts.iter().enumerate().peekable();
        for (number, file) in self.files.iter().enumerate() {
            let mut enabled = Vec::new();
            while let Some((index, part)) = parts.next_if(|(_, part)| part.file == number) {
                if is_enabled(index) {
                    enabled.push(&part.piece);
                }
            }
            if let Some((path, version)) = version(file, &enabled) {
                made.insert(path, Some(version));
            }
        }
        made
    }

    /// Returns pairs of parts of which neither can be applied without the other: a file takes the place of a directory,
    /// or a directory that of a file.
    pub(crate) fn conflicts(&self) -> Vec<(usize, usize)> {
        let of = |is_wanted: fn(&Piece) -> bool| {
            let parts = self.parts.iter().enumerate().filter(move |(_, part)| is_wanted(&part.piece));
            parts.map(|(index, part)| (index, self.file_of(part)))
        };
        let mut conflicts = Vec::new();
        for (made, file) in of(|piece| matches!(piece, Piece::Added | Piece::Renamed)) {
            let Some(new) = &file.new else { continue };
            for (gone, file) in of(|piece| matches!(piece, Piece::Deleted | Piece::Renamed)) {
                let is_in_the_way =
                    |old: &FileVersion| old.path.starts_with(&new.path) || new.path.starts_with(&old.path);
                if made != gone && file.old.as_ref().is_some_and(is_in_the_way) {
                    conflicts.push((gone, made));
                }
            }
        }
        conflicts
    }

    /// Returns the line of the old version that stands on a line of a selection, and the part that made the line, if
    /// one did. Lines count from 0.
    pub(crate) fn origin(&self, path: &PathBuf, line: usize, is_enabled: impl Fn(usize) -> bool) -> Option<Origin> {
        let of_file = |file: &ChangedFile| [&file.old, &file.new].into_iter().flatten().any(|v| v.path == *path);
        let number = self.files.iter().position(of_file)?;
        let (mut from, mut old) = (0, 0);
        for (index, part) in self.parts.iter().enumerate().filter(|(_, part)| part.file == number) {
            match &part.piece {
                Piece::Added if is_enabled(index) => return Some(Origin::Added(index)),
                Piece::Lines(hunk) if is_enabled(index) => {
                    let unchanged = hunk.old.start - old;
                    if line < from + unchanged {
                        break;
                    }
                    from += unchanged;
                    if line < from + hunk.new.len() {
                        return Some(Origin::Added(index));
                    }
                    from += hunk.new.len();
                    old = hunk.old.end;
                }
                _ => {}
            }
        }
        Some(Origin::Old { file: number, line: old + line.saturating_sub(from) })
    }

    /// Returns the disabled parts that would replace a line of the old version of a file, or stand directly beside it.
    pub(crate) fn replacing(&self, file: usize, line: usize) -> impl Iterator<Item = usize> {
        self.parts
            .iter()
            .enumerate()
            .filter(move |(_, part)| {
                part.file == file
                    && match &part.piece {
                        Piece::Lines(hunk) => hunk.old.start <= line + 1 && line <= hunk.old.end,
                        Piece::Deleted | Piece::Content => true,
                        Piece::Added | Piece::Renamed | Piece::Mode => false,
                    }
            })
            .map(|(index, _)| index)
    }
}

/// The origin of a line in a selection of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This part added it.
    Added(usize),
    /// It is in the old version of a file.
    Old {
        /// The index of the file.
        file: usize,
        /// The line, from 0.
        line: usize,
    },
}

/// Divides the difference of a file.
fn pieces(file: &ChangedFile) -> Vec<Piece> {
    let (old, new) = match (&file.old, &file.new) {
        (Some(old), Some(new)) => (old, new),
        (None, Some(_)) => return vec![Piece::Added],
        (Some(_), None) => return vec![Piece::Deleted],
        (None, None) => return Vec::new(),
    };
    let mut pieces = Vec::new();
    if old.path != new.path {
        pieces.push(Piece::Renamed);
    }
    if (old.mode == FileMode::Link) != (new.mode == FileMode::Link) {
        // A link and a file have nothing in common.
        pieces.push(Piece::Content);
        return pieces;
    }
    if old.mode != new.mode {
        pieces.push(Piece::Mode);
    }
    if old.content == new.content {
        return pieces;
    }
    if old.mode == FileMode::Link || is_binary(&old.content) || is_binary(&new.content) {
        pieces.push(Piece::Content);
        return pieces;
    }
    let (old, content) = (&old.content, &new.content);
    let is_rust = new.path.extension().is_some_and(|extension| extension == "rs");
    let hunks =
        if is_rust { along_items(aligned::hunks(old, content), old, content) } else { lines::hunks(old, content) };
    pieces.extend(hunks.into_iter().map(Piece::Lines));
    pieces
}

/// Returns true for content that git would call binary: a zero byte is near its beginning.
fn is_binary(content: &[u8]) -> bool {
    memchr::memchr(0, &content[..content.len().min(8000)]).is_some()
}

/// Divides hunks where an item begins in both versions, or where one version has no lines.
fn along_items(hunks: Vec<LineHunk>, old: &[u8], new: &[u8]) -> Vec<LineHunk> {
    if hunks.iter().all(|hunk| hunk.old.len().max(hunk.new.len()) < 2) {
        return hunks;
    }
    let (old, new) = (Items::of(old), Items::of(new));
    let mut divided = Vec::new();
    for hunk in hunks {
        let (before, after) = (old.starts_in(&hunk.old), new.starts_in(&hunk.new));
        let cuts: Vec<(usize, usize)> = if hunk.old.is_empty() {
            after.iter().map(|&(start, _)| (hunk.old.start, start)).collect()
        } else if hunk.new.is_empty() {
            before.iter().map(|&(start, _)| (start, hunk.new.start)).collect()
        } else {
            let mut next = 0;
            let same = before.iter().filter_map(|&(start, name)| {
                let found = after[next..].iter().position(|&(_, new)| new == name && !name.is_empty())? + next;
                next = found + 1;
                Some((start, after[found].0))
            });
            same.collect()
        };
        let mut from = (hunk.old.start, hunk.new.start);
        for cut in cuts.into_iter().chain([(hunk.old.end, hunk.new.end)]) {
            divided.push(LineHunk { old: from.0..cut.0, new: from.1..cut.1 });
            from = cut;
        }
    }
    divided
}

/// Returns the version of a file that some of its pieces make; `None` if there is no file.
fn version<'a>(file: &'a ChangedFile, enabled: &[&Piece]) -> Option<(&'a PathBuf, FileVersion)> {
    let (old, new) = match (&file.old, &file.new) {
        (None, Some(new)) => return enabled.contains(&&Piece::Added).then(|| (&new.path, new.clone())),
        (Some(old), None) => return (!enabled.contains(&&Piece::Deleted)).then(|| (&old.path, old.clone())),
        (Some(old), Some(new)) => (old, new),
        (None, None) => return None,
    };
    let path = if enabled.contains(&&Piece::Renamed) { &new.path } else { &old.path };
    if enabled.contains(&&Piece::Content) {
        return Some((path, FileVersion { path: path.clone(), ..new.clone() }));
    }
    let mode = if enabled.contains(&&Piece::Mode) { new.mode } else { old.mode };
    let hunks = enabled.iter().filter_map(|piece| if let Piece::Lines(hunk) = piece { Some(hunk) } else { None });
    let content = lines::apply(&old.content, &new.content, hunks);
    Some((path, FileVersion { path: path.clone(), mode, content }))
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
