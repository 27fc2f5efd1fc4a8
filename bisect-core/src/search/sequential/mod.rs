//! The prover of a test whose runs are believed: prefixes with forced changes, minimization, branches.
//!
//! [`Procedure`] defines the next question and the effect of its answer. It makes no trials. Its [`Bracket`] narrows the
//! candidates for the next change that is needed.

mod bracket;
mod density;
mod procedure;
mod weights;

pub(super) use bracket::Bracket;
pub(super) use procedure::{Answer, Procedure, lookahead};
pub(super) use weights::slack;
