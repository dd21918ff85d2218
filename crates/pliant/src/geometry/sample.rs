//! Particles that fill a shape.

use super::{Outline, Region, Sampling, Shape, beast};
use crate::math::{Real, Vec3};

impl Shape {
    /// Rest positions of the particles that fill the shape at this spacing, in body coordinates.
    pub fn sample(&self, spacing: Real, sampling: Sampling) -> Vec<Vec3> {
        match sampling {
            Sampling::Lattice => self.lattice(spacing),
        }
    }

    /// Half extents of the shape's bounding box; zero across a sheet or rod.
    fn half_extent(&self) -> Vec3 {
        match *self {
            Shape::Box { size } => size * 0.5,
            Shape::Sphere { radius } => Vec3::splat(radius),
            Shape::Cylinder { radius, height } => Vec3::new(radius, height * 0.5, radius),
            Shape::Torus { radius, tube_radius } => {
                Vec3::new(radius + tube_radius, tube_radius, radius + tube_radius)
            }
            Shape::Beast { length } => beast::HALF_EXTENT * length,
            Shape::Sheet { size, .. } => Vec3::new(size[0] * 0.5, 0.0, size[1] * 0.5),
            Shape::Rod { length } => Vec3::new(length * 0.5, 0.0, 0.0),
        }
    }

    fn contains(&self, p: Vec3) -> bool {
        match *self {
            Shape::Box { .. } | Shape::Rod { .. } => true, // the lattice fills them exactly
            Shape::Sphere { radius } => p.length_squared() <= radius * radius,
            Shape::Cylinder { radius, .. } => p.x * p.x + p.z * p.z <= radius * radius,
            Shape::Torus { radius, tube_radius } => {
                let ring = p.x.hypot(p.z) - radius;
                ring * ring + p.y * p.y <= tube_radius * tube_radius
            }
            Shape::Beast { length } => beast::distance(p / length) <= 0.0,
            Shape::Sheet { size, outline, .. } => match outline {
                Outline::Rectangle => true,
                Outline::Ellipse => (2.0 * p.x / size[0]).powi(2) + (2.0 * p.z / size[1]).powi(2) <= 1.0,
            },
        }
    }

    /// Cubic lattice centred in the shape, particles at the centres of whole cells: a box of N spacings holds N.
    fn lattice(&self, s: Real) -> Vec<Vec3> {
        let extent = self.half_extent();
        let counts = [extent.x, extent.y, extent.z]
            .map(|half| if half == 0.0 { 1 } else { ((2.0 * half / s).round() as usize).max(1) });
        let at = |k: usize, n: usize| (k as Real + 0.5 - n as Real * 0.5) * s;
        let mut points = Vec::new();
        for ix in 0..counts[0] {
            for iy in 0..counts[1] {
                for iz in 0..counts[2] {
                    let p = Vec3::new(at(ix, counts[0]), at(iy, counts[1]), at(iz, counts[2]));
                    if self.contains(p) {
                        points.push(p + Vec3::Y * self.rise(p));
                    }
                }
            }
        }
        points
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
            assert!((got / volume - 1.0).abs() < 0.03, "{shape:?}: {got} {volume}");
            let centre = points.iter().sum::<Vec3>() / points.len() as f64;
            assert!(centre.length() < 1e-12);
        }
    }

    #[test]
    fn a_beast_has_its_volume_at_every_spacing_and_is_in_one_piece() {
        for spacing in [0.02, 0.04, beast::THICKNESS] {
            let points = Shape::Beast { length: 2.0 }.sample(2.0 * spacing, Sampling::Lattice);
            let volume = points.len() as f64 * spacing.powi(3);
            // surface cells in or out
            assert!((volume / beast::VOLUME - 1.0).abs() < 2.0 * spacing, "{spacing}: {volume}");
            let mut reached = vec![false; points.len()];
            let mut last = vec![0];
            while let Some(i) = last.pop() {
                let near = |j: &usize| !reached[*j] && points[*j].distance(points[i]) < 2.01 * spacing;
                let next: Vec<usize> = (0..points.len()).filter(near).collect();
                next.iter().for_each(|&j| reached[j] = true);
                last.extend(next);
            }
            assert!(reached.iter().all(|r| *r), "{spacing}: a part is loose");
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
