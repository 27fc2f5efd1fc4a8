//! Tests of gate `drops` on generated programs: random nests of everything that has temporaries.
//!
//! Every function is run to its end, and once for each of its first steps with a panic in that step. All functions are
//! in one crate, so that two hundred of them need only a few compilations.

use std::fmt::Write as _;

use crate::edition::Workshop;

/// The number of functions.
const FUNCTIONS: usize = 200;
/// The depth of their nesting.
const DEPTH: u32 = 3;
const SEED: u64 = 2024;

const PRELUDE: &str = r#"#![allow(warnings)]
use std::{cell::{Cell, RefCell}, future::{Future, ready}, panic, pin, task};
thread_local! { static LOG: RefCell<Vec<String>> = RefCell::new(vec![]); static STEPS: Cell<i32> = Cell::new(0); }
/// Logs a step. Panics if the counter of steps reaches zero, but not in a destructor.
fn log(text: String) {
    if STEPS.with(|steps| { steps.set(steps.get() - 1); steps.get() == 0 }) && !text.starts_with('-') { panic!() }
    LOG.with(|log| log.borrow_mut().push(text));
}
struct N(u32);
impl Drop for N { fn drop(&mut self) { log(format!("-{}", self.0)) } }
struct Pair(N, N);
fn n(k: u32) -> N { log(format!("+{k}")); N(k) }
impl N {
    fn v(&self) -> u32 { self.0 }
    fn with(&self, other: N) -> u32 { self.0.wrapping_add(other.0) }
    fn yes(&self) -> bool { true }
    fn no(&self) -> bool { false }
    fn some(&self) -> Option<u32> { Some(self.0) }
    fn none(&self) -> Option<u32> { None }
}
fn option(x: u32) -> Option<u32> { if x % 3 == 0 { None } else { Some(x) } }
fn say(x: u32) { log(format!("say {x}")) }
fn take(n: N) { log("take".into()) }
fn two(a: u32, b: u32) -> u32 { log("two".into()); a.wrapping_add(b) }
fn twice(count: &mut u32, x: Option<u32>) -> Option<u32> { *count += 1; if *count > 2 { None } else { x } }
fn run<F: Future>(f: F) -> F::Output {
    let mut f = pin::pin!(f);
    let mut context = task::Context::from_waker(task::Waker::noop());
    loop { if let task::Poll::Ready(x) = f.as_mut().poll(&mut context) { return x } }
}
macro_rules! block { ($a:expr, $b:expr) => {{ let _m = n(1001); say($a); n(1002).with(n($b)) }} }
macro_rules! condition { ($a:expr, $b:expr) => { if let Some(_) = n(1003).some().and($a) { $b } else { say(77); n(1004).v() } } }
fn all(f: fn() -> u32) {
    for steps in 0..40 {
        STEPS.with(|left| left.set(steps));
        let ended = panic::catch_unwind(f).is_ok();
        println!("{} {ended}", LOG.with(|log| log.take()).join(" "));
        if ended && steps > 0 { break }
    }
}
"#;

#[test]
fn generated_programs_are_those_of_the_other_edition() {
    let mut generator = Generator { state: SEED, names: 0, returns: 1 };
    let mut source = PRELUDE.to_owned();
    for i in 0..FUNCTIONS {
        let body = generator.block(DEPTH);
        let (signature, call) = match generator.below(4) {
            0 => (format!("fn f{i}<T: Default>() -> u32"), format!("f{i}::<u8>()")),
            1 => (format!("fn f{i}() -> impl Into<u32>"), format!("f{i}().into()")),
            2 => (format!("async fn f{i}() -> u32"), format!("run(f{i}())")),
            _ => (format!("fn f{i}() -> u32"), format!("f{i}()")),
        };
        let _ = writeln!(source, "{signature} {body}\nfn call{i}() -> u32 {{ {call} }}");
    }
    source.push_str("fn main() {\n    panic::set_hook(Box::new(|_| ()));\n");
    for i in 0..FUNCTIONS {
        let _ = writeln!(source, "    all(call{i});");
    }
    let workshop = Workshop::new(&(source + "}\n"));

    let [old, new] = ["2021", "2024"].map(|edition| workshop.truth(edition));
    let differing = old.lines().zip(new.lines()).filter(|(old, new)| old != new).count();
    assert!(differing > FUNCTIONS, "{differing} lines differ");
    for (edition, own, other) in [("2021", &old, &new), ("2024", &new, &old)] {
        assert!(workshop.with(edition, "drops=off;scopes=n").0 == *own, "{edition}, off");
        assert!(workshop.with(edition, "drops=on").0 == *other, "{edition}, on");
    }
}

/// A generator of source text.
struct Generator {
    state: u64,
    names: u32,
    /// Zero inside functions that do not return numbers.
    returns: u32,
}

impl Generator {
    /// Returns a random number below `end` (`SplitMix64`).
    fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn value(&mut self) -> String {
        let name = self.name();
        match self.below(6) {
            0 => format!("Pair(n({name}), n(1000)).0"),
            1 => format!("(*Box::new(n({name})))"),
            2 => format!("Some(n({name})).as_ref().unwrap()"),
            _ => format!("n({name})"),
        }
    }

    fn truth(&mut self) -> String {
        let name = self.name();
        if self.below(2) == 0 { format!("n({name}).yes()") } else { format!("n({name}).no()") }
    }

    fn block(&mut self, depth: u32) -> String {
        format!("{{ {} {} }}", self.statements(depth), self.number(depth.saturating_sub(1)))
    }

    fn statements(&mut self, depth: u32) -> String {
        let count = self.below(3);
        (0..count).map(|_| self.statement(depth) + " ").collect()
    }

    fn statement(&mut self, depth: u32) -> String {
        let (name, depth) = (self.name(), depth.saturating_sub(1));
        match self.below(10) {
            0..3 => format!("let _g{name} = n({name});"),
            3 => format!("let _ = {};", self.number(depth)),
            4 => format!("let _x{name} = &n({name});"),
            5 => format!("if let Some(_) = {} {{ {} }}", self.option(depth), self.statements(depth)),
            6 if self.returns > 0 => {
                format!("let Some(_y{name}) = ({}) else {{ return {} }};", self.option(depth), self.number(depth))
            }
            7 => format!("let _g{name} = n({name}); take(_g{name});"),
            8 => format!("let _z{name} = {};", self.number(depth)),
            _ => format!("say({});", self.number(depth)),
        }
    }

    fn option(&mut self, depth: u32) -> String {
        match self.below(6) {
            0 => format!("{}.some()", self.value()),
            1 => format!("{}.none()", self.value()),
            2 if depth > 0 => format!("{{ {} {} }}", self.statements(depth - 1), self.option(depth - 1)),
            3 => format!("{}.some().filter(|_| {})", self.value(), self.truth()),
            4 => format!("Some(n({})).map(|n| n.v())", self.name()),
            _ => format!("option({})", self.number(depth.saturating_sub(1))),
        }
    }

    fn number(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.below(5) {
                0 => "1u32".to_owned(),
                1 => format!("n({}).with(n({}))", self.name(), self.name()),
                _ => format!("{}.v()", self.value()),
            };
        }
        let below = depth - 1;
        match self.below(26) {
            0..5 => self.block(depth),
            5..8 => format!("if let Some(_) = {} {} else {}", self.option(depth), self.block(depth), self.block(depth)),
            8 => {
                let [first, second] =
                    [(); 2].map(|()| format!("if let Some(_) = {} {}", self.option(depth), self.block(depth)));
                format!("{first} else {second} else {}", self.block(depth))
            }
            9 => format!("two({}, {})", self.number(below), self.number(below)),
            10 => format!("{}.with(n({}))", self.value(), self.number(below)),
            11 => {
                let [first, second, third] = [(); 3].map(|()| self.number(below));
                let (of, guard) = (self.option(below), self.truth());
                format!("match {of} {{ Some(_) if {guard} => {first}, Some(_) => {second}, None => {third} }}")
            }
            12 => format!("(|| {})()", self.block(depth)),
            13 => {
                let (label, broken) = (self.name(), self.truth());
                let [one, other] = [(); 2].map(|()| self.number(below));
                format!("'l{label}: {{ {} if {broken} {{ break 'l{label} ({one}) }} {other} }}", self.statements(below))
            }
            14 => format!("unsafe {}", self.block(depth)),
            15 => format!("loop {{ {} break ({}) }}", self.statements(below), self.number(below)),
            16 => format!("({}, {}).{}", self.number(below), self.number(below), self.below(2)),
            17 => {
                let returns = std::mem::take(&mut self.returns);
                let tried =
                    format!("{} option(({})? + {}.some()?)", self.statements(below), self.option(below), self.value());
                self.returns = returns;
                format!("(|| {{ {tried} }})().unwrap_or({})", self.number(below))
            }
            18 => format!("run(async {{ {} ready({}).await }})", self.statements(below), self.number(below)),
            19 => format!("block!({}, {})", self.number(below), self.number(below)),
            20 => format!("condition!({}, {})", self.option(below), self.number(below)),
            21 => {
                let (of, body) = (self.option(below), self.statements(below));
                format!(
                    "{{ let mut c = 0; while let Some(_) = twice(&mut c, {of}) {{ {body} }} {} }}",
                    self.number(below)
                )
            }
            22 => format!("format!(\"{{}}\", {}).len() as u32", self.number(below)),
            23 => format!("({}) + ({})", self.number(below), self.number(below)),
            24 => format!(
                "{{ let mut z = 0u32; for i in 0..2 {{ z = i + ({}); }} {} }}",
                self.number(below),
                self.number(below)
            ),
            _ => format!("pin::pin!({}).v()", self.value()),
        }
    }
}
