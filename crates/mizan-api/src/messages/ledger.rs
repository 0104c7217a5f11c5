//! Messages of the verification of the log.

use serde_json::{Map, Value};

use super::Message;

/// A warning about a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyWarning {
    /// No public key was given, so the signatures of the checkpoints were not checked.
    SignaturesNotChecked,
}

impl Message for VerifyWarning {
    fn kind(&self) -> &'static str {
        match self {
            Self::SignaturesNotChecked => "signatures_not_checked",
        }
    }

    fn fields(&self) -> Map<String, Value> {
        match self {
            Self::SignaturesNotChecked => Map::new(),
        }
    }

    fn english(&self) -> String {
        match self {
            Self::SignaturesNotChecked => {
                "the signatures of the checkpoints were not checked: give --public-key".to_owned()
            }
        }
    }
}
