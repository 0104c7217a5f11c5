//! A cluster against the oracle: a scheduler and two executors, each a process of its
//! own.

mod cluster;
mod failure;
mod fan_out;
mod parity;
mod refused;
