//! `mizan curve`: the Rényi budget curve of an event.

use std::path::PathBuf;

use mizan_accounting::RenyiCurve;
use mizan_core::{Bracket, Epsilon, Order};
use mizan_report::{Axis, Column, Figure, Panel, Series, Table, number};
use serde_json::json;

use crate::define::Defined;
use crate::failure::Failure;
use crate::input::{self, Expression, Typed};
use crate::output::{self, Output};

/// The Rényi budget curve: what an event costs at every order
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan curve 'gaussian(2)'
  mizan curve '10 * (laplace(1) + rr(0.75))' --orders 1,1.5,2,10,inf
  mizan curve 'discrete-gaussian(0.8)' --orders default --svg curve.svg
  echo '{\"event\": \"pure\", \"epsilon\": 0.5}' | mizan curve - --format json")]
pub(crate) struct Arguments {
    /// The event: as text, as JSON, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    defined: Defined,

    /// Orders from 1 to inf, or a grid: paper (13 orders), default (70)
    #[arg(
        long,
        value_name = "LIST",
        default_value = "paper",
        allow_hyphen_values = true
    )]
    orders: String,

    /// Draw the curve into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

struct Point {
    order: Typed<Order>,
    epsilon: Bracket<Epsilon>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let expression = Expression::read(&arguments.expression, &arguments.defined.read()?)?;
    let orders = input::orders(&arguments.orders)?;
    let curve = RenyiCurve::of(&expression.event)?;
    let points: Vec<Point> = orders
        .into_iter()
        .map(|order| Point {
            order,
            epsilon: curve.at(order.value),
        })
        .collect();
    if let Some(path) = &arguments.svg {
        let figure = Figure::new(format!(
            "Rényi budget curve of {}",
            shortened(&expression.text)
        ))
        .with(panel(&curve, &points));
        output::write_file(path, &figure.to_svg())?;
    }
    Ok(output.either(
        || {
            let points: Vec<_> = points
                .iter()
                .map(|Point { order, epsilon }| {
                    json!({
                        "order": output::json_order(order.shown),
                        "epsilon": output::json_number(epsilon.upper.get()),
                        "lower": output::json_number(epsilon.lower.get()),
                    })
                })
                .collect();
            json!({"expression": expression.text, "curve": points})
        },
        || {
            let mut table = Table::new([Column::number("order α"), Column::number("ε(α)")]);
            for Point { order, epsilon } in &points {
                table.row([
                    output::order_text(order.value),
                    number::epsilon_up(epsilon.upper.get(), 8),
                ]);
            }
            let saved = arguments
                .svg
                .as_ref()
                .map(|path| format!("\nSaved {}\n", path.display()));
            let chart = output.terminal.chart(&panel(&curve, &points));
            format!(
                "{}\n\n{table}\n\n{chart}{}",
                shortened(&expression.text),
                saved.unwrap_or_default()
            )
        },
    ))
}

/// The curve between its finite orders, with the chosen orders marked.
fn panel(curve: &RenyiCurve, points: &[Point]) -> Panel {
    let finite = || {
        points
            .iter()
            .map(|point| point.order.value.get())
            .filter(|order| order.is_finite())
    };
    let low = finite().fold(f64::INFINITY, f64::min).min(2.0);
    let high = finite().fold(1.0, f64::max).max(low * 4.0);
    let at =
        |order: f64| Order::new(order).map_or(f64::INFINITY, |order| curve.at(order).upper.get());
    // Evenly spaced on the logarithmic axis.
    let line = Series::sampled("", low.ln(), high.ln(), 200, |ln_order| {
        at(ln_order.exp().clamp(low, high))
    });
    let line = line
        .points
        .into_iter()
        .map(|(ln_order, epsilon)| (ln_order.exp(), epsilon))
        .collect();
    // A gap after each mark keeps the marks from being joined.
    let chosen = points
        .iter()
        .filter(|point| point.order.value.is_finite())
        .map(|point| (point.order.value.get(), point.epsilon.upper.get()))
        .flat_map(|(order, epsilon)| [(order, epsilon), (order, f64::NAN)])
        .collect();
    Panel::new("", Axis::log10("order α"), Axis::linear("ε(α)"))
        .with(Series::new("ε(α)", line))
        .with(Series::new("the orders listed", chosen).markers())
}

/// An expression that fits a line.
fn shortened(text: &str) -> String {
    output::shortened(text, 70)
}
