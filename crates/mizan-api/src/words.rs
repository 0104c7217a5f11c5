//! Shortened texts, and the text of an order.

use mizan_core::Order;
use mizan_report::number;

/// A text cut to at most this many characters.
#[must_use]
pub fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        text.to_owned()
    } else {
        text.chars()
            .take(longest.saturating_sub(1))
            .chain(['…'])
            .collect()
    }
}

/// An order as text.
#[must_use]
pub fn order_text(order: Order) -> String {
    if order.is_finite() {
        number::nearest(order.get(), 5)
    } else {
        "∞".to_owned()
    }
}
