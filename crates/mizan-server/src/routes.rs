//! Every route of the server, and the roles that may use it.
//!
//! `access.rs` looks up every request in this table and answers nothing else. A test tries
//! each route with each role; another compares the table with the OpenAPI document.

use axum::http::Method;

use crate::identity::Role;

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Every client, without a token.
    Public,
    /// These roles, with a token or a session. Others get a problem.
    Roles(&'static [Role]),
    /// The same for a page: a visitor who is not signed in is redirected to the sign-in page.
    Page(&'static [Role]),
}

/// A route.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Its method.
    pub method: HttpMethod,
    /// Its path, as axum matches it.
    pub path: &'static str,
    /// Who may use it.
    pub access: Access,
}

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    /// Reads.
    Get,
    /// Computes, or changes something.
    Post,
}

impl HttpMethod {
    /// Whether it is this method; HEAD is allowed where GET is.
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
        method: HttpMethod::Get,
        path,
        access,
    }
}

const fn post(path: &'static str, access: Access) -> Route {
    Route {
        method: HttpMethod::Post,
        path,
        access,
    }
}

/// The routes of the API.
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

/// All routes.
pub fn all() -> impl Iterator<Item = &'static Route> {
    API.iter().chain(crate::pages::ROUTES)
}

/// The route of a request.
#[must_use]
pub fn find(method: &Method, path: &str) -> Option<&'static Route> {
    all().find(|route| route.path == path && route.method.is(method))
}
