//! Table I: the guarantees of the definitions, with an example of each.

use mizan_accounting::{OrderGrid, RenyiCurve};
use mizan_core::{Count, Epsilon, Order, PrivacyEvent, Probability};
use mizan_report::{Column, Table, number};
use serde_json::json;

use crate::failure::Failure;
use crate::output::Output;

/// The guarantee of the examples, with the numbers of the paper.
const EXAMPLE: &str = "rdp(10, 0.1)";
const ORDER: f64 = 10.0;

struct Row {
    property: &'static str,
    differential: &'static str,
    renyi: &'static str,
    example: String,
}

pub(super) fn write(output: Output) -> Result<String, Failure> {
    let rows = rows()?;
    Ok(output.either(
        || {
            let rows: Vec<_> = rows
                .iter()
                .map(|row| {
                    json!({
                        "property": row.property, "differential": row.differential,
                        "renyi": row.renyi, "example": row.example,
                    })
                })
                .collect();
            json!({"table": 1, "example": EXAMPLE, "rows": rows})
        },
        || {
            let mut table = Table::new([
                Column::text("property"),
                Column::text("ε-DP"),
                Column::text("(α, ε)-RDP"),
                Column::text(format!("for {EXAMPLE}")),
            ]);
            for row in &rows {
                table.row([
                    row.property,
                    row.differential,
                    row.renyi,
                    row.example.as_str(),
                ]);
            }
            format!("Table I: guarantees of the definitions\n\n{table}\n")
        },
    ))
}

fn rows() -> Result<Vec<Row>, Failure> {
    let event: PrivacyEvent = EXAMPLE.parse()?;
    let curve = RenyiCurve::of(&event)?;
    let range = curve.bad_outcome_by_proposition_10(Probability::new(0.5)?);
    let bayes = curve.bayes_factor(2.0);
    let twice = RenyiCurve::of(&PrivacyEvent::Repeat {
        count: Count::TWO,
        event: Box::new(event.clone()),
    })?;
    let composed = twice.at(Order::new(ORDER)?).upper;
    let group = RenyiCurve::of(&PrivacyEvent::Group {
        size: Count::TWO,
        event: Box::new(event),
    })?;
    let (group_order, group_epsilon) = largest(&group);
    Ok(vec![
        Row {
            property: "bad outcome",
            differential: "P <= e^ε Q",
            renyi: "P <= (e^ε Q)^((α-1)/α), P >= e^-ε Q^(α/(α-1))",
            example: format!(
                "0.5 stays within [{}, {}]",
                number::down(range.low.get(), 3),
                number::epsilon_up(range.high.get(), 3)
            ),
        },
        Row {
            property: "belief",
            differential: "odds move by at most e^ε",
            renyi: "by more than β with probability at most (e^ε/β)^(α-1)",
            example: format!(
                "they double with probability <= {}",
                number::delta_up(bayes.probability.get())
            ),
        },
        Row {
            property: "post-processing",
            differential: "keeps ε",
            renyi: "keeps (α, ε)",
            example: "stays (10, 0.1)".to_owned(),
        },
        Row {
            property: "composition",
            differential: "ε₁ + ε₂",
            renyi: "(α, ε₁ + ε₂), also adaptively",
            example: format!("twice: (10, {})", number::epsilon_up(composed.get(), 4)),
        },
        Row {
            property: "group of 2^c",
            differential: "2^c ε",
            renyi: "(α/2^c, 3^c ε) for α >= 2^(c+1); the best p in Proposition 11 is better",
            example: format!(
                "two: ({}, {})",
                number::nearest(group_order, 4),
                number::epsilon_up(group_epsilon.get(), 4)
            ),
        },
    ])
}

/// The largest finite order with a finite guarantee, near half the reported.
fn largest(curve: &RenyiCurve) -> (f64, Epsilon) {
    let half = ORDER / 2.0;
    let orders = OrderGrid::paper();
    let at =
        |order: f64| Order::new(order).map_or(Epsilon::INFINITE, |order| curve.at(order).upper);
    let known = orders
        .orders()
        .iter()
        .rev()
        .map(|order| order.get())
        .find(|&order| at(order).is_finite());
    let order = if at(half).is_finite() {
        half
    } else {
        known.unwrap_or(1.0)
    };
    (order, at(order))
}
