//! Corotated SPH [B09].
//!
//! The rotation comes from shape matching, A_i = Σ_j m_j W_ij x_ji ⊗ X_ji (Eq. 12), the strain from the uncorrected
//! gradient in the turned-back frame, ∇u_i = Σ_j V_j (R_iᵀ x_ji - X_ji) ⊗ ∇W_ij (Eq. 14-15).
//!
//! Two deviations. Eq. 16 halves the force; the energy's derivative has factor 1, and with it E is E. And the paper
//! holds R_i while it differentiates; as R_i is not the polar rotation of I + ∇u_i this leaves forces that derive from
//! no energy: a free spinning cube gains energy without bound. We keep the term. With G = RᵀB/V, S = RᵀA and
//! w(M) = (M_yz - M_zy, M_zx - M_xz, M_xy - M_yx),
//!   y = -V (tr(S) I - S)⁻¹ w(G P̃ᵀ),     f_i += Σ_j a_ij (R_i [y_i]ₓ + R_j [y_j]ₓ) b_ij,   a_ij b_ij = m_j W_ij X_ji.
//! Momentum and angular momentum are then conserved.
#![allow(non_snake_case)] // A, G, R, S, P as in the paper; U, Q as in `body.rs`

use super::body::Constants;
use super::rest::SliceRest;
use crate::material::Law;
use crate::math::{Lane, Mat3x8, Quatx8, Vec3x8};

/// Part of the trace that keeps the rotation's derivative bounded where a neighbourhood is nearly flat or a line.
pub(super) const REGULARISATION: f64 = 1e-3;

/// (T_i, Y_i): T_i = R_i P̃_i, P̃ the stress in the turned-back frame, ∇u = RᵀB/V - D = RᵀU/V + (RᵀQ - I) D; and
/// Y_i = R_i [y_i]ₓ.
#[inline(always)]
pub(super) fn stress(
    k: &Constants,
    (rest, lambda): (&SliceRest, Lane),
    (U, Q): (Mat3x8, Mat3x8),
    A: Mat3x8,
    rotation: &mut Quatx8,
) -> (Mat3x8, Mat3x8) {
    let (q, R) = k.rotation_of(A, *rotation);
    *rotation = q;
    let D = rest.rest_gradient.full();
    let turn = R.transpose_mul(Q) - Mat3x8::diagonal(Lane::ONE);
    let grad_u = R.transpose_mul(U).scale(rest.inverse_volume) + turn.mul_mat(D);
    let P = match k.law_now() {
        Law::Corotated => k.stress(grad_u.symmetric_part(), lambda).full(),
        Law::StVenantKirchhoff => {
            let F = grad_u + Mat3x8::diagonal(Lane::ONE);
            F.mul_mat(k.stress(k.green(F), lambda).full())
        }
        law => unreachable!("a body is not built with {law:?}"),
    };
    if k.gathers {
        // the rotation does not come from A
        return (R.mul_mat(P), Mat3x8::ZERO);
    }
    let torque = axial(grad_u + D, P) * -rest.volume;
    let S = R.transpose_mul(A).symmetric_part();
    let shift = S.trace() + S.trace().abs() * Lane::splat(REGULARISATION as f32);
    let y = S.scale(-Lane::ONE).add_diagonal(shift).solve(torque);
    (R.mul_mat(P), R.mul_mat(cross_matrix(y)))
}

/// w(G P̃ᵀ): the sum over columns k of g_k × p_k.
#[inline(always)]
fn axial(G: Mat3x8, P: Mat3x8) -> Vec3x8 {
    G.c[0].cross(P.c[0]) + G.c[1].cross(P.c[1]) + G.c[2].cross(P.c[2])
}

/// [y]ₓ, the matrix of the cross product.
#[inline(always)]
fn cross_matrix(y: Vec3x8) -> Mat3x8 {
    let o = Lane::ZERO;
    Mat3x8 { c: [Vec3x8::new(o, y.z, -y.y), Vec3x8::new(-y.z, o, y.x), Vec3x8::new(y.y, -y.x, o)] }
}
