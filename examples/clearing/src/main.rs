//! Prints the ledger as it is in the evening.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut ledger = clearing::morning();
    if let Err(line) = clearing::clear(&mut ledger, clearing::DAY) {
        eprintln!("cannot be booked: {line}");
        return ExitCode::FAILURE;
    }
    print!("{}", clearing_statement::statement(&ledger));
    ExitCode::SUCCESS
}
