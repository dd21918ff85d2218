//! Particles that fill a shape.

use super::{DistanceGrid, Field, Outline, Region, Sampling, Shape, packed, poisson, relaxed};
use crate::math::{Real, Vec3};

/// Distances from the surface that differ by less are equal [spacings].
const EQUAL: Real = 1e-6;

impl Shape {
    /// Rest positions of the particles that fill the shape at this spacing, in body coordinates.
    pub fn sample(&self, spacing: Real, sampling: Sampling) -> Vec<Vec3> {
        if let Shape::Particles { cloud } = self {
            return cloud.points().to_vec();
        }
        match sampling {
            _ if !self.is_solid() => self.lattice(spacing),
            Sampling::Lattice => self.lattice(spacing),
            Sampling::Ccp => packed::sample(self, spacing),
            Sampling::Poisson { seed } => poisson::sample(self, spacing, seed),
            Sampling::Relaxed { seed } => relaxed::sample(self, spacing, seed),
        }
    }

    /// Has it an inside? Sheets, rods and given particles have none; they are sampled in one way only.
    pub fn is_solid(&self) -> bool {
        !matches!(self, Shape::Sheet { .. } | Shape::Rod { .. } | Shape::Particles { .. })
    }

    /// Volume [m3]: in closed form, or measured on a grid of half a spacing.
    pub fn volume(&self, spacing: Real) -> Real {
        self.exact_volume().unwrap_or_else(|| self.grid(0.5 * spacing).volume())
    }

    pub(super) fn grid(&self, cell: Real) -> DistanceGrid {
        DistanceGrid::new(self.bounds(), cell, self.steepness(), &|p| self.distance(p))
    }

    /// Particles at the centres of cubic cells over the middle of the shape.
    fn lattice(&self, s: Real) -> Vec<Vec3> {
        match self {
            Shape::Box { .. } | Shape::Sheet { .. } | Shape::Rod { .. } => self.whole_cells(s),
            _ => self.fitting_cells(s),
        }
    }

    /// As many whole cells as fit along each axis: a box of N spacings holds N.
    fn whole_cells(&self, s: Real) -> Vec<Vec3> {
        let counts = self.half_extent().to_array().map(|half| ((2.0 * half / s).round() as usize).max(1));
        let at = |k: usize, n: usize| (k as Real + 0.5 - n as Real * 0.5) * s;
        let mut points = Vec::new();
        for ix in 0..counts[0] {
            for iy in 0..counts[1] {
                for iz in 0..counts[2] {
                    let p = Vec3::new(at(ix, counts[0]), at(iy, counts[1]), at(iz, counts[2]));
                    if self.is_within_outline(p) {
                        points.push(p + Vec3::Y * self.rise(p));
                    }
                }
            }
        }
        points
    }

    /// The deepest cells of the same lattice, as many as have the volume of the shape. Cells at the surface, a quarter
    /// of a spacing in or out, are free to go either way.
    fn fitting_cells(&self, s: Real) -> Vec<Vec3> {
        let free = 0.25 * s;
        let mut cells = Vec::new();
        self.grid(s).for_each_cell(|center, distance| {
            if distance <= free {
                cells.push((distance.max(-free), center));
            }
        });
        deepest(cells, self.volume(s), s)
    }

    /// Does a sheet reach this far?
    fn is_within_outline(&self, p: Vec3) -> bool {
        match self {
            Shape::Sheet { size, outline: Outline::Ellipse, .. } => {
                (2.0 * p.x / size[0]).powi(2) + (2.0 * p.z / size[1]).powi(2) <= 1.0
            }
            _ => true,
        }
    }

    /// Height of a sheet's relief over its plane.
    fn rise(&self, p: Vec3) -> Real {
        match self {
            Shape::Sheet { relief: Some(relief), .. } => {
                let phase = std::f64::consts::TAU * p.x.hypot(p.z) / relief.wavelength;
                relief.height * if phase < 1e-9 { 1.0 } else { phase.sin() / phase }
            }
            _ => 0.0,
        }
    }
}

/// Of points with their distances from the surface, the deepest that have this volume at spacing³ each, to the nearest
/// number that cuts no shell of points at equal distance.
pub(super) fn deepest(mut points: Vec<(Real, Vec3)>, volume: Real, spacing: Real) -> Vec<Vec3> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = ((volume / spacing.powi(3)).round() as usize).min(points.len());
    let is_end =
        |n: &usize| *n == 0 || *n == points.len() || points[*n].0 - points[n - 1].0 > EQUAL * spacing;
    let fewer = (0..=wanted).rev().find(is_end).unwrap_or(0);
    let more = (wanted..=points.len()).find(is_end).unwrap_or(points.len());
    points.truncate(if fewer > 0 && wanted - fewer <= more - wanted { fewer } else { more });
    points.into_iter().map(|(_, p)| p).collect()
}

impl Region {
    /// Does the region hold this rest position (body coordinates)?
    pub fn contains(&self, p: Vec3) -> bool {
        match *self {
            Region::All => true,
            Region::Box { min, max } => p.cmpge(min).all() && p.cmple(max).all(),
            Region::Sphere { center, radius } => p.distance_squared(center) <= radius * radius,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Figure;
    use super::*;

    #[test]
    fn a_box_of_n_spacings_holds_n_particles_at_cell_centres() {
        let points = Shape::Box { size: Vec3::new(0.4, 0.1, 0.3) }.sample(0.1, Sampling::Lattice);
        assert_eq!(points.len(), 4 * 3);
        let lowest = points.iter().fold(Vec3::INFINITY, |a, p| a.min(*p));
        assert!((lowest - Vec3::new(-0.15, 0.0, -0.1)).length() < 1e-12);
    }

    #[test]
    fn round_shapes_have_their_volume_and_their_centre() {
        let s = 0.05;
        let tau = std::f64::consts::TAU;
        for (shape, volume) in [
            (Shape::Sphere { radius: 0.5 }, tau * 2.0 / 3.0 * 0.125),
            (Shape::Cylinder { radius: 0.5, height: 1.0 }, tau / 2.0 * 0.25),
            (Shape::Torus { radius: 0.6, tube_radius: 0.25 }, tau * tau / 2.0 * 0.6 * 0.0625),
        ] {
            let points = shape.sample(s, Sampling::Lattice);
            let got = points.len() as f64 * s.powi(3);
            assert!((got / volume - 1.0).abs() < 0.01, "{shape:?}: {got} {volume}");
            let centre = points.iter().sum::<Vec3>() / points.len() as f64;
            assert!(centre.length() < 1e-12);
        }
    }

    #[test]
    fn animals_have_their_volume_at_every_spacing_and_are_in_one_piece() {
        let every = Figure::ALL.map(|figure| [0.025, 0.04, figure.thickness()].map(|s| (figure, s)));
        for (figure, spacing) in every.into_iter().flatten() {
            let points = Shape::Figure { figure, size: 2.0 }.sample(2.0 * spacing, Sampling::Lattice);
            let volume = points.len() as f64 * spacing.powi(3);
            // surface cells in or out
            assert!((volume / figure.volume() - 1.0).abs() < 2.0 * spacing, "{figure:?} {spacing}: {volume}");
            let mut reached = vec![false; points.len()];
            let mut last = vec![0];
            while let Some(i) = last.pop() {
                let near = |j: &usize| !reached[*j] && points[*j].distance(points[i]) < 2.01 * spacing;
                let next: Vec<usize> = (0..points.len()).filter(near).collect();
                next.iter().for_each(|&j| reached[j] = true);
                last.extend(next);
            }
            assert!(reached.iter().all(|r| *r), "{figure:?} {spacing}: a part is loose");
        }
    }

    #[test]
    fn sheets_are_one_layer_and_rods_one_line() {
        let sheet = Shape::Sheet { size: [1.0, 0.5], outline: Outline::Rectangle, relief: None };
        assert!(sheet.sample(0.1, Sampling::Lattice).iter().all(|p| p.y == 0.0));
        let rod = Shape::Rod { length: 1.0 }.sample(0.1, Sampling::Lattice);
        assert!(rod.len() == 10 && rod.iter().all(|p| p.y == 0.0 && p.z == 0.0));
    }
}
