//! Why a description of data is refused. About what its owner wrote, never about
//! what is in the data.

use mizan_core::Code;
use thiserror::Error;

use crate::value::Type;

/// Why a description of data is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// A text that is no catalogue.
    #[error("{at} of the catalogue must be {expected}")]
    Malformed {
        /// Where.
        at: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A key that there is none of.
    #[error("{at} of the catalogue has an unknown entry {entry:?}")]
    UnknownEntry {
        /// Where.
        at: String,
        /// The key.
        entry: String,
    },
    /// A catalogue of a newer program.
    #[error("this catalogue is of version {found}, and this program knows version 1")]
    Version {
        /// What it says.
        found: String,
    },
    /// A name that cannot be one.
    #[error("{name:?} cannot be the name of {of}")]
    BadName {
        /// What it should name.
        of: &'static str,
        /// The name, shortened.
        name: String,
    },
    /// A path or URL that cannot be one.
    #[error("{source_text:?} cannot be where a dataset is")]
    BadSource {
        /// The path or URL, shortened.
        source_text: String,
    },
    /// The dataset is there already.
    #[error("there is a dataset {name:?} already")]
    DatasetTwice {
        /// Its name.
        name: String,
    },
    /// There is no such dataset.
    #[error("there is no dataset {name:?}")]
    NoDataset {
        /// What was asked for.
        name: String,
        /// One that is like it.
        similar: Option<String>,
    },
    /// Two columns have one name.
    #[error("the dataset {dataset:?} has two columns {column:?}")]
    ColumnTwice {
        /// The dataset.
        dataset: String,
        /// The name.
        column: String,
    },
    /// There is no such column.
    #[error("the dataset {dataset:?} has no column {column:?}")]
    NoColumn {
        /// The dataset.
        dataset: String,
        /// What was asked for.
        column: String,
        /// One that is like it.
        similar: Option<String>,
    },
    /// No columns, or too many.
    #[error("the dataset {dataset:?} has {found} columns")]
    Columns {
        /// The dataset.
        dataset: String,
        /// How many.
        found: usize,
    },
    /// Nobody knows whose the rows are.
    #[error("the unit of the dataset {dataset:?} is {reason}")]
    Unit {
        /// The dataset.
        dataset: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A limit that is none.
    #[error("the {limit} of the dataset {dataset:?} must be from 1 to {most}")]
    Limit {
        /// The dataset.
        dataset: String,
        /// Which limit.
        limit: &'static str,
        /// The most it can be.
        most: i64,
    },
    /// Bounds that are none.
    #[error("the bounds of the column {column:?}, a {kind}, {reason}")]
    Bounds {
        /// The column.
        column: String,
        /// Its type.
        kind: Type,
        /// What is wrong.
        reason: &'static str,
    },
    /// Keys that are none.
    #[error("the keys of the column {column:?}, a {kind}, {reason}")]
    Keys {
        /// The column.
        column: String,
        /// Its type.
        kind: Type,
        /// What is wrong.
        reason: &'static str,
    },
    /// An argument that does not read.
    #[error("{text:?} is not of the form {form}")]
    Argument {
        /// What was written, shortened.
        text: String,
        /// What it should look like.
        form: &'static str,
    },
    /// A type that there is none of.
    #[error("there is no type {text:?}")]
    NoType {
        /// What was written, shortened.
        text: String,
    },
}

impl CatalogueError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Malformed { .. } => Code::MZ1860,
            Self::UnknownEntry { .. } => Code::MZ1861,
            Self::Version { .. } => Code::MZ1862,
            Self::BadName { .. } => Code::MZ1863,
            Self::BadSource { .. } => Code::MZ1864,
            Self::DatasetTwice { .. } => Code::MZ1865,
            Self::NoDataset { .. } => Code::MZ1866,
            Self::ColumnTwice { .. } => Code::MZ1867,
            Self::NoColumn { .. } => Code::MZ1868,
            Self::Columns { .. } => Code::MZ1869,
            Self::Unit { .. } => Code::MZ1870,
            Self::Limit { .. } => Code::MZ1871,
            Self::Bounds { .. } => Code::MZ1872,
            Self::Keys { .. } => Code::MZ1873,
            Self::Argument { .. } => Code::MZ1874,
            Self::NoType { .. } => Code::MZ1875,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Malformed { .. } | Self::UnknownEntry { .. } => {
                "describe the dataset again with `mizan dataset add`".into()
            }
            Self::Version { .. } => "use the program that wrote it, or a newer one".into(),
            Self::BadName { .. } => {
                "use 1 to 128 characters, none of them a control character".into()
            }
            Self::BadSource { .. } => "name a CSV or Parquet file, or a PostgreSQL URL".into(),
            Self::DatasetTwice { .. } => "choose another name".into(),
            Self::NoDataset { similar, .. } => did_you_mean(
                similar.as_deref(),
                "see `mizan dataset list` for those there are",
            ),
            Self::ColumnTwice { .. } => "rename one of them in the file".into(),
            Self::NoColumn { similar, .. } => did_you_mean(
                similar.as_deref(),
                "upper and lower case count: see `mizan dataset show` for those there are",
            ),
            Self::Columns { .. } => "describe 1 to 10000 columns".into(),
            Self::Unit { .. } => {
                "say with --unit which columns tell whose a row is, each once; ids are integers or texts without bounds".into()
            }
            Self::Limit { .. } => "choose a whole number in that range".into(),
            Self::Bounds { kind, .. } => match kind {
                Type::Date | Type::Timestamp => "write --bound COLUMN=2024-01-01:2024-12-31".into(),
                Type::Integer | Type::Number => "write --bound COLUMN=LOW:HIGH, such as age=0:110".into(),
                Type::Boolean | Type::Text => {
                    "leave them out: only numbers, dates and timestamps have bounds".into()
                }
            },
            Self::Keys { .. } => {
                "write --keys COLUMN=a,b,c with each value once; \"a,b\" in double quotes for a comma, NULL for no value".into()
            }
            Self::Argument { form, .. } => format!("write {form}"),
            Self::NoType { .. } => {
                let names = Type::ALL.map(Type::name).join(", ");
                format!("choose one of {names}")
            }
        }
    }
}

fn did_you_mean(similar: Option<&str>, otherwise: &str) -> String {
    similar.map_or_else(
        || otherwise.to_owned(),
        |name| format!("did you mean {name:?}?"),
    )
}
