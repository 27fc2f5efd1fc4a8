//! The options that choose an axis from the table, and `--verdict`, which replaces a search.

use std::ffi::OsString;

use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches, parser::ValueSource};

use crate::axes::{option_axis::ChosenAxis, table::OPTIONS};

/// The group of all options that choose an axis.
const GROUP: &str = "axis_option";

/// The options for versions of the target: an axis of versions, or one run of the present one.
#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    #[command(flatten)]
    pub(crate) axis: AxisOption,
    /// Run the target once, and exit as `git bisect run` expects it
    ///
    /// There is no search: the target runs as it stands. The statuses are 0: it passes, 1: it fails, 125: it cannot be
    /// tested, 128 or 130: stop. --repeat and --any-pass make several executions.
    #[arg(long, conflicts_with_all = [GROUP, "count", "confidence", "since", "max", "max_set", "max_runs", "when", "resume"])]
    pub(crate) verdict: bool,
}

/// The option of an axis in the table of [`OPTIONS`], if the user gave one.
#[derive(Debug, Default)]
pub(crate) struct AxisOption {
    pub(crate) chosen: Option<ChosenAxis>,
}

impl Args for AxisOption {
    fn augment_args(command: Command) -> Command {
        let arguments = OPTIONS.iter().map(|option| {
            let least = usize::from(!option.has_default);
            Arg::new(option.name)
                .long(option.name)
                .value_name(option.value)
                .num_args(least..=1)
                .value_parser(clap::value_parser!(OsString))
                .conflicts_with("when")
                .help(option.help)
                .long_help(format!("{}\n\n{}", option.help, option.details))
        });
        let names = OPTIONS.iter().map(|option| option.name);
        command.args(arguments).group(ArgGroup::new(GROUP).args(names))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AxisOption {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        // They exclude each other.
        let option = OPTIONS.iter().find(|option| matches.value_source(option.name) == Some(ValueSource::CommandLine));
        let chosen = option.map(|option| ChosenAxis { option, value: matches.get_one(option.name).cloned() });
        Ok(Self { chosen })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
