use bisect_rt::bisect_toggle;

unsafe extern "C" fn old(_: u32) {}

#[bisect_toggle("newsort", off = old)]
unsafe extern "C" fn new(_: u32, _: ...) {}

fn main() {}
