//! Queries: datasets, quotes and answers.

use mizan_api::dataset::{DatasetJson, DatasetsAnswer};
use mizan_api::failure::Failure;
use mizan_api::names::Names;
use mizan_api::query::{
    QueryAnswer, QueryRequest, QuoteAnswer, answered_json, bars, denied_json, quote_json,
};
use mizan_core::Code;
use mizan_engine::{EngineSet, QueryError, QueryOutcome, QueryService};
use mizan_ledger::RequestId;
use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use super::events::QueryEvent;
use crate::identity::{Caller, RequestRecord};
use crate::problem::Problem;

/// The longest `Idempotency-Key`.
const LONGEST_KEY: usize = 200;

/// An answer, and a chart if it has one estimate per row.
#[derive(Clone, Debug)]
pub struct QueryResult {
    /// The answer.
    pub answer: QueryAnswer,
    /// The chart.
    pub svg: Option<String>,
}

/// A request, and who made it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AskedJson)]
pub struct RequestRecordJson {
    /// The name of the token.
    pub by: String,
    /// When it was made first.
    pub time: String,
    /// The SQL, or the event.
    pub what: String,
    /// The requested epsilon.
    pub epsilon: Option<String>,
    /// The requested accuracy.
    pub accuracy: Option<String>,
}

impl Service {
    /// The datasets that a caller may see.
    ///
    /// # Errors
    ///
    /// The catalogue cannot be read.
    pub async fn datasets(&self, caller: &Caller) -> Result<DatasetsAnswer, Problem> {
        let (caller, owner) = (caller.clone(), is_owner(caller));
        self.with_ledger(move |service| {
            let catalogue = service.catalogue(&caller)?;
            let datasets = catalogue.datasets.values();
            Ok(DatasetsAnswer {
                datasets: datasets.map(|one| DatasetJson::of(one, owner)).collect(),
            })
        })
        .await
    }

    /// One dataset.
    ///
    /// # Errors
    ///
    /// The dataset does not exist, or the caller may not see it.
    pub async fn dataset(&self, caller: &Caller, name: &str) -> Result<DatasetJson, Problem> {
        let (caller, name, owner) = (caller.clone(), name.to_owned(), is_owner(caller));
        self.with_ledger(move |service| {
            let catalogue = service.catalogue(&caller)?;
            let found = catalogue.datasets.get(&name);
            let found = found.ok_or_else(|| Problem::not_found("this dataset"))?;
            Ok(DatasetJson::of(found, owner))
        })
        .await
    }

    /// The cost and the predicted error of a query. Reads no private data and charges
    /// nothing; the rows of public tables are counted.
    ///
    /// # Errors
    ///
    /// The query cannot be answered privately, or not with this target.
    pub async fn quote(
        &self,
        caller: &Caller,
        request: QueryRequest,
    ) -> Result<QuoteAnswer, Problem> {
        let spend_target = request.spend_target(Names::Program)?;
        let share = request.threshold_delta(Names::Program)?;
        let caller = caller.clone();
        self.price(move |service| {
            let (named, catalogue) = service.named_catalogue(&caller)?;
            let (_, sql) = mizan_sql::statement(&request.sql);
            let engine = service.engine()?;
            let query_service =
                QueryService::new(&service.0.ledger, &catalogue, &engine).threshold_delta(share);
            let quote = query_service
                .with_price_cache(&service.0.price_cache, named)
                .quote(sql, spend_target);
            service.put_back(engine);
            let quote = quote.map_err(|error| query_problem(&error, sql))?;
            Ok(quote_json(&quote))
        })
        .await
    }

    /// Runs a query: charges it first, then answers it with intervals and a receipt. A key
    /// makes it a charge of its own with fresh noise; the same key and query have the same
    /// answer forever.
    ///
    /// # Errors
    ///
    /// As for a quote; the budget refuses the charge; the key was used for another request.
    pub async fn query(
        &self,
        caller: &Caller,
        request: QueryRequest,
        key: Option<String>,
    ) -> Result<QueryResult, Problem> {
        let spend_target = request.spend_target(Names::Program)?;
        let share = request.threshold_delta(Names::Program)?;
        if mizan_sql::statement(&request.sql).0 {
            return Err(Problem::from(Failure::new(
                Code::MZ1803,
                "EXPLAIN PRIVACY asks for a quote, and this address charges for answers",
                "send it to /api/v1/quotes",
            )));
        }
        let name = key.as_deref().map(|key| key_of(caller, key)).transpose()?;
        let progress = Progress {
            service: self.clone(),
            name: caller.name.clone(),
            id: key.unwrap_or_default(),
        };
        progress.notify("waiting");
        let (service, caller) = (self.clone(), caller.clone());
        let work = move || {
            progress.notify("running");
            let result = service.answer(&caller, &request, (spend_target, share), name.as_deref());
            progress.notify(match &result {
                Ok(_) => "answered",
                Err(problem) if problem.refusal.is_some() => "refused",
                Err(_) => "failed",
            });
            result
        };
        let result = self.0.asking.run(work).await?;
        self.stop_if_fatal(result)
    }

    /// Answers a query, on a thread of the pool of queries.
    fn answer(
        &self,
        caller: &Caller,
        request: &QueryRequest,
        (spend_target, share): (mizan_engine::SpendTarget, Option<mizan_core::Delta>),
        name: Option<&str>,
    ) -> Result<QueryResult, Problem> {
        let (named, catalogue) = self.named_catalogue(caller)?;
        let sql = request.sql.as_str();
        let engine = self.engine()?;
        let query_service =
            QueryService::new(&self.0.ledger, &catalogue, &engine).threshold_delta(share);
        let query_service = query_service.with_price_cache(&self.0.price_cache, named);
        let outcome = query_service.query(sql, spend_target, name);
        // An engine whose query failed is not used again.
        if outcome.is_ok() {
            self.put_back(engine);
        }
        let outcome = outcome.map_err(|error| {
            if let QueryError::AfterCharge { id, .. } = &error {
                self.0.metrics.failed_after_charge(error.code());
                crate::log::failed_after_charge(error.code(), &id.to_string());
            }
            query_problem(&error, sql)
        })?;
        let text = |given: &Option<mizan_api::number::NumberInput>| {
            given.as_ref().map(|given| given.text().into_owned())
        };
        let (epsilon, accuracy) = (text(&request.epsilon), text(&request.accuracy));
        let record = RequestRecord::now(&caller.name, sql, epsilon, accuracy);
        let (id, result) = match &outcome {
            QueryOutcome::Answered(answered) => {
                let queried = QueryResult {
                    answer: answered_json(answered),
                    svg: bars(&answered.answer).map(|bars| bars.to_svg()),
                };
                (answered.done.id, Ok(queried))
            }
            QueryOutcome::Denied(denied) => {
                let refused = Problem::refused(&denied_json(denied));
                (denied.done.id, Err(refused))
            }
        };
        // Before the answer is sent, so that its receipt can be looked up.
        let recorded = self.0.identity.record_request(&id.to_string(), &record);
        if let Err(error) = recorded {
            // It is charged: a retry needs the same key.
            let mut problem = Problem::from(error);
            problem.charged = result.is_ok().then(|| id.to_string());
            return Err(problem);
        }
        result
    }

    /// An idle engine, or a new one.
    fn engine(&self) -> Result<EngineSet, Problem> {
        let mut engines = self
            .0
            .engines
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match engines.pop() {
            Some(engine) => Ok(engine),
            None => {
                let engines = match &self.0.limits.query_workers {
                    Some(workers) => EngineSet::in_workers(workers.program.clone(), workers.limits),
                    None => EngineSet::new(),
                };
                match engines {
                    Ok(engines) => Ok(engines.with_fan_outs(&self.0.fan_outs)),
                    Err(error) => Err(Failure::from(error).into()),
                }
            }
        }
    }

    fn put_back(&self, engine: EngineSet) {
        let mut engines = self
            .0
            .engines
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if engines.len()
            < self
                .0
                .limits
                .queries
                .saturating_add(self.0.limits.computing)
        {
            engines.push(engine);
        }
    }
}

/// Notifies the caller of the progress of a query.
struct Progress {
    service: Service,
    name: String,
    id: String,
}

impl Progress {
    fn notify(&self, state: &'static str) {
        let event = QueryEvent {
            id: self.id.clone(),
            state,
        };
        self.service.notify(&self.name, event);
    }
}

fn is_owner(caller: &Caller) -> bool {
    caller.role == crate::identity::Role::Owner
}

/// Why a query has no answer.
fn query_problem(error: &QueryError, sql: &str) -> Problem {
    Failure::of_query_error(error, sql).into()
}

/// The request name of an `Idempotency-Key`. A UUID is the id of the entry, for every
/// client. Other text belongs to the client, so that two clients may use the same text.
pub(super) fn key_of(caller: &Caller, key: &str) -> Result<String, Problem> {
    let visible = key.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if key.is_empty() || key.len() > LONGEST_KEY || !visible {
        return Err(Problem::malformed(
            "Idempotency-Key must have 1 to 200 visible ASCII characters",
        ));
    }
    let id = RequestId::from_text(key);
    let is_id = key.replace('-', "").eq_ignore_ascii_case(&id.to_string());
    Ok(match is_id {
        true => id.to_string(),
        false => format!("{}\n{key}", caller.name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Role, Scope};

    fn caller(name: &str) -> Caller {
        Caller {
            name: name.to_owned(),
            role: Role::Analyst,
            token: String::new(),
            scope: Scope::default(),
        }
    }

    #[test]
    fn a_key_belongs_to_its_client_unless_it_is_a_uuid() {
        let (amina, omar) = (caller("amina"), caller("omar"));
        let of = |caller: &Caller, key: &str| key_of(caller, key).unwrap();
        assert_ne!(of(&amina, "1"), of(&omar, "1"));
        assert_eq!(of(&amina, "1"), of(&amina, "1"));
        let uuid = "01020304-0506-0708-090A-0b0c0d0e0f10";
        assert_eq!(of(&amina, uuid), of(&omar, uuid));
        assert_eq!(of(&amina, uuid), "0102030405060708090a0b0c0d0e0f10");
        for bad in ["", "a\nb", "\u{e9}", &"x".repeat(201)] {
            assert!(key_of(&amina, bad).is_err());
        }
    }
}
