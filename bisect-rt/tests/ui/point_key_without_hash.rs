use bisect_rt::bisect_point;

fn main() {
    bisect_point!("fma", key = 1.5);
}
