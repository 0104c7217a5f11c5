//! Roles.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The role of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The data owner: sees and queries everything, and charges every account.
    Owner,
    /// Queries the datasets of the token; sees their budgets and the receipts of its own
    /// name.
    Analyst,
    /// Reads the log, its proofs and all budgets; sends no queries.
    Auditor,
    /// A program that charges the accounts of its token for releases made elsewhere.
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
