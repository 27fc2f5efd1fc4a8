//! Runs of tests as cargo-nextest makes them: each test in a process of its own, from the first run on.

use std::collections::BTreeMap;

use super::{
    attempt::Execution,
    run_context::{RunContext, unusable},
    separately::{self, TestRun},
    test_selection::{Failure, Subset, TestSelection},
};
use crate::{
    cargo::{Artifacts, Executable, nextest},
    report::scan::Reports,
    run::error::RunError,
};

/// Executes each selected test once.
pub(super) fn execute(
    run: &RunContext<'_>,
    selection: &TestSelection,
    artifacts: &Artifacts,
    executables: &[&Executable],
    reports: &mut Reports,
) -> Result<Execution, RunError> {
    let tests = tests(run, selection, artifacts, executables)?;
    let test_run = |(number, test)| TestRun::new(test, number, run).once();
    let (solos, note) =
        separately::run_each(run, tests.iter().enumerate().map(test_run).collect(), artifacts, &run.new_reports())?;
    let mut execution = Execution::new();
    for solo in solos {
        let found = &solo.attempt.reports;
        found.ids().iter().for_each(|&id| reports.add(found.get(id)));
        execution.extend(solo.attempt.executions.into_iter().flatten());
    }
    if let Some(part) = execution.first_mut() {
        part.notes.extend(note);
    }
    Ok(execution)
}

/// Returns the tests to run, in the order of the executables. Nextest is asked only for those whose names are not known
/// yet.
fn tests(
    run: &RunContext<'_>,
    selection: &TestSelection,
    artifacts: &Artifacts,
    executables: &[&Executable],
) -> Result<Vec<Failure>, RunError> {
    let subsets: Vec<_> = executables.iter().map(|executable| executable.key()).collect();
    let subsets: Vec<_> = subsets.iter().map(|key| (key, selection.subset(key))).collect();
    let mut listed = if subsets.iter().any(|(_, subset)| *subset == Subset::Everything) {
        nextest::tests(&run.project, artifacts, run.surroundings.scratch.path()).map_err(unusable)?
    } else {
        BTreeMap::new()
    };
    let tests = subsets.into_iter().flat_map(|(key, subset)| {
        let names = match subset {
            Subset::Nothing => Vec::new(),
            Subset::Everything => listed.remove(key).unwrap_or_default(),
            Subset::Tests(names) => names.to_vec(),
        };
        names.into_iter().map(|name| Failure { executable: key.clone(), test: Some(name) })
    });
    Ok(tests.collect())
}
