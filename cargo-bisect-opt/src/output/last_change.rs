//! The last change of a line, in words.

use std::time::{Duration, SystemTime};

use crate::{
    units::age_in_words,
    vcs::blame::{BlamedCommit, LastChange},
};

/// Returns who changed a line last, and when.
pub(super) fn in_words(last_change: &LastChange, now: SystemTime) -> String {
    let Some(BlamedCommit { hash, subject, author, time, is_oldest }) = &last_change.commit else {
        return "this line is not committed yet".to_owned();
    };
    let short = hash.get(..8).unwrap_or(hash);
    let age = now.duration_since(SystemTime::UNIX_EPOCH + Duration::from_secs(*time)).unwrap_or_default();
    let when = if *is_oldest { "last changed in or before" } else { "last changed in" };
    format!("{when} {short} \"{subject}\" by {author}, {} ago", age_in_words(age))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_change_is_one_line() {
        let commit = |is_oldest| BlamedCommit {
            hash: "1a2b3c4d5e6f".to_owned(),
            subject: "board: sort faster".to_owned(),
            author: "Ann Other".to_owned(),
            time: 1_700_000_000,
            is_oldest,
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + 22 * 24 * 3600);
        let words = |commit, now| in_words(&LastChange { commit }, now);
        let shown = "1a2b3c4d \"board: sort faster\" by Ann Other, ";
        assert_eq!(words(Some(commit(false)), now), format!("last changed in {shown}3 weeks ago"));
        let earlier = SystemTime::UNIX_EPOCH;
        assert_eq!(words(Some(commit(true)), earlier), format!("last changed in or before {shown}a moment ago"));
        assert_eq!(words(None, now), "this line is not committed yet");
    }
}
