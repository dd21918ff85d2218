//! Neighbourhoods of the present positions: found anew in each step, laid out for eight particles at a time.
//!
//! Particles are taken in the order of their cells, so that neighbours are near in memory whatever the flow did. Their
//! positions are whole numbers of h/2²⁰: differences are exact, antisymmetric, and as precise anywhere in the world.

use super::Cells;
use crate::kernel::Kernel;
use crate::math::{LANES, Lane, Real, Vec3, Vec3x8};
use rayon::prelude::*;
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
    chunks: Vec<Chunk>,
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
    /// Finds the neighbours among `particles` (indices of the store). `counts(i, j)` tells whether a near pair counts.
    pub fn build(
        &mut self,
        positions: &[Vec3],
        particles: &[u32],
        h: Real,
        counts: impl Fn(u32, u32) -> bool + Sync,
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
                        if counts(self.members[first + lane], self.members[j as usize]) {
                            if k == rows.len() {
                                rows.push(own);
                            }
                            rows[k][lane] = j;
                            k += 1;
                        }
                    });
                }
                slices.push(rows.len() as u32);
            }
        });
        self.chunks = chunks;
    }

    /// Calls `found` with all that are near member m, in the order of the cells. Pairs on the rim, where kernels vanish,
    /// are left out.
    fn search(&self, positions: &[Vec3], m: usize, near: &mut Near, mut found: impl FnMut(u32)) {
        let x = positions[self.members[m] as usize];
        let is_outside = self.cells.is_outside(m);
        if near.cell != self.cells.number_of_sorted(m) || near.members.is_empty() || is_outside {
            near.gather(self, m);
        }
        let at = near.members.partition_point(|&other| (other as usize) < m);
        let own = near.coordinates.each_ref().map(|column| Lane::splat(column[at]));
        let reach = Lane::splat((STEPS * STEPS * (1.0 - 2e-6)) as f32);
        let [xs, ys, zs] = near.coordinates.each_ref().map(|column| column.as_chunks::<LANES>().0);
        for (batch, ((x_j, y_j), z_j)) in xs.iter().zip(ys).zip(zs).enumerate() {
            let (dx, dy, dz) =
                (own[0] - Lane::from(*x_j), own[1] - Lane::from(*y_j), own[2] - Lane::from(*z_j));
            let squared = dx.mul_add(dx, dy.mul_add(dy, dz * dz));
            let mut hits = squared.simd_lt(reach).to_bitmask();
            while hits != 0 {
                let other = near.members[batch * LANES + hits.trailing_zeros() as usize];
                hits &= hits - 1;
                let is_near = || {
                    let j = self.members[other as usize] as usize;
                    !is_outside || positions[j].distance_squared(x) < self.h * self.h
                };
                if other as usize != m && is_near() {
                    found(other);
                }
            }
        }
    }

    /// Σ W of member m over near pairs that do not count [1/m3].
    pub fn uncounted(
        &self,
        positions: &[Vec3],
        m: usize,
        kernel: Kernel,
        counts: impl Fn(u32, u32) -> bool,
    ) -> Real {
        let (i, mut sum) = (self.members[m], 0.0);
        let x = positions[i as usize];
        self.cells.for_each_run(x, |run| {
            for j in run.filter(|&other| other != m).map(|other| self.members[other]) {
                let r = positions[j as usize].distance(x);
                if r < kernel.h && !counts(i, j) {
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
        self.members.clear();
        let cell = all.cells.cell_of_sorted(m);
        all.cells.for_each_run_around(cell, |run| self.members.extend(run.map(|other| other as u32)));
        let full = self.members.len().next_multiple_of(LANES);
        for (column, coordinates) in self.coordinates.iter_mut().zip(&all.coordinates) {
            let own = coordinates[m];
            column.clear();
            column.extend(self.members.iter().map(|&j| coordinates[j as usize].wrapping_sub(own) as f32));
            column.resize(full, f32::MAX);
        }
    }
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
            neighbors.build(&points, &all, h, |i, j| !(i + j).is_multiple_of(5));
            for (i, list) in lists(&neighbors).iter().enumerate() {
                let distance = |j: u32| points[j as usize].distance(points[i]) / h;
                let counts = |j: u32| j as usize != i && !(i as u32 + j).is_multiple_of(5);
                // the rim is as wide as the rounding of positions
                let sure: Vec<u32> = all.iter().copied().filter(|&j| counts(j) && distance(j) < 1.0 - 1e-5).collect();
                prop_assert!(sure.iter().all(|j| list.contains(j)));
                prop_assert!(list.iter().all(|&j| counts(j) && distance(j) < 1.0 + 1e-5));
            }
        }
    }
}
