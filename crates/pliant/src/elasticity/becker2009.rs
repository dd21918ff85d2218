//! Corotated SPH [B09].
//!
//! The rotation comes from shape matching, A_i = Σ_j m_j W_ij x_ji ⊗ X_ji (Eq. 12), the strain from the uncorrected
//! gradient in the turned-back frame, ∇u_i = Σ_j V_j (R_iᵀ x_ji - X_ji) ⊗ ∇W_ij (Eq. 14-15).
//! Deviation: Eq. 16 halves the force; the energy's derivative has factor 1, and with it E is E.
//! R is not the polar rotation of I + ∇u, so P Fᵀ is not quite symmetric: angular momentum is kept only approximately.
#![allow(non_snake_case)] // A, R as in the paper; U, Q as in `body.rs`

use super::body::Constants;
use super::rest::SliceRest;
use crate::material::Strain;
use crate::math::{Lane, Mat3x8, Quatx8, polar_rotation};

/// T_i = R_i P̃_i, P̃ the stress in the turned-back frame: ∇u = RᵀB/V - D = RᵀU/V + (RᵀQ - I) D.
#[inline(always)]
pub(super) fn stress(
    k: &Constants,
    rest: &SliceRest,
    (U, Q): (Mat3x8, Mat3x8),
    A: Mat3x8,
    rotation: &mut Quatx8,
) -> Mat3x8 {
    let (q, R) = polar_rotation(A, *rotation);
    *rotation = q;
    let turn = R.transpose_mul(Q) - Mat3x8::diagonal(Lane::ONE);
    let grad_u = R.transpose_mul(U).scale(rest.inverse_volume) + turn.mul_mat(rest.rest_gradient.full());
    match k.strain {
        Strain::Linear => R.mul_mat(k.stress(grad_u.symmetric_part(), rest.lambda).full()),
        Strain::Green => {
            let F = grad_u + Mat3x8::diagonal(Lane::ONE);
            R.mul_mat(F.mul_mat(k.stress(k.green(F), rest.lambda).full()))
        }
    }
}
