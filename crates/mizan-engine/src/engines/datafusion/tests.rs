//! DataFusion against the oracle, on random plans and random data; and files of every kind,
//! valid and damaged.

mod dictionaries;
pub(in crate::engines) mod files;
#[cfg(target_os = "linux")]
mod irregular;
mod mutants;
pub(in crate::engines) mod parquet;
pub(in crate::engines) mod planning;
pub(super) mod planted;
mod random;
mod reproductions;
#[cfg(feature = "datafusion-parquet")]
mod strict_utf8;
