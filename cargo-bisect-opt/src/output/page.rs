//! The answer as a page of HTML in one file: culprits, the search as it ran, and the times of its runs.

mod culprits;
mod estimates;
mod marks;
mod row;
mod scale;
mod search_chart;
#[cfg(test)]
pub(in crate::output) mod tests;
mod timeline;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{formats::summary, groups, terminal};
use crate::{
    hidden::{is_hidden, shown},
    record::{CommandRecord, ResultRecord, SearchRecord, milliseconds::to_whole_milliseconds},
    units::{grouped_plural, plural, seconds},
};

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");
/// The command that writes the page.
const REPORT: &str = "cargo bisect-opt report ";
/// The page may load nothing, even if a text that is not escaped asks for it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Renders the page.
pub(crate) fn render(run: &CommandRecord) -> String {
    let result = &run.result;
    let status = summary::status(result);
    let target = result.start.as_ref().map(|start| start.target.as_str());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { "bisect-opt: " (status) @if let Some(target) = target { " – " (target) } }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (marks::definitions())
                header {
                    h1 { "cargo bisect-opt: " (status) }
                    p.conclusion { (summary::conclusion(result)) }
                    (provenance(result))
                }
                main {
                    (answer(result))
                    (searches(run))
                    (timeline::section(&run.trials))
                    (notes(result))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    visible(&page.into_string())
}

/// Returns text in which characters that show nothing, or that change the direction of others, are visible.
fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_hidden(c) => visible += &shown(c),
            c if c.is_control() && !matches!(c, '\n' | '\t') => visible.push(char::REPLACEMENT_CHARACTER),
            c => visible.push(c),
        }
    }
    visible
}

/// Shows the command and what it ran on.
fn provenance(result: &ResultRecord) -> Markup {
    let provenance = &result.provenance;
    html! {
        dl.facts {
            @if !provenance.command.is_empty() {
                div { dt { "command" } dd { code { (provenance.command_line()) } } }
            }
            @if let Some(start) = &result.start {
                div { dt { "target" } dd { code { (start.target) } } }
                div { dt { "seed" } dd { (start.seed) } }
            }
            @if let Some(end) = &result.end {
                div {
                    dt { "effort" }
                    dd {
                        (plural(end.trials, "trial")) ", " (plural(end.runs, "run")) ", "
                        (seconds(to_whole_milliseconds(end.duration)))
                    }
                }
            }
            @if !provenance.driver.is_empty() {
                div {
                    dt { "cargo-bisect-opt" }
                    dd { (provenance.driver) " on " (provenance.arch) " " (provenance.os) }
                }
            }
            @if let Some(rustc) = &provenance.rustc {
                div { dt { "compiler" } dd { (rustc) } }
            }
        }
    }
}

/// Shows the culprits, what is known about them, and what can be run next.
fn answer(result: &ResultRecord) -> Markup {
    html! {
        @if !result.found.is_empty() {
            section {
                h2 { "Culprits" }
                @if result.found.len() > 1 {
                    ol.index {
                        @for found in &result.found {
                            li value=(found.set) { a href={ "#culprit-" (found.set) } { (groups::one_line(found)) } }
                        }
                    }
                }
                @for found in &result.found {
                    (culprits::culprit(result, found))
                }
            }
        }
        @if let Some(smallest) = &result.smallest {
            section {
                h2 { "The smallest failing set so far" }
                @if !smallest.tests.is_empty() { p { "It fails: " (smallest.tests.join(", ")) } }
                pre { code { (smallest.reproduce) } }
            }
        }
        @if let Some(end) = &result.end {
            @if let Some(log) = &end.log {
                section {
                    h2 { "The end of " (log.path.display()) }
                    pre { (terminal::without_colors(&log.lines.join("\n"))) }
                }
            }
            // A reader of the page has the report already.
            @let next: Vec<_> = end.next.iter().filter(|line| !line.starts_with(REPORT)).map(String::as_str).collect();
            @if !next.is_empty() {
                section {
                    h2 { "Commands to run next" }
                    pre { code { (next.join("\n")) } }
                }
            }
        }
    }
}

/// Shows each search as it ran.
fn searches(run: &CommandRecord) -> Markup {
    let is_known = |number: usize| run.result.searches.iter().any(|search| search.search == number);
    let others: Vec<_> = run.trials.iter().filter(|trial| !is_known(trial.context.search)).collect();
    html! {
        @if !run.trials.is_empty() {
            section {
                h2 { "The search as it ran" }
                (marks::legend())
                @if !others.is_empty() {
                    h3 { "Runs outside of a search" }
                    (search_chart::chart(&others, None))
                }
                @for search in &run.result.searches {
                    @let trials: Vec<_> =
                        run.trials.iter().filter(|trial| trial.context.search == search.search).collect();
                    h3 { (title_of(search)) }
                    @if trials.is_empty() {
                        p { "It made no runs." }
                    } @else {
                        (search_chart::chart(&trials, Some(search)))
                        (estimates::chart(&trials, search))
                    }
                }
            }
        }
    }
}

/// Returns the title of a search: `Search 2: 1,204 call stacks of sort, in culprit 1`.
fn title_of(search: &SearchRecord) -> String {
    let subject = match (&search.subject, search.changes) {
        (Some(subject), _) => subject.clone(),
        (None, Some(changes)) if !search.noun.is_empty() => grouped_plural(changes, &search.noun),
        (None, _) => search.axis.clone(),
    };
    let within = search.within.map(|set| format!(", in culprit {set}")).unwrap_or_default();
    format!("Search {}: {subject}{within}", search.search)
}

/// Shows the notes that the search has made, and which outputs were lost.
fn notes(result: &ResultRecord) -> Markup {
    html! {
        @if !(result.notes.is_empty() && result.lost.is_empty()) {
            section {
                h2 { "Notes" }
                ul {
                    @for note in result.notes.iter().chain(&result.lost) { li { (note) } }
                }
            }
        }
    }
}
