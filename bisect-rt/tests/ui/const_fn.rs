use bisect_rt::bisect_toggle;

const fn old() -> bool {
    false
}

#[bisect_toggle("newsort", off = old)]
const fn new() -> bool {
    true
}

#[bisect_toggle("newsort")]
const fn gate() -> bool {
    true
}

fn main() {}
