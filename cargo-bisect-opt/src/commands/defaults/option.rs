//! An option as the parser defines it: the key of its default, the type of the value, and the words for a command line.

use std::{
    any::TypeId,
    ffi::{OsStr, OsString},
    num::NonZeroUsize,
    path::Path,
};

use clap::{Arg, ArgAction, Command, ValueHint, builder::PossibleValue};
use serde_json::Value;

/// The groups whose options choose what is searched.
const AXIS_GROUPS: [&str; 2] = ["axis_option", "compiled"];
/// The option of `test` that chooses what is searched, in no group.
const VICTIM: &str = "victim";
/// The options that belong to a single command line, with the reason.
const SINGLE_USE: [(&str, &str); 3] = [
    ("resume", "it continues one search"),
    ("verdict", "it changes the exit statuses"),
    ("no-defaults", "it ignores this table"),
];
/// The reason for options that choose what is searched.
const AXIS: &str = "what is searched is said on the command line";

/// Returns the key of the default of an option: its long name, or that of its value.
pub(super) fn key(option: &Arg) -> String {
    option.get_long().map_or_else(|| option.get_id().as_str().replace('_', "-"), str::to_owned)
}

/// Returns the option of a command with this key.
pub(super) fn by_key<'a>(command: &'a Command, searched: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|option| !option.is_positional() && key(option) == searched)
}

/// Returns the reason why an option has no default.
pub(super) fn refusal(command: &Command, option: &Arg) -> Option<&'static str> {
    let of_axis = command.get_groups().filter(|group| AXIS_GROUPS.contains(&group.get_id().as_str()));
    let mut of_axis = of_axis.flat_map(clap::ArgGroup::get_args);
    let key = key(option);
    if of_axis.any(|id| id == option.get_id()) || key == VICTIM {
        return Some(AXIS);
    }
    SINGLE_USE.iter().find(|(name, _)| *name == key).map(|&(_, reason)| reason)
}

/// Returns true if the command makes a search.
pub(super) fn is_search(command: &Command) -> bool {
    by_key(command, "out").is_some()
}

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueType {
    /// The option is a switch without a value.
    Switch,
    /// The option can be repeated.
    List,
    /// The value may be left out.
    Optional,
    /// The option has one value.
    Single,
}

impl ValueType {
    fn of(option: &Arg) -> Self {
        match option.get_action() {
            action if !action.takes_values() => Self::Switch,
            ArgAction::Append => Self::List,
            _ if option.get_num_args().is_some_and(|range| range.min_values() == 0) => Self::Optional,
            _ => Self::Single,
        }
    }
}

/// Returns the value that an environment variable gives an option; `None` if it is not one. It is null if the variable is
/// empty: the option stays as it is without any default.
pub(super) fn value_of_variable(option: &Arg, text: &str) -> Option<Value> {
    if text.is_empty() {
        return Some(Value::Null);
    }
    let boolean = text.parse().ok().map(Value::Bool);
    match ValueType::of(option) {
        ValueType::Switch => boolean,
        ValueType::List => Some(shlex::split(text)?.into()),
        ValueType::Optional => Some(boolean.unwrap_or_else(|| text.into())),
        ValueType::Single => Some(text.into()),
    }
}

/// Returns the words of a command line for an option with this value; none for `false`, which leaves the option as it
/// is without any default. Relative paths are relative to `directory`.
///
/// # Errors
/// If the value has another type: the expected one, in words.
pub(super) fn words(option: &Arg, value: &Value, directory: Option<&Path>) -> Result<Vec<OsString>, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let with = |text: String| word(option, Some(&located(option, text, directory)));
    let words = match (ValueType::of(option), value) {
        (ValueType::List, Value::Array(items)) => {
            let texts = items.iter().map(|item| text(item).map(with));
            texts.collect::<Option<Vec<_>>>()
        }
        (ValueType::Optional, Value::Bool(is_on)) => switched(option, *is_on),
        (_, Value::Bool(false) | Value::Null) => Some(Vec::new()),
        (ValueType::Switch, Value::Bool(true)) => Some(vec![word(option, None)]),
        (ValueType::Switch, _) => None,
        (_, value) => text(value).map(|text| vec![with(text)]),
    };
    words.ok_or_else(|| expected(option))
}

/// Returns the words for an option whose value may be left out, if its default is a boolean.
fn switched(option: &Arg, is_on: bool) -> Option<Vec<OsString>> {
    let values = option.get_possible_values();
    let has = |value: &str| values.iter().any(|possible| possible.get_name() == value);
    match is_on {
        true => Some(vec![word(option, None)]),
        false if has("no") => Some(vec![word(option, Some("no".as_ref()))]),
        false if values.is_empty() => Some(Vec::new()),
        false => None,
    }
}

/// Returns the word of a command line for an option, or for a positional value.
pub(super) fn word(option: &Arg, value: Option<&OsStr>) -> OsString {
    let (name, between) = match (option.get_long(), option.get_short()) {
        (Some(long), _) => (format!("--{long}"), "="),
        (None, Some(short)) => (format!("-{short}"), ""),
        (None, None) => (String::new(), ""),
    };
    let mut word = OsString::from(name);
    if let Some(value) = value {
        word.push(between);
        word.push(value);
    }
    word
}

/// Returns a value with its directory, if the option is the path of a file.
fn located(option: &Arg, text: String, directory: Option<&Path>) -> OsString {
    match directory {
        Some(directory) if option.get_value_hint() == ValueHint::AnyPath => directory.join(text).into(),
        _ => text.into(),
    }
}

/// Returns the type of the value of an option, in words.
pub(super) fn expected(option: &Arg) -> String {
    let possible = option.get_possible_values();
    let names: Vec<_> = possible.iter().map(PossibleValue::get_name).map(|name| format!("`{name}`")).collect();
    let value_type = ValueType::of(option);
    let single = match names.as_slice() {
        _ if value_type == ValueType::Switch => return "`true` or `false`".to_owned(),
        _ if value_type == ValueType::List => return "an array of strings".to_owned(),
        [] if is_number(option) => "a number".to_owned(),
        [] => "a string".to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    };
    if value_type == ValueType::Optional { format!("{single}, or `true`") } else { single }
}

fn is_number(option: &Arg) -> bool {
    let parsed = option.get_value_parser().type_id();
    let numbers = [TypeId::of::<NonZeroUsize>(), TypeId::of::<usize>(), TypeId::of::<i32>(), TypeId::of::<f64>()];
    numbers.iter().any(|number| parsed == *number)
}
