//! The iterated systems of an implicit body, made easy: blocks of the diagonal, and grids where the body is stiff.
//!
//! docs/theory/solvers.md compares the candidates and gives the rule: grids pay above a stiffness number
//! S = dt² E / (rho s²) that depends on whether the body is a solid, a sheet or a rod.
#![allow(non_snake_case)] // K, R, V, W as in the theory

use super::implicit::System;
use super::{ElasticBody, Solver, stretch::Stiffnesses};
use crate::linear::{self, BlockJacobi, CorotatedPoint, Multigrid, ScalarPoint};
use crate::math::{LANES, Mat3, Real, Vec3, outer};
use glam::Mat3A;
use rayon::prelude::*;

/// Stiffness numbers above which grids pay, for rods, sheets and solids.
const GRIDS_PAY: [Real; 3] = [3000.0, 50.0, 15.0];
/// The same where iterations are over cells, and cost a fifth.
const GRIDS_PAY_OVER_CELLS: [Real; 3] = [3000.0, 1000.0, 40.0];

/// What of the diagonal of K does not change: sums over the particles k whose gradient particle i enters, with its
/// coefficient w_k, in the rest frame.
#[derive(Clone, Copy, Debug)]
struct Diagonal {
    /// Σ V_k w_k ⊗ w_k.
    gradients: glam::Mat3,
    /// Of the zero-energy control, over z.
    zero_energy: f32,
    /// Dimensions of the neighbourhood.
    rank: u32,
}

/// M⁻¹ = D⁻¹ + P (V-cycle) Pᵀ, the second part only for stiff bodies.
#[derive(Clone, Debug)]
pub(super) struct BodyPreconditioner {
    diagonals: Vec<Diagonal>,
    /// One for rods, two for sheets, three for solids.
    dimensions: usize,
    blocks: BlockJacobi,
    /// Which particles the grids take as held.
    held: Vec<bool>,
    corotated: Option<Multigrid<Mat3A>>,
    scalar: Option<(Multigrid<f32>, Stiffnesses)>,
    /// The system it is set for.
    system: System,
    uses_grids: bool,
}

impl BodyPreconditioner {
    pub fn new(body: &ElasticBody) -> Self {
        let missing: Real = (0..body.len()).map(|i| crate::math::trace(body.rest.null_of(i))).sum();
        let dimensions = 3 - (missing / body.len() as Real).round().clamp(0.0, 2.0) as usize;
        BodyPreconditioner {
            diagonals: diagonals(body),
            dimensions,
            blocks: BlockJacobi::default(),
            held: Vec::new(),
            corotated: None,
            scalar: None,
            system: System::Whole,
            uses_grids: false,
        }
    }

    /// Stiffness number S of a step.
    pub fn stiffness_number(body: &ElasticBody, masses: &[f32], dt: Real) -> Real {
        let spacing = body.rest.volumes[0].cbrt();
        dt * dt * body.moduli.youngs_modulus() * spacing / masses[0] as Real
    }

    pub fn wants_grids(&self, body: &ElasticBody, masses: &[f32], dt: Real) -> bool {
        let is_over_cells = body.rest.cells.is_some() && body.solver() == Solver::Linear;
        let limits = if is_over_cells { GRIDS_PAY_OVER_CELLS } else { GRIDS_PAY };
        Self::stiffness_number(body, masses, dt) > limits[self.dimensions - 1]
    }

    /// The mean of the diagonal's three entries at particle i of M + dt² K.
    pub fn mean_diagonal(&self, body: &ElasticBody, i: usize, mass: f32, dt: Real) -> f32 {
        let (mu, lambda, z) = (body.moduli.shear as f32, body.lambda_of(i) as f32, body.constants.z as f32);
        mass + (dt * dt) as f32 * self.mean_stiffness(i, (mu, lambda, z))
    }

    /// The same of K, with these moduli and this zero-energy stiffness.
    pub fn mean_stiffness(&self, i: usize, (mu, lambda, z): (f32, f32, f32)) -> f32 {
        let diagonal = &self.diagonals[i];
        let size = diagonal.size();
        (mu + lambda) * size / 3.0 + mu * size + z * diagonal.zero_energy
    }

    /// What tells particles apart whose diagonals differ by more than rounding, whatever the moduli.
    pub fn mark(&self, i: usize) -> [u32; 3] {
        // numbers without their last four bits
        let mark = |number: f32| (number.to_bits() + 8) >> 4;
        let diagonal = &self.diagonals[i];
        [mark(diagonal.size()), mark(diagonal.zero_energy), diagonal.rank]
    }

    /// The grids of the system it is set for, if there are any.
    pub fn grids(&mut self) -> Option<&mut Multigrid<Mat3A>> {
        self.corotated.as_mut().filter(|_| self.uses_grids && self.system == System::Whole)
    }

    /// Sets it for M + dt² K (or K_s) with the rotations the body has.
    pub fn set(&mut self, body: &ElasticBody, masses: &[f32], held: &[bool], dt: Real, system: System) {
        let (mu, z, dt2) = (body.moduli.shear as f32, body.constants.z as f32, (dt * dt) as f32);
        let diagonals = &self.diagonals;
        let lambda = |i: usize| body.lambda_of(i) as f32;
        let rotation = |i: usize| glam::Mat3::from_quat(body.rotations[i / LANES].get(i % LANES).as_quat());
        let block = |i: usize| diagonals[i].block(system, mu, lambda(i), z) * dt2;
        self.blocks.set_inverse(masses.len(), |i| {
            let mass = glam::Mat3::from_diagonal(glam::Vec3::splat(masses[i]));
            let (R, block) = (rotation(i), block(i) + mass);
            R * block.inverse() * R.transpose()
        });
        self.set_grids(body, masses, held, dt, system);
    }

    /// Sets the grids alone.
    pub fn set_grids(&mut self, body: &ElasticBody, masses: &[f32], held: &[bool], dt: Real, system: System) {
        let (mu, z, dt2) = (body.moduli.shear as f32, body.constants.z as f32, (dt * dt) as f32);
        let diagonals = &self.diagonals;
        let lambda = |i: usize| body.lambda_of(i) as f32;
        let rotation = |i: usize| glam::Mat3::from_quat(body.rotations[i / LANES].get(i % LANES).as_quat());
        let block = |i: usize| diagonals[i].block(system, mu, lambda(i), z) * dt2;
        self.system = system;
        self.uses_grids = self.wants_grids(body, masses, dt);
        if !self.uses_grids {
            return;
        }
        if self.held != held {
            self.held = held.to_vec();
            (self.corotated, self.scalar) = (None, None);
        }
        let (rest, spacing) = (&body.rest, body.rest.volumes[0].cbrt());
        // to move past a held particle costs what its diagonal says
        let mass = |i: usize| {
            if held[i] {
                let b = block(i);
                masses[i] + (b.x_axis.x + b.y_axis.y + b.z_axis.z) / 3.0
            } else {
                masses[i]
            }
        };
        let volume = |i: usize| rest.volumes[i] as f32 * dt2;
        if system == System::Whole {
            let lay = || Multigrid::new(&rest.positions, spacing, |i| held[i]);
            self.corotated.get_or_insert_with(lay).update(|i| CorotatedPoint {
                mass: mass(i),
                mu: mu * volume(i),
                lambda: lambda(i) * volume(i),
                rotation: (rotation(i) * (glam::Mat3::IDENTITY - rest.null_of(i).as_mat3())).into(),
            });
        } else {
            let stiffnesses = Stiffnesses::new(body, dt);
            let (mut grids, of) = self.scalar.take().unwrap_or_else(|| {
                let nothing = Stiffnesses { shear: 0.0, zero_energy: 0.0 };
                (Multigrid::new(&rest.positions, spacing, |i| held[i]), nothing)
            });
            if of != stiffnesses {
                grids.update(|i| ScalarPoint { mass: mass(i), stiffness: 2.0 * mu * volume(i) });
            }
            self.scalar = Some((grids, stiffnesses));
        }
    }

    pub fn bytes(&self) -> usize {
        let grids = self.corotated.as_ref().map_or(0, Multigrid::bytes)
            + self.scalar.as_ref().map_or(0, |(grids, _)| grids.bytes());
        self.diagonals.len() * (size_of::<Diagonal>() + 6 * size_of::<f32>() + 1) + grids
    }
}

impl linear::Preconditioner for BodyPreconditioner {
    fn apply(&mut self, r: &[glam::Vec3], z: &mut [glam::Vec3]) {
        self.blocks.apply(r, z);
        if self.uses_grids {
            match (self.system, &mut self.corotated, &mut self.scalar) {
                (System::Stretch, _, Some((grids, _))) => grids.add(r, z),
                (_, Some(grids), _) => grids.add(r, z),
                _ => {}
            }
        }
    }

    fn apply_with_product(&mut self, r: &[glam::Vec3], z: &mut [glam::Vec3]) -> f64 {
        if self.uses_grids {
            self.apply(r, z);
            return linear::product(r, z);
        }
        self.blocks.apply_with_product(r, z)
    }
}

impl Diagonal {
    /// Σ V_k |w_k|².
    fn size(&self) -> f32 {
        self.gradients.x_axis.x + self.gradients.y_axis.y + self.gradients.z_axis.z
    }

    /// The block of K or K_s: of V (mu |dF + R dFᵀ R|²/2 + lambda (R : dF)²) with dF = p ⊗ w.
    fn block(&self, system: System, mu: f32, lambda: f32, z: f32) -> glam::Mat3 {
        let (W, size) = (self.gradients, self.size());
        let scalar = |s: f32| glam::Mat3::from_diagonal(glam::Vec3::splat(s));
        match system {
            System::Whole => W * (mu + lambda) + scalar(mu * size + z * self.zero_energy),
            System::Stretch => scalar(2.0 * mu * size + z * self.zero_energy),
        }
    }
}

/// F_k = Σ_l (x_l - x_k) ⊗ C_k b_kl depends on x_i by w_k = C_k b_ki for neighbours k and by w_i = -C_i Σ_l b_il;
/// the zero-energy control is Σ_l beta_kl |x_kl|² - B_k C_k : B_k.
fn diagonals(body: &ElasticBody) -> Vec<Diagonal> {
    let rest = &body.rest;
    let diagonal = |i: usize| {
        let (mut W, mut zero_energy, mut b_i) = (Mat3::ZERO, 0.0, Vec3::ZERO);
        rest.neighbors.for_each_of(i, |k, b, beta| {
            let w = rest.correction_of(k) * b;
            W += outer(w, w) * rest.volumes[k];
            zero_energy += 2.0 * beta - b.dot(w);
            b_i += b;
        });
        let w = rest.correction_of(i) * b_i;
        W += outer(w, w) * rest.volumes[i];
        zero_energy -= b_i.dot(w);
        let rank = rest.ranks.get(i / LANES).map_or(3, |ranks| ranks[i % LANES] as u32);
        Diagonal { gradients: W.as_mat3(), zero_energy: zero_energy as f32, rank }
    };
    (0..body.len()).into_par_iter().with_min_len(128).map(diagonal).collect()
}
