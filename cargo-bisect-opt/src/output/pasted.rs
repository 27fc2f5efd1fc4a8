//! The ends of the lines of a culprit, which were run as printed.

use serde::{Deserialize, Serialize};

use crate::run::pasting::LineEnd;

/// The ends of the lines of a culprit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PastedLines {
    /// The end of the line that fails.
    pub(crate) reproduce: LineEnd,
    /// The end of the line that passes, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) passes: Option<LineEnd>,
}

impl PastedLines {
    /// Returns remarks about the line that fails and the one that passes; empty ones if they ended so.
    pub(crate) fn remarks(self) -> [&'static str; 2] {
        let about = |end, expected| match end {
            same if same == expected => "",
            LineEnd::Pass => " (but it passed when it was run)",
            LineEnd::Fail => " (but it failed when it was run)",
            LineEnd::Unresolved => " (but it gave no result when it was run)",
            LineEnd::NotRun => " (not run)",
        };
        [about(self.reproduce, LineEnd::Fail), self.passes.map_or("", |end| about(end, LineEnd::Pass))]
    }

    /// Returns the number of lines that were run.
    pub(crate) fn count(self) -> usize {
        [Some(self.reproduce), self.passes].into_iter().flatten().filter(|&end| end != LineEnd::NotRun).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_made_where_a_line_does_not_do_what_it_says() {
        use LineEnd::{Fail, NotRun, Pass, Unresolved};
        for (reproduce, passes, remarks, count) in [
            (Fail, Some(Pass), ["", ""], 2),
            (Fail, None, ["", ""], 1),
            (NotRun, Some(NotRun), [" (not run)", " (not run)"], 0),
            (Pass, Some(Fail), [" (but it passed when it was run)", " (but it failed when it was run)"], 2),
            (Unresolved, Some(Pass), [" (but it gave no result when it was run)", ""], 2),
        ] {
            let pasted = PastedLines { reproduce, passes };
            assert_eq!((pasted.remarks(), pasted.count()), (remarks, count));
        }
    }
}
