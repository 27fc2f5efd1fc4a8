use bisect_rt::bisect_toggle;

fn by_text(_: &str, _: u32) {}

#[bisect_toggle("newsort", off = by_text)]
fn sort(_: u64, n: u32) {
    let _ = n;
}

fn one(_: u32) {}

#[bisect_toggle("newsort", off = one)]
fn two(a: u32, (b, _): (u32, u32)) {
    let _ = (a, b);
}

struct Sorter;

impl Sorter {
    fn no_self(_: u32) {}

    #[bisect_toggle("newsort", off = Self::no_self)]
    fn with_self(&self, _: u32) {}
}

fn main() {}
