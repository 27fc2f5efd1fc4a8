//! Toggles that `BISECT_FIX` fixes in the driver's build: listed, left out of searches, and refused by name.

use bisect_tests::harness::{Fixture, run};

#[test]
fn fixed_toggles_are_listed_and_misspelt_names_noted() {
    let fixture = Fixture::new("calls");
    let mut list = fixture.driver(["toggles", "--offline"]);
    let listed = run(list.env("BISECT_FIX", "line=off;bel=on")).expect_status(0);
    let defaults: Vec<_> = listed.stdout.lines().map(|row| (row.split(' ').next(), row.rsplit("  ").next())).collect();
    let expected = [("NAME", "DEFAULT"), ("bell", "on"), ("line", "fixed off")];
    assert_eq!(defaults, expected.map(|(name, default)| (Some(name), Some(default))), "{listed}");
    listed.expect_message(&["note: BISECT_FIX fixes nothing", "`bel` (did you mean `bell`?)"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_fixed_toggle_is_not_searched() {
    let fixture = Fixture::new("calls");
    // With the old lines, nothing fails.
    let mut search = fixture.driver(["test", "--offline", "four_operators"]);
    let searched = run(search.env("BISECT_FIX", "line=off")).expect_status(1);
    searched.expect_message(&["1 run-time toggle (bell)", "not searched: `line` is fixed off"]);

    let mut search = fixture.driver(["test", "--offline", "--toggle", "line", "four_operators"]);
    run(search.env("BISECT_FIX", "line=off")).expect_status(3).expect_message(&["`line` is fixed off in this build"]);
}

#[test]
fn cargos_configuration_fixes_toggles() {
    let fixture = Fixture::new("calls");
    fixture.write(".cargo/config.toml", "[env]\nBISECT_FIX = \"line=off;bel=off\"\n");
    let listed = run(&mut fixture.driver(["toggles", "--offline"])).expect_status(0);
    assert!(listed.stdout.lines().any(|row| row.starts_with("line ") && row.ends_with("fixed off")), "{listed}");
    listed.expect_message(&["`bel` (did you mean `bell`?)"]);
}
