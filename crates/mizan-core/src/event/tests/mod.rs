//! The event language from the outside: what is refused and how, and that
//! every event survives a trip through text and JSON.

mod json;
mod round_trip;
mod template;
mod text;
