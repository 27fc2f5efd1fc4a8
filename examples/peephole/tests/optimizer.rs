//! The optimizer: its rules, and the gate that each application passes.

use std::process::{Command, Output};

use peephole::{gate::Gate, parse, rewrite};

/// Returns the function `f(x, y)` with this body after all rewrites.
fn optimized(body: &str) -> String {
    let program = parse::parse(&format!("fn f(x, y) = {body};")).expect("a program");
    rewrite::optimize(&program, "f", &Gate::default()).functions[0].body.to_string()
}

#[test]
fn rules() {
    for (body, expected) in [
        ("2 + 3 * 4", "14"),
        ("-5 / 2", "-2"),
        ("1 / 0", "(1 / 0)"),
        ("x + 0", "x"),
        ("0 - x", "(0 - x)"),
        ("x * 1 + y / 1", "(x + y)"),
        ("x - x", "0"),
        ("f(x, 1) - f(x, 1)", "(f(x, 1) - f(x, 1))"),
        ("x - -y", "(x + y)"),
        ("- -x", "x"),
        ("if 2 < 1 then x else y", "y"),
        ("x * 8", "(x << 3)"),
        ("4 * (x + 0)", "(x << 2)"),
        ("x * 6", "(x * 6)"),
        ("x / 16", "(x >> 4)"),
        ("x % 16", "(x % 16)"),
    ] {
        assert_eq!(optimized(body), expected, "{body}");
    }
}

#[test]
fn mistakes_are_named_by_their_position() {
    for (text, error) in [
        ("fn f(x) = x", "2:1: expected `;`"),
        ("fn f(x) = (x;", "1:13: expected `)`"),
        ("show 1 +\n  * 2;", "2:3: expected an expression"),
        ("show 9223372036854775808;", "1:6: expected a number of at most 63 bits"),
        ("sho 1;", "1:1: expected `fn` or `show`"),
    ] {
        assert_eq!(parse::parse(text).unwrap_err().to_string(), error, "{text}");
    }
    let deep = format!("show {}1;", "-".repeat(100_000));
    assert_eq!(parse::parse(&deep).unwrap_err().expected, "fewer levels of expressions");
}

/// Runs the program on a file with this pattern. Reports go to standard error.
fn run(pattern: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_peephole"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("programs/mixer.calc");
    command.env("OPT_PATTERN", pattern).env_remove("BISECT_REPORT").output().expect("the program starts")
}

#[test]
fn selected_applications_are_reported() {
    let all = run("y");
    let text = String::from_utf8(all.stderr).expect("text");
    let mut markers: Vec<_> = text.lines().collect();
    markers.sort_unstable();
    markers.dedup();
    assert!(all.status.success() && markers.len() > 10, "{text}");
    assert_eq!(markers.len(), text.lines().count(), "each change once");
    let (id, _) = bisect_core::marker::find(markers[0].as_bytes()).expect("a marker");

    let one = run(&format!("vx{:016x}", id.0));
    let text = String::from_utf8(one.stderr).expect("text");
    assert!(text.lines().count() == 2 && text.lines().all(|line| line.ends_with(markers[0])), "{text}");
    assert!(text.starts_with("programs/mixer.calc:"), "{text}");

    assert_eq!(run("").stderr, b"", "without a search, nothing is reported");
    assert_eq!(run("").stdout, all.stdout, "and everything is enabled");
    assert_ne!(run("n").stdout, all.stdout, "one rule is wrong");
}

#[test]
fn a_malformed_pattern_is_refused() {
    let refused = run("x1+z");
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&refused.stderr), "peephole: OPT_PATTERN: unexpected 'z' at byte 3\n");
}
