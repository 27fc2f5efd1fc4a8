//! The chart of the times of all runs: a lane for each slot.

use std::{collections::BTreeSet, time::Duration};

use maud::{Markup, html};

use super::{
    row,
    scale::{LEFT, Scale, TOTAL, WIDTH, outline},
    search_chart::both_ends,
};
use crate::{
    record::trial::TrialRecord,
    units::{plural, seconds},
};

/// The height of a lane.
const LANE: usize = 22;
/// The height of the axis.
const AXIS: usize = 22;

/// Shows when each trial was made, and in which slot.
pub(super) fn section(trials: &[TrialRecord]) -> Markup {
    let (shown, _) = both_ends(&trials.iter().collect::<Vec<_>>());
    let slots: BTreeSet<_> = shown.iter().map(|trial| trial.context.slot).collect();
    let slots: Vec<_> = slots.into_iter().collect();
    let start = shown.iter().map(|trial| trial.context.start_ms).min().unwrap_or_default();
    let end = shown.iter().map(|trial| trial.end_ms()).max().unwrap_or_default();
    let since = |time: u64| usize::try_from(time.saturating_sub(start)).unwrap_or(usize::MAX);
    let scale = Scale::new(since(end));
    let bottom = AXIS + slots.len() * LANE;
    html! {
        @if end > start {
            section {
                h2 { "The runs in time" }
                p { "Each row is a slot for parallel runs. A bar begins with the first run of its trial, and is as long \
                    as all its runs together." }
                figure data-chart="lanes" {
                    div.scroll {
                        svg.chart viewBox={ "0 0 " (TOTAL) " " (bottom + 4) } width=(TOTAL) height=(bottom + 4)
                            role="group" aria-label={ "times of runs in " (plural(slots.len(), "slot")) } {
                            g.axis aria-hidden="true" {
                                @for (value, x) in scale.ticks() {
                                    @let anchor = match x { 0 => "start", WIDTH => "end", _ => "middle" };
                                    text x=(LEFT + x) y="12" text-anchor=(anchor) { (time(value)) }
                                    path d={ "M" (LEFT + x) " 18V" (bottom) } {}
                                }
                            }
                            @for (lane, slot) in slots.iter().enumerate() {
                                text x="2" y=(AXIS + lane * LANE + 15) { "slot " (slot) }
                            }
                            @for trial in &shown {
                                @let lane = slots.iter().position(|slot| *slot == trial.context.slot).unwrap_or_default();
                                @let from = since(trial.context.start_ms);
                                @let to = from.saturating_add(usize::try_from(trial.ms()).unwrap_or(usize::MAX)).max(from.saturating_add(1));
                                g.row .(trial.outcome.name()) data-row tabindex="-1" role="img"
                                    aria-label=(row::label(trial))
                                    transform={ "translate(" (LEFT) " " (AXIS + lane * LANE) ")" } {
                                    title { (row::label(trial)) }
                                    path.on d=(outline(&scale.bars(&[(from, to)]), 3, LANE - 6)) {}
                                }
                            }
                        }
                    }
                    p.details {}
                }
            }
        }
    }
}

fn time(milliseconds: usize) -> String {
    seconds(Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX)))
}
