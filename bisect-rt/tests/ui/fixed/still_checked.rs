//! Built with `t=off`: the behaviour that is never used is checked as always.

use bisect_rt::{bisect_point, bisect_toggle};

struct NoHash;

fn old(_: u8) -> u8 {
    1
}

#[bisect_toggle("t", off = old)]
fn new(_: u16) -> u8 {
    2
}

fn main() {
    let _ = (bisect_point!("t", key = NoHash), new(1));
}
