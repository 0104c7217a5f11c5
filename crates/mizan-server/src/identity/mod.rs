//! Authentication: access tokens, roles, and sessions of browsers.
//!
//! `token.rs` is the secret text of a token, `store.rs` the file with its hash, `caller.rs`
//! an authenticated caller, `session.rs` a browser that signed in, `request_record.rs` the
//! requests that were made under a name.

mod caller;
mod error;
mod request_record;
mod role;
mod schema;
mod session;
mod store;
mod token;

pub use caller::{Caller, Scope};
pub use error::IdentityError;
pub use request_record::RequestRecord;
pub use role::Role;
pub use session::{COOKIE, Session, Sessions, SignedIn};
pub(crate) use store::now;
pub use store::{Act, Identity, NewToken, Token, clock};
pub use token::{Secret, TokenHash};
