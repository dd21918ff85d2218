//! What forces between near particles have in common.

use crate::math::{LANES, Real, Vec3, Vec3x8};
use crate::neighbors::{CHUNK_PARTICLES, CurrentNeighbors, Slice};
use crate::rigid::{Grip, Grips, WallBody};
use rayon::prelude::*;

/// Who is near whom at the time of the step. Columns are in the order of the members.
#[derive(Clone, Copy)]
pub struct Near<'a> {
    pub neighbors: &'a CurrentNeighbors,
    pub grips: &'a Grips,
    pub bodies: &'a [WallBody],
    /// By index in the store [m].
    pub positions: &'a [Vec3],
    /// [kg]
    pub masses: &'a [f32],
    /// Particles that go where they are told.
    pub held: &'a [bool],
}

impl Near<'_> {
    /// Number of members.
    pub fn len(&self) -> usize {
        self.neighbors.len()
    }

    pub fn is_empty(&self) -> bool {
        self.neighbors.is_empty()
    }

    /// Does nothing but its own matter hold it: no held particle, no grip of a body that does not yield?
    pub fn is_free(&self) -> bool {
        let yields = |grip: &Grip| self.bodies[grip.rigid as usize].inverse_mass > 0.0;
        !self.held.contains(&true) && self.grips.0.iter().flatten().all(yields)
    }

    /// Fills a column: what `of_slice` sums over the pairs of eight members goes through `put(member, sum)`.
    pub fn sum_pairs<T: Send>(
        &self,
        column: &mut [T],
        of_slice: impl Fn(Slice) -> Vec3x8 + Sync,
        put: impl Fn(usize, glam::Vec3) -> T + Sync,
    ) {
        let n = self.len();
        column.par_chunks_mut(CHUNK_PARTICLES).enumerate().for_each(|(c, column)| {
            let start = c * CHUNK_PARTICLES;
            for slice in self.neighbors.slices(c) {
                let sum = of_slice(slice);
                for lane in 0..LANES.min(n - slice.first) {
                    let m = slice.first + lane;
                    column[m - start] = put(m, sum.get(lane).as_vec3());
                }
            }
        });
    }

    /// Force and moment on each rigid body, of forces on its grips' particles with opposite sign.
    pub fn reactions(&self, force: impl Fn(&Grip) -> Vec3 + Sync) -> Vec<[Vec3; 2]> {
        let chunk = |grips: &Vec<Grip>| {
            let mut wrenches: Vec<(u32, [Vec3; 2])> = Vec::new();
            for grip in grips.iter().filter(|g| self.bodies[g.rigid as usize].inverse_mass > 0.0) {
                let f = -force(grip);
                let wrench = [f, grip.arm.cross(f)];
                match wrenches.iter_mut().find(|(rigid, _)| *rigid == grip.rigid) {
                    Some((_, sum)) => *sum = [sum[0] + wrench[0], sum[1] + wrench[1]],
                    None => wrenches.push((grip.rigid, wrench)),
                }
            }
            wrenches
        };
        let parts: Vec<_> = self.grips.0.par_iter().map(chunk).collect();
        let mut sums = vec![[Vec3::ZERO; 2]; self.bodies.len()];
        for (rigid, wrench) in parts.into_iter().flatten() {
            let sum = &mut sums[rigid as usize];
            *sum = [sum[0] + wrench[0], sum[1] + wrench[1]];
        }
        sums
    }
}

/// x_ij/h of the neighbours of a point of the cubic lattice, for this support radius over spacing.
pub fn lattice_neighbors(support: Real) -> impl Iterator<Item = Vec3> {
    let reach = support.ceil() as i64;
    let line = move || -reach..=reach;
    let points = line().flat_map(move |i| line().flat_map(move |j| line().map(move |k| [i, j, k])));
    points
        .map(move |p| Vec3::from_array(p.map(|k| k as Real / support)))
        .filter(|e| e.length() > 0.0 && e.length() < 1.0 - 1e-9)
}
