//! Refusals of queries: a stable code, the problem, the remedy and the place.
//!
//! A query is refused before data is read, so a refusal reveals nothing about any unit.

use std::fmt;

use datafusion_common::Span;
use mizan_core::Code;

/// How many characters of a long line are shown around the caret.
const SHOWN: usize = 70;

/// A place in the text of a query; lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextSpan {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// The number of characters, at least 1.
    pub length: usize,
}

impl TextSpan {
    /// The place of a span of the parser; None if it has none. A span over several lines ends with
    /// its first line.
    pub(crate) fn of(span: Option<Span>) -> Option<Self> {
        let span = span?;
        let line = usize::try_from(span.start.line).ok()?;
        let column = usize::try_from(span.start.column).ok()?;
        let end = usize::try_from(span.end.column).ok()?;
        let length = if span.end.line == span.start.line {
            end.saturating_sub(column).max(1)
        } else {
            1
        };
        (line > 0 && column > 0).then_some(Self {
            line,
            column,
            length,
        })
    }
}

/// The kinds of refusals. The meaning of their codes never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The text is too long.
    TooLong,
    /// The text is not SQL.
    Syntax,
    /// A statement other than `SELECT`.
    NotSelect,
    /// No statement, or several.
    NotOne,
    /// Nested or repeated beyond the limits.
    TooComplex,
    /// A parameter such as `$1`.
    Parameter,
    /// A clause that is not supported.
    Clause,
    /// A dataset that does not exist.
    UnknownTable,
    /// A column that does not exist or is ambiguous.
    UnknownColumn,
    /// A function that is not on the list.
    UnknownFunction,
    /// A function of the time, of randomness or of the session (C7).
    Volatile,
    /// A function or operator that is called in a way that is not supported.
    Call,
    /// Types that do not fit together.
    Types,
    /// A subquery in an expression.
    Subquery,
    /// A window function.
    Window,
    /// `GROUPING SETS`, `CUBE` or `ROLLUP`.
    GroupingSets,
    /// `EXCEPT`, `INTERSECT` and similar operations.
    SetOperation,
    /// `WITH RECURSIVE`.
    Recursive,
    /// The query would return individual rows.
    ShowsRows,
    /// The query reads public tables only.
    NoPrivateDataset,
    /// Two private tables are not joined on the unit.
    JoinNotOnUnit,
    /// A join that keeps rows of a public table, or of both sides.
    JoinKeepsOthers,
    /// An inner `GROUP BY` over rows of several units.
    GroupMixesPeople,
    /// An inner `DISTINCT` over rows of several units.
    DistinctMixesPeople,
    /// `LIMIT` or `ORDER BY` before the aggregate.
    LimitBelow,
    /// A missing bound.
    NoBounds,
    /// The row limit per unit is not declared.
    NoRowsPerUnit,
    /// The limit on the groups per unit is not declared.
    NoGroupsPerUnit,
    /// Limits or bounds are too wide for exact integers.
    TooWide,
    /// Datasets that are paid from different accounts.
    TwoAccounts,
    /// A catalogue that contradicts itself.
    Catalogue,
    /// Groups that are single units.
    GroupPerUnit,
    /// Parts of a `UNION` that do not fit together.
    Union,
    /// An aggregate that is not supported.
    Aggregate,
    /// An operation that is not supported above the topmost aggregate.
    AfterAnswer,
    /// Two columns have the same name.
    SameName,
    /// A literal that does not have the required form.
    Literal,
    /// An error of the planner.
    Planner,
    /// A defect of Mizan or of the planner.
    Internal,
    /// Computed texts could become much longer than the stored ones.
    TextGrowth,
}

impl Reason {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::TooLong => Code::MZ1801,
            Self::Syntax => Code::MZ1802,
            Self::NotSelect => Code::MZ1803,
            Self::NotOne => Code::MZ1804,
            Self::TooComplex => Code::MZ1805,
            Self::Parameter => Code::MZ1806,
            Self::Clause => Code::MZ1807,
            Self::UnknownTable => Code::MZ1808,
            Self::UnknownColumn => Code::MZ1809,
            Self::UnknownFunction => Code::MZ1810,
            Self::Volatile => Code::MZ1811,
            Self::Call => Code::MZ1812,
            Self::Types => Code::MZ1813,
            Self::Subquery => Code::MZ1814,
            Self::Window => Code::MZ1815,
            Self::GroupingSets => Code::MZ1816,
            Self::SetOperation => Code::MZ1817,
            Self::Recursive => Code::MZ1818,
            Self::ShowsRows => Code::MZ1819,
            Self::NoPrivateDataset => Code::MZ1820,
            Self::JoinNotOnUnit => Code::MZ1821,
            Self::JoinKeepsOthers => Code::MZ1822,
            Self::GroupMixesPeople => Code::MZ1823,
            Self::DistinctMixesPeople => Code::MZ1824,
            Self::LimitBelow => Code::MZ1825,
            Self::NoBounds => Code::MZ1826,
            Self::NoRowsPerUnit => Code::MZ1827,
            Self::NoGroupsPerUnit => Code::MZ1828,
            Self::TooWide => Code::MZ1829,
            Self::TwoAccounts => Code::MZ1830,
            Self::Catalogue => Code::MZ1831,
            Self::GroupPerUnit => Code::MZ1832,
            Self::Union => Code::MZ1833,
            Self::Aggregate => Code::MZ1834,
            Self::AfterAnswer => Code::MZ1835,
            Self::SameName => Code::MZ1836,
            Self::Literal => Code::MZ1837,
            Self::Planner => Code::MZ1838,
            Self::Internal => Code::MZ1839,
            Self::TextGrowth => Code::MZ1840,
        }
    }
}

/// A query that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The kind of refusal.
    pub reason: Reason,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// The place, if it is known.
    pub place: Option<TextSpan>,
}

impl Refusal {
    /// A refusal without a place.
    pub(crate) fn new(reason: Reason, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            help: help.into(),
            place: None,
        }
    }

    /// The same refusal at a place, unless it has one.
    pub(crate) fn at(mut self, place: Option<TextSpan>) -> Self {
        self.place = self.place.or(place);
        self
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.reason.code()
    }

    /// The remedy.
    #[must_use]
    pub fn help(&self) -> String {
        self.help.clone()
    }

    /// The refusal with the line of the query, a caret under the place, and the remedy. `sql` is
    /// the text that was planned.
    #[must_use]
    pub fn show(&self, sql: &str) -> String {
        let mut shown = format!("{}: {}\n", self.code(), self.message);
        if let Some(caret) = self.caret(sql) {
            shown.push_str(&caret);
            shown.push('\n');
        }
        shown.push_str("help: ");
        shown.push_str(&self.help);
        shown
    }

    /// The line of the query and a caret under the place.
    #[must_use]
    pub fn caret(&self, sql: &str) -> Option<String> {
        let place = self.place?;
        let line = sql.lines().nth(place.line.saturating_sub(1))?;
        Some(excerpt(line, place))
    }
}

/// A line, shortened around the place, with carets under it.
fn excerpt(line: &str, place: TextSpan) -> String {
    let characters: Vec<char> = line.chars().map(printable).collect();
    let caret = place.column.saturating_sub(1).min(characters.len());
    let first = if characters.len() <= SHOWN {
        0
    } else {
        caret
            .saturating_sub(SHOWN / 2)
            .min(characters.len().saturating_sub(SHOWN))
    };
    let kept: String = characters.iter().skip(first).take(SHOWN).collect();
    let shown_after_caret = first.saturating_add(SHOWN).min(characters.len());
    let length = place
        .length
        .min(shown_after_caret.saturating_sub(caret))
        .max(1);
    let before = if first > 0 { "..." } else { "" };
    let after = if first.saturating_add(SHOWN) < characters.len() {
        "..."
    } else {
        ""
    };
    let number = place.line.to_string();
    let indent = width(before) + width_of(characters.iter().skip(first).take(caret - first));
    let carets = width_of(characters.iter().skip(caret).take(length)).max(1);
    let margin = " ".repeat(number.len());
    format!(
        "{number} | {before}{kept}{after}\n{margin} | {}{}",
        " ".repeat(indent),
        "^".repeat(carets),
    )
}

/// Replaces a character that a terminal does not show in its own cells.
fn printable(character: char) -> char {
    if character.is_control() {
        ' '
    } else {
        character
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// The number of terminal cells of characters: two for East Asian wide ones and emoji, zero for
/// combining marks.
fn width_of<'a>(characters: impl Iterator<Item = &'a char>) -> usize {
    characters
        .map(|character| match u32::from(*character) {
            0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F => 0,
            0x1100..=0x115F
            | 0x2E80..=0xA4CF
            | 0xAC00..=0xD7A3
            | 0xF900..=0xFAFF
            | 0xFE30..=0xFE6F
            | 0xFF00..=0xFF60
            | 0xFFE0..=0xFFE6
            | 0x1F300..=0x1FAFF
            | 0x20000..=0x3FFFD => 2,
            _ => 1,
        })
        .sum()
}

impl fmt::Display for TextSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: usize, column: usize, length: usize) -> Refusal {
        Refusal::new(Reason::Syntax, "no", "yes").at(Some(TextSpan {
            line,
            column,
            length,
        }))
    }

    #[test]
    fn the_caret_is_under_the_place() {
        let shown = at(2, 3, 2).show("SELECT\n\tab cd");
        assert_eq!(shown, "MZ1802: no\n2 |  ab cd\n  |   ^^\nhelp: yes");
    }

    #[test]
    fn wide_characters_take_two_cells() {
        let shown = at(1, 3, 1).show("日本x");
        assert!(shown.contains("1 | 日本x\n  |     ^\n"), "{shown}");
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let sql = format!("{}HERE{}", "a".repeat(500), "b".repeat(500));
        let shown = at(1, 501, 4).show(&sql);
        let lines: Vec<&str> = shown.lines().collect();
        let start = lines[2].find('^').unwrap();
        assert_eq!(&lines[1][start..start + 4], "HERE");
        assert!(lines[1].len() < 120);
        // A place beyond the end of the text is harmless.
        assert!(at(9, 9, 9).show("x").contains("help"));
        assert!(at(1, 900, 9).show("x").contains('^'));
        assert!(at(0, 0, 0).show("").contains("help"));
    }
}
