//! The end-to-end tests, in one executable: it is linked once, and its threads are busy until the last test.

mod build;
mod build_time;
mod cargo;
mod children;
mod codegen;
mod codegen_answer;
mod codegen_input;
mod codegen_lto;
mod codegen_rebuilds;
mod codegen_unresolved;
mod commits;
mod commits_of_cargo;
mod count;
mod crashes;
mod defaults;
mod deps;
mod deps_isolation;
mod deps_of_workspaces;
mod deps_registry;
mod deps_requirements;
mod deps_versions;
mod diff;
mod diff_of_cargo;
mod diff_of_files;
mod diff_of_packages;
mod edition;
mod edition_input;
mod exec;
mod failures;
mod features;
mod features_of_tests;
mod fixed;
mod flaky;
mod go_toolchain;
mod half_answers;
mod hangs;
mod hostile;
mod json;
mod killed;
mod launcher;
mod list;
mod listeners;
mod live_lines;
mod nextest;
mod occurrences;
mod page;
mod parallel;
mod peers;
mod per_test;
mod promises;
mod protocol;
mod release;
mod replay;
mod report;
mod reports;
mod resume;
mod schema;
mod signals;
mod since;
mod stacks;
mod target_dir;
mod temporary;
mod trace;
mod unsteady;
mod verdict;
mod victim;
mod victim_leaves_nothing;
mod victim_names;
mod victim_needs;
mod victim_processes;
mod victim_suites;
mod watch;
mod watch_sequences;

use std::{collections::BTreeSet, fs};

use bisect_tests::harness::root;

#[test]
fn every_file_is_a_module_of_this_one() {
    let modules = include_str!("main.rs").lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let modules: BTreeSet<_> = modules.map(str::to_owned).collect();
    let entries = fs::read_dir(root().join("tests/tests")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<_> = names.filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned())).collect();
    assert_eq!(modules, &files - &BTreeSet::from(["main".to_owned()]));
}
