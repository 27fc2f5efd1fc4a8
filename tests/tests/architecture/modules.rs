//! The modules of a crate, and the files that define its names.

use std::collections::HashMap;
use std::thread;

use crate::facts::{self, Facts};
use crate::house::House;
use crate::tree::Tree;

/// A crate of the workspace: its files, its modules, and the facts about each module.
#[derive(Debug)]
pub(crate) struct Crate<'a> {
    pub(crate) house: &'a House,
    /// Paths from the root of the repository.
    pub(crate) files: Vec<String>,
    pub(crate) modules: Vec<Module>,
    by_path: HashMap<Vec<String>, usize>,
}

/// A module without test code.
#[derive(Debug)]
pub(crate) struct Module {
    /// The names from the crate's root to the module; empty for the root.
    pub(crate) path: Vec<String>,
    /// The index of the module's file.
    pub(crate) file: usize,
    /// The conditions under which the module and its ancestors are compiled.
    pub(crate) cfg: Vec<String>,
    pub(crate) facts: Facts,
}

/// The destination of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Module(usize),
    Item { file: usize },
}

/// The most re-exports that are followed from one name.
const LONGEST_CHAIN: usize = 12;

impl<'a> Crate<'a> {
    /// Reads the crates of all houses that are in the tree.
    ///
    /// # Panics
    /// If a file cannot be parsed, or a declared module has no file.
    pub(crate) fn read_all(tree: &Tree, houses: &'a [House]) -> Vec<Self> {
        thread::scope(|scope| {
            let reading: Vec<_> = houses.iter().map(|house| scope.spawn(move || Self::read(tree, house))).collect();
            let crates = reading.into_iter().map(|thread| thread.join().expect("every file can be parsed"));
            crates.filter(|each| !each.files.is_empty()).collect()
        })
    }

    fn read(tree: &Tree, house: &'a House) -> Self {
        let mut this = Self { house, files: Vec::new(), modules: Vec::new(), by_path: HashMap::new() };
        if tree.has(&format!("{}lib.rs", house.src)) {
            this.load(tree, "lib.rs", &[], &[]);
            if tree.has(&format!("{}main.rs", house.src)) {
                // No path leads to the executable, so it gets a name that no path can have.
                this.load(tree, "main.rs", &["main.rs".to_owned()], &[]);
            }
        } else if tree.has(&format!("{}main.rs", house.src)) {
            this.load(tree, "main.rs", &[], &[]);
        }
        this
    }

    /// Loads a file, whose path is relative to the crate's sources, and the files of its child modules.
    fn load(&mut self, tree: &Tree, relative: &str, path: &[String], cfg: &[String]) {
        let full = format!("{}{relative}", self.house.src);
        let text = tree.text(&full).unwrap_or_else(|| panic!("{full} is declared as a module, but does not exist"));
        let parsed = syn::parse_file(text).unwrap_or_else(|error| {
            panic!("{full}:{}: cannot be parsed: {error}", error.span().start().line);
        });
        let file = self.files.len();
        self.files.push(full);
        let mut children = Vec::new();
        for mut facts in facts::of_file(&parsed) {
            let mut own = path.to_vec();
            own.extend(facts.inline.iter().cloned());
            for child in facts.children.drain(..).filter(|child| !child.is_test) {
                let mut conditions = cfg.to_vec();
                conditions.extend(child.cfg.iter().cloned());
                let at = place_of(tree, self.house.src, relative, &facts.inline, &child);
                let mut path = own.clone();
                path.push(child.name);
                children.push((at, path, conditions));
            }
            self.by_path.insert(own.clone(), self.modules.len());
            self.modules.push(Module { path: own, file, cfg: cfg.to_vec(), facts });
        }
        for (at, path, cfg) in children {
            self.load(tree, &at, &path, &cfg);
        }
    }

    /// Returns the file that defines the item that a path names in a module, if the item is one of this crate.
    pub(crate) fn file_of(&self, module: usize, path: &[String]) -> Option<usize> {
        match self.resolve(module, path, LONGEST_CHAIN)? {
            Found::Module(found) => Some(self.modules[found].file),
            Found::Item { file } => Some(file),
        }
    }

    fn resolve(&self, module: usize, path: &[String], chain: usize) -> Option<Found> {
        let chain = chain.checked_sub(1)?;
        let mut names = path.iter();
        let mut found = match names.next()?.as_str() {
            "crate" => Found::Module(self.module(&[])?),
            name if name == self.house.name => Found::Module(self.module(&[])?),
            "self" => Found::Module(module),
            "super" => Found::Module(self.parent(module)?),
            name => self.look_up(module, name, chain)?,
        };
        for name in names {
            let Found::Module(current) = found else { break };
            found = match name.as_str() {
                "super" => Found::Module(self.parent(current)?),
                name => match self.look_up(current, name, chain) {
                    Some(found) => found,
                    // The name is made by a macro, or compiled under another condition.
                    None => break,
                },
            };
        }
        Some(found)
    }

    fn look_up(&self, module: usize, name: &str, chain: usize) -> Option<Found> {
        let chain = chain.checked_sub(1)?;
        let Module { path, file, facts, .. } = &self.modules[module];
        if let Some(child) = self.module(&[path.as_slice(), &[name.to_owned()]].concat()) {
            return Some(Found::Module(child));
        }
        if facts.items.iter().any(|item| item == name) {
            return Some(Found::Item { file: *file });
        }
        let imports = facts.uses.iter();
        let named = imports.clone().filter(|import| import.name == name && import.path.as_slice() != [name]);
        let mut found = named.filter_map(|import| self.resolve(module, &import.path, chain));
        let mut globs = imports.filter(|import| import.name == "*").filter_map(|import| {
            match self.resolve(module, &import.path, chain)? {
                Found::Module(inner) if inner != module => self.look_up(inner, name, chain),
                _ => None,
            }
        });
        found.next().or_else(|| globs.next())
    }

    fn module(&self, path: &[String]) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    fn parent(&self, module: usize) -> Option<usize> {
        let path = &self.modules[module].path;
        self.module(&path[..path.len().checked_sub(1)?])
    }
}

/// Returns the path of a child module's file, relative to the crate's sources.
fn place_of(tree: &Tree, src: &str, parent: &str, inline: &[String], child: &facts::Child) -> String {
    let (folder, file) = parent.rsplit_once('/').map_or(("", parent), |(folder, file)| (folder, file));
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    if let Some(path) = &child.path {
        parts.push(path);
        return parts.join("/");
    }
    if !matches!(file, "mod.rs" | "lib.rs" | "main.rs") {
        parts.push(file.trim_end_matches(".rs"));
    }
    parts.extend(inline.iter().map(String::as_str));
    parts.push(&child.name);
    let stem = parts.join("/");
    let as_file = format!("{stem}.rs");
    if tree.has(&format!("{src}{as_file}")) { as_file } else { format!("{stem}/mod.rs") }
}
