//! Accept and reject tables of the pattern grammar.

use alloc::{format, string::ToString};

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::Matcher;

/// Returns the enabled and the reported IDs of 0..16 as bit sets; the most significant bit is ID 15.
fn decisions(text: &str) -> (u16, u16) {
    let pattern: Pattern = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    let matcher = Matcher::new(&pattern).unwrap();
    (0..16).fold((0, 0), |(enable, report), id| {
        let bit = 1 << id;
        let id = ChangeId(id);
        (
            enable | if matcher.should_enable(id) { bit } else { 0 },
            report | if matcher.should_report(id) { bit } else { 0 },
        )
    })
}

#[test]
fn accepted() {
    let odd = 0b1010_1010_1010_1010;
    for (text, displayed, enabled, reported) in [
        ("y", "y", 0xffff, 0xffff),
        ("n", "n", 0, 0xffff),
        ("!y", "n", 0, 0xffff),
        ("!n", "y", 0xffff, 0xffff),
        ("vvv!!y", "vy", 0xffff, 0xffff),
        ("vn", "vn", 0, 0xffff),
        ("1", "1", odd, odd),
        ("+1", "1", odd, odd),
        ("!1", "!1", !odd, odd),
        ("-1", "-1", !odd, !odd),
        ("y-1", "-1", !odd, !odd),
        ("!-1", "!-1", odd, !odd),
        ("y+1", "y+1", 0xffff, 0xffff),
        ("1-y", "1-y", 0, 0),
        ("-y", "-y", 0, 0),
        ("+y", "y", 0xffff, 0xffff),
        ("0+1", "0+1", 0xffff, 0xffff),
        ("0001+x3", "x1+x3", 0b1010, 0b1010),
        ("xA+xa", "xa+xa", 1 << 10, 1 << 10),
        ("1-01-0011", "1-01-x3", 0b1000_1000_1000_1000 & !(1 << 3), 0b1000_1000_1000_1000 & !(1 << 3)),
        ("1-x0000000000000003", "1-x0000000000000003", odd & !(1 << 3), odd & !(1 << 3)),
    ] {
        let pattern: Pattern = text.parse().unwrap();
        assert_eq!(pattern.to_string(), displayed, "{text}");
        assert_eq!(decisions(text), (enabled, reported), "{text}");
    }
    let longest = "1".repeat(64);
    assert!(longest.parse::<Pattern>().unwrap().terms()[0] == Term::Add(Suffix::exactly(ChangeId(u64::MAX))));
    assert_eq!("".parse(), Ok(Pattern::default()));
    assert!(Matcher::new(&Pattern::default()).is_none());
}

extern crate std;

#[test]
fn rejected() {
    use ParseErrorKind::{AddAfterRemove, MissingTerm, TermTooLong, Unexpected};
    let (binary, hex) = ("0".repeat(65), format!("1+x{}", "0".repeat(17)));
    for (text, offset, kind) in [
        ("v", 1, MissingTerm),
        ("!", 1, MissingTerm),
        ("v!", 2, MissingTerm),
        ("+", 1, MissingTerm),
        ("-", 1, MissingTerm),
        ("++0", 1, MissingTerm),
        ("0+", 2, MissingTerm),
        ("0--1", 2, MissingTerm),
        ("x", 1, MissingTerm),
        ("x+1", 1, MissingTerm),
        ("!v1", 1, Unexpected('v')),
        ("yy", 1, Unexpected('y')),
        ("0y", 1, Unexpected('y')),
        ("1y", 1, Unexpected('y')),
        ("y0", 1, Unexpected('0')),
        ("xya", 1, Unexpected('y')),
        ("xg", 1, Unexpected('g')),
        ("x0x1", 2, Unexpected('x')),
        ("012", 2, Unexpected('2')),
        ("2", 0, Unexpected('2')),
        ("Y", 0, Unexpected('Y')),
        ("nn", 0, Unexpected('n')),
        ("n+0", 0, Unexpected('n')),
        ("0+n", 2, Unexpected('n')),
        (" y", 0, Unexpected(' ')),
        ("y ", 1, Unexpected(' ')),
        ("0+é", 2, Unexpected('é')),
        ("+0-1x", 4, Unexpected('x')),
        ("0-1+0", 3, AddAfterRemove),
        ("-1+0", 2, AddAfterRemove),
        (binary.as_str(), 0, TermTooLong),
        (hex.as_str(), 2, TermTooLong),
    ] {
        assert_eq!(text.parse::<Pattern>(), Err(ParseError { offset, kind }), "{text}");
    }
    assert_eq!(binary.parse::<Pattern>().unwrap_err().to_string(), "a term has more than 64 bits at byte 0");
}

#[test]
fn errors_name_the_byte() {
    let error = "+0-1x".parse::<Pattern>().unwrap_err();
    assert_eq!(error.to_string(), "unexpected 'x' at byte 4");
}

#[test]
fn many_terms_are_decided_on_in_little_time() {
    // A linear scan of the suffixes for each ID would take minutes.
    let id = |n: u64| ChangeId(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let half = |odd| (0..100_000).filter(move |n| n % 2 == odd).map(move |n| Suffix::exactly(id(n)));
    let matcher = Matcher::new(&Pattern::new(half(0), [])).unwrap();
    assert!((0..100_000).all(|n| matcher.should_report(id(n)) == (n % 2 == 0)));
    assert_eq!(matcher.single_changes().count(), 50_000);
    let matcher = Matcher::new(&Pattern::new([Suffix::ALL], half(1))).unwrap();
    assert!((0..100_000).all(|n| matcher.should_report(id(n)) == (n % 2 == 0)));
    assert!(matcher.single_changes().next().is_none());
}

fn suffix() -> impl Strategy<Value = Suffix> {
    (any::<u64>(), 0..=64_u32).prop_map(|(bits, len)| Suffix::new(bits, len))
}

proptest! {
    #[test]
    fn parse_undoes_display(verbose: bool, inverted: bool, add in vec(suffix(), 1..5), remove in vec(suffix(), 0..5)) {
        let pattern = Pattern::new(add, remove).verbose(verbose).inverted(inverted);
        prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
    }

    #[test]
    fn the_last_term_that_matches_decides(
        add in vec((0..16_u64, 0..5_u32), 1..8),
        remove in vec((0..16_u64, 0..5_u32), 0..8),
        whole in vec(any::<u64>(), 0..4),
        id: u64,
    ) {
        let short = |terms: Vec<(u64, u32)>| terms.into_iter().map(|(bits, len)| Suffix::new(bits, len));
        let long = |&bits: &u64| Suffix::new(if bits % 3 == 0 { u64::MAX } else { bits }, 64);
        let pattern = Pattern::new(short(add).chain(whole.iter().map(long)), short(remove));
        let matcher = Matcher::new(&pattern).unwrap();
        let neighbours = whole.iter().flat_map(|&id| [id, id ^ 1 << 63, !id]);
        for id in (0..16).chain([id, u64::MAX, u64::MAX - 1, 1 << 63]).chain(neighbours).map(ChangeId) {
            let last = pattern.terms().iter().rev().find_map(|term| match *term {
                Term::Add(suffix) => suffix.matches(id).then_some(true),
                Term::Remove(suffix) => suffix.matches(id).then_some(false),
            });
            prop_assert_eq!(matcher.should_report(id), last.unwrap_or(false), "{} {:?}", &pattern, id);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused_at_a_byte_of_it(text in "[v!yn01x3f+\\-é ]{0,12}") {
        match text.parse::<Pattern>() {
            Ok(pattern) => prop_assert_eq!(pattern.to_string().parse(), Ok(pattern)),
            Err(error) => prop_assert!(text.is_char_boundary(error.offset)),
        }
    }
}
