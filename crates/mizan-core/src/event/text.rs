//! Parses the text form of events.
//!
//! ```text
//! expression := term ("+" term)*
//! term       := [COUNT "*"] factor
//! factor     := "(" expression ")" | NAME "(" arguments ")" | DEFINED ["()"]
//! ```
//!
//! The reader goes down one level per parenthesis and stops at
//! [`MAX_DEPTH`], so no text can exhaust the stack.

use super::call::{Argument, Call};
use super::lexer::{Lexer, Token, TokenKind};
use super::literal::{is_exactly, read_count, read_number};
use super::names::{self, EventKind, EventSyntax, Kind, Parameter};
use super::snippet::quote;
use super::template::{self, Hole, domain_in};
use super::{
    Definitions, EventError, EventProblem, MAX_DEPTH, MAX_EVENTS, MAX_TEXT_BYTES, PrivacyEvent,
    RandomizedResponse,
};
use crate::units::{Count, Probability};
use std::str::FromStr;

impl FromStr for PrivacyEvent {
    type Err = EventError;

    /// Parses the text form of an event. Decimals that are not doubles are rounded to the side where
    /// the event costs more.
    fn from_str(text: &str) -> Result<Self, EventError> {
        Self::parse_with(text, &Definitions::default())
    }
}

impl PrivacyEvent {
    /// Reads the text form of an event in which some names are defined.
    ///
    /// # Errors
    ///
    /// The text is not an event.
    pub fn parse_with(text: &str, definitions: &Definitions) -> Result<Self, EventError> {
        Reader::new(text, definitions, false)?.whole()
    }
}

pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) lexer: Lexer<'a>,
    depth: usize,
    definitions: &'a Definitions,
    /// The number of events from definitions.
    defined: usize,
    /// Whether `?` is allowed, and its place.
    solving: bool,
    hole: Option<Hole>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, definitions: &'a Definitions, solving: bool) -> Result<Self, EventError> {
        if text.len() > MAX_TEXT_BYTES {
            let problem = EventProblem::TooLong {
                bytes: text.len(),
                most: MAX_TEXT_BYTES,
            };
            return Err(problem.into());
        }
        if text.trim().is_empty() {
            return Err(EventProblem::Empty.into());
        }
        Ok(Self {
            text,
            lexer: Lexer::new(text),
            depth: 0,
            definitions,
            defined: 0,
            solving,
            hole: None,
        })
    }

    /// The `?` in a text that is an event with a number in its place, and that event.
    pub(super) fn template(
        text: &'a str,
        definitions: &'a Definitions,
    ) -> Result<Option<(Hole, PrivacyEvent)>, EventError> {
        let mut reader = Self::new(text, definitions, true)?;
        let event = reader.whole()?;
        Ok(reader.hole.map(|hole| (hole, event)))
    }

    fn whole(&mut self) -> Result<PrivacyEvent, EventError> {
        let event = self.expression()?;
        let rest = self.lexer.next();
        if rest.kind != TokenKind::End {
            return Err(self.expected("`+` or the end", rest));
        }
        // Sums and products nest without parentheses, too.
        if event.depth() > MAX_DEPTH {
            return Err(EventProblem::TooDeep.into());
        }
        Ok(event)
    }

    fn expression(&mut self) -> Result<PrivacyEvent, EventError> {
        let first = self.term()?;
        if self.lexer.peek().kind != TokenKind::Symbol('+') {
            return Ok(first);
        }
        let mut terms = vec![first];
        while self.lexer.eat('+') {
            terms.push(self.term()?);
        }
        Ok(PrivacyEvent::Compose(terms))
    }

    fn term(&mut self) -> Result<PrivacyEvent, EventError> {
        let token = self.lexer.peek();
        let count = if token.kind == TokenKind::Number {
            self.lexer.next();
            read_count("repeat", &names::COUNT, token.text).map_err(|p| self.at(p, token))?
        } else if let Some(token) = self.placeholder() {
            if self.lexer.peek().kind != TokenKind::Symbol('*') {
                return Err(self.not_solvable("an event", token));
            }
            self.hole("repeat", &names::COUNT, token)?;
            Count::ONE
        } else {
            return self.factor();
        };
        let star = self.lexer.next();
        if star.kind != TokenKind::Symbol('*') {
            return Err(self.expected("`*` after the count", star));
        }
        Ok(PrivacyEvent::Repeat {
            count,
            event: Box::new(self.factor()?),
        })
    }

    fn factor(&mut self) -> Result<PrivacyEvent, EventError> {
        let token = self.lexer.next();
        match token.kind {
            TokenKind::Word => self.call(token),
            TokenKind::Symbol('(') => {
                self.enter(token)?;
                let event = self.expression()?;
                self.leave("`+` or `)`")?;
                Ok(event)
            }
            _ => Err(self.expected("an event", token)),
        }
    }

    /// `NAME "(" arguments ")"`, after the name.
    fn call(&mut self, name: Token<'a>) -> Result<PrivacyEvent, EventError> {
        let Some(kind) = EventKind::named(name.text) else {
            return self.defined(name);
        };
        let open = self.lexer.next();
        if open.kind != TokenKind::Symbol('(') {
            return Err(self.expected("`(` after the name", open));
        }
        self.enter(open)?;
        match kind {
            EventKind::Renyi if self.is_pair() => self.points(name),
            EventKind::Finite => self.outcomes(name),
            _ => self.arguments(kind, name),
        }
    }

    /// A name that was defined, with or without `()`.
    fn defined(&mut self, name: Token<'a>) -> Result<PrivacyEvent, EventError> {
        let Some(defined) = self.definitions.get(name.text) else {
            let problem = EventProblem::UnknownEvent {
                name: quote(name.text),
                closest: self.definitions.closest_name(name.text),
            };
            return Err(self.at(problem, name));
        };
        if self.lexer.eat('(') {
            let close = self.lexer.next();
            if close.kind != TokenKind::Symbol(')') {
                return Err(self.expected("`)`", close));
            }
        }
        self.defined = self.defined.saturating_add(defined.size);
        if self.defined > MAX_EVENTS {
            return Err(self.at(EventProblem::TooManyEvents, name));
        }
        Ok(defined.event.clone())
    }

    fn arguments(&mut self, kind: EventKind, name: Token<'a>) -> Result<PrivacyEvent, EventError> {
        let syntax = kind.syntax();
        let mut call = Call::new(kind);
        let mut places: Vec<(&'static str, Token<'a>)> = Vec::new();
        let mut named = false;
        if self.lexer.peek().kind != TokenKind::Symbol(')') {
            loop {
                let token = self.lexer.peek();
                let label = self.label();
                let (position, parameter) = self.parameter(&syntax, label, named, places.len())?;
                named |= label.is_some();
                let start = self.lexer.peek();
                let value = self.argument(&syntax, &parameter)?;
                if !call.set(position, value) {
                    let (event, parameter) = (syntax.name, parameter.name);
                    let problem = EventProblem::DuplicateParameter { event, parameter };
                    return Err(self.at(problem, token));
                }
                places.push((parameter.name, start));
                if !self.lexer.eat(',') {
                    break;
                }
            }
        }
        self.leave("`,` or `)`")?;
        let event = call.build().map_err(|error| {
            let wanted = error.problem().parameter();
            let place = places.iter().find(|(name, _)| Some(*name) == wanted);
            error.in_text(self.text, place.map_or(name.at, |(_, token)| token.at))
        })?;
        if let Some(hole) = &mut self.hole
            && places
                .iter()
                .any(|(name, token)| token.at == hole.at && *name == hole.parameter.name)
            && let Some(domain) = domain_in(&event, &hole.parameter)
        {
            hole.domain = domain;
        }
        let typed = places.iter().find(|(name, _)| *name == "p");
        Ok(match (event, typed) {
            (PrivacyEvent::RandomizedResponse(response), Some((_, token))) => {
                PrivacyEvent::RandomizedResponse(clear_of_chance(response, token.text))
            }
            (event, _) => event,
        })
    }

    /// The `NAME =` in front of an argument, if there is one.
    fn label(&mut self) -> Option<Token<'a>> {
        let mut ahead = self.lexer;
        let label = ahead.next();
        if label.kind == TokenKind::Word && ahead.eat('=') {
            self.lexer = ahead;
            return Some(label);
        }
        None
    }

    /// Which parameter the next argument is for.
    fn parameter(
        &self,
        syntax: &EventSyntax,
        label: Option<Token<'a>>,
        named: bool,
        position: usize,
    ) -> Result<(usize, Parameter), EventError> {
        let (event, signature) = (syntax.name, || syntax.signature());
        match label {
            Some(label) => syntax.parameter(label.text).ok_or_else(|| {
                let (parameter, signature) = (quote(label.text), signature());
                let problem = EventProblem::UnknownParameter {
                    event,
                    parameter,
                    signature,
                };
                self.at(problem, label)
            }),
            None if named => {
                let problem = EventProblem::PositionalAfterNamed {
                    event,
                    signature: signature(),
                };
                Err(self.at(problem, self.lexer.peek()))
            }
            None => syntax
                .parameters
                .get(position)
                .map(|p| (position, *p))
                .ok_or_else(|| {
                    let (most, signature) = (syntax.parameters.len(), signature());
                    let problem = EventProblem::TooManyArguments {
                        event,
                        most,
                        signature,
                    };
                    self.at(problem, self.lexer.peek())
                }),
        }
    }

    fn argument(
        &mut self,
        syntax: &EventSyntax,
        parameter: &Parameter,
    ) -> Result<Argument<PrivacyEvent>, EventError> {
        if let Kind::Event = parameter.kind {
            return self.expression().map(Argument::Event);
        }
        if let Some(token) = self.placeholder() {
            let value = self.hole(syntax.name, parameter, token)?;
            return Ok(match parameter.kind {
                Kind::Count { .. } => Argument::Count(Count::from_f64(value).unwrap_or(Count::ONE)),
                _ => Argument::Number(value),
            });
        }
        let token = self.literal()?;
        let value = match parameter.kind {
            Kind::Count { .. } => {
                read_count(syntax.name, parameter, token.text).map(Argument::Count)
            }
            _ => read_number(syntax.name, parameter, token.text).map(Argument::Number),
        };
        value.map_err(|problem| self.at(problem, token))
    }

    /// The `?` that comes next, if there is one and it may be here.
    pub(super) fn placeholder(&mut self) -> Option<Token<'a>> {
        let token = self.lexer.peek();
        let found = self.solving && token.kind == TokenKind::Symbol('?');
        found.then(|| self.lexer.next())
    }

    /// Remembers what `?` stands for, and gives a number to go on with.
    pub(super) fn hole(
        &mut self,
        event: &'static str,
        parameter: &Parameter,
        token: Token<'a>,
    ) -> Result<f64, EventError> {
        if self.hole.is_some() {
            return Err(self.at(EventProblem::TwoPlaceholders, token));
        }
        // The best order is the accountant's to choose.
        if *parameter == names::ORDER {
            return Err(self.not_solvable("an order", token));
        }
        self.hole = Some(Hole {
            at: token.at,
            event,
            parameter: *parameter,
            domain: template::domain(parameter),
        });
        Ok(template::trial(parameter))
    }

    pub(super) fn not_solvable(&self, what: &'static str, token: Token<'a>) -> EventError {
        self.at(EventProblem::NotSolvable { what }, token)
    }

    /// A number or word, with its sign.
    pub(super) fn literal(&mut self) -> Result<Token<'a>, EventError> {
        let token = self.lexer.next_literal();
        match token.kind {
            TokenKind::Number | TokenKind::Word => Ok(token),
            _ => Err(self.expected("a number", token)),
        }
    }

    fn enter(&mut self, open: Token<'a>) -> Result<(), EventError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.at(EventProblem::TooDeep, open));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self, expected: &'static str) -> Result<(), EventError> {
        let close = self.lexer.next();
        if close.kind != TokenKind::Symbol(')') {
            return Err(self.expected(expected, close));
        }
        self.depth -= 1;
        Ok(())
    }

    pub(super) fn expected(&self, expected: &'static str, token: Token<'a>) -> EventError {
        let problem = match token.kind {
            TokenKind::Symbol('?') if self.solving => EventProblem::NotSolvable { what: expected },
            TokenKind::Symbol('?') => EventProblem::Placeholder,
            TokenKind::End => EventProblem::Expected {
                expected,
                found: "the end".into(),
            },
            _ => EventProblem::Expected {
                expected,
                found: format!("`{}`", quote(token.text)),
            },
        };
        self.at(problem, token)
    }

    pub(super) fn at(&self, problem: EventProblem, token: Token<'a>) -> EventError {
        EventError::from(problem).in_text(self.text, token.at)
    }
}

/// Below chance a larger p costs less, so rounding up is safe only above it.
/// A decimal that rounds up to the first double from chance on may have been
/// below; the next double costs more than either side of chance within a unit.
fn clear_of_chance(response: RandomizedResponse, typed: &str) -> RandomizedResponse {
    let (p, k) = (response.p().get(), response.categories());
    let first = p.next_down().mul_add(k.as_f64(), -1.0) < 0.0;
    if !first || is_exactly(typed, p) {
        return response;
    }
    let above = Probability::new(p.next_up()).ok();
    let safe = above.and_then(|p| RandomizedResponse::new(p, k).ok());
    safe.unwrap_or(response)
}
