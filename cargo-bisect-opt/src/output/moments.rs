//! The moments of an answer: the first bad one, the last good one, and how they were found.

use serde::Serialize;

use crate::{record::change, report::content::Report, units::grouped};

/// The moments of a condition that breaks. Serialized, it is the field `moment` of `found`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BrokenMoment {
    /// The name of the condition.
    #[serde(skip)]
    pub(crate) name: String,
    /// The first bad moment.
    pub(crate) n: u64,
    /// The number of moments of the program, if it came to its end.
    pub(crate) of: Option<u64>,
    /// The last moment that is known to exist.
    #[serde(skip)]
    pub(crate) reached: u64,
    /// The number of evaluations of the condition.
    pub(crate) evaluations: usize,
    /// `copies` of the process went back, or the program was run again (`reruns`).
    pub(crate) by: &'static str,
    /// The reason why the evaluation failed, if it did: a panic or a crash.
    pub(crate) failure: Option<String>,
    /// True if the condition was false before the last good moment: it changes more than once.
    pub(crate) was_false_before: bool,
    /// The user's values at the first bad moment.
    pub(crate) values: Vec<String>,
    /// The last good moment; empty if the condition was false at the first one.
    #[serde(serialize_with = "change::serialize")]
    pub(crate) last_good: Vec<Report>,
    /// The user's values at the last good moment.
    pub(crate) last_good_values: Vec<String>,
}

impl BrokenMoment {
    /// Returns the headline of the answer. `place` is that of the moment.
    pub(crate) fn headline(&self, place: Option<String>) -> String {
        let of = match self.of {
            Some(of) => format!("of {}", grouped(of)),
            None => format!("of at least {}", grouped(self.reached)),
        };
        let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
        format!("`{}` breaks at moment {} {of}{place}", self.name, grouped(self.n))
    }
}
