//! Changes of any command that supports the protocol: the pattern replaces `PATTERN` in its words.

use super::{Application, Axis, Files, Placeholder, Words, facts::AxisFacts};
use crate::{
    output::terms::Terms,
    run::{error::RunError, spec::Choice},
};

/// The constants of this axis.
const FACTS: AxisFacts = AxisFacts {
    placeholder: Some(Placeholder {
        word: "PATTERN",
        is_required: true,
        is_path: false,
        usage: "the word PATTERN must stand in the value of a variable or in an argument, where the target expects the \
                pattern; for example: cargo bisect-opt exec BISECT_PATTERN=PATTERN ./program",
    }),
    ..AxisFacts::of(Terms::TOGGLES)
};

/// The changes of a command that gets a pattern and reports its changes.
#[derive(Debug)]
pub(crate) struct Protocol;

impl Axis for Protocol {
    fn facts(&self) -> AxisFacts {
        FACTS
    }

    fn subject(&self) -> Option<String> {
        None
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(Application { words: Some(Words::Text(choice.to_string())), ..Application::default() })
    }
}
