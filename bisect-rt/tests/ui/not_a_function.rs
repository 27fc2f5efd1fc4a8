use bisect_rt::bisect_toggle;

#[bisect_toggle("newsort")]
struct Sorter;

#[bisect_toggle("newsort")]
pub const SORT: bool = true;

#[bisect_toggle("newsort")]
impl Sorter {}

fn main() {}
