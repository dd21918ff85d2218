//! Kernels of eight pairs at a time.

use super::{Kernel, KernelKind};
use crate::math::{Lane, Real};
use std::f64::consts::PI;

/// A kernel times a volume V, as a function of q = r/h <= 1.
#[derive(Clone, Copy, Debug)]
pub struct KernelLanes {
    kind: KernelKind,
    w: Lane,
    slope: Lane,
}

impl Kernel {
    /// The kernel times this volume.
    pub fn lanes(&self, volume: Real) -> KernelLanes {
        let h = self.h;
        let (w, slope) = match self.kind {
            KernelKind::WendlandC2 => (21.0 / (2.0 * PI * h.powi(3)), 210.0 / (PI * h.powi(4))),
            KernelKind::CubicSpline => (8.0 / (PI * h.powi(3)), 48.0 / (PI * h.powi(4))),
        };
        KernelLanes {
            kind: self.kind,
            w: Lane::splat((volume * w) as f32),
            slope: Lane::splat((volume * slope) as f32),
        }
    }
}

impl KernelLanes {
    /// V W.
    #[inline(always)]
    pub fn w(&self, q: Lane) -> Lane {
        let p = (Lane::ONE - q).max(Lane::ZERO);
        let shape = match self.kind {
            KernelKind::WendlandC2 => {
                let p2 = p * p;
                p2 * p2 * q.mul_add(Lane::splat(4.0), Lane::ONE)
            }
            KernelKind::CubicSpline => {
                let near = Lane::splat(6.0) * q * q * (q - Lane::ONE) + Lane::ONE;
                q.simd_lt(Lane::HALF).select(near, Lane::splat(2.0) * p * p * p)
            }
        };
        shape * self.w
    }

    /// -V h W'/r: the gradient is V ∇W(x_ij) = -slope x_ij/h.
    #[inline(always)]
    pub fn slope(&self, q: Lane) -> Lane {
        let p = (Lane::ONE - q).max(Lane::ZERO);
        let shape = match self.kind {
            KernelKind::WendlandC2 => p * p * p,
            KernelKind::CubicSpline => {
                let near = Lane::splat(2.0) - Lane::splat(3.0) * q;
                q.simd_lt(Lane::HALF).select(near, p * p / q.max(Lane::HALF))
            }
        };
        shape * self.slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_the_kernel_times_the_volume() {
        for kind in [KernelKind::WendlandC2, KernelKind::CubicSpline] {
            let kernel = Kernel::new(kind, 0.3);
            let lanes = kernel.lanes(0.01);
            for k in 0..100 {
                let q = k as f64 / 100.0;
                let lane = Lane::splat(q as f32);
                let near = |lane: Lane, exact: f64, scale: f64| {
                    assert!((lane.to_array()[3] as f64 - exact).abs() < 1e-6 * scale, "{kind:?} at {q}")
                };
                near(lanes.w(lane), 0.01 * kernel.w(q * 0.3), 0.01 * kernel.w(0.0));
                let slope = |q: f64| 0.01 * 0.3 * kernel.slope_over_r(q * 0.3);
                near(lanes.slope(lane), slope(q), slope(0.0));
            }
        }
    }
}
