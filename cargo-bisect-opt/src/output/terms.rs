//! The terms of an axis: its name in the JSON, and words for its changes in the output.

use serde::{Serialize, Serializer};

/// The terms of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The name of the axis: `start.axis` in the JSON.
    pub(crate) axis: &'static str,
    /// The noun for a change.
    pub(crate) change: &'static str,
    /// The participle for changes that a run reports; `None` if a run reports exactly those that it enables.
    pub(crate) reported: Option<&'static str>,
    /// The explanation where no run reports a change, with the next step if there is one; `None` if the changes are only
    /// known after the first two runs.
    pub(crate) if_none_reported: Option<&'static str>,
}

impl Terms {
    /// Returns the same terms for a target that a runner of cargo's configuration starts.
    pub(crate) const fn through_runner(self) -> Self {
        let if_none_reported = "it reported no change: does the runner of cargo's configuration pass the environment on? \
                                It has to pass BISECT_PATTERN and BISECT_REPORT to the executable; then see whether the \
                                code is annotated, and whether the target reaches the toggle";
        Self { if_none_reported: Some(if_none_reported), ..self }
    }

    /// Toggles, and changes of any program that supports the protocol.
    pub(crate) const TOGGLES: Self = Self {
        axis: "toggles",
        change: "change",
        reported: Some("reached"),
        if_none_reported: Some(
            "it reported no change: is the code annotated, and does the target reach the toggle? `cargo bisect-opt \
             toggles` lists all toggles",
        ),
    };

    /// Returns the terms of an axis whose changes affect how code is compiled.
    pub(crate) const fn of_compilation(axis: &'static str, change: &'static str) -> Self {
        Self {
            axis,
            change,
            reported: Some("compiled so"),
            if_none_reported: Some("nothing in it is compiled differently"),
        }
    }
}

impl Serialize for Terms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.axis.serialize(serializer)
    }
}
