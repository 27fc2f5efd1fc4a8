//! Time limits and interruptions end everything that a target started, and the search can be used again afterwards.
#![cfg(target_os = "linux")]

use std::{fs, process::Command};

use bisect_tests::{
    foreign,
    harness::{Running, Scratch, run, wait_until},
    process_tree::ProcessTree,
};

/// The script of a target that runs the foreign program. If that fails, the script hangs with a child in its group and
/// a child in a session of its own, none of which ends by itself. `$2` is a shell command about SIGTERM.
const HANGS: &str = r#"
eval "$2"
"$1" --steps=4 --fails-when=2 && exit 0
sleep 1000000 &
setsid sleep 1000000 &
echo hanging >> hanging
while :; do sleep 1000000; done
"#;

fn hanging(scratch: &Scratch, options: &[&str], on_term: &str) -> Command {
    scratch.write("target.sh", HANGS);
    let mut command = scratch.driver(["exec", "--json"]);
    command.args(options).args(["FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]).arg(foreign::executable()).arg(on_term);
    command
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_run_that_takes_too_long_has_failed_and_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let mut command = hanging(&scratch, &["--timeout=2s"], ":");
    let tree = ProcessTree::mark(&mut command);
    let finished = run(&mut command).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:3: step 2"]]);
    let trials = finished.events_of("trial");
    assert!(trials.iter().all(|trial| (trial["outcome"] == "fail") == (trial["reason"] == "timeout")), "{finished}");
    tree.expect_gone();
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_target_that_ignores_sigterm_is_killed() {
    let scratch = Scratch::new();
    let mut command = hanging(&scratch, &["--timeout=1s", "--max-runs=1"], "trap '' TERM");
    let tree = ProcessTree::mark(&mut command);
    let finished = run(&mut command).expect_status(5);
    assert_eq!(finished.events_of("trial")[0]["reason"], "timeout", "{finished}");
    tree.expect_gone();
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_a_run_leaves_in_the_background_is_ended_with_it() {
    let scratch = Scratch::new();
    // The sleeper keeps the pipes open.
    scratch.write("target.sh", "sleep 1000000 & exec \"$1\" --fails-when=12");
    let mut command = scratch.driver(["exec", "--json", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    command.arg(foreign::executable());
    let tree = ProcessTree::mark(&mut command);
    let finished = run(&mut command).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
    tree.expect_gone();
}

#[test]
#[ignore = "slow: CI runs it"]
fn an_interrupted_search_ends_everything_and_keeps_its_trials() {
    for signal in ["INT", "TERM"] {
        let scratch = Scratch::new();
        let mut command = hanging(&scratch, &[], ":");
        let tree = ProcessTree::mark(&mut command);
        let search = Running::start(&mut command);
        wait_until("the target hangs", || !scratch.read("hanging").is_empty());

        // The folder is locked meanwhile.
        let second = run(&mut hanging(&scratch, &[], ":"));
        assert!(![Some(0), Some(1)].contains(&second.status), "{second}");
        second.expect_message(&["bisect.out", "--out"]);
        assert_eq!(scratch.read("hanging").lines().count(), 1, "the second search did not run anything");

        search.signal(signal);
        let finished = search.finish().expect_status(130);
        tree.expect_gone();
        finished.expect_message(&["interrupted"]);
        let end = &finished.events_of("end")[0];
        assert_eq!((&end["status"], &end["sets"]), (&130.into(), &0.into()), "{finished}");
        assert!(scratch.dir().join("bisect.out/trials.jsonl").exists(), "SIG{signal}");

        // The folder is unlocked again.
        let mut command = scratch.driver(["exec", "--json", "FOREIGN_CHANGES=PATTERN"]);
        let finished = run(command.arg(foreign::executable()).arg("--fails-when=12")).expect_status(0);
        let kept = scratch.read("bisect.out/trials.jsonl");
        let trials = kept.lines().filter(|line| !line.contains(r#""repeat":true"#)).count();
        assert_eq!(trials, finished.events_of("trial").len(), "{kept}");
    }
}

#[test]
fn an_interrupted_preparation_changes_no_results() {
    let scratch = Scratch::new();
    let manifest = "[package]\nname = 'slow'\nversion = '0.1.0'\nedition = '2024'\n[workspace]\n";
    scratch.write("Cargo.toml", manifest);
    let hangs = "fn main() { std::fs::write(\"hanging\", \"x\").unwrap(); loop { std::thread::park(); } }\n";
    scratch.write("build.rs", hangs);
    fs::create_dir(scratch.dir().join("src")).unwrap();
    scratch.write("src/lib.rs", "");
    let again = "to start again:\n  cargo bisect-opt ";
    for (words, stage) in [
        (
            &["test", "-q", "--", "x y"][..],
            "interrupted before the search began: nothing was recorded, and the results",
        ),
        (&["toggles", "-q"], "interrupted before the toggles were listed: nothing was changed"),
        (&["test", "-q", "--verdict"], "interrupted before the run was judged: this version is neither good nor bad"),
    ] {
        scratch.write("hanging", "");
        let search = Running::start(&mut scratch.driver(words));
        wait_until("the build script hangs", || !scratch.read("hanging").is_empty());
        search.signal("INT");
        let finished = search.finish().expect_status(130);
        let line = words.join(" ").replace("x y", "'x y'");
        finished.expect_message(&[&format!("error: {stage}"), &format!("{again}{line}\n")]);
        assert_eq!(scratch.dir().join("bisect.out").exists(), words.contains(&"--verdict"), "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn trials_before_an_interruption_are_kept() {
    let scratch = Scratch::new();
    // The target passes with no change, so it must hang in the fifth run only.
    scratch.write(
        "target.sh",
        "echo >> runs; [ $(wc -l < runs) -lt 5 ] || { echo > hanging; sleep 1000000; }; exec \"$1\" --fails-when=12",
    );
    let mut command = scratch.driver(["exec", "--json", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    let search = Running::start(command.arg(foreign::executable()));
    wait_until("the target hangs", || !scratch.read("hanging").is_empty());
    search.signal("INT");
    let finished = search.finish().expect_status(130);
    assert_eq!(finished.events_of("trial").len(), 4);
    let kept = scratch.read("bisect.out/trials.jsonl");
    assert_eq!(kept.lines().filter(|line| line.contains("\"pattern\"")).count(), 4, "{kept}");
}
