//! Parsing of `--launcher`, and commands that are passed through real launchers.

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
};

use super::*;

/// Prints the directory, variables and arguments that it gets, separated by zero bytes.
const SHOW: &str = r#"printf '%s\0' "$PWD" "$VALUE" "${BISECT_REPORT-none}" "${GONE-none}" "$@""#;

/// Words that shells, `ssh`, GNU parallel or `env` would change if they were not quoted.
const ODD: [&[u8]; 17] = [
    b"",
    b" ",
    b"two  words",
    b"it's",
    b"\"double\" and 'single'",
    b"$HOME `id` $(id) ${HOME}",
    b"back\\slash \\n \\",
    b"line\nbreak\n",
    b"tab\t",
    b"* ? [a] ~ !x ^x # ; & | < > ( )",
    b"{} {.} {/} {#} {%} {1} {= uc =} {+/} {slot} {{}} {",
    b"-n",
    b"--",
    b"a=b",
    b"%s \xc3\xb6",
    b"\xff\xfe not text {\xff}",
    b"\x01\x7f",
];

fn odd() -> impl Iterator<Item = &'static OsStr> {
    ODD.into_iter().map(OsStr::from_bytes)
}

/// Runs a command through a launcher. Returns its output, its errors and its status.
fn run(launcher: &str, command: &Command, skip_code: i32) -> (Vec<u8>, String, Option<i32>) {
    // GNU parallel keeps files, and asks for the user's shell.
    let home = tempfile::tempdir().unwrap();
    let mut wrapped = Launcher::parse(launcher).unwrap().wrap(command, skip_code);
    let output = wrapped.env("PARALLEL_HOME", home.path()).env("SHELL", "/bin/sh").output().unwrap();
    (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}

fn script(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// Creates a program that treats its arguments like `ssh`: it takes the host, joins the others with spaces, and has a
/// new shell in another directory read the line.
fn ssh(dir: &Path) -> String {
    let text = "#!/bin/sh\nshift\ncd /\nexec env -i PATH=\"$PATH\" sh -c \"$*\"\n";
    format!("'{}' host", script(dir, "bin/ssh", text).display())
}

/// Returns GNU parallel's `sem`; `None`, with a visible message, where it is not installed.
fn sem() -> Option<String> {
    let version = Command::new("sem").arg("--version").output();
    if !version.is_ok_and(|output| output.stdout.starts_with(b"GNU parallel")) {
        assert!(env::var_os("CI").is_none(), "CI must have GNU parallel");
        // Not `eprintln!`: the harness would capture it.
        writeln!(std::io::stderr(), "*** SKIPPED in part: no GNU parallel ***").expect("standard error is there");
        return None;
    }
    Some("sem --fg -j1 --id launcher".into())
}

/// Launchers of all kinds.
fn launchers(dir: &Path) -> Vec<String> {
    let mut launchers = vec!["env BISECT_REPORT=x GONE=x".to_owned(), "nice -n 0".to_owned(), ssh(dir)];
    launchers.extend(cfg!(target_os = "linux").then(|| "setsid -w".to_owned()));
    launchers.extend(sem());
    launchers
}

#[test]
fn the_words_are_those_of_a_shell() {
    const EMPTY: &str = "`--launcher` needs a command, for example `--launcher 'srun -n1'`";
    const OPEN: &str =
        "in `--launcher`, a quote is not closed, or the text ends with a backslash: complete the command";
    for (text, expected) in [
        ("srun -n1 --exclusive", &["srun", "-n1", "--exclusive"] as &[_]),
        ("  a\tb\n", &["a", "b"]),
        ("'a b' \"c d\" e\\ f ''", &["a b", "c d", "e f", ""]),
        ("a 'it'\\''s' $HOME ~ *", &["a", "it's", "$HOME", "~", "*"]),
        ("a # not this", &["a"]),
        ("sem --fg", &["sem", "--fg"]),
        // Only for GNU parallel this option quotes.
        ("ssh -q host", &["ssh", "-q", "host"]),
    ] {
        assert_eq!(Launcher::parse(text).unwrap().words, expected, "{text}");
    }
    for (text, expected) in [
        ("", EMPTY),
        (" \t ", EMPTY),
        ("# nothing", EMPTY),
        ("'' a", EMPTY),
        ("'a", OPEN),
        ("a \"b", OPEN),
        ("a \\", OPEN),
        ("sem --fg -q", "leave the option `-q` out of `--launcher`: the command after it is quoted already"),
        (
            "parallel --semaphore --quote",
            "leave the option `--quote` out of `--launcher`: the command after it is quoted already",
        ),
    ] {
        let error = Launcher::parse(text).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn launchers_that_join_words_are_known_by_name() {
    for (text, expected) in [
        ("ssh host", Passing::Line),
        ("/usr/bin/ssh host", Passing::Line),
        ("ssh.exe host", Passing::Line),
        ("sem --fg", Passing::Template),
        ("/opt/bin/parallel --sem", Passing::Template),
        ("srun ssh", Passing::Words),
        ("sshpass ssh", Passing::Words),
        ("my-ssh", Passing::Words),
        ("/", Passing::Words),
    ] {
        assert_eq!(Launcher::parse(text).map(|launcher| launcher.passing), Ok(expected), "{text}");
    }
}

#[test]
fn everything_arrives_as_it_was_given() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("-it's {} a \"$PLACE\" \\").join("=");
    let program = script(&place, "-pro gram=", &format!("#!/bin/sh\n{SHOW}\n"));
    let value = OsStr::from_bytes(b"{} 'a' \"b\" $HOME\n\xff");
    for launcher in launchers(dir.path()) {
        let mut command = Command::new(&program);
        command.args(odd()).current_dir(&place).env("VALUE", value);
        command.env("BISECT_REPORT", "/nowhere").env_remove("GONE").env_remove("not a name");
        let (stdout, stderr, status) = run(&launcher, &command, 125);
        let expected = [place.as_os_str(), value, "none".as_ref(), "none".as_ref()].map(OsStr::as_bytes);
        let expected: Vec<_> = expected.into_iter().chain(ODD).collect();
        let found: Vec<_> = stdout.strip_suffix(b"\0").unwrap_or(&stdout).split(|&byte| byte == 0).collect();
        assert_eq!((found, stderr.as_str(), status), (expected, "", Some(0)), "{launcher}");
    }
}

#[test]
fn variables_with_names_that_shells_do_not_know_arrive() {
    let dir = tempfile::tempdir().unwrap();
    for launcher in launchers(dir.path()) {
        let mut command = Command::new("env");
        command.current_dir(dir.path()).env("CARGO_BIN_EXE_my-program", "/a b").env("-u", "x");
        let (stdout, stderr, status) = run(&launcher, &command, 125);
        let stdout = String::from_utf8(stdout).unwrap();
        for variable in ["CARGO_BIN_EXE_my-program=/a b", "-u=x"] {
            assert!(stdout.lines().any(|line| line == variable), "{launcher}: {variable}: {stdout}{stderr}");
        }
        assert_eq!(status, Some(0), "{launcher}: {stderr}");
    }
}

#[test]
fn a_program_by_name_is_looked_up_in_the_path_of_the_run() {
    let dir = tempfile::tempdir().unwrap();
    script(&dir.path().join("in path"), "hello", "#!/bin/sh\necho hello\n");
    for launcher in launchers(dir.path()) {
        let path = env::var_os("PATH").unwrap();
        let dirs = [dir.path().join("in path")].into_iter().chain(env::split_paths(&path));
        let mut command = Command::new("hello");
        command.current_dir("/").env("PATH", env::join_paths(dirs).unwrap());
        let (stdout, stderr, status) = run(&launcher, &command, 125);
        assert_eq!((stdout.as_slice(), stderr.as_str(), status), (b"hello\n".as_slice(), "", Some(0)), "{launcher}");
    }
}

#[test]
fn the_directory_is_this_one_if_none_is_given() {
    let (stdout, _, _) = run("env", &Command::new("pwd"), 125);
    assert_eq!(OsStr::from_bytes(stdout.trim_ascii_end()), env::current_dir().unwrap());
}

#[test]
fn the_status_of_the_command_is_passed_on() {
    let dir = tempfile::tempdir().unwrap();
    for launcher in launchers(dir.path()) {
        for status in [0, 1, 7, 101, 125] {
            let mut command = Command::new("sh");
            command.args(["-c", "exit $1", "sh", &status.to_string()]).current_dir("/");
            assert_eq!(run(&launcher, &command, 99).2, Some(status), "{launcher}");
        }
    }
}

#[test]
fn a_missing_directory_or_program_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).into_os_string().into_string().unwrap();
    let (missing, file, here) = (path("no such 'place'"), path("file"), path(""));
    fs::write(&file, "").unwrap();
    for launcher in launchers(dir.path()) {
        for (directory, program, word) in [
            (&missing, "true", &missing),
            (&file, "true", &file),
            (&here, missing.as_str(), &missing),
            (&here, file.as_str(), &file),
            (&here, "./missing", &"./missing".to_owned()),
        ] {
            let mut command = Command::new(program);
            command.current_dir(directory);
            let (_, stderr, status) = run(&launcher, &command, 77);
            assert_eq!(status, Some(77), "{launcher}: {directory} {program}: {stderr}");
            let line = stderr.lines().find(|line| line.starts_with("cargo-bisect-opt: where the launcher starts"));
            assert!(line.is_some_and(|line| line.contains(word)), "{launcher}: {directory} {program}: {stderr}");
        }
    }
    // Even with an invalid `--skip-code`, it is no success.
    for (skip_code, status) in [(1, 1), (255, 255), (0, 125), (-1, 125), (256, 125), (i32::MAX, 125)] {
        assert_eq!(run("env", Command::new("true").current_dir(&missing), skip_code).2, Some(status));
    }
}

#[test]
fn a_directory_for_temporary_files_is_used_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (there, missing) = (dir.path().join("th ere"), dir.path().join("missing"));
    fs::create_dir(&there).unwrap();
    for launcher in launchers(dir.path()) {
        for (scratch, is_used) in [(&there, true), (&missing, false)] {
            let mut command = Command::new("sh");
            command.args(["-c", "echo \"$TMPDIR\""]).current_dir("/").env("TMPDIR", scratch);
            let (stdout, stderr, _) = run(&launcher, &command, 125);
            let found = OsStr::from_bytes(stdout.trim_ascii_end()) == scratch;
            assert_eq!((found, stderr.as_str()), (is_used, ""), "{launcher}");
        }
    }
}

#[test]
fn the_launcher_has_our_environment_and_the_number_of_the_slot() {
    let mut command = Command::new("true");
    command
        .env("BISECT_SLOT", "3")
        .env("LD_LIBRARY_PATH", "/x")
        .env("BISECT_REPORT", "/x")
        .env_remove("BISECT_PATTERN");
    let launched = Launcher::parse("srun -n1").unwrap().wrap(&command, 125);
    let variables: Vec<_> = launched.get_envs().collect();
    let expected = [("BISECT_PATTERN", None), ("BISECT_REPORT", None), ("BISECT_SLOT", Some("3"))];
    assert_eq!(variables, expected.map(|(name, value)| (OsStr::new(name), value.map(OsStr::new))));
    assert_eq!((launched.get_program(), launched.get_args().next()), ("srun".as_ref(), Some("-n1".as_ref())));
    assert_eq!(launched.get_current_dir(), None);
}
