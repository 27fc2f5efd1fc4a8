//! Receipts of a shop, in the language and the width that variables of the environment choose.

use std::env;

/// A receipt, as the till prints it.
#[derive(Clone, Debug, Default)]
pub struct Receipt {
    lines: Vec<(String, u32)>,
}

impl Receipt {
    /// Adds an item with its price in cents.
    #[must_use]
    pub fn with(mut self, item: &str, cents: u32) -> Self {
        self.lines.push((item.to_owned(), cents));
        self
    }

    /// Returns the text of the receipt.
    #[must_use]
    pub fn print(&self) -> String {
        let width = columns();
        let total = self.lines.iter().map(|(_, cents)| cents).sum();
        let lines = self.lines.iter().map(|(item, cents)| line(item, *cents, width));
        lines.chain([line("total", total, width)]).collect::<Vec<_>>().join("\n")
    }
}

/// Returns one line: the item on the left, the price on the right.
fn line(item: &str, cents: u32, width: usize) -> String {
    let price = price(cents);
    let left = width.saturating_sub(price.len());
    format!("{item:<left$}{price}")
}

/// Returns a price with the decimal separator of the language.
fn price(cents: u32) -> String {
    let language = first_set(&["LC_ALL", "LC_MONETARY", "LANG"]);
    let separator =
        if ["de", "fr", "it"].iter().any(|with_comma| language.starts_with(with_comma)) { ',' } else { '.' };
    format!("{}{separator}{:02}", cents / 100, cents % 100)
}

/// Returns the value of the first of these variables that has one.
fn first_set(names: &[&str]) -> String {
    names.iter().filter_map(|name| env::var(name).ok()).find(|value| !value.is_empty()).unwrap_or_default()
}

/// Returns the width of the paper.
fn columns() -> usize {
    env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(24)
}
