//! `mizan budget list`: all accounts as a tree.

use mizan_api::budget::{BudgetsAnswer, view};
use mizan_ledger::{AccountNumber, AccountView};
use mizan_report::{Column, Table, number};

use crate::failure::Failure;
use crate::ledger_args::LedgerArguments;
use crate::output::{Output, shortened};

/// List all accounts
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mizan budget list\n  mizan budget list --format json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let ledger = arguments.ledger.read()?;
    let (views, head) = (ledger.accounts()?, ledger.head()?);
    Ok(output.either(|| BudgetsAnswer::of(&views, head), || text(&views, output)))
}

fn text(views: &[AccountView], output: Output) -> String {
    if views.is_empty() {
        return "no accounts yet: mizan budget create census --epsilon 1 --delta 1e-6\n".to_owned();
    }
    let mut table = Table::new([
        Column::text("account"),
        Column::text("target"),
        Column::number("spent (about)"),
        Column::text("left"),
    ])
    .ascii(output.terminal.ascii);
    let mut rows = Vec::new();
    tree(views, None, 0, &mut rows);
    for (depth, view) in rows {
        let account = &view.account;
        let odometer = view::read(account);
        let spent = odometer.estimate.map_or_else(
            || "∞".to_owned(),
            |(epsilon, _)| format!("ε {}", number::epsilon_up(epsilon.get(), 4)),
        );
        let share = view::left(view).room.map_or(0.0, |room| room.share);
        let left = format!(
            "{} {} %",
            output.terminal.bar(share, 12),
            number::down(100.0 * share, 3)
        );
        let name = shortened(account.name().as_str(), 24);
        let name = if depth == 0 {
            name
        } else {
            // Deep trees fit the line.
            format!("{}└ {name}", "  ".repeat((depth - 1).min(4)))
        };
        table.row([name, view::target_text(account.budget()), spent, left]);
    }
    let gap = views.first().map_or_else(String::new, view::gap_text);
    format!("{table}\n{gap}")
}

/// Accounts below their parents, oldest first.
fn tree<'a>(
    views: &'a [AccountView],
    parent: Option<AccountNumber>,
    depth: usize,
    rows: &mut Vec<(usize, &'a AccountView)>,
) {
    // The depth is bounded by the ledger's limit on nested accounts.
    for view in views.iter().filter(|view| view.account.parent() == parent) {
        rows.push((depth, view));
        tree(views, Some(view.account.number()), depth + 1, rows);
    }
}
