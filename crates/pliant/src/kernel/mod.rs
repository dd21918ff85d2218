//! Smoothing kernels W(r) of compact support h.

mod lanes;

pub use lanes::KernelLanes;

use crate::math::Real;
use std::f64::consts::PI;

/// Pairs nearer to the support radius than this part of it are no neighbours: in a lattice rounding would decide.
pub const RIM: Real = 1e-6;

/// Which kernel; zero at distance h, the support radius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelKind {
    WendlandC2,
    CubicSpline,
}

/// A kernel with its support radius h [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernel {
    pub kind: KernelKind,
    /// Support radius h [m].
    pub h: Real,
}

impl Kernel {
    pub fn new(kind: KernelKind, h: Real) -> Self {
        Kernel { kind, h }
    }

    /// W(r) [1/m3].
    /// Wendland C2: 21/(2 pi h³) (1-q)⁴ (4q+1);  cubic spline: 8/(pi h³) {6(q³-q²)+1 | 2(1-q)³},  q = r/h.
    pub fn w(&self, r: Real) -> Real {
        let (h, q) = (self.h, r / self.h);
        if q >= 1.0 {
            return 0.0;
        }
        let p = 1.0 - q;
        match self.kind {
            KernelKind::WendlandC2 => 21.0 / (2.0 * PI * h.powi(3)) * p.powi(4) * (4.0 * q + 1.0),
            KernelKind::CubicSpline if q <= 0.5 => 8.0 / (PI * h.powi(3)) * (6.0 * q * q * (q - 1.0) + 1.0),
            KernelKind::CubicSpline => 8.0 / (PI * h.powi(3)) * 2.0 * p.powi(3),
        }
    }

    /// -W'(r)/r [1/m5], finite at r = 0: the gradient is ∇W(x_ij) = slope_over_r * x_ji.
    pub fn slope_over_r(&self, r: Real) -> Real {
        let (h, q) = (self.h, r / self.h);
        if q >= 1.0 {
            return 0.0;
        }
        match self.kind {
            KernelKind::WendlandC2 => 210.0 / (PI * h.powi(5)) * (1.0 - q).powi(3),
            KernelKind::CubicSpline if q <= 0.5 => 48.0 / (PI * h.powi(5)) * (2.0 - 3.0 * q),
            KernelKind::CubicSpline => 48.0 / (PI * h.powi(5)) * (1.0 - q) * (1.0 - q) / q,
        }
    }
}

impl Kernel {
    /// Σ W over a cubic lattice of this spacing, the point itself included [1/m3].
    pub fn lattice_sum(&self, spacing: Real) -> Real {
        self.layer_sum(spacing, 0.0) + 2.0 * self.sum_of_layers(spacing)
    }

    /// Σ (-W'/r) r²/3 over a cubic lattice of this spacing [1/m3]: what a sum of gradients makes of a slope, times volume.
    pub fn lattice_moment(&self, spacing: Real) -> Real {
        self.lattice_distances(spacing).map(|r| self.slope_over_r(r) * r * r / 3.0).sum()
    }

    /// Neighbours inside a cubic lattice of this spacing.
    pub fn lattice_neighbors(&self, spacing: Real) -> usize {
        self.lattice_distances(spacing).filter(|r| *r > 0.0 && *r < self.h * (1.0 - RIM)).count()
    }

    /// Distances of the points of a cubic lattice from one of them, up to the support and beyond.
    fn lattice_distances(&self, spacing: Real) -> impl Iterator<Item = Real> {
        let reach = (self.h / spacing).ceil() as i64;
        let range = move || -reach..=reach;
        let squares =
            range().flat_map(move |i| range().flat_map(move |j| range().map(move |k| i * i + j * j + k * k)));
        squares.map(move |n| (n as Real).sqrt() * spacing)
    }

    fn sum_of_layers(&self, spacing: Real) -> Real {
        let layers = (self.h / spacing).ceil() as usize;
        (1..=layers).map(|k| self.layer_sum(spacing, k as Real * spacing)).sum()
    }

    /// Σ W over one layer of a cubic lattice at this distance, right above one of its points [1/m3].
    pub fn layer_sum(&self, spacing: Real, distance: Real) -> Real {
        let reach = (self.h / spacing).ceil() as i64;
        let mut total = 0.0;
        for i in -reach..=reach {
            for j in -reach..=reach {
                let along = ((i * i + j * j) as Real).sqrt() * spacing;
                total += self.w(along.hypot(distance));
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [KernelKind; 2] = [KernelKind::WendlandC2, KernelKind::CubicSpline];

    #[test]
    fn every_kernel_integrates_to_one() {
        for kind in KINDS {
            let kernel = Kernel::new(kind, 0.7);
            let n = 20_000;
            let dr = kernel.h / n as f64;
            let integral: f64 =
                (0..n).map(|k| (k as f64 + 0.5) * dr).map(|r| 4.0 * PI * r * r * kernel.w(r) * dr).sum();
            // Midpoint rule, error of order (dr/h)².
            assert!((integral - 1.0).abs() < 1e-7, "{kind:?}: {integral}");
        }
    }

    #[test]
    fn every_gradient_is_the_derivative_of_its_kernel() {
        for kind in KINDS {
            let kernel = Kernel::new(kind, 1.3);
            for k in 1..100 {
                let (r, eps) = (k as f64 * 0.0131, 1e-6);
                let slope = (kernel.w(r + eps) - kernel.w(r - eps)) / (2.0 * eps);
                assert!((slope + r * kernel.slope_over_r(r)).abs() < 1e-6, "{kind:?} at {r}");
            }
        }
    }

    #[test]
    fn a_lattice_sums_to_about_one_and_better_with_more_neighbours() {
        for kind in KINDS {
            for (support, tolerance) in [(2.0, 0.05), (3.0, 0.01)] {
                let kernel = Kernel::new(kind, support);
                let mut total = 0.0;
                for i in -3..=3 {
                    for j in -3..=3 {
                        for k in -3..=3 {
                            total += kernel.w(((i * i + j * j + k * k) as f64).sqrt());
                        }
                    }
                }
                assert!((total - 1.0).abs() < tolerance, "{kind:?}, h = {support} s: {total}");
            }
        }
    }
}
