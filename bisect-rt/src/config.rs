//! The configuration of this process.

pub(crate) use bisect_core::{Config, Setting};
use once_cell::race::OnceBox;

/// Set before `main`, or never.
static CURRENT: OnceBox<Config> = OnceBox::new();

/// The setting of the toggles with this name.
pub(crate) fn setting(name: &str) -> &'static Setting {
    CURRENT.get().map_or(&Setting::Default, |config| config.setting(name))
}

/// Makes this the configuration of the process.
pub(crate) fn set(config: Config) {
    // Only the start of the process comes here, once.
    let _ = CURRENT.set(Box::new(config));
}
