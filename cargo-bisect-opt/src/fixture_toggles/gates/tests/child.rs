//! A test of a toggle in a child process, whose output is not read.

use std::process::{Command, Stdio};

#[test]
fn a_child_fails() {
    let program = std::env::var_os("CARGO_BIN_EXE_gates").expect("set by cargo, and so by the driver");
    assert_eq!(program, env!("CARGO_BIN_EXE_gates"));
    let status = Command::new(program).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success());
}
