//! The answer in few words, for programs that pay by the word.

use super::summary::{self, DecisivePlace};
use crate::{
    record::{CommandRecord, ResultRecord, culprit::CulpritRecord},
    units::plural,
};

/// The maximum number of characters: 600 tokens of about four characters.
const MAX_CHARACTERS: usize = 2400;
/// The characters for the commands that may be run next.
const FOR_NEXT: usize = 900;
/// The maximum length of a line that is not a command.
const MAX_LINE: usize = 300;

/// Renders the answer as plain lines.
pub(crate) fn render(run: &CommandRecord) -> String {
    let result = &run.result;
    let mut next = LimitedText::new(FOR_NEXT);
    // A command that is cut off would be wrong, so a long one is left out.
    for command in commands(result).filter(|command| !command.contains('\n')) {
        next.add(&format!("next: {command}"));
    }
    let mut lines = LimitedText::new(MAX_CHARACTERS - next.length);
    lines.add(&format!("status: {}", summary::status(result)));
    lines.add(&cut(&summary::conclusion(result)));
    let rest = "and … more culprits, see the next commands".len();
    lines.left = lines.left.saturating_sub(rest + 1);
    let all = result.found.len();
    let shown = result.found.iter().take_while(|found| lines.add(&culprit(found))).count();
    lines.left += rest + 1;
    if shown < all {
        lines.add(&format!("and {}, see the next commands", plural(all - shown, "more culprit")));
    }
    lines.text + &next.text
}

/// Returns the commands that may be run next.
fn commands(result: &ResultRecord) -> impl Iterator<Item = &str> {
    let ended = result.end.iter().flat_map(|end| end.next.iter());
    // Of a search that goes on, only the smallest failing set can be run.
    let smallest = result.smallest.iter().filter(|_| result.end.is_none()).map(|smallest| &smallest.reproduce);
    ended.chain(smallest).map(String::as_str)
}

/// Returns a culprit: what it is, and the code at its decisive places.
fn culprit(found: &CulpritRecord) -> String {
    let places = found
        .changes
        .iter()
        .filter_map(summary::decisive_place)
        .map(|place| cut(&format!("  at {}", described(&place))));
    let confidence = found.noise.as_ref().map(|noise| cut(&format!("  confidence: {}", noise.describe())));
    [cut(&summary::message(found))].into_iter().chain(places).chain(confidence).collect::<Vec<_>>().join("\n")
}

fn described(place: &DecisivePlace<'_>) -> String {
    let DecisivePlace { file, from: (line, column), source, function, .. } = place;
    let function = function.map(|function| format!(" in {function}")).unwrap_or_default();
    let code = source.and_then(|source| source.lines.get(line.checked_sub(source.first_line)?));
    let code = code.map(|code| format!(": {}", code.trim())).unwrap_or_default();
    format!("{file}:{line}:{column}{function}{code}")
}

/// Returns text as one line that is not too long.
fn cut(text: &str) -> String {
    let indent: String = text.chars().take_while(|&c| c == ' ').collect();
    let line = indent + &text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_LINE {
        return line;
    }
    line.chars().take(MAX_LINE - 1).chain(['…']).collect()
}

/// Lines with a limited number of characters.
#[derive(Debug)]
struct LimitedText {
    text: String,
    length: usize,
    left: usize,
}

impl LimitedText {
    fn new(left: usize) -> Self {
        Self { text: String::new(), length: 0, left }
    }

    /// Adds lines if there is room for all of them. Returns whether there is.
    fn add(&mut self, lines: &str) -> bool {
        let length = lines.chars().count() + 1;
        let Some(left) = self.left.checked_sub(length) else { return false };
        (self.left, self.length) = (left, self.length + length);
        self.text += lines;
        self.text.push('\n');
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::end::End;

    #[test]
    fn long_answers_have_at_most_600_tokens() {
        for (culprits, length) in [(1, 10), (3, 5000), (200, 20), (200, 290), (12, 100)] {
            let mut run = CommandRecord::default();
            let headline = "é".repeat(length);
            run.result.found = (1..=culprits)
                .map(|set| CulpritRecord { set, headline: headline.clone(), ..CulpritRecord::default() })
                .collect();
            let next = [20, 2000, 400, 400, 400].map(|length| "x".repeat(length)).to_vec();
            let end = serde_json::json!({
                "status": 0, "sets": culprits, "trials": 1, "runs": 1, "ms": 1, "message": headline, "next": next,
            });
            run.result.end = Some(serde_json::from_value::<End>(end).unwrap());
            let text = render(&run);
            assert!(text.chars().count() <= MAX_CHARACTERS, "{} characters", text.chars().count());
            let commands: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("next: ")).map(str::len).collect();
            assert_eq!(commands, [20, 400, 400], "a command is whole or left out");
            assert!(text.starts_with("status: found\n"), "{text}");
            let shown = text.lines().filter(|line| line.starts_with("culprit ")).count();
            assert!(shown >= 1 && (shown == culprits || text.contains("more culprit")), "{text}");
        }
    }
}
