//! Refusals before the charge, and clients that are rejected.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ballista_core::serde::protobuf::GetJobStatusParams;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use datafusion::datasource::MemTable;
use tonic::transport::Endpoint;

use super::super::probe::{FileLocation, files, not_seen};
use super::super::session::Session;
use super::super::{AGENT, Tables};
use super::cluster::{Cluster, run};
use crate::engine::Engine as _;
use crate::engines::generate::Rng;
use crate::engines::test_queries;

#[test]
fn only_this_version_is_served() {
    let cluster = Cluster::of(0);
    let url = cluster.scheduler.address.url();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let ask = |agent: &'static str| {
        let endpoint = Endpoint::from_shared(url.clone()).unwrap();
        let endpoint = endpoint.user_agent(agent).unwrap();
        runtime.block_on(async {
            let mut client = SchedulerGrpcClient::new(endpoint.connect().await.unwrap());
            let job_id = "none".to_owned();
            client.get_job_status(GetJobStatusParams { job_id }).await
        })
    };
    for agent in ["mizan/9.9.9", "ballista", "mizan"] {
        let refusal = ask(agent).unwrap_err();
        assert_eq!(refusal.code(), tonic::Code::FailedPrecondition, "{agent}");
        assert!(refusal.message().contains("mizan"), "{refusal}");
    }
    assert!(ask(AGENT).is_ok());
}

#[test]
fn a_query_needs_a_scheduler_and_executors() {
    let cluster = Cluster::of(0);
    let mut catalogue = test_queries::catalogue();
    let data = test_queries::data(&mut Rng::new(1));
    cluster.fill("few", &mut catalogue, &data, || 1);
    let plan = mizan_sql::plan("SELECT COUNT(*) FROM visits", &catalogue).unwrap();
    let error = run(&cluster.engine(), &plan, &catalogue, [0; 16]).unwrap_err();
    assert_eq!(error.code(), "MZ1927");
    let engine = cluster.engine();
    let Cluster {
        scheduler,
        directory,
        ..
    } = cluster;
    drop(scheduler);
    let error = engine.prepare(&plan, &catalogue).unwrap_err();
    assert_eq!(error.code(), "MZ1925");
    drop(directory);
}

/// Tables in the memory of this process cannot be sent.
#[test]
fn tables_that_cannot_be_sent_are_refused() {
    let closed = "127.0.0.1:1".parse().unwrap();
    let session = Session::new(&closed, 2).unwrap();
    let batch = test_queries::batch(&test_queries::catalogue().datasets["visits"], &Vec::new());
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).unwrap();
    session.register("here", Arc::new(table)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let plan = |text: &str| runtime.block_on(session.plan(text));
    assert_eq!(plan("SELECT 1 AS n"), Ok(()));
    let refusal = plan("SELECT COUNT(*) AS n FROM here GROUP BY person").unwrap_err();
    assert_eq!(refusal.code(), "MZ1930");
    assert!(refusal.to_string().contains("Ballista"), "{refusal}");
}

/// Executors see other files than this machine. (All run on this machine, so the test changes
/// files before the probe.)
#[test]
fn files_that_executors_do_not_see_are_named() {
    let cluster = Cluster::of(2);
    let mut catalogue = test_queries::catalogue();
    let data = test_queries::data(&mut Rng::new(1));
    cluster.fill("few", &mut catalogue, &data, || 3);
    let plan = mizan_sql::plan("SELECT COUNT(*) FROM visits", &catalogue).unwrap();
    let engine = cluster.engine();
    engine.prepare(&plan, &catalogue).unwrap();
    let directory = cluster.path("few/visits").canonicalize().unwrap();
    let second = directory.join("1.parquet");
    let after = |change: &dyn Fn()| {
        let places = [FileLocation::now(directory.clone(), &files(&directory))];
        change();
        engine.on_cluster(&Tables::new(), |session, _| async move {
            not_seen(&session, &places).await
        })
    };
    assert_eq!(after(&|| ()), Ok(None));
    let earlier = SystemTime::now() - Duration::from_secs(100);
    let open = || File::options().write(true).open(&second).unwrap();
    let changed = after(&|| open().set_modified(earlier).unwrap());
    assert_eq!(changed, Ok(Some(second.clone())));
    let gone = after(&|| std::fs::remove_file(&second).unwrap());
    assert_eq!(gone, Ok(Some(second.clone())));
}
