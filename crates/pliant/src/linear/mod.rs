//! Linear systems of implicit steps: symmetric, positive definite, one vector a particle.
//! Constant ones are factored once and solved for the three components at once; others are iterated.

mod cache;
mod cg;
mod dissection;
mod elimination;
mod factor;
mod front;
mod jacobi;
mod matrix;
mod solve;
mod structure;

pub use cache::{FactorCache, Origin};
pub use cg::{Breakdown, ConjugateGradients, Operator, Preconditioner, Solved, Tolerance};
pub use dissection::{nested_dissection, sweep_order};
pub use factor::{Factor, FactorCost, NotPositiveDefinite};
pub use jacobi::{BlockJacobi, Identity, Jacobi};
pub use matrix::SymmetricMatrix;
pub use solve::SolveWork;
