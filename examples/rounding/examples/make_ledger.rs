//! Makes `data/ledger.csv`: orders, always the same, with their totals by the old rule.
//!
//! `BISECT_PATTERN=half-even=off cargo run -p rounding --example make_ledger > examples/rounding/data/ledger.csv`

use rounding::{Cents, Invoice, Position};

const SEED: u64 = 432;
const ORDERS: usize = 150;

fn main() {
    let mut random = SplitMix(SEED);
    println!("order,pieces*price-discount,total");
    for number in 1..=ORDERS {
        let positions = 1 + random.below(3);
        let order: Vec<_> = (0..positions).map(|_| position(&mut random)).collect();
        let text: Vec<_> = order.iter().map(|p| format!("{}*{}-{}", p.pieces, p.price, p.discount)).collect();
        println!("{number},{},{}", text.join(" "), Invoice::of(&order).total());
    }
}

fn position(random: &mut SplitMix) -> Position {
    Position {
        pieces: 1 + random.below(9),
        price: Cents(99 + random.below(4_900)),
        discount: [0, 0, 3, 7][usize::try_from(random.below(4)).expect("below 4")],
    }
}

/// The generator of Steele, Lea and Flood: a counter and a mixer.
struct SplitMix(u64);

impl SplitMix {
    /// Returns a number below `limit`, which is small, so that the remainder's bias does not matter.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}
