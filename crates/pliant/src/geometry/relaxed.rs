//! Random points moved until the density is even and the outermost layer lies half a spacing below the surface.
//!
//! Points move against the gradient of the density δ, as if by pressure, and by Newton's steps towards an even δ, as in
//! position-based fluids [Macklin and Müller 2013]. The outside counts as filled, as the volume maps of Bender et al.
//! (2019) do, so that walls push as neighbours do. A point looks at the walls again when it has moved; until then it
//! knows them to first order. All points move at once: the result does not depend on the number of
//! threads.

use super::candidates::Candidates;
use super::density::{Around, Density, Wall};
use super::{Field, Shape, poisson};
use crate::math::{Real, Vec3, sum};
use crate::particles::hilbert_order;
use rayon::prelude::*;

const STEPS: usize = 60;
/// Distance of points at the start [spacings]: small enough that they find room at once.
const APART: Real = 0.75;
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

/// Neighbours are looked for again when a point has moved half of this [spacings].
const SKIN: Real = 0.4;
/// Farthest that a point moves before it looks at the surface, and at what the outside adds, again [spacings].
const LOOK: Real = 0.1;

pub(super) fn sample(shape: &Shape, spacing: Real, seed: u64) -> Vec<Vec3> {
    let grid = shape.grid(0.5 * spacing);
    let thrown = poisson::throw(shape, &grid, spacing, seed, APART);
    // neighbours near in memory are found sooner
    let points: Vec<Vec3> = hilbert_order(&thrown).iter().map(|&k| thrown[k as usize]).collect();
    let n = points.len();
    let density = Density::new(grid, spacing);
    let near = Candidates::new(density.reach(), SKIN * spacing);
    let views = vec![View::NONE; n];
    let mut relaxing = Relaxing { shape, spacing, density, points, views, near };
    for step in 0..if n > 1 { STEPS } else { 0 } {
        relaxing.step(1.0 - step as Real / STEPS as Real);
    }
    relaxing.points
}

/// What a point knows about the surface.
#[derive(Clone, Copy)]
struct View {
    /// The point is at least this deep.
    depth: Real,
    /// Where it looked at the surface, how deep it was, and the gradient of the distance.
    at: Vec3,
    seen_depth: Real,
    outward: Vec3,
    /// Where it looked at the outside, and what that adds.
    wall_at: Vec3,
    wall: Wall,
}

impl View {
    const NONE: View = View {
        depth: 0.0,
        at: Vec3::INFINITY,
        seen_depth: 0.0,
        outward: Vec3::ZERO,
        wall_at: Vec3::INFINITY,
        wall: Wall { density: 0.0, gradient: Vec3::ZERO },
    };
}

struct Relaxing<'a> {
    shape: &'a Shape,
    spacing: Real,
    density: Density,
    points: Vec<Vec3>,
    views: Vec<View>,
    near: Candidates,
}

impl Relaxing<'_> {
    /// One motion of all points; `fresh` falls from one to zero.
    fn step(&mut self, fresh: Real) {
        let (s, h) = (self.spacing, self.density.reach());
        self.look_at_walls();
        self.near.update(&self.points);
        let around: Vec<Around> = (0..self.points.len())
            .into_par_iter()
            .map(|i| {
                let (x, near) = (self.points[i], self.near.of(i).iter());
                let points = near.map(|&j| self.points[j as usize]);
                self.density.around(x, points, self.wall(x, &self.views[i]))
            })
            .collect();
        let n = around.len();
        let mean = sum(n, 0.0, |i| around[i].density) / n as Real;
        let steepness = |a: &Around| a.others_squared + a.gradient.length_squared();
        let least = 0.1 * sum(n, 0.0, |i| steepness(&around[i])) / n as Real;
        // λ_i of Newton's step towards the mean density
        let lambda: Vec<Real> =
            around.iter().map(|a| NEWTON * (mean - a.density) / (steepness(a) + least)).collect();
        let moved: Vec<(Vec3, View)> = (0..n)
            .into_par_iter()
            .map(|i| {
                let x = self.points[i];
                let mut motion = around[i].gradient * (lambda[i] - fresh * PRESSURE * s * s);
                for &j in self.near.of(i) {
                    let x_ij = x - self.points[j as usize];
                    if x_ij.length_squared() < h * h {
                        motion += lambda[j as usize] * self.density.pair_gradient(x_ij);
                    }
                }
                self.placed(x, motion.clamp_length_max(STRIDE * s), self.views[i], fresh)
            })
            .collect();
        (self.points, self.views) = moved.into_iter().unzip();
    }

    /// Points near the surface that have moved look at the outside again.
    fn look_at_walls(&mut self) {
        let (h, look, density) = (self.density.reach(), LOOK * self.spacing, &self.density);
        self.points.par_iter().zip(&mut self.views).for_each(|(&x, view)| {
            if view.depth < h && x.distance_squared(view.wall_at) > look * look {
                (view.wall_at, view.wall) = (x, density.wall(x));
            }
        });
    }

    /// What the outside adds at x, to first order.
    fn wall(&self, x: Vec3, view: &View) -> Wall {
        if view.depth >= self.density.reach() {
            return Wall::default();
        }
        let Wall { density, gradient } = view.wall;
        Wall { density: density + gradient.dot(x - view.wall_at), gradient }
    }

    /// The point moved, within the shape, and what it knows then.
    fn placed(&self, x: Vec3, motion: Vec3, mut view: View, fresh: Real) -> (Vec3, View) {
        let s = self.spacing;
        let p = x + motion;
        view.depth -= motion.length() * self.shape.steepness();
        if view.depth > LAYER * s {
            return (p, view);
        }
        if p.distance_squared(view.at) > (LOOK * s).powi(2) {
            let (distance, outward) = self.shape.surface(p);
            (view.at, view.seen_depth, view.outward) = (p, -distance, outward);
        }
        view.depth = view.seen_depth - view.outward.dot(p - view.at);
        if view.depth > LAYER * s {
            return (p, view);
        }
        let draw = if view.depth < 0.25 * s { 1.0 } else { DRAW * fresh };
        let shift = (DEPTH * s - view.depth) * draw;
        view.depth += shift;
        (p - view.outward.normalize_or_zero() * shift, view)
    }
}
