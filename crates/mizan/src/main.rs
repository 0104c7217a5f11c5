//! The `mizan` command line.
fn main() {}
