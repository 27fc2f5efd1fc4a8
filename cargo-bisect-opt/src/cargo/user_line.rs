//! The command lines of cargo that a user would type for a project.

use std::ffi::OsString;

use super::{BuildOverrides, Project, Subcommand, feature_options};
use crate::process;

impl Project {
    /// Returns the command line that a user would type.
    pub(crate) fn command_line(&self) -> String {
        process::shell::line(self.command_words(&BuildOverrides::default(), &self.target_arguments))
    }

    /// Returns the words of a command line for a user that builds and runs, with the settings and features of these
    /// overrides, and these arguments after `--`.
    pub(crate) fn command_words(&self, with: &BuildOverrides, target_arguments: &[OsString]) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["cargo".into(), self.subcommand.name().into()];
        words.extend((self.subcommand == Subcommand::Nextest).then(|| "run".into()));
        let typed = &self.arguments.typed;
        words.extend(match &with.features {
            Some(features) => feature_options::replaced(self.subcommand, typed, features),
            None => typed.clone(),
        });
        // The last value of a setting counts.
        words.extend(with.settings.iter().flat_map(|setting| ["--config".into(), setting.into()]));
        if !target_arguments.is_empty() {
            words.push("--".into());
            words.extend(target_arguments.iter().cloned());
        }
        words
    }
}
