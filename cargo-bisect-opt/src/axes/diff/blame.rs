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
    let giving = |names: &BTreeSet<String>| {
        let gives = |&part: &usize| {
            !words[part].defined.is_disjoint(names) || binds_in(patch, part, &words[part].bound, names, complaint)
        };
        all().filter(gives).collect::<Vec<_>>()
    };
    needed.extend(giving(&complaint.names));
    needed.retain(|part| !enabled.contains(part));
    if needed.is_empty() {
        needed.extend(giving(&complaint.suggested));
    }
    if needed.is_empty() {
        needed.extend(all().filter(|&part| !words[part].redefined.is_disjoint(&complaint.names)));
    }
    if needed.is_empty() {
        needed.extend(all().filter(|&part| !words[part].used.is_disjoint(&complaint.names)));
    }
    needed
}

/// Returns true if one of `bound` is among the names of the errors, and the part is in a file with an error. `bound` are
/// the names that the part brings into scope, or those that it removes from scope.
fn binds_in(
    patch: &Patch,
    part: usize,
    bound: &BTreeSet<String>,
    names: &BTreeSet<String>,
    complaint: &Complaint,
) -> bool {
    let ChangedFile { old, new } = patch.file_of(&patch.parts()[part]);
    let is_there = |path: &Path| complaint.places.iter().any(|(place, _)| place == path);
    !bound.is_disjoint(names) && [old, new].into_iter().flatten().any(|version| is_there(&version.path))
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
        !undefined.is_disjoint(&complaint.names) || binds_in(patch, part, unbound, &complaint.names, complaint)
    };
    blamed.extend(enabled.iter().filter(removing));
    if blamed.is_empty() {
        let redefining = |part: &&usize| !words[**part].redefined.is_disjoint(&complaint.names);
        blamed.extend(enabled.iter().filter(redefining));
    }
    blamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vcs::patch::trees::{FileMode, FileVersion};

    #[test]
    fn an_import_that_the_compiler_suggests_is_needed() {
        let version = |text: &str| {
            Some(FileVersion { path: "a.rs".into(), mode: FileMode::Plain, content: text.as_bytes().to_vec() })
        };
        let old = "use b;\n\nfn one() {\n    1;\n}\n\nfn two() {\n    1;\n}\n";
        let new = "use b::Area;\n\nfn one() {\n    x.area();\n}\n\nfn two() {\n    y.area();\n}\n";
        let patch = Patch::new(vec![ChangedFile { old: version(old), new: version(new) }]);
        let words: Vec<_> = patch.parts().iter().map(|part| PartWords::of(&patch, part)).collect();
        let text = |suggestion| format!("error: no method named `area` found\n --> a.rs:4:5\n{suggestion}\n");
        let with = |suggestion| needed(&patch, &words, &Complaint::of(text(suggestion).as_bytes()), &[1].into());
        assert_eq!(with("help: trait `Area` which provides `area` is implemented but not in scope"), [0].into());
        // Without a suggestion, each part that uses the name may be needed.
        assert_eq!(with(""), [2].into());
    }
}
