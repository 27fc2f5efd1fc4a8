//! Runs whose reports the runtime could not write, for instance because the disk is full.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::error::RunError;

/// The search ends when this number of runs more have lost reports than have not: it would go on through unresolved runs.
const TOO_MANY: usize = 5;

/// How often reports were lost of late.
#[derive(Debug, Default)]
pub(crate) struct LostReports {
    /// Runs that have lost reports, less those since then that have not.
    surplus: AtomicUsize,
}

impl LostReports {
    /// Returns what the runtime said if it could not write a report. What failed then may have to do with the changes that
    /// are missing.
    ///
    /// # Errors
    /// If that happens too often.
    pub(crate) fn in_output(&self, output: &[u8]) -> Result<Option<String>, RunError> {
        let lost = said_by_the_runtime(output, ": reports are lost");
        let Some(lost) = lost else {
            // At zero there is nothing to take off.
            let _ = self.surplus.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |surplus| surplus.checked_sub(1));
            return Ok(None);
        };
        if self.surplus.fetch_add(1, Ordering::Relaxed) + 1 < TOO_MANY {
            return Ok(Some(lost));
        }
        Err(RunError::Unusable(format!(
            "most runs lose their reports ({lost}); free space, or choose another directory with `--out`"
        )))
    }
}

/// Returns the first line of the runtime's own with this end.
pub(crate) fn said_by_the_runtime(output: &[u8], end: &str) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    let said = text.lines().find_map(|line| line.strip_prefix("bisect-rt: ").filter(|line| line.ends_with(end)));
    said.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: &[u8] = b"x\nbisect-rt: BISECT_REPORT: no storage space: reports are lost\ny\n";

    #[test]
    fn only_the_runtimes_own_line_counts() {
        let said = |output: &[u8]| LostReports::default().in_output(output).unwrap();
        assert_eq!(said(LOST).unwrap(), "BISECT_REPORT: no storage space: reports are lost");
        assert_eq!(said(b"x BISECT_REPORT: no storage space: reports are lost\n"), None);
        let elsewhere = b"bisect-rt: BISECT_REPORT=\"x\": reports are lost to it, and go to standard error\n";
        assert_eq!(said(elsewhere), None);
    }

    #[test]
    fn a_search_ends_that_loses_most_reports() {
        let lost = LostReports::default();
        let seen = |output| lost.in_output(output).is_ok();
        assert!((0..20).all(|_| seen(LOST) && seen(b"")), "now and then is no reason to end");
        assert!((1..TOO_MANY).all(|_| seen(LOST)));
        let error = lost.in_output(LOST).unwrap_err().to_string();
        assert!(error.contains("no storage space") && error.contains("--out"), "{error}");
    }
}
