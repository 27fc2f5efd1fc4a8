//! Prints the seats and prices of all guests of the evening.

use std::process::ExitCode;

use edition::{evening, office::Office, EVENING};

fn main() -> ExitCode {
    let office = Office::default();
    match evening::serve(&office, EVENING) {
        Ok(_) => {
            print!("{}", office.seating());
            ExitCode::SUCCESS
        }
        Err(line) => {
            eprintln!("this is no wish: {line}");
            ExitCode::FAILURE
        }
    }
}
