//! Settings of cargo that replace options which the user did not give.

use std::env;

use clap::ValueEnum as _;

use super::{
    cli::Command,
    options::{Color, ShowArgs},
};
use crate::cargo::TermSettings;

/// Completes the options of a command by cargo's settings of the terminal.
pub(super) fn complete(command: &mut Command) {
    let settings = || TermSettings::load(&env::current_dir().unwrap_or_default(), env::vars_os());
    match command {
        Command::Toggles(command) => return complete_color(&mut command.color, color_of(&settings())),
        Command::Report(command) => return complete_color(&mut command.color, color_of(&settings())),
        _ => {}
    }
    let Some(show) = command.show() else { return };
    let settings = settings();
    complete_show(show, settings.quiet, settings.verbose, color_of(&settings));
    (show.has_live_lines, show.live_width) = (settings.has_progress, settings.width);
}

fn color_of(settings: &TermSettings) -> Color {
    settings.color.as_ref().and_then(|color| Color::from_str(color, true).ok()).unwrap_or(Color::Auto)
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
            let (has_live_lines, live_width) = Default::default();
            #[rustfmt::skip]
            let mut show = ShowArgs {
                json, format, message_format, html, verbose, quiet, color, defaults, has_live_lines, live_width,
            };
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
