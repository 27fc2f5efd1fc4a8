//! `#[bisect_attr]` on all kinds of items, applied: each would not compile, or fail, without its attribute.
#![deny(warnings)]

use std::panic::Location;

use bisect_rt::bisect_attr;

#[bisect_attr("t", track_caller)]
fn line() -> u32 {
    #![allow(unused_variables)]
    let unused = 3;
    Location::caller().line()
}

struct Sorter;

impl Sorter {
    #[bisect_attr("t", track_caller, inline(always))]
    pub(crate) fn line(&self) -> u32 {
        Location::caller().line()
    }

    #[bisect_attr("t", allow(dead_code))]
    const UNUSED: [u8; 1 + 1] = [1, 2];
}

trait Shape {
    #[bisect_attr("t", allow(dead_code))]
    const SIDES: Option<&'static (dyn Iterator<Item = u8> + Sync)> = None;

    #[bisect_attr("t", track_caller)]
    fn line(&self) -> u32 {
        Location::caller().line()
    }
}

impl Shape for Sorter {
    #[bisect_attr("t", track_caller, crate = ::bisect_rt)]
    fn line(&self) -> u32 {
        Location::caller().line()
    }
}

impl Shape for u8 {}

#[bisect_attr("t", derive(Clone, Copy), repr(C, packed))]
struct Packed {
    small: u8,
    large: u64,
}

#[bisect_attr("t", derive(Debug, PartialEq))]
enum Kind {
    One,
}

#[bisect_attr("t", allow(dead_code))]
static UNUSED: &[u8] = &[1, 2];

#[bisect_attr("t", allow(dead_code))]
mod unused {
    fn unused() {}
}

#[bisect_attr("t", macro_use)]
mod macros {
    macro_rules! one {
        () => {
            1
        };
    }
}

#[bisect_attr("t", allow(unused_imports))]
use std::fmt::Debug as _;

fn array_of<const N: usize>() -> [u8; N] {
    #[bisect_attr("t", track_caller)]
    const fn constant<const N: usize>() -> [u8; N] {
        [0; N]
    }
    constant::<{ N }>()
}

pub(crate) fn main() {
    let sorter = Sorter;
    assert_eq!(line(), line!());
    assert_eq!(sorter.line(), line!());
    assert_eq!(Shape::line(&sorter), line!());
    assert_eq!(Shape::line(&1_u8), line!());
    let packed = Packed { small: 1, large: 2 };
    let copy = packed;
    assert_eq!((copy.small, { packed.large }, size_of::<Packed>()), (1, 2, 9));
    assert_eq!(Kind::One, Kind::One);
    assert_eq!(one!() + array_of::<3>()[0], 1);
}
