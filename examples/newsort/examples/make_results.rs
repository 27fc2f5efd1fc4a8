//! Makes `data/results.csv`: twelve races of 300 runners each, always the same.
//!
//! `cargo run -p newsort --example make_results > examples/newsort/data/results.csv`

use std::io::{self, BufWriter, Write as _};

const SEED: u64 = 2024;
const RACES: u32 = 12;
const STARTERS: usize = 300;

const FIRST: [&str; 30] = [
    "Ada", "Amir", "Bente", "Carlos", "Chiara", "Dario", "Elif", "Emil", "Fatima", "Femi", "Greta", "Hana", "Ivo",
    "Jonas", "Kaja", "Lena", "Malik", "Mei", "Nadia", "Nils", "Olga", "Pavel", "Quinn", "Rosa", "Samir", "Tara", "Uma",
    "Viktor", "Wanda", "Yusuf",
];
const LAST: [&str; 30] = [
    "Abel", "Berg", "Costa", "Dahl", "Eriksen", "Fischer", "Garcia", "Haddad", "Ito", "Jansen", "Keller", "Lindt",
    "Moreau", "Novak", "Okafor", "Park", "Quist", "Rossi", "Santos", "Tanaka", "Ueda", "Vogel", "Weber", "Xu",
    "Yilmaz", "Zeman", "Sato", "Kovacs", "Nguyen", "Lopez",
];
const CLUBS: [&str; 8] = ["Aurora", "Bridge", "Castle", "Delta", "Harbour", "Meadow", "Summit", "Valley"];
const CATEGORIES: [&str; 6] = ["W20", "W40", "W60", "M20", "M40", "M60"];

fn main() -> io::Result<()> {
    let mut random = SplitMix(SEED);
    let mut runners = Vec::new();
    for last in LAST {
        for first in FIRST {
            let club = random.pick(&CLUBS);
            let category = random.pick(&CATEGORIES);
            let strength = 150 + random.below(150) + random.below(150);
            runners.push((format!("{first} {last}"), club, category, strength));
        }
    }
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "runner,club,category,race,points")?;
    for race in 1..=RACES {
        for starter in 0..STARTERS {
            // The first `STARTERS` runners of a fresh shuffle.
            let other = starter + random.below(runners.len() - starter);
            runners.swap(starter, other);
            let (runner, club, category, strength) = &runners[starter];
            let points = strength + random.below(50) + random.below(50) - 50;
            writeln!(out, "{runner},{club},{category},{race},{points}")?;
        }
    }
    out.flush()
}

/// The generator of Steele, Lea and Flood: a counter and a mixer.
struct SplitMix(u64);

impl SplitMix {
    /// Returns a number below `limit`, which is small, so that the remainder's bias does not matter.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % limit as u64).expect("below a usize")
    }

    fn pick<'a>(&mut self, names: &[&'a str]) -> &'a str {
        names[self.below(names.len())]
    }
}
