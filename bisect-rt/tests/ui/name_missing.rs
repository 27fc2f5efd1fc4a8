use bisect_rt::{bisect_attr, bisect_build, bisect_point, bisect_toggle};

fn old() {}

#[bisect_toggle]
fn empty() -> bool {
    true
}

#[bisect_toggle(off = old, by = "site")]
fn options_only() {}

#[bisect_attr]
fn attr() {}

#[bisect_attr(inline(always))]
fn attr_only() {}

fn main() {
    bisect_point!();
    bisect_point!(key = 3);
    bisect_build!();
}
