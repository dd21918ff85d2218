//! Neighbourhoods of the present positions: found anew in each step, laid out for eight particles at a time.
//!
//! Particles are taken in the order of their cells, so that neighbours are near in memory whatever the flow did. Their
//! positions are whole numbers of h/2²⁰: differences are exact, antisymmetric, and as precise anywhere in the world.

use super::Cells;
use crate::kernel::Kernel;
use crate::math::{LANES, Lane, Real, Vec3, Vec3x8};
use rayon::prelude::*;
use std::ops::Range;
use wide::i32x8;

/// Grid points of positions per support radius.
const STEPS: Real = (1 << 20) as Real;
/// Slices of eight particles in a chunk, which is what a task works on.
const SLICES: usize = 64;
/// Particles of a chunk.
pub const CHUNK_PARTICLES: usize = SLICES * LANES;

/// Who is within the support radius h of whom.
#[derive(Debug, Default)]
pub struct CurrentNeighbors {
    /// The members by cell: `order` is theirs.
    pub cells: Cells,
    h: Real,
    /// Index in the store of each particle, in the order of the cells; below, "member" is an index into this.
    pub members: Vec<u32>,
    /// Coordinates of the members, in steps of h/2²⁰.
    coordinates: [Vec<i32>; 3],
    /// Bodies of the members, and their rest coordinates; none if nobody is bound.
    bodies: Vec<f32>,
    rests: [Vec<i32>; 3],
    chunks: Vec<Chunk>,
}

/// What may bind a particle to others, whose pairs with it are then not found: particles of a body that were near at rest.
#[derive(Clone, Copy, Debug)]
pub struct Bond {
    /// Number of the body; not a number if the particle is free.
    body: f32,
    /// Rest position, in steps of a 2¹³th of the bond's reach.
    rest: [i32; 3],
}

/// Grid points of rest positions per reach of a bond: bodies may be 200,000 of them long.
const BOND_STEPS: Real = (1 << 13) as Real;

impl Bond {
    pub const NONE: Bond = Bond { body: f32::NAN, rest: [0; 3] };

    /// Of a particle of a body with this rest position; others of the body that are nearer than `reach` at rest are bound
    /// to it.
    pub fn new(body: u32, rest: Vec3, reach: Real) -> Self {
        Bond { body: body as f32, rest: (rest / reach * BOND_STEPS).round().as_ivec3().to_array() }
    }
}

/// The rows of 64 slices.
#[derive(Debug, Default)]
struct Chunk {
    /// One neighbour (member) of each of eight members; a lane without a further one points to its own member.
    rows: Vec<[u32; LANES]>,
    /// First row of each slice; one more at the end.
    slices: Vec<u32>,
    near: Near,
}

/// The members in and around a cell.
#[derive(Debug, Default)]
struct Near {
    cell: u32,
    /// Coordinates relative to a member of the cell: exact, as they are small. Full lanes; those without a member are far
    /// away.
    coordinates: [Vec<f32>; 3],
    members: Vec<u32>,
    /// Bodies, and rest positions relative to that member's; none if nobody is bound.
    bodies: Vec<f32>,
    rests: [Vec<f32>; 3],
}

/// The neighbours of eight consecutive members.
#[derive(Clone, Copy)]
pub struct Slice<'a> {
    /// The first of the members.
    pub first: usize,
    pub rows: &'a [[u32; LANES]],
}

impl Slice<'_> {
    /// Members of the slice, of n in all.
    pub fn lanes(&self, n: usize) -> usize {
        LANES.min(n - self.first)
    }

    /// Neighbours of one of the eight members.
    pub fn neighbors(&self, lane: usize) -> impl Iterator<Item = usize> {
        let own = self.first + lane;
        self.rows.iter().map(move |row| row[lane] as usize).filter(move |&j| j != own)
    }

    /// The members themselves, of n; the last stands for those that are missing.
    #[inline(always)]
    pub fn own(&self, n: usize) -> [u32; LANES] {
        std::array::from_fn(|lane| (self.first + lane).min(n - 1) as u32)
    }
}

impl CurrentNeighbors {
    /// Finds the neighbours among `particles` (indices of the store) that are not bound to each other.
    pub fn build(
        &mut self,
        positions: &[Vec3],
        particles: &[u32],
        h: Real,
        bond: Option<&(dyn Fn(u32) -> Bond + Sync)>,
    ) {
        self.h = h;
        self.cells.build(particles.len(), h, |k| positions[particles[k] as usize]);
        self.members.clear();
        self.members
            .par_extend(self.cells.order.par_iter().with_min_len(4096).map(|&k| particles[k as usize]));
        let n = self.members.len();
        for (axis, column) in self.coordinates.iter_mut().enumerate() {
            column.resize(n, 0);
            column.par_iter_mut().with_min_len(4096).zip(&self.members).for_each(|(c, &i)| {
                *c = (positions[i as usize][axis] / h * STEPS).round() as i64 as i32; // wraps 2048 h away
            });
        }
        self.set_bonds(bond);
        let mut chunks = std::mem::take(&mut self.chunks);
        chunks.resize_with(n.div_ceil(CHUNK_PARTICLES), Chunk::default);
        chunks.par_iter_mut().enumerate().for_each(|(c, chunk)| {
            let Chunk { rows, slices, near, .. } = chunk;
            rows.clear();
            slices.clear();
            slices.push(0);
            near.members.clear();
            let last = ((c + 1) * CHUNK_PARTICLES).min(n);
            for first in (c * CHUNK_PARTICLES..last).step_by(LANES) {
                let (start, own) = (rows.len(), Slice { first, rows: &[] }.own(n));
                for lane in 0..LANES.min(n - first) {
                    let mut k = start;
                    self.search(positions, first + lane, near, |j| {
                        if k == rows.len() {
                            rows.push(own);
                        }
                        rows[k][lane] = j;
                        k += 1;
                    });
                }
                slices.push(rows.len() as u32);
            }
        });
        self.chunks = chunks;
    }

    fn set_bonds(&mut self, bond: Option<&(dyn Fn(u32) -> Bond + Sync)>) {
        let n = if bond.is_some() { self.members.len() } else { 0 };
        let [xs, ys, zs] = &mut self.rests;
        for column in [&mut *xs, &mut *ys, &mut *zs] {
            column.resize(n, 0);
        }
        self.bodies.resize(n, f32::NAN);
        let Some(bond) = bond else { return };
        let rows = self.bodies.par_iter_mut().zip(&self.members).zip(xs).zip(ys).zip(zs).with_min_len(1024);
        rows.for_each(|((((body, &i), x), y), z)| Bond { body: *body, rest: [*x, *y, *z] } = bond(i));
    }

    /// Are two members bound to each other?
    fn binds(&self, m: usize, other: usize) -> bool {
        let along = |axis: usize| self.rests[axis][m] as Real - self.rests[axis][other] as Real;
        let squared: Real = (0..3).map(|axis| along(axis).powi(2)).sum();
        self.bodies[m] == self.bodies[other] && squared < BOND_STEPS.powi(2)
    }

    /// Calls `found` with all that are near member m and not bound to it, in the order of the cells. Pairs on the rim,
    /// where kernels vanish, are left out.
    fn search(&self, positions: &[Vec3], m: usize, near: &mut Near, mut found: impl FnMut(u32)) {
        let x = positions[self.members[m] as usize];
        let is_outside = self.cells.is_outside(m);
        if near.cell != self.cells.number_of_sorted(m) || near.members.is_empty() || is_outside {
            near.gather(self, m);
        }
        let at = near.members.partition_point(|&other| (other as usize) < m);
        let mut word = |first: usize, mut hits: u64| {
            while hits != 0 {
                let place = first + hits.trailing_zeros() as usize;
                hits &= hits - 1;
                let other = near.members[place];
                let is_near = || {
                    let j = self.members[other as usize] as usize;
                    !is_outside || positions[j].distance_squared(x) < self.h * self.h
                };
                if place != at && is_near() {
                    found(other);
                }
            }
        };
        if near.bodies.is_empty() {
            near.hits::<false>(at, &mut word)
        } else {
            near.hits::<true>(at, &mut word)
        }
    }

    /// Σ W of member m over near pairs that are bound [1/m3].
    pub fn bound(&self, positions: &[Vec3], m: usize, kernel: Kernel) -> Real {
        if self.bodies.is_empty() {
            return 0.0;
        }
        let (x, mut sum) = (positions[self.members[m] as usize], 0.0);
        self.cells.for_each_run(x, |run| {
            for other in run.filter(|&other| other != m) {
                let r = positions[self.members[other] as usize].distance(x);
                if r < kernel.h && self.binds(m, other) {
                    sum += kernel.w(r);
                }
            }
        });
        sum
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Directed pairs, padding included.
    pub fn pairs(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.rows.len() * LANES).sum()
    }

    /// The three coordinates of a member as the bits of floats, to be gathered with a fourth number.
    #[inline(always)]
    pub fn bits(&self, m: usize) -> [f32; 3] {
        self.coordinates.each_ref().map(|column| f32::from_bits(column[m] as u32))
    }

    /// x_ij of two members [m].
    pub fn offset(&self, i: usize, j: usize) -> Vec3 {
        let part = |axis: usize| {
            let column = &self.coordinates[axis];
            column[i].wrapping_sub(column[j]) as Real * (self.h / STEPS)
        };
        Vec3::new(part(0), part(1), part(2))
    }

    /// The slices of chunk c.
    pub fn slices(&self, c: usize) -> impl Iterator<Item = Slice<'_>> {
        let chunk = &self.chunks[c];
        chunk.slices.windows(2).enumerate().map(move |(s, range)| Slice {
            first: c * CHUNK_PARTICLES + s * LANES,
            rows: &chunk.rows[range[0] as usize..range[1] as usize],
        })
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let chunk =
            |c: &Chunk| c.rows.capacity() * 32 + c.slices.capacity() * 4 + c.near.members.capacity() * 16;
        let lists: usize = self.chunks.iter().map(chunk).sum();
        lists + self.cells.bytes() + 4 * (self.members.capacity() + 3 * self.coordinates[0].capacity())
    }
}

impl Near {
    /// Gathers what is in and around the cell of member m.
    fn gather(&mut self, all: &CurrentNeighbors, m: usize) {
        self.cell = all.cells.number_of_sorted(m);
        let has_bonds = !all.bodies.is_empty();
        self.members.clear();
        self.bodies.clear();
        for column in self.coordinates.iter_mut().chain(&mut self.rests) {
            column.clear();
        }
        let relative = |column: &mut Vec<f32>, of: &[i32], run: Range<usize>| {
            let own = of[m];
            column.extend(of[run].iter().map(|c| c.wrapping_sub(own) as f32));
        };
        all.cells.for_each_run_around(all.cells.cell_of_sorted(m), |run| {
            self.members.extend(run.clone().map(|other| other as u32));
            for (column, of) in self.coordinates.iter_mut().zip(&all.coordinates) {
                relative(column, of, run.clone());
            }
            if has_bonds {
                self.bodies.extend(&all.bodies[run.clone()]);
                for (column, of) in self.rests.iter_mut().zip(&all.rests) {
                    relative(column, of, run.clone());
                }
            }
        });
        let full = self.members.len().next_multiple_of(LANES);
        for column in &mut self.coordinates {
            column.resize(full, f32::MAX);
        }
        if has_bonds {
            self.bodies.resize(full, f32::NAN);
            for column in &mut self.rests {
                column.resize(full, 0.0);
            }
        }
    }

    /// Calls `found` with the place of the first of up to 64 members and a bit for each that is near the one at a place,
    /// itself included, and not bound to it. Bits, as branches on each eight could not be foreseen.
    #[inline(always)]
    fn hits<const BONDS: bool>(&self, at: usize, mut found: impl FnMut(usize, u64)) {
        let squared = |columns: &[Vec<f32>; 3], own: &[Lane; 3], batch: usize| {
            let [dx, dy, dz] = std::array::from_fn(|axis| own[axis] - lane_of(&columns[axis], batch));
            dx.mul_add(dx, dy.mul_add(dy, dz * dz))
        };
        let at_place = |columns: &[Vec<f32>; 3]| columns.each_ref().map(|c| Lane::splat(c[at]));
        let own = at_place(&self.coordinates);
        let reach = Lane::splat((STEPS * STEPS * (1.0 - 2e-6)) as f32);
        let bond_reach = Lane::splat(BOND_STEPS.powi(2) as f32);
        let (rest, body) = if BONDS {
            (at_place(&self.rests), Lane::splat(self.bodies[at]))
        } else {
            ([Lane::ZERO; 3], Lane::ZERO)
        };
        let batches = self.coordinates[0].len() / LANES;
        for first in (0..batches).step_by(LANES) {
            let mut hits = 0;
            for batch in first..batches.min(first + LANES) {
                let mut near = squared(&self.coordinates, &own, batch).simd_lt(reach).to_bitmask();
                if BONDS {
                    let same = lane_of(&self.bodies, batch).simd_eq(body);
                    near &= !(same & squared(&self.rests, &rest, batch).simd_lt(bond_reach)).to_bitmask();
                }
                hits |= (near as u64) << ((batch - first) * LANES);
            }
            found(first * LANES, hits);
        }
    }
}

#[inline(always)]
fn lane_of(column: &[f32], batch: usize) -> Lane {
    Lane::from(column.as_chunks::<LANES>().0[batch])
}

/// x_ij / h of eight pairs, from coordinates as gathered.
#[inline(always)]
pub fn offset(i: [Lane; 3], j: [Lane; 3]) -> Vec3x8 {
    let scale = Lane::splat((1.0 / STEPS) as f32);
    let whole = |lane: Lane| bytemuck::cast::<Lane, i32x8>(lane);
    let part = |k: usize| (whole(i[k]) - whole(j[k])).round_float() * scale;
    Vec3x8::new(part(0), part(1), part(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lists(neighbors: &CurrentNeighbors) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); neighbors.len()];
        for c in 0..neighbors.chunks.len() {
            for slice in neighbors.slices(c) {
                for row in slice.rows {
                    for (lane, &j) in row.iter().enumerate() {
                        let m = slice.first + lane;
                        if m < neighbors.len() && j as usize != m {
                            lists[neighbors.members[m] as usize].push(neighbors.members[j as usize]);
                        }
                    }
                }
            }
        }
        for list in &mut lists {
            list.sort_unstable();
        }
        lists
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn neighbours_are_those_of_brute_force(
            points in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 1..700),
            h in 0.05..0.8f64,
            far in -1e7..1e7f64,
        ) {
            let mut points: Vec<Vec3> = points.into_iter().map(Vec3::from_array).collect();
            points.push(Vec3::new(far, 0.0, -far)); // one that flew away
            points.push(Vec3::new(far * 0.5, 0.0, -far));
            let mut neighbors = CurrentNeighbors::default();
            let all: Vec<u32> = (0..points.len() as u32).collect();
            // bodies of some, with a rest position somewhere else
            let rest = |i: u32| points[(7 * i as usize) % (points.len() - 2)];
            let body = |i: u32| (!i.is_multiple_of(3)).then_some(i % 3);
            let bond = |i: u32| body(i).map_or(Bond::NONE, |body| Bond::new(body, rest(i), 1.5 * h));
            neighbors.build(&points, &all, h, Some(&bond));
            for (i, list) in lists(&neighbors).iter().enumerate() {
                let distance = |j: u32| points[j as usize].distance(points[i]) / h;
                let counts = |j: u32, margin: Real| {
                    let reach = 1.5 * h * (1.0 + 100.0 * margin);
                    let i = i as u32;
                    i != j && !(body(i).is_some() && body(i) == body(j) && rest(i).distance(rest(j)) < reach)
                };
                // the rims are as wide as the rounding of positions
                let is_sure = |j: u32| counts(j, 1e-5) && distance(j) < 1.0 - 1e-5;
                let sure: Vec<u32> = all.iter().copied().filter(|&j| is_sure(j)).collect();
                prop_assert!(sure.iter().all(|j| list.contains(j)));
                prop_assert!(list.iter().all(|&j| counts(j, -1e-5) && distance(j) < 1.0 + 1e-5));
            }
        }
    }
}
