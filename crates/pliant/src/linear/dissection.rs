//! Orders of elimination with little fill, from the positions of the particles.
//!
//! Nested dissection cuts a body in halves that touch only through a separator, which is eliminated after both, and
//! cuts the halves again [George 1973]. Long thin bodies fill less when swept from both ends towards one cut.

use super::SymmetricMatrix;
use crate::math::{Real, Vec3};
use std::sync::atomic::{AtomicU32, Ordering};

/// Regions of at most this many particles are not cut further.
const LEAF: usize = 48;
/// Cuts of a region at most; far more than halving can need.
const MAX_DEPTH: u32 = 28;
/// Regions of at least this many particles are ordered in parallel.
const PARALLEL: usize = 2000;

/// Nested dissection by coordinates: `order[k]` is the particle that is eliminated k-th.
pub fn nested_dissection(positions: &[Vec3], matrix: &SymmetricMatrix) -> Vec<u32> {
    Dissection::new(positions, matrix, MAX_DEPTH).order()
}

/// One cut across the longest axis, both halves swept layer by layer from their free end towards it.
pub fn sweep_order(positions: &[Vec3], matrix: &SymmetricMatrix) -> Vec<u32> {
    Dissection::new(positions, matrix, 1).order()
}

struct Dissection<'a> {
    positions: &'a [Vec3],
    matrix: &'a SymmetricMatrix,
    /// Longest extent of a matrix entry along each axis.
    reach: Vec3,
    depth: u32,
    /// Half of a region that each particle near a cut lies in: regions are numbered like the nodes of a heap.
    halves: Vec<AtomicU32>,
}

impl<'a> Dissection<'a> {
    fn new(positions: &'a [Vec3], matrix: &'a SymmetricMatrix, depth: u32) -> Self {
        assert_eq!(positions.len(), matrix.n, "a position for each row");
        let mut reach = Vec3::splat(Real::MIN_POSITIVE);
        for j in 0..matrix.n {
            for &i in matrix.column(j) {
                reach = reach.max((positions[i as usize] - positions[j]).abs());
            }
        }
        let halves = (0..matrix.n).map(|_| AtomicU32::new(0)).collect();
        Dissection { positions, matrix, reach: reach * (1.0 + 1e-6), depth, halves }
    }

    fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.matrix.n as u32).collect();
        self.dissect(&mut order, 1, None);
        order
    }

    /// Orders the particles of one region in place. `toward` is the axis and the coordinate of the last cut.
    fn dissect(&self, region: &mut [u32], number: u32, toward: Option<(usize, Real)>) {
        let axes = self.axes_by_extent(region);
        let depth = number.ilog2();
        let cut = if depth < self.depth && region.len() > LEAF { self.cut(region, axes[0]) } else { None };
        let Some((k, coordinate)) = cut else {
            self.sweep(region, axes, toward);
            return;
        };
        let toward = (axes[0], coordinate);
        self.mark_separator(region, k, number, toward);
        let (left, right) = region.split_at_mut(k);
        // The separator moves behind the right half.
        let kept = partition(left, |i| self.half(i) != 0);
        let right_length = right.len();
        region[kept..].rotate_left(k - kept);
        let (left, rest) = region.split_at_mut(kept);
        let (right, separator) = rest.split_at_mut(right_length);
        self.sweep(separator, axes, None);
        if left.len() + right.len() > PARALLEL {
            rayon::join(
                || self.dissect(left, 2 * number, Some(toward)),
                || self.dissect(right, 2 * number + 1, Some(toward)),
            );
        } else {
            self.dissect(left, 2 * number, Some(toward));
            self.dissect(right, 2 * number + 1, Some(toward));
        }
    }

    /// Axes from the longest to the shortest extent, measured in reaches.
    fn axes_by_extent(&self, region: &[u32]) -> [usize; 3] {
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for &i in region {
            lo = lo.min(self.positions[i as usize]);
            hi = hi.max(self.positions[i as usize]);
        }
        let extent = (hi - lo) / self.reach;
        // Extents that differ by rounding only keep the order of the axes.
        let mut axes = [0, 1, 2];
        axes.sort_by_key(|&a| std::cmp::Reverse((extent[a] * 1e3).round() as i64));
        axes
    }

    /// Sorts the region along an axis and finds where to cut it: k particles before the coordinate, so that the
    /// halves are even when the separator is taken off the first, preferably in a gap between layers.
    fn cut(&self, region: &mut [u32], axis: usize) -> Option<(usize, Real)> {
        let x = |i: u32| self.positions[i as usize][axis];
        let reach = self.reach[axis];
        region.sort_unstable_by(|&a, &b| x(a).total_cmp(&x(b)).then(a.cmp(&b)));
        let n = region.len();
        if x(region[n - 1]) - x(region[0]) < 1.2 * reach {
            return None;
        }
        let (mut best, mut first_of_separator) = (None, 0);
        let mut best_score = Real::NEG_INFINITY;
        for k in 1..n {
            let (below, above) = (x(region[k - 1]), x(region[k]));
            while first_of_separator < k && x(region[first_of_separator]) <= above - reach {
                first_of_separator += 1;
            }
            let balance = (first_of_separator.min(k) as Real - (n - k) as Real).abs() / n as Real;
            let score = (above - below) / reach - 2.0 * balance;
            if score > best_score {
                (best, best_score) = (Some((k, 0.5 * (below + above))), score);
            }
        }
        best.filter(|&(k, _)| k < n)
    }

    /// Marks those of the first k particles of a region that are coupled with one of the others by the label zero.
    fn mark_separator(&self, region: &[u32], k: usize, number: u32, (axis, coordinate): (usize, Real)) {
        let (left, right) = (2 * number, 2 * number + 1);
        let near = |i: u32| (self.positions[i as usize][axis] - coordinate).abs() <= self.reach[axis];
        let halves = region.iter().enumerate().map(|(place, &i)| (i, if place < k { left } else { right }));
        for (i, half) in halves.clone() {
            self.halves[i as usize].store(half, Ordering::Relaxed);
        }
        let mut separator = Vec::new();
        for (j, half_j) in halves.filter(|&(j, _)| near(j)) {
            for &i in self.matrix.column(j as usize) {
                match (half_j == left, self.half(i)) {
                    (true, half_i) if half_i == right => separator.push(j),
                    (false, half_i) if half_i == left => separator.push(i),
                    _ => {}
                }
            }
        }
        for i in separator {
            self.halves[i as usize].store(0, Ordering::Relaxed);
        }
    }

    fn half(&self, i: u32) -> u32 {
        self.halves[i as usize].load(Ordering::Relaxed)
    }

    /// Layer by layer along the longest axis, ending at the cut.
    fn sweep(&self, region: &mut [u32], axes: [usize; 3], toward: Option<(usize, Real)>) {
        let along = toward.map_or(axes[0], |(axis, _)| axis);
        let axes = [along, axes[0], axes[1], axes[2]];
        let backward = toward.is_some_and(|(axis, cut)| {
            region.first().is_some_and(|&i| self.positions[i as usize][axis] > cut)
        });
        // Rounding must not tear layers apart: coordinates in steps of a hundredth of the reach.
        let key = |i: u32| {
            let x = self.positions[i as usize] / self.reach * 100.0;
            let q = |a: usize| x[a].round() as i64;
            [
                if backward { -q(axes[0]) } else { q(axes[0]) },
                q(axes[1]),
                q(axes[2]),
                q(axes[3]),
                i64::from(i),
            ]
        };
        region.sort_by_cached_key(|&i| key(i));
    }
}

/// Moves the items that are to stay to the front, in order; returns how many.
fn partition(items: &mut [u32], stays: impl Fn(u32) -> bool) -> usize {
    let (kept, moved): (Vec<u32>, Vec<u32>) = items.iter().partition(|&&i| stays(i));
    items[..kept.len()].copy_from_slice(&kept);
    items[kept.len()..].copy_from_slice(&moved);
    kept.len()
}

#[cfg(test)]
mod tests {
    use super::super::Factor;
    use super::super::matrix::tests::{lattice, stretching_matrix};
    use super::*;

    #[test]
    fn orders_are_permutations() {
        let mut scattered = lattice([9, 8, 7], 0.1);
        scattered.iter_mut().enumerate().for_each(|(i, x)| *x += 0.03 * Vec3::splat((i as f64 * 1.7).sin()));
        for positions in
            [lattice([30, 4, 4], 0.1), lattice([8, 8, 8], 0.1), scattered, lattice([1, 1, 1], 0.1)]
        {
            let matrix = if positions.len() > 1 {
                stretching_matrix(&positions, 0.1, 1e6)
            } else {
                SymmetricMatrix::new(vec![0, 1], vec![0], vec![1.0])
            };
            for mut order in [nested_dissection(&positions, &matrix), sweep_order(&positions, &matrix)] {
                order.sort_unstable();
                assert!(order.iter().copied().eq(0..matrix.n as u32));
            }
        }
    }

    #[test]
    fn cubes_prefer_dissection_and_beams_a_sweep() {
        let costs = |counts: [usize; 3]| {
            let positions = lattice(counts, 0.1);
            let matrix = stretching_matrix(&positions, 0.1, 1e6);
            [nested_dissection(&positions, &matrix), sweep_order(&positions, &matrix)]
                .map(|order| Factor::cost(&matrix, &order).bytes)
        };
        let [dissected, swept] = costs([14, 14, 14]);
        assert!(dissected < swept, "{dissected} {swept}");
        let [dissected, swept] = costs([60, 5, 5]);
        assert!(dissected > swept, "{dissected} {swept}");
    }
}
