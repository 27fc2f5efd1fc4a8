use bisect_rt::{bisect_point, bisect_toggle};

#[bisect_toggle("newsort", off)]
fn off() {}

#[bisect_toggle("newsort", by("site"))]
fn by() -> bool {
    true
}

fn main() {
    bisect_point!("newsort", key =);
    bisect_point!("newsort" by = "site");
}
