//! The methods once more, plainly: double precision, one particle at a time, straight from the formulas.
//! Used for what is reported (deformation, stress, energy) and as the oracle of the fast passes.
#![allow(non_snake_case)] // A, B, F, R, P as in the theory

use super::{ElasticBody, Model};
use crate::material::{Law, first_piola};
use crate::math::{LANES, Mat3, Real, Vec3, double_dot, outer, polar_rotation_near, svd, trace};
use rayon::prelude::*;

/// What can be said of one particle.
#[derive(Clone, Copy, Debug)]
pub struct PointState {
    /// Deformation gradient F as the method sees it.
    pub deformation_gradient: Mat3,
    /// First Piola-Kirchhoff stress P [Pa].
    pub stress: Mat3,
    /// Energy of the particle: V Ψ(F), zero-energy control included [J].
    pub energy: Real,
}

impl PointState {
    /// Undeformed, without stress: also what is said of liquids.
    pub const AT_REST: PointState =
        PointState { deformation_gradient: Mat3::IDENTITY, stress: Mat3::ZERO, energy: 0.0 };

    /// Cauchy stress P Fᵀ / J [Pa].
    pub fn cauchy_stress(&self) -> Mat3 {
        let F = self.deformation_gradient;
        let J = F.determinant();
        self.stress * F.transpose() * if J.abs() > 1e-12 { 1.0 / J } else { 0.0 }
    }

    /// Von Mises stress sqrt(3/2 dev(sigma):dev(sigma)) [Pa].
    pub fn von_mises(&self) -> Real {
        let sigma = self.cauchy_stress();
        let dev = sigma - Mat3::IDENTITY * (trace(sigma) / 3.0);
        (1.5 * double_dot(dev, dev)).sqrt()
    }
}

/// How the neighbourhood of a particle moved: the affine map that fits it best, and how badly it fits.
#[derive(Clone, Copy, Debug)]
pub struct AffineFit {
    /// Linear part F, exact for affine motion with every method.
    pub gradient: Mat3,
    /// Root mean square of |x_ij - F X_ij| over that of |X_ij|: small in a solid, about one in matter that flowed.
    pub misfit: Real,
}

impl ElasticBody {
    /// The affine maps of all particles at these positions, and their misfits.
    pub fn affine_fits(&self, positions: &[Vec3]) -> Vec<AffineFit> {
        (0..self.len()).into_par_iter().with_min_len(128).map(|i| self.affine_fit(i, positions)).collect()
    }

    fn affine_fit(&self, i: usize, positions: &[Vec3]) -> AffineFit {
        let (rest, mut B) = (&self.rest, Mat3::ZERO);
        rest.neighbors.for_each_of(i, |j, b, _| B += outer(positions[j] - positions[i], b));
        let F = self.fit(i, B);
        let (mut error, mut scale) = (0.0, 0.0);
        rest.neighbors.for_each_of(i, |j, _, beta| {
            let (x_ij, X_ij) = (positions[i] - positions[j], rest.positions[i] - rest.positions[j]);
            error += beta * (x_ij - F * X_ij).length_squared();
            scale += beta * X_ij.length_squared();
        });
        AffineFit { gradient: F, misfit: if scale > 0.0 { (error / scale).sqrt() } else { 0.0 } }
    }

    /// The states of all particles at these positions.
    pub fn point_states(&self, positions: &[Vec3]) -> Vec<PointState> {
        (0..self.len()).into_par_iter().with_min_len(128).map(|i| self.point_state(i, positions)).collect()
    }

    /// The state of particle i.
    pub fn point_state(&self, i: usize, positions: &[Vec3]) -> PointState {
        let (B, A) = self.moments_of(i, positions);
        let (F, P, psi) = self.law(i, B, A);
        let energy = self.rest.volumes[i] * psi + self.zero_energy_of(i, positions, self.fit(i, B));
        PointState { deformation_gradient: F, stress: P, energy }
    }

    /// B_i = Σ_j x_ji ⊗ b_ij and, for the method that asks for it, A_i = Σ_j V_i V_j W_ij x_ji ⊗ X_ji.
    fn moments_of(&self, i: usize, positions: &[Vec3]) -> (Mat3, Mat3) {
        let (mut B, mut A) = (Mat3::ZERO, Mat3::ZERO);
        let (rest, x_i) = (&self.rest, positions[i]);
        rest.neighbors.for_each_of(i, |j, b, _| B += outer(positions[j] - x_i, b));
        if self.constants.model == Model::Becker2009 {
            rest.neighbors.for_each_of(i, |j, _, _| {
                let X_ji = rest.positions[j] - rest.positions[i];
                let weight = rest.volumes[i] * rest.volumes[j] * self.constants.kernel().w(X_ji.length());
                A += outer(positions[j] - x_i, X_ji) * weight;
            });
        }
        (B, A)
    }

    /// The affine map that fits the neighbourhood best; missing dimensions are carried by the rotation.
    fn fit(&self, i: usize, B: Mat3) -> Mat3 {
        let fit = B * self.rest.correction_of(i);
        if self.rest.null.is_empty() {
            return fit;
        }
        fit + Mat3::from_quat(self.rotation(i)) * self.rest.null_of(i)
    }

    /// F, P and energy density Ψ of the body's method.
    fn law(&self, i: usize, B: Mat3, A: Mat3) -> (Mat3, Mat3, Real) {
        let I = Mat3::IDENTITY;
        let D = self.rest.rest_gradient_of(i);
        let uncorrected = B * (1.0 / self.rest.volumes[i]);
        match (self.constants.model, self.constants.law) {
            (Model::Solenthaler2007, Law::StVenantKirchhoff) => self.green_stress(i, I + uncorrected - D),
            (Model::Solenthaler2007, _) => {
                let grad_u = uncorrected - D;
                let (sigma, psi) = self.linear_stress(i, (grad_u + grad_u.transpose()) * 0.5);
                (I + grad_u, sigma, psi)
            }
            (Model::Mls2004 | Model::Peer2018 | Model::Kugelstadt2021, law) => {
                let F = B * self.rest.correction_of(i);
                let R = self.polar(i, F);
                let F = F + R * self.rest.null_of(i);
                match law {
                    Law::StVenantKirchhoff => self.green_stress(i, F),
                    Law::Corotated => {
                        let S = R.transpose() * F;
                        let (sigma, psi) = self.linear_stress(i, (S + S.transpose()) * 0.5 - I);
                        (F, R * sigma, psi)
                    }
                    law => {
                        let (mu, lambda) = (self.moduli.shear, self.lambda_of(i));
                        (F, first_piola(law, mu, lambda, F), law.energy(mu, lambda, svd(F).sigma))
                    }
                }
            }
            (Model::Becker2009, law) => {
                let R = self.polar(i, A);
                let grad_u = R.transpose() * uncorrected - D;
                let (F, P, psi) = match law {
                    Law::StVenantKirchhoff => self.green_stress(i, I + grad_u),
                    _ => {
                        let (sigma, psi) = self.linear_stress(i, (grad_u + grad_u.transpose()) * 0.5);
                        (I + grad_u, sigma, psi)
                    }
                };
                (R * F, R * P, psi)
            }
        }
    }

    /// sigma = 2 mu eps + lambda tr(eps) I and Ψ = mu eps:eps + lambda/2 tr²(eps).
    fn linear_stress(&self, i: usize, eps: Mat3) -> (Mat3, Real) {
        let (mu, lambda, tr) = (self.moduli.shear, self.lambda_of(i), trace(eps));
        (
            eps * (2.0 * mu) + Mat3::IDENTITY * (lambda * tr),
            mu * double_dot(eps, eps) + 0.5 * lambda * tr * tr,
        )
    }

    /// St Venant-Kirchhoff: P = F (2 mu E + lambda tr(E) I).
    fn green_stress(&self, i: usize, F: Mat3) -> (Mat3, Mat3, Real) {
        let (sigma, psi) = self.linear_stress(i, (F.transpose() * F - Mat3::IDENTITY) * 0.5);
        (F, F * sigma, psi)
    }

    /// Polar rotation, by SVD unless the tracked rotation is near it; a neighbourhood of one line takes the tracked one, as
    /// it leaves the spin open.
    fn polar(&self, i: usize, A: Mat3) -> Mat3 {
        if let Some(R) = polar_rotation_near(A, self.rotation(i)) {
            return R;
        }
        let d = svd(A);
        if d.sigma.y <= 1e-6 * d.sigma.x {
            return Mat3::from_quat(self.rotation(i));
        }
        d.u * d.v.transpose()
    }

    /// ½ Σ_j z beta_ij |x_ij - F_i X_ij|² [J].
    fn zero_energy_of(&self, i: usize, positions: &[Vec3], F: Mat3) -> Real {
        let rest = &self.rest;
        let mut energy = 0.0;
        rest.neighbors.for_each_of(i, |j, _, beta| {
            let (x_ij, X_ij) = (positions[i] - positions[j], rest.positions[i] - rest.positions[j]);
            energy += 0.5 * self.constants.z * beta * (x_ij - F * X_ij).length_squared();
        });
        energy
    }

    /// Elastic and zero-energy force on every particle, in double precision.
    pub fn reference_forces(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let z = self.constants.z;
        let (T, Y): (Vec<Mat3>, Vec<Mat3>) = (0..self.len())
            .map(|i| {
                let (B, A) = self.moments_of(i, positions);
                let (_, P, _) = self.law(i, B, A);
                let (T, Y) = match self.constants.model {
                    Model::Solenthaler2007 => (P, Mat3::ZERO),
                    Model::Becker2009 => (P, self.spin(i, B, A, P)),
                    _ => (P * self.rest.correction_of(i) * self.rest.volumes[i], Mat3::ZERO),
                };
                (T - self.fit(i, B) * z, Y)
            })
            .unzip();
        let (rest, kernel) = (&self.rest, self.constants.kernel());
        (0..self.len())
            .map(|i| {
                let mut f = Vec3::ZERO;
                rest.neighbors.for_each_of(i, |j, b, beta| {
                    let X_ji = rest.positions[j] - rest.positions[i];
                    let w = rest.volumes[i] * rest.volumes[j] * kernel.w(X_ji.length());
                    f += (T[i] + T[j]) * b + (Y[i] + Y[j]) * X_ji * w;
                    f += (positions[j] - positions[i]) * (2.0 * z * beta);
                });
                f
            })
            .collect()
    }

    /// Y_i = R [y]ₓ, the change of Becker's rotation with the positions: see `becker2009.rs`.
    fn spin(&self, i: usize, B: Mat3, A: Mat3, P: Mat3) -> Mat3 {
        let R = self.polar(i, A);
        let G = R.transpose() * B * (1.0 / self.rest.volumes[i]);
        let M = G * (R.transpose() * P).transpose();
        let w = Vec3::new(M.z_axis.y - M.y_axis.z, M.x_axis.z - M.z_axis.x, M.y_axis.x - M.x_axis.y);
        let S = R.transpose() * A;
        let S = (S + S.transpose()) * 0.5;
        let H = Mat3::IDENTITY * (trace(S) * (1.0 + super::becker2009::REGULARISATION)) - S;
        let y = H.inverse() * w * -self.rest.volumes[i];
        R * Mat3::from_cols(Vec3::new(0.0, y.z, -y.y), Vec3::new(-y.z, 0.0, y.x), Vec3::new(y.y, -y.x, 0.0))
    }

    /// Slices of eight particles, for reports of padding.
    pub fn padded_pairs(&self) -> usize {
        self.rest.neighbors.rows.len() * LANES
    }
}
