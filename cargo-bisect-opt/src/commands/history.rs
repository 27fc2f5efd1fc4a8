//! The options for versions of the target: a search in the history, and a verdict on one version.

use clap::Args;

/// The options for versions of the target.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Find the first commit that makes the target fail, among the first-parent commits after GOOD up to BAD [default
    /// for BAD: HEAD]. Runs are made in worktrees. A commit is unresolved if it exits with --skip-code or, with `test`
    /// and `run`, does not build
    #[arg(long, value_name = "GOOD..BAD", conflicts_with = "when")]
    pub(crate) commits: Option<String>,
    /// Do not search: run the target once as it stands, and exit as `git bisect run` expects it (0: it passes, 1: it
    /// fails, 125: it cannot be tested, 128 or 130: stop). --repeat and --any-pass make several executions
    #[arg(long, conflicts_with_all = ["commits", "count", "confidence", "since", "max", "max_set", "max_runs", "when"])]
    pub(crate) verdict: bool,
}
