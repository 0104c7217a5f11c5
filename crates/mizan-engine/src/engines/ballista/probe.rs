//! Whether executors see files, asked before anything is charged. No row is read.
//!
//! Tasks go wherever there is room, so where all executors have some, all of them look.

use std::path::PathBuf;

use mizan_sql::{Catalogue, Type, Value};

use super::session::Session;
use crate::engine::EngineError;
use crate::engines::datafusion::dialect::DataFusionDialect;
use crate::engines::datafusion::files::Source;
use crate::engines::datafusion::functions::Does;
use crate::engines::datafusion::rows;
use crate::engines::dialect::Dialect as _;
use crate::engines::relations;
use crate::version::unreadable;

/// The most tasks that look for a file.
const MOST: usize = 64;

/// The first file of each dataset: where one is not shared, none is.
pub(super) fn paths(names: &[&String], catalogue: &Catalogue) -> Result<Vec<PathBuf>, EngineError> {
    let mut paths = Vec::with_capacity(names.len());
    for name in names {
        let source = Source::open(relations::dataset(catalogue, name)?)?;
        paths.extend(source.paths().first().cloned());
    }
    Ok(paths)
}

/// A file that somebody who looked does not see with the same length, if there is one.
pub(super) async fn not_seen(
    session: &Session,
    paths: &[PathBuf],
) -> Result<Option<PathBuf>, EngineError> {
    let dialect = DataFusionDialect::default();
    let mut looks = Vec::with_capacity(paths.len());
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        let (Some(text), Ok(length)) = (path.to_str(), i64::try_from(metadata.len())) else {
            return Ok(Some(path.clone()));
        };
        let text = dialect.literal(&Value::Text(text.to_owned()), Type::Text);
        let length = dialect.literal(&Value::Integer(length), Type::Integer);
        let name = looks.len();
        looks.push(format!(
            "{}({text}, {length}) AS s{name}",
            Does::Sees.name()
        ));
    }
    let look = format!("SELECT {}", looks.join(", "));
    let all = vec![look; session.partitions.clamp(1, MOST)].join(" UNION ALL ");
    let mut not_seen = None;
    session
        .run(&all, |batch| {
            for row in rows(batch)? {
                let missing = row.iter().position(|sees| *sees != Value::Boolean(true));
                let missing = missing.and_then(|place| paths.get(place));
                not_seen = not_seen.take().or_else(|| missing.cloned());
            }
            Ok(())
        })
        .await?;
    Ok(not_seen)
}
