use bisect_rt::{bisect_point, bisect_toggle};

#[bisect_toggle("newsort", crate = nowhere)]
fn gate() -> bool {
    true
}

fn main() {
    bisect_point!("newsort", crate = "bisect_rt");
}
