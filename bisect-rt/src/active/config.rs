//! The configuration of this process.

use std::sync::OnceLock;

pub(crate) use bisect_core::{Config, Setting};

/// The configuration, which is set before `main` or never. Reading it takes no lock.
static CURRENT: OnceLock<Config> = OnceLock::new();

/// Returns the setting of the toggles with this name.
pub(crate) fn setting(name: &str) -> &'static Setting {
    CURRENT.get().map_or(&Setting::Default, |config| config.setting(name))
}

/// Returns the configuration, if there is one.
pub(crate) fn current() -> Option<&'static Config> {
    CURRENT.get()
}

/// Makes this the configuration of the process.
pub(crate) fn set(config: Config) {
    // Only the start of the process calls this, once.
    let _ = CURRENT.set(config);
}
