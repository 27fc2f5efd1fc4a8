//! Imports between crates, rooms and files.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use crate::exceptions::Violation;
use crate::house::HOUSES;
use crate::modules::Crate;

/// An import: one file names an item of another file.
#[derive(Debug, Clone)]
struct Arrow {
    from: usize,
    to: usize,
    line: usize,
    path: String,
}

/// Returns the crate's files that are in no room of its table, if it has one.
pub(crate) fn files_without_room(krate: &Crate) -> Vec<Violation> {
    let outside = |file: &&String| !krate.house.rooms.is_empty() && floor(krate, file) == Floor::Outside;
    let message = || format!("in no room; move it into one of {}", krate.house.rooms.join(", "));
    krate.files.iter().filter(outside).map(|file| Violation::new("rooms", file, 1, message())).collect()
}

/// Returns imports of crates of this repository that the crate may not know.
pub(crate) fn between_crates(krate: &Crate) -> Vec<Violation> {
    let own = krate.house.name;
    let mut violations = Vec::new();
    for (index, module) in krate.modules.iter().enumerate() {
        let uses = module.facts.uses.iter().map(|import| (&import.path, import.line));
        let paths = module.facts.paths.iter().map(|path| (&path.segments, path.line));
        for (path, line) in uses.chain(paths) {
            let Some(other) = HOUSES.iter().find(|house| path.first().is_some_and(|name| name == house.name)) else {
                continue;
            };
            // A module may have the name of a crate.
            let is_local = krate.file_of(index, path).is_some();
            if !is_local && !krate.house.may_use.contains(&other.name) {
                let message = format!("{own} may not use {}; see `HOUSES`", other.name);
                violations.push(Violation::new("crates", &krate.files[module.file], line, message));
            }
        }
    }
    violations
}

/// Returns imports from a room above: one for each pair of files.
pub(crate) fn upward(krate: &Crate) -> Vec<Violation> {
    let rooms = krate.house.rooms;
    let mut violations = Vec::new();
    for Arrow { from, to, line, path } in first_arrows(krate) {
        let (file, target) = (&krate.files[from], &krate.files[to]);
        let (own, other) = (floor(krate, file), floor(krate, target));
        let message = match (own, other) {
            (Floor::Room(own), Floor::Room(other)) if other < own => {
                format!("`{}` uses `{path}` of `{}`, a room above it", rooms[own], rooms[other])
            }
            (Floor::Room(own), Floor::Root) => format!("`{}` uses `{path}` of {target}, above all rooms", rooms[own]),
            _ => continue,
        };
        let message = format!("{message}; move what both need down, or pass it as an argument");
        violations.push(Violation::new("floors", file, line, message));
    }
    violations
}

/// Returns the files of a room that import each other in a circle, each with a shortest way back to itself.
///
/// Two relations between a module and its children are no arrows. First, a module's file may re-export items of its
/// children (`pub use child::Name`); an import of that name leads to the file that defines it. Second, a child may name
/// items of the modules around it, because it is a part of them: `super::Name`.
pub(crate) fn circles(krate: &Crate) -> Vec<Violation> {
    let mut next: BTreeMap<usize, Vec<Arrow>> = BTreeMap::new();
    // Between rooms, a circle needs an arrow upward, which is a violation of its own.
    let is_inside =
        |arrow: &Arrow| room_folder(krate, &krate.files[arrow.from]) == room_folder(krate, &krate.files[arrow.to]);
    for arrow in first_arrows(krate).into_iter().filter(is_inside) {
        if !is_below(krate, arrow.to, arrow.from) {
            next.entry(arrow.from).or_default().push(arrow);
        }
    }
    let mut violations = Vec::new();
    for (file, name) in krate.files.iter().enumerate() {
        let Some(way) = shortest_way_back(&next, file) else { continue };
        let steps = way.iter().map(|arrow| format!("{}:{} uses {}", krate.files[arrow.from], arrow.line, arrow.path));
        let steps: Vec<_> = steps.collect();
        let message = format!("in a circle of files; cut it at one of its imports:\n      {}", steps.join("\n      "));
        violations.push(Violation { place: room_folder(krate, name), ..Violation::new("circles", name, 1, message) });
    }
    violations
}

/// Returns the arrows of a shortest circle through a file, by breadth-first search.
fn shortest_way_back(next: &BTreeMap<usize, Vec<Arrow>>, start: usize) -> Option<Vec<Arrow>> {
    let mut reached: BTreeMap<usize, Arrow> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(file) = open.pop_front() {
        for arrow in next.get(&file).into_iter().flatten() {
            if let Entry::Vacant(unreached) = reached.entry(arrow.to) {
                unreached.insert(arrow.clone());
                open.push_back(arrow.to);
            }
        }
    }
    let mut way = vec![reached.get(&start)?.clone()];
    while way[way.len() - 1].from != start {
        way.push(reached[&way[way.len() - 1].from].clone());
    }
    way.reverse();
    Some(way)
}

/// Returns the first arrow between each pair of files, in their order.
fn first_arrows(krate: &Crate) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for (index, module) in krate.modules.iter().enumerate() {
        let from = module.file;
        let mut add = |path: &[String], line| {
            if let Some(to) = krate.file_of(index, path).filter(|to| *to != from) {
                arrows.push(Arrow { from, to, line, path: path.join("::") });
            }
        };
        for import in &module.facts.uses {
            let to_child = || krate.file_of(index, &import.path).is_some_and(|to| is_below(krate, from, to));
            if !(import.is_public && to_child()) {
                add(&import.path, import.line);
            }
        }
        for path in &module.facts.paths {
            add(&path.segments, path.line);
        }
    }
    arrows.sort_by_key(|arrow| (arrow.from, arrow.to, arrow.line));
    arrows.dedup_by_key(|arrow| (arrow.from, arrow.to));
    arrows
}

/// Returns true if a file is a module below that of `parent`.
fn is_below(krate: &Crate, parent: usize, file: usize) -> bool {
    let path = |file| {
        krate
            .modules
            .iter()
            .filter(|module| module.file == file)
            .map(|module| &module.path)
            .min_by_key(|path| path.len())
    };
    match (path(parent), path(file)) {
        (Some(parent), Some(path)) => path.len() > parent.len() && path.starts_with(parent),
        _ => false,
    }
}

/// The place of a file in the table of its crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Floor {
    /// The root file, above all rooms.
    Root,
    /// The index of a room.
    Room(usize),
    Outside,
}

fn floor(krate: &Crate, file: &str) -> Floor {
    let relative = file.strip_prefix(krate.house.src).unwrap_or(file);
    if matches!(relative, "lib.rs" | "main.rs") {
        return Floor::Root;
    }
    let stem = relative.strip_suffix(".rs").unwrap_or(relative);
    let fits = |room: &str| stem == room || stem.strip_prefix(room).is_some_and(|rest| rest.starts_with('/'));
    let rooms = krate.house.rooms.iter().enumerate().filter(|(_, room)| fits(room));
    rooms.max_by_key(|(_, room)| room.len()).map_or(Floor::Outside, |(index, _)| Floor::Room(index))
}

/// Returns the folder of a file's room; of the crate's sources, if it is in none.
fn room_folder(krate: &Crate, file: &str) -> String {
    match floor(krate, file) {
        Floor::Room(index) => format!("{}{}/", krate.house.src, krate.house.rooms[index]),
        _ => krate.house.src.to_owned(),
    }
}

/// Returns true if a file is in a room, whose name is one of the table.
pub(crate) fn is_in_room(krate: &Crate, file: &str, room: &str) -> bool {
    matches!(floor(krate, file), Floor::Room(index) if krate.house.rooms[index] == room)
}
