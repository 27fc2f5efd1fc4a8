//! Pages and scripts about the driver: help, completions in real shells, and man pages.

use std::{
    env, fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use bisect_tests::harness::{Finished, Scratch, driver, run, scrubbed};

/// Completes the command lines in the file `lines`, and prints `LINE => WORDS` for each.
const COMPLETE_IN_BASH: &str = r#"
_other_completion() { COMPREPLY=(by-cargos-own); }
complete -F _other_completion cargo
source ./script
while IFS= read -r line; do
    read -ra COMP_WORDS <<< "$line"
    [[ $line == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    spec=$(complete -p "${COMP_WORDS[0]}") && spec=${spec#*-F }
    "${spec%% *}" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "$line => ${COMPREPLY[*]}"
done < lines
"#;

/// Returns true if a program can be started. If it cannot, this is announced, and fails where `CI` is set.
fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !found {
        assert!(env::var_os("CI").is_none(), "CI must have {program}");
        // Not `eprintln!`: the harness would capture it.
        writeln!(std::io::stderr(), "*** SKIPPED: no {program} in PATH ***").expect("standard error is there");
    }
    found
}

fn completions(scratch: &Scratch, shell: &str) {
    let script = run(&mut scratch.driver(["completions", shell])).expect_status(0).stdout;
    scratch.write("script", &script);
}

/// Completes these lines in bash, and returns what it printed.
fn in_bash(scratch: &Scratch, lines: &str) -> String {
    completions(scratch, "bash");
    scratch.write("lines", lines);
    let mut bash = scrubbed(Path::new("bash"), scratch.dir());
    bash.args(["--norc", "-c", COMPLETE_IN_BASH]);
    run(&mut bash).expect_status(0).stdout
}

#[test]
fn bash_completes_commands_options_and_values() {
    if !is_there("bash") {
        return;
    }
    let scratch = Scratch::new();
    let lines = "cargo-bisect-opt tes\ncargo-bisect-opt test --confi\ncargo-bisect-opt report --format sar\n\
                 cargo-bisect-opt count --max-c\ncargo-bisect-opt completions zs\n";
    let expected = "cargo-bisect-opt tes => test\ncargo-bisect-opt test --confi => --confidence\n\
                    cargo-bisect-opt report --format sar => sarif\ncargo-bisect-opt count --max-c => --max-count\n\
                    cargo-bisect-opt completions zs => zsh\n";
    assert_eq!(in_bash(&scratch, lines), expected);
}

#[test]
fn bash_completes_the_subcommand_of_cargo_too() {
    if !is_there("bash") {
        return;
    }
    let scratch = Scratch::new();
    let lines = "cargo bisect-opt repl\ncargo bisect-opt test --color n\ncargo +nightly bisect-opt exec --any\n\
                 cargo-bisect-opt bisect-opt wat\ncargo buil\ncargo \ncargo test --bisect-opt --n\n";
    let expected = "cargo bisect-opt repl => replay\ncargo bisect-opt test --color n => never\n\
                    cargo +nightly bisect-opt exec --any => --any-pass\ncargo-bisect-opt bisect-opt wat => watch\n\
                    cargo buil => by-cargos-own\ncargo  => by-cargos-own\n\
                    cargo test --bisect-opt --n => by-cargos-own\n";
    assert_eq!(in_bash(&scratch, lines), expected);
}

#[test]
fn fish_completes_the_subcommand_of_cargo_too() {
    if !is_there("fish") {
        return;
    }
    let scratch = Scratch::new();
    completions(&scratch, "fish");
    let complete = |line: &str| -> Vec<String> {
        let mut fish = scrubbed(Path::new("fish"), scratch.dir());
        fish.env("HOME", scratch.dir()).args(["--no-config", "-c", &format!("source ./script; complete -C {line:?}")]);
        let offered = run(&mut fish).expect_status(0).stdout;
        offered.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(complete("cargo-bisect-opt repl"), ["replay"]);
    assert_eq!(complete("cargo-bisect-opt bisect-opt repl"), ["replay"]);
    assert_eq!(complete("cargo bisect-opt repl"), ["replay"]);
    assert_eq!(complete("cargo bisect-opt test --any-p"), ["--any-pass"]);
}

#[test]
fn zsh_accepts_the_script() {
    if !is_there("zsh") {
        return;
    }
    let scratch = Scratch::new();
    completions(&scratch, "zsh");
    // Cargo's completion calls the function by this name.
    let mut zsh = scrubbed(Path::new("zsh"), scratch.dir());
    zsh.args(["-f", "-c", "autoload -U compinit && compinit -u -D && source ./script && whence -w _cargo-bisect-opt"]);
    assert_eq!(run(&mut zsh).expect_status(0).stdout, "_cargo-bisect-opt: function\n");
}

/// Writes the man pages, and returns their names.
fn man_pages(scratch: &Scratch) -> Vec<String> {
    assert_eq!(run(&mut scratch.driver(["man", "new/man1"])).expect_status(0).stdout, "");
    let names = fs::read_dir(scratch.dir().join("new/man1")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn each_command_has_a_man_page() {
    let scratch = Scratch::new();
    let overview = run(&mut scratch.driver(["--help"])).expect_status(0).stdout;
    let (_, commands) = overview.split_once("Commands:\n").unwrap();
    let commands = commands.lines().map_while(|line| line.strip_prefix("  ")?.split(' ').next());
    let mut expected: Vec<_> = commands.map(|command| format!("cargo-bisect-opt-{command}.1")).collect();
    assert!(expected.len() > 10, "{overview}");
    expected.push("cargo-bisect-opt.1".to_owned());
    expected.sort();
    assert_eq!(man_pages(&scratch), expected);
}

#[test]
fn man_shows_the_pages_without_a_warning() {
    if !is_there("man") {
        return;
    }
    let scratch = Scratch::new();
    for name in man_pages(&scratch) {
        let mut man = scrubbed(Path::new("man"), scratch.dir());
        man.args(["--warnings", "-l"]).arg(format!("new/man1/{name}")).env("MANPAGER", "cat").env("MANWIDTH", "100");
        let Finished { stdout, stderr, .. } = run(&mut man).expect_status(0);
        assert_eq!(stderr, "", "{name}");
        let page = stdout.replace('\u{2010}', "-");
        assert!(page.contains("SYNOPSIS") && page.contains("EXIT STATUS") && page.contains("book/src/"), "{page}");
        assert!(name != "cargo-bisect-opt-test.1" || page.contains("--message-format <FORMAT>"), "{page}");
    }
}

#[test]
fn mandoc_finds_no_error_in_the_pages() {
    if !is_there("mandoc") {
        return;
    }
    let scratch = Scratch::new();
    let names = man_pages(&scratch);
    let mut mandoc = scrubbed(Path::new("mandoc"), &scratch.dir().join("new/man1"));
    let linted = run(mandoc.args(["-T", "lint", "-W", "error"]).args(names)).expect_status(0);
    assert_eq!((&*linted.stdout, &*linted.stderr), ("", ""));
}

#[test]
fn the_reference_of_a_command_has_what_the_screen_leaves_out() {
    let scratch = Scratch::new();
    let screen = run(&mut scratch.driver(["test", "--help"])).expect_status(0).stdout;
    let reference = run(&mut scratch.driver(["help", "test"])).expect_status(0).stdout;
    for fact in ["--cargo-arg <ARG>", "The first-parent commits after GOOD", "- markdown:"] {
        assert!(!screen.contains(fact) && reference.contains(fact), "{fact}:\n{reference}");
    }
    let overview = run(&mut scratch.driver(["help"])).expect_status(0).stdout;
    assert!(overview.contains("Commands:") && overview.contains("Exit status:"), "{overview}");
}

#[test]
fn help_for_no_command_is_a_usage_error() {
    let scratch = Scratch::new();
    let refused = run(&mut scratch.driver(["help", "tset"])).expect_status(2);
    refused.expect_message(&["there is no command `tset`", "`cargo bisect-opt help` lists all commands"]);
}

#[test]
fn man_pages_need_a_directory() {
    let scratch = Scratch::new();
    scratch.write("file", "");
    let refused = run(&mut scratch.driver(["man", "file/man1"])).expect_status(3);
    refused.expect_message(&["the man pages cannot be written", "file/man1", "choose another directory"]);
}

#[test]
fn a_reader_of_help_may_leave_early() {
    let mut help = Command::new(driver()).args(["help", "test"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(help.stdout.take());
    assert!(help.wait().unwrap().success());
}
