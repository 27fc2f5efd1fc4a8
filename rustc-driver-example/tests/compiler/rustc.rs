//! Tests that the compiler is the same as `rustc` if nothing is bisected, and that it replaces no other version.

use std::{fs, path::Path, process::Command};

use crate::harness::{Ran, bisect_rustc, run, rustc, rustc_path};

const PROGRAM: &str = r#"
    mod figures {
        #[derive(Clone, Debug, PartialEq)]
        pub struct Row { pub name: String, pub score: i64 }
        pub fn halves(rows: &[Row]) -> Vec<i64> { rows.iter().map(|row| row.score / 2).collect() }
    }
    fn main() {
        let rows = [("a", 3), ("b", -5)].map(|(name, score)| figures::Row { name: name.into(), score });
        println!("hello, {:?} {:?}", rows, figures::halves(&rows));
    }
    #[test]
    fn works() { assert_eq!(figures::halves(&[]), []); }
"#;

/// Returns the names and contents of all files in a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_crash_names_the_compiler_that_crashed() {
    let mut command = bisect_rustc();
    command.args(["--crate-type=lib", "-Ztreat-err-as-bug", "--out-dir=.", "-"]);
    let crashed = Ran::with_input(&mut command, "fn broken( {}");
    assert_eq!(crashed.code, Some(101), "{}", crashed.stderr);
    let note = "this is bisect-rustc: see whether rustc itself does the same, before you report it";
    assert!(crashed.stderr.contains(note), "{}", crashed.stderr);
}

#[test]
fn where_nobody_bisects_the_output_is_that_of_rustc() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("program.rs"), PROGRAM).unwrap();
    let no_values = [("BISECT_PATTERN", ""), ("BISECT_REPORT", "nowhere")];
    let defaults = [("BISECT_PATTERN", "optimize=on;halve=off"), ("BISECT_REPORT", "")];
    let foreign = [("BISECT_PATTERN", "newsort=v01;other=off"), ("BISECT_REPORT", "")];
    for (args, variables) in [
        (&["--crate-type=lib", "-O", "--emit=link,metadata,llvm-ir"] as &[_], no_values),
        (&["--crate-type=bin", "-O", "-g"], defaults),
        (&["--test", "-Copt-level=1", "-Ccodegen-units=4"], foreign),
        (&["--crate-type=lib", "-Copt-level=s", "-Cincremental=incremental", "--emit=metadata,obj"], no_values),
    ] {
        // Both compilers write to the same directory, so that its name does not matter.
        let out = folder.path().join("out");
        let compiled = |command: &mut Command| {
            fs::create_dir(&out).unwrap();
            command.current_dir(folder.path()).args(["--edition=2024", "-Awarnings", "--out-dir=out", "program.rs"]);
            let ran = Ran::of(command.args(args));
            assert_eq!(ran.stderr, "");
            let files = files(&out);
            fs::remove_dir_all(&out).unwrap();
            let _ = fs::remove_dir_all(folder.path().join("incremental"));
            files
        };
        let expected = compiled(&mut rustc());
        assert!(!expected.is_empty());
        let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let actual = compiled(bisect_rustc().envs(variables));
        assert_eq!(names(&actual), names(&expected));
        assert!(actual == expected, "{args:?}");
    }
}

#[test]
fn dependencies_on_variables_are_recorded_even_without_a_bisection() {
    let deps = |variables: &[(&str, &str)]| {
        let mut command = bisect_rustc();
        command.args(["-", "--crate-name=x", "--crate-type=lib", "--emit=dep-info", "-o-"]);
        let ran = Ran::with_input(command.envs(variables.iter().copied()), "").successful();
        ran.text().lines().filter(|line| line.starts_with("# env-dep:BISECT")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(deps(&[]), ["# env-dep:BISECT_PATTERN"]);
    assert_eq!(deps(&[("BISECT_PATTERN", "y")]), ["# env-dep:BISECT_PATTERN=y"]);
    let package = [("CARGO_PKG_NAME", "a-b"), ("CARGO_PKG_VERSION", "1.2.0-rc.1+x")];
    assert_eq!(deps(&package), ["# env-dep:BISECT_PATTERN", "# env-dep:BISECT_RUSTC_a_b_1_2_0_rc_1_x"]);
    // A package with a variable of its own does not depend on the variable for all.
    let own = [package[0], package[1], ("BISECT_PATTERN", "y"), ("BISECT_RUSTC_a_b_1_2_0_rc_1_x", "n")];
    assert_eq!(deps(&own), ["# env-dep:BISECT_RUSTC_a_b_1_2_0_rc_1_x=n"]);
}

#[test]
fn a_value_without_a_meaning_is_refused_with_its_place() {
    let package = [("CARGO_PKG_NAME", "a"), ("CARGO_PKG_VERSION", "1.0.0")];
    for (variable, value, problem) in [
        ("BISECT_PATTERN", "+0-1x", "at byte 4"),
        ("BISECT_PATTERN", "optimize=+0-1x", "at byte 13"),
        ("BISECT_RUSTC_a_1_0_0", "optimise=y", "no gate \"optimise\": there are optimize, std, halve"),
    ] {
        let mut command = bisect_rustc();
        let refused = Ran::with_input(command.args(["-", "-o-"]).envs(package).env(variable, value), "fn main() {}");
        assert_eq!(refused.code, Some(2));
        assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
        assert!(refused.stderr.starts_with(&format!("bisect-rustc: {variable}={value:?}: ")), "{}", refused.stderr);
        assert!(refused.stderr.contains(problem), "{}", refused.stderr);
    }
}

#[test]
fn an_error_in_the_program_has_the_status_of_rustc() {
    for pattern in ["", "y"] {
        let mut command = bisect_rustc();
        let failed =
            Ran::with_input(command.args(["-", "-o-"]).env("BISECT_PATTERN", pattern), "fn main() { missing() }");
        assert_eq!(failed.code, Some(1));
        assert!(failed.stderr.contains("cannot find function `missing`"));
    }
}

#[test]
fn a_wrapper_stands_in_for_the_version_that_it_was_built_for() {
    let version = Ran::of(rustc().arg("-vV"));
    let wrapped = Ran::of(bisect_rustc().arg(rustc_path()).arg("-vV"));
    assert_eq!(wrapped.text(), version.text());
    // Metadata contains the working directory.
    let folder = tempfile::tempdir().unwrap();
    let metadata = |mut command: Command| {
        command.args(["-", "--crate-name=x", "--crate-type=lib", "--emit=metadata", "-o-"]).current_dir(&folder);
        Ran::with_input(&mut command, "pub fn f() {}").successful().stdout
    };
    let mut stand_in = bisect_rustc();
    stand_in.arg(rustc_path());
    assert!(metadata(stand_in) == metadata(rustc()));
}

#[cfg(unix)]
#[test]
fn a_wrapper_stands_in_for_no_other_version() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("rustc");
    fs::write(&other, "#!/bin/sh\necho 'rustc 1.95.0 (59807616e 2026-04-14)'\n").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let release = env!("BISECT_RUSTC_RELEASE");
    for args in [&["-vV"] as &[_], &["-", "-o-"]] {
        let refused = Ran::any(bisect_rustc().arg(&other).args(args));
        assert_eq!(refused.code, Some(2));
        assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
        for part in ["is rustc 1.95.0 (59807616e", release, &format!("rustup toolchain install {release} -c rustc-dev")]
        {
            assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
        }
    }
}

#[test]
fn hello_world_compiles_and_runs_with_any_pattern() {
    for pattern in ["", "y", "!y", "v!+01-x3f", "optimize=off;halve=on"] {
        let (printed, _) = run(PROGRAM, pattern, &["-O"]);
        let halves = if pattern.contains("halve") { "[1, -3]" } else { "[1, -2]" };
        assert!(printed.starts_with("hello, ") && printed.ends_with(&format!("{halves}\n")), "{printed}");
    }
}
