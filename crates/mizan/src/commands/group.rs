//! `mizan group`: what an event costs a group of people.

use mizan_accounting::account::{self, Account};
use mizan_accounting::{OrderGrid, RenyiCurve, group_privacy};
use mizan_core::{Epsilon, PrivacyEvent};
use mizan_report::{Column, Table, number};
use serde_json::json;

use crate::define::Defined;
use crate::failure::Failure;
use crate::input::{self, Expression};
use crate::output::{self, Output, json_number, json_order};

/// What an event costs a group of people who stand together
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan group 'gaussian(2) + laplace(3)' --size 4 --delta 1e-6
  mizan group 'approximate(0.5, 1e-9)' --size 3 --delta 1e-6
  mizan group 'rdp(2:0.1, 8:0.3, 64:2)' --size 2")]
pub(crate) struct Arguments {
    /// The event: as text, as JSON, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    defined: Defined,

    /// How many people
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    size: String,

    /// Also the epsilon at this delta
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let size = input::count(&arguments.size, "--size")?;
    let delta = arguments.delta.as_deref().map(input::delta).transpose()?;
    let Expression { text, event } =
        Expression::read(&arguments.expression, &arguments.defined.read()?)?;
    let group = group_privacy(size, &event).map_err(|reason| {
        let whole = PrivacyEvent::Group {
            size,
            event: Box::new(event.clone()),
        };
        match RenyiCurve::of(&whole) {
            Err(error) => Failure::from(error),
            Ok(_) => Failure::new("MZ1203", reason, "ask for a smaller group"),
        }
    })?;
    let curve = RenyiCurve::of(&group).ok();
    let single = RenyiCurve::of(&event).ok();
    let account: Option<Account<Epsilon>> =
        delta.map(|delta| account::epsilon(&group, delta.value));
    let best = account.as_ref().and_then(Account::best);
    if let (Some(account), None) = (&account, best) {
        return Err(Failure::from(account.refusal()));
    }
    let orders = OrderGrid::paper();
    let at =
        |curve: &Option<RenyiCurve>, order| curve.as_ref().map(|curve| curve.at(order).upper.get());
    Ok(output.either(
        || {
            let points: Vec<_> = orders
                .orders()
                .iter()
                .map(|&order| {
                    json!({
                        "order": json_order(order.get()),
                        "epsilon": at(&curve, order).map(json_number),
                        "for_one": at(&single, order).map(json_number),
                    })
                })
                .collect();
            let epsilon = best.map(|best| {
                json!({
                    "upper": json_number(best.upper.get()),
                    "lower": best.lower.map(|lower| json_number(lower.get())),
                    "method": best.method.name(),
                })
            });
            json!({
                "expression": text, "size": size.get(), "event": group.to_string(),
                "delta": delta.map(|delta| json_number(delta.shown)), "epsilon": epsilon, "curve": points,
            })
        },
        || {
            let mut lines = format!("For a group of {size} it is {}\n", output::shortened(&group.to_string(), 50));
            if let (Some(best), Some(delta)) = (best, delta) {
                lines += &format!(
                    "({}, {})-differentially private for the group by {}\n",
                    number::epsilon_up(best.upper.get(), 6),
                    number::delta_up(delta.shown),
                    best.method.name()
                );
            }
            if curve.is_some() {
                let mut table = Table::new([
                    Column::number("order α"),
                    Column::number("ε(α) for one"),
                    Column::number(format!("for {size}")),
                ]);
                let cell = |epsilon: Option<f64>| epsilon.map(|epsilon| number::epsilon_up(epsilon, 6)).unwrap_or_default();
                for &order in orders.orders() {
                    table.row([output::order_text(order), cell(at(&single, order)), cell(at(&curve, order))]);
                }
                lines += &format!("\n{table}\n");
            }
            lines
        },
    ))
}
