//! Changes of any command that supports the protocol: the pattern replaces `PATTERN` in its words.

use std::{io, path::Path};

use super::{AfterBuild, Application, Axis, Files, Placeholder, Words};
use crate::{
    output::terms::Terms,
    report::{content::Report, scan::Reports},
    run::{error::RunError, spec::Choice},
};

/// The changes of a command that gets a pattern and reports its changes.
#[derive(Debug)]
pub(crate) struct Protocol;

impl Axis for Protocol {
    fn terms(&self) -> Terms {
        Terms::TOGGLES
    }

    fn subject(&self) -> Option<String> {
        None
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(Application { words: Some(Words::Text(choice.to_string())), ..Application::default() })
    }

    fn collect(&self, _: &Choice, _: &AfterBuild<'_>, _: &mut Reports) -> io::Result<()> {
        Ok(())
    }

    fn change(&self, report: Report, _: &Path) -> Report {
        report
    }

    fn placeholder(&self) -> Option<Placeholder> {
        Some(Placeholder {
            word: "PATTERN",
            is_required: true,
            is_path: false,
            usage: "the word PATTERN must stand in the value of a variable or in an argument, where the target expects the \
                    pattern; for example: cargo bisect-opt exec BISECT_PATTERN=PATTERN ./program",
        })
    }
}
