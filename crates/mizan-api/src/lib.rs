//! Requests and answers of Mizan as data, shared by the command line and the server.
//!
//! `input.rs` parses and checks the values of a request once. An answer is a type whose JSON is
//! stable and whose schema is in the server's OpenAPI document. An error is a [`failure::Failure`]
//! with a code, a place and a remedy. [`messages`] renders the messages of the libraries in English.
//! The command line makes its own tables and texts, except those of [`account`], whose figures and
//! texts come from the same numbers.
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
//! let answer = request.evaluate(&Definitions::default(), Names::Program).unwrap();
//! let json = mizan_api::number::json(&answer.json());
//! assert!(json["epsilon"]["upper"].as_f64().unwrap() < 4.2);
//! ```

pub mod account;
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
pub mod lookup;
pub mod messages;
pub mod names;
pub mod number;
pub mod query;
pub mod risk;
pub mod spend;
pub mod times;
pub mod version;
pub mod words;
