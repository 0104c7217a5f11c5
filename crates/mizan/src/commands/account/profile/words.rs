//! The profile in words, and for programs.

use std::path::Path;

use mizan_core::Bracket;
use mizan_core::directed::{add_down, add_up, mul_down, mul_up};
use mizan_report::{Column, Table, Terminal, number};
use serde_json::{Map, Value, json};

use super::super::text::wrapped;
use super::{Profile, STEPS, at};
use crate::failure::Failure;
use crate::output::{self, json_number};

/// False-positive rates that are told in words.
const TOLD: [f64; 4] = [0.001, 0.01, 0.1, 0.5];

/// And those that programs read.
const LISTED: [f64; 20] = [
    0.0, 1e-6, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8,
    0.9, 0.95, 1.0,
];

impl Profile {
    /// Writes the files that were asked for.
    pub(in super::super) fn save(
        &self,
        event: &str,
        svg: Option<&Path>,
        csv: Option<&Path>,
    ) -> Result<(), Failure> {
        let event = output::shortened(event, 60);
        if let Some(path) = svg {
            output::write_file(path, &self.figure(&event).to_svg())?;
        }
        if let Some(path) = csv {
            output::write_file(path, &self.data(&event).to_csv())?;
        }
        Ok(())
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
        let reached = self
            .exact
            .then(|| Column::number("the best finds at least"));
        let columns = [
            Column::number("false alarms accepted"),
            Column::number("people found at most"),
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
        let mut text = format!(
            "An attacker who knows everything but whether a person's data were used:\n{table}\n"
        );
        let reached = if self.exact {
            format!(", and the best reaches {}", percent_down(lower.get()))
        } else {
            String::new()
        };
        text += &wrapped(&format!(
            "The advantage of any attack (found less false alarms) is at most {}{reached}.",
            percent_up(upper.get())
        ));
        text
    }

    /// The keys `profile`, `trade_off` and `advantage`.
    pub(in super::super) fn json(&self) -> [(&'static str, Value); 3] {
        let profile = (0..=STEPS).filter_map(|step| {
            let (method, upper, lower) = self.best(step)?;
            let methods: Map<_, _> = self
                .curves
                .iter()
                .filter_map(|curve| {
                    let delta = at(&curve.deltas, step)?;
                    Some((curve.method.name().to_owned(), json_number(delta)))
                })
                .collect();
            Some(json!({
                "epsilon": json_number(self.epsilon(step)),
                "delta": {
                    "upper": json_number(upper),
                    "lower": lower.map(json_number),
                    "method": method.name(),
                },
                "methods": methods,
            }))
        });
        let rates = LISTED.map(|rate| {
            json!({"false_positive": rate, "false_negative": self.ends(self.false_negative(rate))})
        });
        let Bracket { lower, upper } = self.trade_off.advantage();
        let advantage = Bracket {
            lower: lower.get(),
            upper: upper.get(),
        };
        [
            ("profile", profile.collect()),
            ("trade_off", json!(rates)),
            (
                "advantage",
                json!({
                    "upper": json_number(advantage.upper),
                    "lower": self.exact.then(|| json_number(advantage.lower)),
                }),
            ),
        ]
    }

    /// A false-negative rate: its upper end only where something is known to
    /// reach it.
    fn ends(&self, rate: Bracket<f64>) -> Value {
        json!({
            "upper": self.exact.then(|| json_number(rate.upper)),
            "lower": json_number(rate.lower),
        })
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
