//! The states of the sequential procedure.

use alloc::{sync::Arc, vec::Vec};

use crate::before::{
    model::{
        rank::Rank,
        trial::{Outcome, TrialId},
        verdict::{Culprit, Inconsistency, Unusable, Verdict},
    },
    sequential::bracket::Bracket,
};

/// The present question, and the earlier results that the next step needs.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// Run with every change.
    AllOn,
    /// Run with no change; the fields are the result of the run with every change.
    AllOff {
        all: Outcome,
        reported: Arc<[Rank]>,
    },
    /// Run one of several tests on its own for the first time: does it fail where all tests together did?
    FirstSolo,
    /// Find one more change that the failure needs beside the forced ones.
    Narrow {
        forced: Vec<Rank>,
        bracket: Bracket,
    },
    /// Do the forced changes suffice? `rest` is the search that remains if they do not.
    FoundAlone {
        forced: Vec<Rank>,
        rest: Bracket,
    },
    /// This set fails, but may be too large; does this part of the set fail too?
    Minimize {
        culprit: Culprit,
        part: usize,
    },
    /// This set fails; does the target pass without the set, with everything else switched?
    AllButFound {
        culprit: Culprit,
    },
    /// This set fails; does the target still pass at the end that passed at first? `then` is the next step if so.
    Baseline {
        culprit: Culprit,
        then: AfterConfirm,
    },
    /// Which of the changes that are left fail alone? The sweep is a field of the procedure.
    Sweep,
    /// Does the target fail without the sets found, and without the changes that this branch avoids?
    Branch,
    Done(Verdict),
}

/// The step after a culprit is confirmed.
#[derive(Clone, Debug)]
pub(super) enum AfterConfirm {
    /// Stop: the requested number of sets was found.
    Stop,
    /// Everything else failed too, in this trial: search the changes that it reported.
    Search(TrialId, Arc<[Rank]>),
    /// Continue with the sweep: single changes are culprits.
    Sweep,
    /// Continue with the next branch: no failure of everything else is known.
    NextBranch,
}

pub(super) fn unusable(why: Unusable) -> State {
    State::Done(Verdict::Unusable(why))
}

pub(super) fn inconsistent(how: Inconsistency) -> State {
    State::Done(Verdict::Inconsistent(how))
}
