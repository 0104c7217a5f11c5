//! The contour accountant: δ(ε) as an integral along a vertical line.
//!
//! With K(z) = ln E_P e^(zL) the cumulant of the loss of the whole composition,
//!
//! > δ(ε) = (1/2πi) ∫ e^(K(z) - εz) / (z(z+1)) dz   along Re z = c > 0,
//!
//! and K of a composition is the sum of its parts: any number of steps costs as
//! much as one. The trapezoid rule with the step η gives
//!
//! > T = (η/π) (g₀/2 + Σ_(j>=1) Re g_j),   g_j = e^(K(z_j) - ε z_j) / (z_j(z_j+1)),
//!
//! z_j = c + iηj, and the result is a bracket by the following argument.
//!
//! # Aliasing has one sign
//! By Poisson summation T = Σ_m e^(2πcm/η) δ(ε + 2πm/η) over all whole m: every
//! term is positive and that of m = 0 is δ(ε). So T is an upper bound, and what
//! must be subtracted for a lower one is bounded by δ <= 1 for m < 0 and, for
//! m > 0, by δ(ε) <= k(c') e^(K(c') - c'ε) with k(x) = x^x/(1+x)^(1+x) for any
//! c' > c: two geometric series.
//!
//! # The tail
//! Places beyond the last are bounded by |g| <= e^(K(c) - cε) |ψ|/τ², where ψ is
//! the characteristic function of the tilted loss; see [`decay`] for a bound on
//! |ψ| that holds from a height on, and [`shifted`] for a finer one, of sampled
//! Gaussian noise. Where there is none (few compositions of
//! losses with atoms) the contour gives no answer and the lattice does.
//!
//! # Rounding
//! Every K(z_j) comes with a bound on its error: `line.rs`, `rotation.rs` and
//! the tables say how. An error κ in K changes g by a factor within e^κ - 1 of
//! one; phases and sums add units of rounding. All of it is added up beside the
//! sum itself and ends in the bracket.
//!
//! `choose.rs` picks c, c' and η, which decide how tight and how fast the
//! bracket is, never whether it is one. `profile.rs` evaluates it.

mod choose;
mod complex;
mod decay;
mod line;
mod part;
mod profile;
mod rotation;
mod shifted;
#[cfg(test)]
mod tests;

pub(crate) use profile::Contour;
