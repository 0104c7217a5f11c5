//! From text to one `SELECT`, within fixed limits.

use datafusion_common::{DataFusionError, Location, Span};
use datafusion_sql::parser::{DFParserBuilder, Statement};
use datafusion_sql::sqlparser::ast::{Query, Statement as SqlStatement};
use datafusion_sql::sqlparser::dialect::GenericDialect;
use datafusion_sql::sqlparser::keywords::Keyword;
use datafusion_sql::sqlparser::parser::ParserError;
use datafusion_sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::refusal::{Reason, Refusal, TextSpan};

/// The longest text, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

/// The most keywords and operators. Nesting without parentheses, such as a chain of operators,
/// needs one for each level.
const MAX_OPERATORS: usize = 2_000;

/// The most function calls. The planner's time grows with the square of the number of aggregates.
const MAX_CALLS: usize = 200;

/// The deepest nesting of parentheses. The parser's time can double with each level.
const MAX_PARENTHESES: usize = 40;

/// The parser's own limit on nesting.
const MAX_NESTING: usize = 60;

/// Splits off `EXPLAIN PRIVACY`: whether only the cost is requested, and the query itself.
#[must_use]
pub fn statement(sql: &str) -> (bool, &str) {
    let explained = after_word(sql, "EXPLAIN").and_then(|rest| after_word(rest, "PRIVACY"));
    explained.map_or((false, sql), |question| (true, question))
}

/// The text after a word and a space, in upper or lower case.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let text = text.trim_start();
    let (first, rest) = text.split_at_checked(word.len())?;
    let ends = rest.starts_with(|character: char| character.is_whitespace());
    (first.eq_ignore_ascii_case(word) && ends).then(|| rest.trim_start())
}

/// The tokens of a query with their places.
#[derive(Debug)]
pub(crate) struct Words(Vec<TokenWithSpan>);

impl Words {
    /// The place of a call of this function, otherwise of the first word of this name.
    pub(crate) fn place(&self, name: &str) -> Option<TextSpan> {
        let is_name = |token: &TokenWithSpan| match &token.token {
            Token::Word(word) => word.value.eq_ignore_ascii_case(name),
            _ => false,
        };
        let call = self.0.iter().zip(self.0.iter().skip(1));
        let mut calls = call.filter(|(word, next)| is_name(word) && next.token == Token::LParen);
        let token = calls
            .next()
            .map(|(word, _)| word)
            .or_else(|| self.0.iter().find(|token| is_name(token)))?;
        TextSpan::of(Span::try_from_sqlparser_span(token.span))
    }

    /// The first word in capitals: the name of the statement.
    fn first(&self) -> Option<(String, Option<TextSpan>)> {
        let token = self
            .0
            .iter()
            .find(|token| !matches!(token.token, Token::LParen | Token::SemiColon))?;
        let place = TextSpan::of(Span::try_from_sqlparser_span(token.span));
        match &token.token {
            Token::Word(word) => Some((word.value.to_uppercase(), place)),
            _ => None,
        }
    }
}

/// Parses one `SELECT` and returns it with its tokens.
pub(crate) fn parse(sql: &str) -> Result<(Box<Query>, Words), Refusal> {
    if sql.len() > MAX_TEXT {
        return Err(Refusal::new(
            Reason::TooLong,
            format!(
                "the query has {} bytes; the longest that is read has {MAX_TEXT}",
                sql.len()
            ),
            "shorten the query; put a long list of values into a public table and join it",
        ));
    }
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, sql)
        .tokenize_with_location()
        .map_err(|error| {
            Refusal::new(
                Reason::Syntax,
                format!("this is not SQL: {}", lowered(&error.message)),
                "check quotes and comments",
            )
            .at(place_of(error.location.line, error.location.column))
        })?;
    let tokens: Vec<TokenWithSpan> = tokens
        .into_iter()
        .filter(|token| !matches!(token.token, Token::Whitespace(_)))
        .collect();
    check_limits(&tokens)?;
    let words = Words(tokens.clone());
    let mut statements = DFParserBuilder::new(tokens)
        .with_dialect(&dialect)
        .with_recursion_limit(MAX_NESTING)
        .build()
        .and_then(|mut parser| parser.parse_statements())
        .map_err(|error| syntax(&error, &words))?;
    let only = statements.pop_front();
    if !statements.is_empty() {
        return Err(Refusal::new(
            Reason::NotOne,
            format!("{} statements were given", statements.len() + 1),
            "send one query at a time",
        ));
    }
    let Some(only) = only else {
        return Err(Refusal::new(
            Reason::NotOne,
            "there is no query",
            "use SELECT, as in: SELECT COUNT(*) FROM a_dataset",
        ));
    };
    match only {
        Statement::Statement(statement) => match *statement {
            SqlStatement::Query(query) => Ok((query, words)),
            _ => Err(not_select(&words)),
        },
        _ => Err(not_select(&words)),
    }
}

fn check_limits(tokens: &[TokenWithSpan]) -> Result<(), Refusal> {
    let mut operators = 0_usize;
    let mut depth = 0_usize;
    let mut calls = 0_usize;
    let mut before = &Token::EOF;
    for token in tokens {
        if is_call(before, &token.token) {
            calls += 1;
        }
        before = &token.token;
        let place = || TextSpan::of(Span::try_from_sqlparser_span(token.span));
        match &token.token {
            Token::Word(word) if word.keyword == Keyword::NoKeyword => {}
            Token::Comma
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::SemiColon => {}
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            _ => operators += 1,
        }
        if operators > MAX_OPERATORS {
            return Err(Refusal::new(
                Reason::TooComplex,
                format!("the query has more than {MAX_OPERATORS} keywords and operators"),
                "write x IN (...) for many alternatives, or join a public table of them",
            )
            .at(place()));
        }
        if calls > MAX_CALLS {
            return Err(Refusal::new(
                Reason::TooComplex,
                format!("the query has more than {MAX_CALLS} calls of functions"),
                "split the query into several",
            )
            .at(place()));
        }
        if depth > MAX_PARENTHESES {
            return Err(Refusal::new(
                Reason::TooComplex,
                format!("more than {MAX_PARENTHESES} parentheses are open"),
                "nest less deeply",
            )
            .at(place()));
        }
    }
    Ok(())
}

/// Whether a parenthesis opens the arguments of a function: it follows a word other than the
/// keywords that precede other parentheses, such as IN.
fn is_call(before: &Token, token: &Token) -> bool {
    let (Token::Word(word), Token::LParen) = (before, token) else {
        return false;
    };
    !matches!(
        word.keyword,
        Keyword::ALL
            | Keyword::AND
            | Keyword::AS
            | Keyword::BETWEEN
            | Keyword::BY
            | Keyword::ELSE
            | Keyword::FROM
            | Keyword::IN
            | Keyword::JOIN
            | Keyword::NOT
            | Keyword::ON
            | Keyword::OR
            | Keyword::THEN
            | Keyword::UNION
            | Keyword::WHEN
            | Keyword::WHERE
    )
}

fn not_select(words: &Words) -> Refusal {
    let (name, place) = words.first().unwrap_or_default();
    let help = match name.as_str() {
        "EXPLAIN" => {
            "ask for the cost with EXPLAIN PRIVACY SELECT ... or `mizan quote`; plans with row counts would show private facts"
        }
        "SHOW" | "DESCRIBE" | "DESC" => "see `mizan dataset show NAME`",
        "COPY" | "CREATE" | "INSERT" | "UPDATE" | "DELETE" | "DROP" | "MERGE" | "TRUNCATE"
        | "ALTER" => "Mizan reads only; change data where they are stored, and use SELECT",
        _ => "use SELECT",
    };
    Refusal::new(
        Reason::NotSelect,
        format!("{name} is refused: only SELECT is answered"),
        help,
    )
    .at(place)
}

fn syntax(error: &DataFusionError, words: &Words) -> Refusal {
    let text = match error.find_root() {
        DataFusionError::SQL(parser, _) => match parser.as_ref() {
            ParserError::RecursionLimitExceeded => {
                return Refusal::new(
                    Reason::TooComplex,
                    "the query is nested too deeply",
                    "nest less deeply",
                );
            }
            ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.clone(),
        },
        other => other.strip_backtrace(),
    };
    // DataFusion's own statements are refused even if their syntax is wrong.
    if let Some((name, _)) = words.first()
        && !matches!(
            name.as_str(),
            "SELECT" | "WITH" | "FROM" | "VALUES" | "TABLE"
        )
    {
        return not_select(words);
    }
    let (what, place) = split_place(&text);
    Refusal::new(
        Reason::Syntax,
        format!("Mizan cannot parse this SQL: {}", lowered(what)),
        "check what is written here; Mizan reads SELECT in the SQL of DataFusion, much like PostgreSQL's",
    )
    .at(place)
}

/// Splits the place from the end of a message of the parser.
fn split_place(text: &str) -> (&str, Option<TextSpan>) {
    let Some((what, rest)) = text.rsplit_once(" at Line: ") else {
        return (text, None);
    };
    let Some((line, column)) = rest.split_once(", Column: ") else {
        return (text, None);
    };
    match (line.trim().parse(), column.trim().parse()) {
        (Ok(line), Ok(column)) => (what, place_of(line, column)),
        _ => (text, None),
    }
}

fn place_of(line: u64, column: u64) -> Option<TextSpan> {
    let start = Location { line, column };
    TextSpan::of(Some(Span::new(start, start)))
}

fn lowered(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(characters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explain_privacy_is_seen_before_parsing() {
        assert_eq!(statement("SELECT 1"), (false, "SELECT 1"));
        assert_eq!(
            statement(" explain\n privacy  SELECT 1"),
            (true, "SELECT 1")
        );
        assert!(!statement("EXPLAIN SELECT 1").0);
        assert!(!statement("EXPLAINPRIVACY SELECT 1").0);
        assert!(!statement("EXPLAIN PRIVACYSELECT").0);
        assert!(!statement("").0);
        assert!(!statement("日本日本日本日本").0);
    }

    #[test]
    fn one_select_only() {
        let code = |sql: &str| parse(sql).map(|_| ()).unwrap_err().code();
        assert_eq!(code(""), "MZ1804");
        assert_eq!(code(";;"), "MZ1804");
        assert_eq!(code("SELECT 1; SELECT 2"), "MZ1804");
        assert_eq!(code("SELECT 'abc"), "MZ1802");
        assert_eq!(code("SELEC 1"), "MZ1803");
        assert_eq!(code(&" ".repeat(MAX_TEXT + 1)), "MZ1801");
        assert!(parse("SELECT 1;").is_ok());
    }

    #[test]
    fn nothing_overflows_the_stack_or_hangs() {
        let code = |sql: &str| parse(sql).map(|_| ()).unwrap_err().code();
        let parens = format!("SELECT {}1{}", "(".repeat(30_000), ")".repeat(30_000));
        assert_eq!(code(&parens), "MZ1805");
        assert_eq!(code(&format!("SELECT {}1", "1+".repeat(30_000))), "MZ1805");
        assert!(parse(&format!("SELECT {}1", "NOT ".repeat(3_000))).is_err());
        let from = format!("SELECT 1 FROM {}t{}", "(".repeat(39), ")".repeat(39));
        let _ = parse(&from);
        let lambda = format!("SELECT {}t{}", "(a, ".repeat(39), ")".repeat(39));
        let _ = parse(&lambda);
    }
}
