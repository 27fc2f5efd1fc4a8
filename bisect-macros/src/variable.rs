//! The variable that states how the build-time changes of a package are compiled.
//!
//! Its value is `on` or `off`, then any number of `;name=file:line:column`. Each of these names a change that has the
//! other state. `bisect_rt` parses the same value for `bisect_build!`.
//!
//! Decisions are named by place, one variable for each package, not by pattern: the macros need no hashing, and a crate
//! with the same decisions sees the same text.

use std::{env, fmt};

/// The variable that fixes toggles while they are compiled; `fixes` reads its value.
pub(crate) const FIX: &str = "BISECT_FIX";

/// A place in the source, as the compiler names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The value of the variable.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decisions {
    usually: bool,
    exceptions: Vec<(String, Place)>,
}

/// A reason why a value is malformed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    Start,
    Exception(String),
    NotUnicode,
}

/// Returns the name of the variable for the package that is being compiled.
pub(crate) fn name() -> String {
    // Cargo sets these variables. Without cargo there is no search, and the runtime's macros report the missing ones.
    let [package, version] = ["CARGO_PKG_NAME", "CARGO_PKG_VERSION"].map(|name| env::var(name).unwrap_or_default());
    name_for(&package, &version)
}

/// Returns the same name as `bisect_core::protocol::names`. This crate cannot depend on `bisect_core`, because a
/// program that is built with `--cfg bisect_off` has the macros, but not that crate.
fn name_for(package: &str, version: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("BISECT_BUILD_{package}_{version}").chars().map(plain).collect()
}

impl Decisions {
    /// Returns the decisions for the package that is being compiled. An error is a message for the user.
    pub(crate) fn of_this_package() -> Result<Self, String> {
        let variable = name();
        let decisions = match env::var(&variable) {
            Ok(text) => Self::parse(&text),
            Err(env::VarError::NotPresent) => Ok(Self { usually: true, exceptions: Vec::new() }),
            Err(env::VarError::NotUnicode(_)) => Err(Malformed::NotUnicode),
        };
        decisions.map_err(|error| format!("{variable}: {error}"))
    }

    fn parse(text: &str) -> Result<Self, Malformed> {
        let mut parts = text.split(';');
        let usually = match parts.next() {
            Some("on") => true,
            Some("off") => false,
            _ => return Err(Malformed::Start),
        };
        let exception = |part: &str| exception(part).ok_or_else(|| Malformed::Exception(part.to_owned()));
        Ok(Self { usually, exceptions: parts.map(exception).collect::<Result<_, _>>()? })
    }

    /// Returns true if the change is compiled in.
    pub(crate) fn is_on(&self, name: &str, place: &Place) -> bool {
        self.usually != self.exceptions.iter().any(|(n, p)| n == name && p == place)
    }
}

/// Parses `name=file:line:column`. The last two colons are the separators, because the file may contain colons, too.
fn exception(text: &str) -> Option<(String, Place)> {
    let (name, place) = text.split_once('=')?;
    let (place, column) = place.rsplit_once(':')?;
    let (file, line) = place.rsplit_once(':')?;
    if name.is_empty() || file.is_empty() {
        return None;
    }
    Some((name.to_owned(), Place { file: file.to_owned(), line: line.parse().ok()?, column: column.parse().ok()? }))
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Start => f.write_str("expected `on` or `off` at the start"),
            Malformed::Exception(part) => write!(f, "expected `name=file:line:column` instead of `{part}`"),
            Malformed::NotUnicode => f.write_str("it is not Unicode"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: usize, column: usize) -> Place {
        Place { file: file.to_owned(), line, column }
    }

    #[test]
    fn exceptions_are_the_other_way_round() {
        let here = place("src/lib.rs", 3, 1);
        for (text, on_here, on_elsewhere) in [
            ("on", true, true),
            ("off", false, false),
            ("on;fast=src/lib.rs:3:1", false, true),
            ("off;fast=src/lib.rs:3:1", true, false),
            ("off;other=src/lib.rs:3:1", false, false),
            ("off;fast=src/lib.rs:3:2;fast=src/main.rs:3:1;fast=src/lib.rs:3:1", true, false),
        ] {
            let decisions = Decisions::parse(text).unwrap();
            assert_eq!(decisions.is_on("fast", &here), on_here, "{text}");
            assert_eq!(decisions.is_on("fast", &place("src/lib.rs", 4, 1)), on_elsewhere, "{text}");
        }
    }

    #[test]
    fn names_are_those_of_the_protocol() {
        use bisect_core::protocol::names;

        for (package, version) in [("a", "1.0.0"), ("my-crate_2", "0.1.0-rc.1+x"), ("", "")] {
            assert_eq!(name_for(package, version), names::of_package(names::BUILD, package, version));
        }
    }

    #[test]
    fn a_file_may_have_colons_and_equals_signs() {
        let decisions = Decisions::parse(r"off;a:b=C:\x=y\lib.rs:3:1").unwrap();
        assert!(decisions.is_on("a:b", &place(r"C:\x=y\lib.rs", 3, 1)));
    }

    #[test]
    fn malformed_texts_are_refused() {
        for text in ["", "On", "yes", "on ", ";on", "fast=src/lib.rs:3:1"] {
            assert_eq!(Decisions::parse(text), Err(Malformed::Start), "{text}");
        }
        for part in [
            "",
            "fast",
            "fast=",
            "fast=src/lib.rs",
            "fast=src/lib.rs:3",
            "fast=:3:1",
            "=a:3:1",
            "fast=a:x:1",
            "fast=a:3:-1",
        ] {
            let text = format!("on;{part}");
            assert_eq!(Decisions::parse(&text), Err(Malformed::Exception(part.to_owned())), "{text}");
        }
    }
}
