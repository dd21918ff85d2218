//! An elastic body: rest state, rotations, and the two passes over its pairs.
//!
//! Zero-energy control. What F_i does not explain of its neighbours' positions costs energy (theory §5.3-5.4),
//!   U_z = Σ_i ½ Σ_j z beta_ij |x_ij - F_i X_ij|²,   z = alpha E / 8,
//! with F_i = B_i C_i, the least-squares fit for the same weights beta. Its force is then exactly
//!   f_i = Σ_j z beta_ij ((F_i + F_j) X_ij - 2 x_ij) = Σ_j [ -z (F_i + F_j) b_ij + 2 z beta_ij x_ji ]:
//! the first part joins the stress, T_i ← T_i - z F_i, and nothing else is gathered per pair. We differ from the
//! central force of Ganzenmüller 2015: the vector form resists the bending of a single-layer sheet to first order and
//! derives from an energy. The factor 1/8 gives a lattice the strength alpha E/2 · W/|X|² of the original weights.
//!
//! Precision. Pairs see displacements u = (x - x_c) - Q (X - X_c) from a rigid frame that follows particle c in the
//! middle of the body, so that x_ji = Q X_ji + u_ji and B = Q M + U with U = Σ u_ji ⊗ b_ij, and the
//! constant M = Σ X_ji ⊗ b_ij enters by its closed form (M C is the identity on the span). What is rounded to single
//! precision is then the deformation and not the position: strain has the same error in a body of any size, and a body
//! that flies without being strained has none at all.
#![allow(non_snake_case)] // B, A, F, T as in the theory

use super::moduli::Lambda;
use super::rest::{Rest, SliceRest};
use super::{Method, Model, SolveTolerance, Solver, becker2009, mls2004, solenthaler2007};
use crate::kernel::Kernel;
use crate::material::{Law, Moduli};
use crate::math::{
    LANES, Lane, Mat3, Mat3x8, Quat, Quatx8, Real, Sym3x8, Vec3, Vec3x8, gather4, polar_rotation,
};
use rayon::prelude::*;
use std::sync::Arc;

/// Slices a task works on.
pub(super) const SLICES_PER_TASK: usize = 32;

/// What is the same for all particles of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub model: Model,
    pub law: Law,
    /// Shear modulus [Pa].
    pub mu: Real,
    pub two_mu: Lane,
    /// Zero-energy stiffness z = alpha E / 8 [Pa].
    pub z: Real,
    /// Strength alpha of the zero-energy control.
    pub zero_energy: Real,
    /// XSPH coefficient times density [kg/(m3 s)].
    pub xsph_density: Real,
    /// Do all particles turn as one? See `gathering.rs`.
    pub gathers: bool,
    kernel: Kernel,
}

impl Constants {
    /// sigma = 2 mu eps + lambda tr(eps) I.
    #[inline(always)]
    pub fn stress(&self, eps: Sym3x8, lambda: Lane) -> Sym3x8 {
        eps.scale(self.two_mu).add_diagonal(lambda * eps.trace())
    }

    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    pub fn set_moduli(&mut self, moduli: Moduli) {
        self.mu = moduli.shear;
        self.two_mu = Lane::splat(2.0 * moduli.shear as f32);
        self.z = self.zero_energy * moduli.youngs_modulus() / 8.0;
    }

    /// The law that holds now.
    #[inline(always)]
    pub fn law_now(&self) -> Law {
        if self.gathers { Law::Corotated } else { self.law }
    }

    /// The rotation of A, near the last one; that of the whole body while it gathers.
    #[inline(always)]
    pub fn rotation_of(&self, A: Mat3x8, last: Quatx8) -> (Quatx8, Mat3x8) {
        if self.gathers { (last, last.matrix()) } else { polar_rotation(A, last) }
    }

    /// Green strain (FᵀF - I)/2.
    #[inline(always)]
    pub fn green(&self, F: Mat3x8) -> Sym3x8 {
        F.gram().add_diagonal(-Lane::ONE).scale(Lane::splat(0.5))
    }
}

/// What pass 2 reads of a neighbour: one cache line, two lanes to be transposed.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Record {
    /// T - z U C by columns, the last entry in `rest`.
    pub t: [f32; LANES],
    pub rest: RecordRest,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct RecordRest {
    /// Last entry of T - z U C.
    pub t8: f32,
    /// Displacement from the body's rigid frame.
    pub u: [f32; 3],
    /// Velocity (only with XSPH).
    v: [f32; 3],
    /// Last entry of Y (becker2009); change of volume tr(eps) (kugelstadt2021).
    pub last: f32,
}

impl RecordRest {
    #[inline(always)]
    pub fn lane(&self) -> Lane {
        let RecordRest { t8, u: [ux, uy, uz], v: [vx, vy, vz], last } = *self;
        Lane::from([t8, ux, uy, uz, vx, vy, vz, last])
    }
}

/// Extremes of the deformation found in a pass.
#[derive(Clone, Copy, Debug)]
pub struct Deformation {
    /// Largest squared Frobenius norm of F; infinite where F is not finite.
    pub max_norm_squared: f32,
    /// Particle of the body that has it.
    pub particle: usize,
    /// Largest stiffness over that at rest, of laws that do not follow from the norm; infinite where a law forbids F.
    pub max_stiffening: f32,
}

/// The elastic state of one body.
#[derive(Clone, Debug)]
pub struct ElasticBody {
    pub(super) constants: Constants,
    /// Shared by bodies that are alike.
    pub(super) rest: Arc<Rest>,
    /// Present moduli; `constants` and `lambda` follow, see `set_moduli`.
    pub(super) moduli: Moduli,
    pub(super) lambda: Lambda,
    solver: Solver,
    tolerance: SolveTolerance,
    /// Per-particle rotations R_i, warm start of the next step: state, saved in checkpoints.
    pub(super) rotations: Vec<Quatx8>,
    /// Displacements from the rigid frame, computed by `localize`.
    local: Vec<[f32; 4]>,
    /// Rotation Q of the rigid frame, computed by `localize`.
    frame: Mat3x8,
    /// Computed by `deform`.
    pub(super) records: Vec<Record>,
    /// Y_i of becker2009 by columns, the last entry in the records; computed by `deform`, empty for other methods.
    spins: Vec<[f32; LANES]>,
    /// Elastic, zero-energy and XSPH force [N], computed by `compute_forces`.
    pub forces: Vec<glam::Vec3>,
}

impl ElasticBody {
    /// `rest` positions are turned as the body stands at the start; `volume` is that of one particle.
    pub fn new(
        rest: Vec<Vec3>,
        volume: Real,
        density: Real,
        kernel: Kernel,
        method: Method,
        moduli: Moduli,
    ) -> Self {
        let (model, law) = (method.model.name(), method.law.name());
        assert!(method.model.accepts(method.law), "{model} cannot compute {law}");
        let rest = Arc::new(Rest::build(rest, volume, kernel, method));
        let n = rest.positions.len();
        let mut constants = Constants {
            model: method.model,
            law: method.law,
            mu: 0.0,
            two_mu: Lane::ZERO,
            z: 0.0,
            zero_energy: method.zero_energy,
            xsph_density: method.xsph * density,
            gathers: false,
            kernel,
        };
        constants.set_moduli(moduli);
        let rest_of_record = RecordRest { t8: 0.0, u: [0.0; 3], v: [0.0; 3], last: 0.0 };
        let record = Record { t: [0.0; LANES], rest: rest_of_record };
        ElasticBody {
            constants,
            lambda: Lambda::new(moduli, &rest.ranks),
            rest,
            moduli,
            solver: method.solver,
            tolerance: method.tolerance,
            rotations: vec![Quatx8::splat(Quat::IDENTITY); n.div_ceil(LANES)],
            local: vec![[0.0; 4]; n],
            frame: Mat3x8::diagonal(Lane::ONE),
            records: vec![record; n],
            spins: vec![[0.0; LANES]; if method.model == Model::Becker2009 { n } else { 0 }],
            forces: vec![glam::Vec3::ZERO; n],
        }
    }

    /// A body alike: it shares the rest state and holds only what changes.
    pub fn twin(&self) -> Self {
        let mut twin = self.clone();
        twin.forget_rotations();
        twin
    }

    /// Forces on all particles at these positions and velocities; without velocities nothing moves.
    pub fn compute_forces(&mut self, positions: &[Vec3], velocities: &[Vec3]) -> Deformation {
        self.compute_forces_at(positions.len(), |i| positions[i], velocities)
    }

    /// The same for positions that are not stored anywhere.
    pub(super) fn compute_forces_at(
        &mut self,
        n: usize,
        positions: impl Fn(usize) -> Vec3 + Sync,
        velocities: &[Vec3],
    ) -> Deformation {
        if self.constants.gathers {
            self.turn_as_one(n, &positions);
        }
        self.localize(positions, velocities);
        let deformation = self.deform();
        self.sum_forces();
        deformation
    }

    /// F, U and S = Σ_j beta_ij |u_ji|² of a slice, at the positions last localized.
    pub(super) fn deformation_of_slice(&self, s: usize) -> SliceDeformation {
        let (rest, local) = (&*self.rest, &self.local[..]);
        let last = local.len() - 1;
        let u_i = gather(local, &eight!(|lane: usize| (s * LANES + lane).min(last) as u32));
        let (mut U, mut S) = (Mat3x8::ZERO, Lane::ZERO);
        for (k, row) in rest.neighbors.range(s).zip(rest.neighbors.slice(s)) {
            let u_ji = gather(local, &row.j) - u_i;
            U.add_outer(u_ji, Vec3x8::new(Lane::from(row.b[0]), Lane::from(row.b[1]), Lane::from(row.b[2])));
            S += u_ji.dot(u_ji) * Lane::from(rest.neighbors.betas[k]);
        }
        let fit = U.mul_mat(rest.slices[s].correction.full());
        let F = match rest.null.get(s) {
            None => self.frame + fit,
            Some(n) => {
                let F = self.frame - self.frame.mul_mat(n.full()) + fit;
                F + polar_rotation(F, self.rotations[s]).1.mul_mat(n.full())
            }
        };
        SliceDeformation { F, U, S }
    }

    pub(super) fn solver(&self) -> Solver {
        self.solver
    }

    pub(super) fn tolerance(&self) -> SolveTolerance {
        self.tolerance
    }

    /// Rotation Q of the rigid frame.
    pub(super) fn frame(&self) -> Mat3x8 {
        self.frame
    }

    /// The forces without those of the volume (lambda = 0). The records have the changes of volume.
    pub(super) fn compute_stretching_forces_at(
        &mut self,
        n: usize,
        positions: impl Fn(usize) -> Vec3 + Sync,
        velocities: &[Vec3],
    ) -> Deformation {
        let lambda = std::mem::replace(&mut self.lambda, Lambda::none());
        let deformation = self.compute_forces_at(n, positions, velocities);
        self.lambda = lambda;
        deformation
    }

    /// Single-precision displacements from the rigid frame of a particle in the middle of the body.
    pub(super) fn localize(&mut self, positions: impl Fn(usize) -> Vec3 + Sync, velocities: &[Vec3]) {
        let middle = self.rest.middle;
        let center = positions(middle);
        let velocity = |i: usize| velocities.get(i).copied().unwrap_or(Vec3::ZERO);
        let mean_velocity = velocity(middle);
        let (rest, rest_center) = (&self.rest.positions[..], self.rest.positions[middle]);
        let frame = Mat3::from_quat(self.rotation(middle));
        self.frame = Mat3x8::splat(frame);
        let with_velocity = self.constants.xsph_density > 0.0;
        let chunk = SLICES_PER_TASK * LANES;
        self.local.par_chunks_mut(chunk).zip(self.records.par_chunks_mut(chunk)).enumerate().for_each(
            |(c, (local, records))| {
                for (k, (local, record)) in local.iter_mut().zip(records).enumerate() {
                    let i = c * chunk + k;
                    let u = ((positions(i) - center) - frame * (rest[i] - rest_center)).as_vec3();
                    *local = [u.x, u.y, u.z, 0.0];
                    record.rest.u = u.to_array();
                    if with_velocity {
                        record.rest.v = (velocity(i) - mean_velocity).as_vec3().to_array();
                    }
                }
            },
        );
    }

    /// Pass 1: U_i, the rotation, and the stress T_i - z U_i C_i of every particle.
    fn deform(&mut self) -> Deformation {
        let (constants, lambda, rest) = (&self.constants, &self.lambda, &*self.rest);
        let local = Local { u: &self.local, frame: self.frame };
        let chunk = SLICES_PER_TASK;
        let task =
            |c: usize, records: &mut [Record], rotations: &mut [Quatx8], spins: &mut [[f32; LANES]]| {
                let mut extreme = Deformation::none(c * chunk * LANES);
                for (k, rotation) in rotations.iter_mut().enumerate() {
                    let s = c * chunk + k;
                    let slice = stress_of_slice((constants, lambda.of_slice(s)), rest, local, s, rotation);
                    let (first, end) = (k * LANES, records.len().min((k + 1) * LANES));
                    let records = &mut records[first..end];
                    store(slice.T, records.iter_mut().map(|r| (&mut r.t, &mut r.rest.t8)));
                    if let Some(spins) = spins.get_mut(first..end) {
                        store(slice.Y, spins.iter_mut().zip(records).map(|(y, r)| (y, &mut r.rest.last)));
                    } else {
                        let dilations = slice.dilation.to_array();
                        records.iter_mut().zip(dilations).for_each(|(r, dilation)| r.rest.last = dilation);
                    }
                    extreme.include(slice.F.norm_squared(), slice.stiffening, s * LANES, end - first);
                }
                extreme
            };
        let tasks = self.records.par_chunks_mut(chunk * LANES).zip(self.rotations.par_chunks_mut(chunk));
        let none = || Deformation::none(0);
        if self.spins.is_empty() {
            let run = |(c, (records, rotations)): (usize, (&mut [Record], &mut [Quatx8]))| {
                task(c, records, rotations, &mut [])
            };
            tasks.enumerate().map(run).reduce(none, Deformation::larger)
        } else {
            let tasks = tasks.zip(self.spins.par_chunks_mut(chunk * LANES)).enumerate();
            tasks
                .map(|(c, ((records, rotations), spins))| task(c, records, rotations, spins))
                .reduce(none, Deformation::larger)
        }
    }

    /// Pass 2: f_i = Σ_j (T_i + T_j) b_ij + 2 z beta_ij u_ji (+ XSPH).
    fn sum_forces(&mut self) {
        let pass = match (self.constants.z > 0.0, self.constants.xsph_density > 0.0, !self.spins.is_empty()) {
            (false, false, false) => force_of_slice::<false, false, false>,
            (true, false, false) => force_of_slice::<true, false, false>,
            (false, true, false) => force_of_slice::<false, true, false>,
            (true, true, false) => force_of_slice::<true, true, false>,
            (false, false, true) => force_of_slice::<false, false, true>,
            (true, false, true) => force_of_slice::<true, false, true>,
            (false, true, true) => force_of_slice::<false, true, true>,
            (true, true, true) => force_of_slice::<true, true, true>,
        };
        let (constants, rest) = (&self.constants, &*self.rest);
        let neighbors = Columns { records: &self.records, spins: &self.spins };
        let chunk = SLICES_PER_TASK * LANES;
        self.forces.par_chunks_mut(chunk).enumerate().for_each(|(c, forces)| {
            for (k, out) in forces.chunks_mut(LANES).enumerate() {
                let f = pass(constants, rest, neighbors, c * SLICES_PER_TASK + k);
                let (x, y, z) = (f.x.as_array(), f.y.as_array(), f.z.as_array());
                for (lane, slot) in out.iter_mut().enumerate() {
                    *slot = glam::Vec3::new(x[lane], y[lane], z[lane]);
                }
            }
        });
    }

    /// y_i = finish(i, Σ_j (T_i + T_j) b_ij + 2 z beta_ij p_ji) for a stress T = stress(s, rest, R, U) of each slice that
    /// is linear in U_i = Σ_j p_ji ⊗ b_ij. Uses the work arrays of the force.
    pub(super) fn respond(
        &mut self,
        p: &[glam::Vec3],
        z: Real,
        stress: impl Fn(usize, &SliceRest, Mat3x8, Mat3x8) -> Mat3x8 + Sync,
        finish: impl Fn(usize, glam::Vec3) -> glam::Vec3 + Sync,
        y: &mut [glam::Vec3],
    ) {
        let chunk = SLICES_PER_TASK * LANES;
        self.local.par_chunks_mut(chunk).zip(p.par_chunks(chunk)).for_each(|(local, p)| {
            for (local, p) in local.iter_mut().zip(p) {
                *local = [p.x, p.y, p.z, 0.0];
            }
        });
        let (rest, local, rotations) = (&*self.rest, &self.local, &self.rotations);
        self.records.par_chunks_mut(chunk).enumerate().for_each(|(c, records)| {
            for (k, records) in records.chunks_mut(LANES).enumerate() {
                let s = c * SLICES_PER_TASK + k;
                let U = gradients::<false>(rest, local, s).0;
                let T = stress(s, &rest.slices[s], rotations[s].matrix(), U);
                store(T, records.iter_mut().map(|r| (&mut r.t, &mut r.rest.t8)));
                for (record, &[x, y, z, _]) in records.iter_mut().zip(&local[s * LANES..]) {
                    record.rest.u = [x, y, z];
                }
            }
        });
        let constants = Constants { z, ..self.constants };
        let columns = Columns { records: &self.records, spins: &[] };
        let pass = if z > 0.0 {
            force_of_slice::<true, false, false>
        } else {
            force_of_slice::<false, false, false>
        };
        y.par_chunks_mut(chunk).enumerate().for_each(|(c, y)| {
            for (k, out) in y.chunks_mut(LANES).enumerate() {
                let s = c * SLICES_PER_TASK + k;
                let f = pass(&constants, rest, columns, s);
                let (x, y, z) = (f.x.as_array(), f.y.as_array(), f.z.as_array());
                for (lane, slot) in out.iter_mut().enumerate() {
                    *slot = finish(s * LANES + lane, glam::Vec3::new(x[lane], y[lane], z[lane]));
                }
            }
        });
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.forces.len()
    }

    pub fn is_empty(&self) -> bool {
        self.forces.is_empty()
    }

    /// Directed rest pairs.
    pub fn pairs(&self) -> usize {
        self.rest.neighbors.pairs
    }

    /// Particles at the surface: those with clearly fewer neighbours than the fullest neighbourhood, and than the inside of
    /// a lattice; of sheets, rods and small bodies all.
    pub fn surface_particles(&self) -> Vec<usize> {
        let counts = self.rest.neighbors.counts();
        let fullest = counts.iter().copied().max().unwrap_or(0).max(self.rest.lattice_neighbors);
        (0..counts.len()).filter(|&i| counts[i] * 20 < fullest * 17).collect()
    }

    /// Rotation R_i of a particle, as of the last force evaluation.
    pub fn rotation(&self, i: usize) -> Quat {
        self.rotations[i / LANES].get(i % LANES).normalize()
    }

    /// Sets all rotations to the rest state's.
    pub(super) fn forget_rotations(&mut self) {
        self.rotations.fill(Quatx8::splat(Quat::IDENTITY));
    }

    /// The per-particle rotations as bytes, for a checkpoint.
    pub fn save_rotations(&self) -> Vec<u8> {
        let parts = self.rotations.iter().flat_map(|q| [q.x, q.y, q.z, q.w]);
        parts.flat_map(|lane| lane.to_array()).flat_map(f32::to_le_bytes).collect()
    }

    /// Restores what `save_rotations` gave; false if it belongs to another body.
    pub fn restore_rotations(&mut self, bytes: &[u8]) -> bool {
        if bytes.len() != self.rotations.len() * 4 * LANES * size_of::<f32>() {
            return false;
        }
        let mut numbers = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let mut lane = || Lane::from(std::array::from_fn::<f32, LANES, _>(|_| numbers.next().unwrap_or(0.0)));
        for q in &mut self.rotations {
            *q = Quatx8 { x: lane(), y: lane(), z: lane(), w: lane() };
        }
        true
    }

    /// Bytes held by the body's elastic state; of a shared rest state, the body's part.
    pub fn bytes(&self) -> usize {
        self.rest.bytes() / Arc::strong_count(&self.rest)
            + self.rotations.len() * size_of::<Quatx8>()
            + self.spins.len() * size_of::<[f32; LANES]>()
            + self.local.len() * (size_of::<[f32; 4]>() + size_of::<Record>() + size_of::<glam::Vec3>())
    }
}

impl Deformation {
    pub(super) fn none(particle: usize) -> Deformation {
        Deformation { max_norm_squared: -1.0, particle, max_stiffening: 1.0 }
    }

    fn include(&mut self, norm_squared: Lane, stiffening: Lane, first: usize, lanes: usize) {
        let columns = norm_squared.to_array().into_iter().zip(stiffening.to_array());
        for (lane, (n, stiffening)) in columns.take(lanes).enumerate() {
            let n = if n.is_finite() && stiffening.is_finite() { n } else { f32::INFINITY };
            if n > self.max_norm_squared {
                (self.max_norm_squared, self.particle) = (n, first + lane);
            }
            self.max_stiffening = self.max_stiffening.max(stiffening);
        }
    }

    /// A further particle, whose stiffness is that at rest.
    pub(super) fn note(&mut self, norm_squared: f32, particle: usize) {
        let n = if norm_squared.is_finite() { norm_squared } else { f32::INFINITY };
        if n > self.max_norm_squared || n == self.max_norm_squared && particle < self.particle {
            (self.max_norm_squared, self.particle) = (n, particle);
        }
    }

    pub(super) fn larger(self, o: Deformation) -> Deformation {
        let later = o.max_norm_squared == self.max_norm_squared && o.particle < self.particle;
        let max_stiffening = self.max_stiffening.max(o.max_stiffening);
        let larger = if o.max_norm_squared > self.max_norm_squared || later { o } else { self };
        Deformation { max_stiffening, ..larger }
    }
}

/// Displacements and the rigid frame they are measured from.
#[derive(Clone, Copy)]
struct Local<'a> {
    u: &'a [[f32; 4]],
    frame: Mat3x8,
}

/// The deformation of eight particles.
pub(super) struct SliceDeformation {
    pub F: Mat3x8,
    pub U: Mat3x8,
    pub S: Lane,
}

/// What pass 1 makes of a slice: T - z U C, Y (becker2009), tr(eps) (kugelstadt2021), F and the stiffness over that at
/// rest.
struct SliceState {
    T: Mat3x8,
    Y: Mat3x8,
    dilation: Lane,
    F: Mat3x8,
    stiffening: Lane,
}

/// The state of the eight particles of slice s.
#[inline(always)]
fn stress_of_slice(
    (k, lambda): (&Constants, Lane),
    rest: &Rest,
    local: Local,
    s: usize,
    rotation: &mut Quatx8,
) -> SliceState {
    let constants = &rest.slices[s];
    let (U, A) = match k.model {
        Model::Becker2009 => gradients::<true>(rest, local.u, s),
        _ => gradients::<false>(rest, local.u, s),
    };
    // F = B C = Q (I - N) + U C, N the projector onto missing dimensions.
    let fit = U.mul_mat(constants.correction.full());
    let null = rest.null.get(s);
    let Q = local.frame;
    let F = null.map_or(Q, |n| Q - Q.mul_mat(n.full())) + fit;
    let mut stiffening = Lane::ONE;
    let (T, Y) = match k.model {
        Model::Becker2009 => {
            let A = A + Q.mul_mat(rest.matching[s].full());
            becker2009::stress(k, (constants, lambda), (U, Q), A, rotation)
        }
        Model::Solenthaler2007 => (solenthaler2007::stress(k, (constants, lambda), U, Q), Mat3x8::ZERO),
        Model::Mls2004 | Model::Peer2018 | Model::Kugelstadt2021 => {
            (mls2004::stress(k, (constants, lambda), null, F, (rotation, &mut stiffening)), Mat3x8::ZERO)
        }
    };
    // Where a curved sheet leaves its tangent plane, the rotation carries it: F + R N, here relative to Q.
    let carried = null.map_or(fit, |n| fit + (rotation.matrix() - Q).mul_mat(n.full()));
    let dilation = if k.model == Model::Kugelstadt2021 {
        let span = null.map_or(Lane::splat(3.0), |n| Lane::splat(3.0) - n.trace());
        rotation.matrix().dot(F) - span
    } else {
        Lane::ZERO
    };
    SliceState { T: T - carried.scale(Lane::splat(k.z as f32)), Y, dilation, F, stiffening }
}

/// U_i = Σ_j u_ji ⊗ b_ij and, for shape matching, Σ_j V_i V_j W_ij u_ji ⊗ X_ji.
#[inline(always)]
pub(super) fn gradients<const SHAPE_MATCHING: bool>(
    rest: &Rest,
    local: &[[f32; 4]],
    s: usize,
) -> (Mat3x8, Mat3x8) {
    let last = local.len() - 1;
    let u_i = gather(local, &eight!(|lane: usize| (s * LANES + lane).min(last) as u32));
    let (mut U, mut A) = (Mat3x8::ZERO, Mat3x8::ZERO);
    for (k, row) in rest.neighbors.range(s).zip(rest.neighbors.slice(s)) {
        let u_ji = gather(local, &row.j) - u_i;
        let b = Vec3x8::new(Lane::from(row.b[0]), Lane::from(row.b[1]), Lane::from(row.b[2]));
        U.add_outer(u_ji, b);
        if SHAPE_MATCHING {
            A.add_outer(u_ji, b * Lane::from(rest.ratios[k]));
        }
    }
    (U, A)
}

/// Lanes from eight displacements.
#[inline(always)]
pub(super) fn gather(local: &[[f32; 4]], j: &[u32; LANES]) -> Vec3x8 {
    let [x, y, z, _] = gather4(local, j);
    Vec3x8::new(x, y, z)
}

/// Puts the matrices of a slice into eight and one numbers a particle, by columns.
#[inline(always)]
pub(super) fn store<'a>(M: Mat3x8, rows: impl Iterator<Item = (&'a mut [f32; LANES], &'a mut f32)>) {
    let [a, b, c] = M.c;
    let first = Lane::transpose([a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y]);
    for ((row, last), (lanes, z)) in rows.zip(first.iter().zip(c.z.to_array())) {
        *row = lanes.to_array();
        *last = z;
    }
}

/// What pass 2 reads of the neighbours.
#[derive(Clone, Copy)]
struct Columns<'a> {
    records: &'a [Record],
    spins: &'a [[f32; LANES]],
}

/// Σ_j (T_i + T_j) b_ij, plus the pair terms of the zero-energy control, of XSPH and of turning rotations.
#[inline(always)]
fn force_of_slice<const ZERO_ENERGY: bool, const XSPH: bool, const SPIN: bool>(
    k: &Constants,
    rest: &Rest,
    columns: Columns,
    s: usize,
) -> Vec3x8 {
    let last = columns.records.len() - 1;
    let own = eight!(|lane: usize| (s * LANES + lane).min(last) as u32);
    let mine = columns.gather::<SPIN>(&own);
    let two_z = Lane::splat(2.0 * k.z as f32);
    let xsph = Lane::splat(k.xsph_density as f32);
    let mut f = Vec3x8::ZERO;
    for (number, row) in rest.neighbors.range(s).zip(rest.neighbors.slice(s)) {
        let other = columns.gather::<SPIN>(&row.j);
        let beta = if ZERO_ENERGY || XSPH { Lane::from(rest.neighbors.betas[number]) } else { Lane::ZERO };
        let b = Vec3x8::new(Lane::from(row.b[0]), Lane::from(row.b[1]), Lane::from(row.b[2]));
        let weight = if XSPH || SPIN { Lane::from(rest.ratios[number]) } else { Lane::ZERO };
        let mut T = mine.T + other.T;
        if SPIN {
            T = T + (mine.Y + other.Y).scale(weight);
        }
        f = f + T.mul_vec(b);
        if ZERO_ENERGY {
            f = f + (other.u - mine.u) * (two_z * beta);
        }
        if XSPH {
            f = f + (other.v - mine.v) * (xsph * beta * weight);
        }
    }
    f
}

/// Eight particles as pass 2 sees them.
struct Gathered {
    T: Mat3x8,
    Y: Mat3x8,
    u: Vec3x8,
    v: Vec3x8,
}

impl Columns<'_> {
    /// Whole cache lines are loaded and transposed: three times fewer loads than number by number.
    #[inline(always)]
    fn gather<const SPIN: bool>(&self, j: &[u32; LANES]) -> Gathered {
        let record = |lane: usize| &self.records[j[lane] as usize];
        let t = Lane::transpose(eight!(|lane| Lane::from(record(lane).t)));
        let [t8, ux, uy, uz, vx, vy, vz, last] = Lane::transpose(eight!(|lane| record(lane).rest.lane()));
        let Y = if SPIN {
            matrix(Lane::transpose(eight!(|lane: usize| Lane::from(self.spins[j[lane] as usize]))), last)
        } else {
            Mat3x8::ZERO
        };
        Gathered { T: matrix(t, t8), Y, u: Vec3x8::new(ux, uy, uz), v: Vec3x8::new(vx, vy, vz) }
    }
}

/// Columns from eight entries and the last.
#[inline(always)]
pub(super) fn matrix(m: [Lane; LANES], last: Lane) -> Mat3x8 {
    let [a, b, c, d, e, f, g, h] = m;
    Mat3x8 { c: [Vec3x8::new(a, b, c), Vec3x8::new(d, e, f), Vec3x8::new(g, h, last)] }
}
