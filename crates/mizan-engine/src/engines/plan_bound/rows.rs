//! How many rows each operator of a relation has at most, and what it holds of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mizan_sql::{
    BoundedPlan, Catalogue, Expr, LONGEST_STORED_TEXT, MAX_JOINED, Operator, PlanSize, Relation,
    Type, Within,
};

use super::bytes::{ColumnBytes, RowBytes, bytes_of};
use super::{BATCH_ROWS, BATCHES, DICTIONARY_TEXT, PIECES, PRIVATE_JOIN_GROWTH, Setting};
use crate::engine::EngineError;
use crate::engines::expressions::bad;
use crate::engines::fan_out::{self, Count};
use crate::engines::relations;
use crate::engines::size_class::{Layout, SizeClass};

/// The most that a CSV file holds while it is read: a batch, the field that ended it, and
/// both once more while the batch is made.
const TEXT_READER: u64 = 32 << 20;

/// The hash table of a join, and the hashes of its rows, for each row of the build side.
const JOIN_ROW: u64 = 56;

/// The hash table of an aggregate, for each group, in its first and its last step.
const GROUP_ROW: u64 = 112;

/// What a limit on rows ranks, for each row: a number, a hash, a place, whether it stays.
const RANKED_ROW: u64 = 72;

/// The state of a least or greatest text: where its bytes are.
const TEXT_STATE: u64 = 32;

/// The set of a distinct count, for each group, and for each value in it.
const SET: u64 = 256;
const TEXT_SET: u64 = 24 << 10;
const SET_VALUE: u64 = 64;

/// A table whose encoded columns are at most this is the build side of its joins, if its
/// size is known (DataFusion's threshold).
const SMALL_TABLE: u64 = 1 << 20;

/// DataFusion takes a filter to leave a fifth of the rows, so that it may build the table
/// of a join from the side that is larger by this, with some room.
const MISJUDGED: u64 = 8;

/// A value that an expression computes, and whether it is NULL.
const COMPUTED: u64 = 9;

/// Time in nanoseconds on one processor, each measured (`examples/bench_bounds.rs`)
/// and rounded up: of a row
/// for each node of its expressions and each column, of a byte that a scan decodes, of a
/// byte that a function of texts passes over, of a row in a hash table or a ranking.
const NODE: u64 = 10;
const DECODED: u64 = 10;
const PASSED: u64 = 4;
const HASHED: u64 = 250;

/// What a relation may have.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// The most rows.
    pub(super) rows: u64,
    /// The most units with a row.
    pub(super) units: u64,
    /// The most rows of a private dataset below, times the fan-outs since.
    base: u64,
    /// By place, of the columns that are read.
    pub(super) columns: Vec<ColumnBytes>,
    /// Whether DataFusion knows its size when it plans joins.
    estimated: bool,
    /// The encoded bytes of the columns that are read, if that is known.
    encoded: u64,
}

impl Rows {
    fn read(&self, read: &BTreeSet<usize>) -> RowBytes {
        let columns = read.iter().filter_map(|place| self.columns.get(*place));
        RowBytes::of(columns.copied(), self.rows)
    }
}

/// Adds up what the operators of a relation hold.
pub(super) struct Walk<'a, 'b> {
    catalogue: &'a Catalogue,
    sizes: &'a BTreeMap<String, Arc<SizeClass>>,
    count: &'a mut Count<'b>,
    /// What scans hold.
    pub(super) scans: u64,
    /// What other operators hold.
    pub(super) held: u64,
    /// The most rows of any operator, and the most bytes of a row without texts.
    most_rows: u64,
    widest: u64,
    /// All stored texts that are read.
    stored: u64,
    /// Bytes that scans decode, and rows that are hashed or ranked.
    decoded: u64,
    hashed: u64,
    /// How many files or row groups are read at a time.
    streams: u64,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(super) fn new(
        catalogue: &'a Catalogue,
        sizes: &'a BTreeMap<String, Arc<SizeClass>>,
        count: &'a mut Count<'b>,
    ) -> Self {
        Self {
            catalogue,
            sizes,
            count,
            scans: 0,
            held: 0,
            most_rows: 0,
            widest: 0,
            stored: 0,
            decoded: 0,
            hashed: 0,
            streams: 0,
        }
    }

    /// What batches hold that are on their way: their columns, and in each partition that
    /// computes, a column more for each node of an expression.
    pub(super) fn batches(&self, plan: &BoundedPlan, setting: Setting) -> u64 {
        let partitions = setting.partitions.max(1);
        let batch = |bytes: u64| BATCH_ROWS.min(self.most_rows).saturating_mul(bytes);
        let streams = self.streams.max(partitions);
        let moving = streams.saturating_add(partitions).saturating_mul(BATCHES);
        let moving = batch(self.widest).saturating_mul(moving);
        let (size, growth) = (plan.size(), plan.text_growth());
        let nodes = batch(size.nodes.saturating_mul(COMPUTED));
        let literals = batch(growth.literal_bytes).saturating_mul(2);
        // A LIKE spreads one text at a time.
        let longest = self.stored.min(LONGEST_STORED_TEXT as u64);
        let spread = longest.saturating_mul(if size.text_passes > 0 { 4 } else { 0 });
        let each = nodes.saturating_add(literals).saturating_add(spread);
        // Texts that are computed of stored ones, of the batches of all partitions.
        let batches = partitions.saturating_mul(2).saturating_mul(TEXT_READER);
        let copied = growth.copies.saturating_mul(self.stored.min(batches));
        [moving, partitions.saturating_mul(each), copied]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// How long a statement takes to read the relation and to compute its expressions.
    pub(super) fn nanoseconds(&self, size: &PlanSize) -> u64 {
        let nodes = self.most_rows.saturating_mul(size.nodes);
        let passed = self.stored.saturating_mul(size.text_passes);
        let all = [
            nodes.saturating_mul(NODE),
            passed.saturating_mul(PASSED),
            self.decoded.saturating_mul(DECODED),
            self.hashed.saturating_mul(HASHED),
        ];
        all.into_iter().fold(0, u64::saturating_add)
    }

    /// The rows of a relation of which these columns are read.
    pub(super) fn relation(
        &mut self,
        relation: &Relation,
        read: &BTreeSet<usize>,
    ) -> Result<Rows, EngineError> {
        let mut read = read.clone();
        read.extend(&relation.unit);
        let mut found = match &relation.operator {
            Operator::Scan { dataset } => self.scan(dataset, relation, &read)?,
            Operator::Filter { input, predicate } => {
                let mut below = read.clone();
                below.extend(predicate.columns());
                self.relation(input, &below)?
            }
            Operator::Project { input, expressions } => {
                let used = read.iter().filter_map(|place| expressions.get(*place));
                let below: BTreeSet<usize> = used.flat_map(Expr::columns).collect();
                let rows = self.relation(input, &below)?;
                let bytes = |expr: &Expr| bytes_of(expr, &rows.columns, &input.columns);
                let columns = expressions.iter().map(bytes).collect();
                Rows { columns, ..rows }
            }
            Operator::First { input, rows, read } => {
                let below: BTreeSet<usize> = read.iter().copied().collect();
                let found = self.relation(input, &below)?;
                self.held = self.held.saturating_add(ranked(&found, &below));
                self.hashed = self.hashed.saturating_add(found.rows);
                let most = found.units.saturating_mul(*rows);
                Rows {
                    rows: found.rows.min(most),
                    estimated: false,
                    ..found
                }
            }
            Operator::Union { inputs } => self.union(inputs, &read)?,
            Operator::Group {
                input,
                keys,
                aggregates,
            } => self.group(relation, input, keys, aggregates)?,
            Operator::Join { .. } => self.join(relation, &read)?,
        };
        if relation.one_row_per_unit {
            found.rows = found.rows.min(found.units);
            found.base = found.rows;
        }
        self.most_rows = self.most_rows.max(found.rows);
        self.widest = self.widest.max(found.read(&read).fixed);
        Ok(found)
    }

    fn scan(
        &mut self,
        name: &str,
        relation: &Relation,
        read: &BTreeSet<usize>,
    ) -> Result<Rows, EngineError> {
        let size = self.sizes.get(name).ok_or_else(|| no_dataset(name))?;
        let declared = &relations::dataset(self.catalogue, name)?.columns;
        let mut encoded = 0_u64;
        let mut columns = Vec::with_capacity(relation.columns.len());
        for (place, column) in relation.columns.iter().enumerate() {
            let mut bytes = ColumnBytes::of(column.kind);
            if read.contains(&place) {
                let found = declared.iter().position(|other| other.name == column.name);
                let found = found.and_then(|found| size.columns.get(found));
                let found = *found.ok_or_else(|| no_dataset(name))?;
                encoded = encoded.saturating_add(found);
                if column.kind == Type::Text {
                    bytes.stored = match size.layout {
                        Layout::Text => found,
                        Layout::Columns => found.max(size.rows.saturating_mul(DICTIONARY_TEXT)),
                    };
                }
            }
            columns.push(bytes);
        }
        let (held, decoded) = match size.layout {
            Layout::Text => {
                self.streams = self.streams.max(size.files);
                let each = size.files.saturating_mul(TEXT_READER);
                (each.min(size.bytes.saturating_mul(3)), size.bytes)
            }
            // Chunks as they are stored, and their pages.
            Layout::Columns => {
                self.streams = self.streams.max(PIECES);
                (encoded.saturating_mul(2), encoded)
            }
        };
        self.scans = self.scans.saturating_add(held);
        self.decoded = self.decoded.saturating_add(decoded);
        let texts = columns.iter().map(|column| column.stored);
        let texts = texts.fold(0, u64::saturating_add);
        // All texts of a CSV file are not more than the file.
        let texts = match size.layout {
            Layout::Text => texts.min(size.bytes),
            Layout::Columns => texts,
        };
        self.stored = self.stored.saturating_add(texts);
        let private = !relation.unit.is_empty();
        Ok(Rows {
            rows: size.rows,
            units: if private { size.rows } else { 0 },
            base: size.rows,
            columns,
            estimated: size.layout == Layout::Columns,
            encoded,
        })
    }

    fn union(&mut self, inputs: &[Relation], read: &BTreeSet<usize>) -> Result<Rows, EngineError> {
        let mut all: Option<Rows> = None;
        for input in inputs {
            let found = self.relation(input, read)?;
            all = Some(match all {
                None => found,
                Some(all) => {
                    let columns = all.columns.iter().zip(&found.columns);
                    Rows {
                        rows: all.rows.saturating_add(found.rows),
                        units: all.units.saturating_add(found.units),
                        base: all.base.saturating_add(found.base),
                        columns: columns.map(|(one, other)| one.or(*other)).collect(),
                        estimated: false,
                        encoded: all.encoded.saturating_add(found.encoded),
                    }
                }
            });
        }
        all.ok_or_else(|| bad("a union of nothing"))
    }

    fn group(
        &mut self,
        relation: &Relation,
        input: &Relation,
        keys: &[Expr],
        aggregates: &[Within],
    ) -> Result<Rows, EngineError> {
        let arguments = aggregates.iter().filter_map(Within::argument);
        let below = keys.iter().chain(arguments).flat_map(Expr::columns);
        let rows = self.relation(input, &below.collect())?;
        let groups = match (keys.is_empty(), relation.one_row_per_unit) {
            (true, _) => 1,
            (false, true) => rows.rows.min(rows.units),
            (false, false) => rows.rows,
        };
        let bytes = |expr: &Expr| bytes_of(expr, &rows.columns, &input.columns);
        let mut columns: Vec<ColumnBytes> = keys.iter().map(bytes).collect();
        let mut sets = 0_u64;
        for aggregate in aggregates {
            let mut state = ColumnBytes::of(Type::Integer);
            match aggregate {
                Within::Rows | Within::Count(_) => {}
                // With how many values there are.
                Within::Sum(..) => state.fixed = state.fixed.saturating_mul(2),
                Within::Min(expr) | Within::Max(expr) => {
                    state = bytes(expr);
                    state.fixed = state.fixed.saturating_add(TEXT_STATE);
                }
                Within::CountDistinct(expr) => {
                    let value = bytes(expr);
                    let is_text = expr.type_of(&input.columns).ok() == Some(Type::Text);
                    let set = if is_text { TEXT_SET } else { SET };
                    let values = RowBytes::of([value], rows.rows);
                    sets = sets
                        .saturating_add(groups.saturating_mul(set))
                        .saturating_add(values.held(rows.rows, 1, SET_VALUE));
                }
            }
            columns.push(state);
        }
        let states = RowBytes::of(columns.iter().copied(), groups);
        let held = states.held(groups, 2, GROUP_ROW).saturating_add(sets);
        self.held = self.held.saturating_add(held);
        self.hashed = self.hashed.saturating_add(rows.rows);
        Ok(Rows {
            rows: groups,
            units: rows.units.min(groups),
            base: rows.base.min(groups),
            columns,
            estimated: false,
            encoded: rows.encoded,
        })
    }

    fn join(&mut self, relation: &Relation, read: &BTreeSet<usize>) -> Result<Rows, EngineError> {
        let Operator::Join {
            left,
            right,
            keeps_left,
            on,
            condition,
        } = &relation.operator
        else {
            return Err(bad("no join"));
        };
        let width = left.columns.len();
        let mut both = read.clone();
        both.extend(condition.iter().flat_map(Expr::columns));
        let mut of_left: BTreeSet<usize> = both.range(..width).copied().collect();
        let mut of_right: BTreeSet<usize> = both.range(width..).map(|at| at - width).collect();
        for (ours, theirs) in on {
            of_left.extend(ours.columns());
            of_right.extend(theirs.columns());
        }
        let (ours, theirs) = (
            self.relation(left, &of_left)?,
            self.relation(right, &of_right)?,
        );
        let public = (left.unit.is_empty(), right.unit.is_empty());
        let (rows, base, units) = match public {
            (false, false) => {
                let (rows, base) = private_join(left, right, &ours, &theirs);
                let units = if *keeps_left {
                    ours.units
                } else {
                    ours.units.min(theirs.units)
                };
                (rows, base, units)
            }
            (false, true) => {
                let keys = on.iter().map(|(_, key)| key.clone()).collect();
                let times = fan_out::fan_out(right, keys, self.count)?;
                (
                    ours.rows.saturating_mul(times),
                    ours.base.saturating_mul(times),
                    ours.units,
                )
            }
            (true, false) => {
                let keys = on.iter().map(|(key, _)| key.clone()).collect();
                let times = fan_out::fan_out(left, keys, self.count)?;
                (
                    theirs.rows.saturating_mul(times),
                    theirs.base.saturating_mul(times),
                    theirs.units,
                )
            }
            (true, true) => {
                let product = ours.rows.saturating_mul(theirs.rows);
                let counted = fan_out::public_rows(relation, self.count)?;
                (product.min(counted), product.min(counted), 0)
            }
        };
        let rows = match *keeps_left {
            true => rows.saturating_add(ours.rows),
            false => rows,
        };
        let build =
            |side: &Rows, read: &BTreeSet<usize>| side.read(read).held(side.rows, 2, JOIN_ROW);
        let (one, other) = (build(&ours, &of_left), build(&theirs, &of_right));
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
        let times = |side: &Rows| rows.div_ceil(side.rows.max(1)).max(1);
        let of_left = ours.columns.iter().map(|column| column.times(times(&ours)));
        let of_right = theirs
            .columns
            .iter()
            .map(|column| column.times(times(&theirs)));
        Ok(Rows {
            rows,
            units,
            base,
            columns: of_left.chain(of_right).collect(),
            estimated: false,
            encoded: ours.encoded.saturating_add(theirs.encoded),
        })
    }
}

/// The most rows of a join of two private relations, without those that a left join adds,
/// and of the largest dataset in it. Where a side has one row of each unit, there are as
/// many as the other has.
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

/// What a limit on the rows of units holds: all of them until they are ranked.
pub(super) fn ranked(rows: &Rows, read: &BTreeSet<usize>) -> u64 {
    rows.read(read).held(rows.rows, 2, RANKED_ROW)
}

/// The same of other columns of a relation.
pub(super) fn ranked_columns(columns: &[ColumnBytes], rows: u64) -> u64 {
    RowBytes::of(columns.iter().copied(), rows).held(rows, 2, RANKED_ROW)
}

/// What an aggregate over groups of these columns holds.
pub(super) fn grouped(columns: &[ColumnBytes], groups: u64) -> u64 {
    RowBytes::of(columns.iter().copied(), groups).held(groups, 2, GROUP_ROW)
}

/// The time of rows that are hashed.
pub(super) const fn hashed(rows: u64) -> u64 {
    rows.saturating_mul(HASHED)
}

fn no_dataset(name: &str) -> EngineError {
    EngineError::NotInCatalogue {
        dataset: name.to_owned(),
    }
}
