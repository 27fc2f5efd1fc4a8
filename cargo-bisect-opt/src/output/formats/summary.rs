//! Parts that several formats share: the status, the conclusion, and the places to look at.

use bisect_core::search::Mode;

use crate::{
    output::groups,
    process::shell,
    record::{
        ResultRecord,
        change::{ChangeRecord, StackFrame},
        culprit::CulpritRecord,
        source_place::SourcePlace,
    },
    units::plural,
};

/// The name of the status of a search that has not ended.
const UNFINISHED: &str = "unfinished";

/// A place in the source code, as far as it is known.
#[derive(Debug)]
pub(super) struct DecisivePlace<'a> {
    pub(super) file: &'a str,
    /// Line and column, from 1.
    pub(super) from: (usize, usize),
    /// The line and the column after its last character.
    pub(super) to: (usize, usize),
    /// The code there.
    pub(super) source: Option<&'a SourcePlace>,
    /// The function, if the change is a call stack.
    pub(super) function: Option<&'a str>,
}

/// Returns the name of the status: of an exit status, or `unfinished`.
pub(in crate::output) fn status(result: &ResultRecord) -> &'static str {
    result.end.as_ref().map_or(UNFINISHED, |end| end.status.name())
}

/// Returns the conclusion in a sentence or more.
pub(in crate::output) fn conclusion(result: &ResultRecord) -> String {
    let smallest = result.smallest.as_ref().map(|smallest| {
        let does = match smallest.mode {
            Mode::Enable => "enabled",
            Mode::Disable => "disabled",
        };
        format!("the smallest failing set so far: {} of {}, {does}", smallest.changes, plural(smallest.of, "change"))
    });
    let message = match &result.end {
        Some(end) => end.words.clone(),
        None => format!("the search goes on, or was killed; found {} so far", plural(result.found.len(), "culprit")),
    };
    [Some(message), smallest].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Returns the title of a culprit: its number and its headline.
pub(in crate::output) fn title(found: &CulpritRecord) -> String {
    match found.within {
        None => format!("culprit {}: {}", found.set, found.headline),
        Some(whole) => format!("in culprit {whole}: {}", found.headline),
    }
}

/// Returns the title of a culprit with what it is, and where, on one line.
pub(super) fn message(found: &CulpritRecord) -> String {
    format!("{}: {}", title(found), groups::one_line(found))
}

/// Returns the command line that runs the target in a neighbouring state that passes.
pub(in crate::output) fn passing_line(found: &CulpritRecord) -> Option<String> {
    if found.passes.is_some() || found.replaces.is_some() {
        return found.passes.clone();
    }
    let line = found.replay.others.replacen("\"$@\" ", "", 1);
    (!line.is_empty() && !shell::is_refusal(&line)).then_some(line)
}

/// Returns the place of a change that a reader looks at first: the innermost call in the user's own code, or the change.
pub(super) fn decisive_place(change: &ChangeRecord) -> Option<DecisivePlace<'_>> {
    let own = change.frames.iter().skip(1).find(|frame| frame.own && frame.line.is_some());
    let own = own.or_else(|| change.frames.iter().find(|frame| frame.own && frame.line.is_some()));
    if let Some(source) = change.source.first() {
        let is_there = |frame: &&StackFrame| {
            let is_same_file = frame.file.as_ref().is_some_and(|file| file.ends_with(&source.file));
            is_same_file && frame.line.is_some_and(|line| usize::try_from(line) == Ok(source.from.0))
        };
        let function = change.frames.iter().find(is_there).map(|frame| frame.function.as_str());
        return Some(DecisivePlace {
            file: &source.file,
            from: source.from,
            to: source.to,
            source: Some(source),
            function,
        });
    }
    let (file, line, column) = match own {
        Some(frame) => (frame.file.as_ref()?, frame.line, frame.column),
        None => (change.file.as_ref()?, change.line, change.column),
    };
    let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let from = (line.map_or(1, number), column.map_or(1, number));
    let function = own.map(|frame| frame.function.as_str());
    let to = change.end.filter(|_| own.is_none()).map_or(from, |(line, column)| (number(line), number(column)));
    Some(DecisivePlace { file, from, to, source: None, function })
}
