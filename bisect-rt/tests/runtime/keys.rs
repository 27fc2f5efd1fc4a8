//! The keys that distinguish one change of a toggle from another.

use crate::fixture::{Flavour, all_different, ids, probe, texts};

#[test]
fn a_site_is_its_place() {
    let run = probe(Flavour::Plain, &["site", "site"]).pattern("y").run();
    assert_eq!(ids(&run.reports).len(), 1, "reported once");
    let place = [
        bisect_core::Field::Str("site"),
        bisect_core::Field::Str("probe/src/toggles.rs"),
        bisect_core::Field::U64(6),
        bisect_core::Field::U64(5),
    ];
    assert_eq!(ids(&run.reports), [bisect_core::ChangeId::of(&place).0], "the same in every build");
    let run = probe(Flavour::Plain, &["site"]).pattern("vy").run();
    assert_eq!(texts(&run.reports)[0].1, "probe/src/toggles.rs:6:5 site");
}

#[test]
fn values_make_changes() {
    let run = probe(Flavour::Plain, &["keyed", "keyed"]).pattern("y").run();
    assert_eq!(all_different(ids(&run.reports)).len(), 4);
    let fast = probe(Flavour::FramePointers, &["keyed"]).pattern("y").run();
    assert_eq!(ids(&fast.reports), ids(&run.reports), "in another build");
}

#[test]
fn callers_make_changes() {
    let run = probe(Flavour::Plain, &["called", "called"]).pattern("vy").run();
    let texts = texts(&run.reports);
    let lines: Vec<_> = texts.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(lines, ["probe/src/main.rs:28:31 called", "probe/src/main.rs:29:31 called"]);
    assert_eq!(all_different(texts.iter().map(|(id, _)| id)).len(), 2);
    let fast = probe(Flavour::FramePointers, &["called"]).pattern("vy").run();
    assert_eq!(fast.reports, run.reports, "in another build");
}
