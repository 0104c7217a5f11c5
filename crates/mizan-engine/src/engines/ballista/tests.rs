//! A cluster against the oracle: a scheduler and two executors, each in a separate process.

mod cluster;
mod failure;
mod fan_out;
mod parity;
mod refused;
