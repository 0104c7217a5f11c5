//! `mizan account`: what is my epsilon?

use mizan_accounting::account::{self, Account, Method, MethodBound, Refusal};
use mizan_accounting::{AtOrder, OrderGrid, RenyiConversion, RenyiCurve};
use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_report::{Column, Table, number};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::input::{self, Expression, Typed};
use crate::output::{self, Output};

/// What an event costs: epsilon at a delta, or delta at an epsilon
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan account 'gaussian(1.1)' --delta 1e-5
  mizan account '100 * (rr(0.52) + laplace(20) + gaussian(10))' --delta 1e-6 --why
  mizan account '1000 * pure(0.01)' --epsilon 1 --method renyi
  mizan account @releases.txt --delta 1e-9 --format json")]
pub(crate) struct Arguments {
    /// The event: as text, as JSON, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    target: Target,

    /// Only this method: pure, basic or renyi (all that apply otherwise)
    #[arg(long, value_name = "NAME")]
    method: Option<String>,

    /// Show how the number comes about
    #[arg(long)]
    why: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Target {
    /// The probability with which the promise may fail; asks for epsilon
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<String>,

    /// The bound on the loss; asks for delta
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let method = arguments.method.as_deref().map(method).transpose()?;
    let Target { delta, epsilon } = &arguments.target;
    match (delta, epsilon) {
        (Some(delta), _) => {
            let delta = input::delta(delta)?;
            let expression = Expression::read(&arguments.expression)?;
            let report = Report::epsilon(expression, delta, method, arguments.why)?;
            Ok(output.either(|| report.json(), || report.text()))
        }
        (None, Some(epsilon)) => {
            let epsilon = input::epsilon(epsilon)?;
            let expression = Expression::read(&arguments.expression)?;
            let report = Report::delta(expression, epsilon, method, arguments.why)?;
            Ok(output.either(|| report.json(), || report.text()))
        }
        (None, None) => Err(Failure::new(
            "MZ0001",
            "nothing to solve for",
            "give --delta or --epsilon",
        )),
    }
}

fn method(name: &str) -> Result<Method, Failure> {
    Method::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Method::ALL.into_iter().map(Method::name).collect();
        Failure::new(
            "MZ1206",
            format!("there is no method {name:?}"),
            format!("the methods are {}", known.join(", ")),
        )
    })
}

/// Everything that is printed, whichever way round the question was.
struct Report {
    expression: String,
    /// What was given and what was asked for, by name.
    given: (&'static str, f64),
    asked: &'static str,
    best: MethodBound<f64>,
    account: Account<f64>,
    /// With `--why`: each conversion at its own best order.
    conversions: Vec<(&'static str, AtOrder<f64>)>,
    /// What restricting the orders to a grid would say.
    grids: Vec<(&'static str, AtOrder<f64>)>,
}

impl Report {
    fn epsilon(
        expression: Expression,
        delta: Typed<Delta>,
        method: Option<Method>,
        why: bool,
    ) -> Result<Self, Failure> {
        let event = &expression.event;
        let account = match method {
            Some(method) => single(account::epsilon_by(method, event, delta.value)?),
            None => account::epsilon(event, delta.value),
        };
        let account = numbers(account, Epsilon::get);
        let curve = renyi_curve(event, &account);
        let at_order = |at: AtOrder<Epsilon>| AtOrder {
            bound: at.bound.get(),
            order: at.order,
        };
        let conversions = curve.iter().filter(|_| why).flat_map(|curve| {
            RenyiConversion::ALL.map(|way| (way.name(), at_order(curve.epsilon(delta.value, way))))
        });
        let grids = curve.iter().flat_map(|curve| {
            [
                ("paper", OrderGrid::paper()),
                ("default", OrderGrid::standard()),
            ]
            .map(|(name, grid)| {
                (
                    name,
                    at_order(curve.epsilon_on(&grid, delta.value, RenyiConversion::Optimal)),
                )
            })
        });
        Ok(Self {
            given: ("delta", delta.shown),
            asked: "epsilon",
            best: best(&account)?,
            conversions: conversions.collect(),
            grids: grids.collect(),
            account,
            expression: expression.text,
        })
    }

    fn delta(
        expression: Expression,
        epsilon: Typed<Epsilon>,
        method: Option<Method>,
        why: bool,
    ) -> Result<Self, Failure> {
        let event = &expression.event;
        let account = match method {
            Some(method) => single(account::delta_by(method, event, epsilon.value)?),
            None => account::delta(event, epsilon.value),
        };
        let account = numbers(account, Delta::get);
        let curve = renyi_curve(event, &account);
        let conversions = curve.iter().filter(|_| why).flat_map(|curve| {
            RenyiConversion::ALL.map(|way| {
                let at = curve.delta(epsilon.value, way);
                (
                    way.name(),
                    AtOrder {
                        bound: at.bound.get(),
                        order: at.order,
                    },
                )
            })
        });
        Ok(Self {
            given: ("epsilon", epsilon.shown),
            asked: "delta",
            best: best(&account)?,
            conversions: conversions.collect(),
            grids: Vec::new(),
            account,
            expression: expression.text,
        })
    }

    fn json(&self) -> Value {
        let number = output::json_number;
        let methods: Vec<_> = self
            .account
            .bounds
            .iter()
            .map(|bound| {
                json!({
                    "name": bound.method.name(),
                    "upper": number(bound.upper),
                    "lower": bound.lower.map(number),
                    "order": bound.order.map(|order| output::json_order(order.get())),
                })
            })
            .collect();
        let refused: Vec<_> = self
            .account
            .refusals
            .iter()
            .map(|(method, why)| json!({"name": method.name(), "code": why.code(), "reason": why.to_string()}))
            .collect();
        let at = |(name, at): &(&str, AtOrder<f64>)| json!({"name": name, "upper": number(at.bound), "order": output::json_order(at.order.get())});
        json!({
            "expression": self.expression,
            self.given.0: number(self.given.1),
            self.asked: {
                "upper": number(self.best.upper),
                "lower": self.best.lower.map(number),
                "method": self.best.method.name(),
            },
            "methods": methods,
            "refused": refused,
            "conversions": self.conversions.iter().map(at).collect::<Vec<_>>(),
            "grids": self.grids.iter().map(at).collect::<Vec<_>>(),
            "warnings": [],
        })
    }

    fn text(&self) -> String {
        let mut text = self.headline();
        let mut table = Table::new([
            Column::text("method"),
            Column::number(symbol(self.asked)),
            Column::number("order α"),
            Column::text(""),
        ]);
        for bound in &self.account.bounds {
            let order = bound.order.map(output::order_text).unwrap_or_default();
            let mark = if bound.method == self.best.method {
                "tightest"
            } else {
                ""
            };
            table.row([
                bound.method.name().to_owned(),
                self.shown(bound.upper),
                order,
                mark.to_owned(),
            ]);
        }
        text += &format!("\n{table}\n");
        for (method, why) in &self.account.refusals {
            text += &format!("  {}: {why}\n", method.name());
        }
        if !self.conversions.is_empty() {
            text += &format!("\n{}\n", self.conversion_table());
        }
        text + &self.grid_lines()
    }

    fn headline(&self) -> String {
        let (epsilon, delta) = match self.given {
            ("delta", delta) => (
                number::epsilon_up(self.best.upper, 6),
                number::delta_up(delta),
            ),
            (_, epsilon) => (
                number::nearest(epsilon, 6),
                number::delta_up(self.best.upper),
            ),
        };
        format!(
            "({epsilon}, {delta})-differentially private by the method {}\n",
            self.best.method.name()
        )
    }

    /// How the Rényi curve was turned into the answer.
    fn conversion_table(&self) -> Table {
        let mut table = Table::new([
            Column::text("Rényi conversion"),
            Column::number(symbol(self.asked)),
            Column::number("best order α"),
        ]);
        for (name, at) in &self.conversions {
            table.row([
                (*name).to_owned(),
                self.shown(at.bound),
                output::order_text(at.order),
            ]);
        }
        table
    }

    fn grid_lines(&self) -> String {
        let renyi = self
            .account
            .bounds
            .iter()
            .find(|bound| bound.method == Method::Renyi);
        let Some(renyi) = renyi.filter(|_| !self.grids.is_empty()) else {
            return String::new();
        };
        let lines: Vec<_> = self
            .grids
            .iter()
            .map(|(name, at)| {
                let behind = if renyi.upper > 0.0 {
                    at.bound / renyi.upper - 1.0
                } else {
                    0.0
                };
                let orders = match *name {
                    "paper" => "the paper's 13 orders alone",
                    _ => "the default 70 orders",
                };
                let behind = number::epsilon_up((behind * 100.0).max(0.0), 2);
                format!(
                    "  {orders} would say {} (+{behind} %)",
                    self.shown(at.bound)
                )
            })
            .collect();
        format!("\n{}\n", lines.join("\n"))
    }

    fn shown(&self, bound: f64) -> String {
        if self.asked == "epsilon" {
            number::epsilon_up(bound, 6)
        } else {
            number::delta_up(bound)
        }
    }
}

fn symbol(quantity: &str) -> &'static str {
    if quantity == "epsilon" { "ε" } else { "δ" }
}

fn single<T>(bound: MethodBound<T>) -> Account<T> {
    Account {
        bounds: vec![bound],
        refusals: Vec::new(),
    }
}

fn numbers<T: Copy>(account: Account<T>, get: impl Fn(T) -> f64) -> Account<f64> {
    let bounds = account.bounds.into_iter().map(|bound| MethodBound {
        method: bound.method,
        upper: get(bound.upper),
        lower: bound.lower.map(&get),
        order: bound.order,
    });
    Account {
        bounds: bounds.collect(),
        refusals: account.refusals,
    }
}

/// The curve, if the Rényi method is among the answers.
fn renyi_curve(event: &PrivacyEvent, account: &Account<f64>) -> Option<RenyiCurve> {
    account
        .bounds
        .iter()
        .find(|bound| bound.method == Method::Renyi)?;
    RenyiCurve::of(event).ok()
}

/// The tightest bound; if there is none, why the method that came closest has
/// none: one that computed everything, else the strongest.
fn best(account: &Account<f64>) -> Result<MethodBound<f64>, Failure> {
    account.best().ok_or_else(|| {
        let computed = |why: &&Refusal| !matches!(why, Refusal::Unsupported(_));
        let refusals = || account.refusals.iter().map(|(_, why)| why);
        let why = refusals().find(computed).or_else(|| refusals().next_back());
        Failure::from(why.cloned().unwrap_or(Refusal::NoBound))
    })
}
