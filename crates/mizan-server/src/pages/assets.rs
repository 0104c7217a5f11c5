//! The style sheet, the scripts and the icon: part of the program, with addresses that
//! browsers may cache forever.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

/// Name, media type and text of each file.
const ALL: &[(&str, &str, &str)] = &[
    ("page.css", CSS, include_str!("../../assets/page.css")),
    ("mark.svg", SVG, include_str!("../../assets/mark.svg")),
    ("page.js", JS, include_str!("../../assets/page.js")),
    ("ask.js", JS, include_str!("../../assets/ask.js")),
    ("audit.js", JS, include_str!("../../assets/audit.js")),
    ("budgets.js", JS, include_str!("../../assets/budgets.js")),
    ("figure.js", JS, include_str!("../../assets/figure.js")),
    (
        "laboratory.js",
        JS,
        include_str!("../../assets/laboratory.js"),
    ),
    ("merkle.js", JS, include_str!("../../assets/merkle.js")),
    ("receipt.js", JS, include_str!("../../assets/receipt.js")),
];

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// The hash of all files, which is part of their addresses: scripts import each other by
/// relative addresses, so all are of one version.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for (name, _, text) in ALL {
        hash.update(name);
        hash.update([0]);
        hash.update(text);
        hash.update([0]);
    }
    let hash = hash.finalize();
    hash.iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
});

/// The address of a file.
pub(super) fn address(file: &str) -> String {
    format!("/assets/{}/{file}", *VERSION)
}

/// Sends a file.
pub(super) async fn serve(Path((version, file)): Path<(String, String)>) -> Response {
    let found = ALL.iter().find(|(name, ..)| *name == file);
    let Some((_, kind, text)) = found.filter(|_| version == *VERSION) else {
        return (StatusCode::NOT_FOUND, "not found").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (
            header::CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=31536000, immutable"),
        ),
    ];
    (headers, *text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_assets_together_are_small() {
        let bytes: usize = ALL.iter().map(|(_, _, text)| text.len()).sum();
        assert!(bytes < 120_000, "{bytes}");
    }

    #[test]
    fn imported_scripts_exist() {
        for (name, _, text) in ALL.iter().filter(|(_, kind, _)| *kind == JS) {
            for part in text.split("from './").skip(1) {
                let file = part.split('\'').next().unwrap();
                assert!(
                    ALL.iter().any(|(known, ..)| *known == file),
                    "{name}: {file}"
                );
            }
        }
    }
}
