//! Adhesion: attraction of liquids by walls and solids, with the spline of [Akinci et al. 2013].
//!
//! f_i = -Σ_j strength B C(q) x_ij/|x_ij|, with
//!   C(q) = (1-q)³ q³ for q > ½,   2 (1-q)³ q³ - 1/64 else,   q = |x_ij|/h.
//! Strengths are energies of a surface [N/m]: B is such that a cut through a lattice of such bonds costs twice the
//! strength an area. (The paper's spline for adhesion has a fourth root, whose slope is infinite at both ends, and no unit.)

use super::near::{Near, lattice_neighbors};
use crate::math::{CHUNK, Lane, Real, Vec3, Vec3x8, gather4};
use crate::neighbors::{CHUNK_PARTICLES, Slice, offset};
use crate::rigid::Grip;
use rayon::prelude::*;

/// What a particle attracts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Attraction {
    /// Of liquids, by walls and solids [N/m].
    Adhesion(Real),
    Solid,
}

/// Pulls on velocities; keeps its columns between steps.
#[derive(Debug)]
pub struct Adhesion {
    /// B: force of a pair over strength and C(q).
    force: Real,
    h: Real,
    /// Position, adhesion (-1 for solids).
    records: Vec<[f32; 4]>,
    changes: Vec<glam::Vec3>,
    /// Σ_j f_ij·x_ij of each member [J], at the positions of the last pull.
    virials: Vec<f32>,
}

impl Adhesion {
    pub fn new(spacing: Real, support: Real) -> Self {
        let (s, h) = (spacing, support * spacing);
        // φ = strength B h ∫_q^1 C dq
        let bonds: Real = lattice_neighbors(support).map(|e| e.length() * h * depth(e.length())).sum();
        let force = if bonds > 0.0 { 8.0 * s.powi(3) / (h * bonds) } else { 1.0 };
        Adhesion { force, h, records: Vec::new(), changes: Vec::new(), virials: Vec::new() }
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
        self.records.resize(n, [0.0; 4]);
        self.changes.resize(n, glam::Vec3::ZERO);
        self.records.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(m, record)| {
            let [x, y, z] = near.neighbors.bits(m);
            let strength = match attraction(m) {
                Attraction::Adhesion(strength) => strength as f32,
                Attraction::Solid => -1.0,
            };
            *record = [x, y, z, strength];
        });
        let (records, scale) = (&self.records, (-self.force * dt) as f32);
        self.virials.resize(n, 0.0);
        let joule = (-self.force * self.h) as f32;
        let columns =
            self.changes.par_chunks_mut(CHUNK_PARTICLES).zip(self.virials.par_chunks_mut(CHUNK_PARTICLES));
        columns.enumerate().for_each(|(c, (changes, virials))| {
            for slice in near.neighbors.slices(c) {
                let (sum, virial) = pull_of_slice(records, slice);
                for lane in 0..slice.lanes(n) {
                    let m = slice.first + lane;
                    let free = !near.held[m] as u32 as f32;
                    changes[m - c * CHUNK_PARTICLES] =
                        sum.get(lane).as_vec3() * (free * scale / near.masses[m]);
                    virials[m - c * CHUNK_PARTICLES] = virial.as_array()[lane] * joule;
                }
            }
        });
        let impulse = |grip: &Grip| grip.pull * (records[grip.member as usize][3] * scale) as Real;
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
        self.records.capacity() * (16 + 12 + 4)
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

/// Σ_j strength_ij C(q) x_ij/|x_ij|, and the same with each term times e.
#[inline(always)]
fn pull_of_slice(records: &[[f32; 4]], slice: Slice) -> (Vec3x8, Lane) {
    let [xi, yi, zi, own] = gather4(records, &slice.own(records.len()));
    let solid = |strength: Lane| strength.simd_lt(Lane::ZERO).select(Lane::ONE, Lane::ZERO);
    let (mut sum, mut virial) = (Vec3x8::ZERO, Lane::ZERO);
    for row in slice.rows {
        let [x, y, z, other] = gather4(records, row);
        let e = offset([xi, yi, zi], [x, y, z]);
        let q = e.dot(e).sqrt();
        let strength = own.max(Lane::ZERO) * solid(other) + other.max(Lane::ZERO) * solid(own);
        let pull = e * (strength * spline_lanes(q) / q.max(Lane::splat(1e-6)));
        sum = sum + pull;
        virial += pull.dot(e);
    }
    (sum, virial)
}
