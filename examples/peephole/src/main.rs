//! Runs programs: `peephole FILE...` prints what they show, optimized.

use std::{env, error::Error, fs, process::ExitCode};

use peephole::{gate::Gate, interpret, parse, rewrite};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peephole: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let gate = Gate::from_env()?;
    for file in env::args().skip(1) {
        let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        let program = parse::parse(&text).map_err(|error| format!("{file}:{error}"))?;
        for value in interpret::run(&rewrite::optimize(&program, &file, &gate)) {
            println!("{}", value?);
        }
    }
    Ok(())
}
