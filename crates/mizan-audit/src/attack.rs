//! An attack: a set of outputs that one world gives more often than the other.

use crate::World;

/// What of a run is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Its output.
    Output,
    /// Its output less that of another run, on the input without the person.
    /// The other run says nothing about her, unless both share their noise.
    Difference,
}

/// Which values belong to the set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    /// From this on.
    AtLeast(f64),
    /// Up to this.
    AtMost(f64),
    /// This alone.
    Exactly(f64),
}

impl Region {
    /// Whether a value belongs to it.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        match self {
            Self::AtLeast(threshold) => value >= threshold,
            Self::AtMost(threshold) => value <= threshold,
            Self::Exactly(threshold) => value == threshold,
        }
    }

    /// The number it is made of.
    #[must_use]
    pub fn threshold(self) -> f64 {
        match self {
            Self::AtLeast(threshold) | Self::AtMost(threshold) | Self::Exactly(threshold) => {
                threshold
            }
        }
    }
}

/// A set of outputs, and the world that gives them more often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attack {
    /// What is looked at.
    pub feature: Feature,
    /// The set.
    pub region: Region,
    /// The world that is betrayed by it.
    pub likelier: World,
}

/// Hits in the two worlds, of the same number of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// On the input without the person.
    pub without: u64,
    /// On the input with her.
    pub with: u64,
}

impl Hits {
    /// In the world that is betrayed, and in the other.
    pub(crate) fn by(self, likelier: World) -> (u64, u64) {
        match likelier {
            World::With => (self.with, self.without),
            World::Without => (self.without, self.with),
        }
    }
}
