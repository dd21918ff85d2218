//! Mass and inertia of rigid shapes and of what is attached to them.

use super::RigidShape;
use crate::math::{Mat3, Real, Vec3, outer};
use std::f64::consts::PI;

/// A piece of mass in the coordinates of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassPart {
    /// [kg]
    pub mass: Real,
    /// Centre of mass [m].
    pub center: Vec3,
    /// Inertia about the centre of mass [kg m2].
    pub inertia: Mat3,
}

impl MassPart {
    pub const NOTHING: MassPart = MassPart { mass: 0.0, center: Vec3::ZERO, inertia: Mat3::ZERO };

    /// A point mass.
    pub fn point(mass: Real, center: Vec3) -> MassPart {
        MassPart { mass, center, inertia: Mat3::ZERO }
    }

    /// Both pieces as one, by the parallel axis theorem.
    pub fn with(self, other: MassPart) -> MassPart {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return MassPart::NOTHING;
        }
        let apart = other.center - self.center;
        let center = self.center + apart * (other.mass / mass);
        let reduced = self.mass * other.mass / mass;
        let arm = Mat3::from_diagonal(Vec3::splat(apart.length_squared())) - outer(apart, apart);
        MassPart { mass, center, inertia: self.inertia + other.inertia + arm * reduced }
    }
}

impl RigidShape {
    /// Mass and inertia of the solid shape. Planes and containers have no volume: they are never dynamic.
    pub fn mass(&self, density: Real) -> MassPart {
        let (mass, inertia) = match *self {
            RigidShape::Mesh(ref mesh) => return mesh.mass(density),
            RigidShape::Plane { .. } | RigidShape::Container { .. } => (0.0, Vec3::ZERO),
            RigidShape::Box { size } => {
                let (m, q) = (density * size.element_product(), size * size);
                (m, Vec3::new(q.y + q.z, q.x + q.z, q.x + q.y) * (m / 12.0))
            }
            RigidShape::Sphere { radius: r } => {
                let m = density * 4.0 / 3.0 * PI * r.powi(3);
                (m, Vec3::splat(0.4 * m * r * r))
            }
            RigidShape::Cylinder { radius: r, height: h } => {
                let m = density * PI * r * r * h;
                (m, cylinder_inertia(m, r, h))
            }
            RigidShape::Capsule { radius: r, height: h } => {
                let (rod, balls) = (density * PI * r * r * h, density * 4.0 / 3.0 * PI * r.powi(3));
                let across = balls * (0.4 * r * r + 0.25 * h * h + 0.375 * r * h);
                let caps = Vec3::new(across, 0.4 * balls * r * r, across);
                (rod + balls, cylinder_inertia(rod, r, h) + caps)
            }
        };
        MassPart { mass, center: Vec3::ZERO, inertia: Mat3::from_diagonal(inertia) }
    }

    /// Radius of a sphere about the origin that holds the shape; none for planes and containers.
    pub fn reach(&self) -> Option<Real> {
        match *self {
            RigidShape::Plane { .. } | RigidShape::Container { .. } => None,
            RigidShape::Box { size } => Some(0.5 * size.length()),
            RigidShape::Sphere { radius } => Some(radius),
            RigidShape::Cylinder { radius, height } => Some(radius.hypot(0.5 * height)),
            RigidShape::Capsule { radius, height } => Some(radius + 0.5 * height),
            RigidShape::Mesh(ref mesh) => mesh.reach(),
        }
    }
}

/// Principal moments, axis along y.
fn cylinder_inertia(m: Real, r: Real, h: Real) -> Vec3 {
    let across = m * (3.0 * r * r + h * h) / 12.0;
    Vec3::new(across, 0.5 * m * r * r, across)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums over a fine grid of points inside the shape.
    fn by_points(shape: &RigidShape, density: Real) -> MassPart {
        let cell = 0.01;
        let n = (shape.reach().unwrap() / cell).ceil() as i32;
        let at = |k: i32| (k as Real + 0.5) * cell;
        let mut sum = MassPart::NOTHING;
        for (x, y) in (-n..n).flat_map(|i| (-n..n).map(move |j| (at(i), at(j)))) {
            for p in (-n..n).map(|k| Vec3::new(x, y, at(k))).filter(|p| shape.surface(*p).distance < 0.0) {
                sum = sum.with(MassPart::point(density * cell.powi(3), p));
            }
        }
        sum
    }

    #[test]
    fn mass_and_inertia_are_those_of_the_filled_shape() {
        let shapes = [
            RigidShape::Box { size: Vec3::new(1.0, 0.6, 0.4) },
            RigidShape::Sphere { radius: 0.4 },
            RigidShape::Cylinder { radius: 0.3, height: 0.8 },
            RigidShape::Capsule { radius: 0.2, height: 0.5 },
        ];
        for shape in shapes {
            let (exact, points) = (shape.mass(500.0), by_points(&shape, 500.0));
            assert!((exact.mass / points.mass - 1.0).abs() < 0.01, "{shape:?}");
            for k in 0..3 {
                let ratio = points.inertia.col(k)[k] / exact.inertia.col(k)[k];
                assert!((ratio - 1.0).abs() < 0.02, "{shape:?}: {ratio}");
            }
        }
    }
}
