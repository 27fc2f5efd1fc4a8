//! A culprit on the page: its source, call stack, tests, and command lines.

use std::time::SystemTime;

use maud::{Markup, html};

use crate::{
    output::{formats::summary, last_change::in_words},
    record::{
        ResultRecord,
        change::{ChangeRecord, StackFrame},
        culprit::{BrokenMoment, CulpritRecord},
        source_place::{SourcePlace, byte_of},
    },
    run::result::Failed,
    units::{grouped, plural},
};

/// The maximum number of tests that are named at once.
const MAX_TESTS: usize = 12;
/// The maximum number of frames of a call stack.
const MAX_FRAMES: usize = 200;
/// The number of frames that are shown if none is the user's own.
const FOREIGN_FRAMES: usize = 3;

/// Shows a culprit.
pub(super) fn culprit(result: &ResultRecord, found: &CulpritRecord) -> Markup {
    let answers = result.end.iter().flat_map(|end| &end.answers).filter(|answer| answer.set == found.set);
    html! {
        article.culprit id={ "culprit-" (found.set) } {
            h3 { (first_letter_upper(&summary::title(found))) }
            @for (index, change) in found.changes.iter().enumerate() {
                (shown_change(change, (found.changes.len() > 1).then_some(index + 1)))
                @if let Some(last_change) = found.last_change.as_ref().filter(|_| index == 0) {
                    p.quiet { (in_words(last_change, SystemTime::now())) }
                }
            }
            @if let Some(moment) = &found.moment { (shown_moment(moment)) }
            (tests(found))
            @if let Some(noise) = &found.noise { p { b { "Confidence: " } (noise.describe()) } }
            (commands(found))
            @for answer in answers {
                h4 { "In short" }
                dl.facts {
                    @for fact in &answer.facts { div { dt { (fact.of) } dd { (fact.text) } } }
                }
                ul { @for advice in &answer.advice { li { (advice) } } }
            }
        }
    }
}

fn first_letter_upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn shown_change(change: &ChangeRecord, number: Option<usize>) -> Markup {
    let (decisive, others) = change.source.split_at(change.source.len().min(1));
    // A report in an unknown form is shown as it is.
    let is_unknown = change.name.is_empty() && change.frames.is_empty();
    let details = if is_unknown { &change.text } else { &change.details };
    html! {
        p {
            @if let Some(number) = number { (number) ". " }
            (noun(change))
            @if !change.name.is_empty() { " " code { (change.name) } }
            @if let Some(package) = &change.package { " of " (package) }
            (place(change))
            " " span.quiet { (change.id) }
        }
        @for place in decisive { (source(place)) }
        (stack(&change.frames))
        @if !others.is_empty() {
            details {
                summary { (plural(others.len(), "further place")) }
                @for place in others { (source(place)) }
            }
        }
        @if !details.is_empty() { (lines(details, change.is_patch)) }
    }
}

fn noun(change: &ChangeRecord) -> &str {
    if change.name.is_empty() { change.noun.trim_end_matches(" of") } else { &change.noun }
}

fn place(change: &ChangeRecord) -> Markup {
    html! {
        @if let Some(location) = change.location().filter(|location| location.line.is_some()) {
            " at " code { (location.to_string()) }
        }
    }
}

/// Shows lines of text, or of a patch.
fn lines(lines: &[String], is_patch: bool) -> Markup {
    html! {
        pre {
            @for line in lines {
                @match line.as_bytes().first() {
                    Some(b'+') if is_patch => ins { (line) },
                    Some(b'-') if is_patch => del { (line) },
                    _ => (line),
                }
                "\n"
            }
        }
    }
}

/// Shows the code at a place, with the decisive part marked.
fn source(place: &SourcePlace) -> Markup {
    html! {
        figure.source {
            figcaption { code { (place.file) ":" (place.from.0) ":" (place.from.1) } " " (place.label) }
            pre {
                @for (index, line) in place.lines.iter().enumerate() {
                    @let number = place.first_line.saturating_add(index);
                    @let (before, marked, after) = parts(place, number, line);
                    span.number { (number) } " " (before)
                    @if !marked.is_empty() { mark { (marked) } }
                    (after) "\n"
                }
            }
        }
    }
}

/// Divides a line into the text before the marked part, that part, and the text after it.
fn parts<'a>(place: &SourcePlace, number: usize, line: &'a str) -> (&'a str, &'a str, &'a str) {
    let (from, to) = (place.from, place.to);
    if number < from.0 || number > to.0 {
        return (line, "", "");
    }
    let start = if number == from.0 { byte_of(line, from.1) } else { line.len() - line.trim_start().len() };
    let end = if number == to.0 { byte_of(line, to.1) } else { line.len() }.max(start);
    (&line[..start], &line[start..end], &line[end..])
}

/// Shows the user's own frames, and all frames if a reader asks for them.
fn stack(frames: &[StackFrame]) -> Markup {
    let mut own: Vec<_> = frames.iter().filter(|frame| frame.own).take(MAX_FRAMES).collect();
    if own.is_empty() {
        own = frames.iter().take(FOREIGN_FRAMES).collect();
    }
    html! {
        @if !frames.is_empty() {
            ol.stack {
                @for frame in &own { (shown_frame(frame)) }
            }
            @if own.len() < frames.len() {
                details {
                    summary { "all " (plural(frames.len(), "frame")) }
                    ol.stack {
                        @for frame in frames.iter().take(MAX_FRAMES) { (shown_frame(frame)) }
                    }
                    @if let Some(more) = frames.len().checked_sub(MAX_FRAMES).filter(|&more| more > 0) {
                        p { "and " (more) " more" }
                    }
                }
            }
        }
    }
}

fn shown_frame(frame: &StackFrame) -> Markup {
    html! {
        li.own[frame.own] {
            code { (frame.function) }
            @if let Some(location) = frame.location() { " at " code { (location.to_string()) } }
        }
    }
}

fn shown_moment(moment: &BrokenMoment) -> Markup {
    let of = moment.of.map(|of| format!(" of {}", grouped(of))).unwrap_or_default();
    html! {
        p {
            "First bad moment: " b { (grouped(moment.n)) (of) } ". The condition was evaluated "
            (plural(moment.evaluations, "time")) "."
            @if let Some(failure) = &moment.failure { " It counts as false: its evaluation " (failure) "." }
            @if moment.was_false_before { " The condition was false before, and became true." }
        }
        @for (when, values) in [("first bad", &moment.values), ("last good", &moment.last_good_values)] {
            @if !values.is_empty() {
                p { "Values at the " (when) " moment:" }
                pre { (values.join("\n")) }
            }
        }
        @for change in &moment.last_good {
            details {
                summary { "the last good moment" }
                (shown_change(change, None))
            }
        }
    }
}

fn tests(found: &CulpritRecord) -> Markup {
    let (first, more) = found.tests.split_at(found.tests.len().min(MAX_TESTS));
    html! {
        @if found.tests.is_empty() {
            @if let Some(failed) = found.failures.first() { p { b { "It fails: " } (failed.describe()) } }
        } @else {
            p { b { @if found.tests.len() == 1 { "This test fails:" } @else { "These tests fail:" } } }
            ul { @for test in first { (shown_test(found, test)) } }
            @if !more.is_empty() {
                details {
                    summary { (plural(more.len(), "more test")) }
                    ul { @for test in more { (shown_test(found, test)) } }
                }
            }
        }
    }
}

fn shown_test(found: &CulpritRecord, test: &str) -> Markup {
    let failed = found.failures.iter().filter(|failed| failed.test.as_deref().is_none_or(|name| name == test));
    let how: Vec<_> = failed.map(Failed::describe).collect();
    html! { li { code { (test) } @if !how.is_empty() { " (" (how.join(", ")) ")" } } }
}

/// Shows the command lines, patches, and the workaround.
fn commands(found: &CulpritRecord) -> Markup {
    let [about_failing, about_passing] = found.remarks();
    html! {
        h4 { @if found.moment.is_some() { "To reproduce" } @else { "Fails" } (about_failing) }
        pre { code { (found.reproduce) } }
        @if let Some(line) = summary::passing_line(found) {
            h4 { "Passes" (about_passing) }
            pre { code { (line) } }
        }
        @if let Some(short) = &found.short {
            h4 { "For an issue" }
            pre { code { (short) } }
        }
        @if let Some(patches) = &found.patches {
            h4 { "As patches" }
            pre {
                code { (patches.commands(found.mode).map(|(command, comment)| format!("{command}  {comment}")).join("\n")) }
            }
        }
        @if let Some(next) = &found.next {
            h4 { "Next" }
            pre { code { (next) } }
        }
        @if let Some(gap) = &found.stop_gap {
            h4 { "Workaround, " (gap.place) }
            pre { code { (gap.text) } }
        }
    }
}
