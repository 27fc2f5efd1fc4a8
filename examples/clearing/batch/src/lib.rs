//! Parser of payment files. Each line is a payment, `from > to: 12.50 3.00`, with an amount for each instalment.

/// A payment, in one or several instalments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// The payer.
    pub from: String,
    /// The payee.
    pub to: String,
    /// The amount of each instalment, in cents.
    pub instalments: Vec<i64>,
}

/// Parses the payments of a file.
///
/// # Errors
/// Returns the first line that is not a payment.
pub fn read(text: &str) -> Result<Vec<Payment>, String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| payment(line).ok_or_else(|| line.to_owned())).collect()
}

fn payment(line: &str) -> Option<Payment> {
    let (parties, amounts) = line.split_once(':')?;
    let (from, to) = parties.split_once('>')?;
    let instalments = amounts.split_whitespace().map(cents).collect::<Option<_>>()?;
    Some(Payment { from: from.trim().to_owned(), to: to.trim().to_owned(), instalments })
}

/// Parses `12.50` as 1250.
fn cents(amount: &str) -> Option<i64> {
    let (whole, rest) = amount.split_once('.')?;
    let rest = if rest.len() == 2 { rest.parse::<u8>().ok()? } else { return None };
    whole.parse::<i64>().ok()?.checked_mul(100)?.checked_add(rest.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_payment() {
        let payments = read("# rent\n\nann > bob: 12.50 3.00\n").unwrap();
        assert_eq!(payments, [Payment { from: "ann".into(), to: "bob".into(), instalments: vec![1_250, 300] }]);
    }

    #[test]
    fn what_is_no_payment_is_said() {
        assert_eq!(read("ann > bob: 1.00\nann: 3.00"), Err("ann: 3.00".to_owned()));
        assert_eq!(read("ann > bob: 3.5"), Err("ann > bob: 3.5".to_owned()));
    }
}
