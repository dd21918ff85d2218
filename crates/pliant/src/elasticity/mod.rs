//! Elastic forces from rest neighbourhoods. One file a paper; what the papers share is in `body.rs`.
//!
//! All methods have one form. With the constant pair gradients b_ij = V_i V_j ∇W(X_ij) of the rest state,
//!   B_i = Σ_j x_ji ⊗ b_ij,      f_i = Σ_j (T_i + T_j) b_ij,
//! and a paper is what it makes of B_i: a stress T_i, per particle. Only b_ij is streamed per pair.
//! Implicit methods solve for the velocities with the same two sums as their matrix: `implicit.rs`.

/// An array of eight written out: `array::map` of this size is not inlined, and these are the innermost loops.
macro_rules! eight {
    ($of:expr) => {{
        let of = $of;
        [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)]
    }};
}

mod becker2009;
mod body;
mod cells;
mod gathering;
mod implicit;
mod mls2004;
mod moduli;
mod newton;
mod pieces;
mod preconditioner;
mod reference;
mod rest;
mod solenthaler2007;
mod stable_step;
mod stretch;
mod volume;

pub use body::{Deformation, ElasticBody};
pub use implicit::{ImplicitSolver, PartReport, SolvePart, SolveReport, StepInput};
pub use reference::{AffineFit, PointState};
pub use stable_step::StableStep;
pub use stretch::FactorShelf;

use crate::linear::Tolerance;
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
    /// Corrected gradients, corotated, one implicit solve a step by conjugate gradients.
    Peer2018,
    /// Corrected gradients, corotated, implicit, with the stretch as one constant n x n matrix that may be factored.
    Kugelstadt2021,
}

impl Model {
    pub const EXPLICIT: [Model; 3] = [Model::Solenthaler2007, Model::Mls2004, Model::Becker2009];
    pub const IMPLICIT: [Model; 2] = [Model::Peer2018, Model::Kugelstadt2021];

    /// Steps are not limited by the stiffness.
    pub fn is_implicit(self) -> bool {
        Model::IMPLICIT.contains(&self)
    }

    /// Deformation gradients are exact for affine maps.
    pub fn is_corrected(self) -> bool {
        !matches!(self, Model::Solenthaler2007 | Model::Becker2009)
    }

    pub fn name(self) -> &'static str {
        match self {
            Model::Solenthaler2007 => "solenthaler2007",
            Model::Mls2004 => "mls2004",
            Model::Becker2009 => "becker2009",
            Model::Peer2018 => "peer2018",
            Model::Kugelstadt2021 => "kugelstadt2021",
        }
    }

    /// Whether the method can compute this law. Uncorrected gradients take rest for deformed, and only laws that are
    /// linear in a strain can be corrected for it.
    pub fn accepts(self, law: Law) -> bool {
        match self {
            Model::Mls2004 | Model::Peer2018 | Model::Kugelstadt2021 => true,
            Model::Solenthaler2007 | Model::Becker2009 => {
                matches!(law, Law::Corotated | Law::StVenantKirchhoff)
            }
        }
    }
}

/// How an implicit step is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// One linear solve of the whole system: the corotated law only.
    #[default]
    Linear,
    /// Stretch, then volume, as [K21] has it: `kugelstadt2021` and the corotated law only. What is at rest depends on the
    /// step.
    Split,
    /// Newton's method to convergence, for any law.
    Newton,
}

/// When the residual r of an implicit solve is small enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolveTolerance {
    /// |r| below this part of the right-hand side's.
    Relative(Real),
    /// Mean over the particles of |r_i| / m_i below this [m/s], as in [P18].
    Absolute(Real),
}

impl Default for SolveTolerance {
    fn default() -> Self {
        SolveTolerance::Relative(1e-4)
    }
}

impl SolveTolerance {
    fn bound(self) -> Real {
        match self {
            SolveTolerance::Relative(value) | SolveTolerance::Absolute(value) => value,
        }
    }

    /// Is a direct solve with this relative residual good enough?
    fn is_met_by(self, residual: Real) -> bool {
        match self {
            SolveTolerance::Relative(value) => residual <= value,
            SolveTolerance::Absolute(_) => residual <= 1e-4,
        }
    }

    fn of(self, masses: &[f32]) -> Tolerance<'_> {
        match self {
            SolveTolerance::Relative(value) => Tolerance::Relative(value),
            SolveTolerance::Absolute(value) => Tolerance::AbsolutePerMass(value, masses),
        }
    }
}

/// How a body's elastic force is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    pub model: Model,
    pub law: Law,
    /// How implicit models solve a step.
    pub solver: Solver,
    /// When an implicit solve is good enough.
    pub tolerance: SolveTolerance,
    /// Strength alpha of the zero-energy control; 0 switches it off.
    pub zero_energy: Real,
    /// Material-space XSPH damping of relative motion [1/s].
    pub xsph: Real,
}

impl Method {
    /// Are stretch and volume solved for one after the other? Long steps of such bodies are stable with the whole support
    /// only.
    fn is_split(&self) -> bool {
        self.solver == Solver::Split
    }

    /// A model with all else at its default.
    pub fn of(model: Model) -> Self {
        Method {
            model,
            law: Law::Corotated,
            solver: Solver::default(),
            tolerance: SolveTolerance::default(),
            zero_energy: 0.1,
            xsph: 0.0,
        }
    }
}
