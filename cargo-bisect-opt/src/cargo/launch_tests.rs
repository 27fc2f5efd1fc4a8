//! Executables started by the driver and by cargo: both get the same directory, variables and arguments.

use std::{collections::BTreeMap, process::Command};

use crate::{
    cargo::{BuildOutput, BuildOverrides, Project, Subcommand, project::cargo_for_tests},
    fixture::Fixture,
    process::interrupt::Interrupt,
};

/// Writes its variables, directory and arguments to a file.
const DUMP: &str = "
fn dump(to: &str) {
    use std::fmt::Write;

    let mut text = String::new();
    for (name, value) in std::env::vars_os() { writeln!(text, \"{name:?}={value:?}\").unwrap(); }
    writeln!(text, \"directory={:?}\", std::env::current_dir().unwrap()).unwrap();
    writeln!(text, \"arguments={:?}\", std::env::args_os().skip(1).collect::<Vec<_>>()).unwrap();
    std::fs::write(std::path::Path::new(env!(\"CARGO_MANIFEST_DIR\")).join(to), text).unwrap();
}
";

fn fixture() -> Fixture {
    let library = format!("{DUMP}#[test] fn test() {{ dump(\"library\") }}");
    let program = format!("{DUMP}fn main() {{ dump(\"program\") }}");
    let integration = format!("{DUMP}#[test] fn test() {{ dump(\"integration\") }}");
    Fixture::new(&[
        ("Cargo.toml", "[workspace]\nmembers = ['member']\nresolver = '3'\n"),
        (
            "member/Cargo.toml",
            "[package]\nname = 'a-member'\nversion = '1.2.3-rc.4'\nedition = '2024'\nauthors = ['A B', 'C']\n\
             description = 'what'\nlicense = 'MIT'\nrust-version = '1.85'\nrepository = 'https://example.com'\n",
        ),
        (
            "member/build.rs",
            "fn main() {
                println!(\"cargo::rustc-env=FROM_SCRIPT=yes\");
                println!(\"cargo::rustc-link-search=native={}\", std::env::var(\"OUT_DIR\").unwrap());
                println!(\"cargo::rustc-link-search=/elsewhere\");
            }",
        ),
        ("member/src/lib.rs", &library),
        ("member/src/main.rs", &program),
        ("member/tests/integration.rs", &integration),
        (
            ".cargo/config.toml",
            "[env]\nPLAIN = 'a'\nHOME = 'not forced'\nCARGO_PKG_NAME = 'not cargo'\nPATH_LIKE = { value = 'x', relative = true }\n",
        ),
        ("user/.keep", ""),
    ])
}

/// Returns the lines that the executables have written.
fn dumps(fixture: &Fixture, names: &[&str]) -> BTreeMap<String, Vec<String>> {
    let dump = |name: &&str| {
        let path = fixture.path().join("member").join(name);
        let text = fs_err::read_to_string(&path).unwrap();
        fs_err::remove_file(path).unwrap();
        let mut lines: Vec<_> = text
            .lines()
            // Set by a shell, by rustup, or for the target directory, which is that of the driver.
            .filter(|line| !["\"_\"", "\"RUST", "\"SHLVL"].iter().any(|other| line.starts_with(other)))
            .map(str::to_owned)
            .collect();
        lines.sort();
        (name.to_string(), lines)
    };
    names.iter().map(dump).collect()
}

/// Builds as the driver does and starts all executables; then has cargo do the same in the same directory.
fn compare(subcommand: Subcommand, line: &str, names: &[&str]) {
    let fixture = fixture();
    let (cargo_words, target_words) = line.split_once(" -- ").unwrap_or((line, ""));
    let split = |line: &str| line.split_whitespace().map(Into::into).collect::<Vec<std::ffi::OsString>>();
    let (cargo_words, target_words) = (split(cargo_words), split(target_words));
    let user = fixture.path().join("user");
    let own_words = [vec!["-C".into(), user.clone().into()], cargo_words.clone()].concat();
    let project = Project::load(subcommand, &own_words, &target_words).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let log = scratch.path().join("log");
    let artifacts = project
        .build_in(0, &BuildOverrides::default(), BuildOutput::Log(&log), scratch.path(), &Interrupt::default())
        .unwrap();
    let mut order = Vec::new();
    for executable in project.executables(&artifacts).unwrap() {
        let launch = project.launch(&artifacts, executable);
        let output = launch.command(&project.arguments()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        order.push(executable.to_string());
    }
    let ours = dumps(&fixture, names);

    let config = cargo_for_tests(&project, &artifacts.target_dir);
    let mut cargo = Command::new(config.get_program());
    for (name, value) in config.get_envs() {
        match value {
            Some(value) => cargo.env(name, value),
            None => cargo.env_remove(name),
        };
    }
    cargo.arg(subcommand.name()).arg("--target-dir").arg(&artifacts.target_dir);
    cargo.args(cargo_words).arg("--").args(target_words).current_dir(user);
    let output = cargo.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let mut theirs = dumps(&fixture, names);
    // The driver's variables for cargo are not for the executables.
    let of_the_build = ["\"CARGO_ENCODED_RUSTFLAGS\"", "\"CARGO_PROFILE_RELEASE_"];
    for lines in theirs.values_mut() {
        lines.retain(|line| !of_the_build.iter().any(|name| line.starts_with(name)));
    }
    assert_eq!(ours, theirs);
    if subcommand == Subcommand::Test {
        let running = text.lines().filter_map(|line| line.trim().strip_prefix("Running "));
        let sources: Vec<_> = running.filter_map(|line| line.split_once(" (")).map(|(source, _)| source).collect();
        assert_eq!(order.iter().map(|line| line.split_once(" (").unwrap().0).collect::<Vec<_>>(), sources);
    }
}

#[test]
fn tests_are_started_as_cargo_starts_them() {
    compare(Subcommand::Test, "-p a-member --lib --bins --tests test -- --test-threads 1", &["library", "integration"]);
}

#[test]
fn programs_are_started_as_cargo_starts_them() {
    compare(Subcommand::Run, "-p a-member -- a --b", &["program"]);
}

#[test]
fn programs_for_a_target_are_started_through_its_runner() {
    let fixture = fixture();
    let host = super::Config::load(&super::super::Arguments::default(), &std::env::vars_os().collect::<Vec<_>>());
    let host = host.unwrap().triple;
    let runner = format!("[target.{host}]\nrunner = ['env', 'RUNNER=yes']\n");
    fixture.write(".cargo/config.toml", &runner);
    let words = fixture.words(&format!("-p a-member --target {host}"));
    let project = Project::load(Subcommand::Run, &words, &[]).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let log = scratch.path().join("log");
    let artifacts = project
        .build_in(0, &BuildOverrides::default(), BuildOutput::Log(&log), scratch.path(), &Interrupt::default())
        .unwrap();
    let executable = project.executables(&artifacts).unwrap()[0];
    assert!(executable.path.starts_with(artifacts.target_dir.join(&host)), "{executable:?}");
    let launch = project.launch(&artifacts, executable);
    assert!(launch.command(&[]).status().unwrap().success());
    let lines = &dumps(&fixture, &["program"])["program"];
    assert!(lines.contains(&"\"RUNNER\"=\"yes\"".to_owned()), "{lines:#?}");
    let libraries = lines.iter().find(|line| line.starts_with(&format!("\"{}\"", super::LIBRARY_PATH))).unwrap();
    let own = artifacts.target_dir.join(&host).join("debug/deps");
    assert!(libraries.contains(own.to_str().unwrap()), "{libraries}");
}
