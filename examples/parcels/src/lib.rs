//! Invoices of a mail-order shop. Its features are cargo features.

/// The number of articles in a parcel.
const ARTICLES_IN_PARCEL: usize = if cfg!(feature = "split") { 3 } else { usize::MAX };

/// The value of a voucher, in cents.
const VOUCHER: u32 = if cfg!(feature = "voucher") { 500 } else { 0 };

/// The price of the delivery of an article, in cents.
const DELIVERY: u32 = match (cfg!(feature = "island"), cfg!(feature = "express")) {
    (true, _) => 350,
    (false, true) => 200,
    (false, false) => 80,
};

/// An order: the prices of its articles, in cents.
#[derive(Clone, Debug)]
pub struct Order {
    articles: Vec<u32>,
}

impl Order {
    /// Creates an order of articles with these prices.
    #[must_use]
    pub fn new(articles: &[u32]) -> Self {
        Self { articles: articles.to_vec() }
    }

    /// Returns the price of the order.
    #[must_use]
    pub fn price(&self) -> u32 {
        self.articles.iter().map(|&article| with_extras(article)).sum::<u32>().saturating_sub(VOUCHER)
    }

    /// Returns the orders that are sent in one parcel each.
    #[must_use]
    pub fn parcels(&self) -> Vec<Order> {
        self.articles.chunks(ARTICLES_IN_PARCEL).map(Self::new).collect()
    }
}

/// Returns the price of an article with its delivery.
fn with_extras(article: u32) -> u32 {
    let wrapping = if cfg!(feature = "gift") { 120 } else { 0 };
    let printing = if cfg!(feature = "paper") { 5 } else { 0 };
    article + DELIVERY + wrapping + printing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_costs_more_than_its_delivery() {
        let order = Order::new(&[1_000, 2_500]);
        assert!(order.price() > 2 * DELIVERY);
        assert_eq!(order.parcels().len(), 1);
    }
}
