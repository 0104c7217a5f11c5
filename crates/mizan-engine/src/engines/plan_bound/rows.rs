//! Bounds on the rows of each operator of a relation, and on the memory that it holds.

mod joins;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mizan_sql::{
    BoundedPlan, Catalogue, Expr, LONGEST_COMPUTED_TEXT, LONGEST_STORED_TEXT, Operator, PlanSize,
    Relation, Type, UnitAggregate,
};

use super::bytes::{ColumnBytes, Origin, RowBytes, bytes_of, column};
use super::{BATCH_ROWS, BATCHES, PIECES, Setting, Texts};
use crate::engine::EngineError;
use crate::engine::bad;
use crate::engines::datafusion::slices::{SLICE_BYTES, SMALL_BATCH};
use crate::engines::fan_out::Count;
use crate::engines::lower_sql::relations;
use crate::engines::size_class::{Layout, SizeClass, TextClass};

/// The memory of a CSV file that is read: its buffers, a batch, and a second batch under
/// construction. In addition, each text column has two copies of the field that ended the
/// batch, and a partially filled block.
const TEXT_READER: u64 = 20 << 20;
const TEXT_COLUMN: u64 = 4 << 20;
const TEXT_BUFFERS: u64 = 1 << 18;

/// The hash table of an aggregate, for each group, in its partial and its final step.
const GROUP_ROW: u64 = 112;

/// What a row limit holds for each row that it ranks: a number, a hash, a position, whether it
/// is kept.
const RANKED_ROW: u64 = 72;

/// The state of a least or greatest text: where its bytes are.
const TEXT_STATE: u64 = 32;

/// The set of a distinct count: for each group, and for each value in it. Distinct texts share
/// one set (`datafusion/distinct.rs`).
const SET: u64 = 256;
const TEXT_SET: u64 = 48;
const SET_VALUE: u64 = 64;
const SET_TEXT: u64 = 192;

/// A computed value, and whether it is NULL.
const COMPUTED: u64 = 9;

/// Time in nanoseconds on one processor, measured with `examples/bench_bounds.rs` and rounded
/// up: for each row and each node of its expressions and each column; for a byte that a scan
/// decodes; for a byte that a text function processes; for a row in a hash table or a ranking.
const NODE: u64 = 10;
const DECODED: u64 = 10;
const PASSED: u64 = 4;
const HASHED: u64 = 250;

/// Bounds of a relation.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// The number of rows.
    pub(super) rows: u64,
    /// The number of units with a row.
    pub(super) units: u64,
    /// The rows of the largest private dataset below, times the fan-outs above it.
    base: u64,
    /// The columns that are read, by position.
    pub(super) columns: Vec<ColumnBytes>,
    /// Whether DataFusion knows the size of the relation when it plans joins.
    estimated: bool,
    /// The encoded bytes of the columns that are read, if they are known.
    encoded: u64,
}

impl Rows {
    fn read(&self, read: &BTreeSet<usize>) -> Result<RowBytes, EngineError> {
        let mut columns = Vec::with_capacity(read.len());
        for place in read {
            columns.push(column(&self.columns, *place)?);
        }
        Ok(RowBytes::carried(columns, self.rows))
    }
}

/// Adds up the memory of the operators of a relation.
pub(super) struct Walk<'a, 'b> {
    catalogue: &'a Catalogue,
    sizes: &'a BTreeMap<String, Arc<SizeClass>>,
    texts: &'a mut Texts<'b>,
    count: &'a mut Count<'b>,
    /// The memory of scans.
    pub(super) scans: u64,
    /// The memory of other operators.
    pub(super) held: u64,
    /// The most rows of any operator, and the most bytes of a row without texts.
    most_rows: u64,
    widest: u64,
    /// The stored texts that any operator reads, including each repetition by joins.
    most_text: u64,
    /// The longest stored text that is read.
    longest: u64,
    /// The number of operators so far whose rows are not repetitions of others.
    origins: u64,
    setting: Setting,
    /// The bytes that scans decode, and the rows that are hashed or ranked.
    decoded: u64,
    hashed: u64,
    /// How many files or row groups are read concurrently.
    streams: u64,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(super) fn new(
        catalogue: &'a Catalogue,
        sizes: &'a BTreeMap<String, Arc<SizeClass>>,
        texts: &'a mut Texts<'b>,
        count: &'a mut Count<'b>,
        setting: Setting,
    ) -> Self {
        Self {
            catalogue,
            sizes,
            texts,
            count,
            scans: 0,
            held: 0,
            most_rows: 0,
            widest: 0,
            most_text: 0,
            longest: 0,
            origins: 0,
            setting,
            decoded: 0,
            hashed: 0,
            streams: 0,
        }
    }

    /// The memory of batches between operators: their columns and, in each partition, one more
    /// column for each node of an expression.
    pub(super) fn batches(&self, plan: &BoundedPlan) -> u64 {
        let partitions = self.setting.partitions.max(1);
        let batch = |bytes: u64| BATCH_ROWS.min(self.most_rows).saturating_mul(bytes);
        let streams = self.streams.max(partitions);
        let moving = streams
            .saturating_add(partitions)
            .saturating_mul(BATCH_ROWS);
        let moving = moving.min(self.most_rows).saturating_mul(BATCHES);
        let moving = moving.saturating_mul(self.widest);
        let (size, growth) = (plan.size(), plan.text_growth());
        let nodes = batch(size.nodes.saturating_mul(COMPUTED));
        let literals = batch(growth.literal_bytes).saturating_mul(2);
        // A LIKE expands one text at a time.
        let spread = self
            .longest
            .saturating_mul(if size.text_passes > 0 { 4 } else { 0 });
        // Computed texts: of a slice of stored ones or of one row, and of the rows that
        // operators combine again, before and after each join and filter.
        let row = growth.copies.saturating_mul(LONGEST_COMPUTED_TEXT as u64);
        let slice = growth.copies.saturating_mul(SLICE_BYTES as u64).max(row);
        let gathered = row.saturating_mul(SMALL_BATCH as u64);
        let places = size.joins.saturating_mul(2).saturating_add(2);
        let made = slice.saturating_add(gathered.saturating_mul(places));
        let made = made.min(
            growth
                .copies
                .saturating_mul(self.most_text)
                .saturating_mul(2),
        );
        let all = [nodes, literals, spread, made];
        let each = all.into_iter().fold(0, u64::saturating_add);
        moving.saturating_add(partitions.saturating_mul(each))
    }

    /// The time of a statement to read the relation and to compute its expressions.
    pub(super) fn nanoseconds(&self, size: &PlanSize) -> u64 {
        let nodes = self.most_rows.saturating_mul(size.nodes);
        let stored = self.most_text.saturating_mul(size.text_passes);
        let literal = self.most_rows.saturating_mul(size.literal_passes);
        let passed = stored.saturating_add(literal);
        let all = [
            nodes.saturating_mul(NODE),
            passed.saturating_mul(PASSED),
            self.decoded.saturating_mul(DECODED),
            self.hashed.saturating_mul(HASHED),
        ];
        all.into_iter().fold(0, u64::saturating_add)
    }

    /// The bounds of a relation of which these columns are read.
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
                let columns = expressions.iter().map(bytes).collect::<Result<_, _>>()?;
                Rows { columns, ..rows }
            }
            Operator::LimitRowsPerUnit { input, rows, read } => {
                let below: BTreeSet<usize> = read.iter().copied().collect();
                let found = self.relation(input, &below)?;
                self.held = self.held.saturating_add(ranked(&found, &below)?);
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
        let here = found.read(&read)?;
        self.widest = self.widest.max(here.fixed);
        self.most_text = self.most_text.max(here.text);
        Ok(found)
    }

    /// A new origin: rows that are not repetitions of others.
    fn origin(&mut self) -> u64 {
        self.origins = self.origins.saturating_add(1);
        self.origins
    }

    fn scan(
        &mut self,
        name: &str,
        relation: &Relation,
        read: &BTreeSet<usize>,
    ) -> Result<Rows, EngineError> {
        let size = self.sizes.get(name).ok_or_else(|| no_dataset(name))?;
        let declared = &relations::dataset(self.catalogue, name)?.columns;
        let private = !relation.unit.is_empty();
        self.origins = self.origins.saturating_add(1);
        let origin = Origin::One(self.origins);
        let (mut encoded, mut texts, mut shared) = (0_u64, 0_u64, 0_u64);
        let mut columns = Vec::with_capacity(relation.columns.len());
        for (place, column) in relation.columns.iter().enumerate() {
            let mut bytes = ColumnBytes {
                origin,
                public: !private,
                ..ColumnBytes::of(column.kind)
            };
            if read.contains(&place) {
                let found = declared.iter().position(|other| other.name == column.name);
                let found = found.and_then(|at| Some((at, *size.columns.get(at)?)));
                let (at, found) = found.ok_or_else(|| no_dataset(name))?;
                let here = match size.layout {
                    Layout::Text => TextClass::default(),
                    Layout::Columns => (self.texts)(name, at)?,
                };
                shared = shared.saturating_add(here.shared);
                encoded = encoded.saturating_add(found);
                if column.kind == Type::Text {
                    bytes.stored = match size.layout {
                        Layout::Text => found,
                        Layout::Columns => here.all.max(size.usual_text(found)),
                    };
                    (bytes.usual, bytes.base) = (bytes.stored, bytes.stored);
                    bytes.longest = bytes.stored.min(LONGEST_STORED_TEXT as u64);
                    self.longest = self.longest.max(bytes.longest);
                    texts = texts.saturating_add(1);
                }
            }
            columns.push(bytes);
        }
        let (held, decoded) = match size.layout {
            Layout::Text => {
                let at_once = size.files.min(PIECES.max(self.setting.partitions));
                self.streams = self.streams.max(at_once);
                let each = TEXT_READER.saturating_add(texts.saturating_mul(TEXT_COLUMN));
                let each = each.saturating_mul(at_once);
                let buffers = at_once.saturating_mul(TEXT_BUFFERS);
                let small = size.bytes.saturating_mul(3).saturating_add(buffers);
                (each.min(small), size.bytes)
            }
            // The stored chunks, their pages, and texts that share prefixes. These are decoded
            // in steps, but if operators are slow, many steps are buffered.
            Layout::Columns => {
                self.streams = self.streams.max(PIECES);
                let held = encoded.saturating_mul(2).saturating_add(shared);
                (held, encoded.saturating_add(shared))
            }
        };
        self.scans = self.scans.saturating_add(held);
        self.decoded = self.decoded.saturating_add(decoded);
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
        let mut all = all.ok_or_else(|| bad("a union of nothing"))?;
        let (origin, rows) = (self.origin(), all.rows);
        for column in &mut all.columns {
            *column = column.from(origin, rows);
        }
        Ok(all)
    }

    fn group(
        &mut self,
        relation: &Relation,
        input: &Relation,
        keys: &[Expr],
        aggregates: &[UnitAggregate],
    ) -> Result<Rows, EngineError> {
        let arguments = aggregates.iter().filter_map(UnitAggregate::argument);
        let below = keys.iter().chain(arguments).flat_map(Expr::columns);
        let rows = self.relation(input, &below.collect())?;
        let groups = match (keys.is_empty(), relation.one_row_per_unit) {
            (true, _) => 1,
            (false, true) => rows.rows.min(rows.units),
            (false, false) => rows.rows,
        };
        let bytes = |expr: &Expr| bytes_of(expr, &rows.columns, &input.columns);
        let keys = keys.iter().map(bytes).collect::<Result<Vec<_>, _>>()?;
        let origins = keys.iter().map(|key| key.origin);
        let of_keys = origins.fold(Origin::Any, Origin::and);
        // One text for each group, or for each pair of a group and a text.
        let texts = |value: &ColumnBytes, number: u64| {
            if relation.one_row_per_unit {
                value.of_units(number)
            } else if of_keys.and(value.origin) == Origin::Several {
                value.text(number)
            } else {
                value.different(number)
            }
        };
        let mut sets = 0_u64;
        let mut states = Vec::with_capacity(aggregates.len());
        for aggregate in aggregates {
            let mut state = ColumnBytes::of(Type::Integer);
            match aggregate {
                UnitAggregate::Rows | UnitAggregate::Count(_) => {}
                // With the number of values.
                UnitAggregate::Sum(..) => state.fixed = state.fixed.saturating_mul(2),
                UnitAggregate::Min(expr) | UnitAggregate::Max(expr) => {
                    state = bytes(expr)?;
                    state.stored = state.stored.min(texts(&state, groups));
                    state.fixed = state.fixed.saturating_add(TEXT_STATE);
                }
                UnitAggregate::CountDistinct(expr) => {
                    let value = bytes(expr)?;
                    let is_text = expr.type_of(&input.columns).ok() == Some(Type::Text);
                    let (set, each) = match is_text {
                        true => (TEXT_SET, SET_TEXT),
                        false => (SET, SET_VALUE),
                    };
                    // A set contains repetitions by joins once.
                    let different = value.different(rows.rows);
                    let values = RowBytes::by([value], |_| different);
                    sets = sets
                        .saturating_add(groups.saturating_mul(set))
                        .saturating_add(values.held(rows.rows, 1, each));
                }
            }
            states.push(state);
        }
        let of_keys = RowBytes::of_keys(&keys, groups);
        let of_states = RowBytes::of(states.iter().copied(), groups);
        let all = RowBytes {
            fixed: of_keys.fixed.saturating_add(of_states.fixed),
            text: of_keys.text.saturating_add(of_states.text),
        };
        let held = all.held(groups, 2, GROUP_ROW).saturating_add(sets);
        self.held = self.held.saturating_add(held);
        self.hashed = self.hashed.saturating_add(rows.rows);
        let origin = self.origin();
        let columns = keys.into_iter().chain(states);
        Ok(Rows {
            rows: groups,
            units: rows.units.min(groups),
            base: rows.base.min(groups),
            columns: columns.map(|each| each.from(origin, groups)).collect(),
            estimated: false,
            encoded: rows.encoded,
        })
    }
}

/// The memory of a row limit: all rows until they are ranked.
fn ranked(rows: &Rows, read: &BTreeSet<usize>) -> Result<u64, EngineError> {
    Ok(rows.read(read)?.held(rows.rows, 2, RANKED_ROW))
}

/// The same for other columns of a relation.
pub(super) fn ranked_columns(columns: &[ColumnBytes], rows: u64) -> u64 {
    RowBytes::carried(columns.iter().copied(), rows).held(rows, 2, RANKED_ROW)
}

/// The memory of an aggregate over groups of these columns.
pub(super) fn grouped(columns: &[ColumnBytes], groups: u64) -> u64 {
    RowBytes::of_keys(columns, groups).held(groups, 2, GROUP_ROW)
}

/// The time to hash rows.
pub(super) const fn hashed(rows: u64) -> u64 {
    rows.saturating_mul(HASHED)
}

fn no_dataset(name: &str) -> EngineError {
    EngineError::NotInCatalogue {
        dataset: name.to_owned(),
    }
}
