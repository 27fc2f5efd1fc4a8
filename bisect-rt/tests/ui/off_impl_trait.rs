use bisect_rt::bisect_toggle;

fn evens() -> impl Iterator<Item = u32> {
    (0..).step_by(2)
}

#[bisect_toggle("newsort", off = evens)]
fn numbers() -> impl Iterator<Item = u32> {
    0..
}

#[bisect_toggle("newsort", off = numbers)]
async fn perhaps() -> Option<(u32, impl Sized)> {
    None::<(u32, u32)>
}

fn main() {}
