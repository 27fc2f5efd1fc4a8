//! A pooled selection: one selection that is a good question for as many tests as possible.
//!
//! Tests whose candidates overlap form a component, and each component is cut in two: the selection is a prefix of the
//! order that leaves out the upper part of every component. Tests with different culprits soon have candidates far
//! apart, and one run then halves all of them.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::ops::Range;

use crate::search::{
    test::{PrefixQuestion, Test},
    tuning,
};
use crate::{
    search::model::rank::Rank,
    search::model::{
        likely_groups::LikelyGroups,
        rank::simplest_cut,
        ranked,
        selection::{Prefix, Selection},
    },
};

/// The knowledge that all tests share, for pooled runs.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    /// The changes of all culprits.
    pub(super) culprits: BTreeSet<Rank>,
    /// The groups of changes that are likelier than others.
    pub(super) likely_groups: LikelyGroups,
    /// The selection from which every pooled selection takes its direction.
    pub(super) model: Selection,
}

/// A test, from the view of a pooled run.
pub(super) struct Member<'a> {
    narrowing: PrefixQuestion<'a>,
    /// Candidates that are likelier than others: their positions, and the cumulative sums of their extra weights.
    likely: Vec<(usize, u64)>,
    /// The cuts that runs in flight make between the candidates, and both ends.
    marks: Vec<usize>,
}

impl<'a> Member<'a> {
    /// Returns the member for a test that is searched by prefixes, given the useful runs in flight. The extra weight of
    /// all changes that broke other tests is, in sum, the basic weight of all candidates. The first likely
    /// group gets the same sum, and each further group half of the one before. A hint gets twice the basic weight of all
    /// candidates.
    pub(super) fn new<'s>(test: &'a Test, pool: &Pool, in_flight: impl Iterator<Item = &'s Selection>) -> Option<Self> {
        let narrowing = test.narrowing()?;
        let count = narrowing.candidates.len();
        let position = |cut: Rank| ranked::below(narrowing.candidates, cut);
        let find = |id: &Rank| ranked::find(narrowing.candidates, *id);
        let together = |likely: Vec<usize>, sum: usize| {
            let extra = sum / likely.len().max(1);
            likely.into_iter().map(move |at| (at, extra as u64))
        };
        let mut likely: Vec<_> = together(pool.culprits.iter().filter_map(find).collect(), count).collect();
        for (place, group) in pool.likely_groups.iter().enumerate() {
            likely.extend(together(group.iter().filter_map(find).collect(), count >> place));
        }
        likely.extend(narrowing.hint.iter().filter_map(find).map(|at| (at, 2 * count as u64)));
        likely.sort_unstable();
        let mut sum = 0;
        for (_, extra) in &mut likely {
            sum += *extra;
            *extra = sum;
        }
        let mut marks: Vec<_> = in_flight.filter_map(|selection| narrowing.cut_by(selection)).map(position).collect();
        marks.extend([0, count]);
        marks.sort_unstable();
        marks.dedup();
        Some(Self { narrowing, likely, marks })
    }

    pub(super) fn is_exact(&self) -> bool {
        self.narrowing.is_exact
    }

    /// Returns the candidates that explain the runs of groups too.
    pub(super) fn suspects(&self) -> &'a [Rank] {
        self.narrowing.suspects
    }

    /// Returns the end of the prefix that contains all candidates.
    pub(super) fn high(&self) -> Prefix {
        self.narrowing.high
    }

    fn rank(&self, position: usize) -> Rank {
        self.narrowing.candidates[position]
    }

    fn first(&self) -> Rank {
        self.rank(0)
    }

    fn last(&self) -> Rank {
        self.rank(self.narrowing.candidates.len() - 1)
    }

    fn position(&self, cut: Rank) -> usize {
        ranked::below(self.narrowing.candidates, cut)
    }

    /// Returns the weight of this number of candidates, from the first on.
    fn weight(&self, position: usize) -> u64 {
        let likely = self.likely.partition_point(|&(at, _)| at < position);
        position as u64 + self.likely[..likely].last().map_or(0, |&(_, sum)| sum)
    }

    /// Returns the information of this cut in addition to what the runs in flight will show: at most [`u32::MAX`] / 4.
    ///
    /// This is proportional to the probability that the cut separates two candidates drawn by their weights. Like
    /// entropy, it has its maximum in the middle, and it needs no logarithm.
    fn information(&self, position: usize) -> u64 {
        let above = self.marks.partition_point(|&mark| mark < position);
        if above == 0 || self.marks.get(above).is_none_or(|&mark| mark == position) {
            return 0;
        }
        let [low, cut, high] = [self.marks[above - 1], position, self.marks[above]].map(|at| self.weight(at));
        let total = u128::from(self.weight(self.narrowing.candidates.len()));
        let parts = u128::from(cut - low) * u128::from(high - cut);
        u64::try_from(parts * u128::from(u32::MAX) / (total * total)).expect("it is a fraction of 32 bits")
    }

    /// Returns the best cut for this test alone, up to a position.
    fn middle(&self, limit: usize) -> Option<Rank> {
        let widest = self.marks.windows(2).max_by_key(|cell| self.weight(cell[1]) - self.weight(cell[0]))?;
        let middle = u64::midpoint(self.weight(widest[0]), self.weight(widest[1]));
        // The candidate at the middle may be above the cut or below it.
        let (mut low, mut high) = (widest[0], widest[1]);
        while high - low > 1 {
            let position = usize::midpoint(low, high);
            if self.weight(position) <= middle { low = position } else { high = position }
        }
        let best = [low, high].into_iter().max_by_key(|&at| self.information(at))?;
        let best = best.min(limit).min(self.narrowing.candidates.len() - 1);
        (best > 0).then(|| simplest_cut(self.rank(best - 1), self.rank(best)))
    }

    /// Returns the highest position up to which a cut misses no candidate; `None` if the selection does not suit this
    /// test.
    fn limit(&self, named: &Named) -> Option<usize> {
        let PrefixQuestion { candidates, forced, excluded, .. } = &self.narrowing;
        if forced.iter().any(|id| named.excluded.contains(id)) || excluded.iter().any(|id| named.forced.contains(id)) {
            return None;
        }
        let find = |id: &Rank| ranked::find(candidates, *id);
        Some(named.excluded.iter().filter_map(find).min().unwrap_or(candidates.len()))
    }
}

/// The changes that a selection names.
#[derive(Default)]
pub(super) struct Named {
    forced: BTreeSet<Rank>,
    excluded: BTreeSet<Rank>,
}

impl Named {
    pub(super) fn of(members: &[&Member<'_>]) -> Self {
        Self {
            forced: members.iter().flat_map(|member| member.narrowing.forced).copied().collect(),
            excluded: members.iter().flat_map(|member| &member.narrowing.excluded).copied().collect(),
        }
    }
}

/// Tests whose candidates overlap, and the cut between their candidates.
struct Component<'a, 'b> {
    members: Vec<(&'b Member<'a>, usize)>,
    last: Rank,
    cut: Rank,
    information: u64,
}

impl<'a, 'b> Component<'a, 'b> {
    /// Returns the components of these tests, from the lowest ranks on.
    fn all(members: &[&'b Member<'a>], named: &Named) -> Vec<Self> {
        let mut suited: Vec<_> = members.iter().filter_map(|&member| Some((member, member.limit(named)?))).collect();
        suited.sort_by_key(|(member, _)| member.first());
        let mut components: Vec<Self> = Vec::new();
        for (member, limit) in suited {
            match components.last_mut() {
                Some(component) if member.first() <= component.last => {
                    component.last = component.last.max(member.last());
                    component.members.push((member, limit));
                }
                _ => {
                    let members = [(member, limit)].into();
                    components.push(Self { members, last: member.last(), cut: Rank::FIRST, information: 0 });
                }
            }
        }
        components.iter_mut().for_each(Self::choose);
        components
    }

    /// Chooses the cut with the most information for all tests together; of equally good cuts, the simplest.
    fn choose(&mut self) {
        let every = self.members.len().div_ceil(tuning::MAX_CUT_PROPOSALS);
        let proposals = self.members.iter().step_by(every).filter_map(|(member, limit)| member.middle(*limit));
        let proposals: BTreeSet<Rank> = proposals.collect();
        let information = |cut: Rank| {
            let known = self.members.iter().map(|(member, limit)| {
                let position = member.position(cut);
                if position <= *limit { member.information(position) } else { 0 }
            });
            known.sum::<u64>()
        };
        let best = proposals.into_iter().map(|cut| (information(cut), cut.0.trailing_zeros(), cut)).max();
        (self.information, _, self.cut) = best.unwrap_or((0, 0, Rank::FIRST));
    }

    fn first(&self) -> Rank {
        self.members[0].0.first()
    }
}

/// A selection, and its information for all tests together.
struct Pooled {
    selection: Selection,
    information: u64,
}

impl Pooled {
    /// Returns the selection without the upper parts of all components.
    fn of(members: &[&Member<'_>], model: &Selection) -> Option<Self> {
        let named = Named::of(members);
        let components = Component::all(members, &named);
        let mut useful: Vec<usize> = (0..components.len()).filter(|&i| components[i].information > 0).collect();
        if useful.len() > tuning::MAX_POOLED_CUTS {
            useful.sort_by_key(|&i| core::cmp::Reverse(components[i].information));
            useful.truncate(tuning::MAX_POOLED_CUTS);
            useful.sort_unstable();
        }
        let (&last, lower) = useful.split_last()?;
        let gaps = lower.iter().map(|&i| {
            let Component { cut, last, .. } = components[i];
            cut..simplest_cut(last, components[i + 1].first())
        });
        Some(Self {
            information: useful.iter().map(|&i| components[i].information).sum(),
            selection: named.selection(Prefix::Below(components[last].cut), gaps.collect(), model),
        })
    }

    /// Returns a prefix without gaps.
    fn exact(members: &[&Member<'_>], model: &Selection) -> Option<Self> {
        let named = Named::of(members);
        let best = Component::all(members, &named).into_iter().max_by_key(|component| component.information)?;
        let selection = named.selection(Prefix::Below(best.cut), Vec::new(), model);
        (best.information > 0).then_some(Self { information: best.information, selection })
    }
}

impl Named {
    /// Returns true if one of these names a change as forced that the other excludes.
    pub(super) fn conflicts_with(&self, other: &Self) -> bool {
        !self.forced.is_disjoint(&other.excluded) || !self.excluded.is_disjoint(&other.forced)
    }

    pub(super) fn names(&self, change: Rank) -> bool {
        self.forced.contains(&change) || self.excluded.contains(&change)
    }

    pub(super) fn selection(&self, prefix: Prefix, gaps: Vec<Range<Rank>>, model: &Selection) -> Selection {
        Selection { prefix, gaps, forced: by_id(&self.forced), excluded: by_id(&self.excluded), ..*model }
    }
}

/// Returns the changes in the order in which a pattern names them.
fn by_id(changes: &BTreeSet<Rank>) -> Vec<Rank> {
    let mut changes: Vec<_> = changes.iter().copied().collect();
    changes.sort_unstable_by_key(|change| change.id());
    changes
}

/// Returns the best prefix with gaps for these tests; its mode is that of `model`.
pub(super) fn pooled(members: &[&Member<'_>], model: &Selection) -> Option<Selection> {
    let mut groups = alike(members);
    groups.sort_by_key(|group| core::cmp::Reverse(group.len()));
    // Tests whose forced and excluded changes conflict wait for another run.
    let mut together: Vec<&Member<'_>> = Vec::new();
    let mut best: Option<Pooled> = None;
    for group in groups.into_iter().take(tuning::MAX_POOLED_GROUPS) {
        let before = together.len();
        together.extend(group);
        match Pooled::of(&together, model) {
            Some(pooled) if best.as_ref().is_none_or(|best| pooled.information > best.information) => {
                best = Some(pooled);
            }
            _ => together.truncate(before),
        }
    }
    Some(best?.selection)
}

/// Returns the best prefix for tests that are searched by exact prefixes.
pub(super) fn exact(members: &[&Member<'_>], model: &Selection) -> Option<Selection> {
    let prefixes = alike(members).into_iter().filter_map(|group| Pooled::exact(&group, model));
    prefixes.max_by_key(|prefix| prefix.information).map(|prefix| prefix.selection)
}

/// Returns the tests grouped by the changes that they force and exclude.
pub(super) fn alike<'a, 'b>(members: &[&'b Member<'a>]) -> Vec<Vec<&'b Member<'a>>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for &member in members {
        let sorted = |changes: &[Rank]| changes.iter().map(|change| change.id()).collect::<BTreeSet<_>>();
        let key = (sorted(member.narrowing.forced), sorted(&member.narrowing.excluded));
        groups.entry(key).or_default().push(member);
    }
    groups.into_values().collect()
}
