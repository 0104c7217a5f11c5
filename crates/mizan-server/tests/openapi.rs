//! The OpenAPI document is complete, and its references resolve.

use std::collections::BTreeSet;

use mizan_server::routes::{API, Access, HttpMethod};
use serde_json::Value;

fn document() -> Value {
    serde_json::to_value(mizan_server::api::document()).unwrap()
}

#[test]
fn the_document_has_every_route_and_no_other() {
    let document = document();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut described = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            described.insert((path.clone(), method.clone()));
            let route = API.iter().find(|route| route.path == path).unwrap();
            let public = route.access == Access::Public;
            assert_eq!(operation["security"].is_null(), public, "{path}");
            assert!(operation["responses"]["200"].is_object(), "{path}");
            assert_eq!(operation["responses"]["401"].is_null(), public, "{path}");
        }
    }
    // The document and its page describe the other routes.
    let own = ["/api/openapi.json", "/api/reference"];
    let routes = API.iter().filter(|route| !own.contains(&route.path));
    let method = |verb: HttpMethod| match verb {
        HttpMethod::Get => "get".to_owned(),
        HttpMethod::Post => "post".to_owned(),
    };
    let routes: BTreeSet<_> = routes
        .map(|route| (route.path.to_owned(), method(route.method)))
        .collect();
    assert_eq!(described, routes);
}

#[test]
fn every_reference_resolves() {
    let document = document();
    let mut seen = 0;
    let mut left = vec![&document];
    while let Some(value) = left.pop() {
        match value {
            Value::Object(object) => {
                if let Some(Value::String(reference)) = object.get("$ref") {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(document.pointer(pointer).is_some(), "{reference}");
                    seen += 1;
                }
                left.extend(object.values());
            }
            Value::Array(array) => left.extend(array),
            _ => {}
        }
    }
    assert!(seen > 50, "{seen}");
}
