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

fn main() {}
