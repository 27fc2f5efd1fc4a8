use bisect_rt::bisect_toggle;

#[bisect_toggle("newsort", off = old_sort)]
fn sort() {}

struct Sorter;

impl Sorter {
    #[bisect_toggle("newsort", off = Self::old)]
    fn sort(&self) {}
}

fn main() {}
