//! Lists of toggles: parsing, choosing, and tables for people and scripts.

use expect_test::expect;

use super::*;
use crate::cargo::toggle_choice::{ToggleChoice, ToggleError, choose};

const LIST: &str = "\
fast\tbuild\tsrc/lib.rs:3:1\ton\t0x000000000000aaaa\tdeep@1.2.0\toff
newsort\tstack\tsrc/lib.rs:12:1\ton
newtimer\tcaller\tsrc/time.rs:4:1\tbody
";

fn list(names: &[(&str, &str)]) -> BTreeSet<Toggle> {
    let build = "\t0x1\tp@1.0.0\ton";
    let line = |&(name, key)| format!("{name}\t{key}\ta.rs:1:1\ton{}\n", if key == "build" { build } else { "" });
    parse(names.iter().map(line).collect::<String>().as_bytes())
}

/// Chooses toggles where another search has this option.
fn chosen(toggles: &BTreeSet<Toggle>, wanted: &[String]) -> Result<ToggleChoice, ToggleError> {
    choose(toggles, wanted, || "--diff".to_owned())
}

fn wanted(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn a_list_is_read() {
    let toggles = Vec::from_iter(parse(LIST.as_bytes()));
    let fast = BuildTimeInfo { id: ChangeId(0xaaaa), package: "deep@1.2.0".into(), compiled_in: false };
    assert_eq!(toggles.len(), 3);
    assert_eq!((toggles[0].name.as_str(), toggles[0].key, &toggles[0].build), ("fast", ToggleKey::Build, &Some(fast)));
    assert_eq!((toggles[1].place.to_string(), toggles[1].default.as_str()), ("src/lib.rs:12:1".to_owned(), "on"));
    assert_eq!((toggles[2].key.kind(), toggles[2].default.as_str()), (ChangeKind::CALLER, "body"));
}

#[test]
fn build_time_changes_are_reported() {
    let toggles = parse(LIST.as_bytes());
    for (names, pattern, expected) in [
        (&["fast"] as &[_], "vy", &["src/lib.rs:3:1 fast"] as &[_]),
        (&["fast"], "v!xaaaa", &["src/lib.rs:3:1 fast"]),
        (&["fast"], "vx0001", &[]),
        (&["newsort"], "vy", &[]),
        (&["fast"], "", &[]),
    ] {
        let mut reports = Reports::new(true);
        report(&toggles, &wanted(names), &pattern.parse().unwrap(), &mut reports);
        let texts: Vec<_> = reports.ids().iter().flat_map(|&id| reports.get(id).text).collect();
        assert_eq!(texts, expected, "{names:?} {pattern}");
    }
}

#[test]
fn toggles_with_one_name_have_changes_of_several_kinds() {
    let all =
        parse("a\tsite\tsrc/lib.rs:3:1\ton\na\tcaller\tsrc/lib.rs:5:1\ton\na\tstack\tsrc/lib.rs:7:1\ton\n".as_bytes());
    let of = |toggles: &BTreeSet<Toggle>, text: &[&str]| {
        kind(toggles, &crate::report::text::parse(ChangeId(1), text.iter().map(|&line| line.to_owned()).collect()))
    };
    assert_eq!(of(&all, &["src/lib.rs:3:1 a"]), ChangeKind::SITE);
    assert_eq!(of(&all, &["src/main.rs:3:1 a"]), ChangeKind::CALLER);
    assert_eq!(of(&all, &["src/lib.rs:7:1 a", "  main::main at src/main.rs:3:1"]), ChangeKind::STACK);
    // A report about an unknown toggle is what it looks like, and a stack may have no frames.
    assert_eq!(of(&all, &["src/lib.rs:3:1 b"]), ChangeKind::SITE);
    assert_eq!(of(&list(&[("a", "stack")]), &["src/lib.rs:3:1 a"]), ChangeKind::STACK);
}

#[test]
fn other_output_is_no_toggle() {
    for line in [
        "running 3 tests",
        "a\tsite",
        "a\tsite\ta.rs:1:1\tmaybe",
        "a\tplace\ta.rs:1:1\ton",
        "\tsite\ta.rs:1:1\ton",
        "a\tsite\ta.rs\ton",
        "a\tsite\ta.rs:1\ton",
        "a\tsite\ta.rs:1:x\ton",
        "a\tsite\ta.rs:1:1\ton\tmore",
        "a\tbuild\ta.rs:1:1\ton",
        "a\tbuild\ta.rs:1:1\ton\tx1\tp@1\ton",
        "a\tbuild\ta.rs:1:1\ton\t0x1\tp@1\tmaybe",
    ] {
        assert_eq!(parse(line.as_bytes()), BTreeSet::new(), "{line}");
    }
}

#[test]
fn a_program_has_toggles_by_itself_or_through_a_library() {
    let dir = tempfile::tempdir().unwrap();
    let (with, without) = (dir.path().join("libwith-1a.so"), dir.path().join("libwithout.so"));
    fs_err::write(&with, "..BISECT_TOGGLES..").unwrap();
    fs_err::write(&without, "..").unwrap();
    let libraries = Libraries::among([with, without]).unwrap();
    assert!(libraries.or_runtime_in(b"..BISECT_TOGGLES.."));
    assert!(libraries.or_runtime_in(b"\0libwith-1a.so\0"));
    assert!(!libraries.or_runtime_in(b"\0libwithout.so\0BISECT_PATTERN"));
}

#[test]
fn those_decided_at_run_time_come_first() {
    let both = list(&[("a", "site"), ("b", "build"), ("c", "stack")]);
    let note = "build-time toggles are not searched (name them with --toggle): `b`";
    let expected = ToggleChoice { names: Vec::new(), build_time: false, note: Some(note.into()) };
    assert_eq!(chosen(&both, &[]), Ok(expected));
    let build = list(&[("b", "build"), ("a", "build")]);
    assert_eq!(chosen(&build, &[]), Ok(ToggleChoice { names: wanted(&["a", "b"]), build_time: true, note: None }));
    assert_eq!(chosen(&BTreeSet::new(), &[]), Err(ToggleError::NoToggles("--diff".to_owned())));
}

#[test]
fn toggles_are_chosen_by_name() {
    let toggles = list(&[("a", "site"), ("b", "build"), ("c", "stack")]);
    let choice = |names: &[&str]| chosen(&toggles, &wanted(names)).map(|choice| (choice.names, choice.build_time));
    assert_eq!(choice(&["c", "a", "c"]), Ok((wanted(&["c", "a"]), false)));
    assert_eq!(choice(&["b"]), Ok((wanted(&["b"]), true)));
    let mixed = ToggleError::Mixed { runtime: wanted(&["a"]), build_time: wanted(&["b"]) };
    assert_eq!(choice(&["a", "b"]), Err(mixed));
}

/// Toggles of which all but `c` are fixed.
const FIXED: &[u8] = b"a\tsite\ta.rs:1:1\ton\tfixed off\nb\tbuild\ta.rs:2:1\ton\t0x1\tp@1.0.0\ton\tfixed on\n\
    c\tcaller\ta.rs:3:1\tbody\nd\tstack\ta.rs:4:1\tbody\tfixed on\n";

#[test]
fn fixed_toggles_are_listed_and_not_searched() {
    let toggles = parse(FIXED);
    let states: Vec<_> = toggles.iter().map(|toggle| toggle.fixed).collect();
    assert_eq!(states, [Some(FixedState::Off), Some(FixedState::On), None, Some(FixedState::On)]);
    let choice = chosen(&toggles, &[]).unwrap();
    let note = "not searched: `a` is fixed off, `b` is fixed on, `d` is fixed on";
    assert_eq!((choice.names, choice.build_time, choice.note.as_deref()), (Vec::new(), false, Some(note)));
    assert_eq!(subject(toggles.iter(), &[], "run-time toggle"), "1 run-time toggle (c)");
    assert_eq!(chosen(&toggles, &wanted(&["c"])).unwrap().names, ["c"]);

    let error = chosen(&toggles, &wanted(&["c", "d"])).unwrap_err();
    expect![
        "
        `d` is fixed on in this build, so it cannot be searched
        help: to search it, build with a BISECT_FIX that does not name it"
    ]
    .assert_eq(&error.to_string());
    assert!(!error.is_usage(), "another build has it");
    let all_fixed = toggles.into_iter().filter(|toggle| toggle.fixed.is_some()).collect();
    assert!(matches!(chosen(&all_fixed, &[]), Err(ToggleError::Fixed(names)) if names.len() == 3));
}

#[test]
fn fixed_toggles_in_tables_and_json() {
    expect![
        "
        NAME  KIND    PLACE     DEFAULT
        a     site    a.rs:1:1  fixed off
        b     build   a.rs:2:1  fixed on
        c     caller  a.rs:3:1  body
        d     stack   a.rs:4:1  fixed on
    "
    ]
    .assert_eq(&ToggleTable(&parse(FIXED)).to_string());
    let lines: Vec<_> = parse(FIXED).iter().map(|toggle| serde_json::to_string(toggle).unwrap()).collect();
    assert_eq!(lines[0], r#"{"name":"a","kind":"site","place":"a.rs:1:1","default":"on","fixed":"off"}"#);
    assert!(lines[1].ends_with(r#""compiled_in":true},"fixed":"on"}"#), "{}", lines[1]);
    assert!(parse(b"a\tsite\ta.rs:1:1\ton\tfixed maybe\n").is_empty());
}

#[test]
fn one_name_for_both_kinds_cannot_be_searched() {
    let toggles = list(&[("a", "site"), ("a", "build")]);
    assert!(matches!(chosen(&toggles, &wanted(&["a"])), Err(ToggleError::Mixed { .. })));
}

#[test]
fn without_toggles_there_are_other_searches() {
    expect![[r#"
        no toggle in any executable of this build, so there is nothing to switch on and off
        help: these options search without any annotation:
        --diff
        help: to annotate code, mark it with `#[bisect_toggle("name")]` or `bisect_point!("name")`, as the documentation of the crate bisect-rt shows"#]]
    .assert_eq(&ToggleError::NoToggles("--diff".to_owned()).to_string());
}

#[test]
fn an_unknown_name_is_told_with_those_that_exist() {
    let toggles = list(&[("newsort", "stack"), ("newtimer", "site")]);
    let error = chosen(&toggles, &wanted(&["newsrot"])).unwrap_err();
    expect![
        "
        no toggle is called `newsrot`, did you mean `newsort`?
        help: there is `newsort`, `newtimer`"
    ]
    .assert_eq(&error.to_string());
    let error = chosen(&toggles, &wanted(&["zebra"])).unwrap_err();
    expect![
        "
        no toggle is called `zebra`
        help: there is `newsort`, `newtimer`"
    ]
    .assert_eq(&error.to_string());
    assert!(error.is_usage());
}

#[test]
fn the_table() {
    expect![
        "
        NAME      KIND    PLACE            DEFAULT
        fast      build   src/lib.rs:3:1   on
        newsort   stack   src/lib.rs:12:1  on
        newtimer  caller  src/time.rs:4:1  body
    "
    ]
    .assert_eq(&ToggleTable(&parse(LIST.as_bytes())).to_string());
}

#[test]
fn places_are_in_the_order_of_the_file() {
    let list = b"a\tsite\ta.rs:10:1\ton\na\tsite\ta.rs:9:2\ton\na\tsite\ta.rs:9:11\ton\na\tsite\tC:\\b.rs:1:1\ton\n";
    let places: Vec<_> = parse(list).iter().map(|toggle| toggle.place.to_string()).collect();
    assert_eq!(places, ["C:\\b.rs:1:1", "a.rs:9:2", "a.rs:9:11", "a.rs:10:1"]);
}

#[test]
fn json_lines() {
    let lines: Vec<_> = parse(LIST.as_bytes()).iter().map(|toggle| serde_json::to_string(toggle).unwrap()).collect();
    expect![[r#"
        {"name":"fast","kind":"build","place":"src/lib.rs:3:1","default":"on","build":{"id":"0x000000000000aaaa","package":"deep@1.2.0","compiled_in":false}}
        {"name":"newsort","kind":"stack","place":"src/lib.rs:12:1","default":"on"}
        {"name":"newtimer","kind":"caller","place":"src/time.rs:4:1","default":"body"}"#]]
    .assert_eq(&lines.join("\n"));
}
