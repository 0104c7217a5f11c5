//! L2 clipping as SQL: S3 and S4 of sums, over a query with one row for each unit and group.
//!
//! Everything but the factor is computed in 64-bit integers. Some engines add these up in wider
//! types, so sums stay below 2⁶³. Integer division rounds towards zero. Doubles are rounded as
//! in [`Clip::factor`], so every engine computes the same factors.

use mizan_sql::clip::{self, Clip, ONE, STEPS};

use crate::unit_aggregation::Contribution;

/// The totals of clipped contributions: the expression summed for each of them, and the query
/// that they are summed over.
///
/// In the query `from`, `values` are the contributions and `units` the columns of the unit;
/// `dividend` is [`Clip::dividend`] as SQL.
pub(super) fn clipped(
    from: &str,
    values: &[String],
    contributions: &[Contribution],
    units: &str,
    clip: Clip,
    dividend: &str,
) -> (Vec<String>, String) {
    let pairs = || contributions.iter().zip(values).enumerate();
    let contributed =
        pairs().map(|(place, (_, value))| format!("CAST({value} AS BIGINT) AS x{place}"));
    let contributed: Vec<String> = contributed.collect();
    // Steps of the sensitivity, rounded up.
    let steps = pairs().map(|(place, (one, _))| {
        let sensitivity = one.sensitivity().max(1);
        let more = sensitivity - 1;
        format!("(GREATEST(x{place}, 0 - x{place}) * {STEPS} + {more}) / {sensitivity} AS q{place}")
    });
    let steps: Vec<String> = steps.collect();
    let squares: Vec<String> = pairs().map(|(at, _)| format!("q{at} * q{at}")).collect();
    let allowed = clip.allowed();
    // The greater of the two, so that the expression has a value for every unit.
    let factor = format!(
        "CASE WHEN ss > {allowed} THEN CAST(FLOOR(SQRT({dividend} / \
         CAST(GREATEST(ss, {allowed}) AS DOUBLE PRECISION))) AS BIGINT) ELSE {ONE} END"
    );
    let text = format!("SELECT *, {} FROM ({from}) AS t", contributed.join(", "));
    let text = format!("SELECT *, {} FROM ({text}) AS t", steps.join(", "));
    let text = format!(
        "SELECT *, CAST(SUM({}) OVER (PARTITION BY {units}) AS BIGINT) AS ss FROM ({text}) AS t",
        squares.join(" + ")
    );
    let text = format!("SELECT *, {factor} AS f FROM ({text}) AS t");
    let totals = pairs().map(|(place, (one, _))| {
        let fineness = clip::fineness(one.sensitivity());
        format!("SUM(x{place} * {fineness} * f / {ONE})")
    });
    (totals.collect(), text)
}
