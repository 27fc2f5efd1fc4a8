//! Tests of all formats on recorded answers. `UPDATE_EXPECT=1` writes the expected texts.

use std::path::{Path, PathBuf};

use expect_test::expect_file;

use super::FORMATS;
use crate::{
    output::terminal,
    record::{CommandRecord, ResultRecord},
};

/// Returns the folders of recorded answers.
fn recorded() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/reports");
    let mut folders: Vec<_> = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

fn read(folder: &Path) -> (String, CommandRecord) {
    let file = fs_err::read_to_string(folder.join("result.json")).unwrap();
    let result: ResultRecord = serde_json::from_str(&file).unwrap();
    (file, CommandRecord { result, ..CommandRecord::default() })
}

#[test]
fn recorded_answers_have_these_texts_in_all_formats() {
    let folders = recorded();
    assert!(folders.len() >= 6, "{folders:?}");
    for folder in folders {
        let (_, run) = read(&folder);
        // These have tests of their own.
        let is_text = |name: &str| !["json", "html", "trace"].contains(&name);
        for format in FORMATS.iter().filter(|format| is_text(format.name)) {
            let text = terminal::without_colors(&(format.render)(&run));
            expect_file![folder.join(format.name).with_extension("txt")].assert_eq(&text);
        }
    }
}

#[test]
fn the_record_keeps_what_it_reads() {
    for folder in recorded() {
        let (file, run) = read(&folder);
        assert_eq!(super::json::render(&run), file, "{}", folder.display());
    }
}

#[test]
fn files_of_other_versions_are_read() {
    // An early version wrote no more than this, and a later one may add anything.
    let early = r#"{"v":1,"start":null,"found":[{"set":1,"mode":"enable","changes":[{"id":"0x1","kind":"site","name":"",
        "text":[],"file":null,"line":null,"column":null,"frames":[],"new":1}],"replay":{"culprit":"a","others":"b"}}]}"#;
    let later = early.strip_suffix('}').unwrap().to_owned()
        + r#","end":{"status":99,"sets":1,"trials":2,"runs":3,"ms":4,"conclusion":"new","message":"m","new":[]}}"#;
    for text in [early, &later] {
        let result: ResultRecord = serde_json::from_str(text).unwrap();
        assert!(result.end.as_ref().is_none_or(|end| end.status.code() == 99 && end.status.name() == "unknown"));
        let run = CommandRecord { result, ..CommandRecord::default() };
        for format in FORMATS {
            assert!(!(format.render)(&run).is_empty(), "{}", format.name);
        }
    }
}

#[test]
fn the_book_lists_the_formats() {
    let page = fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../book/src/reports.md")).unwrap();
    let table = page.split("| format | is for |\n|---|---|\n").nth(1).unwrap();
    let rows = table.lines().map_while(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.collect::<Vec<_>>(), FORMATS.iter().map(|format| format.name).collect::<Vec<_>>());
}
