//! Accounts and their bookings.

/// The account of one owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The name of the owner.
    pub owner: String,
    /// The balance, in cents.
    pub cents: i64,
    /// The number of bookings.
    pub bookings: u64,
}

/// All accounts of a bank, in the order in which they were opened.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    accounts: Vec<Account>,
}

impl Ledger {
    /// Returns the accounts.
    #[must_use]
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// Returns the sum of all balances, in cents.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.accounts.iter().map(|account| account.cents).sum()
    }

    /// Opens an account.
    pub fn open(&mut self, owner: &str, cents: i64) {
        self.accounts.push(Account { owner: owner.to_owned(), cents, bookings: 0 });
    }

    /// Books a payment. Returns `false` if the payer or the payee has no account.
    pub fn pay(&mut self, from: &str, to: &str, instalments: &[i64]) -> bool {
        let place = |owner: &str| self.accounts.iter().position(|account| account.owner == owner);
        let (Some(from), Some(to)) = (place(from), place(to)) else { return false };
        let accounts = self.accounts.as_mut_ptr();
        // SAFETY: both are accounts of this ledger, and the payer is not the payee.
        let (from, to) = unsafe { (&mut *accounts.add(from), &mut *accounts.add(to)) };
        book(from, to, instalments);
        true
    }
}

/// Moves each instalment from one account to another.
pub fn book(from: &mut Account, to: &mut Account, instalments: &[i64]) {
    for cents in instalments {
        from.cents -= cents;
        from.bookings += 1;
        to.cents += cents;
        to.bookings += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_pays_the_other_has() {
        let mut ledger = Ledger::default();
        ledger.open("ann", 10_000);
        ledger.open("bob", 0);
        assert!(ledger.pay("ann", "bob", &[1_250, 300]));
        assert!(!ledger.pay("ann", "cat", &[100]));
        let cents: Vec<_> = ledger.accounts().iter().map(|account| (account.cents, account.bookings)).collect();
        assert_eq!(cents, [(8_450, 2), (1_550, 2)]);
    }
}
