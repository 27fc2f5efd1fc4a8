use bisect_rt::bisect_toggle;

unsafe fn old(_: *const u8) {}

#[bisect_toggle("newsort", off = old)]
fn new(_: *const u8) {}

fn main() {}
