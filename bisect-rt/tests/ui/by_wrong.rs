use bisect_rt::{bisect_point, bisect_toggle};

#[bisect_toggle("newsort", by = "function")]
fn gate() -> bool {
    true
}

fn main() {
    bisect_point!("newsort", by = stack);
}
