//! Tests of the precedence of variables, and of the contents of IDs.

use std::ffi::OsString;

use super::*;

fn read(variables: &[(&str, &str)]) -> Result<Bisection, String> {
    Bisection::read(|name| {
        let value = variables.iter().find(|(other, _)| *other == name);
        value.map(|(_, value)| (*value).to_owned()).ok_or(VarError::NotPresent)
    })
}

const PACKAGE: [(&str, &str); 2] = [("CARGO_PKG_NAME", "my-crate"), ("CARGO_PKG_VERSION", "1.0.0-rc.1+2")];
const OWN: &str = "BISECT_RUSTC_my_crate_1_0_0_rc_1_2";

#[test]
fn the_variable_of_the_package_comes_before_that_for_all() {
    let [name, version] = PACKAGE;
    for (variables, is_active, read_ones) in [
        (&[] as &[_], false, &[PATTERN] as &[_]),
        (&[(PATTERN, "y")], true, &[PATTERN]),
        (&[name, version], false, &[OWN, PATTERN]),
        (&[name, version, (PATTERN, "y")], true, &[OWN, PATTERN]),
        (&[name, version, (OWN, "y")], true, &[OWN]),
        (&[name, version, (PATTERN, "y"), (OWN, "")], false, &[OWN]),
        (&[(PATTERN, ""), (OWN, "y")], false, &[PATTERN]),
    ] {
        let bisection = read(variables).unwrap();
        assert_eq!(bisection.asks_for(&Gate::ALL), is_active, "{variables:?}");
        let names: Vec<_> = bisection.variables().iter().map(|variable| &*variable.name).collect();
        assert_eq!(names, read_ones, "{variables:?}");
    }
}

#[test]
fn names_belong_to_this_compiler_in_the_variable_of_a_package_only() {
    let [name, version] = PACKAGE;
    assert!(!read(&[(PATTERN, "newsort=y")]).unwrap().asks_for(&Gate::ALL));
    assert!(read(&[name, version, (OWN, "newsort=y")]).unwrap_err().starts_with(&format!("{OWN}=\"newsort=y\": ")));
}

#[test]
fn what_is_not_text_is_refused() {
    let problem = Bisection::read(|_| Err(VarError::NotUnicode(OsString::new()))).unwrap_err();
    assert!(problem.contains("not UTF-8"));
}

#[test]
fn ids_distinguish_gates_and_fields() {
    let bisection = read(&[]).unwrap();
    let f = [Field::Str("::f")];
    let ids = [
        bisection.id(Gate::Optimize, "a", &f),
        bisection.id(Gate::Halve, "a", &f),
        bisection.id(Gate::Optimize, "b", &f),
        bisection.id(Gate::Optimize, "a", &[Field::Str("::f"), Field::U64(1)]),
    ];
    for (i, id) in ids.iter().enumerate() {
        assert!(!ids[..i].contains(id), "{i}");
    }
}

#[test]
fn of_another_package_its_own_variable_counts() {
    let [name, version] = PACKAGE;
    let variables = [name, version, (OWN, "drops=y"), ("BISECT_RUSTC_b_1_0_0", "scopes=y"), (PATTERN, "halve=y")];
    let get = |name: &str| {
        let value = variables.iter().find(|(other, _)| *other == name);
        value.map(|(_, value)| (*value).to_owned()).ok_or(VarError::NotPresent)
    };
    let package = |name: &str| Some(Package { name: name.to_owned(), version: "1.0.0".to_owned() });
    for (package, gate) in [(package("b"), Gate::Scopes), (package("c"), Gate::Halve), (None, Gate::Halve)] {
        let bisection = Bisection::of(package.clone(), get).unwrap();
        let asked: Vec<_> = Gate::ALL.into_iter().filter(|&gate| bisection.asks_for(&[gate])).collect();
        assert_eq!(asked, [gate], "{package:?}");
    }
}

#[test]
fn the_variables_of_all_packages_can_ask_for_a_gate() {
    for (name, value, expected) in [
        (OWN, "drops=y", true),
        ("BISECT_RUSTC_b_1_0_0", "optimize=y;drops=on", true),
        ("BISECT_RUSTC_b_1_0_0", "drops=off", false),
        ("BISECT_RUSTC_b_1_0_0", "optimize=y", false),
        ("BISECT_RUSTC_b_1_0_0", "what=is this", false),
        (PATTERN, "drops=y;newsort=y", true),
        (PATTERN, "y", false),
        ("BISECT_REPORT", "drops=y", false),
    ] {
        let variables = [(name.into(), value.into()), ("OTHER".into(), "drops=y".into())];
        assert_eq!(any_package_asks_for(&Gate::OF_EDITIONS, variables.into_iter()), expected, "{name}={value}");
    }
}
