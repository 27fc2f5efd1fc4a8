//! Every hand-tuned number of the search: its meaning, its unit, and the bench or the test that decides it.
//!
//! Benches are those of `tests/benches` (`cargo bench -p bisect-tests --bench NAME`) unless a line names another:
//! `trials` counts runs of reliable targets, `per_test` those of many tests at once, `change_point` and `noise` those
//! of flaky targets, `trust` the fraction of searches that name an innocent change. Tests are those of
//! `bisect-core/tests/search`. After a change of a number here, run its bench before and after and compare the tables.
//!
//! Mathematical constants and limits of a format (64 bits of an ID) are not tuning and are defined where they are used.

// Posterior: the rates of failure, on a grid.

/// Steps of the grid of failure rates. Decided by: `change_point` (runs), against the time of one update, which is
/// proportional. `COSINE` in `posterior::rate_grid` depends on this number.
pub(super) const RATE_STEPS: usize = 64;

/// Steps of the grid: the minimum distance between both rates. 9 steps are 0.22 radians: 0.39 and 0.61. With a thousand
/// candidates, nearer rates would take more than 500 runs. Decided by: `noise` and `change_point`.
pub(super) const MIN_RATE_GAP: usize = 9;

/// Steps of the grid: the distance from which on rates do not count as near. 14 steps are 0.34 radians: 0.33 and 0.67.
/// Decided by: `change_point`.
pub(super) const FULL_RATE_GAP: usize = 14;

/// A weight of the prior: that of a pair of rates at least [`MIN_RATE_GAP`] apart. A pair at least [`FULL_RATE_GAP`]
/// apart has the weight 1 in addition. The nearer two rates are, the more runs that fail by luck resemble them. Decided
/// by: `change_point`.
pub(super) const NEAR_RATES_FACTOR: f64 = 0.25;

/// A factor of the prior for each step of the grid: larger gaps are less likely by this factor a step. A few runs of a
/// target with near rates often look like those of a target with rates far apart, and the reverse is rare. An even
/// prior is calibrated on average over all targets, but its answers are wrong more often than stated for near rates.
/// Decided by: `change_point` (fraction of correct answers, by rates).
pub(super) const GAP_STEP_FACTOR: f64 = 0.97;

/// A prior probability: the target never fails without the change, and sometimes with it. Decided by: `noise`.
pub(super) const PRIOR_NEVER_WITHOUT: f64 = 0.18;

/// A prior probability: the target fails sometimes without the change, and always with it. Decided by: `noise`.
pub(super) const PRIOR_ALWAYS_WITH: f64 = 0.1;

/// A prior probability: the target never fails without the change, and always with it. It is small, because every
/// sequence of answers to a bisection agrees with it. Decided by: `change_point`, row (1.0, 0.0).
pub(super) const PRIOR_DETERMINISTIC: f64 = 0.02;

// Posterior: the candidates.

/// A prior probability: a candidate suffices alone, given that it is the change; else it is the last of several changes
/// that are needed together. Decided by: `noise`, the rows of pairs.
pub(super) const PRIOR_ALONE: f64 = 0.8;

/// A prior probability: no candidate matters, in the first search of a target. Of 13,600 breakages at Google, 40% were
/// only flakes ("Flake Aware Culprit Finding", 2023). Decided by: `noise`, the rows of noise only.
pub(super) const PRIOR_NOTHING: f64 = 0.4;

/// A prior probability: no candidate matters, in a search after others of the same target. Decided by: `noise` (runs
/// after the last culprit).
pub(super) const PRIOR_NOTHING_FURTHER: f64 = 0.7;

/// Runs that confirm a candidate: with fewer it is not named, however likely it is. With rates near to each other, a
/// few lucky runs look like rates far apart. Decided by: `change_point`, row (0.7, 0.3).
pub(super) const MIN_CONFIRMATIONS: usize = 5;

/// An exponent: a candidate is named only if its error probability is below the allowed error to this power. A rule
/// that meets the allowed error on average over all rates exceeds it for near rates. Decided by: `change_point`
/// (fraction of correct answers, by rates).
pub(super) const CONFIDENCE_EXPONENT: f64 = 1.45;

/// A share of the probability that any candidate matters: a candidate with a larger share stands out, and is run alone.
/// Decided by: `change_point`.
pub(super) const STAND_OUT_SHARE: f64 = 0.5;

/// A probability: from this value on, the hypothesis that no candidate matters stands out. It is tested by runs of all
/// candidates and of none. Decided by: `noise`, the rows of noise only.
pub(super) const STAND_OUT_NOTHING: f64 = 0.4;

/// A failure rate: above it, a coin chooses between these runs in the first search. Decided by: `trust`, the rows of
/// spoiled runs; `noise`, the rows of noise only.
pub(super) const COIN_FROM_RATE: f64 = 0.5;

/// A ratio of evidence per cost: a run without the candidate that stands out is chosen only if its evidence per cost
/// exceeds, by this factor, that of a run of the candidate alone, which users can repeat. Decided by: `noise` (runs of
/// the confirmation).
pub(super) const ALONE_PREFERENCE: f64 = 1.5;

/// Bits: the maximum evidence that one run counts for. A run may exclude a candidate for good, but that is not worth
/// infinitely many bits. Decided by: `change_point`, row (0.5, 0.0).
pub(super) const MAX_EVIDENCE: f64 = 64.0;

/// Rounds of Dinkelbach's algorithm, which converges quadratically. Decided by: the test
/// `the_dearer_outcome_is_risked_less` of the posterior.
pub(super) const COST_ROUNDS: usize = 3;

/// Combinations of outcomes of the runs in flight that are considered, the most likely first. Decided by: the time of
/// one choice.
pub(super) const MAX_FUTURES: usize = 16;

/// Bits per run: the minimum that a forecast assumes, because with none nothing would be found. Decided by: the test
/// `a_forecast_is_of_the_right_order_once_the_rates_are_known` of the posterior.
pub(super) const MIN_FORECAST_BITS: f64 = 0.01;

/// Bits per run of a prefix: the maximum that a forecast assumes, because runs must also determine the rates. Decided
/// by: the same test.
pub(super) const MAX_FORECAST_BITS: f64 = 0.6;

// The noisy search.

/// Suspects in an estimate, at most. Decided by: the size of the screen.
pub(super) const MAX_SUSPECTS_LISTED: usize = 8;

/// Runs: a question that another one can replace is not asked again after this number of unresolved runs, if none was
/// resolved. Decided by: the test module `unresolved`.
pub(super) const MAX_UNRESOLVED_AT_FIRST: usize = 3;

/// Runs: the same for a question that nothing can replace. If three of five runs are unresolved by chance, the first
/// 12 runs of such a question are all unresolved in 1 of 460 cases. Decided by: the test module `unresolved`.
pub(super) const MAX_UNRESOLVED_OF_NEEDED: usize = 12;

/// Unresolved runs that each resolved run of a question allows beyond these: so a question that is resolved in two of
/// five runs stays useful. Decided by: the test module `unresolved`.
pub(super) const MAX_UNRESOLVED_PER_RESOLVED: usize = 3;

/// Runs: after this number of resolved runs of the question asked instead, a refused question is asked once more.
/// Decided by: the test module `unresolved`.
pub(super) const DETOURS_BEFORE_RETRY: usize = 4;

/// Candidates: in place of an unresolved cut, the search asks for cuts up to this distance. Decided by: the test module
/// `unresolved`.
pub(super) const MAX_CUT_DETOUR: usize = 16;

/// A probability: a candidate that suffices alone with this probability is a suspect, and a proof of the suspect
/// begins. Decided by: `noise` (runs of the confirmation).
pub(super) const SUSPECT_PROBABILITY: f64 = 0.5;

/// Runs: a candidate is run alone at most this many times more than the candidates before it, to see if it suffices.
/// Decided by: `noise`, the rows of pairs.
pub(super) const MAX_EXTRA_ALONE_RUNS: usize = 8;

/// A divisor of the allowed error: one part is spent on the decision that a change is the last one of a set. Decided
/// by: `noise`, the rows of pairs.
pub(super) const JOINT_ERROR_DIVISOR: f64 = 8.0;

/// A divisor of the allowed error: one part is spent on each change of a set that is minimized. Decided by: `trust`,
/// the rows of pairs.
pub(super) const MINIMIZE_ERROR_DIVISOR: f64 = 4.0;

/// A factor of the allowed error: the error that is stated for a set after it was minimized. Decided by: `trust`, the
/// rows of pairs.
pub(super) const MINIMIZED_ERROR_FACTOR: f64 = 2.0;

/// A share of the allowed error that is kept for further culprits; the same share of that is kept for those after the
/// next. Most targets have one culprit. Decided by: `noise` (runs of one culprit and of two).
pub(super) const NEXT_CULPRIT_SHARE: f64 = 0.125;

/// A factor: if *e* is the allowed error, 1 minus the confidence, all proofs together name a change that does not matter
/// with a probability of at most *e* and of at most this factor times *e*²: 0.1% for a confidence of 0.99. Decided by:
/// `trust` with `--confidence 0.99`.
pub(super) const PROOF_ERROR_FACTOR: f64 = 10.0;

/// A share of the allowed error of proofs: the first suspect gets this share, the next one this share of the rest, and
/// so on. Most searches have one suspect. Decided by: `noise` (runs of the confirmation).
pub(super) const SUSPECT_SHARE: f64 = 0.75;

/// A rate of failure: in a proof, rates are kept at least this far from 0 and from 1, so that one surprise does not
/// undo the proof. Decided by: `trust` and `noise` (runs of the confirmation).
pub(super) const PROOF_RATE_MARGIN: f64 = 0.02;

/// A rate: a target that fails, or passes, at a lower rate counts as one that never does. Decided by: `noise`, only
/// noise at 0.05 and 0.95.
pub(super) const MIN_FAILURE_RATE: f64 = 0.03;

/// The probability that no change matters at which the first search ends, without `--confidence`. It is lower than that of
/// a culprit, because a wrong answer of this kind costs the user less. Decided by: `noise`, the rows of noise only.
pub(super) const NOTHING_PROBABILITY: f64 = 0.9;

/// A factor of the allowed error, for the answer that no change matters. Decided by: `noise`, the row (0.7, 0.3) of each
/// confidence.
pub(super) const NOTHING_ERROR_FACTOR: f64 = 0.6;

/// Runs for each change: after this number, times one more than the changes that are named or forced,
/// [`GIVE_UP_PROBABILITY`] suffices to end a search, with or without `--confidence`. Decided by: `noise`, the rows of
/// noise only and those of two culprits.
pub(super) const GIVE_UP_AFTER_RUNS: usize = 500;

/// The probability that no change matters that ends a search after the runs of [`GIVE_UP_AFTER_RUNS`]. At `--max-runs`, the target is
/// called flaky from this probability on. Decided by: `noise`, the rows of noise only.
pub(super) const GIVE_UP_PROBABILITY: f64 = 0.5;

/// Runs after which every noisy search gives up, for a target that keeps reporting new changes. Decided by: the test
/// module `hostile`.
pub(super) const MAX_NOISY_RUNS: usize = 10_000;

/// A prior probability: disabled changes break the target. Decided by: `noise`.
pub(super) const PRIOR_DISABLED: f64 = 0.05;

/// A prior probability: all changes together make no difference. Decided by: `noise`, the rows of noise only.
pub(super) const PRIOR_NO_DIRECTION: f64 = 0.01;

/// A probability: the search adopts a direction with this probability; later runs may correct it. Decided by: `noise`.
pub(super) const DIRECTION_PROBABILITY: f64 = 0.9;

/// Runs of both ends after which the search adopts the more likely direction. Decided by: `noise`, rows of near rates.
pub(super) const MAX_DIRECTION_RUNS: usize = 60;

/// A prior probability, before the first run without it: a change of a failing set is needed. Decided by: `noise`, the
/// rows of pairs.
pub(super) const PRIOR_NEEDED: f64 = 0.9;

// Rules that explain outcomes without the changes.

/// Outcomes: a cycle that predicted fewer is weak evidence; it may only express that the last outcome equals the first.
/// Decided by: `trust`.
pub(super) const MIN_CYCLE_PREDICTIONS: usize = 4;

/// Runs: the longest cycle of outcomes that is considered. Decided by: `trust`, the rows of carry-over.
pub(super) const MAX_CYCLE_LENGTH: usize = 12;

/// Runs: if no rule explains this many, none will. Decided by: the time that rules take.
pub(super) const MAX_RUNS_FOR_RULES: usize = 250;

/// Outcomes: a rule is stated only if it predicted this many failures and this many passes, which chance does in one of
/// 65,536 cases. Decided by: `trust`.
pub(super) const MIN_RULE_PREDICTIONS: usize = 8;

/// A weight: that of all rules on the changes of the run before. The weight of a cycle is 4 to the power of
/// [`MAX_CYCLE_LENGTH`] minus its length. Decided by: `trust`, the rows of carry-over.
pub(super) const PREVIOUS_RUN_RULE_WEIGHT: u32 = 1 << (2 * MAX_CYCLE_LENGTH - 8);

/// Runs: the longest half of a wave of outcomes that is considered. Decided by: `trust`, the rows of a clock.
pub(super) const MAX_HALF_WAVE: usize = 6;

/// A ratio: waves predict an outcome if this many times more of them predict it than the other one. Decided by: `trust`,
/// the rows of a clock; `trials` (runs).
pub(super) const CLEAR_MAJORITY_OF_WAVES: usize = 3;

// Checks of a target that seems reliable.

/// Runs before the first culprit is named, if it is one change. With three, 2.6% of the searches of a target that
/// fails in half of its runs name a change. Decided by: `trust` (1% of the searches), `trials` (at most 4 extra runs).
pub(super) const CHECKS_BEFORE_FIRST: usize = 4;

/// Runs before each further culprit of one change is named. Decided by: `trust`, `trials` (at most 3 runs more).
pub(super) const CHECKS_BEFORE_FURTHER: usize = 3;

/// Predicted runs: if this many end as the only suspect predicts, no further checks are made. Random outcomes do so with
/// a probability of 2 to the power of minus this number. Decided by: `trust` with 16 runs in flight.
pub(super) const SUFFICIENT_PREDICTED_RUNS: usize = 6;

/// Checks are made in batches of the trials in flight, or of this number if that is smaller. One run of the last batch
/// is left for the text of the culprit.
/// Decided by: `trust` with several runs in flight.
pub(super) const MAX_CHECK_BATCH: usize = 4;

/// Checks of a set of several changes as a whole; the others omit one change. Decided by: `trust`, the rows of pairs.
pub(super) const CHECKS_OF_WHOLE_SET: usize = 3;

/// Changes: a set from this size on is large, and its failing end is run again. Decided by: `noise`, the rows of noise
/// only; `dense` (runs).
pub(super) const LARGE_SET: usize = 8;

/// At least this many checks are made before the search reports that the changes make no difference. Decided by: `trust`.
pub(super) const CHECKS_BEFORE_NO_DIFFERENCE: usize = 2;

// The sequential search.

/// Trials of one bracket: after this many, cuts halve the space of ranks instead of the known changes, which bounds the
/// search of a target that invents changes in every run. Decided by: the test module `hostile`.
pub(super) const MAX_BRACKET_STEPS: u32 = 64;

/// Unresolved cuts of one bracket that the search works around before it settles for the present candidates. Decided
/// by: the golden searches `unresolved*`.
pub(super) const MAX_UNRESOLVED_CUTS: usize = 16;

/// Sets that are too large and that the search works around; each may add as many branches as it has changes. Decided
/// by: the golden search `max-set-size`.
pub(super) const MAX_TOO_LARGE_SETS: usize = 16;

/// Changes that sets may name beyond twice the reported ones, before the target counts as one that invents changes.
/// Decided by: the test module `hostile`.
pub(super) const MAX_INVENTED: usize = 64;

/// A ratio: from these odds on, the search assumes that many changes are needed. With less, pairs take more trials; with
/// more, the change-over comes later. Decided by: `dense`, and the rows of pairs of `trials`.
pub(super) const MIN_ODDS_OF_MANY: f64 = 32.0;

/// A ratio of probabilities: that a change is needed if the one before it is, and if that one is not. From this ratio on, needed
/// changes form clusters. With less, sets of which two are neighbours by chance take more trials; with more, a cluster at
/// the end of the order is recognized late. Decided by: `dense`, and the rows of 100 changes of `trials`.
pub(super) const MIN_RATIO_OF_CLUSTERS: usize = 8;

/// Changes: with fewer left, the search does not assume that many are needed, except inside a cluster. Decided by: the test module `brute_force`.
pub(super) const MIN_LEFT_FOR_MANY: usize = 16;

/// Groups: after more than this number without a needed change in sequence, and two for each needed one, the search no
/// longer assumes that many are needed. Each has a needed one in half of all cases. Decided by: `dense`, and the test
/// module `given`.
pub(super) const MAX_EMPTY_GROUPS: usize = 4;

/// Culprits that a sweep finds in sequence, before a run of nothing proves them. Decided by: `dense`, the rows of half of
/// the changes, and the test module `hostile`.
pub(super) const MAX_UNPROVED_CULPRITS: usize = 8;

/// Candidates: with fewer, a cut away from the middle costs more than its simplicity is worth. Decided by: `trials`.
pub(super) const MIN_CANDIDATES_FOR_SLACK: usize = 16;

/// A divisor of the number of candidates: the distance from the middle at which a simpler cut is still used, if that is
/// less than the square root of the number. Decided by: `trials`.
pub(super) const SLACK_DIVISOR: usize = 10;

/// Made-up changes that represent all changes before any is known. Decided by: the test module `in_flight`.
pub(super) const MADE_UP_CHANGES: u64 = 2048;

/// The maximum number of candidates of which groups are tested. Decided by: the time to choose groups, which is
/// proportional to the number of candidates.
pub(super) const MAX_CANDIDATES_FOR_GROUPS: usize = 1 << 17;

// The proposer.

/// Prior weights: a culprit is one change, two, or more. Decided by: `trials` (rounds).
pub(super) const PRIOR_OF_SIZE: [f64; 3] = [0.88, 0.09, 0.02];

/// A prior weight: two changes each fail alone. Decided by: `trials` (rounds of {1,1}).
pub(super) const PRIOR_OF_EITHER: f64 = 0.03;

/// A prior weight: one change fails alone, beside a set that includes the forced changes and one more. Decided by:
/// `trials` (rounds of {1,2}).
pub(super) const PRIOR_OF_SET_OR_SINGLE: f64 = 0.01;

/// A prior weight: neither a change nor a pair explains the runs. Decided by: `trials` (rounds of {3}).
pub(super) const PRIOR_OF_OTHER: f64 = 0.02;

/// Changes: with more, pairs of them are not considered. Decided by: the bench `engine` of bisect-core.
pub(super) const MAX_CHANGES_FOR_PAIRS: usize = 1 << 14;

/// Pairs of changes that are tried, at most, to list those that explain all runs. Decided by: the time to try them.
pub(super) const MAX_PAIRS_EXAMINED: usize = 1 << 19;

/// The maximum number of pairs of one kind by which runs are proposed. Decided by: `trials` (rounds), against the time of
/// one choice, which is proportional.
pub(super) const MAX_PAIRS_SAMPLED: usize = 1 << 12;

/// Groups of which the best one is chosen. Decided by: `trials` (rounds).
pub(super) const TRIES_OF_A_GROUP: usize = 3;

/// Bits: a group that tells less is not run. Decided by: `trials` (rounds).
pub(super) const MIN_BITS_OF_A_GROUP: f64 = 0.1;

/// Steps of a bisection of the share of the changes that a group has. Decided by: its purpose; the share need not be exact.
pub(super) const STEPS_OF_SHARE: usize = 8;

/// The maximum number of gaps of a group. Decided by: Linux's limit for one environment variable, 128 KiB.
pub(super) const MAX_GROUP_GAPS: usize = 512;

/// The maximum number of groups of likely changes. A group before the right one costs about one trial. Decided by:
/// overflow, see [`MAX_WEIGHT_OF_LAST_GROUP`].
pub(super) const MAX_LIKELY_GROUPS: usize = 4;

/// The maximum total weight of the changes in no group of likely changes, or of the last group if every change is in one.
/// Decided by: 64 bits, which hold the total weight of all groups times a number of changes.
pub(super) const MAX_WEIGHT_OF_LAST_GROUP: u64 = 1 << 40;

/// Futures examined for each trial in flight, at most, the most likely first. Decided by: the bench `engine` of
/// bisect-core.
pub(super) const FUTURES_PER_TRIAL: usize = 2;

/// Probabilities of a failure in 256ths: they determine which trials are made early, never the result. Decided by: the
/// test module `in_flight` and the bench `driver`.
pub(super) mod odds {
    /// All changes together fail.
    pub(in crate::search) const ALL_ON: u64 = 243;
    /// No change fails, for a target that passes with every change: its user probably expects that.
    pub(in crate::search) const ALL_OFF_AFTER_PASS: u64 = 192;
    /// A prefix that is believed to fail does fail.
    pub(in crate::search) const BELIEVED_PREFIX: u64 = 243;
    /// One change fails alone: most culprits are one change.
    pub(in crate::search) const ONE_ALONE: u64 = 200;
    /// Several changes fail alone, or there is no better estimate.
    pub(in crate::search) const EVEN: u64 = 128;
    /// The rest still fails without a culprit.
    pub(in crate::search) const REST: u64 = 77;
    /// A part of a set still fails.
    pub(in crate::search) const PART: u64 = 51;
    /// The end that passed at first fails.
    pub(in crate::search) const BASELINE: u64 = 13;
    /// An outcome that no suspect explains.
    pub(in crate::search) const SURPRISE: u64 = 4;
}

// Several tests at once.

/// Changes named by one pattern, at most, so that the pattern fits into an environment variable. Decided by: the limit
/// of Linux, 128 KiB.
pub(super) const MAX_NAMED_CHANGES: usize = 1024;

/// Components cut by one run, at most, so that the pattern fits into an environment variable: all but the last leave a
/// gap. Decided by: the limit of Linux, 128 KiB.
pub(super) const MAX_POOLED_CUTS: usize = 64;

/// Tests of a component that propose a cut. Decided by: `per_test`, against the time of one choice.
pub(super) const MAX_CUT_PROPOSALS: usize = 64;

/// Sets of forced and excluded changes that are tried together. Decided by: `per_test`, against the time of one choice.
pub(super) const MAX_POOLED_GROUPS: usize = 32;

// Messages.

/// Changes listed that a target reported although they were not selected. Decided by: the size of the screen.
pub(super) const MAX_UNASKED_LISTED: usize = 8;
