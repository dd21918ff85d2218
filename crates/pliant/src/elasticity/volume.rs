//! The volume part of `kugelstadt2021`, solved for one number a particle.
//!
//! With the rotations held, velocities w change the volume of particle k by
//!   (G w)_k = R_k C_k : Σ_l (w_l - w_k) ⊗ b_kl,
//! and the second solve of a step, with Λ = diag(lambda_k V_k), is
//!   (M + dt² Gᵀ Λ G) w = c,   c = M w_s + dt f_v.
//! It has three unknowns a particle, but its stiffness acts through one. With L = dt Λ^½ and y = L G w it is
//!   (1 + L G M⁻¹ Gᵀ L) y = L G M⁻¹ c,   w = M⁻¹ (c - Gᵀ L y),
//! solved by conjugate residuals. Of the residual r of this system, c - (M + dt² Gᵀ Λ G) w = -Gᵀ L r is left in the one
//! for w: it is computed in every iteration, and compared with the tolerance. (Conjugate gradients make another norm
//! small: they take up to 1.4 times as many iterations where the body is stiff.)
//!
//! Pairs. (Gᵀ s)_i = -s_i d_i - Σ_j s_j e_ij with e_ij = R_j C_j b_ij and d_i = R_i C_i Σ_j b_ij: the e are computed once
//! a step and streamed in place of the b, and only a number is gathered for each.
#![allow(non_snake_case)] // C, G, L, M, R, U as in the theory

use super::body::{SLICES_PER_TASK, gather, gradients, matrix, store};
use super::{ElasticBody, SolveTolerance};
use crate::linear::{Breakdown, Solved};
use crate::math::{LANES, Lane, Mat3x8, Real, Vec3x8};
use crate::neighbors::PairRow;
use glam::DVec2;
use rayon::prelude::*;

/// Particles a task works on.
const PARTICLES_PER_TASK: usize = SLICES_PER_TASK * LANES;

/// The step that is solved.
#[derive(Clone, Copy)]
pub(super) struct VolumeStep<'a> {
    pub dt: Real,
    pub masses: &'a [f32],
    pub held: &'a [bool],
    pub tolerance: SolveTolerance,
    pub max_iterations: usize,
}

/// Solves for the volume of a body.
#[derive(Clone, Debug)]
pub(super) struct Volume {
    tasks: Vec<Task>,
    /// L r by particle, to be gathered.
    pushes: Vec<f32>,
    /// M⁻¹ Gᵀ L r by particle, to be gathered.
    u: Vec<[f32; 4]>,
}

/// What a task works on.
#[derive(Clone, Debug)]
struct Task {
    /// The body's pairs, with e in place of b.
    rows: Vec<PairRow>,
    slices: Vec<Slice>,
    /// Of the last pass.
    sums: DVec2,
}

/// Eight particles.
#[derive(Clone, Debug)]
struct Slice {
    /// Rows that are theirs.
    rows: std::ops::Range<usize>,
    /// R C.
    turned: Mat3x8,
    /// d.
    own: Vec3x8,
    /// L.
    weight: Lane,
    /// Of held particles zero.
    inverse_mass: Lane,
    /// Kept: where the next solve starts.
    y: Lane,
    r: Lane,
    /// Search direction.
    p: Lane,
    /// A p.
    q: Lane,
    /// M⁻¹ Gᵀ L p.
    v: Vec3x8,
}

impl Volume {
    pub fn new(body: &ElasticBody) -> Self {
        let neighbors = &body.rest.neighbors;
        let starts: Vec<usize> = neighbors.slices.iter().map(|start| *start as usize).collect();
        let count = starts.len() - 1;
        let task = |first: usize| {
            let (from, end) = (starts[first], (first + SLICES_PER_TASK).min(count));
            let slices =
                starts[first..=end].windows(2).map(|ends| Slice::new(ends[0] - from..ends[1] - from));
            let rows = neighbors.rows[from..starts[end]].to_vec();
            Task { rows, slices: slices.collect(), sums: DVec2::ZERO }
        };
        Volume {
            tasks: (0..count).step_by(SLICES_PER_TASK).map(task).collect(),
            pushes: vec![0.0; count * LANES],
            u: vec![[0.0; 4]; body.len()],
        }
    }

    /// Makes w of the w_s given. Adds f_v to the body's forces, which are those of the stretching.
    pub fn solve(&mut self, body: &mut ElasticBody, step: VolumeStep, w: &mut [glam::Vec3]) -> Solved {
        self.set(body, step);
        let size = self.turn(body, step.dt as f32, w);
        let (is_relative, bound) = match step.tolerance {
            SolveTolerance::Relative(value) => (true, value),
            SolveTolerance::Absolute(value) => (false, value),
        };
        let mut solved = Solved::NOTHING;
        if size == 0.0 {
            return solved;
        }
        self.look(body, w);
        solved.products = 1;
        let mut before = Real::INFINITY;
        loop {
            let (left, curvature) = self.push(is_relative);
            solved.residual = if is_relative { (left / size).sqrt() } else { left / w.len() as Real };
            solved.breakdown = (!curvature.is_finite()).then_some(Breakdown::NotFinite);
            solved.converged = solved.residual <= bound;
            if solved.converged || solved.breakdown.is_some() || solved.iterations == step.max_iterations {
                return solved;
            }
            let square = self.pull(body, curvature / before);
            self.walk(curvature / square, w);
            solved.iterations += 1;
            solved.directions += 1;
            solved.products += 1;
            before = curvature;
        }
    }

    /// Sets R C, L and M⁻¹. Leaves R C, the stress lambda V tr(eps) and L y in the body's records.
    fn set(&mut self, body: &mut ElasticBody, step: VolumeStep) {
        let (rest, rotations, lambda) = (&*body.rest, &body.rotations, &body.lambda);
        let dt = Lane::splat(step.dt as f32);
        let inverse_mass = |i: usize| match step.held.get(i) {
            Some(false) => 1.0 / step.masses[i],
            _ => 0.0,
        };
        let tasks = self.tasks.par_iter_mut().zip(body.records.par_chunks_mut(PARTICLES_PER_TASK));
        tasks.enumerate().for_each(|(task, (Task { slices, .. }, records))| {
            for (k, (slice, records)) in slices.iter_mut().zip(records.chunks_mut(LANES)).enumerate() {
                let s = task * SLICES_PER_TASK + k;
                let stiffness = lambda.of_slice(s) * rest.slices[s].volume;
                slice.turned = rotations[s].matrix().mul_mat(rest.slices[s].correction.full());
                slice.weight = stiffness.sqrt() * dt;
                slice.inverse_mass = Lane::from(std::array::from_fn(|lane| inverse_mass(s * LANES + lane)));
                store(slice.turned, records.iter_mut().map(|r| (&mut r.t, &mut r.rest.t8)));
                let (stiffness, start) = (stiffness.to_array(), (slice.weight * slice.y).to_array());
                for (lane, record) in records.iter_mut().enumerate() {
                    record.rest.u = [stiffness[lane] * record.rest.last, start[lane], 0.0];
                }
            }
        });
    }

    /// Sets e and d, adds f_v to the forces, and makes w of the y that was kept. Returns the larger of |c|² and |M w_s|²:
    /// the two parts nearly cancel in a body at rest, and each solve is as good as the other, not as their sum.
    fn turn(&mut self, body: &mut ElasticBody, dt: f32, w: &mut [glam::Vec3]) -> Real {
        let (records, pairs) = (&body.records[..], &body.rest.neighbors);
        let last = records.len() - 1;
        let columns =
            body.forces.par_chunks_mut(PARTICLES_PER_TASK).zip(w.par_chunks_mut(PARTICLES_PER_TASK));
        self.tasks.par_iter_mut().zip(columns).enumerate().for_each(
            |(task, (Task { rows, slices, sums }, (forces, w)))| {
                *sums = DVec2::ZERO;
                let columns = forces.chunks_mut(LANES).zip(w.chunks_mut(LANES));
                for (k, (slice, (forces, w))) in slices.iter_mut().zip(columns).enumerate() {
                    let s = task * SLICES_PER_TASK + k;
                    let (mut b_sum, mut f_v, mut start) = (Vec3x8::ZERO, Vec3x8::ZERO, Vec3x8::ZERO);
                    for (row, b) in rows[slice.rows.clone()].iter_mut().zip(pairs.slice(s)) {
                        let record = |lane: usize| &records[b.j[lane] as usize];
                        let turned = Lane::transpose(eight!(|lane: usize| Lane::from(record(lane).t)));
                        let [t8, stress, push, ..] =
                            Lane::transpose(eight!(|lane: usize| record(lane).rest.lane()));
                        let b = Vec3x8::new(Lane::from(b.b[0]), Lane::from(b.b[1]), Lane::from(b.b[2]));
                        let e = matrix(turned, t8).mul_vec(b);
                        b_sum = b_sum + b;
                        f_v = f_v + e * stress;
                        start = start + e * push;
                        row.b = [e.x.to_array(), e.y.to_array(), e.z.to_array()];
                    }
                    let mine = |part: usize| {
                        Lane::from(eight!(|lane: usize| records[(s * LANES + lane).min(last)].rest.u[part]))
                    };
                    slice.own = slice.turned.mul_vec(b_sum);
                    f_v = f_v + slice.own * mine(0);
                    start = start + slice.own * mine(1);
                    for (lane, (force, w)) in forces.iter_mut().zip(w).enumerate() {
                        let inverse_mass = slice.inverse_mass.as_array()[lane];
                        let (f_v, start) = (f_v.get(lane).as_vec3(), start.get(lane).as_vec3());
                        *force += f_v;
                        if inverse_mass > 0.0 {
                            let stretch = *w / inverse_mass;
                            let c = stretch + f_v * dt;
                            *sums += DVec2::new(c.length_squared() as Real, stretch.length_squared() as Real);
                            *w = (c + start) * inverse_mass;
                        }
                    }
                }
            },
        );
        self.totals().max_element()
    }

    /// The sums of the last pass, in an order that is always the same.
    fn totals(&self) -> DVec2 {
        self.tasks.iter().map(|task| task.sums).sum()
    }

    /// r = L G w - y.
    fn look(&mut self, body: &ElasticBody, w: &[glam::Vec3]) {
        let rows = self.u.par_iter_mut().zip(w).with_min_len(PARTICLES_PER_TASK);
        rows.for_each(|(u, w)| *u = [w.x, w.y, w.z, 0.0]);
        let u = &self.u[..];
        let tasks = self.tasks.par_iter_mut().zip(self.pushes.par_chunks_mut(PARTICLES_PER_TASK));
        tasks.enumerate().for_each(|(task, (Task { slices, .. }, pushes))| {
            for (k, (slice, pushes)) in slices.iter_mut().zip(pushes.chunks_mut(LANES)).enumerate() {
                let rate = slice.rate(body, u, task * SLICES_PER_TASK + k);
                slice.r = slice.weight * rate - slice.y;
                pushes.copy_from_slice(&(slice.weight * slice.r).to_array());
                (slice.p, slice.q, slice.v) = (Lane::ZERO, Lane::ZERO, Vec3x8::ZERO);
            }
        });
    }

    /// u = M⁻¹ Gᵀ L r. Returns what is left of the system for w, Σ |Gᵀ L r|² or Σ |Gᵀ L r|/m, and r·A r.
    fn push(&mut self, is_squared: bool) -> (Real, Real) {
        let pushes = &self.pushes[..];
        let tasks = self.tasks.par_iter_mut().zip(self.u.par_chunks_mut(PARTICLES_PER_TASK));
        tasks.enumerate().for_each(|(task, (Task { rows, slices, sums }, u))| {
            let (mut left, mut curvature) = (Lane::ZERO, Lane::ZERO);
            for (k, (slice, u)) in slices.iter().zip(u.chunks_mut(LANES)).enumerate() {
                let first = (task * SLICES_PER_TASK + k) * LANES;
                let mut f = slice.own * Lane::from(eight!(|lane: usize| pushes[first + lane]));
                for row in &rows[slice.rows.clone()] {
                    let push = Lane::from(eight!(|lane: usize| pushes[row.j[lane] as usize]));
                    let e = Vec3x8::new(Lane::from(row.b[0]), Lane::from(row.b[1]), Lane::from(row.b[2]));
                    f = f + e * push;
                }
                // of held particles nothing is asked
                let is_free = slice.inverse_mass.simd_gt(Lane::ZERO);
                let t = f * is_free.select(-Lane::ONE, Lane::ZERO);
                let (square, v) = (t.dot(t), t * slice.inverse_mass);
                left += if is_squared { square } else { square.sqrt() * slice.inverse_mass };
                curvature += slice.r * slice.r + v.dot(t);
                let [x, y, z] = [v.x.to_array(), v.y.to_array(), v.z.to_array()];
                for (lane, u) in u.iter_mut().enumerate() {
                    *u = [x[lane], y[lane], z[lane], 0.0];
                }
            }
            *sums = DVec2::new(left.reduce_add() as Real, curvature.reduce_add() as Real);
        });
        self.totals().into()
    }

    /// p = r + beta p, with what goes with it. Returns |A p|².
    fn pull(&mut self, body: &ElasticBody, beta: Real) -> Real {
        let (u, beta) = (&self.u[..], Lane::splat(beta as f32));
        self.tasks.par_iter_mut().enumerate().for_each(|(task, Task { slices, sums, .. })| {
            let mut squares = Lane::ZERO;
            for (k, slice) in slices.iter_mut().enumerate() {
                let s = task * SLICES_PER_TASK + k;
                let rate = slice.rate(body, u, s);
                slice.p = slice.r + beta * slice.p;
                slice.q = slice.r + slice.weight * rate + beta * slice.q;
                let last = u.len() - 1;
                slice.v =
                    gather(u, &eight!(|lane: usize| (s * LANES + lane).min(last) as u32)) + slice.v * beta;
                squares += slice.q * slice.q;
            }
            *sums = DVec2::new(squares.reduce_add() as Real, 0.0);
        });
        self.totals().x
    }

    /// y += a p, r -= a A p, w -= a M⁻¹ Gᵀ L p.
    fn walk(&mut self, a: Real, w: &mut [glam::Vec3]) {
        let a = Lane::splat(a as f32);
        let tasks = self.tasks.par_iter_mut().zip(self.pushes.par_chunks_mut(PARTICLES_PER_TASK));
        let tasks = tasks.zip(w.par_chunks_mut(PARTICLES_PER_TASK)).with_min_len(4);
        tasks.for_each(|((Task { slices, .. }, pushes), w)| {
            let columns = pushes.chunks_mut(LANES).zip(w.chunks_mut(LANES));
            for (slice, (pushes, w)) in slices.iter_mut().zip(columns) {
                slice.y += a * slice.p;
                slice.r -= a * slice.q;
                pushes.copy_from_slice(&(slice.weight * slice.r).to_array());
                let v = slice.v * a;
                let [x, y, z] = [v.x.to_array(), v.y.to_array(), v.z.to_array()];
                for (lane, w) in w.iter_mut().enumerate() {
                    *w -= glam::Vec3::new(x[lane], y[lane], z[lane]);
                }
            }
        });
    }

    /// The unknowns, as bytes for a checkpoint.
    pub fn save(&self) -> impl Iterator<Item = u8> {
        let slices = self.tasks.iter().flat_map(|task| &task.slices);
        slices.flat_map(|slice| slice.y.to_array()).flat_map(f32::to_le_bytes)
    }

    /// Bytes that `save` gives.
    pub fn saved_bytes(&self) -> usize {
        self.pushes.len() * size_of::<f32>()
    }

    /// Puts back what `save` gave.
    pub fn restore(&mut self, bytes: &[u8]) {
        let mut numbers = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        for slice in self.tasks.iter_mut().flat_map(|task| &mut task.slices) {
            slice.y = Lane::from(std::array::from_fn(|_| numbers.next().unwrap_or(0.0)));
        }
    }

    pub fn bytes(&self) -> usize {
        let task =
            |task: &Task| task.rows.len() * size_of::<PairRow>() + task.slices.len() * size_of::<Slice>();
        self.tasks.iter().map(task).sum::<usize>() + self.u.len() * (size_of::<[f32; 4]>() + size_of::<f32>())
    }
}

impl Slice {
    fn new(rows: std::ops::Range<usize>) -> Self {
        let (zero, none) = (Lane::ZERO, Vec3x8::ZERO);
        let (turned, own, v) = (Mat3x8::ZERO, none, none);
        Slice { rows, turned, own, weight: zero, inverse_mass: zero, y: zero, r: zero, p: zero, q: zero, v }
    }

    /// G u.
    #[inline(always)]
    fn rate(&self, body: &ElasticBody, u: &[[f32; 4]], s: usize) -> Lane {
        let U = gradients::<false>(&body.rest, u, s).0;
        self.turned.dot(U)
    }
}
