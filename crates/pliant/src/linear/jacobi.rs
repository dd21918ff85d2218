//! Preconditioners that look at one particle at a time.

use super::cg::{Preconditioner, product, product_of_chunk};
use crate::math::CHUNK;
use glam::{Mat3, Vec3};
use rayon::prelude::*;

/// No preconditioning: M = I.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity;

impl Preconditioner for Identity {
    fn apply(&mut self, r: &[Vec3], z: &mut [Vec3]) {
        z.copy_from_slice(r);
    }

    fn apply_with_product(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        self.apply(r, z);
        product(r, r)
    }
}

/// M = diag(a_i), one number a particle: operators that act alike on the three coordinates.
#[derive(Clone, Debug, Default)]
pub struct Jacobi {
    /// 1 / a_i.
    inverse: Vec<f32>,
}

impl Jacobi {
    /// From the diagonal of A, which must be positive.
    pub fn new(diagonal: &[f32]) -> Self {
        Jacobi { inverse: diagonal.iter().map(|a| 1.0 / a).collect() }
    }
}

impl Preconditioner for Jacobi {
    fn apply(&mut self, r: &[Vec3], z: &mut [Vec3]) {
        scale(r, z, &self.inverse, |a, r| *a * r);
    }

    fn apply_with_product(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        scale_with_product(r, z, &self.inverse, |a, r| *a * r)
    }
}

/// M = diag(A_ii), a symmetric 3x3 block a particle.
#[derive(Clone, Debug, Default)]
pub struct BlockJacobi {
    inverse: Vec<Block>,
}

/// xx, yy, zz, xy, xz, yz of a symmetric matrix.
type Block = [f32; 6];

impl BlockJacobi {
    /// From the diagonal blocks of A, which must be symmetric and positive definite.
    pub fn new(blocks: &[Mat3]) -> Self {
        let mut jacobi = BlockJacobi { inverse: vec![[0.0; 6]; blocks.len()] };
        jacobi.set(blocks);
        jacobi
    }

    /// Takes other blocks, of as many particles.
    pub fn set(&mut self, blocks: &[Mat3]) {
        assert_eq!(blocks.len(), self.inverse.len(), "one block a particle");
        self.inverse.par_iter_mut().with_min_len(CHUNK).zip(blocks).for_each(|(slot, block)| {
            let m = block.inverse();
            *slot = [m.x_axis.x, m.y_axis.y, m.z_axis.z, m.x_axis.y, m.x_axis.z, m.y_axis.z];
        });
    }
}

impl Preconditioner for BlockJacobi {
    fn apply(&mut self, r: &[Vec3], z: &mut [Vec3]) {
        scale(r, z, &self.inverse, multiply);
    }

    fn apply_with_product(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        scale_with_product(r, z, &self.inverse, multiply)
    }
}

#[inline(always)]
fn multiply(m: &Block, r: Vec3) -> Vec3 {
    let [xx, yy, zz, xy, xz, yz] = *m;
    Vec3::new(xx * r.x + xy * r.y + xz * r.z, xy * r.x + yy * r.y + yz * r.z, xz * r.x + yz * r.y + zz * r.z)
}

/// z_i = by(inverse_i, r_i).
fn scale<T: Sync>(r: &[Vec3], z: &mut [Vec3], inverse: &[T], by: impl Fn(&T, Vec3) -> Vec3 + Sync) {
    let columns = z.par_iter_mut().with_min_len(CHUNK).zip(r).zip(inverse);
    columns.for_each(|((z, r), a)| *z = by(a, *r));
}

/// z_i = by(inverse_i, r_i), with r·z.
fn scale_with_product<T: Sync>(
    r: &[Vec3],
    z: &mut [Vec3],
    inverse: &[T],
    by: impl Fn(&T, Vec3) -> Vec3 + Sync,
) -> f64 {
    let chunks = z.par_chunks_mut(CHUNK).zip(r.par_chunks(CHUNK)).zip(inverse.par_chunks(CHUNK));
    let parts: Vec<f64> = chunks
        .map(|((z, r), inverse)| {
            for ((z, r), a) in z.iter_mut().zip(r).zip(inverse) {
                *z = by(a, *r);
            }
            product_of_chunk(r, z)
        })
        .collect();
    parts.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn residual(n: usize) -> Vec<Vec3> {
        (0..n)
            .map(|i| i as f32)
            .map(|i| Vec3::new((0.3 * i).sin(), (0.7 * i).cos(), (0.11 * i).sin()))
            .collect()
    }

    #[test]
    fn blocks_are_inverted() {
        let n = 5_000;
        let block = |i: usize| {
            let a = Vec3::new(1.0, 0.2 * (i % 7) as f32, -0.3);
            Mat3::from_diagonal(Vec3::new(1.0, 2.0, 3.0)) + Mat3::from_cols(a * a.x, a * a.y, a * a.z)
        };
        let blocks: Vec<Mat3> = (0..n).map(block).collect();
        let (r, mut z) = (residual(n), vec![Vec3::ZERO; n]);
        BlockJacobi::new(&blocks).apply(&r, &mut z);
        // Blocks of condition 5: rounding of some 1e-6.
        assert!((0..n).all(|i| (blocks[i] * z[i] - r[i]).length() < 3e-6));
    }

    #[test]
    fn the_product_of_one_pass_is_that_of_two() {
        let n = 10_001;
        let r = residual(n);
        let diagonal: Vec<f32> = (0..n).map(|i| 1.0 + (i % 3) as f32).collect();
        let blocks: Vec<Mat3> = diagonal.iter().map(|d| Mat3::from_diagonal(Vec3::splat(*d))).collect();
        let mut z = vec![Vec3::ZERO; n];
        let together = Jacobi::new(&diagonal).apply_with_product(&r, &mut z);
        assert_eq!(together.to_bits(), product(&r, &z).to_bits());
        let blockwise = BlockJacobi::new(&blocks).apply_with_product(&r, &mut z);
        assert_eq!(blockwise.to_bits(), product(&r, &z).to_bits());
        assert_eq!(Identity.apply_with_product(&r, &mut z).to_bits(), product(&r, &r).to_bits());
    }
}
