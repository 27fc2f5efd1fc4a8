//! The graph of citations, with a ranking of the papers.

use std::collections::BTreeSet;

use bisect_rt::bisect_watch;

/// Papers, and the papers that they cite.
#[derive(Debug)]
pub struct Library {
    cites: Vec<Vec<u32>>,
    cited: Vec<u32>,
    /// The papers by the number of their citations.
    ranking: BTreeSet<(u32, u32)>,
}

impl Library {
    /// Returns a library of papers without citations.
    #[must_use]
    pub fn new(papers: u32) -> Self {
        let all = 0..papers;
        let count = all.len();
        Self { cites: vec![Vec::new(); count], cited: vec![0; count], ranking: all.map(|paper| (0, paper)).collect() }
    }

    /// Adds a citation.
    pub fn cite(&mut self, citing: u32, cited: u32) {
        self.cites[citing as usize].push(cited);
        let count = &mut self.cited[cited as usize];
        self.ranking.remove(&(*count, cited));
        *count += 1;
        self.ranking.insert((*count, cited));
        bisect_watch!("acyclic", self.is_acyclic(), "{citing} cites {cited}");
    }

    /// Returns the most cited paper and the number of its citations.
    #[must_use]
    pub fn most_cited(&self) -> Option<(u32, u32)> {
        self.ranking.last().map(|&(count, paper)| (paper, count))
    }

    /// Returns true if no paper cites itself, directly or through others: a search in depth, from each paper.
    #[must_use]
    pub fn is_acyclic(&self) -> bool {
        self.oldest_first().is_some()
    }

    /// Returns the papers in an order in which each comes after those that it cites; `None` if there is a cycle.
    #[must_use]
    pub fn oldest_first(&self) -> Option<Vec<u32>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Visit {
            New,
            Open,
            Done,
        }
        let mut visits = vec![Visit::New; self.cites.len()];
        let mut order = Vec::with_capacity(self.cites.len());
        let mut path: Vec<(u32, usize)> = Vec::new();
        for root in (0_u32..).take(self.cites.len()) {
            if visits[root as usize] == Visit::New {
                visits[root as usize] = Visit::Open;
                path.push((root, 0));
            }
            while let Some((paper, next)) = path.last_mut() {
                let Some(&cited) = self.cites[*paper as usize].get(*next) else {
                    visits[*paper as usize] = Visit::Done;
                    order.push(*paper);
                    path.pop();
                    continue;
                };
                *next += 1;
                match visits[cited as usize] {
                    Visit::New => {
                        visits[cited as usize] = Visit::Open;
                        path.push((cited, 0));
                    }
                    Visit::Open => return None,
                    Visit::Done => {}
                }
            }
        }
        Some(order)
    }
}
