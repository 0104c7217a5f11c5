//! The text of the answer for a terminal.

use mizan_accounting::AtOrder;
use mizan_accounting::methods::{Method, MethodBound};
use mizan_core::{Epsilon, Round, format_decimal};
use mizan_report::{Column, Table, Terminal, number};

use super::{AccountResult, Solved, SolvedFor};
use crate::messages::{AccountWarning, Message};
use crate::words::order_text;

impl AccountResult {
    /// The answer as text.
    #[must_use]
    pub fn text(&self, terminal: &Terminal) -> String {
        write(self, terminal)
    }

    /// The warnings, wrapped to the width of a terminal.
    #[must_use]
    pub fn warnings_text(&self) -> String {
        let warning = |warning: &AccountWarning| {
            let text = format!("warning: {}", warning.english());
            format!("\n{}", wrapped(&text))
        };
        self.warnings.iter().map(warning).collect()
    }
}

fn write(answer: &AccountResult, terminal: &Terminal) -> String {
    let mut text = String::new();
    if let Some(solved) = &answer.solved {
        text += &solved.text();
    }
    if let Some(report) = &answer.report {
        text += &report_text(report);
    }
    if let Some(profile) = &answer.profile {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &profile.text(terminal);
    }
    text
}

/// The report as an event that can be composed with others. Infinite entries carry no information
/// and are left out.
pub(super) fn report_event(report: &[AtOrder<Epsilon>]) -> String {
    let entries: Vec<_> = report
        .iter()
        .filter(|at| at.bound.is_finite())
        .map(|at| {
            let epsilon = format_decimal(at.bound.get(), Round::Up);
            format!("{}:{epsilon}", at.order)
        })
        .collect();
    format!("rdp({})", entries.join(", "))
}

fn report_text(report: &[AtOrder<Epsilon>]) -> String {
    let mut table = Table::new([
        Column::number("order α"),
        Column::number("accumulated ε(α)"),
    ]);
    for at in report {
        table.row([order_text(at.order), number::epsilon_up(at.bound.get(), 8)]);
    }
    // An event may be wrapped over several lines.
    let event = wrapped(&report_event(report));
    format!("{table}\n\nAdd it to other reports as\n  {event}")
}

impl Solved {
    fn text(&self) -> String {
        let mut text = self.headline();
        let mut table = Table::new([
            Column::text("method"),
            Column::number(self.symbol()),
            Column::number("lower bound"),
            Column::number("order α"),
            Column::text(""),
        ]);
        for bound in &self.account.bounds {
            let order = bound.order.map(order_text).unwrap_or_default();
            let mark = if bound.method == self.best.method {
                "tightest"
            } else {
                ""
            };
            let lower = bound
                .lower
                .map(|lower| self.shown_down(lower))
                .unwrap_or_default();
            table.row([
                bound.method.name().to_owned(),
                self.shown(bound.upper),
                lower,
                order,
                mark.to_owned(),
            ]);
        }
        text += &format!("\n{table}\n");
        if !self.account.refusals.is_empty() && self.why.is_none() {
            let names: Vec<_> = self
                .account
                .refusals
                .iter()
                .map(|(method, _)| method.name())
                .collect();
            text += &wrapped(&format!(
                "Not applicable (see --explain): {}",
                names.join(", ")
            ));
        }
        text += &self.grid_lines();
        if let Some(why) = &self.why {
            text += &why.text(self);
        }
        text
    }

    fn headline(&self) -> String {
        let (epsilon, delta) = match self.solved_for {
            SolvedFor::EpsilonAt(delta) => (
                number::epsilon_up(self.best.upper, 6),
                number::delta_up(delta.shown),
            ),
            SolvedFor::DeltaAt(epsilon) => (
                number::nearest(epsilon.shown, 6),
                number::delta_up(self.best.upper),
            ),
        };
        format!(
            "({epsilon}, {delta})-differentially private by {}\n",
            self.best.method.title()
        )
    }

    fn grid_lines(&self) -> String {
        let renyi = self.bound(Method::Renyi);
        let Some(renyi) = renyi.filter(|_| !self.grids.is_empty()) else {
            return String::new();
        };
        let line = |(name, at): &(&str, AtOrder<f64>)| {
            let behind = if renyi.upper > 0.0 {
                at.bound / renyi.upper - 1.0
            } else {
                0.0
            };
            let orders = match *name {
                "paper" => "the paper's 13 orders",
                _ => "the default 70 orders",
            };
            let behind = number::epsilon_up((behind * 100.0).max(0.0), 2);
            format!(
                "  renyi with {orders}: {} (+{behind} %)\n",
                self.shown(at.bound)
            )
        };
        self.grids.iter().map(line).collect()
    }

    /// The bound of a method, if it applies.
    pub(super) fn bound(&self, method: Method) -> Option<&MethodBound<f64>> {
        let mut bounds = self.account.bounds.iter();
        bounds.find(|bound| bound.method == method)
    }

    pub(super) fn symbol(&self) -> &'static str {
        match self.solved_for {
            SolvedFor::EpsilonAt(_) => "ε",
            SolvedFor::DeltaAt(_) => "δ",
        }
    }

    pub(super) fn shown(&self, bound: f64) -> String {
        match self.solved_for {
            SolvedFor::EpsilonAt(_) => number::epsilon_up(bound, 6),
            SolvedFor::DeltaAt(_) => number::delta_up(bound),
        }
    }

    fn shown_down(&self, bound: f64) -> String {
        match self.solved_for {
            SolvedFor::EpsilonAt(_) => number::down(bound, 6),
            SolvedFor::DeltaAt(_) => number::down(bound, 3),
        }
    }
}

/// Wraps a sentence to the width of a terminal.
pub(super) fn wrapped(sentence: &str) -> String {
    const WIDTH: usize = 78;
    let mut lines = vec![String::new()];
    for word in sentence.split_whitespace() {
        let fits = lines
            .last()
            .is_some_and(|line| line.chars().count() + word.chars().count() < WIDTH);
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if fits => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.join("\n") + "\n"
}
