//! `mizan group`: the guarantee of an event for groups of people.

use mizan_api::group::{Group, GroupRequest};
use mizan_api::names::Names;
use mizan_report::{Column, Table, number};

use crate::define::DefineArguments;
use crate::failure::Failure;
use crate::input;
use crate::output::{self, Output};

/// Compute the guarantee for a group of people (group privacy)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan group 'gaussian(2) + laplace(3)' --size 4 --delta 1e-6
  mizan group 'approximate(0.5, 1e-9)' --size 3 --delta 1e-6
  mizan group 'rdp(2:0.1, 8:0.3, 64:2)' --size 2")]
pub(crate) struct Arguments {
    /// Event as text or JSON, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    defined: DefineArguments,

    /// Number of people in the group
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    size: String,

    /// Report epsilon for the group at this delta too
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let request = GroupRequest {
        size: input::count(&arguments.size, "--size")?.get(),
        delta: arguments.delta.as_deref().map(Into::into),
        expression: input::typed(&arguments.expression)?,
    };
    let group = request.evaluate(&arguments.defined.read()?, Names::CommandLine)?;
    Ok(output.either(|| group.json(), || text(&group)))
}

fn text(group: &Group) -> String {
    let size = group.size;
    let mut lines = format!(
        "For a group of {size} the event is {}\n",
        output::shortened(&group.event.to_string(), 50)
    );
    if let (Some(best), Some(delta)) = (&group.best, group.delta) {
        lines += &format!(
            "({}, {})-differentially private for the group by {}\n",
            number::epsilon_up(best.upper.get(), 6),
            number::delta_up(delta.shown),
            best.method.name()
        );
    }
    if group.has_curve {
        let mut table = Table::new([
            Column::number("order α"),
            Column::number("ε(α) for one"),
            Column::number(format!("for {size}")),
        ]);
        let cell = |epsilon: Option<f64>| {
            let shown = epsilon.map(|epsilon| number::epsilon_up(epsilon, 6));
            shown.unwrap_or_default()
        };
        for &(order, for_all, for_one) in &group.points {
            table.row([output::order_text(order), cell(for_one), cell(for_all)]);
        }
        lines += &format!("\n{table}\n");
    }
    lines
}
