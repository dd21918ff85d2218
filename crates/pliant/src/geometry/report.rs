//! How good a sampling is.

use super::candidates::Candidates;
use super::density::{Density, Wall};
use super::{Field, Shape};
use crate::math::{Real, Vec3, sum};
use rayon::prelude::*;

/// Points less deep than this are the outermost layer [spacings].
const LAYER: Real = 0.8;

/// Quality of the particles that fill a solid shape; each owns spacing³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingReport {
    pub particles: usize,
    /// Volume of the shape [m3].
    pub volume: Real,
    /// (particles * spacing³ - volume) / volume.
    pub volume_error: Real,
    /// Standard deviation of the number density over its mean; what the surface cuts off is added.
    pub density_spread: Real,
    /// Mean depth of the outermost layer below the surface, and its standard deviation [spacings].
    pub surface_depth: Real,
    pub surface_spread: Real,
    /// Smallest distance of two particles [spacings].
    pub nearest: Real,
}

impl SamplingReport {
    pub fn new(shape: &Shape, spacing: Real, points: &[Vec3]) -> SamplingReport {
        let density = Density::new(shape.grid(0.5 * spacing), spacing);
        let mut near = Candidates::new(density.reach(), 0.0);
        near.update(points);
        let depths: Vec<Real> = points.par_iter().map(|&p| -shape.distance(p)).collect();
        let nearest = |i: usize| {
            let others = near.of(i).iter().filter(|&&j| j as usize != i);
            let distances = others.map(|&j| points[j as usize].distance(points[i]));
            distances.fold(density.reach(), Real::min)
        };
        let densities: Vec<Real> = (0..points.len())
            .into_par_iter()
            .map(|i| {
                let near_wall = depths[i] < density.reach();
                let wall = if near_wall { density.wall(points[i]) } else { Wall::default() };
                let around = near.of(i).iter().map(|&j| points[j as usize]);
                density.around(points[i], around, wall).density
            })
            .collect();
        let (mean, deviation) = moments(&densities);
        let layer: Vec<Real> = depths.iter().map(|d| d / spacing).filter(|d| *d < LAYER).collect();
        let (surface_depth, surface_spread) = moments(&layer);
        let volume = shape.exact_volume().unwrap_or_else(|| density.shape_volume());
        SamplingReport {
            particles: points.len(),
            volume,
            volume_error: points.len() as Real * spacing.powi(3) / volume - 1.0,
            density_spread: deviation / mean,
            surface_depth,
            surface_spread,
            nearest: (0..points.len()).into_par_iter().map(nearest).reduce(|| Real::INFINITY, Real::min)
                / spacing,
        }
    }
}

/// Mean and standard deviation; of nothing both are zero.
fn moments(values: &[Real]) -> (Real, Real) {
    let n = values.len().max(1) as Real;
    let mean = sum(values.len(), 0.0, |i| values[i]) / n;
    let variance = sum(values.len(), 0.0, |i| (values[i] - mean).powi(2)) / n;
    (mean, variance.sqrt())
}
