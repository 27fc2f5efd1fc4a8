//! Which variable counts, and what the IDs are made of.

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
        assert_eq!(bisection.is_active(), is_active, "{variables:?}");
        let names: Vec<_> = bisection.variables().iter().map(|variable| &*variable.name).collect();
        assert_eq!(names, read_ones, "{variables:?}");
    }
}

#[test]
fn names_belong_to_this_compiler_in_the_variable_of_a_package_only() {
    let [name, version] = PACKAGE;
    assert!(!read(&[(PATTERN, "newsort=y")]).unwrap().is_active());
    assert!(read(&[name, version, (OWN, "newsort=y")]).unwrap_err().starts_with(&format!("{OWN}=\"newsort=y\": ")));
}

#[test]
fn what_is_not_text_is_refused() {
    let problem = Bisection::read(|_| Err(VarError::NotUnicode(OsString::new()))).unwrap_err();
    assert!(problem.contains("not UTF-8"));
}

#[test]
fn ids_tell_gates_and_fields_apart() {
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
