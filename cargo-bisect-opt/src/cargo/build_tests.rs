//! Command lines of builds, messages of cargo, and timeouts.

use super::*;

fn config() -> Config {
    Config::load(&Arguments::default(), &std::env::vars_os().collect::<Vec<_>>()).unwrap()
}

fn argv(subcommand: Subcommand, line: &str, more: &[&str]) -> String {
    let words: Vec<OsString> = line.split_whitespace().map(Into::into).collect();
    let arguments = Arguments::parse(subcommand, &words);
    let more: Vec<OsString> = more.iter().map(Into::into).collect();
    let build = Build {
        config: &config(),
        arguments: &arguments,
        subcommand,
        more_arguments: &more,
        target_dir: Path::new("T"),
        options: arguments.options.clone(),
        features: None,
        settings: &[],
        flags: Flags::Instrumented(&[]),
        variables: &Variables::default(),
        output: BuildOutput::Shown(|_| {}),
    };
    build.argv().join(" ".as_ref()).into_string().unwrap()
}

#[test]
fn arguments_of_cargo() {
    let format = "--message-format=json-diagnostic-rendered-ansi --target-dir T";
    for (subcommand, line, more, expected) in [
        (Subcommand::Test, "", &[] as &[_], format!("test --no-run {format}")),
        (
            Subcommand::Test,
            "sort -p x -F f --no-run --message-format short --release",
            &[],
            format!("test --no-run {format} -p x -F f --release sort"),
        ),
        (Subcommand::Run, "-q file --flag", &["--bin", "x"], format!("build {format} -q --bin x")),
        (Subcommand::Build, "-p x --release", &[], format!("build --keep-going {format} -p x --release")),
        (Subcommand::Build, "-p x --keep-going", &[], format!("build {format} -p x --keep-going")),
        (Subcommand::Check, "--tests", &[], format!("check --keep-going {format} --tests")),
    ] {
        assert_eq!(argv(subcommand, line, more), expected, "{line}");
    }
}

#[test]
fn messages_are_read_among_other_lines() {
    let artifact = |kind: &str, test: bool, fresh: bool, executable: &str| {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"path+file:///w/p#0.1.0","manifest_path":"/w/p/Cargo.toml","target":{{"kind":["{kind}"],"crate_types":["bin"],"name":"n-{kind}","src_path":"/w/p/src/{kind}.rs","edition":"2024","doc":true,"doctest":true,"test":true}},"profile":{{"opt_level":"0","debuginfo":2,"debug_assertions":true,"overflow_checks":true,"test":{test}}},"features":[],"filenames":[],"executable":{executable},"fresh":{fresh}}}"#
        )
    };
    let lines = [
        "   noise".to_owned(),
        artifact("test", true, false, r#""/t/debug/deps/it-1""#),
        artifact("custom-build", false, false, "null"),
        artifact("lib", true, true, r#""/t/debug/deps/p-1""#),
        artifact("bin", false, true, r#""/t/debug/p""#),
        r#"{"reason":"build-script-executed","package_id":"path+file:///w/p#0.1.0","linked_libs":[],"linked_paths":["native=/t/x"],"cfgs":[],"env":[["A","b"]],"out_dir":"/t/out"}"#.to_owned(),
        r#"{"reason":"build-finished","success":true}"#.to_owned(),
        r#"{"reason":"of-the-future"}"#.to_owned(),
    ];
    let (artifacts, began) = Artifacts::parse(lines.join("\n").as_bytes());
    assert!(began && !Artifacts::parse(b"error: unexpected argument").1);
    let names: Vec<_> = artifacts.executables.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["unittests src/lib.rs (n-lib)", "src/bin.rs (n-bin)", "src/test.rs (n-test)"]);
    assert_eq!((artifacts.compiled_crates, artifacts.units), (2, 5));
    assert_eq!(artifacts.scripts[0].env, [("A".to_owned(), "b".to_owned())]);
}

/// Builds with a fake cargo. Each start reports the next number of units, `fresh` or not, and then succeeds or hangs.
/// Further starts repeat the last one. Returns the build and the number of starts.
///
/// On a slow machine, a start may not report its units within the timeout, so longer ones are tried until the result is
/// the expected one.
#[cfg(unix)]
fn attempt(starts: &[(&[bool], bool)], is_expected: impl Fn(&Built, usize) -> bool) -> (Built, usize) {
    let mut timeouts = (8..=12).map(|exponent| Duration::from_millis(1 << exponent));
    let mut attempted = attempt_within(timeouts.next().unwrap(), starts);
    while !is_expected(&attempted.0, attempted.1)
        && let Some(timeout) = timeouts.next()
    {
        attempted = attempt_within(timeout, starts);
    }
    attempted
}

#[cfg(unix)]
fn attempt_within(timeout: Duration, starts: &[(&[bool], bool)]) -> (Built, usize) {
    let dir = tempfile::tempdir().unwrap();
    let artifact = |fresh: &bool| {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"path+file:///p#0.1.0","manifest_path":"/p/Cargo.toml","target":{{"kind":["lib"],"crate_types":["lib"],"name":"p","src_path":"/p/src/lib.rs","edition":"2024","doc":true,"doctest":true,"test":true}},"profile":{{"opt_level":"0","debuginfo":2,"debug_assertions":true,"overflow_checks":true,"test":false}},"features":[],"filenames":[],"executable":null,"fresh":{fresh}}}"#
        )
    };
    for (i, (units, ends)) in starts.iter().enumerate() {
        let lines: Vec<_> = units.iter().map(artifact).collect();
        let end = if *ends { r#"echo '{"reason":"build-finished","success":true}'"# } else { "exec sleep 1000" };
        let script = format!("cat <<'END'\n{}\nEND\n{end}\n", lines.join("\n"));
        fs_err::write(dir.path().join(format!("{}.sh", i + 1)), script).unwrap();
    }
    let cargo = dir.path().join("cargo");
    let count = dir.path().join("count");
    let script = format!(
        "#!/bin/sh\ncd '{}'\necho >> count\nn=$(wc -l < count)\nwhile [ ! -f $((n)).sh ]; do n=$((n - 1)); done\n. ./$((n)).sh\n",
        dir.path().display()
    );
    fs_err::write(&cargo, script).unwrap();
    std::fs::set_permissions(&cargo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let log = dir.path().join("log");
    let mut config = config();
    config.cargo = cargo.into();
    let build = Build {
        config: &config,
        arguments: &Arguments::default(),
        subcommand: Subcommand::Build,
        more_arguments: &[],
        target_dir: dir.path(),
        options: Vec::new(),
        features: None,
        settings: &[],
        flags: Flags::Plain(&[]),
        variables: &Variables::default(),
        output: BuildOutput::Log(&log),
    };
    let attempted = build.attempt(dir.path(), Some(timeout), &Interrupt::default()).unwrap();
    (attempted, fs_err::read_to_string(count).unwrap_or_default().lines().count())
}

#[cfg(unix)]
#[test]
fn a_build_that_gets_somewhere_is_taken_up_again() {
    let starts: &[(&[_], _)] = &[(&[false], false), (&[true, false], false), (&[true, true, false], true)];
    let (built, starts) = attempt(starts, |built, starts| built.artifacts.is_complete && starts == 3);
    assert!(built.artifacts.is_complete && built.began);
    assert_eq!((starts, built.artifacts.compiled_crates), (3, 3));
}

#[cfg(unix)]
#[test]
fn a_build_that_gets_no_further_has_failed() {
    // The first unit is compiled each time.
    for (starts, expected) in [(&[(&[] as &[bool], false)][..], 1), (&[(&[false], false)], 2)] {
        let (built, starts) = attempt(starts, |_, starts| starts == expected);
        assert_eq!((built.ending, starts), (Ending::TimedOut, expected));
        assert!(!built.artifacts.is_complete && !built.began);
    }
}
