//! What Mizan is asked and what it answers, as data.
//!
//! The command line and the server are two doors to one house: here is what both
//! say. A request becomes checked values once (`input.rs`), an answer is a type
//! whose JSON is the contract and whose schema is the server's OpenAPI document, an
//! error is a [`failure::Failure`] with a code, a place and a next step, and what the
//! libraries have to say is rendered in English in [`messages`]. Words and
//! tables for terminals stay with the command line, but for [`account`], whose
//! pictures and sentences are made from one set of numbers.
//!
//! ```
//! use mizan_api::account::AccountRequest;
//! use mizan_api::names::Names;
//! use mizan_core::Definitions;
//!
//! let request = AccountRequest {
//!     expression: "gaussian(1.1)".to_owned(),
//!     delta: Some("1e-5".into()),
//!     ..AccountRequest::default()
//! };
//! let answer = request.ask(&Definitions::default(), Names::Program).unwrap();
//! let json = mizan_api::number::json(&answer.json());
//! assert!(json["epsilon"]["upper"].as_f64().unwrap() < 4.2);
//! ```

pub mod account;
pub mod books;
pub mod budget;
pub mod calibrate;
pub mod catalogue;
pub mod curve;
pub mod dataset;
pub mod divergence;
pub mod failure;
pub mod figure;
pub mod group;
pub mod input;
pub mod ledger;
pub mod messages;
pub mod names;
pub mod number;
pub mod question;
pub mod risk;
pub mod spend;
pub mod times;
pub mod words;
