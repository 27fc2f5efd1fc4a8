//! The results of the command lines of a culprit, which were run as printed.

use serde::{Deserialize, Serialize};

use crate::run::pasting::LineResult;

/// The results of the command lines of a culprit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PastedLines {
    /// The result of the line that fails.
    pub(crate) reproduce: LineResult,
    /// The result of the line that passes, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) passes: Option<LineResult>,
}

impl PastedLines {
    /// Returns remarks about the line that fails and the one that passes; empty ones if they did so.
    pub(crate) fn remarks(self) -> [&'static str; 2] {
        let about = |end, expected| match end {
            same if same == expected => "",
            LineResult::Pass => " (but it passed when it was run)",
            LineResult::Fail => " (but it failed when it was run)",
            LineResult::AnotherFailure => " (but it failed in another way when it was run)",
            LineResult::Unresolved => " (but it gave no result when it was run)",
            LineResult::NotRun => " (not run)",
        };
        [about(self.reproduce, LineResult::Fail), self.passes.map_or("", |end| about(end, LineResult::Pass))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_made_where_a_line_does_not_do_what_it_says() {
        use LineResult::{AnotherFailure, Fail, NotRun, Pass, Unresolved};
        for (reproduce, passes, remarks) in [
            (Fail, Some(Pass), ["", ""]),
            (Fail, None, ["", ""]),
            (NotRun, Some(NotRun), [" (not run)", " (not run)"]),
            (Pass, Some(Fail), [" (but it passed when it was run)", " (but it failed when it was run)"]),
            (AnotherFailure, None, [" (but it failed in another way when it was run)", ""]),
            (Unresolved, Some(Pass), [" (but it gave no result when it was run)", ""]),
        ] {
            assert_eq!(PastedLines { reproduce, passes }.remarks(), remarks);
        }
    }
}
