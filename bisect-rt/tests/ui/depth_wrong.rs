use bisect_rt::{bisect_point, bisect_toggle};

#[bisect_toggle("newsort", depth = 0)]
fn zero() -> bool {
    true
}

#[bisect_toggle("newsort", depth = 129)]
fn too_many() -> bool {
    true
}

#[bisect_toggle("newsort", by = "caller", depth = 3)]
fn no_stack() -> bool {
    true
}

fn main() {
    bisect_point!("newsort", by = "stack", depth = "3");
    bisect_point!("newsort", depth = 3);
}
