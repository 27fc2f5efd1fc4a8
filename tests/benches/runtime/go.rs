//! The same decision by Go: `Matcher.Stack` of the standard library's `internal/bisect`, which looks at 16 frames.

use std::process::Command;

use bisect_tests::harness::{Fixture, Scratch, add_internal_bisect, go, run, with_go};

/// Nanoseconds of a decision by Go.
pub(crate) struct Go {
    /// The time on a stack that was selected and reported before.
    pub(crate) seen: f64,
    /// The time on a stack that is not selected.
    pub(crate) not_selected: f64,
}

impl Go {
    /// Returns the fastest times of this number of processes; `None` if there is no Go toolchain.
    pub(crate) fn measure(processes: usize) -> Option<Self> {
        let go = go()?;
        let (fixture, scratch) = (Fixture::new("go-costs"), Scratch::new());
        add_internal_bisect(&fixture, &go);
        let program = scratch.dir().join("costs");
        let mut build = Command::new(&go);
        with_go(build.current_dir(fixture.dir()).args(["build", "-o"]).arg(&program).arg("."), &go);
        let _ = run(&mut build).expect_status(0);
        let each = (0..processes).map(|_| {
            let text = run(&mut Command::new(&program)).expect_status(0).stdout;
            Self { seen: figure(&text, "seen"), not_selected: figure(&text, "not selected") }
        });
        each.reduce(|a, b| Self { seen: a.seen.min(b.seen), not_selected: a.not_selected.min(b.not_selected) })
    }
}

/// Returns the number that follows this name.
fn figure(text: &str, name: &str) -> f64 {
    let figure = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    figure.unwrap_or_else(|| panic!("no {name} in\n{text}"))
}
