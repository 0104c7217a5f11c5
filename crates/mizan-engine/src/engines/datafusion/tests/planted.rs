//! Planted defects: the embedded engine without one of its protections. The failure audit finds
//! each defect, and finds nothing with the protection in place.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, StringViewArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use mizan_sql::{BoundedPlan, Catalogue, Dataset, Function, Type, Value};

use super::super::functions::{self, Does};
use super::super::values::Values;
use super::super::{DataFusion, Planted};
use crate::audit::failure::tests::seeds;
use crate::audit::failure::{
    Attack, AttackQuery, FailureAudit, Hunt, Target, World, capped_engine, on_files,
};
use crate::engine::{Engine, EngineError};
use crate::exact::Execution;
use crate::version::Version;

/// How many pairs suffice to find a defect.
const PAIRS: u64 = 160;

pub(super) fn hunt(engine: &impl Engine, only: Attack) -> FailureAudit {
    hunt_from(engine, only, 11)
}

fn hunt_from(engine: &impl Engine, only: Attack, seed: u64) -> FailureAudit {
    let folder = tempfile::tempdir().unwrap();
    let hunt = Hunt {
        folder: folder.path().to_str().unwrap(),
        pairs: PAIRS,
        only: Some(only),
    };
    let run = |world: &World, target: &Target, queries: &[AttackQuery]| {
        on_files(engine, world, target, queries)
    };
    hunt.run(&mut seeds(seed), run, |_| ()).unwrap()
}

/// In how many pairs exactly one side fails after the charge.
fn differing(audit: &FailureAudit) -> u64 {
    let differs = |found: &&crate::Violation| found.what.contains("a failure after the charge");
    audit.violations.iter().filter(differs).count() as u64
}

/// A planted defect causes different outcomes in at least `percent` of 100 pairs.
pub(super) fn is_found(audit: &FailureAudit, planted: &str, percent: u64) {
    let found = differing(audit);
    println!("{planted}: {found} of {} pairs", audit.pairs);
    assert!(
        found > 0 && 100 * found >= percent * audit.pairs,
        "{planted}: {audit:?}"
    );
}

pub(super) fn is_clean(attack: Attack) {
    let audit = hunt(&capped_engine().unwrap(), attack);
    assert!(audit.violations.is_empty(), "{:#?}", audit.violations);
    assert!(audit.failed.is_empty(), "{:#?}", audit.failed);
    assert!(audit.fallbacks.is_empty(), "{:#?}", audit.fallbacks);
}

/// A concatenation without a limit, with the name of ours.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Concat(Signature);

impl ScalarUDFImpl for Concat {
    fn name(&self) -> &'static str {
        "mizan_concat_text"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let parts = arguments.args.iter().map(|part| part.to_array(rows));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let parts = parts.iter().map(|part| Values::new(part));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let joined = (0..rows).map(|row| {
            let texts = parts.iter().map(|part| match part.get(row) {
                Value::Text(text) => Some(text),
                _ => None,
            });
            texts.collect::<Option<String>>()
        });
        let joined: StringViewArray = joined.collect();
        Ok(ColumnarValue::Array(Arc::new(joined)))
    }
}

/// The replacement of our concatenation in sessions.
fn concat_without_limit() -> ScalarUDF {
    let name = Does::Call(Function::Concat, Type::Text).name();
    assert_eq!(name, "mizan_concat_text");
    let signature = Signature::variadic_any(Volatility::Immutable);
    ScalarUDF::new_from_impl(Concat(signature))
}

/// The function of a planted defect, which replaces ours of the same name.
pub(in crate::engines::datafusion) fn function(planted: Planted) -> Option<ScalarUDF> {
    let name = match planted {
        Planted::FailingOperators | Planted::NoSlices => return None,
        Planted::NoTextLimit => return Some(concat_without_limit()),
        Planted::Fails(name) | Planted::Panics(name) => name,
    };
    let ours = functions::all()
        .into_iter()
        .find(|ours| ours.name() == name);
    let total = ours.unwrap_or_else(|| panic!("{name} is not a function"));
    Some(ScalarUDF::new_from_impl(Partial {
        total,
        panics: matches!(planted, Planted::Panics(_)),
    }))
}

/// A function that is not total: where ours returns NULL for non-NULL arguments, it fails or
/// panics.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Partial {
    total: ScalarUDF,
    panics: bool,
}

impl ScalarUDFImpl for Partial {
    fn name(&self) -> &str {
        self.total.name()
    }

    fn signature(&self) -> &Signature {
        self.total.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.total.return_type(arguments)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let given = arguments.args.iter().map(|given| given.to_array(rows));
        let given = given.collect::<Result<Vec<_>>>()?;
        let found = self.total.invoke_with_args(arguments)?;
        let array = found.to_array(rows)?;
        let undefined = (0..rows)
            .any(|row| array.is_null(row) && given.iter().all(|given| given.is_valid(row)));
        match undefined {
            false => Ok(found),
            true if self.panics => panic!("{} is not defined here", self.name()),
            true => exec_err!("{} is not defined here", self.name()),
        }
    }
}

/// Functions that fail or panic on one of the target's values. Few queries contain each of
/// them, so queries are generated until it is found.
#[test]
fn functions_that_are_not_total_are_found() {
    for planted in [
        Planted::Fails("mizan_cast_integer"),
        Planted::Fails("mizan_multiply_integer"),
        Planted::Panics("mizan_cast_integer"),
        Planted::Panics("mizan_multiply_integer"),
    ] {
        let mut engine = capped_engine().unwrap();
        engine.planted = Some(planted);
        let mut pairs = 0;
        let found = (11..31).any(|seed| {
            let audit = hunt_from(&engine, Attack::Overflow, seed);
            pairs += audit.pairs;
            differing(&audit) > 0
        });
        println!("{planted:?}: found within {pairs} pairs");
        assert!(found, "{planted:?}");
    }
    is_clean(Attack::Overflow);
}

/// The memory of an aggregate over a row joined with a public table is not bounded before the
/// charge: it may be exhausted, but nothing else may happen.
#[test]
fn held_texts_fail_for_want_of_memory_only() {
    let audit = hunt(&capped_engine().unwrap(), Attack::HeldTexts);
    let (pairs, found) = (audit.pairs, differing(&audit));
    println!("held texts: {found} of {pairs} pairs differ");
    let memory = format!(
        "a failure after the charge ({})",
        EngineError::OutOfMemory.code()
    );
    for found in audit.violations.iter().chain(&audit.failed) {
        assert!(found.what.contains(&memory), "{found:?}");
    }
}

/// Concatenations without a limit.
#[test]
fn texts_without_a_limit_are_found() {
    let mut engine = capped_engine().unwrap();
    engine.planted = Some(Planted::NoTextLimit);
    is_found(&hunt(&engine, Attack::TextGrowth), "no text limit", 3);
    is_clean(Attack::TextGrowth);
}

/// Batches that are not cut before texts are computed.
#[test]
fn texts_after_joins_without_slices_are_found() {
    let mut engine = capped_engine().unwrap();
    engine.planted = Some(Planted::NoSlices);
    // Few worlds have a long text and many public rows, so worlds are generated until one has.
    let mut pairs = 0;
    let found = (11..31).any(|seed| {
        let audit = hunt_from(&engine, Attack::JoinedTexts, seed);
        pairs += audit.pairs;
        differing(&audit) > 0
    });
    println!("no slices: found within {pairs} pairs");
    assert!(found, "{pairs} pairs");
    is_clean(Attack::JoinedTexts);
}

/// The engine without fan-out limits.
struct NoJoinBound(DataFusion);

impl Engine for NoJoinBound {
    fn check_joins(&self, _: &BoundedPlan, _: &Catalogue) -> Result<(), EngineError> {
        Ok(())
    }

    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError> {
        self.0.version(dataset)
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: [u8; 16],
    ) -> Result<Execution, EngineError> {
        self.0.run(plan, catalogue, versions, salt)
    }
}

#[test]
fn joins_without_a_bound_are_found() {
    let engine = NoJoinBound(capped_engine().unwrap());
    is_found(&hunt(&engine, Attack::Join), "no join bound", 10);
    is_clean(Attack::Join);
}
