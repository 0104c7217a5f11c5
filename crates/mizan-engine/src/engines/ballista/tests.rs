//! A cluster against the oracle: a scheduler and two executors, each a process of its
//! own.

mod cluster;
mod failure;
mod parity;
mod refused;
