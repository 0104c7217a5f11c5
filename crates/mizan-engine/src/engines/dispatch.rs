//! Selects the engine by the source of a dataset: DataFusion or a cluster for files, the
//! database itself for its tables.

use std::path::{Path, PathBuf};

use mizan_sql::{BoundedPlan, Catalogue, Dataset, FileIdentity, Type};

#[cfg(feature = "ballista")]
use super::ballista::Ballista;
use super::datafusion::{self, DataFusion};
use super::fan_out::{self, FanOutCache};
use super::lower_sql::relations;
#[cfg(feature = "postgres")]
use super::postgres::{self, Postgres};
use super::worker::{WorkerProgram, Workers};
use crate::engine::{Engine, EngineError};
use crate::exact::Execution;
use crate::query_limits::QueryLimits;
use crate::sampling_hash::Salt;
use crate::version::{Version, file_identities, share_files};

/// All engines. They answer one query at a time.
#[derive(Debug)]
pub struct EngineSet {
    files: DataFusion,
    /// The embedded engine in worker processes.
    workers: Option<Workers>,
    /// The cluster that replaces the embedded engine.
    #[cfg(feature = "ballista")]
    cluster: Option<Ballista>,
    #[cfg(feature = "postgres")]
    postgres: Postgres,
}

#[cfg(not(feature = "postgres"))]
const NO_POSTGRES: EngineError = EngineError::NotBuilt {
    what: "PostgreSQL",
    feature: "postgres",
};

/// The kind of a source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SourceKind {
    Files,
    Postgres,
}

impl SourceKind {
    fn of(source: &str) -> Self {
        match is_table(source) {
            true => Self::Postgres,
            false => Self::Files,
        }
    }
}

/// Whether a source is the address of a table.
#[must_use]
pub fn is_table(source: &str) -> bool {
    let schemes = ["postgres://", "postgresql://"];
    schemes.iter().any(|scheme| source.starts_with(scheme))
}

impl EngineSet {
    /// Engines that run in this process.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn new() -> Result<Self, EngineError> {
        Ok(Self {
            files: DataFusion::new()?,
            workers: None,
            #[cfg(feature = "ballista")]
            cluster: None,
            #[cfg(feature = "postgres")]
            postgres: Postgres::default(),
        })
    }

    /// Engines with a worker process for each query over files, which also counts public rows.
    /// `program` must call [`run_worker`](crate::run_worker) when it is started with
    /// [`WORKER_ARGUMENT`](crate::WORKER_ARGUMENT) as its only argument.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn in_workers(program: PathBuf, limits: QueryLimits) -> Result<Self, EngineError> {
        let workers = Workers::new(program.clone(), limits, DataFusion::new()?);
        let engines = Self {
            workers: Some(workers),
            ..Self::new()?
        };
        Ok(engines.counting_in_workers(program, limits))
    }

    /// Counts rows of public files in worker processes.
    #[must_use]
    pub fn counting_in_workers(mut self, program: PathBuf, limits: QueryLimits) -> Self {
        let program = WorkerProgram::new(program, limits);
        #[cfg(feature = "ballista")]
        if let Some(cluster) = &mut self.cluster {
            cluster.counting = Some(program.clone());
        }
        if let Some(workers) = &mut self.workers {
            workers.engine.counting = Some(program.clone());
        }
        self.files.counting = Some(program);
        self
    }

    /// Engines with the cluster of a scheduler (`HOST:PORT`) in place of this machine.
    ///
    /// # Errors
    ///
    /// The text is not an address, or the program was built without clusters.
    pub fn on_cluster(scheduler: &str) -> Result<Self, EngineError> {
        #[cfg(feature = "ballista")]
        {
            let cluster = Ballista::new(scheduler.parse()?);
            Ok(Self {
                cluster: Some(cluster),
                ..Self::new()?
            })
        }
        #[cfg(not(feature = "ballista"))]
        {
            let _ = scheduler;
            Err(EngineError::NotBuilt {
                what: "Ballista clusters",
                feature: "ballista",
            })
        }
    }

    /// Shares a cache of fan-outs with other engines.
    #[must_use]
    pub fn with_fan_outs(mut self, fan_outs: &FanOutCache) -> Self {
        self.files.fan_outs = fan_outs.clone();
        if let Some(workers) = &mut self.workers {
            workers.engine.fan_outs = fan_outs.clone();
        }
        #[cfg(feature = "ballista")]
        if let Some(cluster) = &mut self.cluster {
            cluster.fan_outs = fan_outs.clone();
        }
        #[cfg(feature = "postgres")]
        {
            self.postgres.fan_outs = fan_outs.clone();
        }
        self
    }

    fn files(&self) -> &dyn Engine {
        #[cfg(feature = "ballista")]
        if let Some(cluster) = &self.cluster {
            return cluster;
        }
        match &self.workers {
            Some(workers) => workers,
            None => &self.files,
        }
    }

    /// The engine for a kind of source.
    fn at(&self, place: SourceKind) -> Result<&dyn Engine, EngineError> {
        match place {
            SourceKind::Files => Ok(self.files()),
            #[cfg(feature = "postgres")]
            SourceKind::Postgres => Ok(&self.postgres),
            #[cfg(not(feature = "postgres"))]
            SourceKind::Postgres => Err(NO_POSTGRES),
        }
    }

    /// The engine for all datasets of a plan.
    fn of(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<&dyn Engine, EngineError> {
        let (mut files, mut tables) = (false, false);
        for name in plan.datasets.iter().chain(&plan.public) {
            match SourceKind::of(&relations::dataset(catalogue, name)?.source) {
                SourceKind::Files => files = true,
                SourceKind::Postgres => tables = true,
            }
        }
        match (files, tables) {
            (true, true) => Err(EngineError::NotHere {
                what: "a query over files together with tables of a database",
            }),
            (_, false) => self.at(SourceKind::Files),
            #[cfg(feature = "ballista")]
            (false, true) if self.cluster.is_some() => Err(EngineError::NotHere {
                what: "on a cluster, a query over tables of a database",
            }),
            (false, true) => self.at(SourceKind::Postgres),
        }
    }
}

impl Engine for EngineSet {
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        self.of(plan, catalogue)?.prepare(plan, catalogue)
    }

    fn check_joins(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        if !fan_out::joins_public(&plan.relation) {
            return Ok(());
        }
        self.of(plan, catalogue)?.check_joins(plan, catalogue)
    }

    fn check_limits(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        self.of(plan, catalogue)?.check_limits(plan, catalogue)
    }

    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError> {
        self.at(SourceKind::of(&dataset.source))?.version(dataset)
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: Salt,
    ) -> Result<Execution, EngineError> {
        self.of(plan, catalogue)?
            .run(plan, catalogue, versions, salt)
    }
}

/// The columns of a source, as far as they can be determined without reading rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    /// Columns, with their types where the source declares them.
    pub columns: Vec<(String, Option<Type>)>,
    /// Columns that cannot be used, with their types.
    pub left_out: Vec<(String, String)>,
}

/// The columns of a file, a directory of files, or a table. Rows are not read.
///
/// # Errors
///
/// The source cannot be read, or is none of these.
pub fn inspect(source: &str) -> Result<Inspected, EngineError> {
    match SourceKind::of(source) {
        SourceKind::Files => datafusion::inspect(Path::new(source)),
        #[cfg(feature = "postgres")]
        SourceKind::Postgres => postgres::inspect(source),
        #[cfg(not(feature = "postgres"))]
        SourceKind::Postgres => Err(NO_POSTGRES),
    }
}

/// Checks that a source has the columns of a dataset. Rows are not read.
///
/// # Errors
///
/// The source cannot be read, or a column is missing or has an incompatible type.
pub fn check_columns(dataset: &Dataset) -> Result<(), EngineError> {
    EngineSet::new()?.version(dataset).map(drop)
}

/// Decodes every column of a dataset of files once, so that damage is found when the dataset is
/// added and not by a query after its charge. `progress` receives the numbers of decoded rows
/// and of all rows. Tables of a database are not read.
///
/// # Errors
///
/// A file cannot be read, or a page of it cannot be decoded.
pub fn check_rows(
    dataset: &Dataset,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<(), EngineError> {
    match SourceKind::of(&dataset.source) {
        SourceKind::Files => datafusion::check_rows(dataset, progress),
        SourceKind::Postgres => Ok(()),
    }
}

/// Whether a dataset of the catalogue and a new one share rows under different names: a file,
/// also after it was moved, or a table or one of its partitions. Tables that cannot be reached
/// are compared by name, for any user and any server. A copy of a file is a different file.
#[must_use]
pub fn share_data(old: &Dataset, new: &Dataset) -> bool {
    match (SourceKind::of(&old.source), SourceKind::of(&new.source)) {
        (SourceKind::Files, SourceKind::Files) => {
            let files = file_identities(Path::new(&new.source));
            let moved = |file: &FileIdentity| old.files.iter().any(|old| old.is_same(file));
            share_files(Path::new(&old.source), Path::new(&new.source)) || files.iter().any(moved)
        }
        #[cfg(feature = "postgres")]
        (SourceKind::Postgres, SourceKind::Postgres) => {
            postgres::share_tables(&old.source, &new.source)
        }
        _ => old.source == new.source,
    }
}

/// Adds the files that a dataset has now to the recorded ones.
pub fn record_files(dataset: &mut Dataset) {
    /// Files that are rewritten repeatedly are different files each time.
    const MOST: usize = 10_000;
    if SourceKind::of(&dataset.source) != SourceKind::Files {
        return;
    }
    for file in file_identities(Path::new(&dataset.source)) {
        if !dataset.files.iter().any(|old| old.is_same(&file)) {
            dataset.files.push(file);
        }
    }
    let more = dataset.files.len().saturating_sub(MOST);
    dataset.files.drain(..more);
}

#[cfg(all(test, feature = "ballista"))]
mod tests {
    use super::*;
    use crate::engines::test_queries;

    /// A dataset in a database is an error on a cluster; no other engine answers instead.
    #[test]
    fn tables_of_a_database_are_refused_on_a_cluster() {
        let mut catalogue = test_queries::catalogue();
        for (name, dataset) in &mut catalogue.datasets {
            dataset.source = format!("postgres://u@127.0.0.1:1/d/{name}");
        }
        let plan = mizan_sql::plan("SELECT COUNT(*) FROM visits", &catalogue).unwrap();
        let engines = EngineSet::on_cluster("127.0.0.1:1").unwrap();
        let error = engines.prepare(&plan, &catalogue).unwrap_err();
        assert_eq!(error.code(), "MZ1922");
        assert!(error.to_string().contains("cluster"), "{error}");
    }
}
