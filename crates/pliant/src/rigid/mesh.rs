//! Meshes as rigid bodies: surface, boundary points, mass.

use super::{MassPart, Surface};
use crate::geometry::{Field, SolidMesh, even_layer};
use crate::math::{Mat3, Real, Vec3, outer};

/// A mesh seen from outside, or from inside: then it keeps particles in.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidMesh {
    pub mesh: SolidMesh,
    pub inside_out: bool,
}

impl RigidMesh {
    /// Signed distance and normal at a point in the mesh's own coordinates.
    pub fn surface(&self, p: Vec3) -> Surface {
        let side = self.side();
        let (distance, gradient) = self.mesh.surface(p);
        Surface { distance: distance * side, normal: (gradient * side).normalize_or(Vec3::Y) }
    }

    /// Points half a spacing below the surface, about one spacing apart.
    pub fn boundary_points(&self, spacing: Real) -> Vec<Vec3> {
        even_layer(&Layer { body: self, room: spacing }, spacing, 0.5 * spacing)
    }

    /// Radius of a sphere about the origin that holds the mesh; none for one that is seen from inside.
    pub fn reach(&self) -> Option<Real> {
        let (lo, hi) = self.mesh.bounds();
        (!self.inside_out).then(|| lo.abs().max(hi.abs()).length())
    }

    /// Mass and inertia of the inside: the sum over the tetrahedra between the middle of the bounding box and each
    /// triangle,   V = det(a, b, c)/6,   ∫ x xᵀ dV = V/20 ((a+b+c)(a+b+c)ᵀ + aaᵀ + bbᵀ + ccᵀ).
    pub fn mass(&self, density: Real) -> MassPart {
        let (lo, hi) = self.mesh.bounds();
        let middle = 0.5 * (lo + hi);
        let (mut volume, mut first, mut second) = (0.0, Vec3::ZERO, Mat3::ZERO);
        for corners in self.mesh.triangles() {
            let [a, b, c] = corners.map(|x| x - middle);
            let (v, sum) = (a.dot(b.cross(c)) / 6.0, a + b + c);
            volume += v;
            first += sum * (0.25 * v);
            second += (outer(sum, sum) + outer(a, a) + outer(b, b) + outer(c, c)) * (0.05 * v);
        }
        // a mesh whose triangles all face inward has the same inside
        let turned = volume.signum();
        let (volume, first, second) = (volume * turned, first * turned, second * turned);
        let arm = first / volume;
        let about_center = second - outer(arm, arm) * volume;
        let trace = about_center.x_axis.x + about_center.y_axis.y + about_center.z_axis.z;
        let inertia = (Mat3::from_diagonal(Vec3::splat(trace)) - about_center) * density;
        MassPart { mass: density * volume, center: middle + arm, inertia }
    }

    fn side(&self) -> Real {
        if self.inside_out { -1.0 } else { 1.0 }
    }
}

/// The field whose level sets boundary points lie on, with room around a mesh that is seen from inside.
struct Layer<'a> {
    body: &'a RigidMesh,
    room: Real,
}

impl Field for Layer<'_> {
    fn distance(&self, p: Vec3) -> Real {
        self.body.mesh.distance(p) * self.body.side()
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        let (lo, hi) = self.body.mesh.bounds();
        (lo - self.room, hi + self.room)
    }

    fn surface(&self, p: Vec3) -> (Real, Vec3) {
        let surface = self.body.surface(p);
        (surface.distance, surface.normal)
    }
}

#[cfg(test)]
mod tests {
    use super::super::RigidShape;
    use super::*;
    use crate::geometry::TriangleMesh;

    /// A box of twelve triangles with its lower corner at `at`.
    fn block(at: Vec3, size: Vec3) -> SolidMesh {
        let corner = |k: u32| at + size * Vec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64);
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        let mesh = TriangleMesh { vertices: (0..8).map(corner).collect(), triangles, ..Default::default() };
        SolidMesh::new(mesh).expect("a closed box")
    }

    #[test]
    fn a_mesh_of_a_box_has_its_mass_and_its_surface() {
        let (at, size) = (Vec3::new(0.3, -0.2, 0.1), Vec3::new(1.0, 0.6, 0.4));
        let body = RigidMesh { mesh: block(at, size), inside_out: false };
        let (mass, plain) = (body.mass(700.0), RigidShape::Box { size }.mass(700.0));
        assert!((mass.mass / plain.mass - 1.0).abs() < 1e-12);
        assert!(mass.center.distance(at + 0.5 * size) < 1e-12);
        let apart = mass.inertia - plain.inertia;
        assert!(apart.to_cols_array().iter().all(|x| x.abs() < 1e-9), "{apart}");
        let inside = RigidMesh { inside_out: true, ..body.clone() };
        for k in 1..200 {
            let wave = |a: f64| (k as f64 * a).sin();
            let p = Vec3::new(wave(1.1), wave(2.3), wave(3.7)) * 0.9 + at;
            let exact = RigidShape::Box { size }.surface(p - at - 0.5 * size).distance;
            assert!((body.surface(p).distance - exact).abs() < 1e-9);
            assert!((inside.surface(p).distance + exact).abs() < 1e-9);
        }
    }

    #[test]
    fn boundary_points_lie_half_a_spacing_below_the_surface() {
        let mesh = block(Vec3::ZERO, Vec3::new(1.0, 0.6, 0.4));
        for inside_out in [false, true] {
            let body = RigidMesh { mesh: mesh.clone(), inside_out };
            let points = body.boundary_points(0.05);
            let depth = |p: &Vec3| body.surface(*p).distance + 0.025;
            assert!(points.len() > 600, "{}", points.len());
            assert!(points.iter().all(|p| depth(p).abs() < 0.01), "{inside_out}");
        }
    }
}
