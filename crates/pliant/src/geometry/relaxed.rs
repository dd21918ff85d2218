//! Random points moved until the density is even and the outermost layer lies half a spacing below the surface.
//!
//! Points move against the gradient of the density δ, as if by pressure, and by Newton's steps towards an even δ, as in
//! position-based fluids [Macklin and Müller 2013]. The outside counts as filled, as the volume maps of Bender et al.
//! (2019) do, so that walls push as neighbours do. All points move at once: the result does not depend on the number of
//! threads.

use super::density::{Around, Density};
use super::{Field, Shape, poisson};
use crate::math::{Real, Vec3, sum};
use crate::neighbors::Grid;
use rayon::prelude::*;

const STEPS: usize = 80;
/// Strength of the motion against the gradient at first [spacings²]; it fades to zero.
const PRESSURE: Real = 0.25;
/// Part of Newton's step that is taken: neighbours take theirs at the same time.
const NEWTON: Real = 0.3;
/// Farthest that a point moves in a step [spacings].
const STRIDE: Real = 0.15;
/// Points less deep than this belong to the outermost layer, which is drawn to half a spacing [spacings].
const LAYER: Real = 0.75;
const DEPTH: Real = 0.5;
/// Part of the way that it is drawn in a step, at first.
const DRAW: Real = 0.3;

pub(super) fn sample(shape: &Shape, spacing: Real, seed: u64) -> Vec<Vec3> {
    let points = poisson::sample(shape, spacing, seed);
    let n = points.len();
    let density = Density::new(shape, spacing);
    let depths = points.iter().map(|_| 0.0).collect();
    let mut relaxing = Relaxing { shape, spacing, density, points, depths, grid: Grid::default() };
    for step in 0..if n > 1 { STEPS } else { 0 } {
        relaxing.step(1.0 - step as Real / STEPS as Real);
    }
    relaxing.points
}

struct Relaxing<'a> {
    shape: &'a Shape,
    spacing: Real,
    density: Density,
    points: Vec<Vec3>,
    /// Each point is at least this deep.
    depths: Vec<Real>,
    grid: Grid,
}

impl Relaxing<'_> {
    /// One motion of all points; `fresh` falls from one to zero.
    fn step(&mut self, fresh: Real) {
        let (s, h) = (self.spacing, self.density.reach());
        self.grid.build(&self.points, h);
        let around: Vec<Around> = self
            .points
            .par_iter()
            .zip(&self.depths)
            .map(|(&x, &depth)| self.density.around(&self.grid, x, depth < h))
            .collect();
        let n = around.len();
        let mean = sum(n, 0.0, |i| around[i].density) / n as Real;
        let steepness = |a: &Around| a.others_squared + a.gradient.length_squared();
        let least = 0.1 * sum(n, 0.0, |i| steepness(&around[i])) / n as Real;
        // λ_i of Newton's step towards the mean density
        let lambda: Vec<Real> =
            around.iter().map(|a| NEWTON * (mean - a.density) / (steepness(a) + least)).collect();
        let moved: Vec<(Vec3, Real)> = (0..n)
            .into_par_iter()
            .map(|i| {
                let x = self.points[i];
                let mut motion = around[i].gradient * (lambda[i] - fresh * PRESSURE * s * s);
                self.grid.for_each_within(x, h, |j, y| {
                    motion += lambda[j as usize] * self.density.pair_gradient(x - y);
                });
                self.placed(x, motion.clamp_length_max(STRIDE * s), self.depths[i], fresh)
            })
            .collect();
        (self.points, self.depths) = moved.into_iter().unzip();
    }

    /// The point moved, within the shape, and its depth.
    fn placed(&self, x: Vec3, motion: Vec3, depth: Real, fresh: Real) -> (Vec3, Real) {
        let s = self.spacing;
        let p = x + motion;
        let known = depth - motion.length() * self.shape.steepness();
        if known > LAYER * s {
            return (p, known);
        }
        let (distance, gradient) = self.shape.surface(p);
        let depth = -distance;
        if depth > LAYER * s {
            return (p, depth);
        }
        let draw = if depth < 0.25 * s { 1.0 } else { DRAW * fresh };
        let shift = (DEPTH * s - depth) * draw;
        (p - gradient.normalize_or_zero() * shift, depth + shift)
    }
}
