//! Constant symmetric systems, factored once and solved every step for the three components of each particle.

mod cache;
mod dissection;
mod elimination;
mod factor;
mod front;
mod matrix;
mod solve;
mod structure;

pub use cache::{FactorCache, Origin};
pub use dissection::{nested_dissection, sweep_order};
pub use factor::{Factor, FactorCost, NotPositiveDefinite};
pub use matrix::SymmetricMatrix;
pub use solve::SolveWork;
