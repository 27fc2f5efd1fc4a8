//! What the runs so far make likely: hypotheses about the changes that are needed next, with their weights.
//!
//! A hypothesis is a few changes that fail together, beside the forced ones, or a few that each fail alone. Hypotheses that a run
//! refutes are dropped; the others keep their prior weight. Where there are too many to list, an even sample stands for all.
//! They choose the runs that tell them apart, and the cuts that are asked for next. They prove nothing.
//!
//! The search space of a few needed changes and its tests are those of group testing (Dorfman, "The Detection of
//! Defective Members of Large Populations", 1943). Of two changes that are needed together, a run of 0.71 of the changes has
//! both in half of all cases, so sets of several are told apart by large groups (Coja-Oghlan, Gebhard,
//! Hahn-Klimroth and Loick, "Optimal group testing", 2020, on random designs).

use alloc::{rc::Rc, vec, vec::Vec};

use super::group_tests::{half_of_each, selection_of, split, switches};
use crate::search::{
    posterior::math::{log2, power_of_two},
    ledger::Asked,
    model::{
        mode::Mode,
        rank::{Rank, simplest_cut},
        ranked,
        rng::SeededRng,
        selection::{Prefix, Selection},
        trial::Outcome,
    },
    sequential::{Procedure, lookahead, slack},
    tuning,
};

/// The way in which the changes of a hypothesis make the target fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The target fails if all of them are switched.
    All,
    /// The target fails if one of them is switched.
    Any,
}

/// A few changes, as indices of [`Beliefs::changes`]; some may be named twice.
#[derive(Clone, Copy, Debug)]
struct Hypothesis {
    kind: Kind,
    members: [u32; 3],
    /// Number of members.
    size: usize,
    weight: f64,
}

impl Hypothesis {
    /// Returns true if a run fails in which these changes are switched.
    fn fails(&self, is_switched: &[bool]) -> bool {
        let mut members = self.members().iter().map(|&index| is_switched[index as usize]);
        match self.kind {
            Kind::All => members.all(|is_switched| is_switched),
            Kind::Any => members.any(|is_switched| is_switched),
        }
    }

    fn members(&self) -> &[u32] {
        &self.members[..self.size]
    }

    /// Returns true if it is a single change.
    fn is_single(&self) -> bool {
        self.size == 1
    }
}

/// The hypotheses that explain all runs, with their weights; none if something else explains them.
#[derive(Clone, Debug, Default)]
pub(super) struct Beliefs {
    /// Changes, in order.
    changes: Rc<[Rank]>,
    /// The changes that are switched in every run for which a hypothesis predicts a failure.
    forced: Rc<[Rank]>,
    hypotheses: Rc<[Hypothesis]>,
    /// The weight of all other explanations together. They predict either outcome of a run with equal probability.
    other: f64,
}

/// The runs from which hypotheses follow.
struct Evidence<'a> {
    mode: Mode,
    failed: Vec<&'a Selection>,
    passed: Vec<&'a Selection>,
}

impl<'a> Evidence<'a> {
    fn new(procedure: &Procedure, forced: &[Rank], runs: &[(&'a Selection, Outcome)]) -> Self {
        let (mode, excluded) = (procedure.mode(), procedure.excluded());
        let switches_any = |run: &Selection| excluded.iter().any(|&change| switches(mode, run, change));
        let tells = |run: &Selection| forced.iter().all(|&change| switches(mode, run, change));
        let with = |wanted| runs.iter().filter(move |(_, outcome)| *outcome == wanted).map(|&(selection, _)| selection);
        // An excluded change explains a failing run in which it is switched.
        let failed = with(Outcome::Fail).filter(|run| tells(run) && !switches_any(run)).collect();
        Self { mode, failed, passed: with(Outcome::Pass).filter(|run| tells(run)).collect() }
    }

    /// Returns the runs that must switch all changes of a set that fails together, and those that must leave one out; for
    /// changes that each fail alone, the runs that must leave all out, and those that must switch one.
    fn of(&self, kind: Kind) -> (&[&'a Selection], &[&'a Selection]) {
        match kind {
            Kind::All => (&self.failed, &self.passed),
            Kind::Any => (&self.passed, &self.failed),
        }
    }
}

impl Beliefs {
    /// Returns what the runs make likely at the present cut of a procedure; `None` if no hypothesis explains all runs, or if
    /// they are not worth their time.
    pub(super) fn of(procedure: &Procedure, runs: &[(&Selection, Outcome)]) -> Option<Self> {
        let (forced, bracket) = procedure.present_set()?;
        if !bracket.may_steer() || bracket.candidates().len() > tuning::MAX_CANDIDATES_FOR_GROUPS {
            return None;
        }
        let evidence = Evidence::new(procedure, forced, runs);
        let mut changes = lookahead::rest_of_known(procedure, forced);
        if !forced.is_empty() {
            changes.truncate(ranked::below(&changes, forced.iter().copied().min().unwrap_or(Rank::FIRST)));
        }
        let mut rng = SeededRng::new(runs.len() as u64);
        let mut hypotheses = Vec::new();
        if !forced.is_empty() && evidence.passed.is_empty() {
            let weight = prior(tuning::PRIOR_OF_SIZE[(forced.len() - 1).min(2)], changes.len() + forced.len(), forced.len());
            hypotheses.push(Hypothesis { kind: Kind::All, members: [0; 3], size: 0, weight });
        }
        singles(&changes, bracket.candidates(), &evidence, forced.len(), &mut hypotheses);
        for kind in [Kind::All, Kind::Any] {
            {
                pairs(kind, &changes, &evidence, forced.len(), &mut rng, &mut hypotheses);
            }
        }
        // DEBUG
        if std::env::var("DEBUG").is_ok() {
            let of = |f: &dyn Fn(&Hypothesis) -> bool| hypotheses.iter().filter(|h| f(h)).fold((0, 0.0), |a, h| (a.0 + 1, a.1 + h.weight));
            std::println!("  forced {} failed {} passed {} candidates {} singles {:?} all {:?} any {:?}", forced.len(), evidence.failed.len(), evidence.passed.len(), bracket.candidates().len(), of(&|h| h.is_single()), of(&|h| !h.is_single() && h.kind == Kind::All), of(&|h| h.kind == Kind::Any));
        }
        let is_any = !hypotheses.is_empty();
        let other = tuning::PRIOR_OF_OTHER * power_of_two(-((evidence.failed.len() + evidence.passed.len()) as i32));
        is_any.then(|| Self { changes: changes.into(), forced: forced.into(), hypotheses: hypotheses.into(), other })
    }

    /// Returns the only single change that explains all runs, if it is likelier than all else together.
    pub(super) fn sole(&self) -> Option<Rank> {
        let mut singles = self.hypotheses.iter().filter(|hypothesis| hypothesis.is_single());
        let sole = singles.next().filter(|_| singles.next().is_none())?;
        (2.0 * sole.weight > self.total() + self.other).then(|| self.changes[sole.members[0] as usize])
    }

    fn total(&self) -> f64 {
        self.hypotheses.iter().map(|hypothesis| hypothesis.weight).sum()
    }

    /// Returns for each change if a selection switches it; `None` if it does not switch all forced changes.
    fn switched(&self, mode: Mode, selection: &Selection) -> Option<Vec<bool>> {
        let switches = |&change: &Rank| switches(mode, selection, change);
        self.forced.iter().all(switches).then(|| self.changes.iter().map(switches).collect())
    }

    /// Returns the information of a run of this selection, in bits.
    pub(super) fn information(&self, mode: Mode, selection: &Selection) -> f64 {
        self.share_that_fails(mode, selection).map_or(0.0, entropy)
    }

    /// Returns the probability that a run fails, by the hypotheses; `None` if there is none.
    fn share_that_fails(&self, mode: Mode, selection: &Selection) -> Option<f64> {
        let total = self.total();
        if total <= 0.0 {
            return None;
        }
        let Some(is_switched) = self.switched(mode, selection) else { return Some(0.0) };
        let failing: f64 =
            self.hypotheses.iter().filter(|hypothesis| hypothesis.fails(&is_switched)).map(|h| h.weight).sum();
        Some((failing + self.other / 2.0) / (total + self.other))
    }

    /// Returns the probability that a run fails, in 256ths; `None` if there is no hypothesis. Each is only a guess, so no
    /// outcome is certain.
    pub(super) fn odds_of_failure(&self, mode: Mode, selection: &Selection) -> Option<u64> {
        let share = self.share_that_fails(mode, selection)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 256")]
        let odds = (256.0 * share) as u64;
        Some(odds.clamp(tuning::odds::SURPRISE, 256 - tuning::odds::SURPRISE))
    }

    /// Returns the hypotheses that explain this outcome too.
    pub(super) fn after(&self, mode: Mode, selection: &Selection, outcome: Outcome) -> Self {
        let is_switched = self.switched(mode, selection);
        let fails = |hypothesis: &Hypothesis| is_switched.as_ref().is_some_and(|on| hypothesis.fails(on));
        let explains = |hypothesis: &&Hypothesis| fails(hypothesis) == (outcome == Outcome::Fail);
        Self { hypotheses: self.hypotheses.iter().filter(explains).copied().collect(), other: self.other / 2.0, ..self.clone() }
    }

    /// Lets the next cut of the present bracket halve the likelihood of the changes that may be needed next: of a set that
    /// fails together, the last one that is not forced; of changes that each fail alone, the first.
    pub(super) fn steer(&self, procedure: &mut Procedure) {
        let cut = self.cut(procedure);
        lookahead::steer(procedure, cut);
    }

    fn cut(&self, procedure: &Procedure) -> Option<Rank> {
        let (forced, bracket) = procedure.narrowing()?;
        let candidates = bracket.candidates();
        let mut weights = vec![0.0; candidates.len()];
        let place = |index: &u32| ranked::find(candidates, self.changes[*index as usize]);
        for hypothesis in self.hypotheses.iter() {
            let is_forced = |index: &u32| forced.contains(&self.changes[*index as usize]);
            let open = hypothesis.members().iter().filter(|index| !is_forced(index));
            let next = match hypothesis.kind {
                Kind::All => open.max().and_then(place),
                Kind::Any => open.min().and_then(place),
            };
            if let Some(place) = next {
                weights[place] += hypothesis.weight;
            }
        }
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return None;
        }
        // Cuts just above a candidate with a weight, and just below the first one.
        let likely: Vec<usize> = (0..candidates.len()).filter(|&place| weights[place] > 0.0).collect();
        let first = *likely.first()?;
        let mut cuts: Vec<(f64, usize)> = Vec::new();
        if first > 0 {
            cuts.push((total, first));
        }
        let mut left = 0.0;
        for &place in &likely {
            left += weights[place];
            if place + 1 < candidates.len() {
                cuts.push(((total - 2.0 * left).abs(), place + 1));
            }
        }
        let least = cuts.iter().map(|&(difference, _)| difference).min_by(f64::total_cmp)?;
        let slack = 2.0 * total * slack(likely.len()) as f64 / likely.len() as f64;
        let near = || cuts.iter().filter(|&&(difference, _)| difference <= least.max(slack));
        let &(_, last) = near().next_back()?;
        // Of equal ones, the last.
        let first = if slack > least { near().next()?.1 } else { last };
        Some(simplest_cut(candidates[first - 1], candidates[last]))
    }

    /// Returns what tells hypotheses apart beside these selections of runs that are in flight or about to start.
    pub(super) fn groups<'a>(&'a self, procedure: &'a Procedure) -> Groups<'a> {
        let members = self.members();
        Groups {
            beliefs: self,
            procedure,
            parts: vec![0; self.hypotheses.len()],
            total: self.total() + self.other,
            named: members.iter().map(|&index| self.changes[index]).collect(),
            members,
            has_sets: self.hypotheses.iter().any(|hypothesis| hypothesis.size > 1),
            share: self.share_to_select(),
            rng: SeededRng::new(self.hypotheses.len() as u64),
        }
    }

    /// Returns the indices of the changes that are in a hypothesis, in order.
    fn members(&self) -> Vec<usize> {
        let mut is_member = vec![false; self.changes.len()];
        for hypothesis in self.hypotheses.iter() {
            for &index in hypothesis.members() {
                is_member[index as usize] = true;
            }
        }
        (0..self.changes.len()).filter(|&index| is_member[index]).collect()
    }

    /// Returns the share of the changes that a group selects, beside half of the single ones, so that its run fails with
    /// half of the sets.
    fn share_to_select(&self) -> f64 {
        let mut is_single = vec![false; self.changes.len()];
        for hypothesis in self.hypotheses.iter().filter(|hypothesis| hypothesis.is_single()) {
            is_single[hypothesis.members[0] as usize] = true;
        }
        let sets: Vec<_> = self.hypotheses.iter().filter(|hypothesis| hypothesis.size > 1).collect();
        let half = sets.iter().map(|set| set.weight).sum::<f64>() / 2.0;
        let failing = |share: f64| -> f64 {
            let selected = |index: &u32| if is_single[*index as usize] { 0.5 } else { share };
            let of = |set: &&Hypothesis| match set.kind {
                Kind::All => set.members().iter().map(selected).product::<f64>(),
                Kind::Any => 1.0 - set.members().iter().map(|index| 1.0 - selected(index)).product::<f64>(),
            };
            sets.iter().map(|set| set.weight * of(set)).sum()
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..8 {
            let share = f64::midpoint(low, high);
            if failing(share) < half { low = share } else { high = share }
        }
        low
    }

    /// Draws a group: for each change, if it is in the group. The first try has half of the single changes of each part.
    fn draw(&self, members: &[usize], parts: &[usize], number: usize, share: f64, rng: &mut SeededRng) -> Vec<bool> {
        let mut chosen = vec![false; self.changes.len()];
        // Neighbours are drawn together where there are too many gaps.
        let step = members.len().div_ceil(tuning::MAX_GROUP_GAPS).max(1);
        for neighbours in members.chunks(step) {
            let is_chosen = rng.happens(share);
            neighbours.iter().for_each(|&index| chosen[index] = is_chosen);
        }
        if number < tuning::STRUCTURED {
            let singles = || self.hypotheses.iter().zip(parts).filter(|(hypothesis, _)| hypothesis.is_single());
            let parts: Vec<usize> = singles().map(|(_, &part)| part).collect();
            for ((single, _), is_chosen) in singles().zip(half_of_each(&parts, &parts)) {
                chosen[single.members[0] as usize] = is_chosen;
            }
        }
        chosen
    }

    /// Returns the information of a group, in bits times the total weight.
    fn gain(&self, parts: &[usize], chosen: &[bool]) -> f64 {
        let count = parts.iter().max().map_or(0, |last| last + 1);
        let mut weights = vec![[0.0; 2]; count];
        for (hypothesis, &part) in self.hypotheses.iter().zip(parts) {
            weights[part][usize::from(hypothesis.fails(chosen))] += hypothesis.weight;
        }
        weights.into_iter().map(|[passing, failing]: [f64; 2]| (passing + failing) * entropy(failing / (passing + failing))).sum()
    }
}

/// The choice of groups that tell hypotheses apart.
pub(super) struct Groups<'a> {
    beliefs: &'a Beliefs,
    procedure: &'a Procedure,
    /// For each hypothesis, the number of its part: earlier selections do not tell those of one part apart.
    parts: Vec<usize>,
    total: f64,
    /// The changes that are in a hypothesis, as indices, and by name.
    members: Vec<usize>,
    named: Vec<Rank>,
    has_sets: bool,
    share: f64,
    rng: SeededRng,
}

impl Groups<'_> {
    /// Takes note of one more selection.
    pub(super) fn note(&mut self, selection: &Selection) {
        let hypotheses = &self.beliefs.hypotheses;
        if let Some(is_switched) = self.beliefs.switched(self.procedure.mode(), selection) {
            split(&mut self.parts, |index| hypotheses[index].fails(&is_switched));
        }
    }

    /// Returns the best of a few random groups, and what it tells in bits.
    pub(super) fn best(&mut self) -> Option<(Asked, f64)> {
        let tries = if self.has_sets { tuning::TRIES_OF_A_GROUP } else { 1 };
        let (_, bracket) = self.procedure.present_set()?;
        let tries = (0..tries).map(|number| {
            let chosen = self.beliefs.draw(&self.members, &self.parts, number, self.share, &mut self.rng);
            (self.beliefs.gain(&self.parts, &chosen) / self.total, chosen)
        });
        let (gain, chosen) = tries.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
        let is_chosen: Vec<_> = self.members.iter().map(|&index| chosen[index]).collect();
        let high = if self.has_sets { Prefix::All } else { bracket.high() };
        let (prefix, gaps) = selection_of(&self.named, &is_chosen, high)?;
        Some((lookahead::group(self.procedure, prefix, gaps), gain))
    }
}

/// Returns the entropy of an event with this probability, in bits.
fn entropy(probability: f64) -> f64 {
    let of = |p: f64| if p > 0.0 { -p * log2(p) } else { 0.0 };
    of(probability) + of(1.0 - probability)
}

/// Returns the prior probability of one set of this size among so many changes.
#[expect(clippy::cast_precision_loss, reason = "weights are approximate")]
fn prior(share: f64, changes: usize, size: usize) -> f64 {
    (0..size).fold(share, |weight, place| weight * (place + 1) as f64 / (changes.saturating_sub(place).max(1)) as f64)
}

/// Adds the single changes that explain all runs, beside the forced ones.
fn singles(changes: &[Rank], candidates: &[Rank], evidence: &Evidence<'_>, forced: usize, into: &mut Vec<Hypothesis>) {
    let weight = prior(tuning::PRIOR_OF_SIZE[forced.min(2)], changes.len() + forced, forced + 1);
    let mode = evidence.mode;
    for &change in candidates {
        let explains = evidence.failed.iter().all(|run| switches(mode, run, change))
            && !evidence.passed.iter().any(|run| switches(mode, run, change));
        if explains && let Some(index) = ranked::find(changes, change) {
            let index = u32::try_from(index).expect("fewer changes than a target can report");
            into.push(Hypothesis { kind: Kind::All, members: [index; 3], size: 1, weight });
        }
    }
}

/// Adds the pairs that explain all runs, or a sample of them.
fn pairs(
    kind: Kind,
    changes: &[Rank],
    evidence: &Evidence<'_>,
    forced: usize,
    rng: &mut SeededRng,
    into: &mut Vec<Hypothesis>,
) {
    let prior_of_size = match kind {
        Kind::All => tuning::PRIOR_OF_SIZE[(forced + 1).min(2)],
        Kind::Any if forced == 0 => tuning::PRIOR_OF_ANY,
        Kind::Any => tuning::PRIOR_OF_ANY / 4.0,
    };
    let weight = prior(prior_of_size, changes.len() + forced, forced + 2);
    let (with_both, without_one) = evidence.of(kind);
    let is_of_kind = |run: &Selection, change| switches(evidence.mode, run, change) == (kind == Kind::All);
    let possible: Vec<u32> = (0..changes.len())
        .filter(|&index| with_both.iter().all(|run| is_of_kind(run, changes[index])))
        .map(|index| u32::try_from(index).expect("fewer changes than a target can report"))
        .collect();
    // For each possible member, the runs that it explains by being left out.
    let words = without_one.len().div_ceil(64);
    let bits: Vec<Vec<u64>> = possible
        .iter()
        .map(|&index| {
            let mut bits = vec![0; words];
            for (number, run) in without_one.iter().enumerate() {
                if !is_of_kind(run, changes[index as usize]) {
                    bits[number / 64] |= 1 << (number % 64);
                }
            }
            bits
        })
        .collect();
    let all: Vec<u64> = (0..words).map(|word| if without_one.len() >= 64 * (word + 1) { !0 } else { (1 << (without_one.len() % 64)) - 1 }).collect();
    let explains = |a: usize, b: usize| bits[a].iter().zip(&bits[b]).zip(&all).all(|((a, b), all)| a | b == *all);
    let count = possible.len();
    let total = count * count.saturating_sub(1) / 2;
    let mut found: Vec<[u32; 2]> = Vec::new();
    let mut examined = 0;
    if total <= tuning::MAX_PAIRS_EXAMINED {
        for a in 0..count {
            found.extend((a + 1..count).filter(|&b| explains(a, b)).map(|b| [possible[a], possible[b]]));
        }
        let step = found.len().div_ceil(tuning::MAX_PAIRS_SAMPLED).max(1);
        let kept: Vec<_> = found.iter().copied().step_by(step).collect();
        #[expect(clippy::cast_precision_loss, reason = "weights are approximate")]
        let weight = weight * found.len() as f64 / kept.len().max(1) as f64;
        into.extend(kept.into_iter().map(|[a, b]| Hypothesis { kind, members: [a, b, b], size: 2, weight }));
        return;
    }
    while examined < tuning::MAX_PAIRS_EXAMINED && found.len() < tuning::MAX_PAIRS_SAMPLED {
        examined += 1;
        let (a, b) = (rng.below(count), rng.below(count));
        if a < b && explains(a, b) {
            found.push([possible[a], possible[b]]);
        }
    }
    // Half of the pairs drawn are in order.
    #[expect(clippy::cast_precision_loss, reason = "weights are approximate")]
    let weight = weight * 2.0 * total as f64 / examined as f64;
    into.extend(found.into_iter().map(|[a, b]| Hypothesis { kind, members: [a, b, b], size: 2, weight }));
}
