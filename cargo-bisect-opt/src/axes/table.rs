//! The axes that users choose by a command or an option: one line for each.

use super::{command_spec::CommandSpec, commits, count, deps, diff, env, features, list, option_axis::OptionAxis};

/// The commands of all axes that have one.
pub(crate) const COMMANDS: &[CommandSpec] = &[count::COMMAND, list::COMMAND];

/// The options of `test`, `run`, `build`, `check` and `exec` that choose an axis, in the order of the help.
pub(crate) const OPTIONS: &[OptionAxis] = &[commits::OPTION, diff::OPTION, deps::OPTION, features::OPTION, env::OPTION];

/// The options of only some of these commands that choose an axis, with the questions that they answer.
const OF_SOME_COMMANDS: &[(&str, &str)] = &[
    ("--codegen", "which crate, function and pass, if only the release build fails"),
    ("--edition=EDITION", "which expressions, if it fails in one edition only"),
    ("--victim[=TEST]", "which other tests make a test fail (with `test` only)"),
];

/// Returns a line for each search that needs no annotation: its option and its question.
pub(crate) fn without_toggles() -> String {
    let of_all = OPTIONS.iter().map(|option| (option.usage(), option.question));
    let of_some = OF_SOME_COMMANDS.iter().map(|&(usage, question)| (usage.to_owned(), question));
    let lines: Vec<_> = of_all.chain(of_some).collect();
    let width = lines.iter().map(|(usage, _)| usage.len()).max().unwrap_or(0);
    let lines = lines.into_iter().map(|(usage, question)| format!("  {usage:width$}  {question}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the names of all options in [`OPTIONS`].
pub(crate) fn option_names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().map(|option| option.name)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn searches_without_annotations_are_listed_with_their_questions() {
        // The first line is not indented, so that the others keep their indentation.
        let listed = format!("help:\n{}", without_toggles());
        expect![[r"
            help:
              --commits=GOOD..BAD  which commit was the first bad one
              --diff[=OLD[..NEW]]  which hunks of a patch; by default, of all that differs from HEAD
              --deps[=OLD]         which updates in Cargo.lock
              --features-of=PKG    which features of a package
              --env=FILE           which variable, if it fails in another environment: FILE from `env -0 > FILE` there
              --codegen            which crate, function and pass, if only the release build fails
              --edition=EDITION    which expressions, if it fails in one edition only
              --victim[=TEST]      which other tests make a test fail (with `test` only)"]]
        .assert_eq(&listed);
    }
}
