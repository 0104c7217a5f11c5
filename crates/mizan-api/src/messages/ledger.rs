//! Messages of the verification of the log.

use serde_json::{Map, Value};

use super::Message;

/// What should be looked at after a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyWarning {
    /// There was no public key to check the signatures of the checkpoints with.
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
