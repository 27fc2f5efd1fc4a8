//! A toggle does not change the time at which the body's values are dropped, for all patterns of arguments.

use std::cell::RefCell;

use bisect_rt::bisect_toggle;

use crate::{Case, either};

pub(crate) const CASES: &[Case] = &[
    either("drops, plain names", || case!(names, names_as_plain), "as plain", "old"),
    either("drops, a pattern first", || case!(first, first_as_plain), "as plain", "old"),
    either("drops, a pattern last", || case!(last, last_as_plain), "as plain", "old"),
    either("drops, leftovers and wildcards", || case!(leftovers, leftovers_as_plain), "as plain", "old"),
    either("drops, mutable and references", || case!(mutable, mutable_as_plain), "as plain", "old"),
];

thread_local! {
    static DROPPED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// A value that notes when it is dropped.
struct Noted(&'static str);

impl Drop for Noted {
    fn drop(&mut self) {
        DROPPED.with_borrow_mut(|dropped| dropped.push(self.0));
    }
}

type Two = (Noted, Noted);

fn two(a: &'static str, b: &'static str) -> Two {
    (Noted(a), Noted(b))
}

/// Returns the names of the values that the function dropped, in order.
fn dropped_by(function: fn(Two, Noted, Two)) -> Vec<&'static str> {
    function(two("a", "b"), Noted("c"), two("d", "e"));
    DROPPED.take()
}

macro_rules! case {
    ($toggled:ident, $plain:ident) => {{
        let (toggled, plain) = (dropped_by($toggled), dropped_by($plain));
        // The old function drops one value more, which identifies it.
        if toggled.contains(&"old") {
            String::from("old")
        } else if toggled == plain {
            String::from("as plain")
        } else {
            format!("{toggled:?} instead of {plain:?}")
        }
    }};
}
use case;

fn old(_: Two, _: Noted, _: Two) {
    drop(Noted("old"));
}

/// Defines the same function twice: with the toggle and without.
macro_rules! twice {
    ($toggled:ident, $plain:ident, ($($params:tt)*) $body:block) => {
        #[bisect_toggle("t", off = old)]
        fn $toggled($($params)*) $body

        fn $plain($($params)*) $body
    };
}

twice! { names, names_as_plain, (_first: Two, second: Noted, third: Two) {
    let _local = Noted("local");
    let _moved = second;
    drop(third.1);
} }

twice! { first, first_as_plain, ((_a, _): Two, _c: Noted, _third: Two) {
    let _local = Noted("local");
} }

twice! { last, last_as_plain, (_first: Two, _: Noted, (_, _e): Two) {
    let _local = Noted("local");
} }

twice! { leftovers, leftovers_as_plain, ((_, b): Two, _: Noted, (_, e): Two) {
    let _borrowed = &b;
    let _local = (Noted("local"), e);
} }

twice! { mutable, mutable_as_plain, (mut first: Two, ref c: Noted, (ref mut d, mut e): Two) {
    first = two(c.0, first.0.0);
    d.0 = first.1.0;
    e.0 = "e, renamed";
    let _borrowed = &e;
} }
