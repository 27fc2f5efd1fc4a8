//! Notes about targets that fail without any LLVM pass, or without any MIR pass.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

use bisect_core::{ChangeId, search::Outcome};

use crate::{
    axes::{compilation::Compilation, fixed::Fixed},
    compiler::plan::{Counter, CounterKind, Plan},
    lab::Lab,
    output::events::Event,
    targets::project::ProjectTarget,
};

/// A run of the target without any optimizing pass in one package.
pub(super) struct WithoutPasses<'a> {
    /// The compilation of all packages.
    pub(super) compilation: &'a Arc<Compilation>,
    /// The target whose search found the package.
    pub(super) crates: &'a ProjectTarget,
    /// The crates that are compiled with the bad options.
    pub(super) culprits: &'a BTreeSet<ChangeId>,
    /// The package whose passes are disabled.
    pub(super) package: ChangeId,
    /// The tests that the culprit breaks.
    pub(super) tests: &'a [String],
}

impl WithoutPasses<'_> {
    /// Emits a note about the kinds of passes that the failure does not need, if there are any.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(super) fn explain(&self, lab: &mut Lab<'_>, failing: &[CounterKind]) -> io::Result<()> {
        let name = self.compilation.package(self.package).map_or("the crate", |package| &package.name);
        let without_one = |of: CounterKind, other: CounterKind| {
            let (of, other) = (of.owner(), other.owner());
            format!(
                "no {of} pass was found: it fails even without any {of} pass in {name}, while {other} passes still run"
            )
        };
        let note = match failing {
            [] => return Ok(()),
            [CounterKind::Llvm] => without_one(CounterKind::Llvm, CounterKind::Mir),
            [CounterKind::Mir] => without_one(CounterKind::Mir, CounterKind::Llvm),
            _ => match self.outcome(lab)? {
                Some(Outcome::Pass) => format!(
                    "no single pass was found: in {name}, the LLVM passes alone break it, and so do the MIR passes alone; \
                     without any of them the target passes"
                ),
                Some(Outcome::Fail) => {
                    format!("no pass was found: it fails without any LLVM or MIR pass in {name}, so {}", self.option())
                }
                outcome => {
                    let result = if outcome.is_some() { "has no result: see its log" } else { "was not made" };
                    format!(
                        "no pass was found: it fails without any LLVM pass in {name}, and it fails without any MIR \
                         pass; the run without both kinds {result}"
                    )
                }
            },
        };
        lab.emit(&Event::Note(&note))
    }

    /// Says which option breaks the target, as passes do not.
    fn option(&self) -> String {
        let flags = self.compilation.contrast.processor_flags();
        if flags.is_empty() {
            "another option breaks it: compare those of `--good` and `--bad`".to_owned()
        } else {
            format!(
                "the difference in {} breaks it: look for code under `cfg(target_feature)`, and for results that depend \
                 on rounding",
                flags.join(" and ")
            )
        }
    }

    /// Returns the outcome without both kinds of passes; `None` if it was not run.
    fn outcome(&self, lab: &mut Lab<'_>) -> io::Result<Option<Outcome>> {
        let plan = self.compilation.plan(true);
        let flags = plan.flags.iter().cloned().chain(["-Zmir-opt-level=0".to_owned()]).collect();
        let counter = Counter { of: CounterKind::Llvm, limits: BTreeMap::new(), lists: false };
        let plan = Plan { flags, unstable: true, counter: Some(counter), ..plan };
        let build = self.compilation.with(self.culprits, &[(self.package, plan)].into());
        let fixed = Fixed { build, subject: "without optimizing passes".to_owned() };
        let mut target = self.crates.narrowed(self.tests, Box::new(fixed));
        Ok(lab.try_once(&mut target)?.ok().map(|run| run.outcome))
    }
}
