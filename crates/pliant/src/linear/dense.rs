//! A small dense Cholesky factor, for the coarsest grid.

use super::block::Block;
use super::level::Level;
use glam::Vec3A;

/// Unknowns of which this part of the diagonal or less is left by those before them are left at zero. Nodes whose
/// functions no particle tells apart, as on both sides of a sheet, leave the matrix singular up to the rounding of its
/// sums, which are in single precision.
const SINGULAR: f64 = 1e-5;

/// A = L Lᵀ of a coarsest level.
#[derive(Clone, Debug, Default)]
pub(super) struct DenseFactor {
    /// Unknowns of a node that depend on one another.
    width: usize,
    /// L by rows, the lower half of n x n.
    l: Vec<f64>,
    /// One right-hand side.
    y: Vec<f64>,
}

impl DenseFactor {
    /// Factors the matrix of a level.
    pub fn set<B: Block>(&mut self, level: &Level<B>) {
        let (width, n) = (B::WIDTH, level.len() * B::WIDTH);
        self.width = width;
        self.y.resize(n, 0.0);
        self.l.clear();
        self.l.resize(n * n, 0.0);
        for (i, (row, neighbors)) in level.rows.iter().zip(&level.lattice.neighbors).enumerate() {
            for (block, &j) in row.iter().zip(neighbors).filter(|&(_, &j)| (j as usize) < level.len()) {
                for (r, c) in (0..width * width).map(|k| (k / width, k % width)) {
                    self.l[(i * width + r) * n + j as usize * width + c] = block.entry(r, c) as f64;
                }
            }
        }
        self.factor();
    }

    fn factor(&mut self) {
        let (n, l) = (self.y.len(), &mut self.l);
        for i in 0..n {
            let (above, row) = l.split_at_mut(i * n);
            let diagonal = row[i];
            for j in 0..i {
                let upper = &above[j * n..j * n + j + 1];
                row[j] = (row[j] - dot(&row[..j], upper)) / upper[j];
            }
            let pivot = diagonal - dot(&row[..i], &row[..i]);
            row[i] = if pivot > SINGULAR * diagonal { pivot.sqrt() } else { f64::INFINITY };
        }
    }

    /// x = A⁻¹ b; where the coordinates do not mix, one after the other.
    pub fn solve(&mut self, b: &[Vec3A], x: &mut [Vec3A]) {
        for first in (0..3).step_by(self.width) {
            for (i, y) in self.y.iter_mut().enumerate() {
                *y = b[i / self.width][first + i % self.width] as f64;
            }
            self.substitute();
            for (i, y) in self.y.iter().enumerate() {
                x[i / self.width][first + i % self.width] = *y as f32;
            }
        }
    }

    /// y = L⁻ᵀ L⁻¹ y.
    fn substitute(&mut self) {
        let DenseFactor { l, y, .. } = self;
        let n = y.len();
        for i in 0..n {
            y[i] = (y[i] - dot(&l[i * n..i * n + i], &y[..i])) / l[i * n + i];
        }
        for i in (0..n).rev() {
            y[i] /= l[i * n + i];
            let y_i = y[i];
            for (y, l) in y[..i].iter_mut().zip(&l[i * n..]) {
                *y -= l * y_i;
            }
        }
    }

    pub fn bytes(&self) -> usize {
        (self.l.len() + self.y.len()) * size_of::<f64>()
    }
}

/// a·b over the shorter of both, in four interleaved sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_fours, b_fours) = (a.chunks_exact(4), b[..a.len()].chunks_exact(4));
    let rest: f64 = a_fours.remainder().iter().zip(b_fours.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; 4];
    for (a, b) in a_fours.zip(b_fours) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
