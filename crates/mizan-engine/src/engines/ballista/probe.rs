//! Checks before the charge that executors see the same files as this machine. No row is read.
//!
//! Each executor lists the files of a source itself, with their lengths and modification times
//! in seconds. The client sends a digest of its own list; the executor returns nothing, or its
//! list if it differs. Tasks are assigned to free executors, so all executors take part if all
//! have free slots.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result as Computed, ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use mizan_sql::{Catalogue, Type, Value};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::codec::{files_json, files_of};
use super::session::Session;
use crate::data_file::{self, unreadable};
use crate::engine::EngineError;
use crate::engines::datafusion::dialect::DataFusionDialect;
use crate::engines::datafusion::file_stamp::StampedFile;
use crate::engines::datafusion::files::Source;
use crate::engines::datafusion::rows;
use crate::engines::datafusion::values::data_type;
use crate::engines::lower_sql::dialect::Dialect as _;
use crate::engines::lower_sql::relations;
use crate::version::Files;

/// The largest number of probe tasks.
const MOST: usize = 64;

/// The largest number of files of a source that are compared, in the order of names: each task
/// opens all of them.
const MOST_FILES: usize = 10_000;

/// The function that compares. Arguments: a path, the digest of the expected list.
const NAME: &str = "mizan_sees_files";

/// A file or a directory of files, as this machine sees it.
#[derive(Debug)]
pub(super) struct FileLocation {
    path: PathBuf,
    files: Vec<StampedFile>,
}

impl FileLocation {
    /// The current state of these files.
    pub(super) fn now(path: PathBuf, files: &[PathBuf]) -> Self {
        let files = seen(files);
        Self { path, files }
    }

    /// The first file that is missing in the list of an executor; the path of the source if the
    /// list has additional files.
    fn missing(&self, list: &str) -> PathBuf {
        let theirs = serde_json::from_str(list)
            .ok()
            .and_then(|list| files_of(&list).ok())
            .unwrap_or_default();
        let theirs: BTreeSet<_> = theirs.iter().map(|file| (&file.path, file.seen)).collect();
        let mut files = self.files.iter();
        let missing = files.find(|file| !theirs.contains(&(&file.path, file.seen)));
        missing.map_or_else(|| self.path.clone(), |file| file.path.clone())
    }
}

/// The paths of the files of datasets.
pub(super) fn places(
    names: &[&String],
    catalogue: &Catalogue,
) -> Result<Vec<FileLocation>, EngineError> {
    let mut places = Vec::with_capacity(names.len());
    for name in names {
        let dataset = relations::dataset(catalogue, name)?;
        let source = Source::open(dataset)?;
        let path = Path::new(&dataset.source);
        // Executors receive paths without links.
        let path = fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
        places.push(FileLocation::now(path, source.paths()));
    }
    Ok(places)
}

/// A file that an executor does not see as this machine does, if there is one.
pub(super) async fn not_seen(
    session: &Session,
    places: &[FileLocation],
) -> Result<Option<PathBuf>, EngineError> {
    let dialect = DataFusionDialect::default();
    let text = |text: &str| dialect.compared(&Value::Text(text.to_owned()), Type::Text);
    let mut looks = Vec::with_capacity(places.len());
    for (number, place) in places.iter().enumerate() {
        let (Some(path), Some(list)) = (place.path.to_str(), list(&place.files)) else {
            return Ok(Some(place.path.clone()));
        };
        let (path, digest) = (text(path), text(&digest(&list)));
        looks.push(format!("{NAME}({path}, {digest}) AS s{number}"));
    }
    let look = format!("SELECT {}", looks.join(", "));
    let all = vec![look; session.partitions.clamp(1, MOST)].join(" UNION ALL ");
    let mut not_seen = None;
    session
        .run(&all, |batch| {
            for row in rows(batch)? {
                let missing = row.iter().zip(places).find_map(|(seen, place)| match seen {
                    Value::Null => None,
                    Value::Text(list) => Some(place.missing(list)),
                    _ => Some(place.path.clone()),
                });
                not_seen = not_seen.take().or(missing);
            }
            Ok(())
        })
        .await?;
    Ok(not_seen)
}

/// The files of a source, in order.
pub(super) fn files(path: &Path) -> Vec<PathBuf> {
    match path.is_dir() {
        true => Files::find(path).map_or_else(|_| Vec::new(), |files| files.paths),
        false => vec![path.to_path_buf()],
    }
}

/// Files that can be opened, with their current state.
fn seen(files: &[PathBuf]) -> Vec<StampedFile> {
    let seen = |path: &PathBuf| {
        data_file::open(path).ok()?;
        StampedFile::here(path.clone()).as_seen().ok()
    };
    files.iter().take(MOST_FILES).filter_map(seen).collect()
}

/// Files as text, if their paths are valid text.
fn list(files: &[StampedFile]) -> Option<String> {
    let files = files_json(files).ok()?;
    Some(json!({ "files": files }).to_string())
}

fn digest(list: &str) -> String {
    let digest = Sha256::digest(list.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The function, to be registered in sessions and nodes.
pub(super) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(ProbeFunction {
        // Volatile, so that the planner does not evaluate it in advance.
        signature: Signature::variadic_any(Volatility::Volatile),
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ProbeFunction {
    signature: Signature,
}

impl ScalarUDFImpl for ProbeFunction {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Computed<DataType> {
        Ok(data_type(Type::Text))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Computed<ColumnarValue> {
        let text = |argument: &ColumnarValue| match argument {
            ColumnarValue::Scalar(value) => value.try_as_str().flatten().map(str::to_owned),
            ColumnarValue::Array(_) => None,
        };
        let [path, expected] = arguments.args.as_slice() else {
            return exec_err!("no path");
        };
        let (Some(path), Some(expected)) = (text(path), text(expected)) else {
            return exec_err!("no path");
        };
        let list = list(&seen(&files(Path::new(&path)))).unwrap_or_default();
        let differs = (digest(&list) != expected).then_some(list);
        Ok(ColumnarValue::Scalar(ScalarValue::Utf8View(differs)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Whether the files of a source still have the recorded state.
    fn is_as_seen(place: &FileLocation) -> bool {
        let now = list(&seen(&files(&place.path))).unwrap();
        digest(&now) == digest(&list(&place.files).unwrap())
    }

    #[test]
    fn every_change_of_a_source_is_detected_and_named() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().canonicalize().unwrap();
        let path = |name: &str| directory.join(name);
        for name in ["a.csv", "b.csv", "_c.csv"] {
            fs::write(path(name), "x\n1\n").unwrap();
        }
        let look = || FileLocation::now(directory.clone(), &files(&directory));
        let place = look();
        assert_eq!(place.files.len(), 2);
        assert!(is_as_seen(&place));
        let now = || list(&seen(&files(&directory))).unwrap();
        // Another modification time.
        let earlier = SystemTime::now() - Duration::from_secs(100);
        let file = fs::File::options().write(true).open(path("b.csv")).unwrap();
        file.set_modified(earlier).unwrap();
        assert!(!is_as_seen(&place));
        assert_eq!(place.missing(&now()), path("b.csv"));
        // Another length.
        let place = look();
        fs::write(path("a.csv"), "x\n1\n2\n").unwrap();
        assert!(!is_as_seen(&place));
        assert_eq!(place.missing(&now()), path("a.csv"));
        // A missing file, and an additional one.
        let place = look();
        fs::remove_file(path("b.csv")).unwrap();
        assert_eq!(place.missing(&now()), path("b.csv"));
        let place = look();
        fs::write(path("d.csv"), "x\n").unwrap();
        assert!(!is_as_seen(&place));
        assert_eq!(place.missing(&now()), directory);
        // Answers of an executor that sees nothing, or something else.
        for said in ["", "[]", "{\"files\":[]}"] {
            assert_eq!(place.missing(said), path("a.csv"), "{said}");
        }
    }
}
