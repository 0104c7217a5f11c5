//! Checks the tables of a query: each is a dataset or a `WITH`, and their number is limited once
//! every `WITH` is expanded.

use std::collections::BTreeMap;

use datafusion_sql::sqlparser::ast::{
    Cte, GroupByExpr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, Spanned, TableFactor,
    TableWithJoins,
};

use super::screen::place;
use crate::catalogue::{Catalogue, similar};
use crate::refusal::{Reason, Refusal};

/// The most tables that a query reads, with every `WITH` expanded at each use.
const MAX_TABLES: usize = 64;

/// The most columns of a `SELECT`, keys of a `GROUP BY` and tables of a `WITH`: the planner's time
/// grows with their square.
const MAX_LISTED: usize = 200;
const MAX_KEYS: usize = 64;
const MAX_WITH: usize = 64;

/// The most `*` in a `SELECT`; each stands for many columns.
const MAX_WILDCARDS: usize = 8;

/// Refuses unknown tables, too many tables, and lists that are too long.
pub(super) fn check(query: &Query, catalogue: &Catalogue) -> Result<(), Refusal> {
    let mut tables = Tables {
        catalogue,
        with: BTreeMap::new(),
    };
    tables.query(query).map(|_| ())
}

/// The tables of a query.
struct Tables<'a> {
    catalogue: &'a Catalogue,
    /// The number of tables that each `WITH` name reads.
    with: BTreeMap<String, usize>,
}

impl Tables<'_> {
    /// The number of tables that a query reads.
    fn query(&mut self, query: &Query) -> Result<usize, Refusal> {
        let outer = self.with.clone();
        if let Some(with) = &query.with {
            at_most(with.cte_tables.len(), MAX_WITH, "tables in a WITH", with)?;
            for Cte { alias, query, .. } in &with.cte_tables {
                let read = self.query(query)?;
                self.with.insert(normal(&alias.name), read);
            }
        }
        let read = self.set(&query.body);
        self.with = outer;
        read
    }

    fn set(&mut self, body: &SetExpr) -> Result<usize, Refusal> {
        match body {
            SetExpr::Select(select) => {
                lists(select)?;
                self.tables(&select.from)
            }
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, .. } => {
                let read = self.set(left)?.saturating_add(self.set(right)?);
                limited(read, body)
            }
            _ => Ok(0),
        }
    }

    fn tables(&mut self, tables: &[TableWithJoins]) -> Result<usize, Refusal> {
        let mut read = 0_usize;
        for table in tables {
            let joined = table.joins.iter().map(|join| &join.relation);
            for factor in std::iter::once(&table.relation).chain(joined) {
                read = limited(read.saturating_add(self.factor(factor)?), factor)?;
            }
        }
        Ok(read)
    }

    fn factor(&mut self, factor: &TableFactor) -> Result<usize, Refusal> {
        match factor {
            TableFactor::Table { name, .. } => self.table(name),
            TableFactor::Derived { subquery, .. } => self.query(subquery),
            TableFactor::NestedJoin {
                table_with_joins, ..
            } => self.tables(std::slice::from_ref(table_with_joins)),
            _ => Ok(0),
        }
    }

    fn table(&self, name: &ObjectName) -> Result<usize, Refusal> {
        let written = match name.0.as_slice() {
            [one] => one.as_ident().map(normal),
            _ => None,
        };
        let written = written.unwrap_or_else(|| name.to_string());
        if let Some(read) = self.with.get(&written) {
            return Ok((*read).max(1));
        }
        if self.catalogue.datasets.contains_key(&written) {
            return Ok(1);
        }
        Err(unknown_table(&written, self.catalogue).at(place(name)))
    }
}

/// Whether the lists of a `SELECT` are within the limits.
fn lists(select: &Select) -> Result<(), Refusal> {
    let listed = &select.projection;
    at_most(listed.len(), MAX_LISTED, "columns in a SELECT", select)?;
    let wildcards = listed.iter().filter(|item| {
        matches!(
            item,
            SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
        )
    });
    at_most(wildcards.count(), MAX_WILDCARDS, "* in a SELECT", select)?;
    match &select.group_by {
        GroupByExpr::Expressions(keys, _) => {
            at_most(keys.len(), MAX_KEYS, "keys in a GROUP BY", select)
        }
        GroupByExpr::All(_) => Ok(()),
    }
}

fn at_most(found: usize, most: usize, what: &str, at: &impl Spanned) -> Result<(), Refusal> {
    if found <= most {
        return Ok(());
    }
    Err(Refusal::new(
        Reason::TooComplex,
        format!("there are {found} {what}; the most is {most}"),
        "split the query into several",
    )
    .at(place(at)))
}

fn limited(read: usize, at: &impl Spanned) -> Result<usize, Refusal> {
    if read <= MAX_TABLES {
        return Ok(read);
    }
    Err(Refusal::new(
        Reason::TooComplex,
        format!("the query reads more than {MAX_TABLES} tables, each use of a WITH counted"),
        "simplify the query",
    )
    .at(place(at)))
}

/// A name as the planner normalizes it: lower case unless quoted.
fn normal(name: &Ident) -> String {
    if name.quote_style.is_some() {
        name.value.clone()
    } else {
        name.value.to_ascii_lowercase()
    }
}

fn unknown_table(name: &str, catalogue: &Catalogue) -> Refusal {
    let known = || catalogue.datasets.keys().map(String::as_str);
    let shown: String = name.chars().take(80).collect();
    let mut help = match similar(name, known()) {
        Some(other) if other != other.to_lowercase() => {
            format!("did you mean \"{other}\", with its quotes? ")
        }
        Some(other) => format!("did you mean {other}? "),
        None => String::new(),
    };
    let names: Vec<&str> = known().take(20).collect();
    help.push_str(&if names.is_empty() {
        "there are no datasets yet; add one with `mizan dataset add`".to_owned()
    } else {
        format!("datasets are {}", names.join(", "))
    });
    Refusal::new(
        Reason::UnknownTable,
        format!("there is no dataset {shown}"),
        help,
    )
}
