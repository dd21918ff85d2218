//! Linear systems of implicit steps: symmetric, positive definite, one vector a particle.
//! Constant ones are factored once and solved for the three components at once; others are iterated, with grids around
//! the body where it is stiff.

mod block;
mod cache;
mod cg;
mod dense;
mod dissection;
mod elimination;
mod factor;
mod front;
mod jacobi;
mod lattice;
mod level;
mod matrix;
mod multigrid;
mod solve;
mod structure;
#[cfg(test)]
mod tests;

pub use block::{Block, CorotatedPoint, ScalarPoint};
pub use cache::{FactorCache, Origin};
pub(crate) use cg::product;
pub use cg::{Breakdown, ConjugateGradients, Operator, Preconditioner, Solved, Tolerance};
pub use dissection::{nested_dissection, sweep_order};
pub use factor::{Factor, FactorCost, FactorError};
pub use jacobi::{BlockJacobi, Identity, Jacobi};
pub use matrix::SymmetricMatrix;
pub use multigrid::Multigrid;
pub use solve::SolveWork;
