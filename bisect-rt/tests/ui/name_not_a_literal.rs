use bisect_rt::{bisect_point, bisect_toggle};

const NAME: &str = "newsort";

#[bisect_toggle(newsort)]
fn word() -> bool {
    true
}

fn main() {
    bisect_point!(NAME);
    bisect_point!(concat!("new", "sort"), by = "site");
    bisect_point!(b"newsort");
}
