//! Hunks of a patch as changes: each run is made in a work tree that holds a selection of them.
//!
//! Hunks of one function, and hunks that only compile together, are one change. A change that needs others to compile
//! gets them whenever it is enabled by itself, and a change that others need takes them along when it is disabled by
//! itself: see [`Diff::selected`].

mod beside;
mod blame;
mod changes;
mod checks;
mod compiler;
mod complaint;
mod findings;
mod hunk_lines;
mod hunk_text;
mod inside;
mod main_part;
mod moved;
mod part_name;
mod reduction;
mod relevance;
mod ties;
mod tree_check;
mod units;
mod words;

use std::{ffi::OsStr, io, path::Path};

use bisect_core::{
    ChangeId,
    search::{Mode, Order},
};

use self::{
    changes::Changes,
    checks::{CheckLimit, MAX_CHECKS, MAX_CHECKS_WITHIN},
    compiler::Compiler,
    findings::Findings,
    ties::Ties,
    tree_check::TreeCheck,
    words::{PartSet, PartWords},
};
use super::{
    Application, Axis, Copies, CulpritChanges, CulpritWords, Files, FurtherSearch, LateChanges, Patches, Place,
    Preparation,
    command_spec::AxisError,
    facts::{AxisFacts, LikelyKnown, SourceVersions},
    headlines,
    option_axis::{AxisResult, OptionAxis, SearchedTarget, Show},
};
use crate::{
    cargo::{BuildCounts, BuildOverrides},
    output::terms::Terms,
    process::{own_file, shell},
    report::{
        content::Report,
        kind::{ChangeKind, ShownSource},
    },
    run::{
        error::RunError,
        numbering::{Numbering, id},
        spec::Choice,
    },
    units::plural,
    vcs::{
        patch::{Composition, Patch, has_attributes, overlay::Overlays, trees::Trees},
        worktrees::Checkout,
    },
};

/// `--diff`.
pub(super) const OPTION: OptionAxis = OptionAxis {
    name: "diff",
    value: "OLD[..NEW]",
    has_default: true,
    searches_environment: false,
    question: "which hunks of a patch; by default, of all that differs from HEAD",
    help: "Find the hunks of a patch that make the target fail",
    details: "The differences between OLD and NEW are searched [default: between HEAD and the working files]. Runs are made \
              in worktrees. Hunks that only compile together are one change.",
    prepare,
};

/// The terms of this axis. Equal trees are refused before a run.
const TERMS: Terms = Terms { axis: "diff", change: "hunk", reported: None, if_none_reported: None };
/// Hunks that are one change.
const KIND: ChangeKind = ChangeKind { name: "hunk", noun: "hunk", label: "this hunk", source: ShownSource::Patch };

/// The maximum number of unchanged source files that are read to find the likely hunks.
const MAX_SOURCES: usize = 2000;

/// Hunks between an old tree and a new one. *None* is the old tree, *all* is the new one.
#[derive(Debug)]
struct Diff {
    trees: Trees,
    patch: Patch,
    /// The patch of the whole search, if this one is within a culprit.
    original: Option<Patch>,
    words: Vec<PartWords>,
    overlays: Overlays,
    /// The changes. With a compiler, they are known after the target has failed with all hunks and passed with none.
    changes: Changes,
    /// The compiler that decides which hunks compile together; `None`: a build is the target, or there is no project.
    compiler: Option<Compiler>,
    findings: Findings,
    /// True if cargo builds in the work tree; false if a command is started there.
    builds: bool,
    /// Shows lines about checks, which may take long.
    show: Option<Show>,
}

fn prepare(target: &SearchedTarget<'_>, range: Option<&OsStr>) -> AxisResult {
    let range = range.map(OsStr::to_string_lossy);
    let trees = Trees::load(target.directory, range.as_deref()).map_err(|error| AxisError::Usage(error.to_string()))?;
    let patch = Patch::new(trees.files.clone());
    if patch.parts().is_empty() {
        let (old, new) = &trees.names;
        return Err(AxisError::Nothing(format!(
            "there is no difference between {old} and {new}{}: compare with an older version, for example \
             `--diff=HEAD~1`, or search the commits between two versions with `--commits GOOD..BAD`",
            trees.submodule_note()
        )));
    }
    let overlays = target
        .worktrees(&trees.top)
        .and_then(|worktrees| Overlays::new(worktrees, &trees.old, &patch))
        .map_err(|error| AxisError::Usage(error.to_string()))?;
    let compiler = match target.project {
        // If the build is the target, a hunk that does not compile is what the user looks for.
        Some(project) if !project.subcommand.is_build() => Some(Compiler::new(project, target.interrupt)?),
        _ => None,
    };
    let words: Vec<_> = patch.parts().iter().map(|part| PartWords::of(&patch, part)).collect();
    let builds = target.project.is_some();
    let diff = Diff {
        trees,
        patch,
        original: None,
        words,
        overlays,
        changes: Changes::default(),
        compiler,
        findings: Findings::default(),
        builds,
        show: target.show,
    };
    if diff.compiler.is_none() {
        diff.changes.known_or_units(|| diff.ties_of_units());
    }
    Ok(Box::new(diff))
}

impl Diff {
    fn ties(&self) -> Ties<'_> {
        Ties::new(&self.patch, &self.words)
    }

    fn ties_of_units(&self) -> Ties<'_> {
        let is_within = self.original.is_some();
        self.ties().of_units(if is_within { units::of_replaced_lines(&self.patch) } else { units::of(&self.patch) })
    }

    /// Returns the changes. If they are not known, the compiler checks which parts belong together.
    fn divide(&self) -> Result<&[Vec<usize>], RunError> {
        let ties = || self.ties_of_units();
        let Some(compiler) = &self.compiler else { return Ok(self.changes.known_or_units(ties)) };
        let most = if self.original.is_some() { MAX_CHECKS_WITHIN } else { MAX_CHECKS };
        let mut check = TreeCheck { diff: self, compiler };
        self.changes.known_or_checked(ties, &mut check, CheckLimit { most, show: self.show })
    }

    /// Returns true if a change has several parts, or if it is not known yet whether one has.
    fn may_join_hunks(&self) -> bool {
        self.words.len() > 1 && self.changes.known().len() < self.words.len()
    }

    /// Returns the files of a selection.
    fn files(&self, parts: &PartSet) -> Composition<'_> {
        self.patch.compose(|part| parts.contains(&part))
    }

    /// Returns the files of the old commit.
    fn original_files(&self) -> Composition<'_> {
        self.original.as_ref().unwrap_or(&self.patch).compose(|_| false)
    }

    /// Gives these parts to a work tree: that of a slot, or the one for checks.
    fn set(&self, tree: usize, parts: &PartSet) -> Result<Checkout, RunError> {
        let set = self.overlays.set(tree, &self.patch, |part| parts.contains(&part));
        set.map_err(|error| RunError::Unusable(error.to_string()))
    }
}

impl Axis for Diff {
    fn facts(&self) -> AxisFacts {
        // A count of changes is no count of hunks if some are joined.
        let terms = Terms { change: if self.may_join_hunks() { "change" } else { TERMS.change }, ..TERMS };
        let learns_likely = self.builds && self.words.len() > 2;
        AxisFacts {
            likely: if learns_likely { LikelyKnown::AfterEnds } else { LikelyKnown::Never },
            sources: SourceVersions::Combined,
            builds: self.builds,
            decides_which_tests_there_are: true,
            ..AxisFacts::of_known_changes(terms)
        }
    }

    fn subject(&self) -> Option<String> {
        let (old, new) = &self.trees.names;
        let parts = self.patch.parts().len();
        let tied = match self.changes.known().len() {
            changes @ 1.. if self.may_join_hunks() => format!(" as {}", plural(changes, "change")),
            _ => String::new(),
        };
        let files = plural(self.patch.file_count(), "file");
        let note = self.trees.submodule_note();
        Some(format!("{}{tied} in {files}, between {old} and {new}{note}", plural(parts, "hunk")))
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords {
            headline: Some(headlines::of_versions(self.facts().terms.change, culprit.ids.len(), culprit.mode)),
            ..CulpritWords::default()
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::reversible(Order::Given, self.changes.known().len())
    }

    fn late(&self) -> Option<&dyn LateChanges> {
        Some(self)
    }

    fn copies(&self) -> Option<&dyn Copies> {
        Some(self)
    }

    fn likely(&self, failed: &[String]) -> Vec<Vec<ChangeId>> {
        let unchanged = self.overlays.unchanged_sources(&self.patch, MAX_SOURCES);
        let groups = relevance::likely_parts(&self.patch, &unchanged, failed);
        let changes = |group: PartSet| {
            let has = |change: &usize| self.changes.known()[*change].iter().any(|part| group.contains(part));
            (0..self.changes.known().len()).filter(has).map(id).collect()
        };
        groups.into_iter().map(changes).collect()
    }

    fn apply(&self, _: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        // The artifacts are those that cargo builds for the user.
        let build = BuildOverrides { is_plain: true, ..BuildOverrides::default() };
        Ok(Application { build: self.builds.then_some(build), ..Application::default() })
    }

    fn reproduction(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError> {
        let parts = self.known_selected(choice);
        fs_err::create_dir_all(files.directory)?;
        let [path, list] = ["patch", "paths"].map(|end| files.directory.join(format!("{}.{end}", files.stem)));
        let originals = self.original_files();
        let text = hunk_text::between(&originals, &self.files(&parts))?;
        own_file::write(&path, &text)?;
        let worktrees = self.overlays.worktrees();
        // A setting of the user may change or refuse what git applies.
        let option = if worktrees.checks_whitespace() { "--whitespace=nowarn " } else { "" };
        // Git refuses an empty patch.
        let apply = (!text.is_empty()).then(|| format!("git apply {option}{}", shell::quote(&path)));
        let checkout = worktrees.checkout_command(originals.values().flatten().map(|file| &*file.path), &list)?;
        let (old, short) = (&self.trees.old, &self.trees.old[..self.trees.old.len().min(12)]);
        // A changed `.gitattributes` changes line endings and filters, but git does not write files again that it has
        // checked out before.
        let rewrite = apply.is_some() && originals.keys().any(|path| has_attributes(path));
        let rewrite =
            rewrite.then(|| "git add -A && git read-tree \"$(git write-tree)\" && git checkout-index -qfa".to_owned());
        let steps = [checkout, apply, rewrite];
        let preparation = Preparation::in_worktree(worktrees, [old, short], &steps, &self.trees.subdirectory);
        let preparation = Some(preparation);
        Ok(Application { preparation, ..self.apply(choice, files)? })
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        let parts: PartSet = self.changes.parts_of(report.id).iter().copied().collect();
        let needed = self.known_beside(true, &parts);
        hunk_text::describe(&self.patch, &parts, &needed, Report { kind: KIND, ..report })
    }

    fn further(&self, search: FurtherSearch<'_>) -> Vec<Result<Box<dyn Axis>, String>> {
        let FurtherSearch::Within(ids) = search else { return Vec::new() };
        inside::axis(self, ids).transpose().into_iter().collect()
    }

    fn patches(&self, ids: &[ChangeId], mode: Mode) -> io::Result<Option<Patches>> {
        let parts: PartSet = ids.iter().flat_map(|&id| self.changes.parts_of(id)).copied().collect();
        let (needed, dependent) = (self.known_beside(true, &parts), self.known_beside(false, &parts));
        let all = self.ties().all_parts();
        let rest = all.iter().filter(|part| !parts.contains(part) && !dependent.contains(part)).copied().collect();
        let with_needed = parts.union(&needed).copied().collect();
        let (old, new) = &self.trees.names;
        let culprit = hunk_text::between(&self.files(&PartSet::new()), &self.files(&with_needed))?;
        let undo = hunk_text::between(&self.files(&all), &self.files(&rest))?;
        let (adds, undoes) = match mode {
            Mode::Enable => ("the target then fails", "it undoes the culprit"),
            Mode::Disable => ("it adds what repairs the target", "the target then fails"),
        };
        Ok(Some(Patches {
            culprit: hunk_text::titled(&format!("Apply this patch to {old}: {adds}."), culprit),
            undo: hunk_text::titled(&format!("Apply this patch to {new}: {undoes}."), undo),
            versions: self.trees.names.clone(),
            top: self.trees.top_if_elsewhere(),
        }))
    }

    fn summary(&self, builds: BuildCounts) -> Option<String> {
        self.builds.then(|| builds.summary())
    }
}

impl LateChanges for Diff {
    fn find(&self) -> Result<(), RunError> {
        if let (None, Some(_), Some(show), count @ 2..) =
            (self.changes.known().first(), &self.compiler, self.show, self.words.len())
        {
            (show.lines_if_live)(&format!(
                "only the new version fails: checking which of {count} hunks need each other to compile\n"
            ));
        }
        self.divide().map(drop)
    }

    fn unreported(&self) -> Vec<ChangeId> {
        (0..self.changes.known_or_units(|| self.ties_of_units()).len()).map(id).collect()
    }

    fn keep_in(&self, file: &Path) -> io::Result<()> {
        if self.compiler.is_some() { self.findings.keep_in(file) } else { Ok(()) }
    }
}

impl Copies for Diff {
    fn original(&self) -> &Path {
        &self.trees.top
    }

    fn place(&self, choice: &Choice, slot: usize) -> Result<Place, RunError> {
        let parts = self.selected(choice)?;
        let subdirectory = &self.trees.subdirectory;
        Ok(Place::in_checkout(self.set(slot, &parts)?, subdirectory, || {
            format!(
                "with this selection of hunks there is no directory `{}`: start the search in a directory that both versions have",
                subdirectory.display()
            )
        }))
    }
}
