//! Methods and functions of traits with an old version.

use bisect_rt::bisect_toggle;

use crate::{Case, either};

pub(crate) const CASES: &[Case] = &[
    either("&self", || Counter(5).plus(1).to_string(), "6", "105"),
    either("&mut self", add, "6 6", "4 4"),
    either("self", || format!("{:?}", Counter(5).doubled()), "Counter(10)", "Counter(-5)"),
    either("mut self", || format!("{:?}", Counter(5).raised()), "Counter(6)", "Counter(-5)"),
    either("Box<Self>", || Box::new(Counter(5)).unboxed().to_string(), "5", "-5"),
    either("no self", || format!("{:?}", Counter::new(3)), "Counter(3)", "Counter(0)"),
    either("generic impl", || Pair("a", "b").first().into(), "a", "b"),
    either("lifetimes of an impl", || Words("one two").first().into(), "one", "two"),
    either("trait impl", || Counter(5).area().to_string(), "5", "-5"),
    either("trait impl by the caller", || Counter(5).name(), "new", "old"),
    either("trait default", || Counter(5).twice().to_string(), "10", "-5"),
    either("by a qualified path", || Counter(5).qualified().to_string(), "25", "5"),
    either("dyn", || dynamic(&Counter(5)), "5 10", "-5 -5"),
];

fn add() -> String {
    let mut counter = Counter(5);
    let said = *counter.add(1);
    format!("{said} {}", counter.0)
}

fn dynamic(shape: &dyn Shape) -> String {
    format!("{} {}", shape.area(), shape.twice())
}

#[derive(Debug, PartialEq)]
struct Counter(i64);

impl Counter {
    fn old_plus(&self, n: i64) -> i64 {
        100 + self.0 * n
    }

    #[bisect_toggle("t", off = Self::old_plus)]
    fn plus(&self, n: i64) -> i64 {
        self.0 + n
    }

    fn old_add(&mut self, n: i64) -> &i64 {
        self.0 -= n;
        &self.0
    }

    #[bisect_toggle("t", off = Self::old_add)]
    fn add(&mut self, n: i64) -> &i64 {
        self.0 += n;
        &self.0
    }

    fn negated(self) -> Self {
        Self(-self.0)
    }

    #[bisect_toggle("t", off = Counter::negated, by = "caller")]
    fn doubled(self) -> Self {
        Self(self.0 * 2)
    }

    #[bisect_toggle("t", off = Self::negated)]
    fn raised(mut self) -> Self {
        self.0 += 1;
        self
    }

    fn negated_box(self: Box<Self>) -> i64 {
        -self.0
    }

    #[bisect_toggle("t", off = Self::negated_box)]
    fn unboxed(self: Box<Self>) -> i64 {
        self.0
    }

    fn zero(_: i64) -> Self {
        Self(0)
    }

    #[bisect_toggle("t", off = Self::zero)]
    fn new(n: i64) -> Self {
        Self(n)
    }

    #[bisect_toggle("t", off = <Self as Old>::qualified)]
    fn qualified(&self) -> i64 {
        self.0 * self.0
    }
}

trait Old {
    fn qualified(&self) -> i64;
}

impl Old for Counter {
    fn qualified(&self) -> i64 {
        self.0
    }
}

struct Pair<T>(T, T);

impl<T: Copy> Pair<T> {
    fn second(&self) -> T {
        self.1
    }

    #[bisect_toggle("t", off = Self::second)]
    fn first(&self) -> T {
        self.0
    }
}

struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn last(&self) -> &'a str {
        self.0.split(' ').next_back().unwrap()
    }

    #[bisect_toggle("t", off = Self::last)]
    fn first(&self) -> &'a str {
        self.0.split(' ').next().unwrap()
    }
}

trait Shape {
    fn area(&self) -> i64;

    fn name(&self) -> String;

    #[bisect_toggle("t", off = once)]
    fn twice(&self) -> i64 {
        self.area() * 2
    }
}

fn once<T: Shape + ?Sized>(shape: &T) -> i64 {
    -shape.area().abs()
}

fn old_name(_: &Counter) -> String {
    "old".into()
}

impl Shape for Counter {
    #[bisect_toggle("t", off = negative)]
    fn area(&self) -> i64 {
        self.0
    }

    #[bisect_toggle("t", off = old_name, by = "caller")]
    fn name(&self) -> String {
        "new".into()
    }
}

fn negative(counter: &Counter) -> i64 {
    -counter.0
}
