//! Why an engine cannot run a plan. No error contains private data, and no private row decides
//! whether an error happens.

mod fixed_text;

use std::path::PathBuf;

use mizan_core::{Code, ErrorKind};
use mizan_sql::Type;
use serde::{Deserialize, Serialize};

use self::fixed_text::FixedText;
use crate::query_limits::bytes_text;

/// Why an engine cannot run a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum EngineError {
    /// A file does not exist or cannot be read.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The message of the operating system.
        reason: String,
    },
    /// A file that is neither CSV nor Parquet.
    #[error("{} is neither a CSV nor a Parquet file, by its name", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A directory without files, or with files of several formats.
    #[error("the directory {} has no CSV or Parquet files in it, or both", path.display())]
    NoFiles {
        /// The directory.
        path: PathBuf,
    },
    /// A CSV header without names, or with a repeated name.
    #[error("the first line of {} is not a header: {reason}", path.display())]
    BadHeader {
        /// The file.
        path: PathBuf,
        /// Why.
        #[serde(deserialize_with = "fixed_text::read")]
        reason: FixedText,
    },
    /// A Parquet file without a readable footer.
    #[error("{} is not a readable Parquet file", path.display())]
    BadParquet {
        /// The file.
        path: PathBuf,
    },
    /// A page of a Parquet file that cannot be decoded.
    #[error("{} is damaged: the column {column:?} of row group {group} cannot be decoded", path.display())]
    DamagedParquet {
        /// The file.
        path: PathBuf,
        /// Which row group, from one.
        group: usize,
        /// The column.
        column: String,
    },
    /// A column of the catalogue is not in the file.
    #[error("{} has no column {column:?}", path.display())]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A column of a file has a type that cannot be used.
    #[error("the column {column:?} of {} holds {found}, which cannot be read as {wanted}", path.display())]
    BadColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// The type in the file.
        found: String,
        /// The type in the catalogue.
        wanted: Type,
    },
    /// The data changed.
    #[error("the data of {dataset:?} changed while the query was answered")]
    Changed {
        /// The dataset.
        dataset: String,
    },
    /// The plan uses a dataset that is not in the catalogue.
    #[error("the catalogue has no dataset {dataset:?} with the columns of the plan")]
    NotInCatalogue {
        /// The dataset.
        dataset: String,
    },
    /// The plan is not well-formed.
    #[error("the plan cannot be run: {reason}")]
    BadPlan {
        /// Why.
        reason: String,
    },
    /// A text that is not the address of a table.
    #[error("the address of the table cannot be used: {reason}")]
    BadAddress {
        /// What is wrong with it. The text itself is not quoted.
        #[serde(deserialize_with = "fixed_text::read")]
        reason: FixedText,
    },
    /// The database cannot be reached, or rejects the user.
    #[error("{place} cannot be reached: {reason}")]
    Unreachable {
        /// The database.
        place: String,
        /// The message of the operating system or the server.
        reason: String,
    },
    /// The table does not exist.
    #[error("there is no table {table}")]
    NoTable {
        /// The table.
        table: String,
    },
    /// The name is not that of a table that can be queried.
    #[error("{table} is {what}")]
    NotATable {
        /// The name.
        table: String,
        /// What it is instead.
        #[serde(deserialize_with = "fixed_text::read")]
        what: FixedText,
    },
    /// The database user may not read the table.
    #[error("the database user may not read {table}")]
    NoRights {
        /// The table.
        table: String,
    },
    /// Another session is altering the table.
    #[error("{table} is being altered by another session")]
    Locked {
        /// The table.
        table: String,
    },
    /// The settings of the server would change answers.
    #[error("the server cannot be used: {reason}")]
    BadServer {
        /// Why.
        reason: String,
    },
    /// The server refused something before a row was read.
    #[error("the server refused: {reason}")]
    Server {
        /// Its message.
        reason: String,
    },
    /// The query exceeded its time limit.
    #[error("the question was given up after {seconds} s")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// The connection was lost.
    #[error("the connection to the database was lost")]
    Disconnected,
    /// This engine does not support an operation that others do.
    #[error("{what} cannot be answered there")]
    NotHere {
        /// The operation.
        #[serde(deserialize_with = "fixed_text::read")]
        what: FixedText,
    },
    /// The program was built without this engine.
    #[error("this program was built without {what}")]
    NotBuilt {
        /// The engine.
        #[serde(deserialize_with = "fixed_text::read")]
        what: FixedText,
        /// The feature that adds it.
        #[serde(deserialize_with = "fixed_text::read")]
        feature: FixedText,
    },
    /// A text that is not the address of a scheduler.
    #[error("the address of the scheduler cannot be used: {reason}")]
    BadScheduler {
        /// What is wrong with it.
        #[serde(deserialize_with = "fixed_text::read")]
        reason: FixedText,
    },
    /// The scheduler cannot be reached.
    #[error("the scheduler {place} cannot be used: {reason}")]
    NoScheduler {
        /// Its address.
        place: String,
        /// The message of the operating system.
        reason: String,
    },
    /// The scheduler has another version.
    #[error("the scheduler {place} runs mizan {found}, and this is mizan {}", env!("CARGO_PKG_VERSION"))]
    OtherVersion {
        /// Its address.
        place: String,
        /// Its version.
        found: String,
    },
    /// The scheduler has no executors.
    #[error("the scheduler {place} has no executors")]
    NoExecutors {
        /// Its address.
        place: String,
    },
    /// An executor does not see a file as this machine does.
    #[error("the cluster does not see {} as this machine does", path.display())]
    NotSeen {
        /// The file.
        path: PathBuf,
    },
    /// The cluster cannot plan or transmit a query that this machine can answer.
    #[error("a Ballista cluster cannot run this query as this machine does")]
    NotOnCluster,
    /// The cluster failed while it ran the query.
    #[error("the cluster failed while it ran the query")]
    ClusterFailed,
    /// Joins with public tables make too many rows of one private row.
    #[error(
        "joins with {} make up to {found} rows of one private row, and at most {limit} are allowed",
        named(tables)
    )]
    FanOut {
        /// The public tables.
        tables: Vec<String>,
        /// How many rows, counted from public tables only.
        found: u64,
        /// The largest allowed number.
        limit: u64,
    },
    /// A join of public tables has too many rows.
    #[error(
        "the join of {} has up to {found} rows, and at most {limit} are allowed",
        named(tables)
    )]
    PublicRows {
        /// The public tables.
        tables: Vec<String>,
        /// A bound on the number of rows, from counts of these tables.
        found: u64,
        /// The largest allowed number.
        limit: u64,
    },
    /// The plan may need more memory than the limit of a query.
    #[error(
        "the query may need {} of memory, and its limit is {}",
        bytes_text(*bytes),
        bytes_text(*limit)
    )]
    MayExceedMemory {
        /// The bound on its memory, from public quantities.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The plan may take longer than the limit of a query.
    #[error("the query may take {seconds} s, and its limit is {limit} s")]
    MayExceedTime {
        /// The estimate of its time, from public quantities.
        seconds: u64,
        /// The limit.
        limit: u64,
    },
    /// Counting the rows of public tables exceeded its memory limit.
    #[error("counting the rows of public tables exceeded its memory limit, or was stopped")]
    CountingMemory,
    /// Counting the rows of public tables exceeded its time limit.
    #[error("counting the rows of public tables exceeded its time limit of {seconds} s")]
    CountingTime {
        /// The limit.
        seconds: u64,
    },
    /// The query exceeded its memory limit, or its worker process crashed or was stopped. It is
    /// one error, because the cause could reveal something about rows.
    #[error(
        "the worker process of the query ended without an answer: it exceeded its memory limit, crashed or was stopped"
    )]
    OutOfMemory,
    /// The query exceeded its time limit.
    #[error("the query exceeded its time limit of {seconds} s")]
    DeadlineExceeded {
        /// The limit.
        seconds: u64,
    },
    /// No worker process can be started.
    #[error("the worker process of the query cannot be started: {reason}")]
    NoWorker {
        /// The message of the operating system.
        reason: String,
    },
    /// The engine could not be started, or failed.
    #[error("the engine failed while {doing}")]
    Failed {
        /// What it was doing.
        #[serde(deserialize_with = "fixed_text::read")]
        doing: FixedText,
    },
}

/// The names of public tables as one text.
fn named(tables: &[String]) -> String {
    let names: Vec<String> = tables.iter().map(|table| format!("{table:?}")).collect();
    match names.split_last() {
        Some((last, [])) => format!("the public table {last}"),
        Some((last, others)) => format!("the public tables {} and {last}", others.join(", ")),
        None => "public tables".to_owned(),
    }
}

/// The error for a plan that the binder does not produce.
pub(crate) fn bad(reason: impl Into<String>) -> EngineError {
    EngineError::BadPlan {
        reason: reason.into(),
    }
}

impl EngineError {
    /// Whether the data, or the system that holds them, cannot be used now. A quote does not
    /// need them; every other error also applies to quotes.
    pub(crate) const fn is_of_data(&self) -> bool {
        matches!(
            self.code().kind(),
            ErrorKind::Configuration | ErrorKind::Unavailable
        )
    }

    /// A stable code.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Unreadable { .. } => Code::MZ1901,
            Self::UnknownFormat { .. } => Code::MZ1902,
            Self::NoFiles { .. } => Code::MZ1903,
            Self::BadHeader { .. } => Code::MZ1904,
            Self::BadParquet { .. } => Code::MZ1905,
            Self::NoColumn { .. } => Code::MZ1906,
            Self::BadColumn { .. } => Code::MZ1907,
            Self::Changed { .. } => Code::MZ1908,
            Self::NotInCatalogue { .. } => Code::MZ1909,
            Self::BadPlan { .. } => Code::MZ1910,
            Self::Failed { .. } => Code::MZ1911,
            Self::BadAddress { .. } => Code::MZ1912,
            Self::Unreachable { .. } => Code::MZ1913,
            Self::NoTable { .. } => Code::MZ1914,
            Self::NotATable { .. } => Code::MZ1915,
            Self::NoRights { .. } => Code::MZ1916,
            Self::Locked { .. } => Code::MZ1917,
            Self::BadServer { .. } => Code::MZ1918,
            Self::Server { .. } => Code::MZ1919,
            Self::TimedOut { .. } => Code::MZ1920,
            Self::Disconnected => Code::MZ1921,
            Self::NotHere { .. } => Code::MZ1922,
            Self::NotBuilt { .. } => Code::MZ1923,
            Self::BadScheduler { .. } => Code::MZ1924,
            Self::NoScheduler { .. } => Code::MZ1925,
            Self::OtherVersion { .. } => Code::MZ1926,
            Self::NoExecutors { .. } => Code::MZ1927,
            Self::NotSeen { .. } => Code::MZ1928,
            Self::ClusterFailed => Code::MZ1929,
            Self::NotOnCluster => Code::MZ1930,
            Self::FanOut { .. } => Code::MZ1940,
            Self::PublicRows { .. } => Code::MZ1941,
            Self::DamagedParquet { .. } => Code::MZ1936,
            Self::CountingMemory => Code::MZ1942,
            Self::CountingTime { .. } => Code::MZ1943,
            Self::OutOfMemory => Code::MZ1961,
            Self::DeadlineExceeded { .. } => Code::MZ1962,
            Self::NoWorker { .. } => Code::MZ1964,
            Self::MayExceedMemory { .. } => Code::MZ1965,
            Self::MayExceedTime { .. } => Code::MZ1966,
        }
    }

    /// What the analyst or the data owner can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { .. } => {
                "check that it is a regular file, that it exists and that you may read it".into()
            }
            Self::UnknownFormat { .. } => {
                "use a file whose name ends in .csv or .parquet, or a directory of such files"
                    .into()
            }
            Self::NoFiles { .. } => {
                "put files of one format directly into the directory, or name another".into()
            }
            Self::BadHeader { .. } => {
                "give every column a different name in the first line of the file".into()
            }
            Self::BadParquet { .. } | Self::DamagedParquet { .. } => {
                "write the file again from its source, or restore a copy of it".into()
            }
            Self::NoColumn { .. } => {
                "add the dataset again if its columns changed, or restore them".into()
            }
            Self::BadColumn { .. } => {
                "restore the column, or add the dataset again with the type that it has: \
                 queries can CAST it; ids are text or integers of 64 bits"
                    .into()
            }
            Self::OutOfMemory => {
                "query fewer groups, statistics or columns. The data owner can raise --query-memory, and check that no other program stops processes of mizan"
                    .into()
            }
            Self::DeadlineExceeded { .. } => {
                "query less, or let the data owner raise --query-timeout".into()
            }
            Self::CountingMemory | Self::CountingTime { .. } => {
                "join on columns of the public tables instead of computed keys. Filter or aggregate the public tables first. Nothing was charged"
                    .into()
            }
            Self::MayExceedMemory { .. } => {
                "query fewer columns, groups or statistics, or shorter texts. The data owner can raise --query-memory, or keep the data in PostgreSQL. Nothing was charged"
                    .into()
            }
            Self::MayExceedTime { .. } => {
                "compute less for each row, with fewer texts and joins. The data owner can raise --query-timeout, or keep the data in PostgreSQL. Nothing was charged"
                    .into()
            }
            Self::NoWorker { .. } => {
                "check that the program still exists at its path, and that the system lets it \
                 start processes"
                    .into()
            }
            Self::Changed { .. } => "send the query again when the data are complete".into(),
            Self::BadAddress { .. } => {
                "write postgres://user@host/database/schema.table; the password is in PGPASSWORD"
                    .into()
            }
            Self::Unreachable { .. } => {
                "check the address, the server and the password, which is in PGPASSWORD".into()
            }
            Self::NoTable { .. } => {
                "check database, schema and table; names are case-sensitive".into()
            }
            Self::NotATable { .. } => "name a table of the database itself".into(),
            Self::NoRights { .. } => {
                "let the owner of the table grant USAGE on its schema and SELECT on it".into()
            }
            Self::Locked { .. } => "send the query again when that is done".into(),
            Self::BadServer { .. } => "use another server, or upgrade this one".into(),
            Self::Server { .. } => "ask the administrator of the database".into(),
            Self::TimedOut { .. } => {
                "ask for less, or let the owner add ?timeout=SECONDS to where the dataset is".into()
            }
            Self::Disconnected => "send the query again when the server is back".into(),
            Self::NotHere { .. } => {
                "query without it; tables of a database need no --engine, and all tables of a query are in one database"
                    .into()
            }
            Self::NotBuilt { feature, .. } => {
                format!("build it with `cargo build --release --features {feature}`")
            }
            Self::BadScheduler { .. } => "write HOST:PORT, such as 10.0.0.5:50050".into(),
            Self::NoScheduler { .. } => {
                "check the address, and start a scheduler there with `mizan cluster scheduler`"
                    .into()
            }
            Self::OtherVersion { .. } => {
                "use the same version of mizan for all nodes and clients of the cluster".into()
            }
            Self::NoExecutors { .. } => {
                "start some with `mizan cluster executor --scheduler HOST:PORT`".into()
            }
            Self::NotSeen { .. } => {
                "let the scheduler and all executors see the same files under the same paths, and be allowed to read them".into()
            }
            Self::NotOnCluster => {
                "run the query with --engine embedded, or simplify it; nothing was charged"
                    .into()
            }
            Self::ClusterFailed => {
                "check that executors run (`mizan cluster status`), see the files and have disk and memory left, and send the query again"
                    .into()
            }
            Self::FanOut { .. } => {
                "join on a key of the public table (ON private.column = public.key), or filter or aggregate the public table first so that fewer of its rows match one private row; nothing was charged"
                    .into()
            }
            Self::PublicRows { .. } => {
                "join the public tables on a key of one of them, or filter or aggregate them first; nothing was charged"
                    .into()
            }
            Self::NotInCatalogue { .. } => "add the dataset with `mizan dataset add`".into(),
            Self::BadPlan { .. } | Self::Failed { .. } => {
                "a file is damaged, the machine lacks memory, or this is a defect of Mizan: send the query again, and report it if it persists".into()
            }
        }
    }
}
