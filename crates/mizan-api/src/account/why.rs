//! `--explain`: the derivation of the result.

use mizan_accounting::methods::{Comparison, Method, MethodBound};
use mizan_accounting::{ClosedForm, Engine, RenyiCurve, closed_forms};
use mizan_core::{Delta, Order, PrivacyEvent};
use mizan_report::{Column, Table, number};

use super::Solved;
use super::json::{ClosedFormJson, DerivationJson, PartJson};
use super::text::wrapped;
use crate::messages::{AsJson, EventPart, Message};
use crate::number::{OrderJson, finite};
use crate::words::order_text;

/// The most parts of an event that are listed; one line counts the rest.
const SHOWN_PARTS: usize = 12;

/// The derivation of an answer.
#[derive(Debug)]
pub(super) struct Derivation {
    /// The best order of the Rényi method, at which the costs of parts are listed.
    order: Option<Order>,
    parts: Vec<Line>,
    hidden: usize,
    forms: Vec<ClosedForm>,
    /// Whether adding and removing a person have different costs.
    directions: bool,
}

/// A line of the event tree.
#[derive(Debug)]
struct Line {
    depth: usize,
    part: EventPart,
    /// ε of this part alone at order 1, at the best order and at ∞.
    costs: Option<[f64; 3]>,
}

impl Derivation {
    pub(super) fn of(
        event: &PrivacyEvent,
        account: &Comparison<f64>,
        delta: Option<Delta>,
    ) -> Self {
        let order = account.bounds.iter().rev().find_map(|bound| bound.order);
        let mut parts = Vec::new();
        tree(event, 0, order.unwrap_or(Order::INFINITE), &mut parts);
        let hidden = parts.len().saturating_sub(SHOWN_PARTS);
        parts.truncate(SHOWN_PARTS);
        let forms = delta
            .map(|delta| closed_forms(event, delta))
            .unwrap_or_default();
        Self {
            order,
            parts,
            hidden,
            forms,
            directions: is_sampled(event),
        }
    }

    pub(super) fn json(&self) -> DerivationJson {
        let part = |line: &Line| PartJson {
            depth: line.depth,
            event: line.part.english(),
            event_data: AsJson(line.part.clone()),
            renyi: line.costs.map(|costs| costs.map(finite).to_vec()),
        };
        let form = |form: &ClosedForm| ClosedFormJson {
            formula: form.formula.to_string(),
            reference: form.reference.to_string(),
            inputs: (form.inputs.iter())
                .map(|&(name, value)| (name.to_owned(), finite(value)))
                .collect(),
            epsilon: finite(form.epsilon.get()),
        };
        DerivationJson {
            order: self.order.map(|order| OrderJson::of(order.get())),
            parts: self.parts.iter().map(part).collect(),
            parts_left_out: self.hidden,
            closed_forms: self.forms.iter().map(form).collect(),
        }
    }

    pub(super) fn text(&self, solved: &Solved) -> String {
        let mut sections = vec![(
            "The event, and the cost of each part on its own",
            self.parts_text(),
        )];
        sections.push(("The theorems", theorems_text(solved)));
        if let Some(bound) = solved.bound(Method::Numeric) {
            let text = numeric_text(self.directions, bound, solved);
            sections.push(("The numerical accountant", text));
        }
        if !solved.conversions.is_empty() {
            let heading = "From the Rényi curve, each conversion at its own best order";
            sections.push((heading, conversions_text(solved)));
        }
        if !self.forms.is_empty() {
            sections.push(("Closed forms", self.forms_text()));
        }
        let numbered = sections.iter().zip(1..);
        numbered
            .map(|((heading, text), number)| format!("\n{number}. {heading}\n{text}"))
            .collect()
    }

    fn parts_text(&self) -> String {
        let mut text = format!("{}\n", self.tree_table());
        if self.hidden > 0 {
            text += &format!("  ... and {} more\n", self.hidden);
        }
        text
    }

    fn forms_text(&self) -> String {
        let form = |form: &ClosedForm| {
            let inputs: Vec<_> = form
                .inputs
                .iter()
                .map(|(name, value)| format!("{name} = {}", number::nearest(*value, 5)))
                .collect();
            let epsilon = number::epsilon_up(form.epsilon.get(), 6);
            let inputs = inputs.join(", ");
            wrapped(&format!(
                "{}: ε = {epsilon} with {inputs}  [{}]",
                form.formula, form.reference
            ))
        };
        self.forms.iter().map(form).collect()
    }

    fn tree_table(&self) -> Table {
        let best = self.order.filter(|order| order.is_finite());
        let at_best = best.map(|order| Column::number(format!("ε({})", order_text(order))));
        let columns = [
            Some(Column::text("event")),
            Some(Column::number("ε(1)")),
            at_best,
        ];
        let columns = columns
            .into_iter()
            .flatten()
            .chain([Column::number("ε(∞)")]);
        let mut table = Table::new(columns);
        for line in &self.parts {
            let indented = format!("{}{}", "· ".repeat(line.depth), line.part.english());
            let cell = |index: usize| {
                let cost = line.costs.and_then(|costs| costs.get(index).copied());
                cost.map_or_else(|| "-".to_owned(), |epsilon| number::epsilon_up(epsilon, 5))
            };
            let middle = best.map(|_| cell(1));
            let costs = [Some(cell(0)), middle, Some(cell(2))].into_iter().flatten();
            table.row(std::iter::once(indented).chain(costs));
        }
        table
    }
}

fn theorems_text(solved: &Solved) -> String {
    let mut text = String::new();
    for bound in &solved.account.bounds {
        let (name, upper) = (bound.method.name(), solved.shown(bound.upper));
        let reference = bound.method.reference();
        text += &wrapped(&format!(
            "{name}: {} = {upper}  [{reference}]",
            solved.symbol()
        ));
    }
    for (method, why) in &solved.account.refusals {
        text += &wrapped(&format!("{} does not apply: {why}", method.name()));
    }
    text
}

/// Whether a part is Poisson subsampled.
fn is_sampled(event: &PrivacyEvent) -> bool {
    matches!(event, PrivacyEvent::Poisson { .. }) || event.children().iter().any(is_sampled)
}

/// The explanation of the result of the method `numeric`.
fn numeric_text(directions: bool, bound: &MethodBound<f64>, solved: &Solved) -> String {
    const DIGITS: usize = 13;
    let symbol = solved.symbol();
    let upper = number::epsilon_up(bound.upper, DIGITS);
    let engine = bound.engine.map_or("the engine", Engine::name);
    let mut text = wrapped(&format!(
        "The privacy loss distributions of all parts are composed, here by {engine} (the \
         tightest of a closed form, a contour integral and a lattice). The bracket includes \
         all errors, of rounding too (docs/accountant.md)."
    ));
    text += &match bound.lower {
        Some(lower) => {
            // The relative width of the bracket [0, 0] is 0.
            let relative = if bound.upper > lower {
                (bound.upper - lower) / bound.upper
            } else {
                0.0
            };
            let width = number::epsilon_up(relative, 2);
            let lower = number::down(lower, DIGITS);
            wrapped(&format!(
                "The exact {symbol} lies between {lower} and {upper}: a relative width of {width}."
            ))
        }
        None => wrapped(&format!(
            "The exact {symbol} is at most {upper}. A lower bound is not known: a part was \
             replaced by one that reveals at least as much."
        )),
    };
    if directions {
        text += &wrapped(
            "Adding and removing a person are composed separately over all parts; the larger \
             result is reported.",
        );
    }
    text
}

fn conversions_text(solved: &Solved) -> String {
    let mut table = Table::new([
        Column::text("conversion"),
        Column::number(solved.symbol()),
        Column::number("order α"),
    ]);
    for (name, at) in &solved.conversions {
        table.row([
            (*name).to_owned(),
            solved.shown(at.bound),
            order_text(at.order),
        ]);
    }
    format!("{table}\n")
}

/// The event and its parts, depth first.
fn tree(event: &PrivacyEvent, depth: usize, order: Order, lines: &mut Vec<Line>) {
    let part = EventPart::of(event);
    let costs = RenyiCurve::of(event)
        .ok()
        .map(|curve| [Order::ONE, order, Order::INFINITE].map(|order| curve.at(order).upper.get()));
    lines.push(Line { depth, part, costs });
    // Lines beyond the limit are only counted, so their cost is not computed.
    if lines.len() > 1000 {
        return;
    }
    for child in event.children() {
        tree(child, depth + 1, order, lines);
    }
}
