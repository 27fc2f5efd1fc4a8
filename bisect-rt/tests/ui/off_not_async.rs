use bisect_rt::bisect_toggle;

fn old() -> u32 {
    3
}

#[bisect_toggle("newsort", off = old)]
async fn new() -> u32 {
    4
}

async fn old_async() -> u32 {
    3
}

#[bisect_toggle("newsort", off = old_async)]
fn not_async() -> u32 {
    4
}

fn main() {}
