//! The catalogue file of a command: its path, reading it, and replacing it
//! atomically.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use mizan_sql::{Catalogue, Dataset};

use crate::failure::Failure;

/// The default file.
const DEFAULT: &str = "mizan.datasets.json";

/// The option that names the catalogue file.
#[derive(Debug, clap::Args)]
pub(crate) struct CatalogueFile {
    /// Catalogue of datasets [default: MIZAN_CATALOGUE, else mizan.datasets.json]
    #[arg(long, value_name = "FILE", global = true)]
    catalogue: Option<PathBuf>,
}

impl CatalogueFile {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self {
            catalogue: Some(path),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        let set = std::env::var_os("MIZAN_CATALOGUE").filter(|value| !value.is_empty());
        let named = self.catalogue.clone().or_else(|| set.map(PathBuf::from));
        named.unwrap_or_else(|| DEFAULT.into())
    }

    /// Reads the catalogue; a missing file is an empty catalogue.
    pub(crate) fn read(&self) -> Result<Catalogue, Failure> {
        mizan_api::catalogue::read(&self.path())
    }

    /// The dataset of a name.
    pub(crate) fn dataset(&self, name: &str) -> Result<Dataset, Failure> {
        Ok(self.read()?.dataset(name)?.clone())
    }

    /// Changes the catalogue under a lock.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Catalogue) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let path = self.path();
        let shown = path.display().to_string();
        let failed = |error: std::io::Error| Failure::file("write", &shown, &error);
        let lock = File::create(beside(&path, ".lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut catalogue = self.read()?;
        let result = change(&mut catalogue)?;
        replace(&path, &format!("{:#}\n", catalogue.to_json())).map_err(failed)?;
        Ok(result)
    }
}

/// Replaces a file atomically.
fn replace(path: &Path, contents: &str) -> std::io::Result<()> {
    let draft = beside(path, &format!(".new-{}", std::process::id()));
    let write = || {
        let mut file = File::create(&draft)?;
        file.write_all(contents.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, path)?;
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
