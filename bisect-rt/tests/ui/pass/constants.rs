//! `bisect_build!` wherever a constant may stand.
#![deny(warnings)]

use bisect_rt::bisect_build;

const LANES: usize = if bisect_build!("lanes") { 8 } else { 4 };
static WIDE: bool = bisect_build!("lanes", crate = ::bisect_rt);

struct Block<const FUSED: bool>([f32; LANES]);

trait Default {
    const ON: bool = bisect_build!("default");
}

impl Default for Block<{ bisect_build!("fused") }> {}

enum Kind {
    One = bisect_build!("one") as isize,
}

const fn is_on<const N: usize>() -> bool {
    N == 0 || bisect_build!("fn")
}

pub(crate) fn main() {
    let array = [0_u8; if bisect_build!("array") { 2 } else { 1 }];
    let inline = const { bisect_build!("inline") };
    assert!(WIDE && <Block<true> as Default>::ON && is_on::<3>() && inline);
    assert_eq!((Block::<true>([0.0; LANES]).0.len(), Kind::One as isize, array.len()), (8, 1, 2));
}
