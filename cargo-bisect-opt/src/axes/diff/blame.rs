//! Parts of a patch that the compiler's errors name: disabled parts to enable, and enabled parts to disable.

use std::{collections::BTreeSet, path::Path};

use super::{
    complaint::Complaint,
    words::{PartSet, PartWords},
};
use crate::vcs::patch::{Origin, Patch, trees::ChangedFile};

/// Returns the disabled parts that the errors name.
pub(super) fn needed(patch: &Patch, words: &[PartWords], complaint: &Complaint, enabled: &PartSet) -> PartSet {
    let mut needed = PartSet::new();
    for (path, line) in &complaint.places {
        if let Some(Origin::Old { file, line }) = patch.origin(path, *line, |part| enabled.contains(&part)) {
            needed.extend(patch.replacing(file, line));
        }
    }
    let all = || (0..words.len()).filter(|part| !enabled.contains(part));
    let defining: Vec<_> = all().filter(|&part| !words[part].defined.is_disjoint(&complaint.names)).collect();
    needed.extend(defining);
    needed.extend(all().filter(|&part| binds_in(patch, part, &words[part].bound, complaint)));
    needed.retain(|part| !enabled.contains(part));
    if needed.is_empty() {
        needed.extend(all().filter(|&part| !words[part].redefined.is_disjoint(&complaint.names)));
    }
    if needed.is_empty() {
        needed.extend(all().filter(|&part| !words[part].used.is_disjoint(&complaint.names)));
    }
    needed
}

/// Returns true if the errors name one of `bound`, and the part is in a file with an error. `bound` are the names that
/// the part brings into scope, or those that it removes from scope.
fn binds_in(patch: &Patch, part: usize, bound: &BTreeSet<String>, complaint: &Complaint) -> bool {
    let ChangedFile { old, new } = patch.file_of(&patch.parts()[part]);
    let is_there = |path: &Path| complaint.places.iter().any(|(place, _)| place == path);
    !bound.is_disjoint(&complaint.names) && [old, new].into_iter().flatten().any(|version| is_there(&version.path))
}

/// Returns the enabled parts that the errors name.
pub(super) fn blamed(patch: &Patch, words: &[PartWords], complaint: &Complaint, enabled: &PartSet) -> PartSet {
    let origin =
        |(path, line): &(std::path::PathBuf, usize)| match patch.origin(path, *line, |part| enabled.contains(&part)) {
            Some(Origin::Added(part)) => Some(part),
            _ => None,
        };
    let mut blamed: PartSet = complaint.places.iter().filter_map(origin).collect();
    let removing = |&&part: &&usize| {
        let PartWords { undefined, unbound, .. } = &words[part];
        !undefined.is_disjoint(&complaint.names) || binds_in(patch, part, unbound, complaint)
    };
    blamed.extend(enabled.iter().filter(removing));
    if blamed.is_empty() {
        let redefining = |part: &&usize| !words[**part].redefined.is_disjoint(&complaint.names);
        blamed.extend(enabled.iter().filter(redefining));
    }
    blamed
}
