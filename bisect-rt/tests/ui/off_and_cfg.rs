use bisect_rt::bisect_toggle;

fn old(_: u32) {}

#[bisect_toggle("newsort", off = old)]
fn new(_: u32, #[cfg(any())] _extra: u32) {}

fn main() {
    new(3);
}
