//! Why an engine cannot run a plan. Nothing in here comes from a private row, and
//! no row decides whether it happens.

use std::path::PathBuf;

use mizan_sql::Type;

/// Why an engine cannot run a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A file is not there, or may not be read.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Neither CSV nor Parquet.
    #[error("{} is neither a CSV nor a Parquet file, by its name", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A directory without files of one format.
    #[error("the directory {} has no CSV or Parquet files in it, or both", path.display())]
    NoFiles {
        /// The directory.
        path: PathBuf,
    },
    /// A header without names, or with one name twice.
    #[error("the first line of {} is no header: {reason}", path.display())]
    BadHeader {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// A Parquet file without a readable footer.
    #[error("{} is no Parquet file that can be read", path.display())]
    BadParquet {
        /// The file.
        path: PathBuf,
    },
    /// A column of the catalogue is not in the file.
    #[error("{} has no column {column:?}", path.display())]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A column holds what cannot be used.
    #[error("the column {column:?} of {} holds {found}, which cannot be read as {wanted}", path.display())]
    BadColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// What the file's schema says.
        found: String,
        /// What the catalogue says.
        wanted: Type,
    },
    /// The files of a dataset are not those of before.
    #[error("the files of {dataset:?} changed while the question was answered")]
    Changed {
        /// The dataset.
        dataset: String,
    },
    /// The plan names what the catalogue does not have.
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
    /// The engine could not be started, or gave up.
    #[error("the engine failed while {doing}")]
    Failed {
        /// What it was doing.
        doing: &'static str,
    },
}

impl EngineError {
    /// A stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "MZ1901",
            Self::UnknownFormat { .. } => "MZ1902",
            Self::NoFiles { .. } => "MZ1903",
            Self::BadHeader { .. } => "MZ1904",
            Self::BadParquet { .. } => "MZ1905",
            Self::NoColumn { .. } => "MZ1906",
            Self::BadColumn { .. } => "MZ1907",
            Self::Changed { .. } => "MZ1908",
            Self::NotInCatalogue { .. } => "MZ1909",
            Self::BadPlan { .. } => "MZ1910",
            Self::Failed { .. } => "MZ1911",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { .. } => {
                "check that the file is there and that you may read it".into()
            }
            Self::UnknownFormat { .. } => {
                "use a file whose name ends in .csv or .parquet, or a directory of such files"
                    .into()
            }
            Self::NoFiles { .. } => {
                "put files of one format directly into the directory, or name another".into()
            }
            Self::BadHeader { .. } => {
                "give every column a name of its own in the first line of the file".into()
            }
            Self::BadParquet { .. } => "write the file again".into(),
            Self::NoColumn { .. } | Self::BadColumn { .. } => {
                "add the dataset again if its columns changed, or restore the file".into()
            }
            Self::Changed { .. } => "ask again when the files are complete".into(),
            Self::NotInCatalogue { .. } => "add the dataset with `mizan dataset add`".into(),
            Self::BadPlan { .. } | Self::Failed { .. } => {
                "this is a fault of Mizan or of the machine (memory, disk): ask again, and report it if it stays".into()
            }
        }
    }
}
