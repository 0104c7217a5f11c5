//! The Rényi orders of an account, fixed when it is created.
//!
//! The default: for Gaussian noise under a target (ε, δ) the best order α has α - 1 near
//! 2 ln(1/δ)/ε. An order whose α - 1 is off by a factor f costs (f + 1/f)/2 times as much, so
//! half octaves lose at most 1.5 %, and 0.5 % on average. From 1.5 to 4097 they serve every ε
//! from 0.01 to 50 at the usual δ. More orders would not pay: an account shares its δ between
//! them, and every charge writes an amount for each.

use mizan_core::{Code, Order};

/// The most orders an account may have.
pub const MAX_ORDERS: usize = 64;

/// Orders above one, increasing, with ∞ as the last of them or not at all.
///
/// ```
/// use mizan_ledger::Orders;
/// let orders = Orders::standard();
/// assert_eq!(orders.len(), 28);
/// assert!(orders.iter().any(|order| order.get() == 33.0));
/// assert!(orders.iter().last().is_some_and(|order| !order.is_finite()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Orders(Box<[Order]>);

impl Orders {
    /// Checks a list of orders.
    ///
    /// # Errors
    ///
    /// The list is empty, too long, not increasing, or has the order one, whose bound says
    /// nothing about (ε, δ).
    pub fn new(orders: impl IntoIterator<Item = Order>) -> Result<Self, OrdersError> {
        let orders: Box<[Order]> = orders.into_iter().take(MAX_ORDERS + 1).collect();
        if orders.is_empty() {
            return Err(OrdersError::Empty);
        }
        if orders.len() > MAX_ORDERS {
            return Err(OrdersError::TooMany);
        }
        let mut before = Order::ONE;
        for &order in &orders {
            if order <= before {
                return Err(OrdersError::NotIncreasing { order, before });
            }
            before = order;
        }
        Ok(Self(orders))
    }

    /// α - 1 in half octaves from 1/2 to 4096, as short decimals, and ∞.
    #[must_use]
    pub fn standard() -> Self {
        const STANDARD: [f64; 28] = [
            1.5,
            1.7,
            2.0,
            2.4,
            3.0,
            3.8,
            5.0,
            6.6,
            9.0,
            12.3,
            17.0,
            24.0,
            33.0,
            46.0,
            65.0,
            92.0,
            129.0,
            182.0,
            257.0,
            363.0,
            513.0,
            725.0,
            1025.0,
            1449.0,
            2049.0,
            2897.0,
            4097.0,
            f64::INFINITY,
        ];
        let orders = STANDARD.into_iter();
        Self(orders.filter_map(|order| Order::new(order).ok()).collect())
    }

    /// The orders, smallest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Order> + Clone + '_ {
        self.0.iter().copied()
    }

    /// The number of orders; never zero.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Why a list of orders is refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OrdersError {
    /// The list is empty.
    #[error("an account needs at least one order")]
    Empty,
    /// There are more than [`MAX_ORDERS`].
    #[error("an account has at most {MAX_ORDERS} orders")]
    TooMany,
    /// One is not above the one before it, or the first not above 1.
    #[error("orders must increase from above 1, got {order} after {before}")]
    NotIncreasing {
        /// The order that is too small.
        order: Order,
        /// The order before it.
        before: Order,
    },
}

impl OrdersError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Empty => Code::MZ1704,
            Self::TooMany => Code::MZ1705,
            Self::NotIncreasing { .. } => Code::MZ1706,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "leave the orders out for the standard list, or give some such as 2, 8, 32, inf"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(values: &[f64]) -> Result<Orders, OrdersError> {
        Orders::new(values.iter().map(|&value| Order::new(value).unwrap()))
    }

    #[test]
    fn the_standard_list_passes_its_own_check() {
        let standard = Orders::standard();
        assert_eq!(Orders::new(standard.iter()), Ok(standard));
    }

    #[test]
    fn neighbours_are_half_an_octave_apart() {
        let excess: Vec<f64> = Orders::standard().iter().map(|a| a.get() - 1.0).collect();
        for pair in excess.windows(2).filter(|pair| pair[1].is_finite()) {
            assert!((1.38..1.45).contains(&(pair[1] / pair[0])), "{pair:?}");
        }
    }

    #[test]
    fn bad_lists_are_refused() {
        assert_eq!(orders(&[]).unwrap_err().code(), "MZ1704");
        assert_eq!(orders(&[1.0]).unwrap_err().code(), "MZ1706");
        assert_eq!(orders(&[2.0, 2.0]).unwrap_err().code(), "MZ1706");
        assert_eq!(orders(&[f64::INFINITY, 2.0]).unwrap_err().code(), "MZ1706");
        let many: Vec<f64> = (2..70).map(f64::from).collect();
        assert_eq!(orders(&many).unwrap_err().code(), "MZ1705");
    }
}
