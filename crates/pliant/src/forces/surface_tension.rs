//! Surface tension and adhesion [after Akinci et al. 2013]: attraction between near particles, and normals.
//!
//! Attraction holds the surface together, f_i = -Σ_j strength_ij B C(q) x_ij/|x_ij|, with Akinci's spline
//!   C(q) = (1-q)³ q³ for q > ½,   2 (1-q)³ q³ - 1/64 else,   q = |x_ij|/h.
//! Normals n_i = Σ_j sqrt(sigma_j) (1-q)³ e, e = x_ij/h, vanish inside; their squares measure the surface:
//!   E = ½ A Σ_i |n_i|²,   f_i = -A Σ_j ∂((1-q)³ e)/∂x (sqrt(sigma_j) n_i - sqrt(sigma_i) n_j).
//! Attraction alone freezes into a crystal that keeps its shape; normals alone would spread the surface out.
//! Differences from the paper:
//! - Its forces along n_i - n_j do not keep angular momentum. From an energy they do.
//! - Strengths are surface tensions [N/m]; B and A are such that a cut through a lattice costs 2 sigma an area, for each
//!   alone. Moving drops are not lattices: both are scaled by the tension that swinging drops show.
//! - Two liquids meet with the tension (sqrt(sigma_a) - sqrt(sigma_b))² (Girifalco & Good 1957 with Φ = 1).
//! - Solids and walls attract by the same spline with strength `adhesion`.

use super::near::{Near, lattice_neighbors};
use crate::math::{CHUNK, Lane, Real, Vec3, Vec3x8, gather8};
use crate::neighbors::{CHUNK_PARTICLES, Slice, offset};
use crate::rigid::Grip;
use rayon::prelude::*;

/// Longest step over sqrt(rho s³/sigma). Normals are the stiffest: 2/omega = 2/sqrt(144.7/3.9) = 0.33 at h = 2 s.
const STEP: Real = 0.2;

/// Tension of a swinging drop with h = 2 s, half the attraction and the normals of the lattice, over that of the lattice.
const MEASURED: Real = 3.9;
/// Attraction over that of the lattice.
const COHESION: Real = 0.5 / MEASURED;
/// Energy of normals over that of the lattice.
const NORMALS: Real = 1.0 / MEASURED;

/// What a particle attracts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Attraction {
    /// Surface tension and adhesion [N/m].
    Liquid {
        tension: Real,
        adhesion: Real,
    },
    Solid,
}

/// The longest step of a liquid of this density [s].
pub fn longest_step(tension: Real, density: Real, spacing: Real) -> Real {
    STEP * (density * spacing.powi(3) / tension).sqrt()
}

/// Pulls on velocities; keeps its columns between steps.
#[derive(Debug)]
pub struct SurfaceTension {
    /// B: force of a pair over strength and C(q).
    force: Real,
    /// Energy of a normal of length one, over the tension [m2].
    area: Real,
    h: Real,
    /// Position, root of the tension (-1 for solids), adhesion, normal.
    records: Vec<[f32; 8]>,
    normals: Vec<glam::Vec3>,
    changes: Vec<glam::Vec3>,
    /// Σ_j f_ij·x_ij of each member [J], at the positions of the last pull.
    virials: Vec<f32>,
}

impl SurfaceTension {
    pub fn new(spacing: Real, support: Real) -> Self {
        let (s, h) = (spacing, support * spacing);
        // φ = strength B h ∫_q^1 C dq
        let bonds: Real = lattice_neighbors(support).map(|e| e.length() * h * depth(e.length())).sum();
        let force = if bonds > 0.0 { 8.0 * s.powi(3) / (h * bonds) } else { 1.0 };
        let area = NORMALS * 2.0 * s * s / normals_of_half_space(support).max(1e-9);
        SurfaceTension {
            force,
            area,
            h,
            records: Vec::new(),
            normals: Vec::new(),
            changes: Vec::new(),
            virials: Vec::new(),
        }
    }

    /// Force of a pair over its strength and C(q) [m/m].
    pub fn force(&self) -> Real {
        self.force
    }

    /// Changes velocities (by index in the store) by the forces of a step; the impulses on the rigid bodies and their
    /// moments. Grips have the weight `spline`.
    pub fn pull(
        &mut self,
        near: &Near,
        dt: Real,
        attraction: impl Fn(usize) -> Attraction + Sync,
        velocities: &mut [Vec3],
    ) -> Vec<[Vec3; 2]> {
        let n = near.len();
        self.records.resize(n, [0.0; 8]);
        self.changes.resize(n, glam::Vec3::ZERO);
        self.records.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(m, record)| {
            let [x, y, z] = near.neighbors.bits(m);
            let (root, adhesion) = match attraction(m) {
                Attraction::Liquid { tension, adhesion } => (tension.sqrt() as f32, adhesion as f32),
                Attraction::Solid => (-1.0, 0.0),
            };
            *record = [x, y, z, root, adhesion, 0.0, 0.0, 0.0];
        });
        self.normals.resize(n, glam::Vec3::ZERO);
        let records = &self.records;
        let liquid = |m: usize| (records[m][3] >= 0.0) as u32 as f32;
        near.sum_pairs(&mut self.normals, |slice| normal_of_slice(records, slice), |m, sum| sum * liquid(m));
        self.records.par_iter_mut().zip(&self.normals).with_min_len(CHUNK).for_each(|(record, normal)| {
            record[5..8].copy_from_slice(&normal.to_array());
        });
        let (records, scale) = (&self.records, (-self.force * dt) as f32);
        let (cohesion, bend) = (COHESION as f32, (self.area / (self.h * self.force)) as f32);
        self.virials.resize(n, 0.0);
        let joule = (-self.force * self.h) as f32;
        let columns =
            self.changes.par_chunks_mut(CHUNK_PARTICLES).zip(self.virials.par_chunks_mut(CHUNK_PARTICLES));
        columns.enumerate().for_each(|(c, (changes, virials))| {
            for slice in near.neighbors.slices(c) {
                let (sum, virial) = pull_of_slice(records, cohesion, bend, slice);
                for lane in 0..slice.lanes(n) {
                    let m = slice.first + lane;
                    let free = !near.held[m] as u32 as f32;
                    changes[m - c * CHUNK_PARTICLES] =
                        sum.get(lane).as_vec3() * (free * scale / near.masses[m]);
                    virials[m - c * CHUNK_PARTICLES] = virial.as_array()[lane] * joule;
                }
            }
        });
        let impulse = |grip: &Grip| grip.pull * (records[grip.member as usize][4] * scale) as Real;
        let chunks = self.changes.par_chunks_mut(CHUNK_PARTICLES).zip(&near.grips.0).enumerate();
        chunks.for_each(|(c, (changes, grips))| {
            for grip in grips.iter().filter(|grip| !near.held[grip.member as usize]) {
                let m = grip.member as usize;
                changes[m - c * CHUNK_PARTICLES] += impulse(grip).as_vec3() / near.masses[m];
            }
        });
        for (&i, change) in near.neighbors.members.iter().zip(&self.changes) {
            velocities[i as usize] += change.as_dvec3();
        }
        near.reactions(impulse)
    }

    /// Σ_j f_ij·x_ij of a member [J], of the forces between particles in the last pull.
    pub fn virial(&self, m: usize) -> f32 {
        self.virials[m]
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.records.capacity() * (32 + 12 + 12 + 4)
    }
}

/// C(q).
pub fn spline(q: Real) -> Real {
    let cube = ((1.0 - q).max(0.0) * q).powi(3);
    if q > 0.5 { cube } else { 2.0 * cube - 1.0 / 64.0 }
}

/// ∫_q^1 C dq, by the midpoint rule.
fn depth(q: Real) -> Real {
    const PARTS: usize = 2000;
    let step = (1.0 - q) / PARTS as Real;
    (0..PARTS).map(|k| spline(q + (k as Real + 0.5) * step) * step).sum()
}

#[inline(always)]
fn spline_lanes(q: Lane) -> Lane {
    let base = (Lane::ONE - q).max(Lane::ZERO) * q;
    let cube = base * base * base;
    q.simd_gt(Lane::HALF).select(cube, cube + cube - Lane::splat(1.0 / 64.0))
}

/// Σ_layers |Σ_j (1-q)³ e|² of the lattice below a plane.
fn normals_of_half_space(support: Real) -> Real {
    let layers = support.ceil() as usize;
    let normal = |depth: usize| -> Real {
        let above = |e: &Vec3| e.y * support > depth as Real + 0.5; // those that are missing
        lattice_neighbors(support).filter(above).map(|e| (1.0 - e.length()).powi(3) * e.y).sum()
    };
    (0..layers).map(|depth| normal(depth).powi(2)).sum()
}

/// n_i = Σ_j sqrt(sigma_j) (1-q)³ e, over liquids.
#[inline(always)]
fn normal_of_slice(records: &[[f32; 8]], slice: Slice) -> Vec3x8 {
    let [xi, yi, zi, ..] = gather8(records, &slice.own(records.len()));
    let mut sum = Vec3x8::ZERO;
    for row in slice.rows {
        let [x, y, z, root, ..] = gather8(records, row);
        let e = offset([xi, yi, zi], [x, y, z]);
        let p = (Lane::ONE - e.dot(e).sqrt()).max(Lane::ZERO);
        sum = sum + e * (p * p * p * root.max(Lane::ZERO));
    }
    sum
}

/// Σ_j strength_ij C(q) x_ij/|x_ij| + bend Σ_j h ∂((1-q)³ e)/∂x (sqrt(sigma_j) n_i - sqrt(sigma_i) n_j), and the same with
/// each term times e.
#[inline(always)]
fn pull_of_slice(records: &[[f32; 8]], cohesion: f32, bend: f32, slice: Slice) -> (Vec3x8, Lane) {
    let [xi, yi, zi, root_i, adhesion_i, ui, vi, wi] = gather8(records, &slice.own(records.len()));
    let (n_i, liquid_i) = (Vec3x8::new(ui, vi, wi), root_i.max(Lane::ZERO));
    let solid_i = root_i.simd_lt(Lane::ZERO).select(Lane::ONE, Lane::ZERO);
    let (bend, cohesion) = (Lane::splat(bend), Lane::splat(cohesion));
    let (mut sum, mut virial) = (Vec3x8::ZERO, Lane::ZERO);
    for row in slice.rows {
        let [x, y, z, root, adhesion, u, v, w] = gather8(records, row);
        let e = offset([xi, yi, zi], [x, y, z]);
        let q = e.dot(e).sqrt();
        let over_q = Lane::ONE / q.max(Lane::splat(1e-6));
        let solid = root.simd_lt(Lane::ZERO).select(Lane::ONE, Lane::ZERO);
        let liquid = root.max(Lane::ZERO);
        let strength = cohesion * liquid_i * liquid + (adhesion_i * solid + solid_i * adhesion);
        let d = (n_i * liquid - Vec3x8::new(u, v, w) * liquid_i) * bend;
        let p = (Lane::ONE - q).max(Lane::ZERO);
        let along = (strength * spline_lanes(q) - Lane::splat(3.0) * p * p * e.dot(d)) * over_q;
        let pull = e * along + d * (p * p * p);
        sum = sum + pull;
        virial += pull.dot(e);
    }
    (sum, virial)
}
