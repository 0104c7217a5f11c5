//! Queries that try to fail: they make texts, numbers, rows, keys or themselves large,
//! depending on the rows of one unit.

mod encoding;
mod held_texts;
mod join;
mod joined_texts;
mod keys;
mod memory;
mod overflow;
mod pattern;
mod recursion;
mod text_growth;

use std::fmt;

use super::super::dice::Dice;
use super::super::random_query;
use super::world::World;

/// The kind of failure that a query tries to cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Attack {
    TextGrowth,
    Encoding,
    Overflow,
    Memory,
    Join,
    JoinedTexts,
    Recursion,
    Pattern,
    Keys,
    Random,
    /// Aggregates that hold many computed texts. [`Attack::any`] does not use it: that memory
    /// is not bounded before the charge, so the query can fail.
    #[cfg_attr(not(test), allow(dead_code, reason = "for tests of memory"))]
    HeldTexts,
}

impl fmt::Display for Attack {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::TextGrowth => "text growth",
            Self::Encoding => "encoding",
            Self::Overflow => "overflow",
            Self::Memory => "memory",
            Self::Join => "join",
            Self::JoinedTexts => "joined texts",
            Self::Recursion => "recursion",
            Self::Pattern => "pattern",
            Self::Keys => "keys",
            Self::Random => "random",
            Self::HeldTexts => "held texts",
        })
    }
}

impl Attack {
    /// A random attack.
    pub(super) fn any(dice: &mut Dice<'_>) -> Self {
        match dice.below(20) {
            0..=2 => Self::TextGrowth,
            3 | 4 => Self::Encoding,
            5..=7 => Self::Overflow,
            8 => Self::Memory,
            9..=11 => Self::Join,
            12 => Self::Recursion,
            13 => Self::Pattern,
            14 | 15 => Self::Keys,
            16 | 17 => Self::JoinedTexts,
            _ => Self::Random,
        }
    }

    /// A query for a world.
    pub(super) fn query(self, dice: &mut Dice<'_>, world: &World) -> String {
        let sql = match self {
            Self::TextGrowth => text_growth::query(dice),
            Self::Encoding => encoding::query(dice),
            Self::Overflow => overflow::query(dice),
            Self::Memory => memory::query(dice),
            Self::Join => join::query(dice, world.public_rows()),
            Self::JoinedTexts => joined_texts::query(dice),
            Self::Recursion => recursion::query(dice),
            Self::Pattern => pattern::query(dice),
            Self::Keys => keys::query(dice),
            Self::Random => random_query::random_query(dice),
            Self::HeldTexts => held_texts::query(dice),
        };
        match world.has_text_units() {
            true => sql
                .replace("u = 666", "u = '666'")
                .replace("u > 600", "u > '600'"),
            false => sql,
        }
    }
}

/// A condition that rows of the target satisfy, often as the only ones.
fn condition(dice: &mut Dice<'_>) -> &'static str {
    dice.word(&[
        "TRUE",
        "yes",
        "u = 666",
        "yes AND u > 600",
        "note IS NOT NULL",
    ])
}

/// A condition that practically only worst-case rows of the target satisfy.
fn only_target(dice: &mut Dice<'_>) -> &'static str {
    dice.word(&[
        "u = 666",
        "u = 666",
        "yes AND u > 600",
        "LENGTH(note) > 40",
        "big > 100000 OR big < -100000",
        "ABS(x) > 1000",
        "yes AND (u = 666 OR LENGTH(word) > 400)",
    ])
}
