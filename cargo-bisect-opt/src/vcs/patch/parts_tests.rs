//! Tests of the division of patches, and of the files that selections make.

use super::*;

fn version_of(path: &str, mode: FileMode, content: &str) -> FileVersion {
    FileVersion { path: path.into(), mode, content: content.into() }
}

/// Returns a file with both versions; an empty path means that there is none.
fn changed(old: (&str, &str), new: (&str, &str)) -> ChangedFile {
    let version =
        |(path, content): (&str, &str)| (!path.is_empty()).then(|| version_of(path, FileMode::Plain, content));
    ChangedFile { old: version(old), new: version(new) }
}

fn show(composition: &Composition<'_>) -> String {
    let text = |(path, version): (&&PathBuf, &Option<FileVersion>)| match version {
        None => format!("{}: none", path.display()),
        Some(version) => format!("{}: {:?}", path.display(), String::from_utf8_lossy(&version.content)),
    };
    composition.iter().map(text).collect::<Vec<_>>().join("; ")
}

fn patch() -> Patch {
    let binary = ChangedFile {
        old: Some(version_of("bin", FileMode::Plain, "\0a\nb\n")),
        new: Some(version_of("bin", FileMode::Executable, "\0a\nc\n")),
    };
    Patch::new(vec![
        changed(("a", "1\n2\n3\n"), ("a", "1\nx\n3\ny\n")),
        changed(("", ""), ("new", "n\n")),
        changed(("old", "o\n"), ("", "")),
        changed(("from", "1\n2\n"), ("to", "1\n3\n")),
        binary,
    ])
}

#[test]
fn each_part_is_a_change_of_its_own() {
    let patch = patch();
    let pieces: Vec<_> = patch.parts().iter().map(|part| (part.file, &part.piece)).collect();
    let lines = |old, new| Piece::Lines(LineHunk { old, new });
    assert_eq!(
        pieces,
        [
            (0, &lines(1..2, 1..2)),
            (0, &lines(3..3, 3..4)),
            (1, &Piece::Added),
            (2, &Piece::Deleted),
            (3, &Piece::Renamed),
            (3, &lines(1..2, 1..2)),
            (4, &Piece::Mode),
            (4, &Piece::Content),
        ]
    );
}

#[test]
fn the_end_states_are_both_trees() {
    let patch = patch();
    let none = r#"a: "1\n2\n3\n"; bin: "\0a\nb\n"; from: "1\n2\n"; new: none; old: "o\n"; to: none"#;
    let all = r#"a: "1\nx\n3\ny\n"; bin: "\0a\nc\n"; from: none; new: "n\n"; old: none; to: "1\n3\n""#;
    assert_eq!(show(&patch.compose(|_| false)), none);
    assert_eq!(show(&patch.compose(|_| true)), all);
    let made = patch.compose(|part| part == 1 || part == 4);
    assert_eq!(show(&made), r#"a: "1\n2\n3\ny\n"; bin: "\0a\nb\n"; from: none; new: none; old: "o\n"; to: "1\n2\n""#);
    let modes = |made: &Composition<'_>| made[&PathBuf::from("bin")].as_ref().unwrap().mode;
    assert_eq!(modes(&patch.compose(|part| part == 6)), FileMode::Executable);
    assert_eq!(modes(&patch.compose(|part| part == 5)), FileMode::Plain);
}

#[test]
fn a_hunk_is_divided_where_an_item_begins() {
    let functions = |names: &[&str]| {
        names.iter().fold(String::new(), |all, name| format!("{all}fn {name}() {{\n    x{name}();\n}}\n\n"))
    };
    let count = |old: &str, new: &str| Patch::new(vec![changed(("a.rs", old), ("a.rs", new))]).parts().len();
    assert_eq!(count("", &functions(&["a", "b", "c"])), 3, "added");
    assert_eq!(count(&functions(&["a", "b", "c"]), ""), 3, "removed");
    assert_eq!(count("fn a() {\n1\n}\nfn b() {\n2\n}\n", "fn a() {\n3 }\nfn b() { 4\n}\n"), 2, "changed");
    assert_eq!(count("", "fn a() {"), 1, "not Rust");
}

#[test]
fn the_origin_of_a_line_is_known() {
    let patch = Patch::new(vec![changed(("a", "1\n2\n3\n4\n"), ("a", "1\nx\ny\n3\n4\nz\n"))]);
    let origin = |line, enabled: &[usize]| patch.origin(&"a".into(), line, |part| enabled.contains(&part)).unwrap();
    let old = |line| Origin::Old { file: 0, line };
    for (line, enabled, expected) in [
        (0, &[0, 1][..], old(0)),
        (1, &[0, 1], Origin::Added(0)),
        (2, &[0, 1], Origin::Added(0)),
        (3, &[0, 1], old(2)),
        (5, &[0, 1], Origin::Added(1)),
        (1, &[1], old(1)),
        (4, &[1], Origin::Added(1)),
        (3, &[], old(3)),
    ] {
        assert_eq!(origin(line, enabled), expected, "line {line} with {enabled:?}");
    }
    assert_eq!(patch.replacing(0, 1).collect::<Vec<_>>(), [0]);
    assert_eq!(patch.replacing(0, 3).collect::<Vec<_>>(), [1]);
    assert_eq!(patch.origin(&"other".into(), 0, |_| true), None);
}
