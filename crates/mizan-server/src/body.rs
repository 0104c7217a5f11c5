//! Request bodies: the expected media type, within the limits of size and time.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

use crate::problem::Problem;
use crate::service::Service;

/// A JSON body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Service> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Service) -> Result<Self, Problem> {
        if !is(request.headers(), "application/json") {
            return Err(Problem::media_type());
        }
        let bytes = read(request, service).await?;
        match serde_json::from_slice(&bytes) {
            Ok(value) => Ok(Self(value)),
            Err(error) => Err(Problem::malformed(&error.to_string())),
        }
    }
}

/// Whether a body is declared to have this media type.
pub(crate) fn is(headers: &HeaderMap, wanted: &str) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    kind.eq_ignore_ascii_case(wanted)
}

/// The whole body, within the limits.
pub(crate) async fn read(request: Request, service: &Service) -> Result<Bytes, Problem> {
    let limits = service.limits();
    let most = limits.body_bytes;
    let declared = request.headers().get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|bytes| bytes > most) {
        return Err(Problem::too_large(most));
    }
    let read = axum::body::to_bytes(request.into_body(), most);
    match tokio::time::timeout(limits.body_time, read).await {
        Err(_) => Err(Problem::too_slow()),
        // Too large; or the client is gone and does not read this.
        Ok(Err(_)) => Err(Problem::too_large(most)),
        Ok(Ok(bytes)) => Ok(bytes),
    }
}
