use bisect_rt::bisect_toggle;

fn text() -> String {
    String::new()
}

#[bisect_toggle("newsort", off = text)]
fn number() -> u32 {
    3
}

#[bisect_toggle("newsort", off = text)]
fn nothing() {}

fn evens() -> impl Iterator<Item = u32> {
    (0..).step_by(2)
}

#[bisect_toggle("newsort", off = evens)]
fn numbers() -> impl Iterator<Item = u32> {
    0..
}

fn main() {}
