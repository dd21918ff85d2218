//! One even layer of points along a surface, for the walls that particles press against.

use super::grid::DistanceGrid;
use super::random::Random;
use super::{Field, Shape};
use crate::math::{Real, Vec3};
use crate::neighbors::Grid;
use rayon::prelude::*;

/// Candidates lie on a grid of this many cells a spacing.
const CANDIDATES: Real = 4.0;
/// Farthest that points repel one another [spacings].
const REACH: Real = 1.6;
/// Steps of repulsion along the surface.
const STEPS: usize = 40;

/// Points at `depth` below the surface of a shape, about one spacing apart, in body coordinates.
///
/// A box of N spacings gets, at half a spacing, the centres of its outermost cells: its walls continue the cubic
/// lattice of the matter beside them. Sheets and rods have no inside and get no points.
pub fn sample_surface(shape: &Shape, spacing: Real, depth: Real) -> Vec<Vec3> {
    match shape {
        Shape::Box { size } => lattice_shell(*size * 0.5 - depth, spacing),
        Shape::Sheet { .. } | Shape::Rod { .. } | Shape::Particles { .. } => Vec::new(),
        _ => even_layer(shape, spacing, depth),
    }
}

/// The surface of a lattice of points from -half to half, whole steps of about one spacing apart.
fn lattice_shell(half: Vec3, spacing: Real) -> Vec<Vec3> {
    let half = half.max(Vec3::ZERO);
    let counts = half.to_array().map(|half| (2.0 * half / spacing).round() as usize + 1);
    let at = |axis: usize, k: usize| match counts[axis] {
        1 => 0.0,
        n => half[axis] * (2.0 * k as Real / (n - 1) as Real - 1.0),
    };
    let is_end = |axis: usize, k: usize| k == 0 || k + 1 == counts[axis];
    let mut points = Vec::new();
    for ix in 0..counts[0] {
        for iy in 0..counts[1] {
            let inner = !is_end(0, ix) && !is_end(1, iy);
            // within the first and last face all, elsewhere the two ends
            let step = if inner { (counts[2] - 1).max(1) } else { 1 };
            for iz in (0..counts[2]).step_by(step) {
                points.push(Vec3::new(at(0, ix), at(1, iy), at(2, iz)));
            }
        }
    }
    points
}

/// As many points as cells of one spacing cover the surface at this depth, spread by repulsion.
pub fn even_layer(field: &impl Field, spacing: Real, depth: Real) -> Vec<Vec3> {
    let (candidates, area) = candidates(field, spacing / CANDIDATES, depth);
    let wanted = ((area / spacing.powi(2)).round() as usize).max(1);
    let mut points = scattered(&candidates, wanted, spacing);
    let mut grid = Grid::default();
    for step in 0..STEPS {
        grid.build(&points, REACH * spacing);
        let strength = 0.5 * (1.0 - step as Real / STEPS as Real);
        let newton = if step + 1 == STEPS { 5 } else { 2 };
        points = points
            .par_iter()
            .map(|&x| field.onto_level(x + repulsion(&grid, x, spacing) * strength, -depth, newton))
            .collect();
    }
    points
}

/// Cells that the level set crosses, and its area: the volume of a thin shell over its thickness.
fn candidates(field: &impl Field, cell: Real, depth: Real) -> (Vec<Vec3>, Real) {
    let level = |p: Vec3| field.distance(p) + depth;
    let grid = DistanceGrid::new(field.bounds(), cell, field.steepness(), &level);
    let (mut centers, mut shell) = (Vec::new(), 0.0);
    grid.for_each_cell(|center, distance| {
        shell += (1.0 - distance.abs() / cell).max(0.0);
        if distance.abs() < 0.75 * cell {
            centers.push(center);
        }
    });
    (centers, shell * cell.powi(2))
}

/// Chooses points no nearer to one another than a distance, which shrinks until there are enough.
fn scattered(candidates: &[Vec3], wanted: usize, spacing: Real) -> Vec<Vec3> {
    let mut order: Vec<u32> = (0..candidates.len() as u32).collect();
    Random::new(1).shuffle(&mut order);
    let mut grid = Grid::default();
    grid.build(candidates, spacing);
    let (mut taken, mut points) = (vec![false; candidates.len()], Vec::new());
    let mut apart = 0.95 * spacing;
    while points.len() < wanted && apart > 0.3 * spacing {
        for &k in &order {
            let x = candidates[k as usize];
            let mut free = !taken[k as usize];
            if free {
                grid.for_each_within(x, apart, |j, _| free &= !taken[j as usize]);
            }
            if free && points.len() < wanted {
                taken[k as usize] = true;
                points.push(x);
            }
        }
        apart *= 0.96;
    }
    points
}

/// Sum of pushes away from the points around x, each of up to one spacing.
fn repulsion(grid: &Grid, x: Vec3, spacing: Real) -> Vec3 {
    let reach = REACH * spacing;
    let mut push = Vec3::ZERO;
    grid.for_each_within(x, reach, |_, y| {
        let (away, r) = (x - y, x.distance(y));
        if r > 0.0 {
            push += away / r * (1.0 - r / reach).powi(2) * spacing;
        }
    });
    push.clamp_length_max(0.5 * spacing)
}
