//! Checks the syntax of a query before planning: a construct that is not supported is refused by
//! name and place. The planner resolves the rest, and `rows` and `answer` check the plan again with
//! allow-lists.

use std::ops::ControlFlow;

use datafusion_common::Span;
use datafusion_sql::sqlparser::ast::{
    CeilFloorKind, DateTimeField, Distinct, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator, LimitClause, Query,
    Select, SetExpr, SetOperator, SetQuantifier, Spanned, TableFactor, TableWithJoins,
    TrimWhereField, Value, ValueWithSpan, Visit, Visitor,
};

use super::{functions, tables};
use crate::catalogue::{Catalogue, similar};
use crate::refusal::{Reason, Refusal, TextSpan};

/// Refuses syntax that is not supported.
pub(super) fn screen(query: &Query, catalogue: &Catalogue) -> Result<(), Refusal> {
    // Clauses and expressions at every level.
    if let ControlFlow::Break(refusal) = query.visit(&mut Screen) {
        return Err(*refusal);
    }
    // The names of tables, and their number once every WITH is expanded.
    tables::check(query, catalogue)
}

pub(super) fn place(of: &impl Spanned) -> Option<TextSpan> {
    TextSpan::of(Span::try_from_sqlparser_span(of.span()))
}

fn refuse<T>(refusal: Refusal, place: Option<TextSpan>) -> ControlFlow<Box<Refusal>, T> {
    ControlFlow::Break(Box::new(refusal.at(place)))
}

fn clause(name: &str) -> Refusal {
    Refusal::new(
        Reason::Clause,
        format!("{name} is not supported"),
        "leave it out: Mizan answers plain SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... ORDER BY ... LIMIT",
    )
}

struct Screen;

impl Visitor for Screen {
    type Break = Box<Refusal>;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Self::Break> {
        // Every field is named, so that a new clause of the parser cannot be missed here.
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        if with.as_ref().is_some_and(|with| with.recursive) {
            return refuse(
                Refusal::new(
                    Reason::Recursive,
                    "WITH RECURSIVE is not supported: how often it runs would depend on data",
                    "leave RECURSIVE out",
                ),
                with.as_ref().and_then(place),
            );
        }
        let named = [
            (fetch.is_some(), "FETCH"),
            (!locks.is_empty(), "FOR UPDATE or FOR SHARE"),
            (for_clause.is_some(), "FOR"),
            (settings.is_some(), "SETTINGS"),
            (format_clause.is_some(), "FORMAT"),
            (!pipe_operators.is_empty(), "the pipe operator |>"),
            (
                order_by.as_ref().is_some_and(|by| by.interpolate.is_some()),
                "INTERPOLATE",
            ),
            (
                matches!(limit_clause, Some(LimitClause::LimitOffset { limit_by, .. }) if !limit_by.is_empty()),
                "LIMIT BY",
            ),
        ];
        if let Some((_, name)) = named.iter().find(|(is_there, _)| *is_there) {
            return refuse(clause(name), place(query));
        }
        self.set(body)
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Self::Break> {
        let Select {
            select_token: _,
            optimizer_hints: _,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection: _,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection: _,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having: _,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor: _,
        } = select;
        let modified = match group_by {
            GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers) => {
                !modifiers.is_empty()
            }
        };
        if modified {
            return refuse(grouping_sets("this GROUP BY ... WITH"), place(group_by));
        }
        if !named_window.is_empty() || qualify.is_some() {
            return refuse(window(), place(select));
        }
        let named = [
            (into.is_some(), "SELECT INTO"),
            (top.is_some(), "TOP"),
            (matches!(distinct, Some(Distinct::On(_))), "DISTINCT ON"),
            (exclude.is_some(), "EXCLUDE"),
            (select_modifiers.is_some(), "a modifier of SELECT"),
            (!lateral_views.is_empty(), "LATERAL VIEW"),
            (prewhere.is_some(), "PREWHERE"),
            (!connect_by.is_empty(), "CONNECT BY"),
            (!cluster_by.is_empty(), "CLUSTER BY"),
            (!distribute_by.is_empty(), "DISTRIBUTE BY"),
            (!sort_by.is_empty(), "SORT BY"),
            (value_table_mode.is_some(), "SELECT AS"),
        ];
        if let Some((_, name)) = named.iter().find(|(is_there, _)| *is_there) {
            return refuse(clause(name), place(select));
        }
        from.iter().try_for_each(|table| self.joins(table))
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<Self::Break> {
        let what = match table {
            TableFactor::Table {
                name: _,
                alias,
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                let at = alias.as_ref().is_some_and(|alias| alias.at.is_some());
                if args.is_some() {
                    Some("a table function")
                } else if version.is_some() {
                    Some("an earlier version of a table")
                } else if sample.is_some() {
                    Some("TABLESAMPLE")
                } else if !with_hints.is_empty()
                    || *with_ordinality
                    || !partitions.is_empty()
                    || json_path.is_some()
                    || !index_hints.is_empty()
                    || at
                {
                    Some("this way to name a table")
                } else {
                    None
                }
            }
            TableFactor::Derived {
                lateral, sample, ..
            } => {
                if *lateral {
                    Some("LATERAL")
                } else if sample.is_some() {
                    Some("TABLESAMPLE")
                } else {
                    None
                }
            }
            TableFactor::NestedJoin {
                table_with_joins, ..
            } => return self.joins(table_with_joins),
            TableFactor::UNNEST { .. } => Some("UNNEST"),
            TableFactor::Pivot { .. } => Some("PIVOT"),
            TableFactor::Unpivot { .. } => Some("UNPIVOT"),
            TableFactor::MatchRecognize { .. } => Some("MATCH_RECOGNIZE"),
            _ => Some("a table function"),
        };
        match what {
            Some(what) => refuse(clause(what), place(table)),
            None => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
        match expr {
            Expr::Identifier(name) => self.identifier(name),
            Expr::CompoundIdentifier(names) => {
                names.iter().try_for_each(|name| self.identifier(name))
            }
            Expr::Function(function) => self.function(function, expr),
            Expr::InSubquery { .. }
            | Expr::Exists { .. }
            | Expr::Subquery(_)
            | Expr::AnyOp { .. }
            | Expr::AllOp { .. } => refuse(subquery(), place(expr)),
            Expr::GroupingSets(_) | Expr::Cube(_) | Expr::Rollup(_) => {
                refuse(grouping_sets("this GROUP BY"), place(expr))
            }
            Expr::Trim {
                trim_where,
                trim_what,
                trim_characters,
                ..
            } => {
                let plain = matches!(trim_where, None | Some(TrimWhereField::Both))
                    && trim_what.is_none()
                    && trim_characters.is_none();
                self.only(plain, "TRIM of one end or of other characters", expr)
            }
            Expr::Floor { field, .. } | Expr::Ceil { field, .. } => self.only(
                matches!(
                    field,
                    CeilFloorKind::DateTimeField(DateTimeField::NoDateTime)
                ),
                "FLOOR or CEIL to something",
                expr,
            ),
            Expr::Like { any, .. } | Expr::ILike { any, .. } => self.only(!any, "LIKE ANY", expr),
            Expr::Cast { array, format, .. } => {
                self.only(!array && format.is_none(), "this CAST", expr)
            }
            Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsUnknown(_)
            | Expr::IsNotUnknown(_)
            | Expr::IsDistinctFrom(..)
            | Expr::IsNotDistinctFrom(..)
            | Expr::InList { .. }
            | Expr::Between { .. }
            | Expr::BinaryOp { .. }
            | Expr::UnaryOp { .. }
            | Expr::Extract { .. }
            | Expr::Substring { .. }
            | Expr::Nested(_)
            | Expr::Value(_)
            | Expr::TypedString(_)
            | Expr::Case { .. }
            | Expr::Interval(_)
            | Expr::Wildcard(_)
            | Expr::QualifiedWildcard(..) => ControlFlow::Continue(()),
            Expr::SimilarTo { .. } | Expr::RLike { .. } => {
                self.only(false, "matching with regular expressions", expr)
            }
            Expr::AtTimeZone { .. } => self.only(false, "AT TIME ZONE: times are in UTC", expr),
            Expr::Collate { .. } => self.only(false, "COLLATE: text compares by its bytes", expr),
            Expr::Array(_) | Expr::CompoundFieldAccess { .. } => {
                self.only(false, "arrays and fields of values", expr)
            }
            Expr::Tuple(_) | Expr::Struct { .. } | Expr::Map(_) | Expr::Dictionary(_) => {
                self.only(false, "a value of several values", expr)
            }
            _ => self.only(false, "this expression", expr),
        }
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<Self::Break> {
        match &value.value {
            Value::Placeholder(name) => refuse(
                Refusal::new(
                    Reason::Parameter,
                    format!("the parameter {name} has no value"),
                    "write the value itself",
                ),
                TextSpan::of(Span::try_from_sqlparser_span(value.span)),
            ),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Screen {
    fn only(&self, allowed: bool, what: &str, expr: &Expr) -> ControlFlow<Box<Refusal>> {
        if allowed {
            return ControlFlow::Continue(());
        }
        let refusal = Refusal::new(
            Reason::Call,
            format!("{what} is not supported"),
            "write it with comparisons, CASE, LIKE, CAST, date_trunc, EXTRACT and the like",
        );
        refuse(refusal, place(expr))
    }

    fn set(&self, body: &SetExpr) -> ControlFlow<Box<Refusal>> {
        match body {
            SetExpr::Select(_) | SetExpr::Query(_) => ControlFlow::Continue(()),
            SetExpr::SetOperation {
                left,
                op,
                set_quantifier,
                right,
            } => {
                let name = match (op, set_quantifier) {
                    (SetOperator::Except | SetOperator::Minus, _) => Some("EXCEPT"),
                    (SetOperator::Intersect, _) => Some("INTERSECT"),
                    (
                        _,
                        SetQuantifier::ByName
                        | SetQuantifier::AllByName
                        | SetQuantifier::DistinctByName,
                    ) => Some("UNION BY NAME"),
                    _ => None,
                };
                if let Some(name) = name {
                    let refusal = Refusal::new(
                        Reason::SetOperation,
                        format!(
                            "{name} is not supported: it compares the rows of different people"
                        ),
                        "use UNION ALL, WHERE conditions, or a join on the unit",
                    );
                    return refuse(refusal, place(body));
                }
                self.set(left)?;
                self.set(right)
            }
            SetExpr::Values(_) => refuse(clause("VALUES"), place(body)),
            _ => refuse(
                Refusal::new(
                    Reason::NotSelect,
                    "only SELECT is answered",
                    "Mizan reads only; use SELECT",
                ),
                place(body),
            ),
        }
    }

    fn joins(&self, table: &TableWithJoins) -> ControlFlow<Box<Refusal>> {
        for Join {
            relation,
            global,
            join_operator,
        } in &table.joins
        {
            let name = match join_operator {
                // The planner takes the unit from the side whose rows may be missing.
                JoinOperator::Right(JoinConstraint::Using(_) | JoinConstraint::Natural)
                | JoinOperator::RightOuter(JoinConstraint::Using(_) | JoinConstraint::Natural) => {
                    let refusal = Refusal::new(
                        Reason::Clause,
                        "RIGHT JOIN with USING is not supported: which column it means is not clear",
                        "exchange the tables and write LEFT JOIN ... USING, or write RIGHT JOIN ... ON",
                    );
                    return refuse(refusal, place(relation));
                }
                JoinOperator::Join(_)
                | JoinOperator::Inner(_)
                | JoinOperator::Left(_)
                | JoinOperator::LeftOuter(_)
                | JoinOperator::Right(_)
                | JoinOperator::RightOuter(_)
                | JoinOperator::CrossJoin(_)
                    if !global =>
                {
                    continue;
                }
                JoinOperator::FullOuter(_) => {
                    let refusal = Refusal::new(
                        Reason::JoinKeepsOthers,
                        "FULL JOIN is not supported: it keeps rows without a privacy unit",
                        "use INNER JOIN, LEFT JOIN or UNION ALL",
                    );
                    return refuse(refusal, place(relation));
                }
                JoinOperator::Semi(_) | JoinOperator::LeftSemi(_) | JoinOperator::RightSemi(_) => {
                    "SEMI JOIN"
                }
                JoinOperator::Anti(_) | JoinOperator::LeftAnti(_) | JoinOperator::RightAnti(_) => {
                    "ANTI JOIN"
                }
                JoinOperator::CrossApply | JoinOperator::OuterApply => "APPLY",
                JoinOperator::AsOf { .. } => "ASOF JOIN",
                _ => "this kind of JOIN",
            };
            return refuse(clause(name), place(relation));
        }
        ControlFlow::Continue(())
    }

    fn identifier(&self, name: &Ident) -> ControlFlow<Box<Refusal>> {
        if !name.value.starts_with('@') || name.quote_style.is_some() {
            return ControlFlow::Continue(());
        }
        refuse(
            volatile(&name.value),
            TextSpan::of(Span::try_from_sqlparser_span(name.span)),
        )
    }

    fn function(&self, function: &Function, expr: &Expr) -> ControlFlow<Box<Refusal>> {
        let Function {
            name,
            uses_odbc_syntax,
            parameters,
            args,
            filter,
            null_treatment,
            over,
            within_group,
        } = function;
        let here = place(name).or_else(|| place(expr));
        let called = match name.0.as_slice() {
            [one] => match one.as_ident() {
                Some(ident) if ident.quote_style.is_some() => ident.value.clone(),
                Some(ident) => ident.value.to_lowercase(),
                None => name.to_string(),
            },
            _ => name.to_string(),
        };
        if over.is_some() {
            return refuse(window(), here);
        }
        if functions::VOLATILE.contains(&called.as_str()) {
            return refuse(volatile(&called), here);
        }
        let known = functions::names().any(|name| name == called);
        // A name without parentheses may also be a column.
        if !known && matches!(args, FunctionArguments::None) {
            return ControlFlow::Continue(());
        }
        if !known {
            return refuse(unknown_function(&called), here);
        }
        let aggregate = functions::is_aggregate(&called);
        let list = match args {
            FunctionArguments::List(list) => list,
            FunctionArguments::None => {
                return refuse(call(&called, "without parentheses"), here);
            }
            FunctionArguments::Subquery(_) => return refuse(subquery(), here),
        };
        let odd = [
            (*uses_odbc_syntax, "in braces"),
            (
                !matches!(parameters, FunctionArguments::None),
                "with parameters",
            ),
            (null_treatment.is_some(), "with IGNORE or RESPECT NULLS"),
            (
                !list.clauses.is_empty(),
                "with ORDER BY, LIMIT or the like among its arguments",
            ),
            (
                list.duplicate_treatment.is_some() && !aggregate,
                "with DISTINCT or ALL",
            ),
            (filter.is_some() && !aggregate, "with FILTER"),
            (
                !within_group.is_empty() && !functions::takes_within_group(&called),
                "with WITHIN GROUP",
            ),
        ];
        if let Some((_, how)) = odd.iter().find(|(is_there, _)| *is_there) {
            return refuse(call(&called, how), here);
        }
        for argument in &list.args {
            let fine = match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(_)) => true,
                FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => called == "count",
                _ => false,
            };
            if !fine {
                return refuse(call(&called, "with such an argument"), here);
            }
        }
        ControlFlow::Continue(())
    }
}

fn call(name: &str, how: &str) -> Refusal {
    Refusal::new(
        Reason::Call,
        format!("{name} cannot be called {how}"),
        format!("call {name} with plain arguments"),
    )
}

fn volatile(name: &str) -> Refusal {
    Refusal::new(
        Reason::Volatile,
        format!(
            "{name} is not supported: an answer may depend on the query and the data only, not on randomness, the time or the session"
        ),
        "write the value itself, such as DATE '2026-01-31'",
    )
}

fn unknown_function(name: &str) -> Refusal {
    let help = similar(name, functions::names()).map_or_else(
        || {
            let known: Vec<&str> = functions::names().collect();
            format!("Mizan knows {}", known.join(", "))
        },
        |other| format!("did you mean {other}?"),
    );
    Refusal::new(
        Reason::UnknownFunction,
        format!(
            "there is no function {}",
            name.chars().take(80).collect::<String>()
        ),
        help,
    )
}

fn subquery() -> Refusal {
    Refusal::new(
        Reason::Subquery,
        "a subquery in an expression is not supported: it would mix the rows of different people",
        "join instead: private tables on the unit, public tables on anything",
    )
}

fn window() -> Refusal {
    Refusal::new(
        Reason::Window,
        "window functions are not supported: they look at the rows of other people",
        "use GROUP BY; for something per person, GROUP BY the unit in a subquery",
    )
}

fn grouping_sets(what: &str) -> Refusal {
    Refusal::new(
        Reason::GroupingSets,
        format!("{what} groups the same rows several times, which is not supported"),
        "send one query for each grouping",
    )
}
