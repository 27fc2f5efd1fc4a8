//! The chart of a noisy search: after each run, where the change in question probably is.

use maud::{Markup, html};

use super::{
    marks, row,
    scale::{LEFT, Scale, TOTAL, outline},
    search_chart::{AXIS, axis, both_ends, culprits},
};
use crate::record::{
    SearchRecord,
    trial::{TrialEstimate, TrialRecord},
};

/// The height of a row.
const ROW: usize = 14;
/// The lowest opacity of an interval in which a change can be.
const FAINT: f64 = 0.04;

/// Draws the estimate after each run; nothing if the search was not noisy.
pub(super) fn chart(trials: &[&TrialRecord], search: &SearchRecord) -> Markup {
    let noisy: Vec<_> = trials.iter().copied().filter(|trial| trial.context.estimate.is_some()).collect();
    let (shown, _) = both_ends(&noisy);
    let rows: Vec<_> = shown.iter().filter_map(|trial| Some((*trial, trial.context.estimate.as_ref()?))).collect();
    let known = noisy.iter().map(|trial| trial.context.of).max().unwrap_or_default();
    let scale = Scale::new(known.max(search.changes.unwrap_or_default()));
    let bottom = AXIS + rows.len() * ROW;
    html! {
        @if !rows.is_empty() {
            h4 { "Where the change probably is, after each run" }
            p {
                "The darker a place, the likelier it is that the change in question is there. The number at the left is \
                the probability that no further change makes a difference."
            }
            figure data-chart="rows" {
                div.scroll {
                    svg.chart viewBox={ "0 0 " (TOTAL) " " (bottom + 4) } width=(TOTAL) height=(bottom + 4)
                        role="group" aria-label={ "estimates of search " (search.search) } {
                        (axis(scale, bottom))
                        @for (index, (trial, estimate)) in rows.iter().enumerate() {
                            (estimate_row(trial, estimate, AXIS + index * ROW, scale))
                        }
                        (culprits(search, scale, bottom))
                    }
                }
                p.details {}
            }
        }
    }
}

fn estimate_row(trial: &TrialRecord, estimate: &TrialEstimate, top: usize, scale: Scale) -> Markup {
    let class = trial.outcome.name();
    let label = format!("{}; {}", row::label(trial), in_words(estimate));
    html! {
        g.row .estimate data-row tabindex="0" role="img" aria-label=(label)
            transform={ "translate(" (LEFT) " " (top) ")" } {
            title { (label) "\n" (places(estimate)) }
            path.hit d={ "M-" (LEFT) " 0h" (TOTAL) "v" (ROW) "h-" (TOTAL) "z" } {}
            g class=(class) transform={ "translate(-" (LEFT) " 1)" } { (marks::mark(class, 2, 0)) }
            text x={ "-" (LEFT - 18) } y="11" { (percent(estimate.nothing)) " nothing" }
            @for (start, end, probability) in &estimate.places {
                path.likely d=(outline(&scale.bars(&[(*start, *end)]), 1, ROW - 2)) opacity=(opacity(*probability)) {}
            }
        }
    }
}

/// Returns the failure rates and the probability that nothing makes a difference.
fn in_words(estimate: &TrialEstimate) -> String {
    let (with, without) = (estimate.with.describe(), estimate.without.describe());
    format!("fails {with} with the change, {without} without it; no change matters: {}", percent(estimate.nothing))
}

/// Returns the likeliest places, in words.
fn places(estimate: &TrialEstimate) -> String {
    let place = |&(start, end, probability): &(usize, usize, f64)| {
        let last = end.saturating_sub(1);
        let positions = if last == start { format!("{start}") } else { format!("{start}–{last}") };
        format!("position {positions}: {}", percent(probability))
    };
    estimate.places.iter().map(place).collect::<Vec<_>>().join("\n")
}

fn percent(probability: f64) -> String {
    format!("{:.0}%", 100.0 * probability)
}

fn opacity(probability: f64) -> String {
    format!("{:.2}", probability.clamp(0.0, 1.0).max(FAINT))
}
