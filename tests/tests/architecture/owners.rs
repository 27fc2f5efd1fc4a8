//! Tasks that only one room has: to name a crate, to start processes, to write the names of variables.

use crate::arrows::is_in_room;
use crate::exceptions::Violation;
use crate::house::{DRIVER, OWNED, Owned, SPAWNING_ROOM, VARIABLE_NAMES};
use crate::modules::{Crate, Module};

/// Returns the lines of other rooms that name a crate which one room owns.
pub(crate) fn foreign_crates(krate: &Crate) -> Vec<Violation> {
    let mut violations = Vec::new();
    for module in krate.modules.iter().filter(|_| krate.house.name == DRIVER) {
        let file = &krate.files[module.file];
        for (path, line) in paths(module) {
            let owned = |Owned { path: start, .. }: &&Owned| {
                path.len() >= start.len() && path.iter().zip(*start).all(|(a, b)| a == b)
            };
            let Some(Owned { path, rooms }) = OWNED.iter().find(owned) else { continue };
            if !rooms.iter().any(|room| is_in_room(krate, file, room)) {
                let message =
                    format!("names `{}`, which is for {} alone; call that room", path.join("::"), rooms.join(" and "));
                violations.push(Violation::new("owners", file, line, message));
            }
        }
    }
    one_per_line(violations)
}

/// Returns the lines of other rooms that start a process: `spawn`, `output` or `status` without arguments, in a module
/// that names `std::process::Command`.
pub(crate) fn foreign_processes(krate: &Crate) -> Vec<Violation> {
    let mut violations = Vec::new();
    for module in krate.modules.iter().filter(|_| krate.house.name == DRIVER) {
        let file = &krate.files[module.file];
        let names_command = paths(module).any(|(path, _)| path.windows(2).any(|pair| pair == ["process", "Command"]));
        if names_command && !is_in_room(krate, file, SPAWNING_ROOM) {
            for (method, line) in &module.facts.bare_calls {
                if matches!(method.as_str(), "spawn" | "output" | "status") {
                    let message = format!("starts a process by `{method}()`; hand the command to `{SPAWNING_ROOM}`");
                    violations.push(Violation::new("processes", file, *line, message));
                }
            }
        }
    }
    violations
}

/// Returns the lines of the driver with calls of the standard library that panic where the system or the user can make
/// them fail: no further thread can be started, a pipe cannot be read, a variable is not UTF-8.
pub(crate) fn panicking_calls(krate: &Crate) -> Vec<Violation> {
    let mut violations = Vec::new();
    for module in krate.modules.iter().filter(|_| krate.house.name == DRIVER) {
        let file = &krate.files[module.file];
        let mut add = |line: usize, call: &str, other: &str| {
            let message = format!("calls `{call}`, which panics if it fails; call `{other}`");
            violations.push(Violation::new("panicking-calls", file, line, message));
        };
        for (path, line) in paths(module) {
            match path {
                [.., at, name] if at == "thread" && name == "spawn" => add(line, "thread::spawn", "thread::Builder"),
                [.., at, name] if at == "env" && name == "vars" => add(line, "env::vars", "env::vars_os"),
                [.., at, name] if at == "env" && name == "args" => add(line, "env::args", "env::args_os"),
                _ => {}
            }
        }
        for (spawner, line) in &module.facts.spawners {
            if spawner == "scope" {
                add(*line, "scope.spawn", "thread::Builder::spawn_scoped");
            }
        }
        let names_command = paths(module).any(|(path, _)| path.windows(2).any(|pair| pair == ["process", "Command"]));
        for (method, line) in &module.facts.bare_calls {
            if names_command && method == "output" {
                add(*line, "Command::output", "process::output_of");
            }
        }
    }
    violations
}

/// Returns the literals that begin with `BISECT_` outside the module of names. Messages, which contain spaces, do not
/// count.
pub(crate) fn variable_names(krate: &Crate) -> Vec<Violation> {
    let mut violations = Vec::new();
    for module in &krate.modules {
        let file = &krate.files[module.file];
        for literal in module.facts.literals.iter().filter(|_| file != VARIABLE_NAMES) {
            if literal.text.starts_with("BISECT_") && !literal.text.contains(' ') {
                let message =
                    format!("writes {:?}; use the constant of {VARIABLE_NAMES}, or add one there", literal.text);
                violations.push(Violation::new("variable-names", file, literal.line, message));
            }
        }
    }
    violations
}

fn paths(module: &Module) -> impl Iterator<Item = (&[String], usize)> {
    let uses = module.facts.uses.iter().map(|import| (import.path.as_slice(), import.line));
    uses.chain(module.facts.paths.iter().map(|path| (path.segments.as_slice(), path.line)))
}

fn one_per_line(mut violations: Vec<Violation>) -> Vec<Violation> {
    violations.sort_by(|a, b| (&a.place, a.line).cmp(&(&b.place, b.line)));
    violations.dedup_by(|a, b| (&a.place, a.line) == (&b.place, b.line));
    violations
}
