//! Settings of cargo in the environment that replace options which the user did not give.

use std::env;

use clap::ValueEnum as _;

use super::{
    cli::Command,
    options::{Color, ShowArgs},
};

/// Completes the options of a command by `CARGO_TERM_QUIET`, `CARGO_TERM_VERBOSE` and `CARGO_TERM_COLOR`.
pub(super) fn complete(command: &mut Command) {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let is_true = |name: &str| variable(name) == "true";
    let color = Color::from_str(&variable("CARGO_TERM_COLOR"), true).unwrap_or(Color::Auto);
    match command {
        Command::Toggles(command) => return complete_color(&mut command.color, color),
        Command::Report(command) => return complete_color(&mut command.color, color),
        _ => {}
    }
    let Some(show) = command.show() else { return };
    complete_show(show, is_true("CARGO_TERM_QUIET"), is_true("CARGO_TERM_VERBOSE"), color);
}

fn complete_show(show: &mut ShowArgs, quiet: bool, verbose: bool, color: Color) {
    if !show.quiet && !show.verbose {
        (show.quiet, show.verbose) = (quiet, verbose && !quiet);
    }
    complete_color(&mut show.color, color);
}

fn complete_color(color: &mut Color, set: Color) {
    if *color == Color::Auto {
        *color = set;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_before_the_environment() {
        let complete = |quiet, verbose, color, set: (bool, bool, Color)| {
            let (json, format, message_format, html, defaults) = Default::default();
            let mut show = ShowArgs { json, format, message_format, html, verbose, quiet, color, defaults };
            complete_show(&mut show, set.0, set.1, set.2);
            (show.quiet, show.verbose, show.color)
        };
        let (auto, never, always) = (Color::Auto, Color::Never, Color::Always);
        assert_eq!(complete(false, false, auto, (false, false, auto)), (false, false, auto));
        assert_eq!(complete(false, false, auto, (true, false, never)), (true, false, never));
        assert_eq!(complete(false, false, auto, (false, true, always)), (false, true, always));
        assert_eq!(complete(false, true, always, (true, false, never)), (false, true, always));
        assert_eq!(complete(true, false, never, (false, true, always)), (true, false, never));
    }
}
