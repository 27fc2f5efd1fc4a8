//! A place in the source code on a terminal: its lines, and the underlined part of them.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::record::source_place::{SourcePlace, byte_of};

/// Renders the lines of a place, with colours.
pub(super) fn render(place: &SourcePlace) -> String {
    let start = offset(place, place.from);
    let span = start..offset(place, place.to).max(start);
    let snippet = Snippet::source(place.lines.join("\n"))
        .line_start(place.first_line)
        .path(place.file.as_str())
        .fold(false)
        .annotation(AnnotationKind::Primary.span(span).label(place.label.as_str()));
    Renderer::styled().render(&[Group::with_level(Level::NOTE).element(snippet)])
}

/// Returns the byte offset of a line and a column in the lines. A place outside of them is moved to their end.
fn offset(place: &SourcePlace, (line, column): (usize, usize)) -> usize {
    let index = line.saturating_sub(place.first_line).min(place.lines.len().saturating_sub(1));
    let before: usize = place.lines[..index].iter().map(|line| line.len() + 1).sum();
    before + place.lines.get(index).map_or(0, |line| byte_of(line, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::terminal::without_colors;

    #[test]
    fn a_place_is_shown_without_its_file() {
        let lines = ["fn f() {", "    två(x);", "}"].map(str::to_owned).to_vec();
        let (file, label) = ("src/x.rs".to_owned(), "here".to_owned());
        let place = SourcePlace { file, first_line: 8, lines, from: (9, 5), to: (9, 11), label };
        let shown = without_colors(&render(&place));
        assert!(shown.contains("src/x.rs:9:5") && shown.contains("^^^^^^ here"), "{shown}");
    }

    #[test]
    fn what_another_program_has_edited_is_shown_as_far_as_it_goes() {
        let place = |lines: &[&str], from, to| SourcePlace {
            file: "x".to_owned(),
            first_line: 3,
            lines: lines.iter().map(|&line| line.to_owned()).collect(),
            from,
            to,
            label: String::new(),
        };
        for place in [place(&[], (3, 1), (3, 2)), place(&["a"], (9, 9), (1, 1)), place(&["é"], (0, 0), (3, 7))] {
            render(&place);
        }
    }
}
