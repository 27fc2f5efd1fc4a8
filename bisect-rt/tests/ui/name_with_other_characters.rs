use bisect_rt::{bisect_attr, bisect_build, bisect_point, bisect_toggle};

#[bisect_toggle("new sort")]
fn space() -> bool {
    true
}

#[bisect_attr("", inline)]
fn empty() {}

fn main() {
    bisect_point!("newsort=on");
    bisect_build!("größe");
}
