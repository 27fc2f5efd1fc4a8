use bisect_rt::{bisect_build, bisect_point, bisect_toggle};

fn old() {}

#[bisect_toggle("newsort", on = old)]
fn toggle() {}

#[bisect_toggle("newsort", off = old, key = 3)]
fn no_key() {}

fn main() {
    bisect_point!("newsort", off = old);
    bisect_point!("newsort", "newsort");
    bisect_build!("newsort", by = "site");
}
