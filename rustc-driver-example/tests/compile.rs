//! The compiler on small programs.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output},
};

use bisect_rustc::PATTERN as VARIABLE;

/// Compiles `program` in `folder` with this value of the variable.
fn compile(folder: &Path, program: &str, pattern: &str) -> Output {
    fs::write(folder.join("program.rs"), program).unwrap();
    let compiler = env::var_os("CARGO_BIN_EXE_bisect-rustc").expect("cargo tells where it built the compiler");
    Command::new(compiler)
        .args(["--edition=2024", "-O", "program.rs"])
        .current_dir(folder)
        .env(VARIABLE, pattern)
        .output()
        .unwrap()
}

#[test]
fn hello_world_compiles_and_runs() {
    for pattern in ["", "y", "v!+01-x3f"] {
        let folder = tempfile::tempdir().unwrap();
        let compiled = compile(folder.path(), r#"fn main() { println!("hello, {}", "world") }"#, pattern);
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let ran = Command::new(folder.path().join("program")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "hello, world\n");
    }
}

#[test]
fn a_malformed_pattern_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let refused = compile(folder.path(), "fn main() {}", "+0-1x");
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains(VARIABLE) && message.contains("at byte 4"), "{message}");
    assert!(!folder.path().join("program").exists());
}

#[test]
fn an_error_in_the_program_has_the_status_of_rustc() {
    let folder = tempfile::tempdir().unwrap();
    let failed = compile(folder.path(), "fn main() { missing() }", "");
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("cannot find function `missing`"));
}
