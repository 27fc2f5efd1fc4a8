//! Runs whose reports the runtime could not write, for instance because the disk is full.
//!
//! The runtime announces such a report once for each process, on a line that ends with `: reports are lost`, and the
//! program continues. If it then fails, the run is unresolved.

use super::error::RunError;

/// The excess of runs with lost reports over others at which the search gives up: all further runs would be unresolved.
const GIVE_UP_AT_SURPLUS: usize = 5;

/// A counter of recent runs that lost reports.
#[derive(Debug, Default)]
pub(crate) struct LostReports {
    /// The number of runs that have lost reports, less the number of later runs that have not.
    surplus: usize,
}

impl LostReports {
    /// Counts a process, by the result of [`in_output`].
    ///
    /// # Errors
    /// If most processes lose reports.
    pub(crate) fn count(&mut self, lost: Option<&str>) -> Result<(), RunError> {
        let Some(lost) = lost else {
            self.surplus = self.surplus.saturating_sub(1);
            return Ok(());
        };
        self.surplus += 1;
        if self.surplus < GIVE_UP_AT_SURPLUS {
            return Ok(());
        }
        Err(RunError::Unusable(format!(
            "most runs lose their reports ({lost}); free space, or choose another directory with `--out`"
        )))
    }
}

/// Returns the message of the runtime or of bisect-rustc if it could not write a report. Then unreported changes may be
/// the cause of a failure.
pub(crate) fn in_output(output: &[u8]) -> Option<String> {
    message(output, &["bisect-rt: ", "bisect-rustc: "], ": reports are lost")
}

/// Returns the runtime's first message.
pub(crate) fn runtime_message(output: &[u8]) -> Option<String> {
    message(output, &["bisect-rt: "], "")
}

/// Returns the first line with one of these prefixes and this end, without the prefix.
fn message(output: &[u8], prefixes: &[&str], end: &str) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    let without_prefix = |line: &str| prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)).map(str::to_owned);
    text.lines().filter(|line| line.ends_with(end)).find_map(without_prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: &[u8] = b"x\nbisect-rt: BISECT_REPORT: no storage space: reports are lost\ny\n";

    #[test]
    fn only_the_runtimes_own_line_counts() {
        let said = |output: &[u8]| in_output(output);
        assert_eq!(said(LOST).unwrap(), "BISECT_REPORT: no storage space: reports are lost");
        let of_rustc = b"bisect-rustc: BISECT_REPORT: no storage space: reports are lost\n";
        assert_eq!(said(of_rustc), said(LOST));
        assert_eq!(said(b"x BISECT_REPORT: no storage space: reports are lost\n"), None);
        let elsewhere = b"bisect-rt: BISECT_REPORT=\"x\": reports are lost to it, and go to standard error\n";
        assert_eq!(said(elsewhere), None);
    }

    #[test]
    fn a_search_ends_that_loses_most_reports() {
        let mut lost = LostReports::default();
        let mut seen = |output| lost.count(in_output(output).as_deref()).is_ok();
        assert!((0..20).all(|_| seen(LOST) && seen(b"")), "now and then is no reason to end");
        assert!((1..GIVE_UP_AT_SURPLUS).all(|_| seen(LOST)));
        let error = lost.count(in_output(LOST).as_deref()).unwrap_err().to_string();
        assert!(error.contains("no storage space") && error.contains("--out"), "{error}");
    }
}
