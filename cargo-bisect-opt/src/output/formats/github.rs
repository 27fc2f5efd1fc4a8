//! The answer as workflow commands of GitHub Actions, which shows them beside the code.

use std::fmt::Write;

use super::summary::{self, DecisivePlace};
use crate::{
    record::{CommandRecord, ResultRecord, culprit::CulpritRecord, exit_status::Exit},
    units::plural,
};

/// The number of annotations of one step that GitHub shows.
const MAX_SHOWN: usize = 10;

/// Renders the answer: an error for each culprit, or a warning or notice with the conclusion.
pub(crate) fn render(run: &CommandRecord) -> String {
    let result = &run.result;
    if result.found.is_empty() {
        return without_culprit(result);
    }
    let shown = if result.found.len() > MAX_SHOWN { MAX_SHOWN - 1 } else { MAX_SHOWN };
    let mut out: String = result.found.iter().take(shown).map(annotation).collect();
    if let Some(more) = result.found.len().checked_sub(shown).filter(|&more| more > 0) {
        out += &command(
            "notice",
            &[("title", "cargo bisect-opt".to_owned())],
            &format!("and {}", plural(more, "more culprit")),
        );
    }
    out
}

fn without_culprit(result: &ResultRecord) -> String {
    let status = summary::status(result);
    let is_nothing = result.end.as_ref().is_some_and(|end| end.status == Exit::Nothing);
    let level = if is_nothing { "notice" } else { "warning" };
    command(level, &[("title", format!("cargo bisect-opt: {status}"))], &summary::conclusion(result))
}

fn annotation(found: &CulpritRecord) -> String {
    let mut properties = Vec::new();
    if let Some(DecisivePlace { file, from, to, .. }) = found.changes.iter().find_map(summary::decisive_place) {
        properties.push(("file", file.to_owned()));
        properties.push(("line", from.0.to_string()));
        properties.push(("endLine", to.0.to_string()));
        // Columns are only for places in one line.
        if from.0 == to.0 && from.1 < to.1 {
            properties.push(("col", from.1.to_string()));
            properties.push(("endColumn", to.1.to_string()));
        }
    }
    properties.push(("title", summary::title(found)));
    let text = [summary::message(found), "to reproduce:".to_owned(), found.reproduce.clone()].join("\n");
    command("error", &properties, &text)
}

fn command(level: &str, properties: &[(&str, String)], message: &str) -> String {
    let properties: Vec<_> = properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    let mut line = String::new();
    writeln!(line, "::{level} {}::{}", properties.join(","), data(message)).expect("a string takes everything");
    line
}

/// Escapes a message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_begin_another_command() {
        let line = command("error", &[("title", "a,b: c".to_owned())], "100%\r\n::stop-commands::x");
        assert_eq!(line, "::error title=a%2Cb%3A c::100%25%0D%0A::stop-commands::x\n");
    }

    #[test]
    fn ten_annotations_are_shown() {
        for (culprits, lines) in [(1, 1), (10, 10), (11, 10), (99, 10)] {
            let mut run = CommandRecord::default();
            run.result.found = vec![CulpritRecord::default(); culprits];
            let text = render(&run);
            assert_eq!(text.lines().count(), lines, "{text}");
            assert_eq!(text.contains("more culprits"), culprits > 10, "{text}");
        }
    }
}
