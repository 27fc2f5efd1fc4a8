//! `exec` with `bisect-rustc` in the command: the function, or the expression of a pass, that breaks a program.
#![cfg(unix)]

use bisect_tests::harness::{RustcDriver, Scratch, run, rustc_driver};

const PROGRAM: &str = r#"
mod clock {
    pub struct Clock(pub i32);
    impl Clock {
        pub fn is_over(&self) -> bool {
            self.0 >= unsafe { self.0.unchecked_add(1) }
        }
        pub fn next(&self) -> Self { Self(self.0.wrapping_add(1)) }
    }
}
mod mean {
    pub fn of(values: &[i32]) -> i32 { values.iter().map(|x| x * 3).sum::<i32>() / values.len() as i32 }
    pub fn quarters(x: i32) -> [i32; 2] { [x / 4, (x + 4) / 4] }
}
fn main() {
    let x = std::hint::black_box(-1);
    let clock = clock::Clock(std::hint::black_box(i32::MAX));
    assert_eq!(mean::of(&[x, 2, 5]), 6);
    assert_eq!(mean::quarters(x)[1], 0);
    if !cfg!(halve) {
        assert!(clock.is_over(), "the clock runs over");
        assert_eq!(clock.next().0, i32::MIN);
    } else {
        assert_eq!(mean::quarters(x)[0], 0, "rounded to zero");
    }
}
"#;

/// Expects that a search of `pattern` finds one change: its gate, line, column and function.
fn search(pattern: &str, cfg: &str, expected: (&str, u64, u64, &str)) {
    let Some(RustcDriver { driver, .. }) = rustc_driver() else { return };
    let scratch = Scratch::new();
    scratch.write("program.rs", PROGRAM);
    let script =
        format!("\"$0\" --crate-name=ledger --edition=2024 -O -Awarnings {cfg} -o program program.rs && ./program");
    let mut command = scratch.driver(["exec", "--json"]);
    command.arg(format!("BISECT_PATTERN={pattern}")).args(["sh", "-c", &script]).arg(driver);
    let finished = run(&mut command).expect_status(0);
    let found = finished.events_of("found");
    assert_eq!(found.len(), 1, "{finished}");
    let [change] = &found[0]["changes"].as_array().unwrap()[..] else { panic!("{finished}") };
    assert_eq!(change["file"], "program.rs");
    let number = |name: &str| change[name].as_u64().unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let facts = (text(&change["name"]), number("line"), number("column"), text(&change["frames"][0]["function"]));
    assert_eq!((&*facts.0, facts.1, facts.2, &*facts.3), expected);
}

#[test]
fn the_function_whose_optimization_breaks_the_program_is_found() {
    search("PATTERN", "", ("optimize", 5, 9, "ledger::clock::Clock::is_over"));
}

#[test]
fn the_expression_that_a_pass_breaks_is_found() {
    search("halve=PATTERN", "--cfg=halve", ("halve", 13, 44, "ledger::mean::quarters"));
}
