use bisect_rt::{bisect_attr, bisect_point, bisect_toggle};

fn old() {}

#[bisect_toggle("newsort", off = old, by = "site", off = old)]
fn off() {}

#[bisect_attr("newsort", inline, crate = bisect_rt, crate = bisect_rt)]
fn attr() {}

fn main() {
    bisect_point!("newsort", by = "stack", depth = 3, depth = 4);
}
