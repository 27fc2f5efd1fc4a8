//! The programs show the same values with and without the optimizer.

use std::{fs, path::Path};

use peephole::{gate::Gate, interpret, parse, rewrite};

#[test]
fn optimized_programs_show_the_same_values() {
    let gate = Gate::from_env().expect("the variables are those of a search");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let entries = fs::read_dir(folder).expect("the folder of the programs");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(!files.is_empty());

    // All are optimized before any is run, so that a run that fails reports as many changes as one that passes.
    let programs = files.iter().map(|path| {
        let name = path.file_name().expect("a file").to_string_lossy();
        let program = parse::parse(&fs::read_to_string(path).expect("a text"));
        let program = program.unwrap_or_else(|error| panic!("{name}:{error}"));
        // Reports name the file from the root of the workspace, so that the driver finds it there.
        let optimized = rewrite::optimize(&program, &format!("examples/peephole/programs/{name}"), &gate);
        (name, program, optimized)
    });
    for (name, program, optimized) in programs.collect::<Vec<_>>() {
        let (plain, optimized) = (interpret::run(&program), interpret::run(&optimized));
        for (shown, (plain, optimized)) in program.shown.iter().zip(plain.into_iter().zip(optimized)) {
            assert_eq!(plain, optimized, "{name}: without and with the optimizer: {shown}");
        }
    }
}
