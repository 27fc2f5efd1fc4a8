//! Searches within the culprits of a search, for an axis that has some: the versions of an updated package.

use std::{io, mem};

use bisect_core::search::{Incomplete, Mode, Noise, Outcome, Verdict};

use super::refinable_target::RefinableTarget;
use crate::{
    axes::{FurtherSearch, facts::SourceVersions},
    lab::{Lab, Named, Searched},
    output::events::Event,
    record::{end::End, exit_status::Exit},
    units::listed,
};

/// Searches a target, and then within each culprit.
///
/// # Errors
/// If an event cannot be emitted.
pub(super) fn run<T: RefinableTarget>(lab: &mut Lab<'_>, target: &mut T) -> io::Result<Exit> {
    let Searched { mut end, found, .. } = lab.search(target)?;
    lab.list(&found)?;
    if let Some(words) = decisive(lab, target, &found)? {
        end.words = format!("{}; {words}", end.words);
    }
    search(lab, target, &found, &mut end)?;
    lab.end(end)
}

/// Searches within each culprit of a search that has ended, and updates its end.
///
/// # Errors
/// If an event cannot be emitted.
pub(super) fn search<T: RefinableTarget>(
    lab: &mut Lab<'_>,
    target: &T,
    found: &[Named],
    end: &mut End,
) -> io::Result<()> {
    let begun = lab.elapsed();
    for culprit in found {
        for axis in target.axis().further(FurtherSearch::Within(&culprit.changes)) {
            if lab.interrupt.requested() {
                end.status = Exit::Interrupted;
                break;
            }
            if lab.stops_at_limit() {
                let (set, limit) = (culprit.found.set, lab.limit());
                let note = format!(
                    "the search within culprit {set} is not complete, because {limit} is reached: allow {}",
                    limit.more()
                );
                lab.emit(&Event::Note(&note))?;
                break;
            }
            let axis = match axis {
                Ok(axis) => axis,
                Err(_) if lab.interrupt.requested() => {
                    end.status = Exit::Interrupted;
                    break;
                }
                Err(why) => {
                    lab.emit(&Event::Note(&why))?;
                    continue;
                }
            };
            lab.parent_culprit = Some(culprit.found.set);
            let subject = axis.subject().unwrap_or_default();
            let mut inside = target.inside(&culprit.found.tests, axis)?;
            // The checks of the whole search have shown that the target is reliable.
            let noise = if culprit.found.noise.is_none() { Noise::Refused } else { lab.options.noise };
            let noise = mem::replace(&mut lab.options.noise, noise);
            let inner = lab.search(&mut inside);
            lab.options.noise = noise;
            let inner = inner?;
            if let Some(words) = decisive(lab, &mut inside, &inner.found)? {
                lab.emit(&Event::Note(&words))?;
            }
            if inner.found.is_empty() && inner.end.status != Exit::Interrupted {
                lab.emit(&Event::Note(&format!("nothing was found among {subject}: {}", inner.end.words)))?;
            }
            // If the limit of runs has cut it short, the end of the command says so.
            let is_cut_short = inner.verdict == Some(Verdict::Incomplete(Incomplete::MaxRuns));
            if [Exit::Interrupted, Exit::Limit].contains(&inner.end.status) && !is_cut_short {
                end.status = inner.end.status;
            }
        }
    }
    end.duration += lab.time_since(begun);
    (end.trials, end.runs) = (lab.totals.trials, lab.totals.runs);
    Ok(())
}

/// Finds out which of several culprits is decisive: the target passes without it alone or, if it repairs the target, with
/// it alone.
///
/// The others fail only because a run with them combines parts of two versions. The search itself cannot tell: it leaves
/// out the culprits that it has found already. Returns words for the answer; `None` if no culprit is decisive.
///
/// # Errors
/// If an event cannot be emitted.
fn decisive<T: RefinableTarget>(lab: &mut Lab<'_>, target: &mut T, found: &[Named]) -> io::Result<Option<String>> {
    // Of several tests, each has its own culprits.
    if target.axis().facts().sources != SourceVersions::Combined || found.iter().any(|named| named.found.is_of_tests) {
        return Ok(None);
    }
    let (mut decisive, mut others) = (Vec::new(), Vec::new());
    for (index, named) in found.iter().enumerate() {
        // The search has already run without the first one, and that failed: otherwise it would have ended.
        let passes = index > 0 && {
            if lab.stops_at_limit() {
                return Ok(None);
            }
            match lab.try_without(target, named)? {
                Ok(run) => run.outcome == Outcome::Pass,
                Err(_) => return Ok(None),
            }
        };
        if passes { &mut decisive } else { &mut others }.push(named.found.set.to_string());
    }
    let words = || {
        let (decisive, is_one, others) = (decisive.join(" or "), others.len() == 1, listed(others));
        match found[0].found.mode {
            Mode::Enable => {
                let make = if is_one { format!("culprit {others} makes") } else { format!("culprits {others} make") };
                format!(
                    "the new version passes if only culprit {decisive} is undone, so {make} the target fail only in mixtures \
                     of both versions"
                )
            }
            Mode::Disable => {
                let are = if is_one { format!("culprit {others} is") } else { format!("culprits {others} are") };
                format!(
                    "the old version passes with culprit {decisive} alone, so {are} needed only in mixtures of both versions"
                )
            }
        }
    };
    Ok((!decisive.is_empty()).then(words))
}
