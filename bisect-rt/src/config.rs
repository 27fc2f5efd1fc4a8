//! What `BISECT_PATTERN` says: a pattern for all toggles, or settings for some of them.

use std::{fmt, str};

use bisect_core::{Matcher, ParseError, Pattern};
use once_cell::race::OnceBox;

/// The configuration of this process: set before `main`, or never.
static CURRENT: OnceBox<Config> = OnceBox::new();

/// What a toggle was told.
#[derive(Debug)]
pub(crate) enum Setting {
    /// Nothing: nobody bisects it.
    Default,
    /// To be on or off, and silent about it.
    Fixed(bool),
    /// To ask for each of its changes.
    Search(Matcher),
}

/// The settings of all toggles.
#[derive(Debug)]
pub(crate) enum Config {
    All(Setting),
    /// By name; what is not named is at its default.
    Named(Vec<(String, Setting)>),
}

/// The setting of the toggles with this name.
pub(crate) fn setting(name: &str) -> &'static Setting {
    CURRENT.get().map_or(&Setting::Default, |config| config.setting(name))
}

/// Makes this the configuration of the process.
pub(crate) fn set(config: Config) {
    // Only the start of the process comes here, once.
    let _ = CURRENT.set(Box::new(config));
}

impl Config {
    /// The meaning of a value of the variable: `PATTERN`, or `name=PATTERN;other=PATTERN` with `on` and `off` as
    /// patterns too.
    pub(crate) fn parse(value: &[u8]) -> Result<Self, Malformed> {
        let text = str::from_utf8(value)
            .map_err(|error| Malformed { offset: error.valid_up_to(), problem: Problem::NotUtf8 })?;
        if !text.contains('=') {
            return Ok(Self::All(pattern(text, 0)?));
        }
        let mut named: Vec<(String, Setting)> = Vec::new();
        let mut offset = 0;
        for item in text.split(';') {
            let (name, setting) = named_setting(item, offset)?;
            if named.iter().any(|(other, _)| other == name) {
                return Err(Malformed { offset, problem: Problem::NamedTwice });
            }
            named.push((name.into(), setting));
            offset += item.len() + 1;
        }
        Ok(Self::Named(named))
    }

    /// Whether no toggle can be but at its default.
    pub(crate) fn is_default(&self) -> bool {
        let is_default = |setting: &Setting| matches!(setting, Setting::Default);
        match self {
            Self::All(setting) => is_default(setting),
            Self::Named(named) => named.iter().all(|(_, setting)| is_default(setting)),
        }
    }

    /// The setting of a toggle that is asked for by its name, if it is.
    pub(crate) fn named(&self, name: &str) -> Option<&Setting> {
        match self {
            Self::All(_) => None,
            Self::Named(named) => named.iter().find(|(other, _)| other == name).map(|(_, setting)| setting),
        }
    }

    fn setting(&self, name: &str) -> &Setting {
        match self {
            Self::All(setting) => setting,
            Self::Named(_) => self.named(name).unwrap_or(&Setting::Default),
        }
    }
}

fn named_setting(item: &str, offset: usize) -> Result<(&str, Setting), Malformed> {
    let Some((name, value)) = item.split_once('=') else {
        return Err(Malformed { offset: offset + item.len(), problem: Problem::NoEquals });
    };
    if name.is_empty() {
        return Err(Malformed { offset, problem: Problem::NoName });
    }
    if let Some((at, c)) = name.char_indices().find(|&(_, c)| !is_name_char(c)) {
        return Err(Malformed { offset: offset + at, problem: Problem::NotInNames(c) });
    }
    let setting = match value {
        "on" => Setting::Fixed(true),
        "off" => Setting::Fixed(false),
        _ => pattern(value, offset + name.len() + 1)?,
    };
    Ok((name, setting))
}

/// The characters that `bisect-macros` allows in the names of toggles.
fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.:/-".contains(c)
}

fn pattern(text: &str, start: usize) -> Result<Setting, Malformed> {
    let pattern: Pattern = text
        .parse()
        .map_err(|error: ParseError| Malformed { offset: start + error.offset, problem: Problem::Pattern(error) })?;
    Ok(Matcher::new(&pattern).map_or(Setting::Default, Setting::Search))
}

/// Why a value of the variable has no meaning, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// The byte of the value at which it goes wrong; its length if it ends too early.
    pub(crate) offset: usize,
    pub(crate) problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    NotUtf8,
    NoEquals,
    NoName,
    NotInNames(char),
    NamedTwice,
    Pattern(ParseError),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problem {
            Problem::NotUtf8 => f.write_str("it is not UTF-8")?,
            Problem::NoEquals => f.write_str("`=` and a pattern are missing behind the name")?,
            Problem::NoName => f.write_str("the name of a toggle is missing")?,
            Problem::NotInNames(c) => write!(f, "the name of a toggle cannot have {c:?}")?,
            Problem::NamedTwice => f.write_str("this toggle was named before")?,
            // Its own offset counts from the start of the pattern.
            Problem::Pattern(error) => return ParseError { offset: self.offset, ..error }.fmt(f),
        }
        write!(f, " at byte {}", self.offset)
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
