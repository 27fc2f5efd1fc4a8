//! Tests of the command line: the parsed options, and the errors.

use std::{num::NonZeroUsize, time::Duration};

use super::*;
use crate::{
    commands::options::{ExecTarget, PerTestArg},
    run::repetition::Repetition,
};

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(Into::into).collect()
}

/// Parses a command line without defaults.
fn parse_alone(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    parse(words, &DefaultSources { variables: Vec::new(), tables: Box::new(|_| Ok(Vec::new())) })
}

fn cli(line: &str) -> Cli {
    parse_alone(words(line)).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn the_searches_without_annotation_are_options() {
    let text = table::without_toggles();
    let options: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix("  --")?.split(['=', '[', ' ']).next()).collect();
    assert_eq!(options.len(), table::OPTIONS.len() + 3, "{text}");
    for option in options {
        assert!(has_option("test", option), "{option}");
    }
}

#[test]
fn our_options_are_found_anywhere_among_cargos() {
    for line in [
        "cargo-bisect-opt bisect-opt test --toggle a -p newsort --timeout 5s --features story -v sort -- --skip x -q",
        "cargo-bisect-opt test -p newsort --features story sort --timeout=5s -v --toggle=a -- --skip x -q",
    ] {
        let Command::Test(args) = cli(line).command else { panic!("{line}") };
        let args = args.cargo;
        assert_eq!(args.words.cargo, words("-p newsort --features story sort"));
        assert_eq!(args.words.target, words("--skip x -q"));
        assert_eq!(args.toggles, ["a"]);
        assert_eq!(args.search.timeout, Some(Duration::from_secs(5)));
        assert!(args.show.verbose && !args.show.quiet);
    }
}

#[test]
fn a_build_takes_cargos_arguments_too() {
    for name in ["build", "check"] {
        let line = format!("cargo-bisect-opt bisect-opt {name} --codegen -p x --timeout 5s --release --keep-going");
        let (Command::Build(args) | Command::Check(args)) = cli(&line).command else { panic!("{line}") };
        assert_eq!(args.words.cargo, words("-p x --release --keep-going"));
        assert!(args.codegen.codegen && args.search.timeout == Some(Duration::from_secs(5)));
    }
}

#[test]
fn flags_for_the_compiler_may_start_with_a_dash() {
    let Command::Run(args) = cli("cargo-bisect-opt run --rustflags -Zmy-pass=PATTERN --bin x").command else {
        panic!("run")
    };
    assert_eq!(args.rustflags.as_deref(), Some("-Zmy-pass=PATTERN"));
    assert_eq!(args.words.cargo, words("--bin x"));
}

#[test]
fn a_value_that_may_be_left_out_is_no_option_and_no_word_of_cargos() {
    for (line, since, per_test, cargo) in [
        ("--since main -p x", Some(Some("main")), PerTestArg::Auto, "-p x"),
        ("--since -p x", Some(None), PerTestArg::Auto, "-p x"),
        ("--since=v1 sort", Some(Some("v1")), PerTestArg::Auto, "sort"),
        ("--per-test sort", None, PerTestArg::Always, "sort"),
        ("--per-test=never sort", None, PerTestArg::Never, "sort"),
    ] {
        let Command::Test(args) = cli(&format!("cargo-bisect-opt test {line}")).command else { panic!("{line}") };
        assert_eq!(args.cargo.search.since, since.map(|rev| rev.map(str::to_owned)), "{line}");
        assert_eq!((args.per_test, args.cargo.words.cargo), (per_test, words(cargo)), "{line}");
    }
}

#[test]
fn the_number_of_jobs() {
    for (line, jobs) in [("", 1), ("-j 4", 4), ("-j16", 16)] {
        let Command::Test(args) = cli(&format!("cargo-bisect-opt test {line} --jobs 3")).command else { panic!() };
        assert_eq!(args.cargo.search.jobs.get(), jobs, "{line}");
        assert_eq!(args.cargo.words.cargo, words("--jobs 3"), "cargo's own");
    }
    let Command::Test(args) = cli("cargo-bisect-opt test -j0").command else { panic!() };
    assert_eq!(args.cargo.search.jobs, std::thread::available_parallelism().unwrap());
}

#[test]
fn a_switch_that_may_be_on_takes_no_word_of_cargos() {
    for (line, expected, cargo) in [
        ("--same-failure sort", true, "sort"),
        ("--same-failure=yes sort", true, "sort"),
        ("--same-failure=no sort", false, "sort"),
        ("sort", true, "sort"),
    ] {
        let Command::Test(args) = cli(&format!("cargo-bisect-opt test {line}")).command else { panic!("{line}") };
        assert_eq!(args.cargo.search.same_failure(), expected, "{line}");
        assert_eq!(args.cargo.words.cargo, words(cargo), "{line}");
    }
}

#[test]
fn a_run_may_have_several_executions() {
    let three = NonZeroUsize::new(3).unwrap();
    for (line, repetition) in [
        ("", Repetition::Once),
        ("--repeat 3", Repetition::UntilFailure(three)),
        ("--any-pass 3", Repetition::UntilPass(three)),
    ] {
        let Command::Test(args) = cli(&format!("cargo-bisect-opt test {line}")).command else { panic!("{line}") };
        assert_eq!(args.cargo.search.repetition(), repetition, "{line}");
    }
}

#[test]
fn a_confidence_is_a_probability() {
    for (text, number) in [("0.5", Some(0.5)), ("0.999", Some(0.999)), ("1", None), ("0.4", None), ("99%", None)] {
        let line = words(&format!("cargo-bisect-opt test --confidence {text}"));
        match (parse_alone(line), number) {
            (Ok(Cli { command: Command::Test(args) }), Some(_)) => {
                assert_eq!(args.cargo.search.confidence, number, "{text}");
            }
            (Err(error), None) => assert!(error.to_string().contains("a number from 0.5 to 1"), "{error}"),
            (result, _) => panic!("{text}: {result:?}"),
        }
    }
}

#[test]
fn the_words_of_exec_are_the_targets() {
    let line = "cargo-bisect-opt exec --max 2 A=PATTERN B=1 ./run -v --max 3 -- PATTERN";
    let Command::Exec(ExecTarget { exec: args, .. }) = cli(line).command else { panic!("exec") };
    assert_eq!(args.search.max, NonZeroUsize::new(2));
    assert_eq!(args.words, words("A=PATTERN B=1 ./run -v --max 3 -- PATTERN"));
}

#[test]
fn an_option_that_nobody_knows_is_a_slip() {
    for (line, facts) in [
        ("test --toogle a", &["no option `--toogle`", "did you mean `--toggle`?", "--cargo-arg=--toogle"][..]),
        ("toggles --relase", &["did you mean `--release`?"]),
        ("run --max-rusn=3 file", &["did you mean `--max-runs`?"]),
        ("test -Y", &["no option `-Y`"]),
        ("check --wonderfully-new", &["no option `--wonderfully-new`\n", "--cargo-arg=--wonderfully-new"]),
    ] {
        let error = parse_alone(words(&format!("cargo-bisect-opt {line}"))).unwrap_err();
        assert!(error.use_stderr());
        let text = error.to_string();
        assert!(facts.iter().all(|fact| text.contains(fact)), "{text}");
    }
}

#[test]
fn an_option_of_the_test_harness_follows_two_dashes() {
    for (line, fact) in [
        ("test --nocapture", "help: it is an option of the test harness: write it after `--`, as in `-- --nocapture`"),
        ("test sort --skip=slow", "as in `-- --skip`"),
        ("watch name test --test-threads=1", "as in `-- --test-threads`"),
    ] {
        let error = parse_alone(words(&format!("cargo-bisect-opt {line}"))).unwrap_err().to_string();
        assert!(error.contains(fact) && !error.contains("--cargo-arg") && !error.contains("did you mean"), "{error}");
    }
    // A program has no harness, and neither has a list of toggles.
    for line in ["run --nocapture", "toggles --nocapture"] {
        let error = parse_alone(words(&format!("cargo-bisect-opt {line}"))).unwrap_err().to_string();
        assert!(error.contains("--cargo-arg=--nocapture"), "{error}");
    }
}

#[test]
fn an_option_of_a_search_is_no_command() {
    for option in table::OPTIONS.iter().map(|option| option.name).chain(["codegen", "edition", "victim"]) {
        for dashes in ["", "--"] {
            let error = parse_alone(words(&format!("cargo-bisect-opt {dashes}{option}"))).unwrap_err().to_string();
            let fact = format!("help: for example `cargo bisect-opt test --{option}");
            assert!(error.contains("is an option: write a command before it") && error.contains(&fact), "{error}");
        }
    }
    for (line, fact) in [
        ("bisect-opt --diff=HEAD~1 -p x", "`--diff` is an option"),
        ("--diff=HEAD~1", "help: for example `cargo bisect-opt test --diff=HEAD~1`"),
        ("commits A..B", "help: for example `cargo bisect-opt test --commits=GOOD"),
        ("features-of a", "help: for example `cargo bisect-opt test --features-of="),
    ] {
        let error = parse_alone(words(&format!("cargo-bisect-opt {line}"))).unwrap_err().to_string();
        assert!(error.contains(fact), "{error}");
    }
    for (line, fact) in [("tset", "unrecognized subcommand"), ("--dfif", "unexpected argument"), ("--help", "Usage:")] {
        let error = parse_alone(words(&format!("cargo-bisect-opt {line}"))).unwrap_err().to_string();
        assert!(error.contains(fact), "{error}");
    }
}

#[test]
fn an_argument_can_be_handed_to_cargo_unseen() {
    let line = "cargo-bisect-opt run --max 2 --cargo-arg=--new=1 --cargo-arg -Y --bin x file --its-own";
    let Command::Run(args) = cli(line).command else { panic!("run") };
    assert_eq!(args.words.cargo, words("--new=1 -Y --bin x file --its-own"));
}

#[test]
fn usage_errors_are_refused() {
    for line in [
        "cargo-bisect-opt",
        "cargo-bisect-opt exec",
        "cargo-bisect-opt exec --nonsense A=PATTERN true",
        "cargo-bisect-opt nonsense",
        "cargo-bisect-opt test --timeout soon",
        "cargo-bisect-opt test --count 0",
        "cargo-bisect-opt test --max -1",
        "cargo-bisect-opt test --repeat 2 --any-pass 2",
        "cargo-bisect-opt test --repeat 0",
        "cargo-bisect-opt test --seed -1",
        "cargo-bisect-opt test --seed 9007199254740992",
        "cargo-bisect-opt test --same-failure=maybe",
        "cargo-bisect-opt test --fail-when (",
        "cargo-bisect-opt test -v -q",
        "cargo-bisect-opt test --toggle",
        "cargo-bisect-opt test --color blue",
        "cargo-bisect-opt test -j x",
        "cargo-bisect-opt test -j -1",
        "cargo-bisect-opt test --per-test=often",
        "cargo-bisect-opt test --per-test --all-tests",
        "cargo-bisect-opt test --launcher=",
        "cargo-bisect-opt test --launcher \"",
    ] {
        assert!(parse_alone(words(line)).is_err(), "{line}");
    }
}

#[test]
fn help_reads_as_sentences_without_a_period() {
    for command in Cli::command().get_subcommands() {
        for arg in command.get_arguments() {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty() && !help.ends_with('.'), "{} {:?}: {help:?}", command.get_name(), arg.get_id());
            assert!(help.starts_with(char::is_uppercase), "{}: {help:?}", command.get_name());
        }
    }
}

#[test]
fn bisect_rustc_has_its_old_name_too() {
    for option in ["--bisect-rustc", "--driver"] {
        for line in [format!("{option} path"), format!("{option}=path")] {
            let words = format!("cargo-bisect-opt test --codegen {line} -p x");
            let cli = parse_alone(words.split_whitespace().map(Into::into).collect()).unwrap();
            let Command::Test(args) = cli.command else { panic!("{line}") };
            assert_eq!(args.cargo.bisect_rustc.as_deref(), Some("path".as_ref()), "{line}");
            assert_eq!(args.cargo.words.cargo, ["-p", "x"], "{line}");
        }
    }
}
