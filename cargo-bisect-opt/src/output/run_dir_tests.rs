//! Tests of run directories: those that are emptied, those that are refused, and the files that a search leaves.

use std::fs;

use super::*;

/// Returns a temporary directory, with a path for a run directory in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("some/where/bisect.out");
    (dir, path)
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const FRESH: [&str; 6] = [".gitignore", "bisect-opt.json", "lock", "reports", "runs", "trials.jsonl"];

#[test]
fn a_new_one_has_all_its_places() {
    let (_guard, path) = place();
    let run_dir = RunDir::create(&path).unwrap();
    assert_eq!(names(&path), FRESH);
    assert_eq!(run_dir.log(7), path.join("runs/0007.log"));
    assert_eq!(run_dir.report_file(12345), path.join("reports/12345"));
    fs::write(run_dir.log(1), "log").unwrap();
    fs::write(run_dir.report_file(1), "report").unwrap();
}

#[test]
fn trials_and_the_result_can_be_read_at_once() {
    let (_guard, path) = place();
    let run_dir = RunDir::create(&path).unwrap();
    run_dir.append_trial(&("a", 1)).unwrap();
    assert_eq!(fs::read_to_string(path.join(TRIALS)).unwrap(), "[\"a\",1]\n");
    run_dir.append_trial(&("b", 2)).unwrap();
    assert_eq!(fs::read_to_string(path.join(TRIALS)).unwrap(), "[\"a\",1]\n[\"b\",2]\n");
    run_dir.write_result(&[1]).unwrap();
    run_dir.write_result(&[2]).unwrap();
    let result: Vec<u8> = serde_json::from_slice(&fs::read(path.join(RESULT)).unwrap()).unwrap();
    assert_eq!(result, [2]);
    assert!(names(&path).iter().all(|name| !name.starts_with(UNFINISHED)));
}

#[test]
fn an_earlier_one_is_emptied_but_of_what_is_not_ours() {
    let (_guard, path) = place();
    let run_dir = RunDir::create(&path).unwrap();
    run_dir.append_trial(&1).unwrap();
    run_dir.write_result(&1).unwrap();
    fs::write(run_dir.log(3), "").unwrap();
    fs::write(run_dir.report_file(10000), "").unwrap();
    drop(run_dir);
    for name in ["notes", ".result-1234", "runs/0001.log.gz", "runs/notes.log", "reports/12"] {
        fs::write(path.join(name), "").unwrap();
    }
    fs::create_dir(path.join("runs/0009.log")).unwrap();

    let _run_dir = RunDir::create(&path).unwrap();
    let mut left = names(&path);
    left.retain(|name| !FRESH.contains(&name.as_str()));
    assert_eq!(left, ["notes"]);
    assert_eq!(names(&path.join(RUNS)), ["0001.log.gz", "0009.log", "notes.log"]);
    assert_eq!(names(&path.join(REPORTS)), ["12"]);
    assert_eq!(fs::read(path.join(TRIALS)).unwrap(), b"");
}

#[test]
fn a_directory_of_someone_else_is_not_touched() {
    let (_guard, path) = place();
    fs::create_dir_all(path.join(RUNS)).unwrap();
    fs::write(path.join("runs/0001.log"), "mine").unwrap();
    fs::write(path.join(RESULT), "mine").unwrap();
    let error = RunDir::create(&path).unwrap_err();
    assert!(matches!(error, RunDirError::NotOurs { .. }));
    let text = error.to_string();
    assert!(text.contains(path.to_str().unwrap()), "{text}");
    assert!(text.contains("is not empty, and no earlier search has made it: nothing in it was touched"), "{text}");
    assert_eq!(names(&path), [RESULT, RUNS]);
    assert_eq!(fs::read(path.join("runs/0001.log")).unwrap(), b"mine");
    // A file with only the name of our mark does not make the directory ours.
    fs::write(path.join(MARK), "{}").unwrap();
    assert!(matches!(RunDir::create(&path), Err(RunDirError::NotOurs { .. })));
}

#[test]
fn an_empty_directory_is_taken() {
    let (_guard, path) = place();
    fs::create_dir_all(&path).unwrap();
    RunDir::create(&path).unwrap();
}

#[test]
fn what_a_first_search_left_when_it_was_killed_or_the_disk_was_full_is_taken() {
    for (mark, others) in [
        (Some(""), &[][..]),
        (Some("{\"made_b"), &[]),
        (Some(""), &["lock", ".result-a1B2c3"]),
        (None, &["lock", ".result-a1B2c3"]),
    ] {
        let (_guard, path) = place();
        fs::create_dir_all(&path).unwrap();
        if let Some(text) = mark {
            fs::write(path.join(MARK), text).unwrap();
        }
        for name in others {
            fs::write(path.join(name), "").unwrap();
        }
        drop(RunDir::create(&path).unwrap());
        assert_eq!(names(&path), FRESH, "{mark:?} {others:?}");
        assert!(matches!(read_mark(&path), Ok(Mark::Of(FORMAT))));
    }
}

#[test]
fn half_a_mark_beside_other_files_is_not_ours() {
    let (_guard, path) = place();
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join(MARK), "").unwrap();
    fs::write(path.join(TRIALS), "mine").unwrap();
    assert!(matches!(RunDir::create(&path), Err(RunDirError::NotOurs { .. })));
    assert_eq!(names(&path), [MARK, TRIALS]);
}

#[test]
fn of_searches_that_start_at_once_in_a_new_directory_one_gets_it() {
    let race = || {
        let (_guard, path) = place();
        let start = std::sync::Barrier::new(4);
        let results: Vec<_> = std::thread::scope(|scope| {
            let create = || {
                start.wait();
                RunDir::create(&path)
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(create)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let others: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
        assert_eq!(others.len(), 3);
        assert!(others.iter().all(|error| matches!(error, RunDirError::InUse { .. })), "{others:?}");
    };
    // Those who lose wait for a while before they give up: the races go on at the same time.
    std::thread::scope(|scope| (0..20).for_each(|_| drop(scope.spawn(race))));
}

#[test]
fn one_search_at_a_time() {
    let (_guard, path) = place();
    let first = RunDir::create(&path).unwrap();
    first.append_trial(&1).unwrap();
    let error = RunDir::create(&path).unwrap_err();
    assert!(matches!(error, RunDirError::InUse { .. }));
    let text = error.to_string();
    assert!(text.contains(path.to_str().unwrap()) && text.contains("--out"), "{text}");
    assert_eq!(fs::read(path.join(TRIALS)).unwrap(), b"1\n", "the first search's files are untouched");
    drop(first);
    RunDir::create(&path).unwrap();
}

#[test]
fn another_format_is_not_touched() {
    let (_guard, path) = place();
    drop(RunDir::create(&path).unwrap());
    fs::write(path.join(MARK), r#"{"made_by":"cargo-bisect-opt","format":99}"#).unwrap();
    fs::write(path.join(RESULT), "from the future").unwrap();
    let error = RunDir::create(&path).unwrap_err();
    assert!(error.to_string().contains("was made by another version (format 99, not "), "{error}");
    assert!(error.to_string().ends_with("; delete it, or choose another directory with `--out`"), "{error}");
    assert!(path.join(RESULT).exists());
}

#[test]
fn a_file_in_the_way_is_named() {
    let (_guard, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    let text = RunDir::create(&path).unwrap_err().to_string();
    assert!(text.contains(path.to_str().unwrap()), "{text}");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_when_it_is_emptied() {
    let (guard, path) = place();
    let elsewhere = guard.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("0001.log"), "mine").unwrap();
    drop(RunDir::create(&path).unwrap());
    fs::remove_dir(path.join(RUNS)).unwrap();
    std::os::unix::fs::symlink(&elsewhere, path.join(RUNS)).unwrap();
    let _run_dir = RunDir::create(&path).unwrap();
    assert_eq!(fs::read(elsewhere.join("0001.log")).unwrap(), b"mine");
}

#[cfg(unix)]
#[test]
fn the_result_is_as_open_as_the_other_files() {
    use std::os::unix::fs::PermissionsExt;

    let (_guard, path) = place();
    let run_dir = RunDir::create(&path).unwrap();
    run_dir.write_result(&1).unwrap();
    let mode = |name| fs::metadata(path.join(name)).unwrap().permissions().mode();
    assert_eq!(mode(RESULT), mode(TRIALS));
}

#[test]
fn a_directory_that_is_deleted_during_the_search_is_made_again() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("out");
    let run_dir = RunDir::create(&path).unwrap();
    run_dir.append_trial(&1).unwrap();
    run_dir.restore().unwrap();
    assert_eq!(run_dir.take_note(), None, "it was there");
    for part in [&path, &path.join(LOCK)] {
        if part.is_dir() {
            fs::remove_dir_all(part).unwrap();
        } else {
            fs::remove_file(part).unwrap();
        }
        // A run has made its files meanwhile.
        fs::create_dir_all(path.join(REPORTS)).unwrap();
        fs::write(run_dir.report_file(7), "").unwrap();
        run_dir.append_trial(&2).unwrap();
        let note = run_dir.take_note().unwrap();
        assert!(
            note.contains("out` was deleted while the search runs: it is made again, and the answer is not affected"),
            "{note}"
        );
        let error = RunDir::create(&path).unwrap_err();
        assert!(matches!(error, RunDirError::InUse { .. }), "{error}");
    }
    run_dir.write_result(&3).unwrap();
    drop(run_dir);
    assert_eq!(RunDir::read_trials::<u32>(&path).unwrap(), [2, 2]);
    // The next search accepts it.
    RunDir::create(&path).unwrap();
}

#[cfg(unix)]
#[test]
fn planted_links_and_pipes_are_not_used() {
    let place = tempfile::tempdir().unwrap();
    let (path, precious) = (place.path().join("out"), place.path().join("precious"));
    fs::write(&precious, "mine").unwrap();
    drop(RunDir::create(&path).unwrap());
    for name in [LOCK, TRIALS, JOURNAL, ".gitignore"] {
        let _ = fs::remove_file(path.join(name));
        std::os::unix::fs::symlink(&precious, path.join(name)).unwrap();
        drop(RunDir::create(&path).unwrap());
        assert_eq!(fs::read_to_string(&precious).unwrap(), "mine", "{name}");
        let _ = fs::remove_file(path.join(name));
        assert!(std::process::Command::new("mkfifo").arg(path.join(name)).status().unwrap().success());
        drop(RunDir::create(&path).unwrap());
    }
}
