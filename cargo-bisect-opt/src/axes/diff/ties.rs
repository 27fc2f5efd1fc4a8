//! Ties between parts of a patch: which of them only compile together, and in which order the others compile.
//!
//! A search enables prefixes of an order. So the order is divided where its prefixes compile, and what stands between
//! two such cuts is one change. Where a prefix does not compile, the errors name parts that it needs, or parts that
//! need what it lacks: these are moved to the other side of the cut, and it is built again.
//!
//! A range that is hard to divide is reduced from both ends. Parts that no other part needs are removed first, and come
//! last in the order; parts that need no other are removed next, and come first. Both are removed in halves, then one
//! by one. The rest is one change. This works even if the compiler's errors name no part.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{
    blame,
    checks::{Check, CheckLimit, Checked, CountedChecks},
    complaint::Complaint,
    reduction::{Reduction, reduce},
    words::{PartSet, PartWords},
};
use crate::vcs::patch::{Patch, Piece, trees::ChangedFile};

/// The minimum number of ranges into which an order is divided. Smaller ranges are only divided further where names or
/// errors show that parts may need each other: elsewhere prefixes of the order compile, and a run that does not build
/// costs less than a check of each prefix.
const MIN_RANGES: usize = 16;
/// The maximum number of repairs of one selection. The compiler stops at the first errors, so there may be many.
const MAX_REPAIRS: usize = 30;

/// A patch, with the names in its parts.
#[derive(Debug)]
pub(super) struct Ties<'a> {
    patch: &'a Patch,
    words: &'a [PartWords],
    /// The first part of the unit of each part. Only these are in sets and orders.
    units: Vec<usize>,
}

impl<'a> Ties<'a> {
    /// Creates ties of a patch. `words` are those of its parts.
    pub(super) fn new(patch: &'a Patch, words: &'a [PartWords]) -> Self {
        Self { patch, words, units: (0..words.len()).collect() }
    }

    /// Returns the same for units of several parts, by the first part of the unit of each part.
    pub(super) fn of_units(self, units: Vec<usize>) -> Self {
        Self { units, ..self }
    }

    /// Returns all parts, not only the first one of each unit.
    pub(super) fn all_parts(&self) -> PartSet {
        (0..self.units.len()).collect()
    }

    /// Returns pairs of parts of which neither can be applied without the other.
    pub(super) fn conflicts(&self) -> Vec<(usize, usize)> {
        self.patch.conflicts()
    }

    /// Returns all parts of some units.
    fn parts(&self, units: &PartSet) -> PartSet {
        (0..self.units.len()).filter(|&part| units.contains(&self.units[part])).collect()
    }

    /// Returns the units of some parts.
    fn units(&self, parts: PartSet) -> PartSet {
        parts.into_iter().map(|part| self.units[part]).collect()
    }

    /// Returns the units in an order in which definitions precede uses, and removed uses precede removed definitions;
    /// otherwise in the order of the patch.
    pub(super) fn order(&self) -> Vec<usize> {
        let count = self.words.len();
        let (mut defining, mut freeing) = (BTreeMap::new(), BTreeMap::new());
        for (part, words) in self.words.iter().enumerate() {
            words.defined.iter().for_each(|name| defining.entry(name).or_insert_with(Vec::new).push(part));
            words.unused.iter().for_each(|name| freeing.entry(name).or_insert_with(Vec::new).push(part));
        }
        let mut needs = vec![PartSet::new(); count];
        for (part, PartWords { used, undefined, .. }) in self.words.iter().enumerate() {
            let defining = used.iter().filter_map(|name| defining.get(name));
            let freeing = undefined.iter().filter_map(|name| freeing.get(name));
            let others = defining.chain(freeing).flatten().map(|&other| self.units[other]);
            needs[self.units[part]].extend(others.filter(|&other| other != self.units[part]));
        }
        let mut order = Vec::with_capacity(count);
        let mut is_placed = vec![false; count];
        // Depth first, without recursion: a part follows what it needs, unless both need each other.
        for root in (0..count).filter(|&part| self.units[part] == part) {
            let mut stack = vec![(root, false)];
            while let Some((part, is_done)) = stack.pop() {
                if is_done {
                    order.push(part);
                } else if !std::mem::replace(&mut is_placed[part], true) {
                    stack.push((part, true));
                    let needed = needs[part].iter().copied().filter(|&other| !is_placed[other]);
                    stack.extend(needed.rev().map(|other| (other, false)));
                }
            }
        }
        // Parts that the compiler does not read compile in any selection, so they come first.
        order.sort_by_key(|&part| !self.is_unread(part));
        order
    }

    /// Returns the parts of each unit, in the order of the units.
    pub(super) fn single_units(&self) -> Vec<Vec<usize>> {
        self.order().into_iter().map(|unit| self.parts(&[unit].into()).into_iter().collect()).collect()
    }

    /// Returns true if the compiler and cargo do not read the lines of a part: documents, data, other languages. A new
    /// or deleted file may be included in the source.
    fn is_unread(&self, part: usize) -> bool {
        let part = &self.patch.parts()[part];
        let ChangedFile { old, new } = self.patch.file_of(part);
        let is_read =
            |path: &Path| path.extension().is_some_and(|kind| ["rs", "toml", "lock"].iter().any(|&read| kind == read));
        let is_file_read = [old, new].into_iter().flatten().any(|version| is_read(&version.path));
        !is_file_read && matches!(part.piece, Piece::Lines(_) | Piece::Mode)
    }

    /// Divides an order into groups so that as many of its prefixes as possible compile, as far as the checks reach. Both
    /// ends compile.
    ///
    /// # Errors
    /// If nothing more can be checked.
    pub(super) fn groups<C: Check>(
        &self,
        mut order: Vec<usize>,
        check: &mut C,
        limit: CheckLimit,
    ) -> Result<Vec<Vec<usize>>, C::Error> {
        let unread = order.iter().take_while(|&&part| self.is_unread(part)).count();
        let mut cuts: BTreeSet<usize> = (0..=unread).chain([order.len()]).collect();
        // The ranges, by their beginnings, that were hard to divide.
        let mut hard: BTreeSet<usize> = BTreeSet::new();
        let mut tied: BTreeSet<usize> = BTreeSet::new();
        let mut check = UnitCheck { ties: self, check };
        let mut check = CountedChecks::new(&mut check, limit);
        let mut doubtful = self.redefining();
        let enough = (order.len() / MIN_RANGES).max(1);
        while !check.is_over() {
            let is_doubtful = |low, high| order[low..high].iter().any(|unit| doubtful.contains(unit));
            let largest = pairs(&cuts)
                .filter(|&(low, high)| high - low > 1 && !tied.contains(&low))
                .filter(|&(low, high)| high - low > enough || is_doubtful(low, high));
            let Some((low, high)) = largest.max_by_key(|(low, high)| (high - low, usize::MAX - low)) else { break };
            let before: PartSet = order[..low].iter().copied().collect();
            let range = &order[low..high];
            let found = if hard.contains(&low) { None } else { self.near_middle(range, &before, &mut check)? };
            match &found {
                // The units that the errors moved are doubtful.
                Some(pieces) => {
                    let half = range.len() / 2;
                    let is_moved = |(place, unit): (usize, &usize)| (place < half) != pieces[0].parts.contains(unit);
                    let moved = range.iter().enumerate().filter(|&item| is_moved(item));
                    doubtful.extend(moved.map(|(_, &unit)| unit));
                }
                None => doubtful.extend(range),
            }
            let pieces = match found {
                Some(pieces) => pieces,
                None => self.peeled(range, &before, &mut check)?,
            };
            if pieces.len() < 2 && !check.is_over() {
                tied.insert(low);
            }
            let mut cut = low;
            for OrderPiece { parts, is_hard } in pieces {
                if is_hard {
                    hard.insert(cut);
                }
                order.splice(cut..cut + parts.len(), parts.iter().copied());
                cut += parts.len();
                cuts.insert(cut);
            }
        }
        let mut groups = Vec::new();
        let parts = |units: &[usize]| self.parts(&units.iter().copied().collect()).into_iter().collect::<Vec<_>>();
        for (low, high) in pairs(&cuts) {
            // What was hard to divide would only make runs that do not build.
            if tied.contains(&low) || hard.contains(&low) {
                groups.push(parts(&order[low..high]));
            } else {
                groups.extend(order[low..high].iter().map(|&unit| parts(&[unit])));
            }
        }
        Ok(groups)
    }

    /// Returns the units that define a name in both versions: others may only compile with one of them.
    fn redefining(&self) -> PartSet {
        let redefines = |part: &usize| !self.words[*part].redefined.is_empty();
        self.units((0..self.words.len()).filter(redefines).collect())
    }

    /// Divides a range of the order that follows `before` near its middle, if the errors lead to a set that compiles.
    fn near_middle<C: Check>(
        &self,
        range: &[usize],
        before: &PartSet,
        check: &mut CountedChecks<'_, C>,
    ) -> Result<Option<Vec<OrderPiece>>, C::Error> {
        let length = range.len();
        let all = with(before, range);
        let near = [length / 2, length / 4, length - length / 4].into_iter().filter(|cut| (1..length).contains(cut));
        // If the first ones need all others, perhaps the others do without them.
        for start in near.flat_map(|cut| [&range[..cut], &range[cut..]]) {
            if let Some(parts) = self.repair(with(before, start), before, &all, check)? {
                let (inside, outside) = range.iter().partition(|part| parts.contains(part));
                return Ok(Some(vec![OrderPiece::easy(inside), OrderPiece::easy(outside)]));
            }
            if check.is_over() {
                break;
            }
        }
        Ok(None)
    }

    /// Divides a range of the order that follows `before` into pieces that can be enabled one after the other: first
    /// those that need no others of the range, last those that no others need. If there are none, a part with what it
    /// needs comes first.
    fn peeled<C: Check>(
        &self,
        range: &[usize],
        before: &PartSet,
        check: &mut CountedChecks<'_, C>,
    ) -> Result<Vec<OrderPiece>, C::Error> {
        let Reduction { left: core, removed: last } = reduce(range, &mut |left| check.compiles(&(before | left)))?;
        let of_core: PartSet = core.iter().copied().collect();
        let Reduction { left: core, removed: first } =
            reduce(&core, &mut |missing| check.compiles(&(&(before | &of_core) - missing)))?;
        let mut pieces: Vec<_> = first.into_iter().map(OrderPiece::easy).collect();
        if core.len() == range.len() && core.len() > 2 {
            let all = with(before, &core);
            let mut smallest: Option<PartSet> = None;
            for &part in &core {
                let parts = self.extended(with(before, &[part]), &all, check)?.filter(|parts| parts.len() < all.len());
                let is_smaller = |parts: &PartSet| smallest.as_ref().is_none_or(|least| parts.len() < least.len());
                smallest = parts.filter(is_smaller).or(smallest);
            }
            let (inside, outside): (Vec<_>, Vec<_>) =
                core.iter().partition(|part| smallest.as_ref().is_some_and(|parts| parts.contains(part)));
            pieces.extend([inside, outside].into_iter().filter(|piece| !piece.is_empty()).map(OrderPiece::hard));
        } else if !core.is_empty() {
            pieces.push(OrderPiece::hard(core));
        }
        pieces.extend(last.into_iter().rev().map(OrderPiece::easy));
        Ok(pieces)
    }

    /// Returns a set near `start` that compiles, and that is larger than `low` and smaller than `high`, if the errors
    /// lead to one.
    fn repair<C: Check>(
        &self,
        start: PartSet,
        low: &PartSet,
        high: &PartSet,
        check: &mut C,
    ) -> Result<Option<PartSet>, C::Error> {
        let mut shrunk = start.clone();
        if let Some(parts) = self.extended(start, high, check)?
            && parts.len() < high.len()
        {
            return Ok(Some(parts));
        }
        for _ in 0..MAX_REPAIRS {
            let Checked::Fails(complaint) = check.check(&shrunk)? else {
                return Ok((shrunk.len() > low.len()).then_some(shrunk));
            };
            let blamed = self.blamed(&complaint, &shrunk);
            let before = shrunk.len();
            shrunk.retain(|part| low.contains(part) || !blamed.contains(part));
            if shrunk.len() == before || shrunk.len() <= low.len() {
                break;
            }
        }
        Ok(None)
    }

    /// Adds units of `allowed` that the errors name to `start`, until the set compiles. Returns that set; `None` if none
    /// is found.
    ///
    /// # Errors
    /// If nothing more can be checked.
    pub(super) fn extended<C: Check>(
        &self,
        start: PartSet,
        allowed: &PartSet,
        check: &mut C,
    ) -> Result<Option<PartSet>, C::Error> {
        let mut parts = start;
        for _ in 0..MAX_REPAIRS {
            let Checked::Fails(complaint) = check.check(&parts)? else { return Ok(Some(parts)) };
            let before = parts.len();
            parts.extend(self.needed(&complaint, &parts).intersection(allowed));
            if parts.len() == before {
                break;
            }
        }
        Ok(None)
    }

    /// Removes units that the errors name from `start`, until the set compiles. Returns that set; `None` if none is found.
    ///
    /// # Errors
    /// If nothing more can be checked.
    pub(super) fn shrunk<C: Check>(&self, start: PartSet, check: &mut C) -> Result<Option<PartSet>, C::Error> {
        let mut parts = start;
        for _ in 0..MAX_REPAIRS {
            let Checked::Fails(complaint) = check.check(&parts)? else { return Ok(Some(parts)) };
            let blamed = self.blamed(&complaint, &parts);
            let before = parts.len();
            parts.retain(|part| !blamed.contains(part));
            if parts.len() == before {
                break;
            }
        }
        Ok(None)
    }

    /// Returns the disabled units that the errors name.
    fn needed(&self, complaint: &Complaint, enabled: &PartSet) -> PartSet {
        self.units(blame::needed(self.patch, self.words, complaint, &self.parts(enabled)))
    }

    /// Returns the enabled units that the errors name.
    fn blamed(&self, complaint: &Complaint, enabled: &PartSet) -> PartSet {
        self.units(blame::blamed(self.patch, self.words, complaint, &self.parts(enabled)))
    }
}

/// A check of units.
struct UnitCheck<'a, C> {
    ties: &'a Ties<'a>,
    check: &'a mut C,
}

impl<C: Check> Check for UnitCheck<'_, C> {
    type Error = C::Error;

    fn check(&mut self, units: &PartSet) -> Result<Checked, C::Error> {
        self.check.check(&self.ties.parts(units))
    }
}

/// Joins the groups of both parts of each pair.
pub(super) fn joined(mut groups: Vec<Vec<usize>>, conflicts: &[(usize, usize)]) -> Vec<Vec<usize>> {
    for (one, other) in conflicts {
        let with = |groups: &[Vec<usize>], part| groups.iter().position(|group| group.contains(part));
        let (Some(first), Some(second)) = (with(&groups, one), with(&groups, other)) else { continue };
        if first != second {
            let earlier = groups[first.min(second)].split_off(0);
            groups[first.max(second)].extend(earlier);
            groups[first.max(second)].sort_unstable();
            groups.remove(first.min(second));
        }
    }
    groups
}

/// A piece of a range of the order.
struct OrderPiece {
    parts: Vec<usize>,
    /// True if it was hard to divide; false if that was not tried.
    is_hard: bool,
}

impl OrderPiece {
    fn easy(parts: Vec<usize>) -> Self {
        Self { parts, is_hard: false }
    }

    fn hard(parts: Vec<usize>) -> Self {
        Self { parts, is_hard: true }
    }
}

/// Returns a set with more parts.
fn with(parts: &PartSet, more: &[usize]) -> PartSet {
    parts.iter().chain(more).copied().collect()
}

/// Returns adjacent cuts.
fn pairs(cuts: &BTreeSet<usize>) -> impl Iterator<Item = (usize, usize)> {
    cuts.iter().copied().zip(cuts.iter().copied().skip(1))
}

#[cfg(test)]
#[path = "ties_tests.rs"]
mod tests;
