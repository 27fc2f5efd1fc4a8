use bisect_rt::bisect_attr;

trait Hash {
    #[bisect_attr("hot", doc(hidden))]
    type Output;

    #[bisect_attr("hot", doc(hidden))]
    const SEED: u64;

    #[bisect_attr("hot", must_use)]
    fn hash(&self) -> u64;
}

fn main() {}
