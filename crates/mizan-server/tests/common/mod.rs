//! A server with two tenants.
#![allow(dead_code, reason = "the benchmark uses a part")]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use mizan_core::{Delta, Epsilon};
use mizan_ledger::{AccountName, Budget, Ledger, Location, NewAccount, Orders};
use mizan_server::identity::{Identity, NewToken, Role, Scope};
use mizan_server::limits::Limits;
use mizan_server::{Options, Service};
use mizan_test_support::http::Client;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A server on a port of its own.
pub(crate) struct World {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) identity: Identity,
    pub(crate) service: Service,
    serving: Option<JoinHandle<()>>,
    runtime: Option<Runtime>,
}

/// Limits that tests do not reach.
pub(crate) fn wide() -> Limits {
    Limits {
        rate: 1e6,
        burst: 1e6,
        in_flight: 1000,
        ..Limits::default()
    }
}

/// A ledger with budgets `visits`, `payroll` and `small`, two private datasets and
/// one public one.
pub(crate) fn furnish(directory: &Path) {
    let location = Location::from(directory.join("mizan.db"));
    let ledger = Ledger::init(&location, &directory.join("state")).unwrap();
    for (name, epsilon) in [("visits", 50.0), ("payroll", 3.0), ("small", 0.1)] {
        let (orders, delta) = (Orders::standard(), Delta::new(1e-6).unwrap());
        let own_delta = Budget::usual_reserved_delta(delta);
        let epsilon = Epsilon::new(epsilon).unwrap();
        let account = NewAccount {
            name: AccountName::new(name).unwrap(),
            parent: None,
            budget: Budget::approximate(epsilon, delta, own_delta, Budget::usual_clock(), &orders)
                .unwrap(),
            orders,
        };
        ledger.create_account(None, account).unwrap();
    }
    ledger.close().unwrap();
    let mut visits = "person,ward,cost\n".to_owned();
    let mut payroll = "person,salary\n".to_owned();
    for person in 0..400 {
        let ward = ["north", "south", "east"][person % 3];
        visits.push_str(&format!("{person},{ward},{}\n", person % 100));
        payroll.push_str(&format!("{person},{}\n", 1000 + person));
    }
    std::fs::write(directory.join("visits.csv"), visits).unwrap();
    std::fs::write(directory.join("payroll.csv"), payroll).unwrap();
    let column = |name: &str, kind: &str| serde_json::json!({"name": name, "type": kind, "bounds": null, "unit_bounds": null, "keys": null});
    let mut cost = column("cost", "number");
    cost["bounds"] = serde_json::json!([0, 100]);
    let mut ward = column("ward", "text");
    ward["keys"] = serde_json::json!(["north", "south", "east"]);
    let mut salary = column("salary", "number");
    salary["bounds"] = serde_json::json!([0, 5000]);
    let privacy = |account: &str| serde_json::json!({"unit": ["person"], "account": account, "rows_per_unit": 1, "groups_per_unit": 1});
    let source = |name: &str| directory.join(name).display().to_string();
    let catalogue = serde_json::json!({"mizan_catalogue": 1, "datasets": [
        {"name": "payroll", "source": source("payroll.csv"), "privacy": privacy("payroll"),
         "columns": [column("person", "integer"), salary]},
        {"name": "visits", "source": source("visits.csv"), "privacy": privacy("visits"),
         "columns": [column("person", "integer"), ward, cost]},
    ]});
    std::fs::write(directory.join("mizan.datasets.json"), catalogue.to_string()).unwrap();
}

/// The options of its service.
pub(crate) fn options(directory: &Path, limits: Limits) -> Options {
    Options {
        ledger: Location::from(directory.join("mizan.db")),
        state_dir: directory.join("state"),
        catalogue: directory.join("mizan.datasets.json"),
        tokens: directory.join("mizan.tokens.db"),
        limits,
        secure: false,
    }
}

impl World {
    pub(crate) fn new(limits: Limits) -> Self {
        Self::over(limits, None)
    }

    /// The same, with TLS if there is an acceptor.
    pub(crate) fn over(limits: Limits, acceptor: Option<TlsAcceptor>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        furnish(directory.path());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_stack_size(16 << 20)
            .build()
            .unwrap();
        let options = Options {
            secure: acceptor.is_some(),
            ..options(directory.path(), limits)
        };
        let identity = Identity::open(&options.tokens).unwrap();
        let (service, address, serving) = runtime.block_on(async {
            let service = Service::open(options).unwrap();
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let serving = mizan_server::serve::accept(listener, acceptor, service.clone());
            let serving = tokio::spawn(serving);
            (service, address, serving)
        });
        Self {
            directory,
            address,
            identity,
            service,
            serving: Some(serving),
            runtime: Some(runtime),
        }
    }

    /// A token of a tenant: `visits` or `payroll`.
    pub(crate) fn token(&self, role: Role, tenant: &str) -> String {
        self.token_until(role, tenant, None)
    }

    pub(crate) fn token_until(&self, role: Role, tenant: &str, expires_ms: Option<u64>) -> String {
        let new = NewToken {
            name: format!("{role}-{tenant}"),
            role,
            scope: Scope {
                datasets: Some(vec![tenant.to_owned()]),
                accounts: Some(vec![tenant.to_owned(), "small".to_owned()]),
            },
            expires_ms,
        };
        self.identity.create(new).unwrap().1.reveal().to_owned()
    }

    pub(crate) fn client(&self, role: Role) -> Client {
        Client::new(self.address, Some(&self.token(role, "visits")))
    }

    pub(crate) fn anybody(&self) -> Client {
        Client::new(self.address, None)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Stops the server and waits for it.
    pub(crate) fn stop(&mut self) {
        self.service.stop();
        let runtime = self.runtime.as_ref().unwrap();
        if let Some(serving) = self.serving.take() {
            runtime.block_on(async {
                serving.await.unwrap();
                self.service.finish().await;
            });
        }
    }

    /// The ledger, opened a second time.
    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::read(&Location::from(self.path("mizan.db"))).unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.service.stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(std::time::Duration::from_secs(5));
        }
    }
}
