//! Parses arguments that are written as pairs: `order:epsilon` of a Rényi guarantee, `p:q` and
//! `loss:probability` of a user-defined mechanism.

use super::lexer::{Token, TokenKind};
use super::literal::{is_infinity, read_loss, read_nearest, read_number};
use super::names::{self, Parameter};
use super::text::Reader;
use super::{EventError, EventProblem, FinitePair, PrivacyEvent, RenyiPoints};
use crate::units::{Epsilon, Order};

/// The numbers of a distribution move together.
const NOT_ONE_NUMBER: &str = "a number of `finite`";

impl<'a> Reader<'a> {
    /// Whether a pair follows.
    pub(super) fn is_pair(&self) -> bool {
        let mut ahead = self.lexer;
        ahead.next_literal();
        ahead.eat(':')
    }

    /// `order:epsilon` pairs up to the closing parenthesis.
    pub(super) fn points(&mut self, name: Token<'a>) -> Result<PrivacyEvent, EventError> {
        let mut points = Vec::new();
        loop {
            let order = self.point_number(&names::ORDER)?;
            self.colon("`:` between order and epsilon")?;
            let epsilon = self.point_number(&names::EPSILON)?;
            let unit = |unit| self.at(EventProblem::Value { event: "rdp", unit }, name);
            points.push((
                Order::new(order).map_err(unit)?,
                Epsilon::new(epsilon).map_err(unit)?,
            ));
            if !self.lexer.eat(',') {
                break;
            }
        }
        self.leave("`,` or `)`")?;
        let points = RenyiPoints::new(points).map_err(|e| e.in_text(self.text, name.at))?;
        Ok(PrivacyEvent::Renyi(points))
    }

    fn point_number(&mut self, parameter: &Parameter) -> Result<f64, EventError> {
        if let Some(token) = self.placeholder() {
            return self.hole("rdp", parameter, token);
        }
        let token = self.literal()?;
        read_number("rdp", parameter, token.text).map_err(|problem| self.at(problem, token))
    }

    /// `p:q` pairs, or the word `losses` and `loss:probability` pairs, up to
    /// the closing parenthesis.
    pub(super) fn outcomes(&mut self, name: Token<'a>) -> Result<PrivacyEvent, EventError> {
        let token = self.lexer.peek();
        let made = if token.kind == TokenKind::Symbol(')') {
            Err(EventProblem::NoOutcomes.into())
        } else if token.kind == TokenKind::Word && token.text == names::LOSSES {
            self.lexer.next();
            self.losses()?
        } else {
            self.probabilities()?
        };
        let pair = made.map_err(|error| error.in_text(self.text, name.at))?;
        self.leave("`,` or `)`")?;
        Ok(PrivacyEvent::Finite(pair))
    }

    fn probabilities(&mut self) -> Result<Result<FinitePair, EventError>, EventError> {
        let mut outcomes = Vec::new();
        loop {
            let p = self.probability(&names::P)?;
            self.colon("`:` between p and q")?;
            outcomes.push((p, self.probability(&names::Q)?));
            if !self.lexer.eat(',') {
                return Ok(FinitePair::new(&outcomes));
            }
        }
    }

    fn losses(&mut self) -> Result<Result<FinitePair, EventError>, EventError> {
        let mut atoms = Vec::new();
        let mut infinite = None;
        while self.lexer.eat(',') {
            if let Some(token) = self.placeholder() {
                return Err(self.not_solvable(NOT_ONE_NUMBER, token));
            }
            let token = self.literal()?;
            self.colon("`:` between loss and probability")?;
            let p = self.probability(&names::PROBABILITY)?;
            if !is_infinity(token.text) {
                let loss = read_loss(token.text).map_err(|problem| self.at(problem, token))?;
                atoms.push((loss, p));
            } else if token.text.starts_with('-') {
                let loss = f64::NEG_INFINITY;
                return Err(self.at(EventProblem::LossNotFinite { loss }, token));
            } else if infinite.replace(p).is_some() {
                let (event, parameter) = ("finite", "inf");
                let problem = EventProblem::DuplicateParameter { event, parameter };
                return Err(self.at(problem, token));
            }
        }
        Ok(FinitePair::from_losses(&atoms, infinite.unwrap_or(0.0)))
    }

    fn probability(&mut self, parameter: &Parameter) -> Result<f64, EventError> {
        if let Some(token) = self.placeholder() {
            return Err(self.not_solvable(NOT_ONE_NUMBER, token));
        }
        let token = self.literal()?;
        read_nearest("finite", parameter, token.text).map_err(|problem| self.at(problem, token))
    }

    fn colon(&mut self, expected: &'static str) -> Result<(), EventError> {
        let colon = self.lexer.next();
        match colon.kind {
            TokenKind::Symbol(':') => Ok(()),
            _ => Err(self.expected(expected, colon)),
        }
    }
}
