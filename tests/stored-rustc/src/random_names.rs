//! Names of temporary directories, which are new each time.
//!
//! The output of a compiler contains them in paths: in debug information, for example. All names of one form have the same
//! length, so a name can be replaced by another one in place.

use std::{borrow::Cow, fmt};

use memchr::memmem;

/// Beginnings of the names of temporary directories, and the number of random characters that follow: of `tempfile`,
/// `mktemp` and the driver.
const FORMS: [(&str, usize); 5] = [("/.tmp", 6), ("/tmp.", 10), ("/bsopt-", 6), ("/bo-commits-", 6), ("/.search-", 6)];

/// Stands for a random name in texts that do not depend on it.
const HIDDEN: &str = "\u{1}random\u{1}";

/// The random names in the paths of a compilation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RandomNames(Vec<String>);

impl RandomNames {
    /// Returns the names in these paths, in the order in which they come.
    pub(crate) fn in_paths<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut names: Vec<String> = Vec::new();
        for path in paths {
            let found = FORMS.iter().flat_map(|&(begin, length)| {
                path.match_indices(begin).filter_map(move |(at, _)| {
                    let name = path.get(at..at + begin.len() + length)?;
                    name[begin.len()..].bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some((at, name))
                })
            });
            let mut found: Vec<_> = found.collect();
            found.sort_unstable();
            for (_, name) in found {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        Self(names)
    }

    /// Reads the text of [`Display`](fmt::Display).
    pub(crate) fn parse(text: &str) -> Self {
        Self(text.lines().map(str::to_owned).collect())
    }

    /// Returns a text with placeholders for these names, so that texts of two compilations can be compared.
    pub(crate) fn hidden<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let mut hidden = Cow::Borrowed(text);
        for (number, name) in self.0.iter().enumerate() {
            if memmem::find(&hidden, name.as_bytes()).is_some() {
                hidden = replace(&hidden, name, &format!("{HIDDEN}{number}")).into();
            }
        }
        hidden
    }

    /// Returns a text with these names instead of the stored ones.
    pub(crate) fn renamed(&self, mut text: Vec<u8>, stored: &Self) -> Vec<u8> {
        for (new, old) in self.0.iter().zip(&stored.0).filter(|(new, old)| new != old && new.len() == old.len()) {
            let places: Vec<_> = memmem::find_iter(&text, old).collect();
            for at in places {
                text[at..at + new.len()].copy_from_slice(new.as_bytes());
            }
        }
        text
    }
}

impl fmt::Display for RandomNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|name| writeln!(f, "{name}"))
    }
}

/// Returns a text with every occurrence of one string replaced by another one.
pub(crate) fn replace(text: &[u8], from: &str, to: &str) -> Vec<u8> {
    let (mut replaced, mut end) = (Vec::with_capacity(text.len()), 0);
    for start in memmem::find_iter(text, from) {
        replaced.extend_from_slice(&text[end..start]);
        replaced.extend_from_slice(to.as_bytes());
        end = start + from.len();
    }
    replaced.extend_from_slice(&text[end..]);
    replaced
}
