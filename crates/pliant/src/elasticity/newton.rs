//! Newton's method on the incremental potential: a step that is converged, not linearised once, for any law.
//!
//! The change w of the velocities minimises
//!   E(w) = ½ (w - k)ᵀ M (w - k) + U(x̂ + dt w),   k = v* - v,
//! U the elastic energy with the zero-energy control; its gradient M (w - k) - dt f vanishes where the implicit step is
//! solved. An iteration solves (M + dt² H) d = -∇E by conjugate gradients, H the Hessian with its negative eigenvalues
//! removed per particle, so that d goes downhill, and halves d until E decreases.
#![allow(non_snake_case)] // E, F, H, M, U as in the theory

use super::implicit::{ImplicitSolver, SolvePart, SolveReport, StepInput};
use super::pieces::Pieces;
use super::{Deformation, ElasticBody};
use crate::linear::{Solved, Tolerance};
use crate::material::Tangent;
use crate::math::{CHUNK, LANES, Lane, Mat3x8, Real, Sym3x8, Vec3x8, double_dot, sum, svd_lanes};
use rayon::prelude::*;

/// Converged: what is left to gain, -∇E·d, is below this part of Σ m (|k|² + |w|²), so that w is off by a thousandth.
const CONVERGED: Real = 1e-6;
/// Converged to rounding: what is left to gain is below this part of E.
const NEGLIGIBLE: Real = 1e-10;
const MAX_ITERATIONS: usize = 30;
/// Relative residual of the linear solves; Newton's own convergence makes up for it.
const LINEAR: Real = 1e-2;
/// Times a direction is halved.
const HALVINGS: usize = 12;
/// Part of the decrease promised by the slope that a step must reach.
const DECREASE: Real = 1e-4;
/// Rounding of an energy, relative to it: differences below it say nothing.
const ROUNDING: Real = 1e-6;

/// Tangents of eight particles: `material::Tangent` in lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceTangent {
    u: Mat3x8,
    v: Mat3x8,
    stretch: Sym3x8,
    twist: Vec3x8,
    flip: Vec3x8,
}

impl SliceTangent {
    pub const ZERO: SliceTangent = SliceTangent {
        u: Mat3x8::ZERO,
        v: Mat3x8::ZERO,
        stretch: Sym3x8::ZERO,
        twist: Vec3x8::ZERO,
        flip: Vec3x8::ZERO,
    };

    pub fn set(&mut self, lane: usize, tangent: &Tangent) {
        self.u.set(lane, tangent.u);
        self.v.set(lane, tangent.v);
        self.stretch.set(lane, tangent.stretch);
        self.twist.set(lane, tangent.twist);
        self.flip.set(lane, tangent.flip);
    }

    /// dP for a change dF.
    #[inline(always)]
    pub fn apply(&self, dF: Mat3x8) -> Mat3x8 {
        let A = self.u.transpose_mul(dF).mul_mat(self.v);
        let half = Lane::splat(0.5);
        let diagonal = self.stretch.full().mul_vec(Vec3x8::new(A.c[0].x, A.c[1].y, A.c[2].z));
        // (A_kl, A_lk) of the pair without direction m
        let pair = |kl: Lane, lk: Lane, twist: Lane, flip: Lane| {
            let (t, f) = ((kl - lk) * half * twist, (kl + lk) * half * flip);
            (f + t, f - t)
        };
        let (yz, zy) = pair(A.c[2].y, A.c[1].z, self.twist.x, self.flip.x);
        let (zx, xz) = pair(A.c[0].z, A.c[2].x, self.twist.y, self.flip.y);
        let (xy, yx) = pair(A.c[1].x, A.c[0].y, self.twist.z, self.flip.z);
        let dA = Mat3x8 {
            c: [
                Vec3x8::new(diagonal.x, yx, zx),
                Vec3x8::new(xy, diagonal.y, zy),
                Vec3x8::new(xz, yz, diagonal.z),
            ],
        };
        self.u.mul_mat(dA).mul_mat(self.v.transpose())
    }
}

/// What Newton's method keeps between steps.
#[derive(Clone, Debug)]
pub(super) struct Newton {
    pub tangents: Vec<SliceTangent>,
    direction: Vec<glam::Vec3>,
    trial: Vec<glam::Vec3>,
    pieces: Pieces,
}

impl Newton {
    pub fn new(body: &ElasticBody) -> Self {
        let n = body.len();
        Newton {
            tangents: vec![SliceTangent::ZERO; n.div_ceil(LANES)],
            direction: vec![glam::Vec3::ZERO; n],
            trial: vec![glam::Vec3::ZERO; n],
            pieces: Pieces::of(&body.rest.neighbors, n),
        }
    }

    /// Minimises E over `solver.change`, which holds a first guess.
    pub fn minimise(
        &mut self,
        solver: &mut ImplicitSolver,
        body: &mut ElasticBody,
        step: &StepInput,
        report: &mut SolveReport,
    ) -> Deformation {
        let n = self.direction.len();
        let dt = step.dt;
        let held = solver.held.clone();
        let masses = solver.masses.clone();
        let velocity = |i: usize| if held[i] { step.pushed[i] } else { step.velocities[i] };
        let kick = |i: usize| (step.pushed[i] - velocity(i)).as_vec3();
        let place = |w: &[glam::Vec3], i: usize| step.positions[i] + (velocity(i) + w[i].as_dvec3()) * dt;
        let inertia =
            |w: &[glam::Vec3]| sum(n, 0.0, |i| 0.5 * (masses[i] * (w[i] - kick(i)).length_squared()) as Real);
        let mut energy_at =
            |body: &mut ElasticBody, w: &[glam::Vec3], tangents: Option<&mut [SliceTangent]>| {
                body.localize(|i| place(w, i), &[]);
                inertia(w) + body.energy(tangents)
            };

        // As in the last step or on with the old velocity, whichever is better; stay in place if neither can be.
        let mut E = energy_at(body, &solver.change, None);
        for guess in [Guess::GoOn, Guess::Stay] {
            if guess == Guess::Stay && E.is_finite() {
                break;
            }
            let stay = |i: usize| if held[i] { glam::Vec3::ZERO } else { -step.velocities[i].as_vec3() };
            let w = |i: usize| if guess == Guess::Stay { stay(i) } else { glam::Vec3::ZERO };
            self.trial.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, slot)| *slot = w(i));
            let energy = energy_at(body, &self.trial, None);
            if energy < E {
                std::mem::swap(&mut solver.change, &mut self.trial);
                E = energy;
            }
        }

        loop {
            let w = &solver.change;
            let deformation = body.compute_forces_at(n, |i| place(w, i), step.velocities);
            let (right, forces) = (&mut solver.right, &body.forces);
            right.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, right)| {
                let gradient = (w[i] - kick(i)) * masses[i] - forces[i] * dt as f32;
                *right = if held[i] { glam::Vec3::ZERO } else { -gradient };
            });
            // the rotations have moved with the forces: the energy of the same place, and the tangents there
            E = energy_at(body, w, Some(&mut self.tangents));
            if !E.is_finite() || report.newton == MAX_ITERATIONS {
                report
                    .finish(SolvePart::Whole, Solved { residual: 1.0, converged: false, ..Solved::NOTHING });
                return deformation;
            }
            std::mem::swap(&mut solver.change, &mut self.direction);
            solver.change.fill(glam::Vec3::ZERO);
            let solved = solver.iterate_with(body, dt, &self.tangents, Tolerance::Relative(LINEAR));
            std::mem::swap(&mut solver.change, &mut self.direction);
            report.newton += 1;
            report.note(SolvePart::Whole, solved);
            let (right, direction, w) = (&solver.right, &self.direction, &solver.change);
            let gain = sum(n, 0.0, |i| right[i].dot(direction[i]) as Real);
            let size =
                sum(n, 0.0, |i| (masses[i] * (kick(i).length_squared() + w[i].length_squared())) as Real);
            let converged = gain <= CONVERGED * size || gain <= NEGLIGIBLE * E.abs();
            let descended = self.descend(solver, body, E, gain, &mut energy_at);
            if converged || !descended {
                let residual = (gain.max(0.0) / size.max(Real::MIN_POSITIVE)).sqrt();
                report.finish(SolvePart::Whole, Solved { residual, converged, ..Solved::NOTHING });
                return deformation;
            }
        }
    }

    /// Takes the momenta of w - k, what elastic forces gave, out of `solver.change`; w is in `solver.start`.
    pub fn keep_momenta(&self, solver: &mut ImplicitSolver, step: &StepInput) {
        let ImplicitSolver { start, change, masses, held, .. } = solver;
        let gained = |i: usize| start[i].as_dvec3() + step.velocities[i] - step.pushed[i];
        self.pieces.keep_momenta(masses, step.positions, |i| held[i], gained, change);
    }

    /// Goes along the direction, halved until the energy decreases; false if it never does.
    fn descend(
        &mut self,
        solver: &mut ImplicitSolver,
        body: &mut ElasticBody,
        E: Real,
        gain: Real,
        energy_at: &mut impl FnMut(&mut ElasticBody, &[glam::Vec3], Option<&mut [SliceTangent]>) -> Real,
    ) -> bool {
        let mut length = 1.0f32;
        for _ in 0..HALVINGS {
            let (w, d) = (&solver.change, &self.direction);
            self.trial
                .par_iter_mut()
                .with_min_len(CHUNK)
                .enumerate()
                .for_each(|(i, trial)| *trial = w[i] + d[i] * length);
            let energy = energy_at(body, &self.trial, None);
            if energy <= E - DECREASE * length as Real * gain + ROUNDING * E.abs() {
                std::mem::swap(&mut solver.change, &mut self.trial);
                return true;
            }
            length *= 0.5;
        }
        false
    }
}

#[derive(PartialEq)]
enum Guess {
    GoOn,
    Stay,
}

impl ElasticBody {
    /// Elastic energy at the positions last localized, zero-energy control included [J]; with the tangents there.
    ///
    /// Of the control, Σ_j beta |u_ji - D X_ji|² with D = F - Q is S - 2 D : U + D M : D, where S = Σ_j beta |u_ji|².
    pub(super) fn energy(&self, tangents: Option<&mut [SliceTangent]>) -> Real {
        let slices = self.rest.slices.len();
        let of_slice = |s: usize, tangent: Option<&mut SliceTangent>| self.energy_of_slice(s, tangent);
        let mut energies = vec![0.0; slices];
        match tangents {
            Some(tangents) => energies
                .par_iter_mut()
                .zip(tangents)
                .with_min_len(8)
                .enumerate()
                .for_each(|(s, (energy, tangent))| *energy = of_slice(s, Some(tangent))),
            None => {
                energies.par_iter_mut().with_min_len(8).enumerate().for_each(|(s, e)| *e = of_slice(s, None))
            }
        }
        energies.into_iter().sum()
    }

    fn energy_of_slice(&self, s: usize, mut tangent: Option<&mut SliceTangent>) -> Real {
        let (rest, law) = (&*self.rest, self.constants.law);
        let state = self.deformation_of_slice(s);
        let svds = svd_lanes(state.F);
        let mut energy = 0.0;
        for lane in 0..LANES.min(self.len() - s * LANES) {
            let i = s * LANES + lane;
            let (mu, lambda) = (self.moduli.shear, self.lambda_of(i));
            let d = svds.get(lane);
            energy += rest.volumes[i] * law.energy(mu, lambda, d.sigma);
            if let Some(tangent) = &mut tangent {
                tangent.set(lane, &Tangent::of(law, mu, lambda, d, true));
            }
            let (D, U) = ((state.F - self.frame()).get(lane), state.U.get(lane));
            let M = rest.rest_gradient_of(i) * rest.volumes[i];
            let S = state.S.as_array()[lane] as Real;
            energy += 0.5 * self.constants.z * (S - 2.0 * double_dot(D, U) + double_dot(D * M, D));
        }
        energy
    }
}
