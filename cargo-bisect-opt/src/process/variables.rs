//! Variables that are set or unset for a process, instead of the inherited ones.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    process::Command,
};

use super::shell::{is_name, quote};

/// Parts of the names of variables whose values are neither shown nor stored.
const SECRET_NAME_PARTS: [&str; 5] = ["TOKEN", "SECRET", "KEY", "PASS", "CRED"];
/// Variables that a shell does not let a command set by an assignment before it.
const READ_ONLY: [&str; 6] = ["UID", "EUID", "PPID", "BASHOPTS", "SHELLOPTS", "BASH_VERSINFO"];

/// Returns true if the name of a variable says that its value is a secret.
pub(crate) fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    SECRET_NAME_PARTS.iter().any(|part| name.contains(part))
}

/// Variables to set or to unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variables(BTreeMap<OsString, Variable>);

/// The state of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// It has this value.
    Set(OsString),
    /// It has a value that must not be printed. In a line for a shell, a word reads it from a file.
    Secret {
        /// The value.
        value: OsString,
        /// The word, quoted.
        word: String,
    },
    /// It is not set.
    Unset,
}

impl Variables {
    /// Sets a variable.
    pub(crate) fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.insert(name.into(), Variable::Set(value.into()));
    }

    /// Gives a variable a state.
    pub(crate) fn insert(&mut self, name: OsString, variable: Variable) {
        self.0.insert(name, variable);
    }

    /// Returns the names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.0.keys().map(OsString::as_os_str)
    }

    /// Returns the state of a variable, if it gets one.
    pub(crate) fn get(&self, name: impl AsRef<OsStr>) -> Option<&Variable> {
        self.0.get(name.as_ref())
    }

    /// Sets and unsets the variables of a command.
    pub(crate) fn apply(&self, command: &mut Command) {
        self.apply_some(command, |_| true);
    }

    /// Sets and unsets those variables of a command whose names are chosen.
    pub(crate) fn apply_some(&self, command: &mut Command, is_chosen: impl Fn(&OsStr) -> bool) {
        for (name, variable) in self.0.iter().filter(|(name, _)| is_chosen(name)) {
            match variable {
                Variable::Set(value) | Variable::Secret { value, .. } => command.env(name, value),
                Variable::Unset => command.env_remove(name),
            };
        }
    }

    /// Returns the words of a shell that set and unset the variables for the program after them. They begin with `env` if
    /// a variable is unset, or if the shell does not set a variable of this name.
    pub(crate) fn words(&self) -> Vec<String> {
        let is_assignable =
            |name: &OsStr| name.to_str().is_some_and(|name| is_name(name) && !READ_ONLY.contains(&name));
        let is_plain = |(name, variable): (&OsString, &Variable)| *variable != Variable::Unset && is_assignable(name);
        let (mut words, mut set, mut unset) = (Vec::new(), Vec::new(), Vec::new());
        for (name, variable) in &self.0 {
            let name = quote(name);
            match variable {
                // The commands that read them may need the present `PATH`.
                Variable::Secret { word, .. } => words.push(format!("{name}={word}")),
                Variable::Set(value) => set.push(format!("{name}={}", quote(value))),
                Variable::Unset => unset.extend(["-u".to_owned(), name]),
            }
        }
        let env = (!self.0.iter().all(is_plain)).then(|| "env".to_owned());
        env.into_iter().chain(unset).chain(words).chain(set).collect()
    }
}

impl<N: Into<OsString>, V: Into<OsString>> Extend<(N, V)> for Variables {
    fn extend<I: IntoIterator<Item = (N, V)>>(&mut self, variables: I) {
        variables.into_iter().for_each(|(name, value)| self.set(name, value));
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let mut all = Self::default();
        all.extend(variables);
        all
    }
}

impl<N: Into<OsString>, V: Into<OsString>, const COUNT: usize> From<[(N, V); COUNT]> for Variables {
    fn from(variables: [(N, V); COUNT]) -> Self {
        variables.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> Variable {
        Variable::Secret { value: "hunter2".into(), word: "\"$(cat x)\"".to_owned() }
    }

    #[test]
    fn a_shell_sets_what_it_can() {
        let mut variables = Variables::from([("A", "1"), ("B", "x y")]);
        assert_eq!(variables.words(), ["A=1", "B='x y'"]);
        variables.set("A", "2");
        variables.insert("T".into(), secret());
        assert_eq!(variables.words(), ["T=\"$(cat x)\"", "A=2", "B='x y'"]);
        variables.insert("B".into(), Variable::Unset);
        assert_eq!(variables.words(), ["env", "-u", "B", "T=\"$(cat x)\"", "A=2"]);
        let function = Variables::from([("BASH_FUNC_f%%", "() {  :\n}")]);
        assert_eq!(function.words(), ["env", "'BASH_FUNC_f%%'='() {  :\n}'"]);
        assert_eq!(Variables::from([("UID", "0")]).words(), ["env", "UID=0"]);
        assert_eq!(Variables::default().words(), [""; 0]);
    }

    #[test]
    fn a_command_gets_them() {
        let mut variables = Variables::from([("A", "1")]);
        variables.insert("B".into(), Variable::Unset);
        variables.insert("T".into(), secret());
        let mut command = Command::new("x");
        variables.apply(&mut command);
        let envs: Vec<_> = command.get_envs().collect();
        let text = |text| Some(OsStr::new(text));
        let expected = [("A", text("1")), ("B", None), ("T", text("hunter2"))];
        assert_eq!(envs, expected.map(|(name, value)| (OsStr::new(name), value)));
        assert_eq!(variables.get("B"), Some(&Variable::Unset));
    }
}
