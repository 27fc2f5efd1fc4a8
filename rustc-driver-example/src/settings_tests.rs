//! Tests of the settings that values of the variables make, and of the errors of malformed values.

use super::*;

const IDS: [ChangeId; 4] = [ChangeId(0), ChangeId(1), ChangeId(2), ChangeId(3)];

/// Returns which of the IDs are on, and which are reported.
fn answers(value: &str, names: Names, gate: Gate) -> ([bool; 4], [bool; 4]) {
    let settings = Settings::parse(value, names).unwrap();
    (IDS.map(|id| settings.should_enable(gate, id)), IDS.map(|id| settings.should_report(gate, id).is_some()))
}

#[test]
fn a_pattern_without_a_name_is_for_gates_that_are_on_by_default() {
    let odd = [false, true, false, true];
    for names in [Names::Gates, Names::Shared] {
        assert_eq!(answers("1", names, Gate::Optimize), (odd, odd));
        assert_eq!(answers("!1", names, Gate::Optimize), (odd.map(|on| !on), odd));
        assert_eq!(answers("1", names, Gate::Halve), ([false; 4], [false; 4]));
        assert_eq!(answers("", names, Gate::Optimize), ([true; 4], [false; 4]));
    }
}

#[test]
fn gates_are_set_by_name() {
    let odd = [false, true, false, true];
    for (value, optimize, halve) in [
        ("halve=1", ([true; 4], [false; 4]), (odd, odd)),
        ("optimize=1", (odd, odd), ([false; 4], [false; 4])),
        ("optimize=1;halve=y", (odd, odd), ([true; 4], [true; 4])),
        ("optimize=off;halve=on", ([false; 4], [false; 4]), ([true; 4], [false; 4])),
        ("optimize=;halve=", ([true; 4], [false; 4]), ([false; 4], [false; 4])),
    ] {
        assert_eq!(answers(value, Names::Gates, Gate::Optimize), optimize, "{value}");
        assert_eq!(answers(value, Names::Gates, Gate::Halve), halve, "{value}");
    }
}

/// Returns true if the settings ask for at least one gate.
fn asks(settings: &Settings) -> bool {
    Gate::ALL.iter().any(|&gate| settings.asks_for(gate))
}

#[test]
fn what_changes_nothing_is_the_default() {
    for value in ["", "optimize=", "optimize=on", "halve=off", "optimize=on;halve=off", "drops=off;scopes="] {
        assert!(!asks(&Settings::parse(value, Names::Gates).unwrap()), "{value}");
    }
    for value in ["y", "n", "v01", "optimize=off", "halve=on", "halve=y", "drops=on", "never-type=n"] {
        assert!(asks(&Settings::parse(value, Names::Gates).unwrap()), "{value}");
    }
    assert!(!asks(&Settings::parse("newsort=v01;hash-order=off", Names::Shared).unwrap()));
}

#[test]
fn malformed_values_are_refused_with_the_byte() {
    for (value, offset) in [
        ("q", 0),
        ("+0-1x", 4),
        ("optimize=q", 9),
        ("halve=y;optimize=+0-1x", 21),
        ("halve=y;", 8),
        ("halve=y;optimize", 16),
        ("halve=y;halve=n", 8),
        ("=y", 0),
    ] {
        let problem = Settings::parse(value, Names::Gates).unwrap_err();
        assert!(problem.contains(&format!("byte {offset}")), "{value}: {problem}");
    }
    let problem = Settings::parse("halve=y;newsort=y", Names::Gates).unwrap_err();
    assert!(problem.contains("no gate \"newsort\"") && problem.contains("halve"), "{problem}");
    // A malformed value is an error even if its names are those of toggles.
    assert!(Settings::parse("newsort=q", Names::Shared).is_err());
    assert!(Settings::parse("newsort=y;newsort=y", Names::Shared).is_err());
}

#[test]
fn gates_are_asked_for_one_by_one() {
    let settings = Settings::parse("drops=v01;scopes=off;into-iter=on;never-type=y", Names::Gates).unwrap();
    let asked = Gate::ALL.map(|gate| (settings.asks_for(gate), settings.is_verbose(gate)));
    let no = (false, false);
    assert_eq!(asked, [no, no, no, (true, true), no, no, (true, false), (true, false)]);
}
