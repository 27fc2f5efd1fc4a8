//! Tests of the page: it is well-formed, small, and shows text of a target as text.

use std::time::Duration;

use super::render;
use crate::record::{
    CommandRecord, CulpritPositions, ResultRecord, SearchRecord,
    trial::{TrialContext, TrialEstimate, TrialOutcome, TrialRecord},
};

/// Elements without an end tag.
const VOID: [&str; 1] = ["meta"];
/// Elements whose content is not HTML.
const RAW: [&str; 2] = ["style", "script"];

/// Returns the record of a search with these numbers of changes and of trials. Each trial enables as many intervals as
/// a record has at most.
pub(in crate::output) fn generated(changes: usize, trials: usize) -> CommandRecord {
    let search = SearchRecord {
        search: 1,
        axis: "list".to_owned(),
        noun: "line".to_owned(),
        changes: Some(changes),
        culprits: vec![CulpritPositions { set: 1, positions: vec![changes / 3] }],
        ..SearchRecord::default()
    };
    let trial = |n: usize| {
        let selected: Vec<_> = (0..64).map(|i| (i * changes / 64, (2 * i + 1) * changes / 128)).collect();
        TrialRecord {
            n,
            is_repeat: n.is_multiple_of(5),
            pattern: selected.iter().map(|(start, end)| format!("{start}-{end}")).collect::<Vec<_>>().join("+"),
            matches: changes / 2,
            outcome: [TrialOutcome::Fail, TrialOutcome::Pass, TrialOutcome::Unresolved][n % 3],
            reason: "the status is 1".to_owned(),
            runs: 1,
            duration: Duration::from_millis(250),
            context: TrialContext {
                search: 1,
                question: "prefix".to_owned(),
                of: changes,
                selected,
                start_ms: 100 * u64::try_from(n).unwrap(),
                slot: n % 4,
                logs: vec![format!("{n}.log")],
                estimate: None,
            },
        }
    };
    let result = ResultRecord { start: Some(search.clone()), searches: vec![search], ..ResultRecord::default() };
    CommandRecord { result, trials: (1..=trials).map(trial).collect(), file: None }
}

/// Returns the names of the elements of a page, after a check that each is closed where it must be, that attributes are
/// quoted, and that every ampersand begins a reference.
fn elements(page: &str) -> Vec<&str> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
    let (mut open, mut all) = (Vec::new(), Vec::new());
    while let Some(at) = rest.find('<') {
        text(&rest[..at]);
        rest = &rest[at + 1..];
        let name_length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '/')).unwrap();
        let name = &rest[..name_length];
        rest = attributes(&rest[name_length..]);
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "before {rest:.80}");
            continue;
        }
        assert!(!name.is_empty(), "a `<` that is not escaped, before {rest:.80}");
        all.push(name);
        if RAW.contains(&name) {
            rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
        }
        if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert_eq!((open.as_slice(), rest.trim()), (&[][..], ""));
    all
}

/// Passes the attributes of a tag, and returns what follows the tag.
fn attributes(mut rest: &str) -> &str {
    while let Some(attribute) = rest.strip_prefix(' ') {
        let end = attribute.find(['=', ' ', '>']).unwrap();
        assert!(end > 0, "{attribute:.80}");
        rest = &attribute[end..];
        if let Some(value) = rest.strip_prefix("=\"") {
            let end = value.find('"').unwrap();
            assert!(!value[..end].contains('<'), "{value:.80}");
            text(&value[..end]);
            rest = &value[end + 1..];
        }
    }
    rest.strip_prefix('>').unwrap_or_else(|| panic!("a tag does not end before {rest:.80}"))
}

fn text(text: &str) {
    for (at, _) in text.match_indices('&') {
        let is_reference = ["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|known| text[at..].starts_with(known));
        assert!(is_reference, "{:.40}", &text[at..]);
    }
    assert!(!text.contains('>'), "{text}");
}

fn count(page: &str, part: &str) -> usize {
    page.matches(part).count()
}

#[test]
fn a_thousand_trials_of_many_changes_are_small_and_have_few_bars() {
    let page = render(&generated(100_000, 1000));
    assert!(page.len() <= 3_000_000, "{}", page.len());
    elements(&page);
    assert_eq!(count(&page, " data-row "), 2 * 1000, "a row and a bar in time for each trial");
    for row in page.split("<g class=\"row").skip(1).take(1000) {
        let bars = row.split("class=\"on\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!((1..=64).contains(&count(bars, "M")), "{bars}");
    }
    assert_eq!(count(&page, ">culprit 1</text>"), 1);
}

#[test]
fn of_very_many_trials_both_ends_are_shown() {
    let page = render(&generated(100, 50_000));
    assert!(page.len() <= 8_000_000, "{}", page.len());
    assert!(page.contains("48,000 rows in the middle are left out"));
    for (trial, is_shown) in [(999, true), (1001, false), (48_999, false), (49_001, true)] {
        assert_eq!(page.contains(&format!("trial {trial}: ")), is_shown, "{trial}");
    }
}

#[test]
fn rows_say_what_they_show() {
    let page = render(&generated(1204, 7));
    for part in [
        "aria-label=\"trial 7: pass, at most 600 of 1,204 changes, 0.2s\"",
        "aria-label=\"repeated run: unresolved, ",
        "question: where in the order does it begin to fail?",
        "log: runs/7.log",
        ">7 pass</text>",
        ">slot 3</text>",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    assert_eq!(count(&page, "tabindex=\"0\""), 7);
}

#[test]
fn estimates_are_strips_whose_opacity_is_the_probability() {
    let mut run = generated(10, 2);
    let rate = |mean: f64| serde_json::from_str(&format!(r#"{{"mean":{mean},"low":0.0,"high":1.0}}"#)).unwrap();
    let places = vec![(0, 5, 0.25), (7, 8, 0.001)];
    run.trials[1].context.estimate = Some(TrialEstimate { places, without: rate(0.1), with: rate(0.9), nothing: 0.03 });
    let page = render(&run);
    elements(&page);
    for part in ["opacity=\"0.25\"", "opacity=\"0.04\"", "3% nothing", "position 0–4: 25%", "position 7: 0%"] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    assert_eq!(count(&page, "class=\"likely\""), 2);
    assert!(!render(&generated(10, 2)).contains("class=\"likely\""), "nothing for a search that was not noisy");
}

#[test]
fn what_another_program_has_edited_is_shown_as_far_as_it_goes() {
    let mut run = generated(10, 3);
    let rate = || serde_json::from_str(r#"{"mean":2.0,"low":0.0,"high":-1.0}"#).unwrap();
    let context = &mut run.trials[0].context;
    (context.selected, context.of) = (vec![(9, 3), (usize::MAX, usize::MAX), (0, usize::MAX)], usize::MAX);
    let places = vec![(usize::MAX, usize::MAX, f64::MAX), (5, 2, -1.0)];
    context.estimate = Some(TrialEstimate { places, without: rate(), with: rate(), nothing: 7.0 });
    (run.trials[1].context.start_ms, run.trials[1].duration) = (u64::MAX, Duration::MAX);
    run.trials[2].context.search = 8;
    run.result.searches[0].culprits[0].positions = vec![usize::MAX; 500];
    let page = render(&run);
    elements(&page);
    assert!(page.contains("Runs outside of a search"), "{page}");
}

#[test]
fn text_of_a_target_stays_text() {
    let hostile = "</script><script>alert(1)</script>\"' onload=x & &amp; <img src=x> \u{1b}[31m\u{202e}\u{7}";
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/reports");
    let mut pages = 0;
    for folder in fs_err::read_dir(folder).unwrap() {
        let file = fs_err::read_to_string(folder.unwrap().path().join("result.json")).unwrap();
        let mut value: serde_json::Value = serde_json::from_str(&file).unwrap();
        let usual: ResultRecord = serde_json::from_str(&file).unwrap();
        taint(&mut value, hostile);
        let result: ResultRecord = serde_json::from_value(value).unwrap();
        let mut run = CommandRecord { result, ..generated(9, 9) };
        for trial in &mut run.trials {
            (trial.pattern, trial.reason) = (hostile.to_owned(), hostile.to_owned());
            trial.context.logs = vec![hostile.to_owned()];
        }
        let page = render(&run);
        let all = elements(&page);
        assert_eq!(all.iter().filter(|name| RAW.contains(name)).count(), 2, "one style, one script");
        assert!(!all.contains(&"img"));
        assert!(!page.contains(['\u{1b}', '\u{7}', '\u{202e}']));
        let usual = render(&CommandRecord { result: usual, ..CommandRecord::default() });
        elements(&usual);
        assert!(!usual.contains("http://") && !usual.contains("https://"), "nothing is loaded");
        pages += 1;
    }
    assert!(pages >= 6, "{pages}");
}

/// Adds text to all texts of a value but the names that the program itself chooses.
fn taint(value: &mut serde_json::Value, text: &str) {
    match value {
        serde_json::Value::String(old) => old.push_str(text),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| taint(item, text)),
        serde_json::Value::Object(fields) => {
            // A mode is one of two words.
            fields.iter_mut().filter(|(name, _)| *name != "mode").for_each(|(_, field)| taint(field, text));
        }
        _ => {}
    }
}
