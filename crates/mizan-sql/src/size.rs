//! The size of a plan with every projection expanded, and how much longer than the stored texts its
//! computed texts can be.
//!
//! `SELECT a + a AS a FROM (SELECT a + a AS a FROM ...)` doubles with every level. Engines
//! substitute projections and push conditions through them, so a column costs as much as the
//! expression it stands for. Every statement of a plan (`sums`, each distinct count and each
//! histogram) contains the whole relation and all groups.
//!
//! # Guarantee
//!
//! In texts that an expression computes or an aggregate keeps, a row of a relation holds at most
//! `copies` times the stored texts of its input rows, and `literal_bytes` more ([`TextGrowth`]).

use crate::expr::{Expr, Function};
use crate::plan::{BoundedPlan, Groups, Key, Measure, Statistic};
use crate::relation::{Operator, Relation, UnitAggregate};
use crate::value::{Type, Value};

/// The longest text of a boolean, an integer or a day, in bytes.
const LONGEST_CAST: u64 = 20;

/// How long the computed texts of one row can be: copies of stored texts, and bytes of literals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextGrowth {
    /// The number of copies of stored texts.
    pub copies: u64,
    /// The bytes of literals, and of the texts of numbers and days.
    pub literal_bytes: u64,
}

impl TextGrowth {
    const fn and(self, other: Self) -> Self {
        Self {
            copies: self.copies.saturating_add(other.copies),
            literal_bytes: self.literal_bytes.saturating_add(other.literal_bytes),
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            copies: self.copies.max(other.copies),
            literal_bytes: self.literal_bytes.max(other.literal_bytes),
        }
    }
}

/// How much a plan computes, with every projection expanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanSize {
    /// Expression nodes and relation columns of one statement.
    pub nodes: u64,
    /// How often a statement reads the bytes of a stored text: once for each copy that a function
    /// reads, and once for each character of a LIKE pattern.
    pub text_passes: u64,
    /// How many bytes of literals these functions read, for each row.
    pub literal_passes: u64,
    /// The number of statements that an engine runs.
    pub statements: u64,
    /// The number of joins in a statement.
    pub joins: u64,
    /// The number of key values of the public groups.
    pub listed: u64,
}

impl BoundedPlan {
    /// How much the plan computes. The binder refuses plans beyond a limit.
    #[must_use]
    pub fn size(&self) -> PlanSize {
        let statistics = self.statistics.iter();
        let measured = statistics.filter_map(|one| one.measure.argument());
        let size = Size::of(&self.relation, &self.keys, measured);
        PlanSize {
            nodes: size.nodes,
            text_passes: size.text_passes,
            literal_passes: size.literal_passes,
            statements: statements(&self.statistics),
            joins: size.joins,
            listed: listed(&self.groups),
        }
    }

    /// How much longer than the stored texts the texts of a row can be, in everything that the plan
    /// computes. The binder refuses plans beyond a limit.
    #[must_use]
    pub fn text_growth(&self) -> TextGrowth {
        let statistics = self.statistics.iter();
        let measured = statistics.filter_map(|one| one.measure.argument());
        Size::of(&self.relation, &self.keys, measured).text
    }
}

/// The size of the expression that a column or an expression stands for.
#[derive(Clone, Copy, Debug)]
struct Extent {
    nodes: u64,
    depth: u64,
    text: TextGrowth,
    /// How often computing it reads the bytes of a stored text, and how many bytes of literals it
    /// reads.
    text_passes: u64,
    literal_passes: u64,
    /// Whether it is an unchanged column of a dataset: keeping it needs no more than the stored
    /// text.
    is_stored: bool,
}

impl Extent {
    /// The extent of a missing column. Every limit refuses it; an empty extent would lower bounds.
    const ENDLESS: Self = Self {
        nodes: u64::MAX,
        depth: u64::MAX,
        text: TextGrowth {
            copies: u64::MAX,
            literal_bytes: u64::MAX,
        },
        text_passes: u64::MAX,
        literal_passes: u64::MAX,
        is_stored: false,
    };
}

/// The size of a plan with every projection expanded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    /// Expression nodes and relation columns.
    pub(crate) nodes: u64,
    /// The greatest depth of an expression.
    pub(crate) depth: u64,
    /// The number of operators.
    pub(crate) relations: u64,
    /// The number of joins.
    pub(crate) joins: u64,
    /// The number of columns of all joins.
    pub(crate) joined_columns: u64,
    /// The growth of all texts.
    pub(crate) text: TextGrowth,
    /// How often the bytes of a stored text are read.
    pub(crate) text_passes: u64,
    /// How many bytes of literals are read, for each row.
    pub(crate) literal_passes: u64,
}

impl Size {
    /// The size of a relation, its keys and the measured expressions.
    pub(crate) fn of<'a>(
        relation: &Relation,
        keys: &[Key],
        measured: impl IntoIterator<Item = &'a Expr>,
    ) -> Self {
        let mut size = Self::default();
        let columns = size.relation(relation);
        for key in keys {
            size.keeps(&key.expression, &columns);
        }
        for expr in measured {
            size.keeps(expr, &columns);
        }
        size
    }

    /// The sizes of the columns of a relation.
    fn relation(&mut self, relation: &Relation) -> Vec<Extent> {
        self.relations = self.relations.saturating_add(1);
        let width = u64::try_from(relation.columns.len()).unwrap_or(u64::MAX);
        self.nodes = self.nodes.saturating_add(width);
        match &relation.operator {
            Operator::Scan { .. } => {
                let columns = relation.columns.iter();
                columns.map(|column| stored(column.kind)).collect()
            }
            Operator::Filter { input, predicate } => {
                let columns = self.relation(input);
                self.computes(predicate, &columns);
                columns
            }
            Operator::LimitRowsPerUnit { input, .. } => self.relation(input),
            Operator::Project { input, expressions } => {
                let columns = self.relation(input);
                let computed = expressions.iter();
                computed.map(|expr| self.computes(expr, &columns)).collect()
            }
            Operator::Join {
                left,
                right,
                on,
                condition,
                ..
            } => {
                self.joins = self.joins.saturating_add(1);
                self.joined_columns = self.joined_columns.saturating_add(width);
                let (left, right) = (self.relation(left), self.relation(right));
                for (of_left, of_right) in on {
                    self.computes(of_left, &left);
                    self.computes(of_right, &right);
                }
                let both = [left, right].concat();
                if let Some(condition) = condition {
                    self.computes(condition, &both);
                }
                both
            }
            Operator::Union { inputs } => self.union(inputs),
            Operator::Group {
                input,
                keys,
                aggregates,
            } => {
                let columns = self.relation(input);
                let keys = keys.iter().map(|key| self.keeps(key, &columns));
                let mut grouped: Vec<Extent> = keys.collect();
                for unit_aggregate in aggregates {
                    grouped.push(self.unit_aggregate(unit_aggregate, &columns));
                }
                grouped
            }
        }
    }

    /// An expression over a column of a union is computed in each part.
    fn union(&mut self, inputs: &[Relation]) -> Vec<Extent> {
        let mut all: Vec<Extent> = Vec::new();
        for (place, input) in inputs.iter().enumerate() {
            let columns = self.relation(input);
            if place == 0 {
                all = columns;
                continue;
            }
            for (all, column) in all.iter_mut().zip(columns) {
                all.nodes = all.nodes.saturating_add(column.nodes);
                all.depth = all.depth.max(column.depth);
                all.text = all.text.or(column.text);
                all.text_passes = all.text_passes.max(column.text_passes);
                all.literal_passes = all.literal_passes.max(column.literal_passes);
                all.is_stored &= column.is_stored;
            }
        }
        all
    }

    /// The result of an aggregate counts as one node: it is computed before it is used.
    fn unit_aggregate(&mut self, unit_aggregate: &UnitAggregate, columns: &[Extent]) -> Extent {
        let text = match unit_aggregate {
            UnitAggregate::Rows => TextGrowth::default(),
            UnitAggregate::Count(expr) | UnitAggregate::Sum(expr, _) => {
                self.computes(expr, columns);
                TextGrowth::default()
            }
            UnitAggregate::CountDistinct(expr) => {
                self.keeps(expr, columns);
                TextGrowth::default()
            }
            UnitAggregate::Min(expr) | UnitAggregate::Max(expr) => self.keeps(expr, columns).text,
        };
        Extent {
            nodes: 1,
            depth: 1,
            text,
            text_passes: 0,
            literal_passes: 0,
            is_stored: false,
        }
    }

    /// An expression whose values are kept one by one.
    fn keeps(&mut self, expr: &Expr, columns: &[Extent]) -> Extent {
        let extent = self.computes(expr, columns);
        if !extent.is_stored {
            self.text = self.text.and(extent.text);
        }
        extent
    }

    /// An expression that is computed for every row.
    fn computes(&mut self, expr: &Expr, columns: &[Extent]) -> Extent {
        let extent = self.extent(expr, columns, false);
        self.nodes = self.nodes.saturating_add(extent.nodes);
        self.depth = self.depth.max(extent.depth);
        self.text_passes = self.text_passes.saturating_add(extent.text_passes);
        self.literal_passes = self.literal_passes.saturating_add(extent.literal_passes);
        extent
    }

    fn extent(&mut self, expr: &Expr, columns: &[Extent], in_concat: bool) -> Extent {
        if let Expr::Column(place) = expr {
            return columns.get(*place).copied().unwrap_or(Extent::ENDLESS);
        }
        let is_concat = matches!(expr, Expr::Call(Function::Concat, _));
        let parts: Vec<Extent> = expr
            .children()
            .into_iter()
            .map(|part| self.extent(part, columns, is_concat))
            .collect();
        let nodes = parts.iter().map(|part| part.nodes);
        let deepest = parts.iter().map(|part| part.depth).max().unwrap_or(0);
        let text = growth(expr, &parts);
        let makes = match expr {
            // A nested concatenation is a part of the outer one.
            Expr::Call(Function::Concat, _) => !in_concat,
            Expr::Call(function, _) => matches!(
                function,
                Function::Lower | Function::Upper | Function::Trim | Function::Substring
            ),
            Expr::Cast(..) => true,
            _ => false,
        };
        if makes {
            self.text = self.text.and(text);
        }
        let here = passes(expr, &parts);
        let of_parts = parts.iter().map(|part| part.text_passes);
        let text_passes = of_parts.fold(here.copies, u64::saturating_add);
        let of_parts = parts.iter().map(|part| part.literal_passes);
        let literal_passes = of_parts.fold(here.literal_bytes, u64::saturating_add);
        Extent {
            nodes: match expr {
                // Values of a list are looked up, and planning them takes little time.
                Expr::Call(Function::In, _) => {
                    let list = u64::try_from(parts.len()).unwrap_or(u64::MAX);
                    let value = parts.first().map_or(0, |value| value.nodes);
                    value.saturating_add(1).saturating_add(list.div_ceil(4))
                }
                Expr::Call(Function::Like, arguments) => {
                    nodes.fold(tries(arguments).saturating_add(1), u64::saturating_add)
                }
                _ => nodes.fold(1, u64::saturating_add),
            },
            depth: deepest.saturating_add(1),
            text,
            text_passes,
            literal_passes,
            is_stored: false,
        }
    }
}

/// How often `LIKE` reads a character of a text, at most: the length of the longest part of the
/// pattern after a `%`. A long pattern takes the time of that many short ones and counts as much.
/// The part before the first `%` is tried once.
fn tries(arguments: &[Expr]) -> u64 {
    let Some(Expr::Literal(Value::Text(pattern), _)) = arguments.get(1) else {
        return 0;
    };
    let (mut longest, mut part) = (0_u64, None);
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character == '%' {
            part = Some(0_u64);
            continue;
        }
        if character == '\\' {
            characters.next();
        }
        part = part.map(|length| length.saturating_add(1));
        longest = longest.max(part.unwrap_or(0));
    }
    longest
}

/// An unchanged column of a dataset.
fn stored(kind: Type) -> Extent {
    Extent {
        nodes: 1,
        depth: 1,
        text: TextGrowth {
            copies: u64::from(kind == Type::Text),
            literal_bytes: 0,
        },
        text_passes: 0,
        literal_passes: 0,
        is_stored: true,
    }
}

/// What a node reads: copies of stored texts, and bytes of literals. LIKE may compare each
/// character of a text with each character of the pattern.
fn passes(expr: &Expr, parts: &[Extent]) -> TextGrowth {
    let (read, times) = match expr {
        Expr::Call(Function::Like, arguments) => match (arguments.as_slice(), parts) {
            ([_, Expr::Literal(Value::Text(pattern), _)], [text, _]) => {
                let length = u64::try_from(pattern.len()).unwrap_or(u64::MAX);
                (std::slice::from_ref(text), length.max(1))
            }
            // The binder makes no other: no limit allows it.
            _ => return Extent::ENDLESS.text,
        },
        Expr::Call(..) | Expr::Cast(..) | Expr::Case { .. } => (parts, 1),
        Expr::Column(_) | Expr::Literal(..) => return TextGrowth::default(),
    };
    let all = read
        .iter()
        .fold(TextGrowth::default(), |all, part| all.and(part.text));
    TextGrowth {
        copies: all.copies.saturating_mul(times),
        literal_bytes: all.literal_bytes.saturating_mul(times),
    }
}

/// The longest text of an expression, from those of its parts.
fn growth(expr: &Expr, parts: &[Extent]) -> TextGrowth {
    let any = |parts: &mut dyn Iterator<Item = &Extent>| {
        parts.fold(TextGrowth::default(), |all, part| all.or(part.text))
    };
    match expr {
        Expr::Literal(Value::Text(text), _) => TextGrowth {
            copies: 0,
            literal_bytes: u64::try_from(text.len()).unwrap_or(u64::MAX).max(1),
        },
        Expr::Cast(_, Type::Text) => TextGrowth {
            copies: 0,
            literal_bytes: LONGEST_CAST,
        },
        Expr::Column(_) | Expr::Literal(..) | Expr::Cast(..) => TextGrowth::default(),
        // Conditions and results alternate; the last result has no condition.
        Expr::Case { .. } => {
            let results = parts.iter().skip(1).step_by(2);
            any(&mut results.chain(parts.last()))
        }
        Expr::Call(function, _) => match function {
            Function::Concat => parts
                .iter()
                .fold(TextGrowth::default(), |all, part| all.and(part.text)),
            Function::Coalesce | Function::Least | Function::Greatest => any(&mut parts.iter()),
            Function::NullIf
            | Function::Lower
            | Function::Upper
            | Function::Trim
            | Function::Substring => any(&mut parts.iter().take(1)),
            _ => TextGrowth::default(),
        },
    }
}

/// The number of statements that an engine runs: one for all sums, and one for each distinct count
/// and each histogram.
pub(crate) fn statements(statistics: &[Statistic]) -> u64 {
    let own = statistics.iter().filter(|one| {
        let measure = &one.measure;
        matches!(measure, Measure::Distinct(_) | Measure::Histogram(..))
    });
    1 + u64::try_from(own.count()).unwrap_or(u64::MAX - 1)
}

/// The number of key values of the public groups.
pub(crate) fn listed(groups: &Groups) -> u64 {
    match groups {
        Groups::Private => 0,
        Groups::Public(groups) => {
            let values = groups.iter().map(|group| group.len() + 1);
            values.fold(0, |all, values| {
                u64::try_from(values).map_or(u64::MAX, |values| values.saturating_add(all))
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes_of(expr: &Expr) -> u64 {
        let columns = [stored(Type::Text)];
        Size::default().extent(expr, &columns, false).text_passes
    }

    /// What the binder does not make is above every limit, and not of no bytes.
    #[test]
    fn columns_and_arguments_that_are_not_there_are_above_every_limit() {
        let text = |text: &str| Expr::Literal(Value::Text(text.to_owned()), Type::Text);
        let like = |parts: Vec<Expr>| Expr::Call(Function::Like, parts);
        assert_eq!(passes_of(&like(vec![Expr::Column(0), text("%abc%")])), 5);
        for parts in [
            vec![],
            vec![Expr::Column(0)],
            vec![Expr::Column(0), Expr::Column(0)],
            vec![Expr::Column(1), text("a%")],
        ] {
            assert_eq!(passes_of(&like(parts)), u64::MAX);
        }
        let mut size = Size::default();
        size.keeps(&Expr::Column(1), &[stored(Type::Text)]);
        assert_eq!((size.nodes, size.text.copies), (u64::MAX, u64::MAX));
    }
}
