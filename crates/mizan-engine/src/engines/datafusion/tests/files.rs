//! Files: CSV that is no good, Parquet of every type, versions.
