//! Every address of the server, and who may ask it.
//!
//! The table decides: `access.rs` looks every request up in it, and what is not in
//! it is not answered. A test goes through it with every role; another compares it
//! with the OpenAPI document.

use axum::http::Method;

use crate::identity::Role;

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody.
    Public,
    /// These roles, with a token or a session. Others are told why not.
    Roles(&'static [Role]),
    /// The same for a page: who is not signed in is led to where they can.
    Page(&'static [Role]),
}

/// An address.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// How it is asked.
    pub method: Verb,
    /// Where, as axum matches it.
    pub path: &'static str,
    /// By whom.
    pub access: Access,
}

/// How an address is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// To read.
    Get,
    /// To compute, or to change something.
    Post,
}

impl Verb {
    /// Whether it is this method; whoever may read may ask for the headers alone.
    #[must_use]
    pub fn is(self, method: &Method) -> bool {
        match self {
            Self::Get => method == Method::GET || method == Method::HEAD,
            Self::Post => method == Method::POST,
        }
    }
}

const ALL: Access = Access::Roles(&Role::ALL);
const READS: Access = Access::Roles(&[Role::Owner, Role::Auditor]);
const SEES_DATASETS: Access = Access::Roles(&[Role::Owner, Role::Analyst, Role::Auditor]);
const ASKS: Access = Access::Roles(&[Role::Owner, Role::Analyst]);
const CHARGES: Access = Access::Roles(&[Role::Owner, Role::Runner]);

const fn get(path: &'static str, access: Access) -> Route {
    Route {
        method: Verb::Get,
        path,
        access,
    }
}

const fn post(path: &'static str, access: Access) -> Route {
    Route {
        method: Verb::Post,
        path,
        access,
    }
}

/// The addresses for programs.
pub const API: &[Route] = &[
    get("/healthz", Access::Public),
    get("/readyz", Access::Public),
    get("/metrics", READS),
    get("/api/openapi.json", Access::Public),
    get("/api/reference", Access::Public),
    get("/api/v1/datasets", SEES_DATASETS),
    get("/api/v1/datasets/{name}", SEES_DATASETS),
    post("/api/v1/quotes", ASKS),
    post("/api/v1/queries", ASKS),
    get("/api/v1/budgets", ALL),
    get("/api/v1/budgets/{name}", ALL),
    post("/api/v1/spends", CHARGES),
    get("/api/v1/receipts/{id}", ALL),
    get("/api/v1/ledger/log", READS),
    get("/api/v1/ledger/checkpoint", ALL),
    get("/api/v1/ledger/proofs/inclusion", READS),
    get("/api/v1/ledger/proofs/consistency", ALL),
    post("/api/v1/ledger/verify", READS),
    post("/api/v1/account", ALL),
    post("/api/v1/curve", ALL),
    post("/api/v1/risk", ALL),
    post("/api/v1/calibrate", ALL),
    post("/api/v1/group", ALL),
    post("/api/v1/divergence", ALL),
    get("/api/v1/events", ALL),
];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Route> {
    API.iter().chain(crate::pages::ROUTES)
}

/// The address that a request was matched to.
#[must_use]
pub fn find(method: &Method, path: &str) -> Option<&'static Route> {
    all().find(|route| route.path == path && route.method.is(method))
}
