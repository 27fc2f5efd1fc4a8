use bisect_rt::bisect_point;

const FUSED: bool = bisect_point!("fma");

const fn lanes() -> usize {
    if bisect_point!("lanes") { 8 } else { 4 }
}

fn main() {
    let _ = (FUSED, lanes());
}
