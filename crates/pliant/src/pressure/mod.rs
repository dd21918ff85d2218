//! One pressure for all matter: liquids keep their volume, solids do not pass through one another or themselves, rigid
//! bodies push and are pushed [P18 §4.4].
//!
//! Every particle has the volume V0 = s³ of a lattice cell. Its compression is
//!   c_i = Σ_j V0 W_ij + Σ_b V_b W_ib - limit_i,
//! over particles j and boundary points b near it *now*. Densities do not enter, so liquids of any densities meet
//! sharply (number density, Solenthaler & Pajarola 2008). Neighbours of a solid's rest state are not counted, as its
//! elasticity answers for them: they contribute the constant of the rest state, and the limit is
//! max(rest value, 1): a body at rest feels no pressure, and bodies touch at about one spacing.
//!
//! With D v the rate of c, (D v)_i = Σ_j V0 ∇W_ij·(v_i - v_j) + Σ_b V_b ∇W_ib·(v_i - v_b), the forces are -Dᵀ kappa:
//! equal and opposite to the last bit. kappa = p V0 >= 0 solves, with the velocities v* before pressure,
//!   c + dt D v* - dt² D M⁻¹ Dᵀ kappa <= 0,   and = 0 where kappa > 0,
//! a quadratic problem with bounds (`projected.rs`). Rigid bodies take part with their own mass and inertia.

mod coarse;
mod friction;
mod projected;
mod system;
mod tait;

pub use friction::{Friction, FrictionInput};
pub use projected::{PressureReport, Problem, ProjectedGradients, Settings};
pub use system::PressureSystem;
pub use tait::Tait;

#[cfg(test)]
mod tests;
