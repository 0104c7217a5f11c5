//! Moments of a table at real z, from which Rényi curves follow.

use mizan_core::Interval;

use super::{Table, UNIT};

/// e^x - 1 - x to within 8 units of rounding.
pub(crate) fn beyond_tangent(x: f64) -> f64 {
    Interval::from(x).exp_beyond_tangent().middle()
}

impl Table {
    /// K(z) = ln E_P e^(zL) for 0 < z <= c, enclosed.
    pub(crate) fn cumulant(&self, z: f64) -> Interval {
        let exponents = || self.nodes.iter().map(|node| node.ln_mass + z * node.loss);
        let largest = exponents().fold(f64::NEG_INFINITY, f64::max);
        if largest > 600.0 {
            return self.large_cumulant(z, largest);
        }
        let (mut sum, mut slack, mut faint) = (0.0, 0.0, 0.0);
        for node in &self.nodes {
            let (l, x) = (node.loss, z * node.loss);
            // Where p underflows or e^x overflows, their product is all there is.
            let term = if x > 500.0 || (node.mass < 1e-280 && x > 1.0) {
                let joined = core_math::exp(node.ln_mass + x);
                faint += joined * (3.0 * (node.ln_mass.abs() + x) + 8.0);
                joined
            } else {
                let (tangent, doubt) = node.tangent();
                faint += z * doubt;
                node.mass * beyond_tangent(x) + z * tangent
            };
            sum += term;
            slack += core_math::exp(node.ln_mass + x.max(-l).max(0.0))
                * ((1.0 + z) * (z * l.abs()).min(2.0) * node.slack);
        }
        // Terms are positive; what underflows is covered by the last summand.
        let relative = UNIT * (self.nodes.len() as f64 + self.blur + 32.0);
        let rounding = sum * relative * 1.01 + UNIT * (2.0 * slack + faint) + 1e-280;
        let whole = (1.0 + sum + rounding) / (1.0 - self.missing.0);
        let missing = self.missing.0 * whole + self.missing.1 * (2.0 + z);
        let error = 1.01 * (rounding + missing);
        let rest = (self.below - self.beyond) * z - self.beyond;
        (Interval::new(sum - error, sum + error) + rest).ln_1p()
    }

    /// The same where the moment is beyond doubles.
    fn large_cumulant(&self, z: f64, largest: f64) -> Interval {
        let (mut sum, mut error) = (0.0, 0.0);
        for node in &self.nodes {
            let x = z * node.loss;
            let term = core_math::exp(node.ln_mass + x - largest);
            sum += term;
            error += term * (8.0 + 3.0 * (node.ln_mass.abs() + x.abs() + largest) + z * node.slack);
        }
        let relative = UNIT * (self.nodes.len() as f64 + self.blur);
        let rounding = 1.01 * (sum * relative + UNIT * error);
        let missing = 1.01
            * (self.missing.0 * (sum + rounding) + self.missing.1 * (2.0 + z) * (-largest).exp());
        let error = rounding + missing;
        Interval::new(sum - error, sum + error).ln() + largest
    }

    /// E_P L, enclosed; for tables made for c >= 1/2 and reach >= 1/2.
    ///
    /// What is missing is an analytic function of z that is bounded on the disc
    /// |z| <= 1/2, so its derivative at zero is at most twice the bound.
    pub(crate) fn mean(&self) -> Interval {
        let (mut sum, mut slack) = (0.0, 0.0);
        for node in &self.nodes {
            let (tangent, doubt) = node.tangent();
            sum += tangent;
            slack += doubt;
            slack += node.mass * node.loss.abs() * node.slack * 1.0f64.max((-node.loss).exp());
        }
        let relative = UNIT * (self.nodes.len() as f64 + self.blur + 32.0);
        let missing = 4.0 * (4.0 * self.missing.0 + 3.0 * self.missing.1);
        let error = 1.01 * (sum * relative + 2.0 * UNIT * slack + missing) + 1e-290;
        Interval::new(sum - error, sum + error) + (self.below - self.beyond)
    }
}
