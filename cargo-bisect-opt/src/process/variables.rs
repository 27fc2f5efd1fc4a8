//! Variables that a process gets, or does not get, whatever it would inherit.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    process::Command,
};

use super::shell::{is_name, quote};

/// Variables to set or to unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variables(BTreeMap<OsString, Variable>);

/// The state of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// It has this value.
    Set(OsString),
    /// It has a value that nobody is to see. In a line for a shell, this word stands for it.
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
        for (name, variable) in &self.0 {
            match variable {
                Variable::Set(value) | Variable::Secret { value, .. } => command.env(name, value),
                Variable::Unset => command.env_remove(name),
            };
        }
    }

    /// Sets and unsets only those with these names.
    pub(crate) fn apply_only(&self, command: &mut Command, names: &[&str]) {
        let some = self.0.iter().filter(|(name, _)| names.iter().any(|other| *name == other));
        Self(some.map(|(name, variable)| (name.clone(), variable.clone())).collect()).apply(command);
    }

    /// Returns the words of a shell before a program, which set and unset the variables for it. A shell can do neither
    /// with some names; then the first word is `env`.
    pub(crate) fn words(&self) -> Vec<String> {
        let is_plain = |(name, variable): (&OsString, &Variable)| {
            *variable != Variable::Unset && name.to_str().is_some_and(is_name)
        };
        let mut words = Vec::new();
        if !self.0.iter().all(is_plain) {
            words.push("env".to_owned());
        }
        let unset = self.0.iter().filter(|(_, variable)| **variable == Variable::Unset);
        words.extend(unset.flat_map(|(name, _)| ["-u".to_owned(), quote(name)]));
        words.extend(self.0.iter().filter_map(|(name, variable)| {
            let word = match variable {
                Variable::Set(value) => quote(value),
                Variable::Secret { word, .. } => word.clone(),
                Variable::Unset => return None,
            };
            let name = if name.to_str().is_some_and(is_name) { name.display().to_string() } else { quote(name) };
            Some(format!("{name}={word}"))
        }));
        words
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
        assert_eq!(variables.words(), ["A=2", "B='x y'", "T=\"$(cat x)\""]);
        variables.insert("B".into(), Variable::Unset);
        assert_eq!(variables.words(), ["env", "-u", "B", "A=2", "T=\"$(cat x)\""]);
        let function = Variables::from([("BASH_FUNC_f%%", "() {  :\n}")]);
        assert_eq!(function.words(), ["env", "'BASH_FUNC_f%%'='() {  :\n}'"]);
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
