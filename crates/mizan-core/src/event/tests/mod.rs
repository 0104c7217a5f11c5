//! The event language: errors of invalid texts, and round trips of every event through text and JSON.

mod json;
mod round_trip;
mod template;
mod text;
