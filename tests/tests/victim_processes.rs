//! `test --victim`: the current directory that tests share, and a process that ends when two tests run at once.
#![cfg(unix)]

use bisect_tests::harness::{Finished, Fixture, run};

use super::victim::{command, facts_of, found};

fn search(plot: &str, words: &str) -> Finished {
    run(&mut command(&Fixture::new("cast"), plot, words))
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_file_in_the_current_directory_is_found() {
    // The victim deletes the file, or the first run leaves it for all others.
    for plot in ["victim=100 relative=17", "victim=100 left=17"] {
        let cast = Fixture::new("cast");
        let finished = run(&mut command(&cast, plot, "--victim t100")).expect_status(0);
        assert_eq!(found(&finished), [["t017"]], "{finished}");
        let facts = facts_of(&finished, 0);
        assert!(facts.contains("with its own current directory, `tests::t100` passes after that test"), "{facts}");
        let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
        let reproduced = run(cast.shell(&line, cast.dir()).env("PLOT", plot));
        assert!(reproduced.stdout.contains("the victim fails"), "{line}\n{reproduced}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_beside_which_the_victim_ends_the_process_is_found() {
    // They wait for each other, so they always run at the same time.
    for other in [99, 150] {
        let finished = search(&format!("victim=100 meet={other} aborts"), "--victim t100 --seed 1").expect_status(0);
        assert_eq!(found(&finished), [[format!("t{other:03}")]], "{finished}");
        let trials = finished.events_of("trial");
        assert!(trials.iter().any(|trial| trial["reason"] == "signal 6"), "{finished}");
        assert!(facts_of(&finished, 0).contains("state in the process"), "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_ends_the_process_alone_is_not_blamed() {
    // The victim waits for it, and never ends: it is always running when the process ends.
    let finished = search("victim=100 meet=101 crash=101", "--victim t100 --seed 1 --budget 10s").expect_status(1);
    finished.expect_message(&["`tests::t100` never failed"]);
    let trials = finished.events_of("trial").into_iter();
    let failed: Vec<_> =
        trials.filter(|trial| trial["outcome"] == "fail").map(|trial| trial["matches"].as_u64()).collect();
    // With all others, and `t101` alone. Then it is left out.
    assert_eq!(failed, [Some(199), Some(0)], "{finished}");
}

#[test]
fn a_test_that_ends_the_process_before_the_victim_runs_is_left_out() {
    let cast = Fixture::new("cast");
    let mut command = cast.driver(["test", "--json", "--victim", "t100"]);
    let finished = run(command.env("PLOT", "victim=100 pollute=17 crash=50")).expect_status(0);
    assert_eq!(found(&finished), [["t017"]], "{finished}");
    finished
        .expect_message(&["`tests::t050` ended the process: signal 6. It is left out, so that the tests after it run"]);
}
