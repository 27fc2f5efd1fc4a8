//! The choice of the toggles to search.

use std::collections::BTreeSet;

use super::toggles::{FixedState, Toggle};
use crate::units::{nearest, suggestion};

/// The toggles to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToggleChoice {
    /// Their names; empty for all run-time toggles.
    pub(crate) names: Vec<String>,
    /// Set for build-time toggles.
    pub(crate) build_time: bool,
    /// A note for the user.
    pub(crate) note: Option<String>,
}

/// A reason why toggles cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ToggleError {
    /// No program has toggles. The lines name the searches that need none.
    #[error(
        "no toggle in any executable of this build, so there is nothing to switch on and off\n\
         help: these options search without any annotation:\n{0}\n\
         help: to annotate code, mark it with `#[bisect_toggle(\"name\")]` or `bisect_point!(\"name\")`, as the \
         documentation of the crate bisect-rt shows"
    )]
    NoToggles(String),
    /// All toggles are fixed, or all those with a name.
    #[error(
        "{} in this build, so it cannot be searched\n\
         help: to search it, build with a BISECT_FIX that does not name it",
        fixed_toggles(.0.iter().cloned())
    )]
    Fixed(Vec<(String, FixedState)>),
    /// A name is unknown.
    #[error("no toggle is called `{name}`{}\nhelp: there is {}", suggestion(.nearest.as_deref()), quoted(.all))]
    Unknown {
        /// The user's name.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
        /// All names.
        all: Vec<String>,
    },
    /// Both run-time and build-time toggles were named.
    #[error(
        "the run-time toggles {} and the build-time toggles {} cannot be searched together\n\
         help: search one kind after the other",
        quoted(.runtime), quoted(.build_time)
    )]
    Mixed {
        /// The run-time toggles.
        runtime: Vec<String>,
        /// The build-time toggles.
        build_time: Vec<String>,
    },
}

impl ToggleError {
    /// Returns whether the command line is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        !matches!(self, ToggleError::NoToggles(_) | ToggleError::Fixed(_))
    }
}

fn fixed_toggles(toggles: impl IntoIterator<Item = (String, FixedState)>) -> String {
    toggles.into_iter().map(|(name, state)| format!("`{name}` is {state}")).collect::<Vec<_>>().join(", ")
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Chooses the toggles to search: those that the user names, else all run-time toggles, else all build-time toggles.
/// Fixed toggles cannot be searched. `without_toggles` returns a line for each search that needs no toggle.
///
/// # Errors
/// See [`ToggleError`].
pub(crate) fn choose(
    toggles: &BTreeSet<Toggle>,
    wanted: &[String],
    without_toggles: fn() -> String,
) -> Result<ToggleChoice, ToggleError> {
    let (build, runtime): (Vec<_>, Vec<_>) =
        toggles.iter().filter(|toggle| toggle.fixed.is_none()).partition(|toggle| toggle.build.is_some());
    let names = |toggles: &[&Toggle]| {
        let names: BTreeSet<_> = toggles.iter().map(|toggle| toggle.name.clone()).collect();
        Vec::from_iter(names)
    };
    let (build, runtime) = (names(&build), names(&runtime));
    if toggles.is_empty() {
        return Err(ToggleError::NoToggles(without_toggles()));
    }
    let fixed: BTreeSet<_> = toggles.iter().filter_map(|toggle| Some((toggle.name.clone(), toggle.fixed?))).collect();
    if build.is_empty() && runtime.is_empty() && wanted.is_empty() {
        return Err(ToggleError::Fixed(fixed.into_iter().collect()));
    }
    if wanted.is_empty() {
        let note = (!fixed.is_empty()).then(|| format!("not searched: {}", fixed_toggles(fixed)));
        return Ok(if runtime.is_empty() {
            ToggleChoice { names: build, build_time: true, note }
        } else {
            let build_time = (!build.is_empty())
                .then(|| format!("build-time toggles are not searched (name them with --toggle): {}", quoted(&build)));
            let notes: Vec<_> = build_time.into_iter().chain(note).collect();
            let note = (!notes.is_empty()).then(|| notes.join("; "));
            ToggleChoice { names: Vec::new(), build_time: false, note }
        });
    }
    let unknown = wanted.iter().find(|name| !build.contains(name) && !runtime.contains(name));
    if let Some(name) = unknown {
        if let Some(fixed) = fixed.into_iter().find(|(other, _)| other == name) {
            return Err(ToggleError::Fixed(vec![fixed]));
        }
        let all: BTreeSet<_> = build.into_iter().chain(runtime).collect();
        let nearest = nearest(name, all.iter().cloned());
        return Err(ToggleError::Unknown { name: name.clone(), nearest, all: all.into_iter().collect() });
    }
    let mut names = Vec::new();
    for name in wanted {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let chosen = |kind: &[String]| names.iter().filter(|name| kind.contains(name)).cloned().collect::<Vec<_>>();
    let (chosen_build, chosen_runtime) = (chosen(&build), chosen(&runtime));
    if !chosen_build.is_empty() && !chosen_runtime.is_empty() {
        return Err(ToggleError::Mixed { runtime: chosen_runtime, build_time: chosen_build });
    }
    Ok(ToggleChoice { build_time: !chosen_build.is_empty(), names, note: None })
}
