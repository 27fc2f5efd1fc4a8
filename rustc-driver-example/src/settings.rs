//! What a variable says: a pattern for the gates that are on by default, or settings by name.

use bisect_core::{ChangeId, Config, Matcher, Setting};

use crate::Gate;

/// What all gates were told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings([Setting; Gate::ALL.len()]);

/// Whom the names in a variable belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// This compiler alone; it has to know them.
    Gates,
    /// The toggles of `bisect-rt` too; what is no gate is one of them.
    Shared,
}

impl Settings {
    /// The meaning of a value: `PATTERN`, or `name=PATTERN;other=PATTERN` with `on` and `off` as patterns too.
    ///
    /// # Errors
    /// If it has none; the text says why and at which byte.
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

    /// Whether a change of this gate may be otherwise than if nobody bisected, or is reported.
    #[must_use]
    pub(crate) fn asks_for(&self, gate: Gate) -> bool {
        match self.get(gate) {
            Setting::Default => false,
            Setting::Fixed(on) => *on != gate.is_on_by_default(),
            Setting::Search(_) => true,
        }
    }

    /// Whether people are to read about the changes of this gate.
    #[must_use]
    pub(crate) fn is_verbose(&self, gate: Gate) -> bool {
        matches!(self.get(gate), Setting::Search(matcher) if matcher.verbose())
    }

    /// Whether the change is to be on.
    #[must_use]
    pub(crate) fn should_enable(&self, gate: Gate, id: ChangeId) -> bool {
        match self.get(gate) {
            Setting::Default => gate.is_on_by_default(),
            Setting::Fixed(on) => *on,
            Setting::Search(matcher) => matcher.should_enable(id),
        }
    }

    /// Who wants a report of the change, if anybody does.
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
