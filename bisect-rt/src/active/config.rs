//! The configuration of this process.

use std::sync::OnceLock;

pub(crate) use bisect_core::{Config, Occurrence, Setting};

/// The configuration, which is set before `main` or never. Reading it takes no lock.
static CURRENT: OnceLock<ProcessConfig> = OnceLock::new();

/// The values of the variables of this process.
pub(crate) struct ProcessConfig {
    /// The settings of toggles.
    pub(crate) settings: Config,
    /// The last decision that is not reversed.
    pub(crate) until: Option<Occurrence>,
    /// The decision at which to stop.
    pub(crate) stop: Option<Occurrence>,
}

/// Returns the setting of the toggles with this name.
pub(crate) fn setting(name: &str) -> &'static Setting {
    CURRENT.get().map_or(&Setting::Default, |config| config.settings.setting(name))
}

/// Returns the configuration, if there is one.
pub(crate) fn current() -> Option<&'static ProcessConfig> {
    CURRENT.get()
}

/// Makes this the configuration of the process.
pub(crate) fn set(config: ProcessConfig) {
    // Only the start of the process calls this, once.
    let _ = CURRENT.set(config);
}
