//! The text and the JSON of a profile.

use std::collections::BTreeMap;

use mizan_core::Bracket;
use mizan_core::directed::{add_down, add_up, mul_down, mul_up};
use mizan_report::{Column, Table, Terminal, number};

use super::super::text::wrapped;
use super::{Profile, STEPS, at};
use crate::account::json::{Bound, Ends, ProfilePoint, Rate};
use crate::number::finite;
use crate::words::shortened;

/// The false-positive rates in the text.
const TOLD: [f64; 4] = [0.001, 0.01, 0.1, 0.5];

/// The false-positive rates in the JSON.
const LISTED: [f64; 20] = [
    0.0, 1e-6, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8,
    0.9, 0.95, 1.0,
];

impl Profile {
    /// The points, as CSV.
    #[must_use]
    pub fn csv(&self, event: &str) -> String {
        self.data(&shortened(event, 60)).to_csv()
    }

    pub(in super::super) fn text(&self, terminal: &Terminal) -> String {
        let (panel, left_out) = self.chart();
        let mut text = terminal.chart(&panel);
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            text += &wrapped(&format!("Not drawn here (--svg FILE draws them): {names}"));
        }
        text + "\n" + &self.attacker()
    }

    fn attacker(&self) -> String {
        let Bracket { lower, upper } = self.trade_off.advantage();
        let reached = self.exact.then(|| Column::number("best attack at least"));
        let columns = [
            Column::number("false-positive rate"),
            Column::number("true-positive rate at most"),
        ];
        let mut table = Table::new(columns.into_iter().chain(reached));
        for rate in TOLD {
            let missed = self.false_negative(rate);
            let most = percent_up(add_up(1.0, -missed.lower));
            let least = percent_down(add_down(1.0, -missed.upper));
            let accepted = format!("{} %", number::nearest(rate * 100.0, 3));
            let row = [accepted, most];
            table.row(row.into_iter().chain(self.exact.then_some(least)));
        }
        let mut text =
            format!("Membership inference by an attacker who knows all other data:\n{table}\n");
        let reached = if self.exact {
            format!(
                ", and the best attack reaches {}",
                percent_down(lower.get())
            )
        } else {
            String::new()
        };
        text += &wrapped(&format!(
            "The advantage of any attack (true-positive minus false-positive rate) is at most \
             {}{reached}.",
            percent_up(upper.get())
        ));
        text
    }

    /// Delta at every epsilon, for the JSON.
    #[must_use]
    pub fn points(&self) -> Vec<ProfilePoint> {
        let point = |step| {
            let (method, upper, lower) = self.best(step)?;
            let methods = self.curves.iter().filter_map(|curve| {
                let delta = at(&curve.deltas, step)?;
                Some((curve.method.name().to_owned(), finite(delta)))
            });
            Some(ProfilePoint {
                epsilon: self.epsilon(step),
                delta: Bound {
                    upper: finite(upper),
                    lower: lower.and_then(finite),
                    method: method.name().to_owned(),
                },
                methods: methods.collect::<BTreeMap<_, _>>(),
            })
        };
        (0..=STEPS).filter_map(point).collect()
    }

    /// The trade-off of an attacker, for the JSON.
    #[must_use]
    pub fn rates(&self) -> Vec<Rate> {
        let rate = |rate| Rate {
            false_positive: rate,
            false_negative: self.ends(self.false_negative(rate)),
        };
        LISTED.into_iter().map(rate).collect()
    }

    /// The advantage of any attack, for the JSON.
    #[must_use]
    pub fn advantage(&self) -> Ends {
        let Bracket { lower, upper } = self.trade_off.advantage();
        Ends {
            upper: finite(upper.get()),
            lower: self.exact.then_some(lower.get()),
        }
    }

    /// A false-negative rate. Its upper end is given only if an attack is known to reach it.
    fn ends(&self, rate: Bracket<f64>) -> Ends {
        Ends {
            upper: self.exact.then_some(rate.upper),
            lower: finite(rate.lower),
        }
    }
}

fn percent_up(rate: f64) -> String {
    format!(
        "{} %",
        number::epsilon_up(mul_up(rate, 100.0).min(100.0), 4)
    )
}

fn percent_down(rate: f64) -> String {
    format!("{} %", number::down(mul_down(rate, 100.0).max(0.0), 4))
}
