//! The pages of the server, in English and Arabic.
//!
//! One file per page. `visitor.rs` has the caller, language and theme of a request,
//! `frame.rs` the layout, `assets.rs` the style sheet and the scripts, `numbers.rs` the
//! format of numbers. Pages call the service as the API does and decide nothing themselves.
//! All pages work without scripts; scripts fetch parts of the same pages again.

mod ask;
mod assets;
mod audit;
mod budgets;
mod figures;
mod frame;
mod laboratory;
mod numbers;
mod preferences;
mod problems;
mod read;
mod receipts;
mod sign_in;
mod visitor;

use axum::Router;
use axum::routing::{get, post};

pub use problems::problem_page;

use crate::identity::Role;
use crate::routes::{Access, HttpMethod, Route};
use crate::service::Service;

const ALL: Access = Access::Page(&Role::ALL);
const ASKS: Access = Access::Page(&[Role::Owner, Role::Analyst]);
const READS: Access = Access::Page(&[Role::Owner, Role::Auditor]);

const fn route(method: HttpMethod, path: &'static str, access: Access) -> Route {
    Route {
        method,
        path,
        access,
    }
}

/// The routes of pages.
pub const ROUTES: &[Route] = &[
    route(HttpMethod::Get, "/", Access::Public),
    route(HttpMethod::Get, "/assets/{version}/{file}", Access::Public),
    route(HttpMethod::Get, "/language", Access::Public),
    route(HttpMethod::Get, "/theme", Access::Public),
    route(HttpMethod::Get, "/sign-in", Access::Public),
    route(HttpMethod::Post, "/sign-in", Access::Public),
    route(HttpMethod::Post, "/sign-out", ALL),
    route(HttpMethod::Get, "/budgets", ALL),
    route(HttpMethod::Get, "/budgets/{name}", ALL),
    route(HttpMethod::Get, "/budgets/{name}/row", ALL),
    route(HttpMethod::Get, "/ask", ASKS),
    route(HttpMethod::Post, "/ask", ASKS),
    route(HttpMethod::Post, "/ask/quote", ASKS),
    route(HttpMethod::Get, "/receipts", ALL),
    route(HttpMethod::Get, "/receipts/{id}", ALL),
    route(HttpMethod::Get, "/laboratory", ALL),
    route(HttpMethod::Get, "/laboratory/{part}", ALL),
    route(HttpMethod::Get, "/laboratory/figures/{number}", ALL),
    route(HttpMethod::Get, "/audit", READS),
    route(HttpMethod::Post, "/audit/verify", READS),
    route(HttpMethod::Post, "/audit/self-tests", READS),
];

/// The handlers of pages.
pub fn router() -> Router<Service> {
    Router::new()
        .route("/", get(preferences::home))
        .route("/assets/{version}/{file}", get(assets::serve))
        .route("/language", get(preferences::language))
        .route("/theme", get(preferences::theme))
        .route("/sign-in", get(sign_in::show).post(sign_in::sign_in))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/budgets", get(budgets::list))
        .route("/budgets/{name}", get(budgets::one))
        .route("/budgets/{name}/row", get(budgets::row))
        .route("/ask", get(ask::show).post(ask::ask))
        .route("/ask/quote", post(ask::quote))
        .route("/receipts", get(receipts::list))
        .route("/receipts/{id}", get(receipts::one))
        .route("/laboratory", get(laboratory::show))
        .route("/laboratory/{part}", get(laboratory::part))
        .route("/laboratory/figures/{number}", get(figures::show))
        .route("/audit", get(audit::show))
        .route("/audit/verify", post(audit::verify))
        .route("/audit/self-tests", post(audit::self_tests))
}
