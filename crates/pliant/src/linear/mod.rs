//! Linear systems of implicit steps: symmetric, positive definite, one vector a particle.

mod cg;
mod jacobi;

pub use cg::{Breakdown, ConjugateGradients, Operator, Preconditioner, Solved, Tolerance};
pub use jacobi::{BlockJacobi, Identity, Jacobi};
