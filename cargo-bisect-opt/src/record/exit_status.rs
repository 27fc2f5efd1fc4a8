//! Exit statuses.

use std::process::{ExitCode, Termination};

use serde::{Deserialize, Serialize};

/// An exit status of `cargo bisect-opt`. [`TABLE`] has their meanings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", from = "u8")]
pub(crate) enum Exit {
    Found,
    Nothing,
    Usage,
    Unusable,
    Inconsistent,
    Limit,
    Interrupted,
    /// A status in a file that only a later version knows.
    Later(u8),
}

/// Every status and its meaning, for `--help`. A test compares the table in the book with it.
pub(crate) const TABLE: [(Exit, &str); 7] = [
    (Exit::Found, "culprits were found and confirmed, and without them the target passes"),
    (Exit::Nothing, "there is nothing to find: the target passes both ways, or fails both ways"),
    (Exit::Usage, "the command line is wrong"),
    (
        Exit::Unusable,
        "the target cannot be used: it does not build or start, passes and fails but reports no change, ignores the pattern, \
         or reports changes that the pattern does not select",
    ),
    (
        Exit::Inconsistent,
        "the target contradicts itself, or is flaky and no change makes a measurable difference, or its outcomes depend on the run before",
    ),
    (
        Exit::Limit,
        "stopped at a limit (`--max`, `--max-set`, `--max-runs`, `--budget`), or the remaining runs were unresolved; culprits found so far are reported",
    ),
    (Exit::Interrupted, "interrupted; culprits found so far are saved"),
];

/// Columns of the descriptions in [`help`].
const WIDTH: usize = 80;

/// Returns the table for the end of `--help`.
pub(crate) fn help() -> String {
    let mut text = "Exit status:".to_owned();
    for (exit, words) in TABLE {
        let mut line = format!("\n  {:<4}", exit.code());
        let mut columns = 0;
        for word in words.replace('`', "").split(' ') {
            if columns + word.len() > WIDTH {
                line += "\n      ";
                columns = 0;
            }
            line += " ";
            line += word;
            columns += 1 + word.len();
        }
        text += &line;
    }
    text
}

impl Exit {
    /// Returns its name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Nothing => "nothing to find",
            Self::Usage => "usage",
            Self::Unusable => "unusable",
            Self::Inconsistent => "inconsistent",
            Self::Limit => "limit",
            Self::Interrupted => "interrupted",
            Self::Later(_) => "unknown",
        }
    }

    /// The status as a number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Found => 0,
            Self::Nothing => 1,
            Self::Usage => 2,
            Self::Unusable => 3,
            Self::Inconsistent => 4,
            Self::Limit => 5,
            Self::Interrupted => 130,
            Self::Later(code) => code,
        }
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        exit.code()
    }
}

impl From<u8> for Exit {
    fn from(code: u8) -> Self {
        let known = TABLE.iter().map(|(exit, _)| *exit).find(|exit| exit.code() == code);
        known.unwrap_or(Self::Later(code))
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        self.code().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_has_the_table_in_short_lines() {
        let help = help();
        assert!(help.lines().all(|line| line.len() <= WIDTH + 8), "{help}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let expected = TABLE.iter().map(|(exit, words)| format!("{} {}", exit.code(), words.replace('`', "")));
        let expected = expected.collect::<Vec<_>>().join(" ");
        assert_eq!(words(&help), words(&format!("Exit status: {expected}")));
    }

    #[test]
    fn the_book_has_the_table() {
        let page =
            fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../book/src/exit-statuses.md")).unwrap();
        let table = page.split("| status | means |\n|---|---|\n").nth(1).unwrap();
        let rows: Vec<_> = table.lines().take_while(|line| line.starts_with('|')).collect();
        let title = |code: u8| {
            let begin = format!("Status {code}: ");
            let title =
                page.lines().filter_map(|line| line.strip_prefix("## ")).find(|title| title.starts_with(&begin));
            title.unwrap_or_else(|| panic!("no section `{begin}`")).to_lowercase().replace(": ", "-").replace(' ', "-")
        };
        let row = |code: u8, words: &str| format!("| [{code}](#{}) | {words} |", title(code));
        let expected: Vec<_> = TABLE.iter().map(|(exit, words)| row(exit.code(), words)).collect();
        assert_eq!(rows, expected);
    }
}
