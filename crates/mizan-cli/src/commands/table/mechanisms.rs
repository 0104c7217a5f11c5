//! Table II: the Rényi-DP curves of basic mechanisms, with numbers.

use mizan_accounting::RenyiCurve;
use mizan_api::number::{OrderJson, finite};
use mizan_core::{Order, PrivacyEvent};
use mizan_report::{Column, Table, number};
use serde_json::json;

use crate::failure::Failure;
use crate::output::Output;

/// A row of Table II: the formulas, and an event as an example.
struct Row {
    mechanism: &'static str,
    pure: &'static str,
    above_one: &'static str,
    at_one: &'static str,
    example: &'static str,
}

const ROWS: [Row; 3] = [
    Row {
        mechanism: "Randomized response",
        pure: "|ln(p/(1-p))|",
        above_one: "ln(p^α (1-p)^(1-α) + (1-p)^α p^(1-α)) / (α-1)",
        at_one: "(2p-1) ln(p/(1-p))",
        example: "rr(0.75)",
    },
    Row {
        mechanism: "Laplace noise",
        pure: "1/λ",
        above_one: "ln(α/(2α-1) e^((α-1)/λ) + (α-1)/(2α-1) e^(-α/λ)) / (α-1)",
        at_one: "1/λ + e^(-1/λ) - 1",
        example: "laplace(1)",
    },
    Row {
        mechanism: "Gaussian noise",
        pure: "∞",
        above_one: "α/(2σ²)",
        at_one: "1/(2σ²)",
        example: "gaussian(2)",
    },
];

const ORDERS: [f64; 5] = [1.0, 2.0, 4.0, 10.0, f64::INFINITY];

pub(super) fn write(output: Output) -> Result<String, Failure> {
    let examples = ROWS
        .iter()
        .map(example)
        .collect::<Result<Vec<_>, Failure>>()?;
    Ok(output.either(
        || {
            let rows: Vec<_> = ROWS
                .iter()
                .zip(&examples)
                .map(|(row, values)| {
                    let curve: Vec<_> = ORDERS
                        .iter()
                        .zip(values)
                        .map(|(&order, &epsilon)| {
                            json!({"order": OrderJson::of(order), "epsilon": finite(epsilon)})
                        })
                        .collect();
                    json!({
                        "mechanism": row.mechanism, "pure": row.pure, "renyi": row.above_one,
                        "renyi_at_one": row.at_one, "example": row.example, "curve": curve,
                    })
                })
                .collect();
            json!({"table": 2, "rows": rows})
        },
        || {
            let mut formulas =
                Table::new([Column::text("mechanism"), Column::text("pure ε"), Column::text("ε(α), α > 1; at α = 1")]);
            let headings = ORDERS.map(|order| {
                let order = if order.is_finite() { order.to_string() } else { "∞".to_owned() };
                Column::number(format!("ε({order})"))
            });
            let mut numbers = Table::new(std::iter::once(Column::text("for example")).chain(headings));
            for (row, values) in ROWS.iter().zip(&examples) {
                formulas.row([row.mechanism, row.pure, row.above_one]);
                formulas.row(["", "", row.at_one]);
                let cells = values.iter().map(|&epsilon| number::epsilon_up(epsilon, 5));
                numbers.row(std::iter::once(row.example.to_owned()).chain(cells));
            }
            format!("Table II: Rényi-DP curves of basic mechanisms, sensitivity 1\n\n{formulas}\n\n{numbers}\n")
        },
    ))
}

fn example(row: &Row) -> Result<Vec<f64>, Failure> {
    let event: PrivacyEvent = row.example.parse()?;
    let curve = RenyiCurve::of(&event)?;
    let at = |order: &f64| Ok(curve.at(Order::new(*order)?).upper.get());
    ORDERS.iter().map(at).collect()
}
