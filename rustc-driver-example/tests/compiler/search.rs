//! End-to-end tests: `cargo bisect-opt` finds the function, and the expression.

use std::{env, fs};

use crate::harness::{Ran, bisect_rustc, clean};

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

/// Returns the only change that a search of `pattern` finds: gate, line, column and function.
fn search(pattern: &str, cfg: &str) -> (String, u64, u64, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("program.rs"), PROGRAM).unwrap();
    let command = bisect_rustc();
    let compiler = command.get_program().to_str().unwrap();
    let mut cargo = clean(env::var_os("CARGO").expect("cargo runs these tests"));
    // The executable is run by cargo, because the target directory of its workspace may be another one than that of
    // this crate.
    cargo.args(["run", "--quiet", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml")]);
    cargo.args(["-p", "cargo-bisect-opt", "--bin", "cargo-bisect-opt", "--", "bisect-opt", "exec", "--json"]);
    cargo.arg(format!("BISECT_PATTERN={pattern}")).args(["sh", "-c"]);
    cargo.arg(format!(
        "\"$0\" --crate-name=ledger --edition=2024 -O -Awarnings {cfg} -o program program.rs && ./program"
    ));
    cargo.arg(compiler).current_dir(&folder).env_remove("RUSTC_BOOTSTRAP");
    if let Some(directory) = env::var_os("CARGO_TARGET_DIR") {
        cargo.env("CARGO_TARGET_DIR", directory);
    }
    let ran = Ran::any(&mut cargo);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.text(), ran.stderr);
    let events = ran.text().lines().map(|line| serde_json::from_str(line).unwrap());
    let mut found = events.filter(|event: &serde_json::Value| event["event"] == "found");
    let culprit = found.next().unwrap();
    assert!(found.next().is_none(), "{}", ran.text());
    let [change] = &culprit["changes"].as_array().unwrap()[..] else { panic!("{culprit}") };
    assert_eq!(change["file"], "program.rs");
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let number = |name: &str| change[name].as_u64().unwrap();
    (text(&change["name"]), number("line"), number("column"), text(&change["frames"][0]["function"]))
}

#[cfg(unix)]
#[test]
fn the_function_whose_optimization_breaks_the_program_is_found() {
    assert_eq!(search("PATTERN", ""), ("optimize".into(), 5, 9, "ledger::clock::Clock::is_over".into()));
}

#[cfg(unix)]
#[test]
fn the_expression_that_a_pass_breaks_is_found() {
    assert_eq!(search("halve=PATTERN", "--cfg=halve"), ("halve".into(), 13, 44, "ledger::mean::quarters".into()));
}
