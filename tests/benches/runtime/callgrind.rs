//! Instructions, counted by valgrind's callgrind.

use std::{path::Path, process::Command};

use bisect_tests::harness::Scratch;

/// Callgrind, if it is installed. Prints a notice if it is not.
pub(crate) struct Callgrind(());

impl Callgrind {
    pub(crate) fn find() -> Option<Self> {
        let found = Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
        if !found {
            eprintln!("*** SKIPPED: instructions are not counted, because there is no valgrind ***");
        }
        found.then_some(Self(()))
    }

    /// Returns the instructions of one unit, which the command for `n` executes `n` · `times` times.
    ///
    /// Two runs differ only in the number of units: everything else that a process does cancels out.
    #[allow(clippy::unused_self, reason = "it tells that there is a valgrind")]
    pub(crate) fn instructions(&self, command: impl Fn(u32) -> Command, times: u32) -> f64 {
        let (few, many) = (100, 300);
        let [few_counted, many_counted] = [few, many].map(|n| count(&command(n)));
        #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
        let difference = (many_counted - few_counted) as f64;
        difference / f64::from((many - few) * times)
    }
}

fn count(command: &Command) -> u64 {
    let scratch = Scratch::new();
    let mut valgrind = under_valgrind(command, &scratch.dir().join("callgrind"));
    let output = valgrind.output().expect("valgrind can be started");
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    collected.unwrap_or_else(|| panic!("{valgrind:?} counts nothing:\n{text}"))
}

fn under_valgrind(command: &Command, out: &Path) -> Command {
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", out.display()));
    valgrind.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => valgrind.env(name, value),
            None => valgrind.env_remove(name),
        };
    }
    valgrind
}
