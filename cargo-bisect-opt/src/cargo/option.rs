//! Options of cargo's subcommands: their names, and the words that are their values.

use std::{
    ffi::{OsStr, OsString},
    iter::Peekable,
    slice::Iter,
};

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// No value.
    None,
    /// The next word, in any case.
    Next,
    /// The next word, unless that is an option.
    NextWord,
}

/// The options of cargo's subcommands that take values, by their long name or by their letter.
const WITH_VALUE: [(&str, Value); 23] = [
    ("--artifact-dir", Value::Next),
    ("--bench", Value::NextWord),
    ("--bin", Value::NextWord),
    ("--color", Value::Next),
    ("--config", Value::Next),
    ("--example", Value::NextWord),
    ("--exclude", Value::Next),
    ("--features", Value::Next),
    ("--jobs", Value::Next),
    ("--lockfile-path", Value::Next),
    ("--manifest-path", Value::Next),
    ("--message-format", Value::Next),
    ("--package", Value::NextWord),
    ("--profile", Value::Next),
    ("--target", Value::NextWord),
    ("--target-dir", Value::Next),
    ("--test", Value::NextWord),
    ("-C", Value::Next),
    ("-F", Value::Next),
    ("-Z", Value::Next),
    ("-j", Value::Next),
    ("-m", Value::Next),
    ("-p", Value::NextWord),
];

/// The options that choose among the targets of packages.
pub(super) const TARGETS: [&str; 10] = [
    "--all-targets",
    "--bench",
    "--benches",
    "--bin",
    "--bins",
    "--example",
    "--examples",
    "--lib",
    "--test",
    "--tests",
];

/// The options among [`TARGETS`] that choose targets with development dependencies.
pub(super) const DEVELOPMENT: [&str; 7] =
    ["--all-targets", "--bench", "--benches", "--example", "--examples", "--test", "--tests"];

/// A part of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LinePart {
    /// A word that is no option.
    Word(OsString),
    /// An option.
    Option {
        /// The name, as in the table.
        name: String,
        /// The value, if there is one.
        value: Option<OsString>,
        /// The words of the option and of its value, as the user wrote them.
        words: Vec<OsString>,
    },
}

/// Returns these words with other options, which come first: if the line `ends_at_word`, all words after the first one that
/// is no option belong to the program. `kept` returns what stays of an option, by its name and its words; from the rest of
/// the line, it may take a value that the table does not know.
pub(super) fn replaced(
    ends_at_word: bool,
    words: &[OsString],
    others: &[OsString],
    kept: impl Fn(&str, Vec<OsString>, &mut Peekable<Iter<'_, OsString>>) -> Vec<OsString>,
) -> Vec<OsString> {
    let mut replaced = others.to_vec();
    let mut words = words.iter().peekable();
    while let Some(part) = next_part(&mut words) {
        match part {
            LinePart::Word(word) => {
                replaced.push(word);
                if ends_at_word {
                    replaced.extend(words.cloned());
                    break;
                }
            }
            LinePart::Option { name, words: own, .. } => replaced.extend(kept(&name, own, &mut words)),
        }
    }
    replaced
}

/// Reads the next word, or the next option with its value.
pub(super) fn next_part(words: &mut Peekable<Iter<'_, OsString>>) -> Option<LinePart> {
    let word = words.next()?;
    let Some((name, attached)) = split(word) else { return Some(LinePart::Word(word.clone())) };
    let next = match (&attached, value_of(&name)) {
        (Some(_), _) | (None, Value::None) => None,
        (None, Value::Next) => words.next(),
        (None, Value::NextWord) => words.next_if(|next| split(next).is_none()),
    };
    let words = [word].into_iter().chain(next).cloned().collect();
    Some(LinePart::Option { name, value: attached.or_else(|| next.cloned()), words })
}

/// Returns the kind of value of an option, which is given by its long name or its letter.
pub(super) fn value_of(option: &str) -> Value {
    WITH_VALUE.iter().find(|(name, _)| *name == option).map_or(Value::None, |&(_, value)| value)
}

/// Splits an option into its name, as in the table, and its attached value; `None` if the word is no option.
pub(super) fn split(word: &OsStr) -> Option<(String, Option<OsString>)> {
    let bytes = word.as_encoded_bytes();
    if bytes.starts_with(b"--") {
        let end = memchr::memchr(b'=', bytes).unwrap_or(bytes.len());
        let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
        return Some((name, bytes.get(end + 1..).map(os_string)));
    }
    let letters = bytes.strip_prefix(b"-").filter(|letters| !letters.is_empty())?;
    // In a cluster like `-qp name`, flags come before the option with a value.
    for (i, &letter) in letters.iter().enumerate() {
        let name = format!("-{}", char::from(letter));
        if value_of(&name) != Value::None {
            let rest = &letters[i + 1..];
            let rest = rest.strip_prefix(b"=").unwrap_or(rest);
            return Some((name, (!rest.is_empty()).then(|| os_string(rest))));
        }
    }
    Some((String::from_utf8_lossy(bytes).into_owned(), None))
}

/// Returns the names in an option whose own name is `name`: in a cluster of letters, the names of all flags.
pub(super) fn names(word: &OsStr, name: &str) -> Vec<String> {
    let letters = match word.as_encoded_bytes() {
        [b'-', b'-', ..] => return vec![name.to_owned()],
        bytes => &bytes[1..],
    };
    let letters = letters.iter().map(|&letter| format!("-{}", char::from(letter)));
    let end = letters.clone().position(|letter| value_of(&letter) != Value::None);
    letters.take(end.map_or(usize::MAX, |end| end + 1)).collect()
}

fn os_string(bytes: &[u8]) -> OsString {
    // SAFETY: the bytes are the end of an `OsStr`, after an ASCII character: `=`, or a letter of the table.
    unsafe { OsStr::from_encoded_bytes_unchecked(bytes) }.to_owned()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, process::Command};

    use super::*;

    /// Returns the options with values in the help of this cargo, and whether the value is mandatory.
    fn from_help(subcommand: &str) -> BTreeSet<(String, bool)> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo).args([subcommand, "--help"]).output().unwrap();
        assert!(output.status.success());
        let help = String::from_utf8(output.stdout).unwrap();
        let line = regex::Regex::new(r"(?m)^ +(-\w)?(?:, |    |)(--[a-z-]+)?(?:\.\.\.)? +(<|\[<)[A-Z=|_-]+>").unwrap();
        line.captures_iter(&help)
            .flat_map(|found| {
                let always = found[3] == *"<";
                [1, 2].into_iter().filter_map(move |i| Some((found.get(i)?.as_str().to_owned(), always)))
            })
            .collect()
    }

    #[test]
    fn the_table_has_every_option_of_this_cargo_that_takes_a_value() {
        for subcommand in ["test", "run", "build", "check"] {
            let options = from_help(subcommand);
            assert!(options.len() > 10, "the help of cargo {subcommand} was not understood: {options:?}");
            for (option, always) in options {
                let expected = if always { Value::Next } else { Value::NextWord };
                assert_eq!(value_of(&option), expected, "cargo {subcommand} {option}");
            }
        }
    }
}
