//! Linear systems of implicit steps: symmetric, positive definite, one vector a particle.

mod block;
mod cg;
mod dense;
mod jacobi;
mod lattice;
mod level;
mod multigrid;
#[cfg(test)]
mod tests;

pub use block::{Block, CorotatedPoint, ScalarPoint};
pub use cg::{Breakdown, ConjugateGradients, Operator, Preconditioner, Solved, Tolerance};
pub use jacobi::{BlockJacobi, Identity, Jacobi};
pub use multigrid::{Multigrid, WithGrids};
