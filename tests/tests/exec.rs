//! `cargo bisect-opt exec` with a target that shares no code with ours: its answers, and the effects of its options.
#![cfg(unix)]

use std::ffi::OsStr;

use bisect_tests::{
    foreign,
    harness::{Finished, Scratch, run},
    repository::Repository,
};

/// Searches the foreign program with `--json`; its own variable holds the pattern.
fn search(options: &[&str], program: &[&str]) -> Finished {
    search_in(&Scratch::new(), options, program)
}

fn search_in(scratch: &Scratch, options: &[&str], program: &[&str]) -> Finished {
    let mut command = scratch.driver(["exec", "--json"]);
    command.args(options).arg("FOREIGN_CHANGES=PATTERN").arg(foreign::executable()).args(program);
    run(&mut command)
}

fn number(finished: &Finished, field: &str) -> u64 {
    finished.events_of("end")[0][field].as_u64().unwrap_or_else(|| panic!("no {field} in {finished}"))
}

#[test]
fn one_step_is_found() {
    let finished = search(&[], &["--fails-when=12"]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
    assert_eq!(finished.events_of("found")[0]["mode"], "enable");
    // The bound is log2 of 64 steps, plus every change, none, exactly the culprit, and the rest; the end may need one
    // more.
    assert!(number(&finished, "trials") <= 6 + 5, "{finished}");
    // The search makes four more runs to detect a flaky target, and one to get the text of the culprit.
    assert_eq!(number(&finished, "runs"), number(&finished, "trials") + 4 + 1);
    assert_eq!(number(&finished, "trials"), finished.events_of("trial").len() as u64);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_pair_and_another_step_are_two_culprits() {
    let finished = search(&[], &["--fails-when=3&40|12"]).expect_status(0);
    let mut culprits = finished.culprits();
    culprits.sort();
    assert_eq!(culprits, [vec!["mill.txt:13: step 12"], vec!["mill.txt:41: step 40", "mill.txt:4: step 3"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn disabling_is_searched_where_the_old_way_breaks() {
    let finished = search(&[], &["--fails-when=!5&!6"]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:6: step 5", "mill.txt:7: step 6"]]);
    assert_eq!(finished.events_of("found")[0]["mode"], "disable");
}

#[test]
fn the_pattern_may_be_an_argument() {
    let scratch = Scratch::new();
    let mut command = scratch.driver(["exec", "--json"]);
    command.arg(foreign::executable()).args(["--changes=PATTERN", "--fails-when=12"]);
    assert_eq!(run(&mut command).expect_status(0).culprits(), [["mill.txt:13: step 12"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn random_is_another_number_in_each_run() {
    let scratch = Scratch::new();
    scratch.write("target.sh", "echo \"$SEED $2\" >> seeds; exec \"$1\" --fails-when=12");
    let mut command = scratch.driver(["exec", "-q", "SEED=RANDOM", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    let _ = run(command.arg(foreign::executable()).arg("again-RANDOM")).expect_status(0);
    let seeds = scratch.read("seeds");
    let mut distinct: Vec<_> = seeds.lines().collect();
    for line in &distinct {
        let (variable, argument) = line.split_once(" again-").unwrap_or_else(|| panic!("{line:?}"));
        assert_eq!(variable, argument, "one number a run");
        let _: u64 = variable.parse().unwrap_or_else(|error| panic!("{line:?}: {error}"));
    }
    // The line that fails repeats the number of the run in which it has failed.
    let (runs, pasted) = (distinct.len(), 2);
    distinct.sort_unstable();
    distinct.dedup();
    assert!(runs > 5 && distinct.len() >= runs - pasted, "{seeds}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn neither_names_nor_the_command_are_replaced() {
    let scratch = Scratch::new();
    let _ = scratch.script("PATTERN", "#!/bin/sh\n[ \"$PATTERN\" = set ] || exit 9\nexec \"$1\" --fails-when=12\n");
    let mut command = scratch.driver(["exec", "--json", "PATTERN=set", "FOREIGN_CHANGES=PATTERN", "./PATTERN"]);
    let finished = run(command.arg(foreign::executable()));
    assert_eq!(finished.expect_status(0).culprits(), [["mill.txt:13: step 12"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_answer_goes_to_standard_output_and_the_trace_to_standard_error() {
    let scratch = Scratch::new();
    let mut command = scratch.driver(["exec", "FOREIGN_CHANGES=PATTERN"]);
    let finished = run(command.arg(foreign::executable()).arg("--fails-when=12")).expect_status(0);
    assert!(finished.stdout.contains("step 12") && !finished.stdout.contains("step 11"), "{finished}");
    finished.expect_message(&["every change", "no change", "culprit 1"]);

    let finished = run(scratch.driver(["exec", "-q", "FOREIGN_CHANGES=PATTERN"]).arg(foreign::executable()));
    assert_eq!(finished.expect_status(1).stdout, "");
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_reproduces_a_culprit_can_be_pasted_into_a_shell() {
    let scratch = Scratch::new();
    let finished = search_in(&scratch, &[], &["--fails-when=3&40", "it's a 'quoted' $word"]).expect_status(0);
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    let mut shell = bisect_tests::harness::scrubbed("sh".as_ref(), std::env::temp_dir().as_path());
    let again = run(shell.args([OsStr::new("-c"), OsStr::new(&line)])).expect_status(1);
    assert_eq!(again.stdout, "the failure\n");
    // The line repeats the run that confirmed the culprit, which has no text.
    for change in finished.events_of("found")[0]["changes"].as_array().unwrap() {
        let marker = format!("[bisect-match {}]", change["id"].as_str().unwrap());
        assert!(again.stderr.contains(&marker), "{line}\n{again}");
    }
    assert_eq!(again.stderr.lines().count(), 2, "{line}\n{again}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_state_beside_each_culprit_passes() {
    let scratch = Scratch::new();
    let finished = search_in(&scratch, &[], &["--fails-when=3&7|12"]).expect_status(0);
    let shell = |line: &str| run(bisect_tests::harness::scrubbed("sh".as_ref(), scratch.dir()).args(["-c", line]));
    let found = finished.events_of("found");
    let lines: Vec<_> = found.iter().map(|found| found["passes"].as_str().unwrap()).collect();
    assert_eq!(lines.len(), 2, "{finished}");
    for line in &lines {
        let _ = shell(line).expect_status(0);
    }
    // Everything but the first culprit fails, and everything but both passes.
    assert!(lines[0].contains("FOREIGN_CHANGES=n ") && lines[1].contains("FOREIGN_CHANGES=-x"), "{lines:?}");
}

#[test]
fn lines_that_are_not_run_are_marked() {
    let scratch = Scratch::new();
    let mut exec = scratch.driver(["exec", "--launcher=env", "FOREIGN_CHANGES=PATTERN"]);
    let finished = run(exec.arg(foreign::executable()).arg("--fails-when=12")).expect_status(0);
    for marked in ["\nfails: (not run)\n", "\npasses: (not run)\n"] {
        assert!(finished.stdout.contains(marked), "{finished}");
    }
    let recorded = scratch.read("bisect.out/result.json");
    for recorded_end in [r#""reproduce": "not_run""#, r#""passes": "not_run""#] {
        assert!(recorded.contains(recorded_end), "{recorded}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_last_change_of_the_decisive_line_is_named() {
    let scratch = Scratch::new();
    let repository = Repository::new(scratch.dir());
    let steps = |last: &str| (0..20).map(|step| format!("step {step}{last}")).collect::<Vec<_>>().join("\n");
    repository.write("mill.txt", &steps(""));
    let hash = repository.commit("mill: twenty steps");
    let answer = || {
        let mut command = scratch.driver(["exec", "FOREIGN_CHANGES=PATTERN"]);
        run(command.arg(foreign::executable()).arg("--fails-when=12")).expect_status(0).stdout
    };
    let expected = format!("last changed in {} \"mill: twenty steps\" by n, a moment ago\n", &hash[..8]);
    let committed = answer();
    assert!(
        committed.starts_with("culprit 1: enabling the change at mill.txt:13 makes the target fail\n"),
        "{committed}"
    );
    assert!(committed.contains(&expected), "{expected}{committed}");
    repository.write("mill.txt", &steps("!"));
    let edited = answer();
    assert!(edited.contains("\nthis line is not committed yet\n") && !edited.contains("last changed"), "{edited}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn count_makes_several_runs_of_each_trial() {
    let finished = search(&["--count", "3"], &["--fails-when=12"]).expect_status(0);
    assert!(finished.events_of("trial").iter().all(|trial| trial["runs"] == 3), "{finished}");
    // Single runs are added: four that check whether the target is reliable, and one that gets the text of the culprit.
    assert_eq!(number(&finished, "runs"), 3 * number(&finished, "trials") + 4 + 1);
}

#[test]
#[ignore = "slow: CI runs it"]
fn count_shows_that_a_target_is_flaky() {
    let scratch = Scratch::new();
    scratch.write("target.sh", "echo >> runs; [ $(wc -l < runs) -ne 3 ] || exit 0; exec \"$1\" --fails-when=12");
    let mut command = scratch.driver(["exec", "--json", "--count=4", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    // The search goes on, and the contradicting run does not mislead it.
    let finished = run(command.arg(foreign::executable())).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
    let noise = &finished.events_of("found")[0]["noise"];
    assert!(noise["confidence"].as_f64() > Some(0.99), "{finished}");
    assert!(finished.stderr.contains("contradicts itself"), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn max_stops_after_as_many_culprits() {
    let finished = search(&["--max=2"], &["--fails-when=3|7|12"]).expect_status(5);
    assert_eq!(finished.culprits().len(), 2);
    assert_eq!(number(&finished, "sets"), 2);
    let finished = search(&[], &["--fails-when=3|7|12"]).expect_status(0);
    assert_eq!(finished.culprits().len(), 3);
}

#[test]
#[ignore = "slow: CI runs it"]
fn max_set_leaves_larger_culprits_aside_and_says_so() {
    let finished = search(&["--max-set=1"], &["--fails-when=3&7|12"]).expect_status(5);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
    finished.expect_message(&["--max-set"]);
    let finished = search(&["--max-set=1"], &["--fails-when=3&7"]).expect_status(5);
    assert_eq!(finished.culprits().len(), 0);
    finished.expect_message(&["--max-set"]);
    let finished = search(&["--max-set=2"], &["--fails-when=3&7"]).expect_status(0);
    assert_eq!(finished.culprits().len(), 1);
}

#[test]
#[ignore = "slow: CI runs it"]
fn max_runs_stops_with_what_was_found() {
    let whole = search(&[], &["--fails-when=3|12"]).expect_status(0);
    // The last run gets the text of the second culprit, and the one before it is needed to name it.
    let two_less = (number(&whole, "runs") - 2).to_string();
    let finished = search(&["--max-runs", &two_less], &["--fails-when=3|12"]).expect_status(5);
    assert_eq!(number(&finished, "runs").to_string(), two_less);
    assert_eq!(finished.culprits().len(), 1);
    finished.expect_message(&["--max-runs"]);
    let finished = search(&["--max-runs=4"], &["--fails-when=3|12"]).expect_status(5);
    assert_eq!((number(&finished, "runs"), finished.culprits().len()), (4, 0));
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_run_with_the_skip_code_tells_nothing_and_is_worked_around() {
    // A run with either step alone is unresolved. The steps are neighbours in the order of the search.
    let skips = "--skips-when=44&!13|13&!44";
    let finished = search(&[], &["--fails-when=44&13", skips]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:14: step 13", "mill.txt:45: step 44"]]);
    assert!(finished.events_of("trial").iter().any(|trial| trial["outcome"] == "unresolved"), "{finished}");
    // Without the skip code, status 125 is a failure like any other, and either step alone is a culprit.
    let finished = search(&["--skip-code=99", "--same-failure=no"], &["--fails-when=44&13", skips]).expect_status(0);
    assert!(finished.culprits().contains(&vec!["mill.txt:14: step 13".to_owned()]), "{finished}");
}

#[test]
fn a_target_that_skips_with_every_change_cannot_be_used() {
    let finished = search(&["--skip-code=77"], &["--fails-when=12", "--failing=77"]).expect_status(3);
    assert_eq!(finished.culprits().len(), 0);
    finished.expect_message(&["every change"]);
}

#[test]
fn a_target_that_fails_both_ways_says_why() {
    let scratch = Scratch::new();
    scratch.write("target.sh", "printf 'opens the data base\\n\\033[31mno such table: users\\033[0m\\n'; exit 1");
    for options in [&[][..], &["-q"], &["--json"]] {
        let finished =
            run(scratch.driver(["exec"]).args(options).args(["P=PATTERN", "sh", "target.sh"])).expect_status(1);
        finished.expect_message(&[
            "the end of bisect.out/runs/0002.log",
            "| opens the data base\n",
            "| no such table: users\n",
        ]);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn fail_when_tells_the_failure_from_others() {
    let stumbles = "--stumbles-when=30&!31|31&!30";
    let finished = search(&["--fail-when", "the f.*e"], &["--fails-when=12", stumbles]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
    let finished = search(&["--fail-when", "no such words"], &["--fails-when=12"]).expect_status(3);
    finished.expect_message(&["--fail-when"]);
}

#[test]
fn a_crash_is_a_failure() {
    let finished = search(&[], &["--fails-when=12", "--failing=crash"]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
    let reasons: Vec<_> = finished.events_of("trial").iter().map(|trial| trial["reason"].to_string()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("signal")), "{reasons:?}");
}

#[test]
fn a_marker_that_the_target_merely_prints_is_shown_with_its_line() {
    let scratch = Scratch::new();
    scratch.write("target.sh", "echo 'documentation: as in [bisect-match 0x1]'; exec \"$@\"");
    let mut command = scratch.driver(["exec", "--json", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    let finished = run(command.arg(foreign::executable()).arg("--fails-when=12")).expect_status(3);
    finished.expect_message(&["0x0000000000000001", "documentation: as in [bisect-match 0x1]"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn escapes_of_the_target_do_not_reach_the_terminal() {
    let scratch = Scratch::new();
    scratch.write(
        "target.sh",
        "\"$@\" 2> reports; r=$?; sed \"s/step/$(printf '\\033]0;title\\007\\033[2J')step/\" reports >&2; exit $r",
    );
    let mut command = scratch.driver(["exec", "--color=always", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    let finished = run(command.arg(foreign::executable()).arg("--fails-when=12")).expect_status(0);
    for output in [&finished.stdout, &finished.stderr] {
        assert!(!output.contains("\x1b]") && !output.contains("\x1b[2J") && !output.contains('\x07'), "{output:?}");
        assert!(output.contains("\x1b["), "our own colours do: {output:?}");
    }
    assert!(finished.stdout.contains("␛]0;title␇␛[2Jstep 12"), "{finished}");
}
