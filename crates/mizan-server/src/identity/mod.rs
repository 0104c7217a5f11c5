//! Who asks: tokens, what they may do, and sessions of the page.
//!
//! `token.rs` is the secret that people hold, `store.rs` the file that knows its
//! hash, `caller.rs` who somebody is once the token was believed, `session.rs` a
//! browser that signed in with one.

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
pub use store::{Act, Identity, NewToken, Token};
pub use token::{Secret, TokenHash};
