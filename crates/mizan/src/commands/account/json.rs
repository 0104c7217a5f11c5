//! The answer as JSON, with the keys of the contract.

use mizan_accounting::AtOrder;
use serde_json::{Map, Value, json};

use super::{Answer, Question, Solved};
use crate::output::{json_number, json_order};

pub(super) fn write(answer: &Answer) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("expression", json!(answer.expression));
    if let Some(solved) = &answer.solved {
        let (given, asked) = match solved.question {
            Question::EpsilonAt(delta) => (("delta", delta.shown), "epsilon"),
            Question::DeltaAt(epsilon) => (("epsilon", epsilon.shown), "delta"),
        };
        put(given.0, json_number(given.1));
        put(
            asked,
            json!({
                "upper": json_number(solved.best.upper),
                "lower": solved.account.lower().map(json_number),
                "method": solved.best.method.name(),
            }),
        );
        put("methods", methods(solved));
        put("refused", refused(solved));
        put(
            "conversions",
            solved.conversions.iter().map(at_order).collect(),
        );
        put("grids", solved.grids.iter().map(at_order).collect());
        if let Some(why) = &solved.why {
            put("why", why.json());
        }
    }
    if let Some(report) = &answer.report {
        let vector = report.iter().map(|at| {
            json!({"order": json_order(at.order.get()), "epsilon": json_number(at.bound.get())})
        });
        put("report", vector.collect());
        put("report_event", json!(super::text::report_event(report)));
    }
    if let Some(profile) = &answer.profile {
        for (key, value) in profile.json() {
            put(key, value);
        }
    }
    put("warnings", json!(answer.warnings));
    Value::Object(object)
}

fn methods(solved: &Solved) -> Value {
    let method = |bound: &mizan_accounting::account::MethodBound<f64>| {
        json!({
            "name": bound.method.name(),
            "upper": json_number(bound.upper),
            "lower": bound.lower.map(json_number),
            "order": bound.order.map(|order| json_order(order.get())),
        })
    };
    solved.account.bounds.iter().map(method).collect()
}

fn refused(solved: &Solved) -> Value {
    let refusals = solved.account.refusals.iter();
    refusals
        .map(|(method, why)| json!({"name": method.name(), "code": why.code(), "reason": why.to_string()}))
        .collect()
}

fn at_order((name, at): &(&str, AtOrder<f64>)) -> Value {
    json!({"name": name, "upper": json_number(at.bound), "order": json_order(at.order.get())})
}
