//! What somebody may do.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Has the data and the budgets: sees and asks everything.
    Owner,
    /// Asks about the datasets they were given; sees their budgets and what they
    /// asked themselves.
    Analyst,
    /// Reads the log, its proofs and all budgets; asks nothing.
    Auditor,
    /// Charges the accounts it was given for releases that are made elsewhere.
    Runner,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Analyst, Self::Auditor, Self::Runner];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Analyst => "analyst",
            Self::Auditor => "auditor",
            Self::Runner => "runner",
        }
    }

    /// The role of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
