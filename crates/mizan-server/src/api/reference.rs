//! The API reference: the OpenAPI document as a page, without scripts or other files.

use std::fmt::Write as _;
use std::sync::OnceLock;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use serde_json::Value;

use super::openapi;
use crate::service::Service;

const STYLE: &str = "
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-inline-size: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
h2 { margin-block-start: 2.5rem; border-block-end: 1px solid; }
h3 code { font-size: 1.1em; }
table { border-collapse: collapse; margin-block: 0.5rem; }
td, th { text-align: start; vertical-align: top; padding: 0.15rem 1rem 0.15rem 0; }
details { margin-block: 0.3rem; }
pre { overflow-x: auto; padding: 0.5rem; border: 1px solid; border-radius: 0.3rem; }
@media (max-width: 40rem) { tr { display: flex; flex-wrap: wrap; margin-block-end: 0.4rem; } }
";

pub(super) fn router() -> Router<Service> {
    Router::new().route("/api/reference", get(reference))
}

async fn reference() -> impl IntoResponse {
    static PAGE: OnceLock<(String, String)> = OnceLock::new();
    let (page, policy) = PAGE.get_or_init(|| {
        let document = serde_json::from_str(openapi::text()).unwrap_or(Value::Null);
        (page(&document), policy())
    });
    let policy = HeaderValue::from_str(policy);
    let policy = policy.unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"));
    // `access.rs` keeps a policy that is set already.
    (
        [(header::CONTENT_SECURITY_POLICY, policy)],
        Html(page.as_str()),
    )
}

/// A policy that allows this style only.
fn policy() -> String {
    use sha2::Digest as _;
    let digest: [u8; 32] = sha2::Sha256::digest(STYLE.as_bytes()).into();
    format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; frame-ancestors 'none'",
        base64(&digest)
    )
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) & 63;
            let digit = DIGITS.get(digit as usize).copied().unwrap_or(b'A');
            text.push(if place <= chunk.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    text
}

fn page(document: &Value) -> String {
    let mut body = String::new();
    let text = |value: &Value| escaped(value.as_str().unwrap_or(""));
    let _ = write!(
        body,
        "<h1>{} {}</h1><p>{}</p><p>The same for programs: <a href=\"/api/openapi.json\">openapi.json</a>. \
         Send <code>Authorization: Bearer mizan_...</code>.</p>",
        text(at(document, "/info/title")),
        text(at(document, "/info/version")),
        text(at(document, "/info/description")),
    );
    let nothing = Vec::new();
    let tags = document["tags"].as_array().unwrap_or(&nothing);
    for tag in tags {
        let _ = write!(
            body,
            "<h2 id=\"{0}\">{0}</h2><p>{1}</p>",
            text(&tag["name"]),
            text(&tag["description"])
        );
        for (path, operations) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in operations.as_object().into_iter().flatten() {
                if *at(operation, "/tags/0") == tag["name"] {
                    operation_text(&mut body, document, path, method, operation);
                }
            }
        }
    }
    body.push_str("<h2 id=\"types\">types</h2>");
    for (name, schema) in at(document, "/components/schemas")
        .as_object()
        .into_iter()
        .flatten()
    {
        let _ = write!(
            body,
            "<details id=\"{0}\"><summary><code>{0}</code> {1}</summary>{2}</details>",
            escaped(name),
            text(&schema["description"]),
            fields(schema)
        );
    }
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Mizan: reference</title>\
         <style>{STYLE}</style></head><body>{body}</body></html>"
    )
}

/// The value at a place of the document, or null.
fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

fn operation_text(
    body: &mut String,
    document: &Value,
    path: &str,
    method: &str,
    operation: &Value,
) {
    let description = operation["description"].as_str();
    let description = description
        .or_else(|| operation["summary"].as_str())
        .unwrap_or("");
    let _ = write!(
        body,
        "<h3><code>{} {}</code></h3><p>{}</p>",
        escaped(&method.to_uppercase()),
        escaped(path),
        escaped(description)
    );
    let nothing = Vec::new();
    let parameters = operation["parameters"].as_array().unwrap_or(&nothing);
    if !parameters.is_empty() {
        body.push_str("<table>");
        for parameter in parameters {
            let text = |key: &str| escaped(parameter[key].as_str().unwrap_or(""));
            let needed = if parameter["required"] == true {
                ""
            } else {
                "may be left out"
            };
            let _ = write!(
                body,
                "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{needed}</td></tr>",
                text("name"),
                text("in"),
                text("description")
            );
        }
        body.push_str("</table>");
    }
    let sent = at(operation, "/requestBody/content/application~1json/schema");
    if let Some(name) = named(sent) {
        let example = at(document, &format!("/components/schemas/{name}/example"));
        let _ = write!(body, "<p>Send {}", link(name));
        if !example.is_null() {
            let _ = write!(
                body,
                ", such as</p><pre>{}</pre>",
                escaped(&example.to_string())
            );
        } else {
            body.push_str("</p>");
        }
    }
    body.push_str("<table>");
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let contents = response["content"].as_object();
        let content = contents.and_then(|contents| contents.values().next());
        let kind = content
            .and_then(|content| named(&content["schema"]))
            .map(link);
        let _ = write!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(status),
            escaped(response["description"].as_str().unwrap_or("")),
            kind.unwrap_or_default()
        );
    }
    body.push_str("</table>");
}

/// The fields of a type.
fn fields(schema: &Value) -> String {
    let mut rows = String::new();
    let parts = schema["allOf"].as_array();
    let parts = parts.map_or_else(|| vec![schema], |parts| parts.iter().collect());
    for part in parts {
        if let Some(name) = named(part) {
            let _ = write!(rows, "<tr><td>all of</td><td>{}</td></tr>", link(name));
        }
        for (name, field) in part["properties"].as_object().into_iter().flatten() {
            let _ = write!(
                rows,
                "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
                escaped(name),
                kind(field),
                escaped(field["description"].as_str().unwrap_or(""))
            );
        }
    }
    if rows.is_empty() {
        return format!("<p>{}</p>", kind(schema));
    }
    format!("<table>{rows}</table>")
}

/// The type of a field.
fn kind(schema: &Value) -> String {
    if let Some(name) = named(schema) {
        return link(name);
    }
    let several = schema["oneOf"]
        .as_array()
        .or_else(|| schema["anyOf"].as_array());
    if let Some(several) = several {
        let all: Vec<String> = several.iter().map(kind).collect();
        return all.join(" or ");
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(name) => escaped(name),
        Value::Array(names) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            let names = names.join(" or ");
            match &schema["items"] {
                Value::Null => escaped(&names),
                items => format!("{} of {}", escaped(&names), kind(items)),
            }
        }
        _ => "anything".to_owned(),
    }
}

/// The type that a schema refers to.
fn named(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

fn link(name: &str) -> String {
    let name = escaped(name);
    format!("<a href=\"#{name}\"><code>{name}</code></a>")
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_on_the_page() {
        let document = serde_json::from_str(openapi::text()).unwrap();
        let page = page(&document);
        for route in crate::routes::API {
            if !route.path.starts_with("/api/openapi") && !route.path.starts_with("/api/reference")
            {
                assert!(page.contains(route.path), "{}", route.path);
            }
        }
        assert!(!page.contains("<script"));
    }

    #[test]
    fn base64_as_everybody_writes_it() {
        assert_eq!(base64(b"Man"), "TWFu");
        assert_eq!(base64(b"Ma"), "TWE=");
        assert_eq!(base64(b"M"), "TQ==");
    }

    #[test]
    fn nothing_of_the_document_is_markup() {
        assert_eq!(escaped("<a & 'b'>"), "&lt;a &amp; &#39;b&#39;&gt;");
    }
}
