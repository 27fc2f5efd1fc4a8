//! Prints the season's page.

use std::{error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let csv = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/results.csv"))?;
    print!("{}", newsort::page::season(&newsort::read(&csv)?));
    Ok(())
}
