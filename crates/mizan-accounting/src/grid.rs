//! Grids of orders at which a curve is evaluated.

use mizan_core::Order;

/// A non-empty list of orders, sorted, without repetition.
///
/// ```
/// use mizan_accounting::OrderGrid;
/// assert_eq!(OrderGrid::paper().orders().len(), 13);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OrderGrid(Vec<Order>);

impl OrderGrid {
    /// The 13 orders for which Mironov 2017, section VII, suggests to report.
    pub fn paper() -> Self {
        Self::sorted(
            [
                1.5,
                1.75,
                2.0,
                2.5,
                3.0,
                4.0,
                5.0,
                6.0,
                8.0,
                16.0,
                32.0,
                64.0,
                f64::INFINITY,
            ]
            .into_iter()
            .filter_map(|order| Order::new(order).ok()),
        )
    }

    /// Four orders per octave of α - 1 from 1/32 to 4096, and ∞: within half a percent of the continuum
    /// for costs between 0.01 and 100.
    pub fn standard() -> Self {
        let excess = (-20..=48).map(|quarter| 2f64.powf(f64::from(quarter) / 4.0));
        Self::sorted(
            excess
                .filter_map(|b| Order::new(1.0 + b).ok())
                .chain([Order::INFINITE]),
        )
    }

    /// The given orders; None if there are none.
    pub fn new(orders: impl IntoIterator<Item = Order>) -> Option<Self> {
        let grid = Self::sorted(orders);
        (!grid.0.is_empty()).then_some(grid)
    }

    /// The orders, smallest first.
    pub fn orders(&self) -> &[Order] {
        &self.0
    }

    fn sorted(orders: impl IntoIterator<Item = Order>) -> Self {
        let mut orders: Vec<Order> = orders.into_iter().collect();
        orders.sort_by(|a, b| a.get().total_cmp(&b.get()));
        orders.dedup();
        Self(orders)
    }
}
