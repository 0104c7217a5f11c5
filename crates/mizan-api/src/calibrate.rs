//! Calibration: the noise, or another parameter, that a guarantee needs.

use mizan_accounting::calibrate::{self, Calibration, GaussianCalibration};
use mizan_core::{Definitions, Delta, Epsilon, EventTemplate, ParameterValue, PrivacyEvent};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::account::Bound;
use crate::failure::Failure;
use crate::input::{self, Typed};
use crate::names::Names;
use crate::number::{NumberInput, finite};

/// A request for a calibration.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"expression": "gaussian(?)", "epsilon": 0.5, "delta": 1e-6}))]
pub struct CalibrateRequest {
    /// The event, with a `?` for the number to find.
    pub expression: String,
    /// The epsilon of the guarantee.
    pub epsilon: NumberInput,
    /// The delta of the guarantee.
    pub delta: NumberInput,
}

/// A calibrated event.
#[derive(Debug)]
pub struct Calibrated {
    /// The event with its `?`.
    pub template: EventTemplate,
    /// The epsilon that was given.
    pub epsilon: Typed<Epsilon>,
    /// The delta that was given.
    pub delta: Typed<Delta>,
    /// The value and its cost.
    pub found: Calibration,
    lower: Option<Epsilon>,
    /// The classical and the exact calibration, if the event is only Gaussian noise.
    pub gaussian: Option<GaussianCalibration>,
}

/// A calibrated event.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CalibrateAnswer {
    /// The event with its `?`.
    pub expression: String,
    /// The name of the parameter that the `?` stands for.
    pub parameter: String,
    /// Its value, rounded to the safe side.
    pub value: ValueJson,
    /// The cost of the event with this value.
    pub epsilon: Bound,
    /// The delta that was given.
    pub delta: f64,
    /// The event with the value in place of the `?`.
    pub event: String,
    /// Whether the guarantee limits the value at all.
    pub constrained: bool,
    /// The value by the classical rule, if it applies.
    pub classical: Option<f64>,
}

/// A real or a whole number.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ValueJson {
    /// A whole number.
    Whole(u64),
    /// A real number; null is infinite.
    Real(Option<f64>),
}

impl CalibrateRequest {
    /// Finds the value.
    ///
    /// # Errors
    ///
    /// The text is not an event with one `?`, or no value meets the target.
    pub fn evaluate(&self, definitions: &Definitions, names: Names) -> Result<Calibrated, Failure> {
        let epsilon = input::epsilon(&self.epsilon.text(), &names.option("epsilon"))?;
        let delta = input::delta(&self.delta.text(), &names.option("delta"))?;
        let template = input::template(&self.expression, definitions)?;
        let found = calibrate::solve(&template, epsilon.value, delta.value)?;
        let gaussian = match (&found.event, template.parameter()) {
            (PrivacyEvent::Gaussian { sensitivity, .. }, "sigma") => {
                calibrate::gaussian(epsilon.value, delta.value, *sensitivity)
            }
            _ => None,
        };
        Ok(Calibrated {
            lower: found.lower(delta.value),
            template,
            epsilon,
            delta,
            found,
            gaussian,
        })
    }
}

impl Calibrated {
    /// The value as a decimal that parses back to exactly this value.
    #[must_use]
    pub fn typed(&self) -> String {
        self.found.decimal(&self.template)
    }

    /// The JSON form.
    #[must_use]
    pub fn json(&self) -> CalibrateAnswer {
        let classical = self.gaussian.as_ref().and_then(|found| found.classical);
        CalibrateAnswer {
            expression: self.template.text().to_owned(),
            parameter: self.template.parameter().to_owned(),
            value: match self.found.value {
                ParameterValue::Real(value) => ValueJson::Real(finite(value)),
                ParameterValue::Whole(count) => ValueJson::Whole(count.get()),
            },
            epsilon: Bound {
                upper: finite(self.found.cost.upper.get()),
                lower: self.lower.and_then(|lower| finite(lower.get())),
                method: self.found.cost.method.name().to_owned(),
            },
            delta: self.delta.shown,
            event: self.template.fill_text(&self.typed()),
            constrained: self.found.constrained,
            classical: classical.and_then(|sigma| finite(sigma.get())),
        }
    }
}
