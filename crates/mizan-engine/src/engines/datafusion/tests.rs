//! DataFusion against the oracle, on random plans and random data.

mod files;
mod planning;
mod random;
mod reproductions;
