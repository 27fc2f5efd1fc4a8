//! The options of every search.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use bisect_core::search::Mode;
use clap::{Args, ValueEnum};
use regex::bytes::Regex;

use super::values::{confidence, duration, jobs};
use crate::{
    process::launcher::Launcher,
    run::{repetition::Repetition, seed::Seed},
};

/// The options of every search.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Number of parallel runs (0 = number of CPUs)
    ///
    /// The slot of each run, from 0, is in `BISECT_SLOT`, and replaces {slot} in the values of environment variables.
    #[arg(short, value_name = "N", default_value = "1", value_parser = jobs)]
    pub(crate) jobs: NonZeroUsize,
    /// Start each run with this command (`srun -n1`, `ssh host`)
    ///
    /// For example, `sem --fg` limits the runs on a machine.
    #[arg(long, value_name = "CMD", value_parser = Launcher::parse)]
    pub(crate) launcher: Option<Launcher>,
    /// First try changes on lines edited since REV
    ///
    /// Without REV, it is the revision where this branch left the default branch.
    #[arg(long, value_name = "REV", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "not asked for, asked for without a revision, or with one")]
    pub(crate) since: Option<Option<String>>,
    /// Run the target this many times for each trial
    ///
    /// If runs differ, the target is flaky, and from then on every run is evidence of its own.
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) count: NonZeroUsize,
    /// Execute the target up to K times in each run, until it fails
    ///
    /// The run passes if all executions pass.
    #[arg(long, value_name = "K", conflicts_with = "any_pass")]
    pub(crate) repeat: Option<NonZeroUsize>,
    /// Execute the target up to K times in each run, until it passes
    ///
    /// The run fails if all executions fail.
    #[arg(long, value_name = "K")]
    pub(crate) any_pass: Option<NonZeroUsize>,
    /// Expect a flaky target, and report culprits this certain
    ///
    /// P is a number from 0.5 to 1, such as 0.99. Only culprits with at least this confidence are reported. By default,
    /// it is 0.99 once the target contradicts itself.
    #[arg(long, value_name = "P", value_parser = confidence)]
    pub(crate) confidence: Option<f64>,
    /// Repeat the random choices of a search with this seed
    ///
    /// The values of RANDOM are repeated, too.
    #[arg(long, value_name = "N", value_parser = Seed::parse)]
    pub(crate) seed: Option<Seed>,
    /// Stop after this many culprits
    ///
    /// If each test is searched on its own, the limit is for each test.
    #[arg(long, value_name = "N")]
    pub(crate) max: Option<NonZeroUsize>,
    /// Do not search for culprits of more than this many changes
    #[arg(long, value_name = "N")]
    pub(crate) max_set: Option<NonZeroUsize>,
    /// Stop after this many runs, and report the culprits found
    ///
    /// The search can be continued with --resume.
    #[arg(long, value_name = "N")]
    pub(crate) max_runs: Option<usize>,
    /// Stop after this time, and report the culprits found (`90s`, `10m`)
    ///
    /// It begins with the first run. No run starts after it, and runs in progress are ended. For a test named by --victim
    /// that has not failed yet, it is one minute by default.
    #[arg(long, value_name = "D", value_parser = duration)]
    pub(crate) budget: Option<Duration>,
    /// End longer executions, and count them as failed (`90s`, `2m 30s`)
    ///
    /// All their child processes end, too. For `build` and `check`, crates that were compiled by then are kept, and the
    /// next run continues from there.
    #[arg(long, value_name = "D", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Treat a run with this exit status as unresolved
    #[arg(long, value_name = "N", default_value = "125")]
    pub(crate) skip_code: i32,
    /// Count only failures whose output matches
    ///
    /// Others are unresolved.
    #[arg(long, value_name = "REGEX")]
    pub(crate) fail_when: Option<Regex>,
    /// Count only the failure that is searched for
    ///
    /// This is the failure with every change. If the target passes with every change, or with --repaired, it is the failure
    /// with no change. Others, by another panic, signal or exit status, in another test, by a timeout, or because something does not compile, are
    /// unresolved. [default: yes]
    #[arg(
        long,
        value_name = "YES|NO",
        default_missing_value = "yes",
        num_args = 0..=1,
        require_equals = true,
        hide_possible_values = true
    )]
    pub(crate) same_failure: Option<YesNo>,
    /// Find the changes that repair the target
    ///
    /// It has to fail without any change and to pass with all of them. A search finds this direction by itself, unless
    /// the target also fails with all changes, in another way, or is flaky.
    #[arg(long)]
    pub(crate) repaired: bool,
    /// Also find the first decision on each culprit that matters
    ///
    /// For example: the 48,213th call, in thread worker-3. It works with `test`, `run` and `exec`, for changes that are
    /// decided while the target runs.
    #[arg(long)]
    pub(crate) when: bool,
    /// Continue the interrupted search in the directory of --out
    ///
    /// Its runs are not repeated.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Write logs and results to this directory
    #[arg(long, value_name = "DIR", default_value = "bisect.out")]
    pub(crate) out: PathBuf,
}

impl SearchArgs {
    /// Returns the rule for executions of the target in a run.
    pub(crate) fn repetition(&self) -> Repetition {
        Repetition::new(self.repeat, self.any_pass)
    }

    /// Returns the direction that the user asks for.
    pub(crate) fn direction(&self) -> Option<Mode> {
        self.repaired.then_some(Mode::Disable)
    }

    /// Returns true if only one kind of failure counts.
    pub(crate) fn same_failure(&self) -> bool {
        self.same_failure != Some(YesNo::No)
    }
}

/// The value of a switch that may be on by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    /// The switch is on.
    Yes,
    /// The switch is off.
    No,
}
