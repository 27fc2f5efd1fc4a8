use bisect_rt::bisect_toggle;

extern "C" fn old() {}

#[bisect_toggle("newsort", off = old, by = "caller")]
extern "C" fn new() {}

fn main() {}
