use bisect_rt::bisect_attr;

#[bisect_attr("hot", cfg(any()))]
fn hot() {}

fn main() {
    hot();
}
