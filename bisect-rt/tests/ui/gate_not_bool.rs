use bisect_rt::bisect_toggle;

#[bisect_toggle("newsort")]
fn number() -> u32 {
    1
}

#[bisect_toggle("newsort")]
fn option(_: u32) -> Option<bool> {
    None
}

#[bisect_toggle("newsort")]
fn nothing() {}

fn main() {}
