//! The faults of a privacy event, with their messages.

use super::decimal::{MAX_DIGITS, Round, format_decimal};
use super::{MAX_DEPTH, MAX_EVENTS};
use crate::units::{Count, Order, Probability, Sensitivity, UnitError, plain};
use thiserror::Error;

/// What is wrong with a privacy event.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum EventProblem {
    /// The text is empty.
    #[error("there is no event here")]
    Empty,
    /// A syntax error.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What may stand here.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// A name that is not in the vocabulary.
    #[error("there is no event called `{name}`")]
    UnknownEvent {
        /// The name as written.
        name: String,
        /// The name that was probably meant.
        closest: Option<String>,
    },
    /// A parameter that the event does not have.
    #[error("{event}: there is no parameter called `{parameter}`")]
    UnknownParameter {
        /// The name of the event.
        event: &'static str,
        /// The name as written.
        parameter: String,
        /// How the event is written.
        signature: String,
    },
    /// A parameter given twice.
    #[error("{event}: {parameter} is given twice")]
    DuplicateParameter {
        /// The name of the event.
        event: &'static str,
        /// The name of the parameter.
        parameter: &'static str,
    },
    /// A parameter that has no default and is not given.
    #[error("{event}: {parameter} is missing")]
    MissingParameter {
        /// The name of the event.
        event: &'static str,
        /// The name of the parameter.
        parameter: &'static str,
    },
    /// More arguments than parameters.
    #[error("{event}: takes {most} arguments at most")]
    TooManyArguments {
        /// The name of the event.
        event: &'static str,
        /// How many parameters there are.
        most: usize,
        /// How the event is written.
        signature: String,
    },
    /// An argument without a name after one with a name.
    #[error("{event}: an argument without a name cannot follow one with a name")]
    PositionalAfterNamed {
        /// The name of the event.
        event: &'static str,
        /// How the event is written.
        signature: String,
    },
    /// Something else where a number is wanted.
    #[error("{event}: {parameter} must be {}, found {found}", a_number(allowed, *whole))]
    NotANumber {
        /// The name of the event.
        event: &'static str,
        /// The name of the parameter.
        parameter: &'static str,
        /// The range of the parameter, in words.
        allowed: &'static str,
        /// Whether it is a whole number; then its range says so.
        whole: bool,
        /// What stands here.
        found: String,
    },
    /// A number that the parameter cannot take.
    #[error("{event}: {unit}")]
    Value {
        /// The name of the event.
        event: &'static str,
        /// What is wrong with the number.
        unit: UnitError,
    },
    /// A number with too many digits.
    #[error("{event}: {parameter} has more than {MAX_DIGITS} digits")]
    TooManyDigits {
        /// The name of the event.
        event: &'static str,
        /// The name of the parameter.
        parameter: &'static str,
    },
    /// The `?` of a calibration where a price is asked for.
    #[error("`?` stands for a parameter to solve for, which only `mizan calibrate` does")]
    Placeholder,
    /// Nothing to solve for.
    #[error("there is no `?` to solve for")]
    NoPlaceholder,
    /// More than one thing to solve for.
    #[error("there is a second `?`; only one number can be solved for")]
    TwoPlaceholders,
    /// A `?` in the wrong place.
    #[error("`?` cannot stand for {what}")]
    NotSolvable {
        /// What it would stand for.
        what: &'static str,
    },
    /// A definition of a word of the language.
    #[error("`{name}` is a word of the language and cannot be defined")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A definition of something that is not a name.
    #[error("`{name}` cannot be the name of an event")]
    NotAName {
        /// The name as written.
        name: String,
    },
    /// Two definitions of one name.
    #[error("`{name}` is defined twice")]
    DefinedTwice {
        /// The name.
        name: String,
    },
    /// A text or document above the size limit.
    #[error("the event is {bytes} bytes long; at most {most} are read")]
    TooLong {
        /// The length.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// More nesting than [`MAX_DEPTH`].
    #[error("events are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// More events than [`MAX_EVENTS`].
    #[error("there are more than {MAX_EVENTS} events")]
    TooManyEvents,
    /// Text that is not JSON.
    #[error("not JSON: {message}")]
    NotJson {
        /// The message of the JSON parser.
        message: String,
    },
    /// A JSON value of the wrong type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What may stand here.
        expected: &'static str,
        /// What stands here.
        found: &'static str,
    },
    /// A truthful answer rarer than chance.
    #[error("rr: p is the probability of a truthful answer; {} is below chance, 1/{categories}",
        shortest(.p.get()))]
    BelowChance {
        /// The probability asked for.
        p: Probability,
        /// The number of answers.
        categories: Count,
    },
    /// Randomized response that is not random.
    #[error("rr: with p = 1 the answer is always true, so its pure epsilon is infinite")]
    AlwaysTruthful,
    /// Randomized response with one category.
    #[error("rr: categories must be 2 or more, got 1")]
    OneCategory,
    /// A sensitivity below 1 of an integer vector.
    #[error("discrete-gaussian: sensitivity must be 1 or more, got {}", shortest(.sensitivity.get()))]
    SensitivityBelowOne {
        /// The sensitivity asked for.
        sensitivity: Sensitivity,
    },
    /// A fractional sensitivity of an integer.
    #[error("discrete-laplace: sensitivity must be a whole number, got {}",
        shortest(.sensitivity.get()))]
    SensitivityNotWhole {
        /// The sensitivity asked for.
        sensitivity: Sensitivity,
    },
    /// A sample of more people than there are.
    #[error("without-replacement: cannot draw m = {sample} people out of n = {population}")]
    SampleTooLarge {
        /// How many people there are.
        population: Count,
        /// How many were to be drawn.
        sample: Count,
    },
    /// A Rényi guarantee at no order.
    #[error("rdp: needs a bound for at least one order")]
    NoPoints,
    /// Two bounds for one order.
    #[error("rdp: order {order} appears twice")]
    DuplicateOrder {
        /// The order.
        order: Order,
    },
    /// An infinite bound at some order.
    #[error("rdp: epsilon at order {order} must be finite")]
    InfiniteBound {
        /// The order.
        order: Order,
    },
    /// A finite mechanism without outcomes.
    #[error("finite: needs at least one outcome")]
    NoOutcomes,
    /// A finite mechanism that is too large.
    #[error("finite: there are {outcomes} outcomes; at most {most} are read")]
    TooManyOutcomes {
        /// How many there are.
        outcomes: usize,
        /// The limit.
        most: usize,
    },
    /// Probabilities that are not those of a distribution.
    #[error("finite: the {column} add up to {}, not to 1", plain(*sum))]
    NotADistribution {
        /// Which probabilities.
        column: &'static str,
        /// What they add up to.
        sum: f64,
    },
    /// Losses that no mechanism has.
    #[error("finite: without the person the outcomes have probability p e^-loss, in total {}, above 1",
        plain(*sum))]
    LossesTooSmall {
        /// What these probabilities add up to.
        sum: f64,
    },
    /// A loss that is not a finite number.
    #[error("finite: a loss must be a finite number, got {loss}")]
    LossNotFinite {
        /// The loss.
        loss: f64,
    },
    /// Two arrays that belong together and do not fit.
    #[error("finite: there are {left} {left_name} for {right} {right_name}")]
    UnequalColumns {
        /// The name of the first.
        left_name: &'static str,
        /// Its length.
        left: usize,
        /// The name of the second.
        right_name: &'static str,
        /// Its length.
        right: usize,
    },
    /// A guarantee that always fails.
    #[error("approximate: delta must be below 1; at 1 nothing is promised")]
    DeltaOne,
    /// A sample that is always empty.
    #[error("poisson: q must be above 0; at 0 the sample is always empty")]
    NeverSampled,
}

/// The shortest text for a number that was read from text, rounded up, or
/// from JSON.
fn shortest(value: f64) -> String {
    let (typed, exact) = (format_decimal(value, Round::Up), plain(value));
    if typed.len() < exact.len() {
        typed
    } else {
        exact
    }
}

/// The range of a number in words, for something that is not a number.
fn a_number(allowed: &str, whole: bool) -> String {
    if whole {
        allowed.to_owned()
    } else {
        format!("a number {allowed}")
    }
}
