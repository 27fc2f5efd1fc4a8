//! The variables that cargo-nextest sets in the process of each test.

use std::{collections::BTreeMap, ffi::OsString, sync::OnceLock};

use crate::run::seed::random_number;

/// Returns the variables that nextest sets in the process of each test. `programs` are those that cargo sets.
pub(super) fn of_test(programs: &BTreeMap<String, OsString>) -> BTreeMap<String, OsString> {
    let name_of = |name: &String| Some(format!("NEXTEST_BIN_EXE_{}", name.strip_prefix("CARGO_BIN_EXE_")?));
    let programs = programs.iter().filter_map(|(name, path)| Some((name_of(name)?, path.clone())));
    let fixed = [("NEXTEST", "1"), ("NEXTEST_EXECUTION_MODE", "process-per-test"), ("NEXTEST_RUN_ID", run_id())];
    programs.chain(fixed.map(|(name, value)| (name.to_owned(), value.into()))).collect()
}

/// Returns the ID of all runs of this process: a random UUID, as nextest has one for each of its own.
fn run_id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        let (a, b) = (random_number(), random_number());
        let (third, fourth) = (a & 0xfff | 0x4000, (b >> 48) & 0x3fff | 0x8000);
        format!("{:08x}-{:04x}-{third:04x}-{fourth:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, b & 0xffff_ffff_ffff)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_a_test() {
        let programs = [("CARGO_BIN_EXE_tool".to_owned(), "/x/tool".into()), ("OUT_DIR".to_owned(), "/y".into())];
        let variables = of_test(&programs.into());
        let names: Vec<_> = variables.keys().map(String::as_str).collect();
        assert_eq!(names, ["NEXTEST", "NEXTEST_BIN_EXE_tool", "NEXTEST_EXECUTION_MODE", "NEXTEST_RUN_ID"]);
        assert_eq!(variables["NEXTEST_BIN_EXE_tool"], "/x/tool");
        let id = run_id();
        assert_eq!(id.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{id}");
        assert!(id.split('-').nth(2).unwrap().starts_with('4'), "a random UUID: {id}");
    }
}
