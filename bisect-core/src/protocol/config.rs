//! The value of `BISECT_PATTERN`: one pattern for all toggles, or settings for some toggles by name.

use alloc::{
    borrow::ToOwned,
    string::String,
    vec::{self, Vec},
};
use core::{error, fmt, str};

use super::{Matcher, ParseError, Pattern};

/// The setting of all changes with one name: a target without names has only one.
#[derive(Clone, Debug, Default)]
pub enum Setting {
    /// The default behaviour: no search includes these changes.
    #[default]
    Default,
    /// Always on (`true`) or always off (`false`), without reports.
    Fixed(bool),
    /// On or off by change ID, as the matcher decides.
    Search(Matcher),
}

/// The parsed value of `BISECT_PATTERN`: `PATTERN`, or `name=PATTERN;other=PATTERN`, where `on` and `off` are patterns
/// too.
///
/// ```
/// use bisect_core::{Config, Setting};
///
/// let config = Config::parse(b"sort=+01;cache=off").unwrap();
/// assert!(matches!(config.setting("sort"), Setting::Search(_)));
/// assert!(matches!(config.setting("cache"), Setting::Fixed(false)));
/// assert!(matches!(config.setting("other"), Setting::Default));
/// ```
#[derive(Clone, Debug)]
pub enum Config {
    /// One setting for all names.
    All(Setting),
    /// Settings by name; any other name has its default.
    Named(NamedSettings),
}

/// Settings by name, at most one for each name.
///
/// ```
/// use bisect_core::Config;
///
/// let Config::Named(settings) = Config::parse(b"sort=+01;cache=off").unwrap() else { panic!("names are given") };
/// assert_eq!(settings.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), ["cache", "sort"]);
/// ```
///
/// This is a sorted vector, because a map would be most of what the protocol adds to the size of a program.
#[derive(Clone, Debug, Default)]
pub struct NamedSettings(Vec<(String, Setting)>);

impl NamedSettings {
    fn position(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.as_str().cmp(name))
    }

    /// Returns the settings sorted by name. Each one comes with the offset at which it begins in the text. (One insertion
    /// for each name would take quadratic time.)
    ///
    /// # Errors
    /// Returns the offset of the first setting whose name was given before.
    fn sorted(mut settings: Vec<(&str, usize, Setting)>) -> Result<Self, usize> {
        settings.sort_unstable_by_key(|&(name, offset, _)| (name, offset));
        let again = settings.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1);
        again.min().map_or_else(
            || Ok(Self(settings.into_iter().map(|(name, _, setting)| (name.to_owned(), setting)).collect())),
            Err,
        )
    }
}

impl IntoIterator for NamedSettings {
    type Item = (String, Setting);
    type IntoIter = vec::IntoIter<Self::Item>;

    /// Iterates in the order of names.
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Config {
    /// Parses a value of `BISECT_PATTERN`. It is taken as bytes, because a variable need not be UTF-8. A value with a `=`
    /// has names. They consist of the letters a-z and A-Z, digits and `_` `.` `:` `/` `-`.
    ///
    /// ```
    /// use bisect_core::Config;
    ///
    /// let error = Config::parse(b"sort=+01;cache=maybe").unwrap_err();
    /// assert_eq!(error.to_string(), "unexpected 'm' at byte 15");
    /// ```
    ///
    /// # Errors
    /// If the value is not UTF-8, if a name is missing, malformed or given twice, or if a pattern is malformed. The error
    /// names the byte of the value.
    pub fn parse(value: &[u8]) -> Result<Self, ConfigError> {
        let text = str::from_utf8(value)
            .map_err(|error| ConfigError { offset: error.valid_up_to(), kind: ConfigErrorKind::NotUtf8 })?;
        if !text.contains('=') {
            return Ok(Self::All(pattern(text, 0)?));
        }
        let (mut settings, mut malformed) = (Vec::new(), None);
        let mut offset = 0;
        for item in text.split(';') {
            match named_setting(item, offset) {
                Ok((name, setting)) => settings.push((name, offset, setting)),
                Err(error) => {
                    malformed = Some(error);
                    break;
                }
            }
            offset += item.len() + 1;
        }
        // A name that is repeated before the malformed item is the earlier mistake.
        let named = NamedSettings::sorted(settings)
            .map_err(|offset| ConfigError { offset, kind: ConfigErrorKind::NamedTwice })?;
        malformed.map_or(Ok(Self::Named(named)), Err)
    }

    /// Returns true if every setting is the default: nobody searches, and nothing is to be decided.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.settings().all(|setting| matches!(setting, Setting::Default))
    }

    /// Returns all settings.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        let (all, named) = match self {
            Self::All(setting) => (Some(setting), [].as_slice()),
            Self::Named(named) => (None, named.0.as_slice()),
        };
        all.into_iter().chain(named.iter().map(|(_, setting)| setting))
    }

    /// Returns the names that have a setting, in order. A program can name those that it does not have.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let named = match self {
            Self::All(_) => [].as_slice(),
            Self::Named(named) => named.0.as_slice(),
        };
        named.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the setting that is given for exactly this name. A pattern for all toggles does not count.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Setting> {
        match self {
            Self::All(_) => None,
            Self::Named(named) => named.position(name).ok().map(|at| &named.0[at].1),
        }
    }

    /// Returns the setting of the changes with this name.
    #[must_use]
    pub fn setting(&self, name: &str) -> &Setting {
        match self {
            Self::All(setting) => setting,
            Self::Named(_) => self.named(name).unwrap_or(&Setting::Default),
        }
    }
}

fn named_setting(item: &str, offset: usize) -> Result<(&str, Setting), ConfigError> {
    let Some((name, value)) = item.split_once('=') else {
        return Err(ConfigError { offset: offset + item.len(), kind: ConfigErrorKind::NoEquals });
    };
    if name.is_empty() {
        return Err(ConfigError { offset, kind: ConfigErrorKind::NoName });
    }
    if let Some((at, c)) = name.char_indices().find(|&(_, c)| !is_name_char(c)) {
        return Err(ConfigError { offset: offset + at, kind: ConfigErrorKind::NotInNames(c) });
    }
    let setting = match value {
        "on" => Setting::Fixed(true),
        "off" => Setting::Fixed(false),
        _ => pattern(value, offset + name.len() + 1)?,
    };
    Ok((name, setting))
}

/// Returns true for the characters that `bisect-macros` allows in the names of toggles.
fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.:/-".contains(c)
}

fn pattern(text: &str, start: usize) -> Result<Setting, ConfigError> {
    let pattern: Pattern = text.parse().map_err(|error: ParseError| ConfigError {
        offset: start + error.offset,
        kind: ConfigErrorKind::Pattern(error),
    })?;
    Ok(Matcher::new(&pattern).map_or(Setting::Default, Setting::Search))
}

/// The reason why a value is not valid, and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The byte of the value at which the error is; the length of the value if it ends too early.
    pub offset: usize,
    /// The kind of error.
    pub kind: ConfigErrorKind,
}

/// The kinds of errors in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigErrorKind {
    /// The value is not UTF-8.
    NotUtf8,
    /// `=` is missing after a name.
    NoEquals,
    /// The name before `=` is missing.
    NoName,
    /// A name contains this character, which is not allowed.
    NotInNames(char),
    /// A name occurs twice.
    NamedTwice,
    /// A pattern is not valid; the offset of this error counts from the start of the pattern.
    Pattern(ParseError),
}

impl error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ConfigErrorKind::NotUtf8 => f.write_str("it is not UTF-8")?,
            ConfigErrorKind::NoEquals => f.write_str("`=` and a pattern are missing behind the name")?,
            ConfigErrorKind::NoName => f.write_str("the name of a toggle is missing")?,
            ConfigErrorKind::NotInNames(c) => write!(f, "the name of a toggle cannot have {c:?}")?,
            ConfigErrorKind::NamedTwice => f.write_str("this toggle was named before")?,
            // The offset of a pattern's own error counts from the start of the pattern.
            ConfigErrorKind::Pattern(error) => return ParseError { offset: self.offset, ..error }.fmt(f),
        }
        write!(f, " at byte {}", self.offset)
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
