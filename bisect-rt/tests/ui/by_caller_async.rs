use bisect_rt::bisect_toggle;

async fn old() {}

#[bisect_toggle("newsort", off = old, by = "caller")]
async fn new() {}

fn main() {}
