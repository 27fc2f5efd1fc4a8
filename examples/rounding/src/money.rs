//! Amounts of money and the two ways to round half a cent.

use std::{
    fmt,
    iter::Sum,
    ops::{Add, Mul, Sub},
};

/// An amount of money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cents(pub u64);

/// The rule for half a cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Half a cent becomes a whole one.
    HalfUp,
    /// Half a cent goes to the even neighbour, so that errors cancel in the long run.
    HalfEven,
}

/// Computes `rate` percent of an amount.
pub(crate) fn percent(amount: Cents, rate: u64, rounding: Rounding) -> Cents {
    let hundredths = amount.0 * rate;
    let (floor, rest) = (hundredths / 100, hundredths % 100);
    let up = match rounding {
        Rounding::HalfUp => rest >= 50,
        Rounding::HalfEven => rest > 50 || rest == 50 && floor % 2 == 1,
    };
    Cents(floor + u64::from(up))
}

impl Cents {
    /// Returns the difference between two amounts.
    #[must_use]
    pub fn distance(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl Add for Cents {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Cents {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Cents {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl Sum for Cents {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        Self(amounts.map(|amount| amount.0).sum())
    }
}

impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_half_a_cent_is_rounded_differently() {
        let both = |amount| [Rounding::HalfUp, Rounding::HalfEven].map(|rule| percent(Cents(amount), 5, rule).0);
        assert_eq!(both(9), [0, 0]);
        assert_eq!(both(10), [1, 0], "0.5");
        assert_eq!(both(11), [1, 1]);
        assert_eq!(both(30), [2, 2], "1.5");
    }

    #[test]
    fn amounts_are_printed_with_two_digits_of_cents() {
        assert_eq!(Cents(1_205).to_string(), "12.05");
    }
}
