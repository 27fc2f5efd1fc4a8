//! Accept and reject tables of `BISECT_PATTERN`.

use alloc::{format, string::ToString, vec::Vec};

use super::*;
use crate::{ChangeId, ParseErrorKind};

/// Returns the effect of a value on the change with ID 1 of toggle `name`.
fn meaning(value: &str, name: &str) -> &'static str {
    let config = Config::parse(value.as_bytes()).unwrap_or_else(|e| panic!("{value}: {e}"));
    match config.setting(name) {
        Setting::Default => "default",
        Setting::Fixed(true) => "on",
        Setting::Fixed(false) => "off",
        Setting::Search(matcher) => match (matcher.should_enable(ChangeId(1)), matcher.should_report(ChangeId(1))) {
            (true, true) => "enabled, reported",
            (true, false) => "enabled",
            (false, true) => "disabled, reported",
            (false, false) => "disabled",
        },
    }
}

#[test]
fn accepted() {
    for (value, name, expected) in [
        ("", "a", "default"),
        ("y", "a", "enabled, reported"),
        ("n", "a", "disabled, reported"),
        ("-1", "any.name", "disabled"),
        ("a=y", "a", "enabled, reported"),
        ("a=y", "b", "default"),
        ("a=y", "A", "default"),
        ("a=y;b=!y", "b", "disabled, reported"),
        ("a=", "a", "default"),
        ("a=;b=0", "b", "disabled"),
        ("a=on", "a", "on"),
        ("a=off;b=on", "a", "off"),
        ("a=off;b=on", "b", "on"),
        ("a=off;b=on", "c", "default"),
        ("on=n", "on", "disabled, reported"),
        ("my-crate::x/y.z_0=1", "my-crate::x/y.z_0", "enabled, reported"),
    ] {
        assert_eq!(meaning(value, name), expected, "{value} for {name}");
    }
}

#[test]
fn rejected() {
    let pattern = |offset, kind| ConfigErrorKind::Pattern(ParseError { offset, kind });
    for (value, offset, kind) in [
        (&b"+0-1x"[..], 4, pattern(4, ParseErrorKind::Unexpected('x'))),
        (b"on", 0, pattern(0, ParseErrorKind::Unexpected('o'))),
        (b"y;n", 1, pattern(1, ParseErrorKind::Unexpected(';'))),
        (b"a=+0-1x", 6, pattern(4, ParseErrorKind::Unexpected('x'))),
        (b"a=y;b=0+", 8, pattern(2, ParseErrorKind::MissingTerm)),
        (b"a=ON", 2, pattern(0, ParseErrorKind::Unexpected('O'))),
        (b"a=y=n", 3, pattern(1, ParseErrorKind::Unexpected('='))),
        (b"a=y;", 4, ConfigErrorKind::NoEquals),
        (b"a=y;;b=n", 4, ConfigErrorKind::NoEquals),
        (b"a=y;b", 5, ConfigErrorKind::NoEquals),
        (b"=y", 0, ConfigErrorKind::NoName),
        (b"a=y;=n", 4, ConfigErrorKind::NoName),
        (b"a b=y", 1, ConfigErrorKind::NotInNames(' ')),
        ("a=y; é=n".as_bytes(), 4, ConfigErrorKind::NotInNames(' ')),
        (b"a=y;a=n", 4, ConfigErrorKind::NamedTwice),
        (b"b=y;a=n;b=n;a=y", 8, ConfigErrorKind::NamedTwice),
        (b"a=y;a=n;=y", 4, ConfigErrorKind::NamedTwice),
        (b"a=y\xff", 3, ConfigErrorKind::NotUtf8),
    ] {
        let error = Config::parse(value).unwrap_err();
        assert_eq!(error, ConfigError { offset, kind }, "{}", value.escape_ascii());
    }
}

#[test]
fn errors_name_the_byte_of_the_whole_value() {
    let error = Config::parse(b"a=+0-1x").unwrap_err();
    assert_eq!(error.to_string(), "unexpected 'x' at byte 6");
    let error = Config::parse(b"a=y;a=n").unwrap_err();
    assert_eq!(error.to_string(), "this toggle was named before at byte 4");
}

#[test]
fn nobody_bisects_where_nothing_is_asked_for() {
    for (value, expected) in [("", true), ("a=", true), ("a=;b=", true), ("y", false), ("a=;b=off", false)] {
        assert_eq!(Config::parse(value.as_bytes()).unwrap().is_default(), expected, "{value:?}");
    }
}

#[test]
fn many_names_take_time_in_proportion() {
    // In time quadratic in the number of names, this would take minutes.
    let names: Vec<_> = (0..200_000).map(|i| format!("name{i}")).collect();
    let value = names.iter().map(|name| format!("{name}=y")).collect::<Vec<_>>().join(";");
    let config = Config::parse(value.as_bytes()).unwrap();
    assert_eq!(config.names().count(), names.len());
    assert!(names.iter().all(|name| matches!(config.named(name), Some(Setting::Search(_)))));
    assert!(config.named("name").is_none());
}
