//! Elastic forces from rest neighbourhoods. One file a paper; what the papers share is in `body.rs`.
//!
//! All methods have one form. With the constant pair gradients b_ij = V_i V_j ∇W(X_ij) of the rest state,
//!   B_i = Σ_j x_ji ⊗ b_ij,      f_i = Σ_j (T_i + T_j) b_ij,
//! and a paper is what it makes of B_i: a stress T_i, per particle. Only b_ij is streamed per pair.

mod becker2009;
mod body;
mod mls2004;
mod reference;
mod rest;
mod solenthaler2007;
mod stable_step;

pub use body::{Deformation, ElasticBody};
pub use reference::PointState;
pub use stable_step::StableStep;

use crate::material::Law;
use crate::math::Real;

/// Elastic method of a body, named after its paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Uncorrected SPH gradients, no rotation: a body cannot turn freely. For comparison.
    Solenthaler2007,
    /// Moving-least-squares (first-order exact) gradients, corotated.
    Mls2004,
    /// Uncorrected SPH gradients in a frame turned by a shape-matching rotation.
    Becker2009,
}

impl Model {
    pub const ALL: [Model; 3] = [Model::Solenthaler2007, Model::Mls2004, Model::Becker2009];

    pub fn name(self) -> &'static str {
        match self {
            Model::Solenthaler2007 => "solenthaler2007",
            Model::Mls2004 => "mls2004",
            Model::Becker2009 => "becker2009",
        }
    }

    /// Whether the method can compute this law. Uncorrected gradients take rest for deformed, and only laws that are
    /// linear in a strain can be corrected for it.
    pub fn accepts(self, law: Law) -> bool {
        match self {
            Model::Mls2004 => true,
            Model::Solenthaler2007 | Model::Becker2009 => {
                matches!(law, Law::Corotated | Law::StVenantKirchhoff)
            }
        }
    }
}

/// How a body's elastic force is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    pub model: Model,
    pub law: Law,
    /// Strength alpha of the zero-energy control; 0 switches it off.
    pub zero_energy: Real,
    /// Material-space XSPH damping of relative motion [1/s].
    pub xsph: Real,
}
