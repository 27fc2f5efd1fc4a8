//! Results of checks outside runs: which sets of parts compile, and which parts are enabled or disabled beside others.
//! They are kept in a file, so that `--resume` neither makes the checks again nor decides otherwise.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::{checks::Checked, words::PartSet};
use crate::{output::json_lines, process::own_file};

/// The findings about one patch: the whole one, or that of a culprit.
#[derive(Debug, Default)]
pub(super) struct Findings {
    patch: PatchKey,
    of_search: Arc<Mutex<OfSearch>>,
}

/// The parts of the whole patch that are left out of the patch of a culprit; empty for the whole patch.
type PatchKey = PartSet;

/// The findings of a search.
#[derive(Debug, Default)]
struct OfSearch {
    checked: BTreeMap<(PatchKey, PartSet), Checked>,
    /// The additional parts, by the parts that a run asks for. The flag is true for enabled parts, and false for
    /// disabled ones.
    beside: BTreeMap<(PatchKey, bool, PartSet), PartSet>,
    /// `None`: nothing is kept.
    file: Option<File>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Finding {
    #[serde(default, skip_serializing_if = "PartSet::is_empty")]
    patch: PatchKey,
    parts: PartSet,
    result: FindingResult,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FindingResult {
    Checked(Checked),
    /// The parts that are enabled beside these.
    Enabled(PartSet),
    /// The parts that are disabled beside these.
    Disabled(PartSet),
}

impl Findings {
    /// Returns the findings about the patch of a culprit, without these parts of the whole patch.
    pub(super) fn within(&self, left_out: PartSet) -> Self {
        Self { patch: left_out, of_search: Arc::clone(&self.of_search) }
    }

    /// Reads the findings in a file, about all patches, and adds later ones to it. Does nothing if a file is open.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub(super) fn keep_in(&self, path: &Path) -> io::Result<()> {
        let mut of_search = self.of_search();
        if of_search.file.is_none() {
            drop(own_file::append(path)?);
            let (file, findings) = json_lines::open(path)?;
            for (_, finding) in findings {
                of_search.take(finding);
            }
            of_search.file = Some(file);
        }
        Ok(())
    }

    /// Returns the answer of the compiler about a set that was checked before.
    pub(super) fn checked(&self, parts: &PartSet) -> Option<Checked> {
        self.of_search().checked.get(&(self.patch.clone(), parts.clone())).cloned()
    }

    /// Returns the parts that are enabled (or disabled) beside these, if that is decided.
    pub(super) fn beside(&self, is_enabled: bool, parts: &PartSet) -> Option<PartSet> {
        self.of_search().beside.get(&(self.patch.clone(), is_enabled, parts.clone())).cloned()
    }

    pub(super) fn add_checked(&self, parts: &PartSet, checked: Checked) {
        self.add(parts, FindingResult::Checked(checked));
    }

    pub(super) fn add_beside(&self, is_enabled: bool, parts: &PartSet, beside: PartSet) {
        self.add(parts, if is_enabled { FindingResult::Enabled(beside) } else { FindingResult::Disabled(beside) });
    }

    fn add(&self, parts: &PartSet, result: FindingResult) {
        let finding = Finding { patch: self.patch.clone(), parts: parts.clone(), result };
        let mut of_search = self.of_search();
        if finding.result.is_lasting()
            && of_search.file.as_ref().is_some_and(|file| json_lines::add(file, &finding).is_err())
        {
            // `--resume` then repeats later checks.
            of_search.file = None;
        }
        of_search.take(finding);
    }

    fn of_search(&self) -> MutexGuard<'_, OfSearch> {
        self.of_search.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OfSearch {
    fn take(&mut self, Finding { patch, parts, result }: Finding) {
        match result {
            FindingResult::Checked(checked) => drop(self.checked.insert((patch, parts), checked)),
            FindingResult::Enabled(beside) => drop(self.beside.insert((patch, true, parts), beside)),
            FindingResult::Disabled(beside) => drop(self.beside.insert((patch, false, parts), beside)),
        }
    }
}

impl FindingResult {
    /// Returns true if the same check will have the same result. A build without an error in a source file may have
    /// failed for another reason: a killed compiler, or a full disk.
    fn is_lasting(&self) -> bool {
        match self {
            Self::Checked(Checked::Fails(complaint)) => !complaint.places.is_empty(),
            Self::Checked(Checked::Compiles) | Self::Enabled(_) | Self::Disabled(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{super::complaint::Complaint, *};

    fn set(parts: &[usize]) -> PartSet {
        parts.iter().copied().collect()
    }

    #[test]
    fn findings_are_kept_up_to_the_last_whole_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checks.jsonl");
        let fails = Checked::Fails(Complaint {
            places: [(PathBuf::from("src/lib.rs"), 3)].into(),
            names: ["total".to_owned()].into(),
            ..Complaint::default()
        });
        let killed = Checked::Fails(Complaint::default());
        let findings = Findings::default();
        findings.add_checked(&set(&[]), Checked::Compiles);
        findings.keep_in(&path).unwrap();
        findings.add_checked(&set(&[1, 2]), fails.clone());
        findings.add_checked(&set(&[3]), killed.clone());
        findings.within(set(&[4])).add_checked(&set(&[1, 2]), Checked::Compiles);
        findings.add_beside(false, &set(&[1]), set(&[2, 3]));
        assert_eq!(findings.checked(&set(&[3])), Some(killed));
        let text = fs_err::read_to_string(&path).unwrap();
        fs_err::write(&path, format!("{text}{{\"parts\":[7],\"res")).unwrap();

        let findings = Findings::default();
        findings.keep_in(&path).unwrap();
        assert_eq!(findings.checked(&set(&[1, 2])), Some(fails));
        assert_eq!(findings.within(set(&[4])).checked(&set(&[1, 2])), Some(Checked::Compiles));
        assert_eq!(findings.beside(false, &set(&[1])), Some(set(&[2, 3])));
        assert_eq!(findings.beside(true, &set(&[1])), None);
        assert_eq!([&[], &[3][..]].map(|parts| findings.checked(&set(parts))), [None, None]);
        findings.add_checked(&set(&[7]), Checked::Compiles);
        let added = "{\"parts\":[7],\"result\":{\"checked\":\"compiles\"}}\n";
        assert_eq!(fs_err::read_to_string(&path).unwrap(), text + added);
    }
}
