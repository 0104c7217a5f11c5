//! `mizan spend`: charges for a release that is made elsewhere.

use mizan_core::{Definitions, PrivacyEvent};
use mizan_ledger::{
    Account, AccountView, Cost, Done, Ledger, LedgerError, Outcome, Refusal, Similar, similar,
};
use mizan_report::{Column, Table, number};
use serde_json::{Value, json};

use super::budget::view::{self, nats, nats_text};
use crate::books::{self, Books, log_json};
use crate::failure::Failure;
use crate::input::Expression;
use crate::output::{Answer, Output, json_order, order_text, shortened};

/// Charge an account for a release that is made elsewhere
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Charge first, release after: once this has answered, the charge is on the disk.
The same --id with the same event is charged once, however often it is asked. A
charge that does not fit is refused (exit code 1), with what would fit.

Examples:
  mizan spend census 'gaussian(20)'
  mizan spend census '100 * laplace(50)' --id report-2026-11
  mizan spend training '1000 * poisson(0.01, gaussian(1.1))' --format json")]
pub(crate) struct Arguments {
    /// The account
    #[arg(value_name = "ACCOUNT")]
    name: String,

    /// The event, as for `mizan account`
    #[arg(value_name = "EVENT")]
    expression: String,

    /// A UUID or any text of your own that names this charge
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    #[command(flatten)]
    books: Books,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<Answer, Failure> {
    let event = Expression::read(&arguments.expression, &Definitions::default())?.event;
    let id = books::request_id(arguments.id.as_deref())?;
    let ledger = arguments.books.open()?;
    let before = books::account(&ledger, &arguments.name)?;
    let done = ledger.spend(id, before.account.number(), &event)?;
    let after = ledger.account(before.account.number())?;
    let spend = Spend {
        ledger: &ledger,
        event: &event,
        cost: Cost::of(&event, after.account.orders())?,
        view: &after,
        done: &done,
    };
    let answer = match done.outcome {
        Outcome::Denied(denial) => {
            let refusal = done.refusal.as_deref();
            let fitting = match refusal {
                Some(_) => similar(spend.chain(), &event),
                None => Vec::new(),
            };
            let json = || spend.refused_json(denial, refusal, &fitting);
            let text = || spend.refused_text(denial, refusal, &fitting, output);
            Answer::refused(output.either(json, text))
        }
        _ => Answer::done(output.either(|| spend.json(), || spend.text(output))),
    };
    ledger.close()?;
    Ok(answer)
}

struct Spend<'a> {
    ledger: &'a Ledger,
    event: &'a PrivacyEvent,
    cost: Cost,
    view: &'a AccountView,
    done: &'a Done,
}

impl Spend<'_> {
    fn chain(&self) -> impl Iterator<Item = &Account> + Clone {
        std::iter::once(&self.view.account).chain(&self.view.above)
    }

    /// What the event costs by itself.
    fn cost_json(&self) -> Value {
        let account = &self.view.account;
        let delta = view::reading_delta(account);
        let orders = account.orders().iter().zip(self.cost.amounts());
        let orders = orders.map(
            |(order, &amount)| json!({"order": json_order(order.get()), "epsilon": nats(amount)}),
        );
        let epsilon = self.cost.epsilon(account.orders(), delta);
        json!({
            "epsilon": epsilon.map(mizan_core::Epsilon::get),
            "delta": delta.get(),
            "event": self.event.to_string(),
            "own_delta": view::own_delta(self.cost.own_delta()),
            "orders": orders.collect::<Vec<_>>(),
        })
    }

    fn cost_text(&self) -> String {
        let account = &self.view.account;
        let delta = view::reading_delta(account);
        match self.cost.epsilon(account.orders(), delta) {
            Some(epsilon) if delta.get() > 0.0 => format!(
                "alone ε {} at δ {}",
                number::epsilon_up(epsilon.get(), 4),
                number::nearest(delta.get(), 3)
            ),
            Some(epsilon) => format!("alone ε {}", number::epsilon_up(epsilon.get(), 4)),
            None => "without bound".to_owned(),
        }
    }

    fn json(&self) -> Value {
        json!({
            "receipt": self.done.receipt.to_string(),
            "id": self.done.id.to_string(),
            "account": self.view.account.name().as_str(),
            "event": self.event.to_string(),
            "accepted": true,
            "repeated": !self.done.fresh,
            "spent": self.cost_json(),
            "remaining": view::remaining_json(self.view),
            "about_more": self.view.how_many(&self.cost),
            "log": log_json(self.done.receipt.head),
            "gaps": view::gaps_json(self.view),
        })
    }

    fn text(&self, output: Output) -> String {
        let again = if self.done.fresh {
            "charged"
        } else {
            "charged before under this id, and not again"
        };
        let event = shortened(&self.event.to_string(), 60);
        let mut text = format!(
            "{again}: {event} to {}, {}\n\n",
            self.view.account.name(),
            self.cost_text()
        );
        text.push_str(&view::gap_text(self.view));
        text.push_str(&view::summary_text(self.view, output.terminal));
        text.push_str(&format!(
            "\n  about {} more of these\n\nreceipt {}\n",
            self.view.how_many(&self.cost),
            self.done.receipt
        ));
        text
    }

    fn refused_json(
        &self,
        denial: mizan_ledger::Denial,
        refusal: Option<&Refusal>,
        fitting: &[Similar],
    ) -> Value {
        let of = |wanted: fn(&Similar) -> bool| {
            let found = fitting.iter().find(|similar| wanted(similar));
            found.map(|similar| similar.event().to_string())
        };
        let lines = refusal.map(|refusal| {
            let line = |line: &mizan_ledger::RefusalLine| {
                json!({
                    "order": json_order(line.order.get()),
                    "asked": nats(line.asked),
                    "spent": nats(line.spent),
                    "pending": nats(line.pending),
                    "limit": line.limit.map(nats),
                })
            };
            refusal.lines.iter().map(line).collect::<Vec<_>>()
        });
        json!({
            "accepted": false,
            "repeated": !self.done.fresh,
            "receipt": self.done.receipt.to_string(),
            "id": self.done.id.to_string(),
            "account": self.view.account.name().as_str(),
            "refused_by": books::name_of(self.ledger, denial.account),
            "event": self.event.to_string(),
            "asked": self.cost_json(),
            "remaining": view::remaining_json(self.view),
            "largest_that_fits": {
                "share": view::share(denial.largest),
                "fewer": of(|similar| matches!(similar, Similar::Fewer(_))),
                "noisier": of(|similar| matches!(similar, Similar::Noisier(_))),
            },
            "orders": lines,
            "own_delta": refusal.map(|refusal| json!({
                "asked": view::own_delta(refusal.asked_own_delta),
                "taken": view::own_delta(refusal.taken_own_delta),
                "limit": view::own_delta(refusal.own_delta_limit),
            })),
            "log": log_json(self.done.receipt.head),
            "gaps": view::gaps_json(self.view),
        })
    }

    fn refused_text(
        &self,
        denial: mizan_ledger::Denial,
        refusal: Option<&Refusal>,
        fitting: &[Similar],
        output: Output,
    ) -> String {
        let event = shortened(&self.event.to_string(), 60);
        let by = books::name_of(self.ledger, denial.account);
        let again = if self.done.fresh {
            "refused"
        } else {
            "refused before under this id, which stays refused"
        };
        let mut text = format!(
            "{again}: {event}, {}, does not fit into {by}\n",
            self.cost_text()
        );
        text.push_str("nothing was charged\n\n");
        text.push_str(&view::gap_text(self.view));
        if let Some(refusal) = refusal {
            text.push_str(&lines(refusal, output));
            if refusal.asked_own_delta > mizan_ledger::OwnDelta::ZERO {
                text.push_str(&format!(
                    "own deltas: asked {}, taken {}, limit {}\n",
                    number::delta_up(view::own_delta(refusal.asked_own_delta)),
                    number::nearest(view::own_delta(refusal.taken_own_delta), 3),
                    number::nearest(view::own_delta(refusal.own_delta_limit), 3),
                ));
            }
            text.push('\n');
        }
        let percent = number::down(100.0 * view::share(denial.largest), 3);
        let most = if self.done.fresh {
            "the most that fits is"
        } else {
            "the most that fitted then was"
        };
        text.push_str(&format!("{most} {percent} % of this cost"));
        for (place, fitting) in fitting.iter().enumerate() {
            let before = if place == 0 { ", as\n" } else { "or\n" };
            let event = fitting.event();
            text.push_str(&format!(
                "{before}  {}\n",
                shortened(&event.to_string(), 74)
            ));
        }
        if fitting.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// Order by order: those that have a limit.
fn lines(refusal: &Refusal, output: Output) -> String {
    let mut table = Table::new([
        Column::number("order"),
        Column::number("asked"),
        Column::number("spent"),
        Column::number("pending"),
        Column::number("limit"),
        Column::text(""),
    ])
    .ascii(output.terminal.ascii);
    for line in &refusal.lines {
        let Some(limit) = line.limit else { continue };
        let taken = line.spent.saturating_add(line.pending);
        let fits = taken.saturating_add(line.asked) <= limit;
        table.row([
            order_text(line.order),
            nats_text(line.asked, number::epsilon_up),
            nats_text(line.spent, number::epsilon_up),
            nats_text(line.pending, number::epsilon_up),
            nats_text(limit, number::down),
            if fits { "fits" } else { "too much" }.to_owned(),
        ]);
    }
    let rule = match refusal.rule {
        mizan_ledger::Rule::Any => "one order would have to fit",
        mizan_ledger::Rule::Every => "every order would have to fit",
    };
    format!("{table}\n{rule}\n")
}

impl From<mizan_ledger::RequestError> for Failure {
    fn from(error: mizan_ledger::RequestError) -> Self {
        LedgerError::from(error).into()
    }
}
