//! Experiments that disable the pass that was found, and other passes that ran on the same function.
//!
//! The first pass with which the target fails is not always the wrong one.

use std::{collections::BTreeSet, io, sync::Arc};

use bisect_core::{ChangeId, search::Outcome};

use super::suspects::{self, BUILDS, Suspects};
use crate::{
    axes::{compilation::Compilation, fixed::Fixed, stop_gap},
    compiler::{
        passes::{self, Pass, Passes},
        plan::{CounterKind, Plan},
    },
    lab::Lab,
    output::events::Event,
    record::end::Fact,
    targets::project::ProjectTarget,
    units::plural,
};

/// Runs of the target with passes disabled in one package.
pub(crate) struct LeftOut<'a> {
    /// The compilation of all packages.
    pub(crate) compilation: &'a Arc<Compilation>,
    /// The target whose search found the package.
    pub(crate) crates: &'a ProjectTarget,
    /// The crates that are compiled with the bad options: all but those of other culprits.
    pub(crate) bad: &'a BTreeSet<ChangeId>,
    /// The package whose passes are disabled.
    pub(crate) package: ChangeId,
    /// The counter of the compiler that counts the passes.
    pub(crate) of: CounterKind,
    /// The tests that the culprit breaks.
    pub(crate) tests: &'a [String],
}

impl LeftOut<'_> {
    /// Disables `pass`, which is one of `all`, and then other passes. Returns facts: whether the target passes without
    /// `pass`, and which other passes also repair it.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(crate) fn facts(&self, lab: &mut Lab<'_>, pass: &Pass, all: &Passes) -> io::Result<Vec<Fact>> {
        let of = self.of;
        let flags = |name: &str| passes::without(of, &[name.to_owned()]).join(" ");
        let mut facts = Vec::new();
        let Some(outcome) = self.outcome(lab, std::slice::from_ref(&pass.name))? else { return Ok(facts) };
        let its_flags = flags(&pass.name);
        let text = match outcome {
            Outcome::Pass => format!("with that pass alone left out it passes: {its_flags}"),
            Outcome::Fail => format!("even with that pass left out it fails, so others do the same: {its_flags}"),
            Outcome::Unresolved(_) => {
                format!("it does not tell whether it passes with that pass left out: {its_flags}")
            }
        };
        facts.push(Fact::new("check", text));
        let others = suspects::others(all.all(), pass);
        if !others.is_empty() && !lab.stops_at_limit() {
            let (count, function) = (others.len(), pass.function());
            let note = format!("leaving out other passes ({count} on {function}), in at most {BUILDS} builds");
            lab.emit(&Event::Note(&note))?;
        }
        let found = Suspects::find(&others, BUILDS, |names| self.outcome(lab, names))?;
        if lab.interrupt.requested() {
            return Ok(facts);
        }
        if !others.is_empty() {
            facts.push(Fact::new("others", found.describe(flags)));
        }
        let repairing = Some(&pass.name).filter(|_| outcome == Outcome::Pass).or(found.repairing.first());
        if let Some(name) = repairing {
            let package = self.compilation.package(self.package).map_or("the crate", |package| &package.name);
            let variables = stop_gap::of_pass(of, &passes::without(of, std::slice::from_ref(name)));
            let text = format!("until it is fixed: {variables} (it was enough for {package})");
            facts.push(Fact::new("stop-gap", text));
        }
        Ok(facts)
    }

    /// Returns the outcome of the target without passes of these names; `None` if it was not run.
    fn outcome(&self, lab: &mut Lab<'_>, names: &[String]) -> io::Result<Option<Outcome>> {
        let plan = self.compilation.plan(true);
        let plan = match self.of {
            CounterKind::Mir => {
                let flags = plan.flags.iter().cloned().chain(passes::without(self.of, names)).collect();
                Plan { flags, unstable: true, ..plan }
            }
            CounterKind::Llvm => Plan { left_out: names.to_vec(), ..plan },
        };
        let build = self.compilation.with(self.bad, &[(self.package, plan)].into());
        let subject = match names {
            [name] => format!("without {name}"),
            names => format!("without {}", plural(names.len(), "pass")),
        };
        let fixed = Fixed { build, subject };
        let mut target = self.crates.narrowed(self.tests, Box::new(fixed));
        Ok(lab.try_once(&mut target)?.ok().map(|run| run.outcome))
    }
}
