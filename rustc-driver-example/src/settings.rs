//! The settings in the value of a variable: a pattern for the gates that are on by default, or settings by name.

use bisect_core::{ChangeId, Config, Matcher, Setting};

use crate::Gate;

/// The settings of all gates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings([Setting; Gate::ALL.len()]);

/// The owners of the names in a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// This compiler alone: a name that is no gate is an error.
    Gates,
    /// This compiler and the toggles of `bisect-rt`: a name that is no gate is taken for a toggle.
    Shared,
}

impl Settings {
    /// Parses a value: `PATTERN`, or `name=PATTERN;other=PATTERN`, where `on` and `off` are patterns too.
    ///
    /// # Errors
    /// If the value is malformed, or names an unknown gate. The text gives the reason, and the byte where the value is
    /// malformed.
    pub(crate) fn parse(value: &str, names: Names) -> Result<Self, String> {
        let mut settings = Self::default();
        match Config::parse(value.as_bytes()).map_err(|error| error.to_string())? {
            Config::All(setting) => {
                let gates = Gate::ALL.into_iter().filter(|gate| gate.is_on_by_default());
                gates.for_each(|gate| settings.set(gate, setting.clone()));
            }
            Config::Named(items) => {
                for (name, setting) in items {
                    match Gate::ALL.into_iter().find(|gate| gate.name() == name) {
                        Some(gate) => settings.set(gate, setting),
                        None if names == Names::Shared => {}
                        None => return Err(format!("there is no gate {name:?}: there are {}", gates())),
                    }
                }
            }
        }
        Ok(settings)
    }

    /// Returns true if changes of this gate are reported or may differ from the default.
    #[must_use]
    pub(crate) fn asks_for(&self, gate: Gate) -> bool {
        match self.get(gate) {
            Setting::Default => false,
            Setting::Fixed(on) => *on != gate.is_on_by_default(),
            Setting::Search(_) => true,
        }
    }

    /// Returns true if reports of this gate are verbose.
    #[must_use]
    pub(crate) fn is_verbose(&self, gate: Gate) -> bool {
        matches!(self.get(gate), Setting::Search(matcher) if matcher.verbose())
    }

    /// Returns true if the change should be enabled.
    #[must_use]
    pub(crate) fn should_enable(&self, gate: Gate, id: ChangeId) -> bool {
        match self.get(gate) {
            Setting::Default => gate.is_on_by_default(),
            Setting::Fixed(on) => *on,
            Setting::Search(matcher) => matcher.should_enable(id),
        }
    }

    /// Returns the matcher of the gate, if it selects this change for a report.
    #[must_use]
    pub(crate) fn should_report(&self, gate: Gate, id: ChangeId) -> Option<&Matcher> {
        match self.get(gate) {
            Setting::Search(matcher) => Some(matcher).filter(|matcher| matcher.should_report(id)),
            Setting::Default | Setting::Fixed(_) => None,
        }
    }

    fn get(&self, gate: Gate) -> &Setting {
        &self.0[gate as usize]
    }

    fn set(&mut self, gate: Gate, setting: Setting) {
        self.0[gate as usize] = setting;
    }
}

fn gates() -> String {
    Gate::ALL.map(Gate::name).join(", ")
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
