use bisect_rt::bisect_toggle;

fn old(_: u32) {}

#[bisect_toggle("newsort", off = "old")]
fn text(_: u32) {}

#[bisect_toggle("newsort", off = old(3))]
fn call(_: u32) {}

#[bisect_toggle("newsort", off = |n| old(n))]
fn closure(_: u32) {}

struct Sorter;

impl Sorter {
    fn old(&self) {}

    #[bisect_toggle("newsort", off = self.old)]
    fn method(&self) {}
}

fn main() {}
