//! Ties between parts of a patch: which of them only compile together, and in which order the others compile.
//!
//! A search enables prefixes of an order. So the order is divided where its prefixes compile, and what stands between
//! two such cuts is one change. Where a prefix does not compile, the errors name parts that it needs, or parts that
//! need what it lacks: these are moved to the other side of the cut, and it is built again.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{complaint::Complaint, words::PartWords};
use crate::vcs::patch::{Origin, Patch, Piece, trees::ChangedFile};

/// The maximum number of builds to divide a patch. Parts that remain undivided are changes of their own: a selection
/// that does not compile is unresolved.
const MAX_CHECKS: usize = 150;
/// The maximum number of repairs of one selection. The compiler stops at the first errors, so there may be many.
const MAX_REPAIRS: usize = 30;

/// The answer of the compiler about a set of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    /// The selection compiles.
    Compiles,
    /// It does not compile, and the errors.
    Fails(Complaint),
}

/// A set of parts of a patch.
pub(super) type PartSet = BTreeSet<usize>;

/// A compiler for sets of parts.
pub(super) trait Check {
    /// The reason why nothing more can be checked.
    type Error;

    /// Returns whether a set compiles.
    fn check(&mut self, parts: &PartSet) -> Result<Checked, Self::Error>;
}

/// A patch, with the names in its parts.
#[derive(Debug)]
pub(super) struct Ties<'a> {
    patch: &'a Patch,
    words: &'a [PartWords],
}

impl<'a> Ties<'a> {
    /// Creates ties of a patch. `words` are those of its parts.
    pub(super) fn new(patch: &'a Patch, words: &'a [PartWords]) -> Self {
        Self { patch, words }
    }

    /// Returns the parts in an order in which definitions precede uses, and removed uses precede removed definitions;
    /// otherwise in the order of the patch.
    pub(super) fn order(&self) -> Vec<usize> {
        let count = self.words.len();
        let (mut defining, mut freeing) = (BTreeMap::new(), BTreeMap::new());
        for (part, words) in self.words.iter().enumerate() {
            words.defined.iter().for_each(|name| defining.entry(name).or_insert_with(Vec::new).push(part));
            words.unused.iter().for_each(|name| freeing.entry(name).or_insert_with(Vec::new).push(part));
        }
        let needs = |part: usize| -> PartSet {
            let PartWords { used, undefined, .. } = &self.words[part];
            let defining = used.iter().filter_map(|name| defining.get(name));
            let freeing = undefined.iter().filter_map(|name| freeing.get(name));
            defining.chain(freeing).flatten().copied().filter(|&other| other != part).collect()
        };
        let mut order = Vec::with_capacity(count);
        let mut is_placed = vec![false; count];
        // Depth first, without recursion: a part follows what it needs, unless both need each other.
        for root in 0..count {
            let mut stack = vec![(root, false)];
            while let Some((part, is_done)) = stack.pop() {
                if is_done {
                    order.push(part);
                } else if !std::mem::replace(&mut is_placed[part], true) {
                    stack.push((part, true));
                    let needed = needs(part).into_iter().filter(|&other| !is_placed[other]);
                    stack.extend(needed.rev().map(|other| (other, false)));
                }
            }
        }
        // No part needs what the compiler does not read, so it is enabled first, in any number.
        order.sort_by_key(|&part| !self.is_unread(part));
        order
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

    /// Divides an order into groups so that as many of its prefixes as possible compile. Both ends compile.
    ///
    /// # Errors
    /// If nothing more can be checked.
    pub(super) fn groups<C: Check>(&self, mut order: Vec<usize>, check: &mut C) -> Result<Vec<Vec<usize>>, C::Error> {
        let unread = order.iter().take_while(|&&part| self.is_unread(part)).count();
        let mut cuts: BTreeSet<usize> = (0..=unread).chain([order.len()]).collect();
        let mut tied: BTreeSet<usize> = BTreeSet::new();
        // The ranges, by their beginnings, that could not be divided near the middle, and how much to take off next.
        let mut slices: BTreeMap<usize, usize> = BTreeMap::new();
        let mut checks = 0;
        while checks < MAX_CHECKS {
            let largest = pairs(&cuts).filter(|(low, high)| high - low > 1 && !tied.contains(low));
            let Some((low, high)) = largest.max_by_key(|(low, high)| (high - low, usize::MAX - low)) else { break };
            let (length, slice) = (high - low, slices.get(&low).copied());
            let near = match slice {
                None => vec![length / 2, length / 4, length - length / 4],
                Some(slice) => vec![length - slice.min(length - 1), slice.min(length - 1)],
            };
            let mut found = None;
            let set = |parts: &[usize]| parts.iter().copied().collect::<PartSet>();
            let (before, all) = (set(&order[..low]), set(&order[..high]));
            let near = near.into_iter().filter(|cut| (1..length).contains(cut)).map(|cut| low + cut);
            // If the first ones need all others, perhaps the others do without them.
            let starts =
                near.flat_map(|cut| [set(&order[..cut]), before.union(&set(&order[cut..high])).copied().collect()]);
            for start in starts {
                let mut counted = CountedChecks { check: &mut *check, count: &mut checks };
                found = self.repair(start, &before, &all, &mut counted)?;
                if found.is_some() || checks >= MAX_CHECKS {
                    break;
                }
            }
            match (found, slice) {
                (Some(parts), _) => {
                    let (inside, outside): (Vec<_>, Vec<_>) =
                        order[low..high].iter().partition(|part| parts.contains(part));
                    let cut = low + inside.len();
                    order.splice(low..high, inside.into_iter().chain(outside));
                    cuts.insert(cut);
                    // A cut far from the middle, too, shows that the rest is hard to divide.
                    let rest = (cut - low).max(high - cut);
                    if let Some(slice) = slices.remove(&low).or((8 * rest > 7 * length).then_some(1)) {
                        slices.insert(if cut - low == rest { low } else { cut }, 2 * slice);
                    }
                }
                (None, None | Some(2..)) => {
                    slices.insert(low, 1);
                }
                (None, Some(_)) => {
                    tied.insert(low);
                }
            }
        }
        let mut groups = Vec::new();
        for (low, high) in pairs(&cuts) {
            // What was hard to divide would only make runs that do not build.
            if tied.contains(&low) || slices.contains_key(&low) {
                let mut group = order[low..high].to_vec();
                group.sort_unstable();
                groups.push(group);
            } else {
                groups.extend(order[low..high].iter().map(|&part| vec![part]));
            }
        }
        Ok(groups)
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

    /// Returns the smallest set with `start` that compiles, as far as the errors lead to it: what `start` needs is
    /// added, if it is in `allowed`.
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

    /// Returns the largest set in `start` that compiles, as far as the errors lead to it.
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

    /// Returns the disabled parts that the errors name.
    fn needed(&self, complaint: &Complaint, enabled: &PartSet) -> PartSet {
        let mut needed = PartSet::new();
        for (path, line) in &complaint.places {
            if let Some(Origin::Old { file, line }) = self.patch.origin(path, *line, |part| enabled.contains(&part)) {
                needed.extend(self.patch.replacing(file, line));
            }
        }
        let all = || (0..self.words.len()).filter(|part| !enabled.contains(part));
        let defining: Vec<_> = all().filter(|&part| !self.words[part].defined.is_disjoint(&complaint.names)).collect();
        needed.extend(defining);
        needed.extend(all().filter(|&part| self.binds_in(part, &self.words[part].bound, complaint)));
        needed.retain(|part| !enabled.contains(part));
        if needed.is_empty() {
            needed.extend(all().filter(|&part| !self.words[part].redefined.is_disjoint(&complaint.names)));
        }
        if needed.is_empty() {
            needed.extend(all().filter(|&part| !self.words[part].used.is_disjoint(&complaint.names)));
        }
        needed
    }

    /// Returns true if `bound`, names that a part brings into scope or not any more, has a name of the errors, and the
    /// part is in a file with an error.
    fn binds_in(&self, part: usize, bound: &BTreeSet<String>, complaint: &Complaint) -> bool {
        let ChangedFile { old, new } = self.patch.file_of(&self.patch.parts()[part]);
        let is_there = |path: &Path| complaint.places.iter().any(|(place, _)| place == path);
        !bound.is_disjoint(&complaint.names) && [old, new].into_iter().flatten().any(|version| is_there(&version.path))
    }

    /// Returns the enabled parts that the errors name.
    fn blamed(&self, complaint: &Complaint, enabled: &PartSet) -> PartSet {
        let origin = |(path, line): &(std::path::PathBuf, usize)| match self
            .patch
            .origin(path, *line, |part| enabled.contains(&part))
        {
            Some(Origin::Added(part)) => Some(part),
            _ => None,
        };
        let mut blamed: PartSet = complaint.places.iter().filter_map(origin).collect();
        let removing = |&&part: &&usize| {
            let PartWords { undefined, unbound, .. } = &self.words[part];
            !undefined.is_disjoint(&complaint.names) || self.binds_in(part, unbound, complaint)
        };
        blamed.extend(enabled.iter().filter(removing));
        if blamed.is_empty() {
            let redefining = |part: &&usize| !self.words[**part].redefined.is_disjoint(&complaint.names);
            blamed.extend(enabled.iter().filter(redefining));
        }
        blamed
    }
}

/// Joins groups that contain both parts of a pair.
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

/// A check that counts.
struct CountedChecks<'a, C> {
    check: &'a mut C,
    count: &'a mut usize,
}

impl<C: Check> Check for CountedChecks<'_, C> {
    type Error = C::Error;

    fn check(&mut self, parts: &PartSet) -> Result<Checked, C::Error> {
        *self.count += 1;
        self.check.check(parts)
    }
}

/// Returns adjacent cuts.
fn pairs(cuts: &BTreeSet<usize>) -> impl Iterator<Item = (usize, usize)> {
    cuts.iter().copied().zip(cuts.iter().copied().skip(1))
}

#[cfg(test)]
#[path = "ties_tests.rs"]
mod tests;
