//! Proof that a suspect matters, whatever else the outcomes follow: bursts, drift, the run before.
//!
//! Each run of a proof is of the suspect or of a control without it; a coin of the search decides which. If the suspect
//! makes no difference, the outcome of the run is determined independently of the coin: by the target, its history, its
//! environment. Then a bet at fair odds on the coin, made once the outcome is known, gains nothing on average, whatever
//! the outcomes follow. By Ville's inequality, the probability that a wealth which starts at 1 ever reaches *w* is
//! therefore at most 1/*w* (Shafer, "Testing by betting", 2021). If the suspect matters, the wealth grows by the
//! information that a run carries about the coin: that of the channel between the two rates of failure.
//!
//! The posterior supposes that runs are independent, so it only names suspects. The proof does not suppose that.

use alloc::vec::Vec;

use crate::before::{
    model::{rank::Rank, rng::SeededRng},
    tuning,
};

/// The two kinds of runs of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Suspect,
    Control,
}

/// A coin toss between a run of a set and a run of its control, in a proof or where the set is minimized; or between a
/// run of all candidates and a run of none.
#[derive(Clone, Debug)]
pub(in crate::before) struct Toss {
    /// The set; `None` for all candidates.
    pub(super) set: Option<Vec<Rank>>,
    pub(super) side: Side,
}

/// The proofs of a search, one for each suspect so far, and the coin that chooses the side of each run.
#[derive(Clone, Debug)]
pub(super) struct Proofs {
    proofs: Vec<Proof>,
    rng: SeededRng,
}

impl Proofs {
    pub(super) fn new(seed: u64) -> Self {
        Self { proofs: Vec::new(), rng: SeededRng::new(seed) }
    }

    /// Returns the side of the next run.
    pub(super) fn next_side(&self) -> Side {
        if self.rng.peek() { Side::Suspect } else { Side::Control }
    }

    /// Uses up the toss that [`next_side`](Self::next_side) returns. Begins the proof of its set if necessary.
    pub(super) fn begin(&mut self, toss: &Toss) {
        self.rng.coin();
        if let Some(set) = &toss.set
            && self.position(set).is_none()
        {
            self.proofs.push(Proof::new(set));
        }
    }

    /// Returns the index of the proof of a set, if the set was ever a suspect.
    pub(super) fn position(&self, set: &[Rank]) -> Option<usize> {
        self.proofs.iter().position(|proof| proof.is_of(set))
    }

    /// Adds a run to the proof with this index; see [`Proof::observe`].
    pub(super) fn observe(&mut self, proof: usize, side: Side, failed: bool, rates: [f64; 2]) {
        self.proofs[proof].observe(side, failed, rates);
    }

    /// Returns true if it is proved with this confidence that the set matters. The allowed probability of an error is
    /// divided among all suspects.
    pub(super) fn is_proved(&self, set: &[Rank], confidence: f64) -> bool {
        let Some(number) = self.position(set) else { return false };
        // The shares of all suspects add up to 1.
        let unspent = (0..number).fold(1.0, |unspent, _| unspent * (1.0 - tuning::SUSPECT_SHARE));
        let error = 1.0 - confidence;
        let allowed = error * (tuning::PROOF_ERROR_FACTOR * error).min(1.0);
        self.proofs[number].wealth() * unspent * tuning::SUSPECT_SHARE * allowed >= 1.0
    }
}

/// The proof of one set of changes.
#[derive(Clone, Debug)]
struct Proof {
    /// The changes in ascending order.
    set: Vec<Rank>,
    wealth: f64,
}

impl Proof {
    fn new(set: &[Rank]) -> Self {
        let mut set = set.to_vec();
        set.sort_unstable();
        Self { set, wealth: 1.0 }
    }

    fn is_of(&self, set: &[Rank]) -> bool {
        set.len() == self.set.len() && set.iter().all(|change| self.set.binary_search(change).is_ok())
    }

    /// Returns the wealth. If the suspect makes no difference, the probability that it ever reaches *w* is at most
    /// 1/*w*.
    fn wealth(&self) -> f64 {
        self.wealth
    }

    /// Takes the outcome of a run on the side that the coin had selected. The rates of failure are the estimates from
    /// before this run, without and with the suspect.
    fn observe(&mut self, side: Side, failed: bool, [without, with]: [f64; 2]) {
        let ends_so = |rate: f64| {
            let rate = rate.clamp(tuning::PROOF_RATE_MARGIN, 1.0 - tuning::PROOF_RATE_MARGIN);
            if failed { rate } else { 1.0 - rate }
        };
        let (suspect, control) = (ends_so(with), ends_so(without));
        let staked = match side {
            Side::Suspect => suspect,
            Side::Control => control,
        };
        self.wealth *= 2.0 * staked / (suspect + control);
    }
}
