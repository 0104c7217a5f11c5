//! DataFusion against the oracle, on random plans and random data.

mod files;
mod random;
mod reproductions;
