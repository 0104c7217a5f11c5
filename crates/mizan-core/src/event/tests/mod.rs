//! The event language: errors of invalid texts, and round trips of every event through text and JSON;
//! that no place which every kind of event has was forgotten.

mod every_kind;
mod json;
mod round_trip;
mod template;
mod text;
