//! Symmetric sparse matrices.

/// Lower triangle, diagonal included, of a symmetric matrix by columns; row indices rise within a column.
#[derive(Clone, Debug, Default)]
pub struct SymmetricMatrix {
    pub n: usize,
    /// First entry of each column; one more at the end.
    pub starts: Vec<usize>,
    pub rows: Vec<u32>,
    pub values: Vec<f32>,
}

impl SymmetricMatrix {
    /// Checks the layout: each column begins with its diagonal and its rows rise.
    pub fn new(starts: Vec<usize>, rows: Vec<u32>, values: Vec<f32>) -> Self {
        let n = starts.len() - 1;
        assert!(starts[n] == rows.len() && rows.len() == values.len(), "as many rows as values");
        for j in 0..n {
            let column = &rows[starts[j]..starts[j + 1]];
            assert!(column.first() == Some(&(j as u32)), "column {j} begins with its diagonal");
            assert!(column.windows(2).all(|w| w[0] < w[1]), "the rows of column {j} rise");
            assert!(column.last().is_some_and(|&i| (i as usize) < n), "the rows of column {j} exist");
        }
        SymmetricMatrix { n, starts, rows, values }
    }

    /// Rows of column j.
    #[inline]
    pub fn column(&self, j: usize) -> &[u32] {
        &self.rows[self.starts[j]..self.starts[j + 1]]
    }

    /// Rows and values of column j.
    #[inline]
    pub fn entries(&self, j: usize) -> impl Iterator<Item = (usize, f32)> {
        let range = self.starts[j]..self.starts[j + 1];
        self.rows[range.clone()].iter().map(|&i| i as usize).zip(self.values[range].iter().copied())
    }

    /// y = A x for three components.
    pub fn multiply(&self, x: &[glam::Vec3], y: &mut [glam::Vec3]) {
        y.fill(glam::Vec3::ZERO);
        for j in 0..self.n {
            let x_j = x[j];
            let mut sum = glam::Vec3::ZERO;
            for (i, a) in self.entries(j) {
                if i == j {
                    sum += a * x_j;
                } else {
                    sum += a * x[i];
                    y[i] += a * x_j;
                }
            }
            y[j] += sum;
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.starts.len() * size_of::<usize>() + self.rows.len() * 8
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::kernel::{Kernel, KernelKind};
    use crate::math::{Real, Vec3};
    use crate::neighbors::RestNeighbors;
    use std::collections::BTreeMap;

    /// Points of an x by y by z lattice of spacing s.
    pub fn lattice(counts: [usize; 3], s: Real) -> Vec<Vec3> {
        let mut points = Vec::new();
        for x in 0..counts[0] {
            for y in 0..counts[1] {
                for z in 0..counts[2] {
                    points.push(Vec3::new(x as Real, y as Real, z as Real) * s);
                }
            }
        }
        points
    }

    /// The stretching matrix of a block of rubber of density one thousand:
    /// A = m I + stiffness dt² Σ_k V_k (2 mu d_k d_kᵀ + zero-energy control), d_k the gradient at particle k.
    pub fn stretching_matrix(positions: &[Vec3], s: Real, stiffness: Real) -> SymmetricMatrix {
        let n = positions.len();
        let (mu, dt, volume) = (stiffness / 2.6, 2e-3, s * s * s);
        let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * s);
        let neighbors = RestNeighbors::build(positions, &vec![volume; n], kernel);
        let moments = neighbors.moments(positions);
        let mut columns: Vec<BTreeMap<u32, Real>> = vec![BTreeMap::new(); n];
        for j in 0..n {
            columns[j].insert(j as u32, 1000.0 * volume);
        }
        for k in 0..n {
            // Gradient at k: Σ_j d_j x_j with d_k = -Σ of the others.
            let correction = moments[k].inverse();
            let (mut ids, mut d, mut betas) = (vec![k], vec![Vec3::ZERO], vec![0.0]);
            neighbors.for_each_of(k, |j, b, beta| {
                ids.push(j);
                d.push(correction * b);
                betas.push(beta);
            });
            d[0] = -d.iter().sum::<Vec3>();
            let mut add = |i: usize, j: usize, value: Real| {
                if i >= j {
                    *columns[j].entry(i as u32).or_insert(0.0) += value;
                }
            };
            let weight = 2.0 * dt * dt * mu * volume;
            let beta_sum: Real = betas.iter().sum();
            for (p, &i) in ids.iter().enumerate() {
                for (q, &j) in ids.iter().enumerate() {
                    add(i, j, weight * d[p].dot(d[q]));
                }
                if p > 0 {
                    // Zero-energy control: differences of neighbours, mildly weighted.
                    let w = 0.1 * weight * betas[p] / beta_sum / (s * s);
                    add(i, i, w);
                    add(k, k, w);
                    add(i.max(k), i.min(k), -w);
                }
            }
        }
        let mut starts = vec![0];
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for column in columns {
            rows.extend(column.keys());
            values.extend(column.values().map(|&v| v as f32));
            starts.push(rows.len());
        }
        SymmetricMatrix::new(starts, rows, values)
    }

    #[test]
    fn the_product_is_that_of_the_full_matrix() {
        let matrix =
            SymmetricMatrix::new(vec![0, 2, 4, 5], vec![0, 2, 1, 2, 2], vec![2.0, -1.0, 3.0, 0.5, 4.0]);
        let x = [glam::Vec3::X, glam::Vec3::Y * 2.0, glam::Vec3::new(1.0, 0.0, 3.0)];
        let mut y = [glam::Vec3::ONE; 3];
        matrix.multiply(&x, &mut y);
        let expected = [2.0 * x[0] - x[2], 3.0 * x[1] + 0.5 * x[2], -x[0] + 0.5 * x[1] + 4.0 * x[2]];
        assert_eq!(y, expected);
    }
}
