//! Built with a malformed BISECT_FIX: each macro says so.

use bisect_rt::{bisect_attr, bisect_build, bisect_point, bisect_toggle};

#[bisect_toggle("gate")]
fn gate() -> bool {
    true
}

#[bisect_attr("attribute", inline)]
fn main() {
    const BUILT: bool = bisect_build!("built");
    let _ = (gate(), bisect_point!("point"), BUILT);
}
