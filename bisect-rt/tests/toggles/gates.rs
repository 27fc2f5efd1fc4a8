//! Gates: functions that return `bool`.

use std::panic::Location;

use bisect_rt::bisect_toggle;

use crate::{Case, either};

/// Returns a case of a gate whose body has another value than the default of other toggles.
const fn gate(name: &'static str, run: fn() -> String) -> Case {
    Case { name, run, nobody: "false", on: "true", off: "false" }
}

pub(crate) const CASES: &[Case] = &[
    either("gate that is on", || always().to_string(), "true", "false"),
    gate("gate that is off", || never().to_string()),
    gate("gate with arguments", || is_long("short").to_string()),
    either("gate with early return", || is_long("").to_string(), "true", "false"),
    gate("gate with a question mark", || parses("x").is_some_and(|parses| parses).to_string()),
    gate("gate by site", || by_site().to_string()),
    gate("gate by caller", || by_caller(line!()).to_string()),
    gate("method", || Feature { enabled: false }.is_enabled().to_string()),
    gate("qualified bool", || qualified().to_string()),
    gate("const generic", || at_least::<3>(2).to_string()),
    gate("another crate path", || renamed().to_string()),
    Case { name: "another name", run: || another().to_string(), nobody: "true", on: "true", off: "true" },
];

#[bisect_toggle("t")]
fn always() -> bool {
    true
}

#[bisect_toggle("t", depth = 4)]
fn never() -> bool {
    false
}

#[bisect_toggle("t")]
fn is_long(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    text.len() > 10
}

fn parses(text: &str) -> Option<bool> {
    #[bisect_toggle("t")]
    fn is_number(text: &str) -> bool {
        let number = || text.parse::<u8>().ok();
        number().is_some()
    }
    Some(is_number(text))
}

#[bisect_toggle("t", by = "site")]
fn by_site() -> bool {
    false
}

/// Returns false; `by = "caller"` makes this gate `#[track_caller]`.
#[bisect_toggle("t", by = "caller")]
fn by_caller(line: u32) -> bool {
    assert_eq!(Location::caller().line(), line);
    false
}

struct Feature {
    enabled: bool,
}

impl Feature {
    #[bisect_toggle("t", by = "caller")]
    #[track_caller]
    fn is_enabled(&self) -> bool {
        self.enabled
    }
}

#[bisect_toggle("t")]
#[allow(unused_qualifications)]
fn qualified() -> core::primitive::bool {
    false
}

#[bisect_toggle("t")]
fn at_least<const N: usize>(n: usize) -> bool {
    n >= N
}

mod facade {
    pub(crate) use bisect_rt as runtime;
}

#[bisect_toggle("t", crate = crate::gates::facade::runtime)]
fn renamed() -> bool {
    false
}

/// Returns true; the name of this gate is in no pattern of these tests.
#[bisect_toggle("u")]
fn another() -> bool {
    true
}
