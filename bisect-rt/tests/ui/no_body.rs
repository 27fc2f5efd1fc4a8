use bisect_rt::bisect_toggle;

trait Sort {
    #[bisect_toggle("newsort")]
    fn is_stable(&self) -> bool;
}

fn main() {}
