//! The chart of a search: a row for each trial, with the changes that it enabled.

use maud::{Markup, html};

use super::{
    marks, row,
    scale::{LEFT, Scale, TOTAL, WIDTH, outline},
};
use crate::{
    record::{SearchRecord, trial::TrialRecord},
    units::grouped,
};

/// The maximum number of rows at each end of a chart.
const MAX_ROWS: usize = 1000;
/// The maximum number of lines for the changes of a culprit.
const MAX_LINES: usize = 64;
/// The height of a row.
const ROW: usize = 16;
/// The height of the row of a repeated run.
const THIN_ROW: usize = 7;
/// The height of the axis, with the names of culprits.
pub(super) const AXIS: usize = 34;

/// Draws trials in their order. `search` has the positions of culprits.
pub(super) fn chart(trials: &[&TrialRecord], search: Option<&SearchRecord>) -> Markup {
    let known = trials.iter().map(|trial| trial.context.of).max().unwrap_or_default();
    let scale = Scale::new(known.max(search.and_then(|search| search.changes).unwrap_or_default()));
    let (shown, left_out) = both_ends(trials);
    let mut y = AXIS;
    let rows: Vec<_> = shown
        .iter()
        .map(|trial| {
            let top = y;
            y += height(trial);
            (top, trial)
        })
        .collect();
    let name = search.map_or("runs".to_owned(), |search| format!("search {}", search.search));
    html! {
        figure data-chart="rows" {
            @if left_out > 0 {
                p { (grouped(u64::try_from(left_out).unwrap_or(u64::MAX))) " rows in the middle are left out." }
            }
            div.scroll {
                svg.chart viewBox={ "0 0 " (TOTAL) " " (y + 4) } width=(TOTAL) height=(y + 4) role="group"
                    aria-label={ (name) ": " (trials.len()) " rows" } {
                    (axis(scale, y))
                    @for (top, trial) in &rows {
                        (trial_row(trial, *top, scale))
                    }
                    @if let Some(search) = search {
                        (culprits(search, scale, y))
                    }
                }
            }
            p.details {}
        }
    }
}

/// Returns the first and the last of many items, and the number of those that are left out between them.
pub(super) fn both_ends<'a>(trials: &[&'a TrialRecord]) -> (Vec<&'a TrialRecord>, usize) {
    let left_out = trials.len().saturating_sub(2 * MAX_ROWS);
    if left_out == 0 {
        return (trials.to_vec(), 0);
    }
    let (first, rest) = trials.split_at(MAX_ROWS);
    (first.iter().chain(&rest[left_out..]).copied().collect(), left_out)
}

fn height(trial: &TrialRecord) -> usize {
    if trial.is_repeat { THIN_ROW } else { ROW }
}

/// Draws the numbers of changes above the rows, and a faint line below each.
pub(super) fn axis(scale: Scale, bottom: usize) -> Markup {
    html! {
        g.axis aria-hidden="true" {
            @for (value, x) in scale.ticks() {
                @let anchor = match x { 0 => "start", WIDTH => "end", _ => "middle" };
                text x=(LEFT + x) y="12" text-anchor=(anchor) { (grouped(u64::try_from(value).unwrap_or(u64::MAX))) }
                path d={ "M" (LEFT + x) " " (AXIS - 4) "V" (bottom) } {}
            }
        }
    }
}

fn trial_row(trial: &TrialRecord, top: usize, scale: Scale) -> Markup {
    let class = trial.outcome.name();
    let height = height(trial);
    let bars = scale.bars(&trial.context.selected);
    let known = scale.x(trial.context.of);
    html! {
        g.row .(class) data-row tabindex="0" role="img" aria-label=(row::label(trial))
            transform={ "translate(" (LEFT) " " (top) ")" } {
            title { (row::details(trial)) }
            path.hit d={ "M-" (LEFT) " 0h" (TOTAL) "v" (height) "h-" (TOTAL) "z" } {}
            path.track d={ "M0 " (height / 2) "h" (known) } {}
            path.on d=(outline(&bars, 2, height - 4)) {}
            @if !trial.is_repeat {
                g transform={ "translate(-" (LEFT) " 2)" } { (marks::mark(class, 2, 0)) }
                text x={ "-" (LEFT - 18) } y="12" { (trial.n) " " (trial.outcome.name()) }
            }
        }
    }
}

/// Draws the changes of culprits as vertical lines, with the numbers of the culprits above them.
pub(super) fn culprits(search: &SearchRecord, scale: Scale, bottom: usize) -> Markup {
    html! {
        @for culprit in &search.culprits {
            @let lines = lines(&culprit.positions, scale);
            g.culprit {
                title { "culprit " (culprit.set) }
                @for x in &lines {
                    path d={ "M" (LEFT + x) " " (AXIS - 4) "V" (bottom) } {}
                }
                @if let Some(first) = lines.first() {
                    a href={ "#culprit-" (culprit.set) } {
                        text x=(LEFT + first) y="26" text-anchor=(if *first > WIDTH / 2 { "end" } else { "start" }) {
                            "culprit " (culprit.set)
                        }
                    }
                }
            }
        }
    }
}

/// Returns the coordinates of changes, in the middle of the place of each.
fn lines(positions: &[usize], scale: Scale) -> Vec<usize> {
    let middle = |&position: &usize| usize::midpoint(scale.x(position), scale.x(position.saturating_add(1)));
    let mut lines: Vec<_> = positions.iter().map(middle).collect();
    lines.sort_unstable();
    lines.dedup();
    let step = lines.len().div_ceil(MAX_LINES).max(1);
    lines.into_iter().step_by(step).collect()
}
