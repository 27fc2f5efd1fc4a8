//! Searches within the culprits of a search, for an axis that has some: the versions of an updated package.

use std::io;

use super::beside::Beside;
use crate::{
    lab::{Lab, Named, Searched},
    output::{
        events::{End, Event},
        exit_status::Exit,
    },
};

/// Searches a target, and then within each culprit.
///
/// # Errors
/// If an event cannot be emitted.
pub(super) fn run<T: Beside>(lab: &mut Lab<'_>, target: &mut T) -> io::Result<Exit> {
    let Searched { mut end, found, .. } = lab.search(target)?;
    lab.list(&found)?;
    search(lab, target, &found, &mut end)?;
    lab.end(end)
}

/// Searches within each culprit of a search, which has ended so.
///
/// # Errors
/// If an event cannot be emitted.
pub(super) fn search<T: Beside>(lab: &mut Lab<'_>, target: &T, found: &[Named], end: &mut End) -> io::Result<()> {
    let begun = lab.elapsed();
    let most = lab.options.max_runs;
    for culprit in found {
        for axis in target.axis().within(&culprit.changes) {
            let left = most.map(|most| most.saturating_sub(lab.totals.runs));
            if lab.interrupt.requested() || left == Some(0) {
                end.status = if lab.interrupt.requested() { Exit::Interrupted } else { Exit::Limit };
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
            lab.options.max_runs = left;
            lab.parent_culprit = Some(culprit.found.set);
            let subject = axis.subject().unwrap_or_default();
            let inner = lab.search(&mut target.inside(&culprit.found.tests, axis)?)?;
            if inner.found.is_empty() && inner.end.status != Exit::Interrupted {
                lab.emit(&Event::Note(&format!("nothing was found among {subject}: {}", inner.end.words)))?;
            }
            if [Exit::Interrupted, Exit::Limit].contains(&inner.end.status) {
                end.status = inner.end.status;
            }
        }
    }
    end.duration += lab.time_since(begun);
    (end.trials, end.runs) = (lab.totals.trials, lab.totals.runs);
    Ok(())
}
