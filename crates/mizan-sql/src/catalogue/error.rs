//! Errors in a catalogue or in the description of a dataset. They are about what the data owner
//! wrote, never about the data.

use mizan_core::Code;
use thiserror::Error;

use crate::value::Type;

/// Why a catalogue or the description of a dataset is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// A text that is not a catalogue.
    #[error("{at} of the catalogue must be {expected}")]
    Malformed {
        /// Where in the catalogue.
        at: String,
        /// What is expected there.
        expected: &'static str,
    },
    /// An entry with an unknown key.
    #[error("{at} of the catalogue has an unknown entry {entry:?}")]
    UnknownEntry {
        /// Where in the catalogue.
        at: String,
        /// The key.
        entry: String,
    },
    /// A catalogue of a newer version of the program.
    #[error("this catalogue is of version {found}, and this program knows version 1")]
    Version {
        /// The version that it states.
        found: String,
    },
    /// A text that cannot be a name.
    #[error("{name:?} cannot be the name of {of}")]
    BadName {
        /// What it should name.
        of: &'static str,
        /// The name, shortened.
        name: String,
    },
    /// The name of a column in the data that cannot be a name in the catalogue. The name is not
    /// shown, because the cells of a damaged file may be in it.
    #[error("the name of column {position}, of {bytes} bytes, cannot be used")]
    BadColumnName {
        /// The position of the column, from one.
        position: usize,
        /// The length of its name.
        bytes: usize,
    },
    /// A text that cannot be a path or URL.
    #[error("{source_text:?} cannot be where a dataset is")]
    BadSource {
        /// The path or URL, shortened.
        source_text: String,
    },
    /// A dataset of this name exists already.
    #[error("there is a dataset {name:?} already")]
    DatasetTwice {
        /// Its name.
        name: String,
    },
    /// There is no such dataset.
    #[error("there is no dataset {name:?}")]
    NoDataset {
        /// The requested name.
        name: String,
        /// A similar name that exists.
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
        /// The requested name.
        column: String,
        /// A similar name that exists.
        similar: Option<String>,
    },
    /// No columns, or too many.
    #[error("the dataset {dataset:?} has {found} columns")]
    Columns {
        /// The dataset.
        dataset: String,
        /// The number of columns.
        found: usize,
    },
    /// The columns of the privacy unit are missing or unsuitable.
    #[error("the unit of the dataset {dataset:?} is {reason}")]
    Unit {
        /// The dataset.
        dataset: String,
        /// The reason.
        reason: &'static str,
    },
    /// A limit out of range.
    #[error("the {limit} of the dataset {dataset:?} must be from 1 to {most}")]
    Limit {
        /// The dataset.
        dataset: String,
        /// Which limit.
        limit: &'static str,
        /// Its largest value.
        most: i64,
    },
    /// Bounds that the column cannot have.
    #[error("the bounds of the column {column:?}, a {kind}, {reason}")]
    Bounds {
        /// The column.
        column: String,
        /// Its type.
        kind: Type,
        /// The reason.
        reason: &'static str,
    },
    /// Keys that the column cannot have.
    #[error("the keys of the column {column:?}, a {kind}, {reason}")]
    Keys {
        /// The column.
        column: String,
        /// Its type.
        kind: Type,
        /// The reason.
        reason: &'static str,
    },
    /// A command-line argument that cannot be parsed.
    #[error("{text:?} is not of the form {form}")]
    Argument {
        /// The argument, shortened.
        text: String,
        /// The expected form.
        form: &'static str,
    },
    /// An unknown type.
    #[error("there is no type {text:?}")]
    NoType {
        /// The type, shortened.
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
            Self::BadName { .. } | Self::BadColumnName { .. } => Code::MZ1863,
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
            Self::BadColumnName { .. } => {
                "use 1 to 128 characters, none of them a control character; in a CSV file, close every quote of the first line".into()
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
                "name the columns that identify the person of a row with --unit, each once; ids are integers or texts without bounds".into()
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
