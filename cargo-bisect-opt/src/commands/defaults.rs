//! Defaults of options, from the environment and from manifests: they become words before those of the user.
//!
//! Nothing here knows a single option: types, values, and which options exclude each other are those of the parser.

pub(super) mod applied;
mod error;
mod option;
pub(super) mod source;

use std::ffi::OsString;

use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
    parser::ValueSource,
};

use applied::{AppliedDefaults, LeftOutDefault, NO_DEFAULTS, UsedDefault};
use error::DefaultsError;
use source::{DefaultSources, Setting, sources};

use crate::cargo::Subcommand;

/// The section of the help about defaults.
pub(super) const HELP: &str = "\
Defaults: an option that the command line does not have is taken from the environment variable
CARGO_BISECT_OPT_OPTION, then from [package.metadata.bisect-opt] in Cargo.toml, then from
[workspace.metadata.bisect-opt]; --no-defaults ignores them all";

/// Returns the option that ignores all defaults.
pub(super) fn no_defaults() -> clap::Arg {
    let help = "Ignore the defaults of options in environment variables (`CARGO_BISECT_OPT_…`) and in Cargo.toml";
    clap::Arg::new("no_defaults").long(NO_DEFAULTS).action(clap::ArgAction::SetTrue).help(help)
}

/// A default that is in question for a command line.
#[derive(Debug)]
struct Candidate<'a> {
    setting: Setting<'a>,
    /// The rank of its source; 0 has precedence.
    source: usize,
    words: Vec<OsString>,
}

/// Returns the defaults for a command line of the driver. `words` are the program's name, the subcommand, and the options
/// of the driver; `cargo` are the words for cargo. There are none if the user's own options are wrong.
///
/// # Errors
/// If a default is wrong.
pub(super) fn apply(
    driver: &Command,
    words: &[OsString],
    cargo: Option<(Subcommand, &[OsString])>,
    from: &DefaultSources,
) -> Result<AppliedDefaults, clap::Error> {
    let none = AppliedDefaults::default();
    let [_, name, words @ ..] = words else { return Ok(none) };
    let Some(command) = driver.find_subcommand(name) else { return Ok(none) };
    let parser = command.clone().no_binary_name(true);
    // A default may be what the command line lacks.
    let parsed = parser.clone().try_get_matches_from(words);
    if parsed.is_err_and(|error| error.kind() != ErrorKind::MissingRequiredArgument) {
        return Ok(none);
    }
    let given = given(&parser, words);
    let usage = |error: DefaultsError| {
        let text = format!("{error}\nhelp: `--{NO_DEFAULTS}` ignores the defaults of all options");
        command
            .clone()
            .bin_name(format!("cargo bisect-opt {}", command.get_name()))
            .error(ErrorKind::InvalidValue, text)
    };
    if given.iter().any(|id| id == "no_defaults") || from.has_no_defaults().map_err(usage)? {
        return Ok(none);
    }
    let sources = sources(driver, command, from, cargo).map_err(usage)?;
    let candidates = candidates(sources, &given).map_err(usage)?;
    let mut selection = Selection { parser, words, given, accepted: Vec::new(), left_out: Vec::new() };
    candidates.into_iter().try_for_each(|candidate| selection.offer(candidate)).map_err(usage)?;
    Ok(selection.end())
}

/// Returns the IDs of the options that the user gave.
fn given(parser: &Command, words: &[OsString]) -> Vec<String> {
    let Ok(matches) = parser.clone().ignore_errors(true).try_get_matches_from(words) else { return Vec::new() };
    let ids = parser.get_arguments().map(|option| option.get_id().as_str());
    let ids = ids.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine));
    ids.map(str::to_owned).collect()
}

/// Returns the default of each option that the user did not give: that of the first source which has one.
fn candidates<'a>(sources: Vec<Vec<Setting<'a>>>, given: &[String]) -> Result<Vec<Candidate<'a>>, DefaultsError> {
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for (source, settings) in sources.into_iter().enumerate() {
        for setting in settings {
            let words = setting.words()?;
            let id = setting.option.get_id();
            let is_decided = candidates.iter().any(|candidate| candidate.setting.option.get_id() == id);
            if !is_decided && !given.iter().any(|given| given == id.as_str()) {
                candidates.push(Candidate { setting, source, words });
            }
        }
    }
    candidates.retain(|candidate| !candidate.words.is_empty());
    // Required options come first: without them, the parser reports nothing else.
    candidates.sort_by_key(|candidate| (!candidate.setting.option.is_required_set(), candidate.source));
    Ok(candidates)
}

/// The defaults that the parser accepts, together with the words of the user.
struct Selection<'a> {
    parser: Command,
    words: &'a [OsString],
    /// The IDs of the options of the user.
    given: Vec<String>,
    accepted: Vec<Candidate<'a>>,
    left_out: Vec<LeftOutDefault>,
}

impl<'a> Selection<'a> {
    /// Accepts a candidate, or leaves it out.
    fn offer(&mut self, candidate: Candidate<'a>) -> Result<(), DefaultsError> {
        let key = &candidate.setting.key;
        let is_conflict = |error: &clap::Error| error.kind() == ErrorKind::ArgumentConflict;
        match self.try_with(&candidate, |_| true) {
            Err(error) if is_conflict(&error) => {
                let with_others = self.try_with(&candidate, |accepted| accepted.source != candidate.source);
                if !with_others.is_err_and(|error| is_conflict(&error)) {
                    return Err(self.exclusive(candidate));
                }
                let reason = format!("{} excludes it", self.excluding(&candidate));
                self.left_out.push(LeftOutDefault { key: key.clone(), reason });
            }
            Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => {
                let (origin, expected) = (candidate.setting.origin, option::expected(candidate.setting.option));
                return Err(DefaultsError::Value { origin, message: message(&error), expected });
            }
            _ => match self.missing(&candidate) {
                Some(missing) => {
                    let reason = format!("`{missing}` is missing");
                    self.left_out.push(LeftOutDefault { key: key.clone(), reason });
                }
                None => self.accepted.push(candidate),
            },
        }
        Ok(())
    }

    /// Returns the option that a candidate needs and that is not there. The parser itself is content if an option is there
    /// that excludes the needed one.
    fn missing(&self, candidate: &Candidate<'_>) -> Option<String> {
        let lacking = |words: &[OsString]| match self.parser.clone().try_get_matches_from(words) {
            Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
                texts(error.get(ContextKind::InvalidArg))
            }
            _ => Vec::new(),
        };
        let always = lacking(&[]);
        let needed = lacking(&candidate.words).into_iter().filter(|needed| !always.contains(needed));
        let accepted = self.accepted.iter().map(|accepted| accepted.setting.option.get_id().as_str());
        let there: Vec<_> = accepted.chain(self.given.iter().map(String::as_str)).collect();
        let names = there.iter().filter_map(|id| self.parser.get_arguments().find(|option| option.get_id() == id));
        let names: Vec<_> = names.map(|option| option::word(option, None).to_string_lossy().into_owned()).collect();
        // One of several options is written `<--one|--other <VALUE>>`.
        let is_there =
            |needed: &String| needed.split(['<', '>', '|', ' ']).any(|part| names.iter().any(|name| name == part));
        needed.into_iter().find(|needed| !is_there(needed)).map(|needed| name_of(&needed))
    }

    /// Returns the selected defaults.
    fn end(self) -> AppliedDefaults {
        let used = |candidate: Candidate<'_>| UsedDefault {
            key: candidate.setting.key,
            words: candidate.words,
            origin: candidate.setting.origin,
        };
        AppliedDefaults { used: self.accepted.into_iter().map(used).collect(), left_out: self.left_out }
    }

    /// Parses the words of the user with those of the accepted defaults that are wanted, and of the candidate.
    fn try_with(
        &self,
        candidate: &Candidate<'_>,
        is_wanted: impl Fn(&Candidate<'_>) -> bool,
    ) -> Result<clap::ArgMatches, clap::Error> {
        let accepted = self.accepted.iter().filter(|accepted| is_wanted(accepted)).flat_map(|accepted| &accepted.words);
        // It ends an option whose value may be left out.
        let end = OsString::from(format!("--{NO_DEFAULTS}"));
        let words: Vec<_> = accepted.chain(&candidate.words).chain([&end]).chain(self.words).collect();
        self.parser.clone().try_get_matches_from(words)
    }

    /// Returns the option that excludes a candidate: one of the user, or a default.
    fn excluding(&self, candidate: &Candidate<'_>) -> String {
        let error = self.try_with(candidate, |_| true).err();
        let context = |kind| texts(error.as_ref().and_then(|error| error.get(kind)));
        let names = [ContextKind::PriorArg, ContextKind::InvalidArg].into_iter().flat_map(context);
        let own = option::word(candidate.setting.option, None);
        let other = names.map(|text| name_of(&text)).find(|name| **name != *own);
        other.map_or_else(|| "another option".to_owned(), |name| format!("`{name}`"))
    }

    /// Returns the error for a candidate that another default of its source excludes.
    fn exclusive(&self, candidate: Candidate<'_>) -> DefaultsError {
        let conflicts = |accepted: &&Candidate<'_>| {
            let pair = self.try_with(&candidate, |other| other.setting.key == accepted.setting.key);
            pair.is_err_and(|error| error.kind() == ErrorKind::ArgumentConflict)
        };
        let other = self.accepted.iter().find(conflicts);
        let other = other.map_or_else(|| "another one".to_owned(), |accepted| format!("`{}`", accepted.setting.key));
        DefaultsError::Exclusive { origin: candidate.setting.origin, other }
    }
}

/// Returns the options in the context of an error of the parser.
fn texts(context: Option<&ContextValue>) -> Vec<String> {
    match context {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

/// Returns the name of an option, or of the first of several, as the parser writes it with its value.
fn name_of(text: &str) -> String {
    let name = text.split(['<', '>', '|', ' ', '=', '[']).find(|part| !part.is_empty());
    name.unwrap_or(text).to_owned()
}

/// Returns the text of an error of the parser, without its prefix and its general advice.
fn message(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or_default().split("\n\nFor more").next().unwrap_or_default();
    let text = text.strip_prefix("error: ").unwrap_or(text);
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
#[path = "defaults/tests.rs"]
mod tests;
