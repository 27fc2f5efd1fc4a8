//! A search within a large culprit, whose lines are the changes.
//!
//! The lines of parts that need the culprit are changes, too. The rest of the new version is enabled.

use super::{
    Diff,
    changes::Changes,
    hunk_text::lines,
    words::{PartSet, PartWords},
};
use crate::{
    axes::Axis,
    vcs::patch::{Patch, trees::Trees},
};
use bisect_core::ChangeId;

/// Lines, removed and added: a culprit with at most these needs no search of its own.
const MAX_LINES: usize = 16;

/// Returns the axis of a search within a culprit with these changes, if it is large and can be divided.
///
/// # Errors
/// Returns the reason if it cannot be prepared.
pub(super) fn axis(whole: &Diff, ids: &[ChangeId]) -> Result<Option<Box<dyn Axis>>, String> {
    let parts: PartSet = ids.iter().flat_map(|&id| whole.changes.parts_of(id)).copied().collect();
    if whole.compiler.is_none() || whole.original.is_some() || lines(&whole.patch, &parts) <= MAX_LINES {
        return Ok(None);
    }
    // Parts that need the culprit are left out with it. Parts that the culprit needs stay, unless they also need it.
    let left_out = &parts | &whole.known_beside(false, &parts);
    let rest = whole.patch.compose(|part| !left_out.contains(&part));
    let patch = Patch::finer(&rest, &whole.patch.compose(|_| true));
    if patch.parts().len() < 2 {
        return Ok(None);
    }
    let Trees { names: (_, new), .. } = &whole.trees;
    let words = patch.parts().iter().map(|part| PartWords::of(&patch, part)).collect();
    let inner = Diff {
        overlays: whole.overlays.of_patch(&patch).map_err(|error| error.to_string())?,
        trees: Trees { names: (format!("{new} without the culprit"), new.clone()), ..whole.trees.clone() },
        original: Some(whole.patch.clone()),
        words,
        patch,
        changes: Changes::default(),
        compiler: whole.compiler.clone(),
        findings: whole.findings.within(left_out),
        builds: whole.builds,
        show: whole.show,
    };
    if let Some(show) = inner.show {
        (show.lines)(&format!(
            "checking which of the {} hunks of the culprit need each other to compile\n",
            inner.words.len()
        ));
    }
    let changes = inner.divide().map_err(|error| error.to_string())?;
    // With a large part, the answer might be nearly as large as the culprit.
    let most = lines(&whole.patch, &parts) / 2;
    let is_divided = changes.iter().all(|change| lines(&inner.patch, change) <= most);
    if let (Some(show), false) = (inner.show, is_divided) {
        (show.lines)("the culprit is not searched further: more than half of its lines only compile together\n");
    }
    Ok(is_divided.then(|| Box::new(inner) as Box<dyn Axis>))
}
