//! Moving-least-squares elasticity [Müller et al. 2004], corotated.
//!
//! F_i = (Σ_j w_ij x_ji ⊗ X_ji)(Σ_j w_ij X_ji ⊗ X_ji)⁻¹ is exact for affine maps. The weight is ours: w = -W'(r)/r, for
//! which the least-squares gradient *is* the corrected SPH gradient L_i ∇W_ij of [P18, Eq. 1-3], and w X_ji = b_ij.
#![allow(non_snake_case)] // B, F, R, P as in the theory

use super::body::Constants;
use super::rest::SliceRest;
use crate::material::Law;
use crate::math::{LANES, Lane, Mat3x8, Quatx8, Real, Sym3x8, Vec3, svd_lanes};

/// T_i = V_i P_i C_i; turns the rotation to that of F and sets the stiffness over that at rest, where they are needed.
#[inline(always)]
pub(super) fn stress(
    k: &Constants,
    (rest, lambda): (&SliceRest, Lane),
    null: Option<&Sym3x8>,
    F: Mat3x8,
    (rotation, stiffening): (&mut Quatx8, &mut Lane),
) -> Mat3x8 {
    let P = match (k.law_now(), null) {
        (Law::StVenantKirchhoff, None) => F.mul_mat(k.stress(k.green(F), lambda).full()),
        (law, null) => {
            let (q, R) = k.rotation_of(F, *rotation);
            *rotation = q;
            // Missing dimensions move with the rotation: F + Σ R n ⊗ n.
            let F = null.map_or(F, |n| F + R.mul_mat(n.full()));
            match law {
                Law::StVenantKirchhoff => F.mul_mat(k.stress(k.green(F), lambda).full()),
                Law::Corotated => {
                    let eps = R.transpose_mul(F).symmetric_part().add_diagonal(-Lane::ONE);
                    R.mul_mat(k.stress(eps, lambda).full())
                }
                law => by_singular_values(law, k.mu, lambda, F, stiffening),
            }
        }
    };
    P.scale(rest.volume).mul_mat(rest.correction.full())
}

/// P = U diag(∂Ψ/∂σ) Vᵀ; the law itself is a plain function of doubles, one lane after the other.
#[inline(never)]
fn by_singular_values(law: Law, mu: Real, lambda: Lane, F: Mat3x8, stiffening: &mut Lane) -> Mat3x8 {
    let d = svd_lanes(F);
    let (x, y, z) = (d.sigma.x.to_array(), d.sigma.y.to_array(), d.sigma.z.to_array());
    let mut stress = [[0.0; LANES]; 3];
    for lane in 0..LANES {
        let lambda = lambda.as_array()[lane] as Real;
        let sigma = Vec3::new(x[lane] as Real, y[lane] as Real, z[lane] as Real);
        for (part, value) in stress.iter_mut().zip(law.stress(mu, lambda, sigma).to_array()) {
            part[lane] = value as f32;
        }
        let ratio = law.wave_stiffness(mu, lambda, sigma) / (lambda + 2.0 * mu);
        stiffening.as_mut_array()[lane] = ratio.max(1.0) as f32;
    }
    let mut P = Mat3x8::ZERO;
    for k in 0..3 {
        P.add_outer(d.u.c[k] * Lane::from(stress[k]), d.v.c[k]);
    }
    P
}
