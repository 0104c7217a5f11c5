//! Plans as text: a tree of relations, and expressions over named columns.

use std::fmt;

use crate::expr::{Expr, Function};
use crate::relation::{Column, Operator, Relation, UnitAggregate};
use crate::value::{Type, Value};

/// A text with the texts of its parts below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The text of one line.
    pub text: String,
    /// The parts, in order.
    pub parts: Vec<Self>,
}

impl Tree {
    /// A tree.
    #[must_use]
    pub fn new(text: impl Into<String>, parts: impl IntoIterator<Item = Self>) -> Self {
        Self {
            text: text.into(),
            parts: parts.into_iter().collect(),
        }
    }

    /// Its lines from the top, each with its depth.
    #[must_use]
    pub fn lines(&self) -> Vec<(usize, &str)> {
        let mut lines = Vec::new();
        let mut open = vec![(0, self)];
        while let Some((depth, tree)) = open.pop() {
            lines.push((depth, tree.text.as_str()));
            open.extend(tree.parts.iter().rev().map(|part| (depth + 1, part)));
        }
        lines
    }
}

/// A line for each text, indented by two spaces for each level.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, text) in self.lines() {
            writeln!(f, "{:width$}{text}", "", width = 2 * depth)?;
        }
        Ok(())
    }
}

impl Relation {
    /// The operators of the relation, from the last one to the datasets.
    #[must_use]
    pub fn explain(&self) -> Tree {
        Tree::new(self.text(), self.inputs().into_iter().map(Self::explain))
    }

    /// The operator of the relation.
    fn text(&self) -> String {
        match &self.operator {
            Operator::Scan { dataset } => {
                let names: Vec<&str> = self.columns.iter().map(|one| one.name.as_str()).collect();
                format!("rows of {dataset}: {}", names.join(", "))
            }
            Operator::Filter { input, predicate } => {
                format!("filter: {}", predicate.explain(&input.columns))
            }
            Operator::Project { input, expressions } => {
                format!("columns: {}", joined(expressions, &input.columns, ", "))
            }
            Operator::Join {
                left,
                right,
                keeps_left,
                on,
                condition,
            } => {
                let equal = on.iter().map(|(of_left, of_right)| {
                    let left = of_left.explain(&left.columns);
                    format!("{left} = {}", of_right.explain(&right.columns))
                });
                let both = [left.columns.as_slice(), &right.columns].concat();
                let condition = condition.iter().map(|one| one.explain(&both));
                let on: Vec<String> = equal.chain(condition).collect();
                let kind = if *keeps_left { "left join" } else { "join" };
                format!("{kind} on {}", on.join(" AND "))
            }
            Operator::Union { .. } => "all rows of".to_owned(),
            Operator::LimitRowsPerUnit { rows, .. } => {
                format!("at most {rows} rows of each unit (sampled)")
            }
            Operator::Group {
                input,
                keys,
                aggregates,
            } => {
                let columns = &input.columns;
                let aggregates = aggregates.iter().map(|one| one.explain(columns));
                let keys = keys.iter().map(|key| key.explain(columns));
                let shown: Vec<String> = keys.chain(aggregates).collect();
                format!("group by unit: {}", shown.join(", "))
            }
        }
    }
}

impl UnitAggregate {
    fn explain(&self, columns: &[Column]) -> String {
        let of = |name: &str, expr: &Expr| format!("{name}{})", expr.explain(columns));
        match self {
            Self::Rows => "COUNT(*)".to_owned(),
            Self::Count(expr) => of("COUNT(", expr),
            Self::CountDistinct(expr) => of("COUNT(DISTINCT ", expr),
            Self::Sum(expr, _) => of("SUM(", expr),
            Self::Min(expr) => of("MIN(", expr),
            Self::Max(expr) => of("MAX(", expr),
        }
    }
}

fn joined(exprs: &[Expr], columns: &[Column], between: &str) -> String {
    let texts: Vec<String> = exprs.iter().map(|expr| expr.explain(columns)).collect();
    texts.join(between)
}

impl Expr {
    /// The expression over columns of these names, in the style of SQL.
    #[must_use]
    pub fn explain(&self, columns: &[Column]) -> String {
        match self {
            Self::Column(place) => {
                let named = columns.get(*place).filter(|column| !column.name.is_empty());
                named.map_or_else(|| format!("column {place}"), |column| column.name.clone())
            }
            Self::Literal(Value::Null, _) => "NULL".to_owned(),
            Self::Literal(value, Type::Text | Type::Date | Type::Timestamp) => {
                format!("'{}'", value.to_string().replace('\'', "''"))
            }
            Self::Literal(value, _) => value.to_string(),
            Self::Case {
                branches,
                otherwise,
            } => {
                let mut text = "CASE".to_owned();
                for (when, then) in branches {
                    let (when, then) = (when.explain(columns), then.explain(columns));
                    text.push_str(&format!(" WHEN {when} THEN {then}"));
                }
                format!("{text} ELSE {} END", otherwise.explain(columns))
            }
            Self::Cast(inner, to) => format!("CAST({} AS {to})", inner.explain(columns)),
            Self::Call(function, arguments) => call(*function, arguments, columns),
        }
    }
}

fn call(function: Function, arguments: &[Expr], columns: &[Column]) -> String {
    let name = function.name();
    let list = |arguments: &[Expr]| joined(arguments, columns, ", ");
    let (first, others) = arguments.split_at(arguments.len().min(1));
    let (first, others) = (list(first), list(others));
    let lower = |name: &dyn fmt::Debug| format!("{name:?}").to_lowercase();
    match function {
        Function::Negate => format!("-{first}"),
        Function::Not => format!("NOT {first}"),
        Function::IsNull => format!("({first} IS NULL)"),
        Function::In => format!("({first} IN ({others}))"),
        Function::Truncate(unit) => format!("{name}('{}', {first})", lower(&unit)),
        Function::Extract(part) => format!("{name}({} FROM {first})", lower(&part)),
        _ if name.starts_with(|letter: char| letter.is_alphabetic())
            && !matches!(function, Function::And | Function::Or | Function::Like) =>
        {
            format!("{name}({})", list(arguments))
        }
        _ => format!("({})", joined(arguments, columns, &format!(" {name} "))),
    }
}
