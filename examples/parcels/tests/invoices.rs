//! The invoices of one order.

use parcels::Order;

#[test]
fn the_parcels_cost_what_the_order_costs() {
    let order = Order::new(&[1_999, 499, 2_450, 899, 1_299]);
    let invoices: u32 = order.parcels().iter().map(Order::price).sum();
    assert_eq!(invoices, order.price(), "sum of the invoices");
}
