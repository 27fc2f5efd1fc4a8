//! The citations in the order in which they come. They are made up, and the same in each run.

/// The number of papers of the smallest feed.
pub const PAPERS: u32 = 34_546;
/// The number of citations of the smallest feed.
pub const CITATIONS: u32 = 421_578;

/// A list of citations.
#[derive(Clone, Copy, Debug)]
pub struct Feed {
    scale: u32,
}

impl Feed {
    /// Returns a feed that is this many times the smallest one.
    #[must_use]
    pub fn new(scale: u32) -> Self {
        Self { scale }
    }

    /// Returns the number of papers.
    #[must_use]
    pub fn papers(&self) -> u32 {
        PAPERS * self.scale
    }

    /// Returns the number of citations.
    #[must_use]
    pub fn len(&self) -> u32 {
        CITATIONS * self.scale
    }

    /// Returns true if there is no citation.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number, from 1, of the citation that closes the cycle.
    #[must_use]
    pub fn wrong(&self) -> u32 {
        self.len() / 2 + 1_214
    }

    /// Returns the citations: pairs of the citing and the cited paper. Papers cite older ones, which have smaller
    /// numbers, except in one record whose fields were swapped.
    pub fn citations(self) -> impl Iterator<Item = (u32, u32)> {
        let mut state = 0x2013_u64;
        let mut swapped = None;
        (0..self.len()).map(move |index| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let citing = u64::from(index) * u64::from(self.papers() - 1) / u64::from(self.len()) + 1;
            let cited = (state >> 33) % citing;
            let citation = (u32::try_from(citing).unwrap_or(1), u32::try_from(cited).unwrap_or(0));
            if index + 1 == self.wrong() / 2 {
                swapped = Some((citation.1, citation.0));
            }
            if index + 1 == self.wrong() { swapped.unwrap_or(citation) } else { citation }
        })
    }
}
