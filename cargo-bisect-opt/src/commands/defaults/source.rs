//! The sources of defaults: environment variables, and tables of manifests.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use bisect_core::protocol::names;
use clap::{Arg, Command};
use serde_json::{Map, Value};

use super::{
    applied::NO_DEFAULTS,
    error::DefaultsError,
    option::{self, by_key, expected, is_search, key, refusal, value_of_variable},
};
use crate::{
    cargo::{self, CargoError, DriverTable, Subcommand, known_options::KnownOptions},
    units::nearest,
};

/// The key of the run directory: commands that read an earlier search take it as their argument.
const RUN_DIR: (&str, &str) = ("out", "run_dir");

/// Reads the tables of manifests for the words that a command line has for cargo.
type ReadTables = Box<dyn Fn(Option<(Subcommand, &[OsString])>) -> Result<Vec<DriverTable>, CargoError>>;

/// The places from which the defaults of a command line are read.
pub(crate) struct DefaultSources {
    /// The environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// The reader of manifests.
    pub(crate) tables: ReadTables,
}

impl DefaultSources {
    /// Returns those of this process.
    pub(crate) fn of_process() -> Self {
        let tables = |words: Option<(Subcommand, &[OsString])>| cargo::driver_tables(&env::current_dir()?, words);
        Self { variables: env::vars_os().collect(), tables: Box::new(tables) }
    }

    /// Returns the values of the variables of options, by their names without the prefix.
    fn options(&self) -> impl Iterator<Item = (&str, &OsString)> {
        let all = self.variables.iter();
        all.filter_map(|(name, value)| Some((name.to_str()?.strip_prefix(names::OPTION)?, value)))
    }

    /// Returns true if a variable says that there are no defaults.
    ///
    /// # Errors
    /// If its value is neither `true` nor `false`.
    pub(super) fn has_no_defaults(&self) -> Result<bool, DefaultsError> {
        let searched = variable_part(NO_DEFAULTS);
        let Some((_, value)) = self.options().find(|(name, value)| *name == searched && !value.is_empty()) else {
            return Ok(false);
        };
        value.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| DefaultsError::Type {
            origin: variable(&searched),
            expected: "`true` or `false`".to_owned(),
        })
    }
}

/// A default, as a source has it.
#[derive(Clone, Debug)]
pub(super) struct Setting<'a> {
    pub(super) key: String,
    pub(super) option: &'a Arg,
    pub(super) value: Value,
    /// The origin, for people.
    pub(super) origin: String,
    /// The directory to which paths are relative.
    pub(super) directory: Option<PathBuf>,
}

/// Returns the defaults for a subcommand of `driver`, from each source: the first source has precedence.
///
/// # Errors
/// If a source has an unknown key, a key that is no default, or a value of another type.
pub(super) fn sources<'a>(
    driver: &Command,
    command: &'a Command,
    from: &DefaultSources,
    cargo: Option<(Subcommand, &[OsString])>,
) -> Result<Vec<Vec<Setting<'a>>>, DefaultsError> {
    let mut sources: Vec<_> = of_variables(driver, command, from)?.into();
    for table in (from.tables)(cargo)? {
        sources.extend(of_table(driver, command, &table)?);
    }
    Ok(sources)
}

/// Returns the option of a command that a key means, in a table for this command or for all.
fn meant<'a>(command: &'a Command, key: &str, is_general: bool) -> Option<&'a Arg> {
    if !is_general || is_search(command) {
        return by_key(command, key);
    }
    let (general, id) = RUN_DIR;
    command.get_positionals().find(|option| key == general && option.get_id().as_str() == id)
}

/// Returns the defaults in variables: those for the command, and those for all commands.
fn of_variables<'a>(
    driver: &Command,
    command: &'a Command,
    from: &DefaultSources,
) -> Result<[Vec<Setting<'a>>; 2], DefaultsError> {
    let (mut own, mut general) = (Vec::new(), Vec::new());
    let keys = keys(driver);
    for (name, value) in from.options().filter(|(name, _)| *name != variable_part(NO_DEFAULTS)) {
        let origin = variable(name);
        let Some(known) = keys.iter().find(|known| known.variable == name) else {
            let all = keys.iter().map(|known| known.variable.clone());
            let help = nearest(name, all).map(|meant| format!("did you mean `{}`?", variable_name(&meant)));
            return Err(DefaultsError::Unknown { origin, key: name.to_lowercase(), help });
        };
        if let Some(reason) = known.refusal {
            return Err(DefaultsError::Refused { origin, reason });
        }
        let is_general = known.command.is_none();
        if known.command.as_deref().is_some_and(|other| other != command.get_name()) {
            continue;
        }
        let Some(option) = meant(command, &known.key, is_general) else { continue };
        let value = value.to_str().and_then(|text| value_of_variable(option, text));
        let value = value.ok_or_else(|| DefaultsError::Type { origin: origin.clone(), expected: expected(option) })?;
        let setting = Setting { key: known.key.clone(), option, value, origin, directory: None };
        if is_general { general.push(setting) } else { own.push(setting) }
    }
    Ok([own, general])
}

/// A key that some command knows.
#[derive(Debug)]
struct KnownKey {
    /// The command; `None`: the key is for all commands that search.
    command: Option<String>,
    key: String,
    /// The name of the variable, without the prefix.
    variable: String,
    refusal: Option<&'static str>,
}

/// Returns all keys: those for single commands, and those for all.
fn keys(driver: &Command) -> Vec<KnownKey> {
    let mut keys = Vec::new();
    for command in driver.get_subcommands() {
        for option in command.get_arguments().filter(|option| !option.is_positional()) {
            let (key, refusal) = (key(option), refusal(command, option));
            let of_command = variable_part(&format!("{}-{key}", command.get_name()));
            let own = Some(command.get_name().to_owned());
            keys.push(KnownKey { command: own, key: key.clone(), variable: of_command, refusal });
            if is_search(command) && !keys.iter().any(|known| known.command.is_none() && known.key == key) {
                let variable = variable_part(&key);
                keys.push(KnownKey { command: None, key, variable, refusal });
            }
        }
    }
    keys
}

/// Returns the defaults of a table: those in its table for the command, and those for all commands.
fn of_table<'a>(
    driver: &Command,
    command: &'a Command,
    table: &DriverTable,
) -> Result<[Vec<Setting<'a>>; 2], DefaultsError> {
    let directory = table.manifest.parent();
    let origin = |name: &str| format!("`{name}` in `{}`", shown(&table.manifest).display());
    let Value::Object(content) = &table.content else {
        return Err(DefaultsError::Type { origin: origin(&table.name), expected: "a table".to_owned() });
    };
    let known = keys(driver);
    let (mut own, mut general) = (Vec::new(), Vec::new());
    // `count` is a command and an option.
    let of_command = |key: &str, value: &Value| driver.find_subcommand(key).filter(|_| value.is_object());
    let mut add = |of: Option<&Command>, name: &str, content: &Map<String, Value>| {
        for (key, value) in content {
            if of.is_none() && of_command(key, value).is_some() {
                continue;
            }
            let origin = origin(&format!("{name}.{key}"));
            let of_name = of.map(Command::get_name);
            let here = known.iter().filter(|known| known.command.as_deref() == of_name);
            let Some(found) = here.clone().find(|known| known.key == *key) else {
                let commands = driver.get_subcommands().filter(|_| of.is_none()).map(Command::get_name);
                let all = here.map(|known| known.key.clone()).chain(commands.map(str::to_owned));
                return Err(DefaultsError::Unknown { origin, key: key.clone(), help: help(key, all) });
            };
            if let Some(reason) = found.refusal {
                return Err(DefaultsError::Refused { origin, reason });
            }
            if of_name.is_some_and(|name| name != command.get_name()) {
                continue;
            }
            let Some(option) = meant(command, key, of.is_none()) else { continue };
            let directory = directory.map(Path::to_owned);
            let setting = Setting { key: key.clone(), option, value: value.clone(), origin, directory };
            if of.is_some() { own.push(setting) } else { general.push(setting) }
        }
        Ok(())
    };
    add(None, &table.name, content)?;
    for (key, value) in content {
        if let (Some(command), Value::Object(content)) = (of_command(key, value), value) {
            add(Some(command), &format!("{}.{key}", table.name), content)?;
        }
    }
    Ok([own, general])
}

/// Returns a hint for a key that no command has.
fn help(key: &str, all: impl Iterator<Item = String>) -> Option<String> {
    if let Some(meant) = nearest(key, all) {
        return Some(format!("did you mean `{meant}`?"));
    }
    let is_cargos = KnownOptions::of(Subcommand::Test).options().any(|option| option == format!("--{key}"));
    is_cargos.then(|| format!("it is an option of cargo: write `cargo-arg = [\"--{key}=VALUE\"]`"))
}

/// Returns the path of a file for people: relative to the working directory, if it is below.
fn shown(path: &Path) -> PathBuf {
    let relative = env::current_dir().ok().and_then(|dir| Some(path.strip_prefix(dir).ok()?.to_owned()));
    relative.unwrap_or_else(|| path.to_owned())
}

fn variable_part(key: &str) -> String {
    key.to_uppercase().replace('-', "_")
}

fn variable_name(part: &str) -> String {
    format!("{}{part}", names::OPTION)
}

fn variable(part: &str) -> String {
    format!("the environment variable `{}`", variable_name(part))
}

impl Setting<'_> {
    /// Returns the words of a command line; none if the option stays as it is without any default.
    ///
    /// # Errors
    /// If the value has another type.
    pub(super) fn words(&self) -> Result<Vec<OsString>, DefaultsError> {
        option::words(self.option, &self.value, self.directory.as_deref())
            .map_err(|expected| DefaultsError::Type { origin: self.origin.clone(), expected })
    }
}
