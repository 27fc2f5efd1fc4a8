//! `bisect_point!` in the places where an expression is allowed.

use std::env;

use bisect_rt::bisect_point;

use crate::{Case, either};

pub(crate) const CASES: &[Case] = &[
    either("point", || if bisect_point!("t") { "new" } else { "old" }.into(), "new", "old"),
    either(
        "point as a value",
        || format!("{:?}", [bisect_point!("t"), !bisect_point!("t",)]),
        "[true, false]",
        "[false, true]",
    ),
    either("point by stack", || bisect_point!("t", by = "stack", depth = 3).to_string(), "true", "false"),
    either("point by caller", || by_caller().to_string(), "true", "false"),
    either("point with a key", with_keys, "true true true", "false false false"),
    either(
        "point in a closure",
        || (0..2).map(|n| bisect_point!("t", key = n).to_string()).collect(),
        "truetrue",
        "falsefalse",
    ),
    either("point in a generic function", || generic(&"key").to_string(), "true", "false"),
    either("point with a key that is expensive", lazy_key, "true", "false"),
];

#[track_caller]
fn by_caller() -> bool {
    bisect_point!("t", by = "caller")
}

fn with_keys() -> String {
    let (text, number) = (String::from("not moved"), 3);
    let said = [
        bisect_point!("t", key = text),
        bisect_point!("t", key = number + 1, by = "stack"),
        bisect_point!("t", key = (&text, "unsized"[..3].len())),
    ];
    assert_eq!(text, "not moved");
    said.map(|on| on.to_string()).join(" ")
}

fn generic<T: std::hash::Hash + ?Sized>(key: &T) -> bool {
    bisect_point!("t", key = *key)
}

/// Evaluates a point with a key that must be evaluated only when something is bisected.
fn lazy_key() -> String {
    let key = || assert!(env::var_os("BISECT_PATTERN").is_some_and(|pattern| !pattern.is_empty()));
    bisect_point!("t", key = key()).to_string()
}
