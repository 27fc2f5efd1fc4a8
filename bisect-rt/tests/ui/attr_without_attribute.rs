use bisect_rt::bisect_attr;

#[bisect_attr("hot")]
fn nothing() {}

#[bisect_attr("hot", 3)]
fn number() {}

#[bisect_attr("hot", no_such_attribute)]
fn unknown() {}

fn main() {}
