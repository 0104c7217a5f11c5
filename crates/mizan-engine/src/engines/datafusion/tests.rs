//! DataFusion against the oracle, on random plans and random data.

mod expressions;
mod files;
mod generate;
mod random;
mod vary;
