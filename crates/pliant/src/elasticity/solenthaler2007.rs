//! Plain SPH elasticity [SSP07; B09, Eq. 6-10].
//!
//! ∇u_i = Σ_j V_j u_ji ⊗ ∇W_ij. The gradient reproduces constants only: a rotation looks like a strain, and the body
//! resists turning. Offered to show just that.
#![allow(non_snake_case)] // B, P as in the theory

use super::body::Constants;
use super::rest::SliceRest;
use crate::material::Strain;
use crate::math::{Lane, Mat3x8};

/// T_i = P_i with ∇u = B/V - D.
#[inline(always)]
pub(super) fn stress(k: &Constants, rest: &SliceRest, B: Mat3x8) -> Mat3x8 {
    let grad_u = B.scale(rest.inverse_volume) - rest.rest_gradient.full();
    match k.strain {
        Strain::Linear => k.stress(grad_u.symmetric_part(), rest.lambda).full(),
        Strain::Green => {
            let F = grad_u + Mat3x8::diagonal(Lane::ONE);
            F.mul_mat(k.stress(k.green(F), rest.lambda).full())
        }
    }
}
