//! An attack: a set of outputs that is more likely on one of two neighbouring inputs.

use crate::World;

/// The number of a run that an attack uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Its output.
    Output,
    /// Its output minus that of another run, on the input without the person. The other run reveals
    /// nothing about the person, unless both share their noise.
    Difference,
}

/// The values of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    /// At least this value.
    AtLeast(f64),
    /// At most this value.
    AtMost(f64),
    /// This value.
    Exactly(f64),
}

impl Region {
    /// Whether the set contains a value.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        match self {
            Self::AtLeast(threshold) => value >= threshold,
            Self::AtMost(threshold) => value <= threshold,
            Self::Exactly(threshold) => value == threshold,
        }
    }

    /// The number that defines it.
    #[must_use]
    pub fn threshold(self) -> f64 {
        match self {
            Self::AtLeast(threshold) | Self::AtMost(threshold) | Self::Exactly(threshold) => {
                threshold
            }
        }
    }
}

/// A set of outputs, and the input on which it is more likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attack {
    /// The number of a run that is compared.
    pub feature: Feature,
    /// The set.
    pub region: Region,
    /// The input on which the set is more likely.
    pub likelier: World,
}

/// Hits on the two inputs, of the same number of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// On the input without the person.
    pub without: u64,
    /// On the input with the person.
    pub with: u64,
}

impl Hits {
    /// On the likelier input, and on the other.
    pub(crate) fn by(self, likelier: World) -> (u64, u64) {
        match likelier {
            World::With => (self.with, self.without),
            World::Without => (self.without, self.with),
        }
    }
}
