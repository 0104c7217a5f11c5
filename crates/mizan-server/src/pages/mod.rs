//! Pages for people. This is a stub: the pages come with their own files.

use axum::Router;

use crate::routes::Route;
use crate::service::Service;

/// The addresses of pages.
pub const ROUTES: &[Route] = &[];

/// What answers them.
pub fn router() -> Router<Service> {
    Router::new()
}
