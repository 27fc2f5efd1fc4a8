//! `cargo bisect-opt count`: steps of a counter as changes, with commands that do not know our protocol.
#![cfg(unix)]

use bisect_tests::harness::{Finished, Scratch, paste, run, scrubbed};

fn search(scratch: &Scratch, options: &[&str], script: &str) -> Finished {
    let mut command = scratch.driver(["count", "--json"]);
    command.args(options).args(["sh", "-c", script, "sh", "COUNT"]);
    run(&mut command)
}

/// Returns the name of the only change of the only culprit.
#[track_caller]
fn only_step(finished: &Finished) -> String {
    let [found] = &finished.events_of("found")[..] else { panic!("one culprit: {finished}") };
    let [change] = &found["changes"].as_array().unwrap()[..] else { panic!("one step: {finished}") };
    assert_eq!(change["kind"], "count", "{finished}");
    change["name"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_first_step_that_breaks_the_command_is_found() {
    let scratch = Scratch::new();
    for (step, count) in [(1, 1), (1, 1000), (321, 1000), (1000, 1000), (654_321, 1_000_000)] {
        let (max, script) = (count.to_string(), format!("test $1 -lt {step}"));
        let finished = search(&scratch, &["--max-count", &max], &script).expect_status(0);
        assert_eq!(only_step(&finished), format!("step {step}"));
        // The engine's bound: log2 N + 1, and 4.
        let trials = finished.events_of("end")[0]["trials"].as_u64().unwrap();
        assert!(trials <= u64::from(u32::ilog2(count)) + 1 + 4, "{finished}");
        assert_eq!(finished.events_of("start")[0]["axis"], "count");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn without_a_number_powers_of_two_are_tried_first() {
    let scratch = Scratch::new();
    for (step, powers) in [(1, 1), (2, 2), (77, 8), (128, 8)] {
        let script = format!("echo $1 >> counts; test $1 -lt {step}");
        let finished = search(&scratch, &[], &script).expect_status(0);
        assert_eq!(only_step(&finished), format!("step {step}"));
        let counts = std::fs::read_to_string(scratch.dir().join("counts")).unwrap();
        std::fs::remove_file(scratch.dir().join("counts")).unwrap();
        let end = &finished.events_of("end")[0];
        let made = [&end["runs"], &end["pasted"]].map(|count| count.as_u64().unwrap());
        assert_eq!(counts.lines().count() as u64, made[0] + made[1], "{finished}");
        let tried: Vec<u32> = counts.lines().map(|count| count.parse().unwrap()).take(powers).collect();
        assert_eq!(tried, (0..powers).map(|bits| 1 << bits).collect::<Vec<_>>(), "{finished}");
        assert!(counts.lines().all(|count| count.parse::<u32>().unwrap() <= 1 << (powers - 1)), "{counts}");
    }
    let finished = search(&scratch, &[], "exit 0").expect_status(1);
    assert_eq!(finished.events_of("start")[0]["target"], "sh -c 'exit 0' sh COUNT");
}

#[test]
fn the_limit_of_runs_counts_for_all_of_the_command() {
    let scratch = Scratch::new();
    // 1 and 7 end among the powers of two, 8 after them, and 9 in the search that follows.
    for max in [1, 7, 8, 9] {
        let finished = search(&scratch, &["--max-runs", &max.to_string()], "test $1 -lt 77").expect_status(5);
        assert_eq!(finished.events_of("end")[0]["runs"], max, "{finished}");
        finished.expect_message(&["stopped at --max-runs"]);
    }
}

#[test]
fn the_line_about_the_step_is_the_commands_own() {
    let scratch = Scratch::new();
    let script = r#"for i in $(seq $1); do echo "step ($i) is $((i * i))"; done; echo done; test $1 -lt 25"#;
    let options = ["--max-count=60", "--label", r"^step \("];
    let finished = search(&scratch, &options, script).expect_status(0);
    assert_eq!(only_step(&finished), "step 25: step (25) is 625");
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    assert!(line.ends_with(" sh 25"), "{line}");
    let _ = run(scrubbed("sh".as_ref(), scratch.dir()).args(["-c", &line])).expect_status(1);
    let passes = finished.events_of("found")[0]["passes"].as_str().unwrap().to_owned();
    assert!(passes.ends_with(" sh 24"), "{passes}");
    let mut command = scratch.driver(["count"]);
    let for_people = run(command.args(options).args(["sh", "-c", script, "sh", "COUNT"])).expect_status(0);
    assert!(for_people.stdout.contains("up to the step before this one the target passes"), "{for_people}");
}

#[test]
fn flaky_and_parallel_searches_find_the_same() {
    let scratch = Scratch::new();
    // From step 40 on, the target fails in half of the runs: those whose random number ends with 0 to 4.
    let script = "test $1 -lt 40 || case $2 in *[01234]) exit 1; esac";
    let mut command = scratch.driver(["count", "--json", "--max-count=64", "--confidence=0.99", "--seed=1"]);
    let finished = run(command.args(["sh", "-c", script, "sh", "COUNT", "RANDOM"])).expect_status(0);
    assert_eq!(only_step(&finished), "step 40");
    let rate = finished.events_of("found")[0]["noise"]["with"]["mean"].as_f64().unwrap();
    assert!((0.2..0.8).contains(&rate), "{finished}");
    let finished = search(&scratch, &["--max-count=1000", "-j3"], "test $1 -lt 77").expect_status(0);
    assert_eq!(only_step(&finished), "step 77");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_pass_of_llvm_that_changes_the_code_is_found() {
    // A real compiler with its own counter: which pass removes the variable from memory?
    let scratch = Scratch::new();
    scratch.write(
        "lib.rs",
        "#[unsafe(no_mangle)]\npub fn sum(n: u32) -> u32 { let mut s = 0; for i in 0..n { s += i * i; } s }\n",
    );
    let flags = "-O -C codegen-units=1 -Z mir-opt-level=0 --crate-type=lib --emit=llvm-ir -o out.ll";
    let script = format!(
        "d=$(mktemp -d); RUSTC_BOOTSTRAP=1 rustc --edition=2024 lib.rs {} -C llvm-args=-opt-bisect-limit=$1 &&
        grep -q alloca $d/out.ll; s=$?; rm -r $d; exit $s",
        flags.replace("out.ll", "$d/out.ll")
    );
    let options = ["--max-count=2000", "--label", "^BISECT: running pass"];
    let finished = search(&scratch, &options, &script).expect_status(0);
    let step = only_step(&finished);
    assert!(step.contains("BISECT: running pass (") && step.to_lowercase().contains("sroa on sum"), "{step}");
}

#[test]
fn what_cannot_be_searched_is_said() {
    let scratch = Scratch::new();
    for (words, status, facts) in [
        (&["count", "--max-count=0", "true", "COUNT"][..], 2, &["--max-count", "from 1 to"][..]),
        (&["count", "--max-count=9", "--label=(", "true", "COUNT"], 2, &["--label"]),
        (&["count", "--max-count=9", "true"], 2, &["the word COUNT must stand", "--limit=COUNT"]),
        (&["count", "--max-count=9", "true", "COUNT"], 1, &["passes with every change"]),
    ] {
        run(&mut scratch.driver(words.iter().copied())).expect_status(status).expect_message(facts);
    }
}

#[test]
fn the_failure_with_every_step_is_not_taken_for_an_earlier_one() {
    let scratch = Scratch::new();
    let script = "test $1 -lt 40 && exit 0; test $1 -lt 60 && exit 132; exit 101";
    let finished = search(&scratch, &["--max-count=100"], script).expect_status(0);
    let first = &finished.events_of("found")[0];
    assert_eq!(first["changes"][0]["name"], "step 60", "{finished}");
    let answer = scratch.read("bisect.out/result.json");
    assert!(answer.contains("up to the step before this one the target fails in another way"), "{answer}");
}

#[test]
fn the_line_that_passes_takes_the_most_steps_that_have_passed() {
    let scratch = Scratch::new();
    // It cannot be tested with 40 to 59 steps.
    let script = "[ $1 -lt 40 ] || [ $1 -ge 60 ] || exit 125; [ $1 -lt 60 ]";
    let mut command = scratch.driver(["count", "--json", "--max-count", "100"]);
    command.args(["sh", "-c", script, "sh", "COUNT"]);
    let finished = run(&mut command).expect_status(5);
    assert_eq!(paste(&command, &finished), 2, "{finished}");
    let passes = finished.events_of("found")[0]["passes"].as_str().unwrap().to_owned();
    let steps: u8 = passes.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((25..40).contains(&steps), "{passes}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_flaky_step_has_a_line_with_the_runs_that_show_it() {
    let scratch = Scratch::new();
    // Every third run with 5 steps fails.
    let script = "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; [ $1 -lt 5 ] || [ $((n % 3)) != 0 ]";
    let mut command = scratch.driver(["count", "--json", "--max-count", "8", "--confidence=0.99", "--seed=1"]);
    command.args(["sh", "-c", script, "sh", "COUNT"]);
    let finished = run(&mut command).expect_status(0);
    assert_eq!(only_step(&finished), "step 5");
    assert_eq!(paste(&command, &finished), 2, "{finished}");
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    assert!(line.starts_with("(for run in $(seq "), "{line}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_step_that_hangs_has_a_line_with_a_time_limit() {
    let scratch = Scratch::new();
    let mut command = scratch.driver(["count", "--json", "--max-count", "8", "--timeout=500ms"]);
    command.args(["sh", "-c", "[ $1 -lt 5 ] || sleep 600", "sh", "COUNT"]);
    let finished = run(&mut command).expect_status(0);
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    assert!(line.starts_with("timeout 0.5s sh -c "), "{line}");
    assert_eq!(paste(&command, &finished), 2, "{finished}");
}
