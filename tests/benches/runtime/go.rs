//! The same decision by Go: `Matcher.Stack` of the standard library's `internal/bisect`, which looks at 16 frames.

use std::{fs, path::Path, process::Command};

use bisect_tests::harness::{Fixture, go, run, with_go};

/// Nanoseconds of a decision.
pub(crate) struct Go {
    /// On a stack that was selected and reported before.
    pub(crate) seen: f64,
    /// On one that is not selected.
    pub(crate) not_selected: f64,
}

impl Go {
    /// Measures it, if there is a Go toolchain.
    pub(crate) fn measure() -> Option<Self> {
        let go = go()?;
        let fixture = Fixture::new("go-costs");
        let command = |args: &[&str]| {
            let mut command = Command::new(&go);
            command.current_dir(fixture.dir()).args(args);
            with_go(&mut command, &go);
            command
        };
        let root = run(&mut command(&["env", "GOROOT"])).expect_status(0).stdout;
        // Nobody may import the package from where it is.
        let original = Path::new(root.trim()).join("src/internal/bisect/bisect.go");
        let text = fs::read_to_string(&original).unwrap_or_else(|error| panic!("{}: {error}", original.display()));
        fixture.write("bisect/bisect.go", &text);
        let text = run(&mut command(&["test", "-bench=.", "-benchtime=50ms", "-count=20"])).expect_status(0).stdout;
        Some(Self { seen: fastest(&text, "BenchmarkSeen"), not_selected: fastest(&text, "BenchmarkNotSelected") })
    }
}

/// The best of the lines that consist of the name, how often it was done, and how long that takes.
fn fastest(text: &str, name: &str) -> f64 {
    let ns = text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let is_meant = words.next()?.split('-').next() == Some(name);
        words.nth(1).filter(|_| is_meant)?.parse::<f64>().ok()
    });
    ns.reduce(f64::min).unwrap_or_else(|| panic!("no {name} in\n{text}"))
}
