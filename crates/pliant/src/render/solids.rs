//! Where a ray enters an obstacle: closed forms for planes, boxes, spheres, cylinders and capsules.

use glam::{Mat3A, Vec3A, Vec3Swizzles};

use super::Solid;
use super::levels::Ray;
use crate::geometry::SolidMesh;
use crate::math::{Quat, Vec3};
use crate::rigid::RigidShape;

/// Colour of obstacles that have none of their own.
const STONE: [f32; 3] = [0.64, 0.66, 0.70];

/// Obstacles of a picture, in the parts they are drawn with.
pub struct Obstacles {
    pub pieces: Vec<Piece>,
    pub panes: Vec<Piece>,
    /// Corners of the bounded obstacles.
    pub lo: Vec3A,
    pub hi: Vec3A,
}

/// What a piece is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finish {
    /// Endless or container floor, with a soft checker.
    Floor,
    /// Of this colour, sRGB.
    Stone([f32; 3]),
    /// Edge of a container: neither takes nor casts shadows.
    Line,
}

/// One closed form with its place: x = position + rotation * X.
#[derive(Clone, Debug)]
pub struct Piece {
    form: Form,
    position: Vec3A,
    rotation: Mat3A,
    pub finish: Finish,
}

#[derive(Clone, Debug)]
enum Form {
    /// y = 0, seen from above only.
    Plane,
    /// The part of the plane y = 0 with |x|, |z| below these; seen from above only.
    Rectangle {
        x: f32,
        z: f32,
    },
    Box {
        half: Vec3A,
    },
    Sphere {
        radius: f32,
    },
    /// Axis along y.
    Cylinder {
        radius: f32,
        half: f32,
    },
    /// Axis along y.
    Capsule {
        radius: f32,
        half: f32,
    },
    Mesh {
        mesh: SolidMesh,
        /// Radius about the origin that holds it.
        reach: f32,
    },
}

/// Where a ray enters a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub t: f32,
    pub normal: Vec3A,
}

impl Obstacles {
    pub fn new(solids: &[Solid]) -> Obstacles {
        let mut all =
            Obstacles { pieces: Vec::new(), panes: Vec::new(), lo: Vec3A::INFINITY, hi: Vec3A::NEG_INFINITY };
        for solid in solids.iter().filter(|s| is_drawable(s)) {
            all.add(solid);
        }
        all
    }

    fn add(&mut self, solid: &Solid) {
        let position = solid.pose.position.as_vec3a();
        let turned = |rotation: Quat| Mat3A::from_quat(rotation.as_quat());
        let rotation = turned(solid.pose.rotation);
        let stone =
            |form| Piece { form, position, rotation, finish: Finish::Stone(solid.color.unwrap_or(STONE)) };
        let (piece, reach) = match solid.shape {
            RigidShape::Mesh(ref body) => match body.reach() {
                Some(reach) => {
                    let (mesh, reach) = (body.mesh.clone(), reach as f32);
                    (stone(Form::Mesh { mesh, reach }), reach)
                }
                // one looks into it from outside
                None => return,
            },
            RigidShape::Plane { normal } => {
                let up = Quat::from_rotation_arc(Vec3::Y, normal.normalize());
                let rotation = turned(solid.pose.rotation * up);
                self.pieces.push(Piece { form: Form::Plane, position, rotation, finish: Finish::Floor });
                return;
            }
            RigidShape::Container { size } => {
                let half = 0.5 * size.as_vec3a();
                self.add_container(half, position, rotation);
                self.enclose(position, half.length());
                return;
            }
            RigidShape::Box { size } => {
                let half = 0.5 * size.as_vec3a();
                (stone(Form::Box { half }), half.length())
            }
            RigidShape::Sphere { radius } => (stone(Form::Sphere { radius: radius as f32 }), radius as f32),
            RigidShape::Cylinder { radius, height } => {
                let (radius, half) = (radius as f32, 0.5 * height as f32);
                (stone(Form::Cylinder { radius, half }), radius.hypot(half))
            }
            RigidShape::Capsule { radius, height } => {
                let (radius, half) = (radius as f32, 0.5 * height as f32);
                (stone(Form::Capsule { radius, half }), radius + half)
            }
        };
        self.pieces.push(piece);
        self.enclose(position, reach);
    }

    fn enclose(&mut self, position: Vec3A, reach: f32) {
        self.lo = self.lo.min(position - reach);
        self.hi = self.hi.max(position + reach);
    }

    /// A container is its lowest face as floor, the others as panes of glass, and twelve edges.
    fn add_container(&mut self, half: Vec3A, position: Vec3A, rotation: Mat3A) {
        // Frames whose y axis points inward from each face, with the half widths along their x and z.
        let faces = [0usize, 1, 2].into_iter().flat_map(|axis| {
            [1.0f32, -1.0].map(|side| {
                let (u, w) = ((axis + 1) % 3, (axis + 2) % 3);
                let inward = -side * Vec3A::AXES[axis];
                let (x, z) = (Vec3A::AXES[u], Vec3A::AXES[u].cross(inward));
                let frame = rotation * Mat3A::from_cols(x, inward, z);
                // The floor stands a hair inside, so that it wins over a ground plane at the same height.
                let center = position - rotation * (inward * half[axis] * 0.9995);
                let form = Form::Rectangle { x: half[u], z: half[w] };
                Piece { form, position: center, rotation: frame, finish: Finish::Floor }
            })
        });
        let mut faces: Vec<Piece> = faces.collect();
        faces.sort_by(|a, b| b.rotation.y_axis.y.total_cmp(&a.rotation.y_axis.y));
        self.pieces.push(faces.remove(0));
        self.panes.extend(faces);

        let radius = 0.0035 * half.length();
        for axis in 0..3 {
            let (u, w) = ((axis + 1) % 3, (axis + 2) % 3);
            for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                let middle = a * half[u] * Vec3A::AXES[u] + b * half[w] * Vec3A::AXES[w];
                let along = Mat3A::from_cols(Vec3A::AXES[u], Vec3A::AXES[axis], -Vec3A::AXES[w]);
                self.pieces.push(Piece {
                    form: Form::Capsule { radius, half: half[axis] },
                    position: position + rotation * middle,
                    rotation: rotation * along,
                    finish: Finish::Line,
                });
            }
        }
    }

    /// The piece that the ray enters first.
    pub fn first_hit(&self, ray: &Ray) -> Option<(usize, Entry)> {
        let mut best: Option<(usize, Entry)> = None;
        for (index, piece) in self.pieces.iter().enumerate() {
            let reach = best.map_or(ray.reach, |(_, entry)| entry.t);
            if let Some(entry) = piece.entry(&Ray { reach, ..*ray }) {
                best = Some((index, entry));
            }
        }
        best
    }

    /// Whether a stone blocks the ray; floors do so only for `floors`: endless planes must not hide the light.
    pub fn is_blocked(&self, ray: &Ray, floors: bool) -> bool {
        self.pieces.iter().any(|piece| {
            let takes_part = match piece.finish {
                Finish::Stone(_) => true,
                Finish::Floor => floors,
                Finish::Line => false,
            };
            takes_part && piece.entry(ray).is_some()
        })
    }

    /// How many panes of glass the ray passes.
    pub fn panes_passed(&self, ray: &Ray) -> i32 {
        self.panes.iter().filter(|pane| pane.entry(ray).is_some()).count() as i32
    }
}

fn is_drawable(solid: &Solid) -> bool {
    let size_is_sound = match solid.shape {
        RigidShape::Plane { normal } => normal.is_finite() && normal.length() > 1e-12,
        RigidShape::Box { size } | RigidShape::Container { size } => {
            size.is_finite() && size.min_element() > 0.0
        }
        RigidShape::Mesh(_) => true,
        RigidShape::Sphere { radius } => radius.is_finite() && radius > 0.0,
        RigidShape::Cylinder { radius, height } | RigidShape::Capsule { radius, height } => {
            radius.is_finite() && radius > 0.0 && height.is_finite() && height >= 0.0
        }
    };
    let rotation = solid.pose.rotation;
    size_is_sound && solid.pose.position.is_finite() && rotation.is_finite() && rotation.is_normalized()
}

impl Piece {
    /// The point in the piece's own coordinates.
    pub fn own(&self, point: Vec3A) -> Vec3A {
        self.rotation.transpose() * (point - self.position)
    }

    pub fn is_endless(&self) -> bool {
        matches!(self.form, Form::Plane)
    }

    /// Whether the ray stays outside the sphere about the piece.
    fn is_passed_by(&self, ray: &Ray) -> bool {
        let reach2 = match self.form {
            Form::Plane => return false,
            Form::Rectangle { x, z } => x * x + z * z,
            Form::Box { half } => half.length_squared(),
            Form::Sphere { radius } => radius * radius,
            Form::Cylinder { radius, half } => radius * radius + half * half,
            Form::Capsule { radius, half } => (radius + half) * (radius + half),
            Form::Mesh { reach, .. } => reach * reach,
        };
        let m = self.position - ray.origin;
        (m - m.dot(ray.direction) * ray.direction).length_squared() > 1.0001 * reach2
    }

    /// Where the ray enters from outside; a ray that starts inside passes.
    pub fn entry(&self, ray: &Ray) -> Option<Entry> {
        if self.is_passed_by(ray) {
            return None;
        }
        let o = self.own(ray.origin);
        let d = self.rotation.transpose() * ray.direction;
        let (t, n) = match self.form {
            Form::Plane => enter_plane(o, d)?,
            Form::Rectangle { x, z } => {
                let (t, n) = enter_plane(o, d)?;
                let at = o + t * d;
                (at.x.abs() <= x && at.z.abs() <= z).then_some((t, n))?
            }
            Form::Box { half } => enter_box(o, d, half)?,
            Form::Sphere { radius } => enter_sphere(o, d, radius)?,
            Form::Cylinder { radius, half } => enter_cylinder(o, d, radius, half)?,
            Form::Capsule { radius, half } => enter_capsule(o, d, radius, half)?,
            Form::Mesh { ref mesh, .. } => {
                let (t, n) = mesh.first_crossing(o.as_dvec3(), d.as_dvec3())?;
                (t as f32, n.as_vec3a())
            }
        };
        (t > 0.0 && t < ray.reach).then(|| Entry { t, normal: self.rotation * n })
    }
}

fn enter_plane(o: Vec3A, d: Vec3A) -> Option<(f32, Vec3A)> {
    (o.y > 0.0 && d.y < 0.0).then(|| (-o.y / d.y, Vec3A::Y))
}

fn enter_box(o: Vec3A, d: Vec3A, half: Vec3A) -> Option<(f32, Vec3A)> {
    let inverse = 1.0 / Vec3A::select(d.abs().cmplt(Vec3A::splat(1e-12)), Vec3A::splat(1e-12), d);
    let (a, b) = ((-half - o) * inverse, (half - o) * inverse);
    let (near, far) = (a.min(b), a.max(b));
    let t = near.max_element();
    let axis = near.max_position();
    (t <= far.min_element()).then(|| (t, -d[axis].signum() * Vec3A::AXES[axis]))
}

fn enter_sphere(o: Vec3A, d: Vec3A, radius: f32) -> Option<(f32, Vec3A)> {
    let along = -o.dot(d);
    let rest = radius * radius - (o + along * d).length_squared();
    let t = along - rest.max(0.0).sqrt();
    (rest > 0.0).then(|| (t, (o + t * d) / radius))
}

/// Entry into the endless tube about the y axis.
fn enter_tube(o: Vec3A, d: Vec3A, radius: f32) -> Option<(f32, Vec3A)> {
    let (p, q) = (o.xz(), d.xz());
    let speed2 = q.length_squared();
    if speed2 < 1e-14 {
        return None;
    }
    let along = -p.dot(q) / speed2;
    let rest = radius * radius - (p + along * q).length_squared();
    let t = along - (rest.max(0.0) / speed2).sqrt();
    let at = o + t * d;
    (rest > 0.0).then(|| (t, Vec3A::new(at.x, 0.0, at.z) / radius))
}

fn enter_cylinder(o: Vec3A, d: Vec3A, radius: f32, half: f32) -> Option<(f32, Vec3A)> {
    let side = enter_tube(o, d, radius).filter(|&(t, _)| (o.y + t * d.y).abs() <= half);
    let lid = half.copysign(-d.y);
    let cap = ((o.y - lid) * lid > 0.0 && d.y != 0.0)
        .then(|| ((lid - o.y) / d.y, Vec3A::Y * lid.signum()))
        .filter(|&(t, _)| (o + t * d).xz().length_squared() <= radius * radius);
    side.or(cap)
}

fn enter_capsule(o: Vec3A, d: Vec3A, radius: f32, half: f32) -> Option<(f32, Vec3A)> {
    let tube = enter_tube(o, d, radius).filter(|&(t, _)| (o.y + t * d.y).abs() <= half);
    tube.or_else(|| {
        let ends = [half, -half].map(|y| enter_sphere(o - y * Vec3A::Y, d, radius));
        ends.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Pose;

    fn shapes() -> Vec<RigidShape> {
        vec![
            RigidShape::Box { size: Vec3::new(1.0, 0.6, 1.4) },
            RigidShape::Sphere { radius: 0.7 },
            RigidShape::Cylinder { radius: 0.5, height: 0.9 },
            RigidShape::Capsule { radius: 0.4, height: 0.8 },
        ]
    }

    /// Signed distance, or a bound of it, from a point in own coordinates.
    fn distance(shape: &RigidShape, p: Vec3) -> f64 {
        match *shape {
            RigidShape::Box { size } => (p.abs() - 0.5 * size).max_element(),
            RigidShape::Sphere { radius } => p.length() - radius,
            RigidShape::Cylinder { radius, height } => {
                (p.x.hypot(p.z) - radius).max(p.y.abs() - 0.5 * height)
            }
            RigidShape::Capsule { radius, height } => {
                let y = p.y.clamp(-0.5 * height, 0.5 * height);
                (p - y * Vec3::Y).length() - radius
            }
            _ => f64::INFINITY,
        }
    }

    #[test]
    fn every_solid_is_entered_at_its_surface_and_nowhere_before() {
        let rotation = Quat::from_euler(glam::EulerRot::XYZ, 0.4, 1.1, -0.7);
        let pose = Pose { position: Vec3::new(0.2, -0.1, 0.3), rotation };
        for shape in shapes() {
            let piece = Obstacles::new(&[Solid { shape: shape.clone(), pose, color: None }]).pieces.remove(0);
            let mut hits = 0;
            for i in 0..400 {
                let a = i as f32;
                let origin = Vec3A::new(3.0 * a.cos(), 2.0 * (a * 0.7).sin(), 3.0 * a.sin());
                let aim = Vec3A::new((a * 1.3).sin(), (a * 2.1).sin(), (a * 0.3).cos());
                let ray = Ray { origin, direction: (aim - origin).normalize(), reach: 100.0 };
                let entry = piece.entry(&ray);
                let depth = |t: f32| distance(&shape, pose.to_body(ray.at(t).as_dvec3()));
                let first = (1..3000).map(|k| k as f32 * 0.002).find(|&t| depth(t) < 0.0);
                if let Some(entry) = entry {
                    hits += 1;
                    // f32 rays of length five
                    assert!(depth(entry.t).abs() < 1e-5, "{shape:?}: {}", depth(entry.t));
                    assert!(entry.normal.dot(ray.direction) <= 1e-3);
                }
                if let Some(first) = first {
                    let t = entry.map_or(f32::NAN, |entry| entry.t);
                    assert!((first - t).abs() < 0.0025, "{shape:?}: marched to {first}, entered at {t}");
                }
            }
            assert!(hits > 50, "{shape:?}");
        }
    }

    #[test]
    fn a_container_shows_its_lowest_face_as_floor() {
        let pose = Pose { position: Vec3::ZERO, rotation: Quat::from_rotation_x(2.0) };
        let solid =
            Solid { shape: RigidShape::Container { size: Vec3::new(1.0, 2.0, 3.0) }, pose, color: None };
        let all = Obstacles::new(&[solid]);
        let floors: Vec<_> = all.pieces.iter().filter(|p| p.finish == Finish::Floor).collect();
        assert_eq!((floors.len(), all.panes.len()), (1, 5));
        assert!(all.panes.iter().all(|pane| pane.rotation.y_axis.y <= floors[0].rotation.y_axis.y));
    }
}
