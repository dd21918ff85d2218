//! Plain SPH elasticity [SSP07; B09, Eq. 6-10].
//!
//! ∇u_i = Σ_j V_j u_ji ⊗ ∇W_ij. The gradient reproduces constants only: a rotation looks like a strain, and the body
//! resists turning. Offered to show just that.
#![allow(non_snake_case)] // U, Q as in `body.rs`

use super::body::Constants;
use super::rest::SliceRest;
use crate::material::Law;
use crate::math::{Lane, Mat3x8};

/// T_i = P_i with ∇u = B/V - D = U/V + (Q - I) D.
#[inline(always)]
pub(super) fn stress(k: &Constants, (rest, lambda): (&SliceRest, Lane), U: Mat3x8, Q: Mat3x8) -> Mat3x8 {
    let turn = Q - Mat3x8::diagonal(Lane::ONE);
    let grad_u = U.scale(rest.inverse_volume) + turn.mul_mat(rest.rest_gradient.full());
    match k.law {
        Law::Corotated => k.stress(grad_u.symmetric_part(), lambda).full(),
        Law::StVenantKirchhoff => {
            let F = grad_u + Mat3x8::diagonal(Lane::ONE);
            F.mul_mat(k.stress(k.green(F), lambda).full())
        }
        law => unreachable!("a body is not built with {law:?}"),
    }
}
