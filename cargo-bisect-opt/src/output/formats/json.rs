//! The answer as JSON: the content of `result.json`.

use crate::{output::json::Line, record::CommandRecord};

/// Returns the file as it is, or as the record writes it.
pub(crate) fn render(run: &CommandRecord) -> String {
    if let Some(file) = &run.file {
        return file.clone();
    }
    let mut text = serde_json::to_string_pretty(&Line::new(&run.result)).expect("all keys are text");
    text.push('\n');
    text
}
