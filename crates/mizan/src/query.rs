//! The query service that owns its ledger, its catalogue and its engine.

use std::path::Path;

use mizan_engine::{EngineError, EngineSet, QueryOutcome, Quote, SpendTarget};
use mizan_ledger::Ledger;
use mizan_sql::{Catalogue, Dataset, Privacy};

use crate::Error;

/// Answers SQL queries with differential privacy: it computes the cost, charges the ledger, and only
/// then reads rows.
///
/// Queries run in this process. The programs of Mizan use a process for each query, which limits
/// its memory and time.
///
/// ```
/// use mizan::{AccountName, Catalogue, Delta, Epsilon, Ledger, Location, NewAccount};
/// use mizan::{Privacy, QueryOutcome, QueryService, SpendTarget};
///
/// # fn main() -> Result<(), mizan::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let (file, state) = (folder.path().join("mizan.db"), folder.path().join("state"));
/// # let csv = folder.path().join("visits.csv");
/// # let rows: String = (0..3000).map(|n| format!("{n},{}\n", n % 90)).collect();
/// # std::fs::write(&csv, format!("person,age\n{rows}")).unwrap();
/// # let csv = csv.to_str().unwrap();
/// let ledger = Ledger::init(&Location::File(file), &state)?;
/// let (epsilon, delta) = (Epsilon::at_most("3")?, Delta::at_most("1e-7")?);
/// let account = NewAccount::approximate(AccountName::new("visits")?, epsilon, delta)?;
/// ledger.create_account(None, account)?;
///
/// let mut service = QueryService::new(ledger, Catalogue::default())?;
/// let privacy = Privacy {
///     unit: vec!["person".to_owned()],
///     account: "visits".to_owned(),
///     rows_per_unit: Some(1),
///     groups_per_unit: Some(1),
/// };
/// let mut visits = QueryService::describe("visits", csv, Some(privacy))?;
/// visits.declare_type("age=integer")?;
/// visits.declare_bounds("age=0:110")?;
/// service.register(visits)?;
///
/// let sql = "SELECT AVG(age) AS mean FROM visits";
/// println!("it would cost ε = {}", service.quote(sql, SpendTarget::DefaultShare)?.epsilon);
/// match service.query(sql, SpendTarget::Epsilon(Epsilon::at_most("0.5")?))? {
///     QueryOutcome::Answered(answered) => {
///         for row in &answered.answer.rows {
///             println!("{:?}", row[0].value());
///         }
///         println!("receipt: {}", answered.done.receipt);
///     }
///     QueryOutcome::Denied(denied) => println!("{} does not fit", denied.epsilon),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct QueryService {
    ledger: Ledger,
    catalogue: Catalogue,
    engines: EngineSet,
}

impl QueryService {
    /// A service over a ledger and the datasets of a catalogue, such as the text of
    /// `mizan.datasets.json`, which `mizan dataset add` writes: it parses as a [`Catalogue`].
    ///
    /// Panics of engine threads print nothing from now on, because their messages could have cells.
    ///
    /// # Errors
    ///
    /// The engine cannot be started.
    pub fn new(ledger: Ledger, catalogue: Catalogue) -> Result<Self, Error> {
        mizan_engine::silence_engine_panics();
        Ok(Self {
            ledger,
            catalogue,
            engines: EngineSet::new()?,
        })
    }

    /// Describes a dataset with the columns of its source: a CSV or Parquet file, a directory of
    /// either, or `postgres://user@host/database/schema.table`. Without `privacy` it is a public
    /// table, whose rows every analyst may see.
    ///
    /// The columns of a CSV file are text until
    /// [`declare_type`](Dataset::declare_type) says otherwise. Bounds and keys are declared in the
    /// same way. Columns of a type that cannot be read are left out.
    ///
    /// # Errors
    ///
    /// The source cannot be read.
    pub fn describe(name: &str, source: &str, privacy: Option<Privacy>) -> Result<Dataset, Error> {
        let source = match mizan_engine::is_table(source) {
            true => source.to_owned(),
            false => absolute(source)?,
        };
        let found = mizan_engine::inspect(&source)?;
        Ok(found.dataset(name.to_owned(), source, privacy))
    }

    /// Adds a dataset to the catalogue after all checks: its description, its columns, all rows of
    /// Parquet files, its account, and that no other dataset has its rows under another budget or
    /// privacy unit.
    ///
    /// # Errors
    ///
    /// A check fails; the catalogue is unchanged then.
    pub fn register(&mut self, dataset: Dataset) -> Result<(), Error> {
        Ok(mizan_engine::register(
            &mut self.catalogue,
            dataset,
            &self.ledger,
        )?)
    }

    /// What a query would cost, and the predicted width of its noise. Nothing is charged and no
    /// private row is read.
    ///
    /// # Errors
    ///
    /// The query is refused, or the target cannot be met.
    pub fn quote(&self, sql: &str, target: SpendTarget) -> Result<Quote, Error> {
        Ok(self.service().quote(sql, target)?)
    }

    /// Answers a query, or denies it if its charge does not fit. The same query over unchanged data
    /// has the same answer at no further cost.
    ///
    /// # Errors
    ///
    /// The query is refused, or the data or the ledger cannot be read. If the charge was durable
    /// before the error, the error says so, and sending the query again continues under it.
    pub fn query(&self, sql: &str, target: SpendTarget) -> Result<QueryOutcome, Error> {
        Ok(self.service().query(sql, target, None)?)
    }

    /// Answers a query under an id, such as `report-7`: a charge of its own with fresh noise. The
    /// same id with the same query has the same answer forever.
    ///
    /// # Errors
    ///
    /// As for [`query`](Self::query); the id belongs to another request.
    pub fn query_as(
        &self,
        id: &str,
        sql: &str,
        target: SpendTarget,
    ) -> Result<QueryOutcome, Error> {
        Ok(self.service().query(sql, target, Some(id))?)
    }

    /// The ledger.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The datasets. Its text is that of a catalogue file.
    #[must_use]
    pub const fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Returns the ledger, to close it.
    #[must_use]
    pub fn into_ledger(self) -> Ledger {
        self.ledger
    }

    fn service(&self) -> mizan_engine::QueryService<'_, EngineSet> {
        mizan_engine::QueryService::new(&self.ledger, &self.catalogue, &self.engines)
    }
}

/// The absolute path of a source, so that the catalogue does not depend on the folder of a program.
fn absolute(source: &str) -> Result<String, EngineError> {
    let failed = |reason: String| EngineError::Unreadable {
        path: source.into(),
        reason,
    };
    let path = std::path::absolute(Path::new(source)).map_err(|error| failed(error.to_string()))?;
    let text = path.into_os_string().into_string();
    text.map_err(|_| failed("the path is not text".to_owned()))
}
