//! Moving-least-squares elasticity [Müller et al. 2004], corotated.
//!
//! F_i = (Σ_j w_ij x_ji ⊗ X_ji)(Σ_j w_ij X_ji ⊗ X_ji)⁻¹ is exact for affine maps. The weight is ours: w = -W'(r)/r, for
//! which the least-squares gradient *is* the corrected SPH gradient L_i ∇W_ij of [P18, Eq. 1-3], and w X_ji = b_ij.
#![allow(non_snake_case)] // B, F, R, P as in the theory

use super::body::Constants;
use super::rest::SliceRest;
use crate::material::Strain;
use crate::math::{Mat3x8, Quatx8, Sym3x8, polar_rotation};

/// T_i = V_i P_i C_i; turns `rotation` to that of F where it is needed.
#[inline(always)]
pub(super) fn stress(
    k: &Constants,
    rest: &SliceRest,
    null: Option<&Sym3x8>,
    F: Mat3x8,
    rotation: &mut Quatx8,
) -> Mat3x8 {
    let P = match (k.strain, null) {
        (Strain::Green, None) => F.mul_mat(k.stress(k.green(F), rest.lambda).full()),
        (strain, null) => {
            let (q, R) = polar_rotation(F, *rotation);
            *rotation = q;
            // Missing dimensions move with the rotation: F + Σ R n ⊗ n.
            let F = null.map_or(F, |n| F + R.mul_mat(n.full()));
            match strain {
                Strain::Green => F.mul_mat(k.stress(k.green(F), rest.lambda).full()),
                Strain::Linear => {
                    let eps = R.transpose_mul(F).symmetric_part().add_diagonal(-crate::math::Lane::ONE);
                    R.mul_mat(k.stress(eps, rest.lambda).full())
                }
            }
        }
    };
    P.scale(rest.volume).mul_mat(rest.correction.full())
}
