//! Rest neighbourhoods: constant per-pair data, laid out to be streamed eight particles at a time.

use super::Grid;
use crate::kernel::{Kernel, RIM};
use crate::math::{LANES, Mat3, Real, Vec3, outer};
use rayon::prelude::*;

/// One neighbour of each of eight consecutive particles (a row of a sliced ELLPACK matrix).
/// A lane without a further neighbour points to its own particle with zero weight.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct PairRow {
    /// Index j of the neighbour within the body.
    pub j: [u32; LANES],
    /// b_ij = V_i V_j ∇W(X_ij): antisymmetric to the last bit.
    pub b: [[f32; LANES]; 3],
}

/// All directed pairs of a body's rest neighbours.
#[derive(Clone, Debug)]
pub struct RestNeighbors {
    pub particles: usize,
    /// First row of each slice of eight particles; one more at the end.
    pub slices: Vec<u32>,
    pub rows: Vec<PairRow>,
    /// beta_ij = |b_ij| / |X_ij| of each row, symmetric: b_ij = beta_ij X_ji. Apart from the rows, as not all loops
    /// stream it.
    pub betas: Vec<[f32; LANES]>,
    /// Directed pairs without the padding.
    pub pairs: usize,
}

impl RestNeighbors {
    /// Neighbours of rest positions X within the kernel's support, with the gradients for volumes V.
    pub fn build(rest: &[Vec3], volumes: &[Real], kernel: Kernel) -> Self {
        let lists = neighbor_lists(rest, kernel.h);
        let slice_count = rest.len().div_ceil(LANES);
        let longest = |s: usize| lists[s * LANES..rest.len().min((s + 1) * LANES)].iter().map(Vec::len).max();
        let mut slices = vec![0u32];
        for s in 0..slice_count {
            slices.push(slices[s] + longest(s).unwrap_or(0) as u32);
        }
        let mut rows = vec![PairRow::EMPTY; slices[slice_count] as usize];
        let mut betas = vec![[0.0; LANES]; rows.len()];
        let mut parts: Vec<(&mut [PairRow], &mut [[f32; LANES]])> = Vec::with_capacity(slice_count);
        let mut left = (rows.as_mut_slice(), betas.as_mut_slice());
        for s in 0..slice_count {
            let length = (slices[s + 1] - slices[s]) as usize;
            let ((part, left_rows), (beta, left_betas)) =
                (left.0.split_at_mut(length), left.1.split_at_mut(length));
            parts.push((part, beta));
            left = (left_rows, left_betas);
        }
        parts.into_par_iter().enumerate().for_each(|(s, (part, betas))| {
            for lane in 0..LANES {
                let i = (s * LANES + lane).min(rest.len() - 1);
                let list: &[u32] = if s * LANES + lane < rest.len() { &lists[i] } else { &[] };
                for (k, (row, beta)) in part.iter_mut().zip(betas.iter_mut()).enumerate() {
                    let j = list.get(k).map_or(i, |&j| j as usize);
                    row.j[lane] = j as u32;
                    if j != i {
                        let x_ji = rest[j] - rest[i];
                        let weight = volumes[i] * volumes[j] * kernel.slope_over_r(x_ji.length());
                        beta[lane] = weight as f32;
                        row.set(lane, x_ji * weight);
                    }
                }
            }
        });
        let pairs = lists.iter().map(Vec::len).sum();
        RestNeighbors { particles: rest.len(), slices, rows, betas, pairs }
    }

    /// Multiplies all weights.
    pub fn scale(&mut self, factor: Real) {
        let factor = factor as f32;
        self.rows.iter_mut().flat_map(|row| row.b.as_flattened_mut()).for_each(|b| *b *= factor);
        self.betas.as_flattened_mut().iter_mut().for_each(|beta| *beta *= factor);
    }

    /// V_i V_j W_ij / beta_ij [m2] of every pair, row by row as in `rows`; zero in the padding.
    pub fn weight_ratios(&self, rest: &[Vec3], volumes: &[Real], kernel: Kernel) -> Vec<[f32; LANES]> {
        let mut ratios = vec![[0.0; LANES]; self.rows.len()];
        for s in 0..self.slices.len() - 1 {
            for k in self.range(s) {
                for (lane, ratio) in ratios[k].iter_mut().enumerate() {
                    let (i, j) = (s * LANES + lane, self.rows[k].j[lane] as usize);
                    if i < rest.len() && i != j {
                        let weight = volumes[i] * volumes[j] * kernel.w(rest[i].distance(rest[j]));
                        let beta = self.betas[k][lane] as Real;
                        *ratio = if beta > 0.0 { (weight / beta) as f32 } else { 0.0 };
                    }
                }
            }
        }
        ratios
    }

    /// Particles whose nearest neighbour is one spacing away, to a hundredth of it.
    pub fn count_in_lattice(&self, rest: &[Vec3], spacing: Real) -> usize {
        let in_lattice = |&i: &usize| {
            let mut nearest = Real::INFINITY;
            self.for_each_of(i, |j, _, _| nearest = nearest.min(rest[i].distance(rest[j])));
            (nearest - spacing).abs() < 0.01 * spacing
        };
        (0..rest.len()).into_par_iter().with_min_len(1024).filter(in_lattice).count()
    }

    /// The rows of slice s.
    #[inline(always)]
    pub fn slice(&self, s: usize) -> &[PairRow] {
        &self.rows[self.range(s)]
    }

    /// The numbers of the rows of slice s.
    #[inline(always)]
    pub fn range(&self, s: usize) -> std::ops::Range<usize> {
        self.slices[s] as usize..self.slices[s + 1] as usize
    }

    /// Calls `f(j, b_ij, beta_ij)` for each neighbour of i.
    pub fn for_each_of(&self, i: usize, mut f: impl FnMut(usize, Vec3, Real)) {
        let (s, lane) = (i / LANES, i % LANES);
        for k in self.range(s).filter(|&k| self.rows[k].j[lane] as usize != i) {
            let row = &self.rows[k];
            let b = Vec3::new(row.b[0][lane] as Real, row.b[1][lane] as Real, row.b[2][lane] as Real);
            f(row.j[lane] as usize, b, self.betas[k][lane] as Real);
        }
    }

    /// Moment matrices Σ_j b_ij ⊗ X_ji = Σ_j beta_ij X_ji ⊗ X_ji, from the pair data as stored.
    pub fn moments(&self, rest: &[Vec3]) -> Vec<Mat3> {
        let moment = |i: usize| {
            let mut m = Mat3::ZERO;
            self.for_each_of(i, |j, b, _| m += outer(rest[j] - rest[i], b));
            m
        };
        (0..rest.len()).into_par_iter().with_min_len(256).map(moment).collect()
    }

    /// Number of neighbours of each particle.
    pub fn counts(&self) -> Vec<usize> {
        let count = |i: usize| {
            let (slice, lane) = (self.slice(i / LANES), i % LANES);
            slice.iter().filter(|row| row.j[lane] as usize != i).count()
        };
        (0..self.particles).into_par_iter().with_min_len(1024).map(count).collect()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.rows.len() * (size_of::<PairRow>() + size_of::<[f32; LANES]>()) + self.slices.len() * 4
    }
}

impl PairRow {
    const EMPTY: PairRow = PairRow { j: [0; LANES], b: [[0.0; LANES]; 3] };

    fn set(&mut self, lane: usize, b: Vec3) {
        for (slot, value) in self.b.iter_mut().zip(b.to_array()) {
            slot[lane] = value as f32;
        }
    }
}

/// Neighbours of each point nearer than h (not itself), rising. Pairs on the rim, where the kernel vanishes, are left
/// out whatever the rounding of their distance.
fn neighbor_lists(rest: &[Vec3], h: Real) -> Vec<Vec<u32>> {
    let mut grid = Grid::default();
    grid.build(rest, h);
    let reach = h * (1.0 - RIM);
    let list = |i: usize| {
        let mut list = Vec::with_capacity(32);
        grid.for_each_within(rest[i], reach, |j, _| {
            if j as usize != i {
                list.push(j);
            }
        });
        list.sort_unstable();
        list
    };
    (0..rest.len()).into_par_iter().with_min_len(128).map(list).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Sampling, Shape};
    use crate::kernel::KernelKind;

    fn cube() -> (Vec<Vec3>, RestNeighbors, Kernel) {
        let rest = Shape::Box { size: Vec3::splat(0.7) }.sample(0.1, Sampling::Lattice);
        let kernel = Kernel::new(KernelKind::WendlandC2, 0.2);
        let volumes: Vec<f64> = (0..rest.len()).map(|i| 1e-3 * (1.0 + 0.01 * (i % 13) as f64)).collect();
        let neighbors = RestNeighbors::build(&rest, &volumes, kernel);
        (rest, neighbors, kernel)
    }

    #[test]
    fn rest_neighbours_are_those_of_brute_force() {
        let (rest, neighbors, kernel) = cube();
        let mut pairs = 0;
        for i in 0..rest.len() {
            let mut got = Vec::new();
            neighbors.for_each_of(i, |j, _, _| got.push(j));
            let brute: Vec<usize> = (0..rest.len())
                .filter(|&j| j != i && rest[i].distance(rest[j]) < kernel.h * (1.0 - RIM))
                .collect();
            pairs += brute.len();
            assert_eq!(got, brute);
        }
        assert_eq!(pairs, neighbors.pairs);
    }

    #[test]
    fn pair_gradients_are_antisymmetric_to_the_last_bit() {
        let (rest, neighbors, _) = cube();
        let mut table = std::collections::HashMap::new();
        for i in 0..rest.len() {
            neighbors.for_each_of(i, |j, b, beta| {
                table.insert((i, j), (b, beta));
            });
        }
        for (&(i, j), &(b, beta)) in &table {
            assert_eq!(table[&(j, i)], (-b, beta));
        }
    }
}
