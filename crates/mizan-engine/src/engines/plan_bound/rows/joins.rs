//! The memory of joins, and how often they repeat rows.

use std::collections::BTreeSet;

use mizan_sql::{Column, Expr, Function, MAX_JOINED, Operator, Relation, Type};

use super::super::PRIVATE_JOIN_GROWTH;
use super::super::bytes::ColumnBytes;
use super::{Rows, Walk};
use crate::engine::EngineError;
use crate::engine::bad;
use crate::engines::fan_out;

/// The hash table of a join and the hashes of its rows, for each row of the build side.
const JOIN_ROW: u64 = 56;

/// A table whose encoded columns have at most this many bytes is the build side of its joins,
/// if its size is known (DataFusion's threshold).
const SMALL_TABLE: u64 = 1 << 20;

/// DataFusion assumes that a filter keeps a fifth of the rows. So it may build the hash table
/// from a side that is larger by up to this factor, which includes a margin.
const MISJUDGED: u64 = 8;

/// The lengths of public texts above this are counted before a larger bound is used.
const SHORT_TEXT: u64 = 64;

impl Walk<'_, '_> {
    pub(super) fn join(
        &mut self,
        relation: &Relation,
        read: &BTreeSet<usize>,
    ) -> Result<Rows, EngineError> {
        let join = relation.as_join().ok_or_else(|| bad("not a join"))?;
        let (left, right) = (join.left, join.right);
        let width = left.columns.len();
        let mut both = read.clone();
        both.extend(
            join.condition
                .iter()
                .flat_map(|condition| condition.columns()),
        );
        let mut of_left: BTreeSet<usize> = both.range(..width).copied().collect();
        let mut of_right: BTreeSet<usize> = both.range(width..).map(|at| at - width).collect();
        for (ours, theirs) in join.on {
            of_left.extend(ours.columns());
            of_right.extend(theirs.columns());
        }
        let mut ours = self.relation(left, &of_left)?;
        let mut theirs = self.relation(right, &of_right)?;
        let public = (left.unit.is_empty(), right.unit.is_empty());
        if self.setting.counts_texts {
            if public.0 {
                self.count_texts(left, &of_left, &mut ours)?;
            }
            if public.1 {
                self.count_texts(right, &of_right, &mut theirs)?;
            }
        }
        // The rows, and how often a row of each side is repeated.
        let (rows, base, units, repeated) = match public {
            (false, false) => {
                let (rows, base) = private_join(left, right, &ours, &theirs);
                let units = if join.keeps_left {
                    ours.units
                } else {
                    ours.units.min(theirs.units)
                };
                let times = |one: &Relation, other: &Relation| match other.one_row_per_unit {
                    true => 1,
                    // The binder limits the rows of a unit if both sides have several.
                    false if !one.one_row_per_unit => MAX_JOINED,
                    false => u64::MAX,
                };
                (rows, base, units, (times(left, right), times(right, left)))
            }
            (false, true) => {
                let keys = join.on.iter().map(|(_, key)| key.clone()).collect();
                let times = fan_out::fan_out(right, keys, self.count)?;
                (
                    ours.rows.saturating_mul(times),
                    ours.base.saturating_mul(times),
                    ours.units,
                    (times, u64::MAX),
                )
            }
            (true, false) => {
                let keys = join.on.iter().map(|(key, _)| key.clone()).collect();
                let times = fan_out::fan_out(left, keys, self.count)?;
                (
                    theirs.rows.saturating_mul(times),
                    theirs.base.saturating_mul(times),
                    theirs.units,
                    (u64::MAX, times),
                )
            }
            (true, true) => {
                let product = ours.rows.saturating_mul(theirs.rows);
                let counted = fan_out::public_rows(relation, self.count)?;
                let rows = product.min(counted);
                (rows, rows, 0, (u64::MAX, u64::MAX))
            }
        };
        let rows = match join.keeps_left {
            true => rows.saturating_add(ours.rows),
            false => rows,
        };
        let (one, other) = (build(&ours, &of_left)?, build(&theirs, &of_right)?);
        let is_small = |side: &Rows| side.estimated && side.encoded < SMALL_TABLE;
        let held = if ours.estimated && theirs.estimated {
            one.max(other).min(one.min(other).saturating_mul(MISJUDGED))
        } else if is_small(&ours) {
            one
        } else if is_small(&theirs) {
            other
        } else {
            one.max(other)
        };
        self.held = self.held.saturating_add(held);
        self.hashed = self
            .hashed
            .saturating_add(ours.rows)
            .saturating_add(theirs.rows);
        let repeat = |side: &Rows, factor: u64| {
            let average = rows.div_ceil(side.rows.max(1)).max(1);
            let columns = side.columns.iter();
            let columns = columns.map(|column| column.times(factor, average, rows));
            columns.collect::<Vec<ColumnBytes>>()
        };
        let columns = [repeat(&ours, repeated.0), repeat(&theirs, repeated.1)].concat();
        let joined = Rows {
            rows,
            units,
            base,
            columns,
            estimated: false,
            encoded: ours.encoded.saturating_add(theirs.encoded),
        };
        self.most_text = self.most_text.max(joined.read(&both)?.text);
        Ok(joined)
    }

    /// Counts the longest texts of a public relation.
    fn count_texts(
        &mut self,
        public: &Relation,
        read: &BTreeSet<usize>,
        rows: &mut Rows,
    ) -> Result<(), EngineError> {
        for place in read {
            let kind = public.columns.get(*place).map(|column| column.kind);
            let Some(found) = rows.columns.get_mut(*place) else {
                return Err(bad("no such column"));
            };
            if kind != Some(Type::Text) || found.longest <= SHORT_TEXT {
                continue;
            }
            let lengths = Relation {
                columns: vec![Column {
                    name: String::new(),
                    kind: Type::Integer,
                    bounds: None,
                }],
                unit: Vec::new(),
                one_row_per_unit: false,
                operator: Operator::Project {
                    input: Box::new(public.clone()),
                    expressions: vec![Expr::call(Function::Length, [Expr::Column(*place)])],
                },
            };
            // A character has at most four bytes.
            let longest = (self.count)(&lengths)?.saturating_mul(4);
            found.longest = found.longest.min(longest);
        }
        Ok(())
    }
}

/// The memory of the build side of a join.
fn build(side: &Rows, read: &BTreeSet<usize>) -> Result<u64, EngineError> {
    Ok(side.read(read)?.held(side.rows, 2, JOIN_ROW))
}

/// A bound on the rows of a join of two private relations, without those that a left join adds,
/// and the rows of the largest dataset in it. If one side has one row for each unit, there are
/// at most as many as the other side has.
fn private_join(left: &Relation, right: &Relation, ours: &Rows, theirs: &Rows) -> (u64, u64) {
    let base = ours.base.max(theirs.base);
    let rows = match (left.one_row_per_unit, right.one_row_per_unit) {
        (true, true) => ours.rows.min(theirs.rows),
        (true, false) => theirs.rows,
        (false, true) => ours.rows,
        (false, false) => {
            let limited = ours.rows.min(theirs.rows).saturating_mul(MAX_JOINED);
            base.saturating_mul(PRIVATE_JOIN_GROWTH).min(limited)
        }
    };
    (rows, base)
}
