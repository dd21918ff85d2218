//! Signed distances and motion of rigid shapes.

use super::mass::MassPart;
use super::{Motion, Rigid, RigidMotion, RigidShape};
use crate::geometry::{Field, Pose, Shape, even_layer, sample_surface};
use crate::math::{Mat3, Quat, Real, Vec3};

/// The surface of a rigid body as seen from a point.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// Signed distance, negative inside the body.
    pub distance: Real,
    /// Unit normal, pointing out of the body.
    pub normal: Vec3,
}

impl RigidShape {
    /// Points of one layer half a spacing below the surface, about one spacing apart. Planes and containers
    /// have smooth faces and no points.
    pub fn boundary_points(&self, spacing: Real) -> Vec<Vec3> {
        let depth = 0.5 * spacing;
        match *self {
            RigidShape::Plane { .. } | RigidShape::Container { .. } => Vec::new(),
            RigidShape::Box { size } => sample_surface(&Shape::Box { size }, spacing, depth),
            RigidShape::Sphere { radius } => sample_surface(&Shape::Sphere { radius }, spacing, depth),
            RigidShape::Cylinder { radius, height } => {
                sample_surface(&Shape::Cylinder { radius, height }, spacing, depth)
            }
            RigidShape::Capsule { .. } => even_layer(self, spacing, depth),
            RigidShape::Mesh(ref mesh) => mesh.boundary_points(spacing),
        }
    }

    /// Signed distance and normal at a point in the shape's own coordinates.
    pub fn surface(&self, p: Vec3) -> Surface {
        match *self {
            RigidShape::Plane { normal } => Surface { distance: p.dot(normal), normal },
            RigidShape::Sphere { radius } => from_axis(p, radius),
            RigidShape::Capsule { radius, height } => {
                let on_axis = Vec3::Y * p.y.clamp(-0.5 * height, 0.5 * height);
                from_axis(p - on_axis, radius)
            }
            RigidShape::Box { size } => block(p, size * 0.5),
            RigidShape::Container { size } => {
                let outside = block(p, size * 0.5);
                Surface { distance: -outside.distance, normal: -outside.normal }
            }
            RigidShape::Cylinder { radius, height } => cylinder(p, radius, 0.5 * height),
            RigidShape::Mesh(ref mesh) => mesh.surface(p),
        }
    }
}

impl Field for RigidShape {
    fn distance(&self, p: Vec3) -> Real {
        self.surface(p).distance
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        let reach = Vec3::splat(self.reach().unwrap_or(0.0));
        (-reach, reach)
    }
}

fn from_axis(offset: Vec3, radius: Real) -> Surface {
    let length = offset.length();
    let normal = if length > 0.0 { offset / length } else { Vec3::Y };
    Surface { distance: length - radius, normal }
}

fn block(p: Vec3, half: Vec3) -> Surface {
    let q = p.abs() - half;
    let sign = Vec3::new(1f64.copysign(p.x), 1f64.copysign(p.y), 1f64.copysign(p.z));
    let outside = q.max(Vec3::ZERO);
    let length = outside.length();
    if length > 0.0 {
        return Surface { distance: length, normal: outside / length * sign };
    }
    // Inside: out through the nearest face.
    let face = if q.x >= q.y && q.x >= q.z {
        Vec3::X
    } else if q.y >= q.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    Surface { distance: q.max_element(), normal: face * sign }
}

fn cylinder(p: Vec3, radius: Real, half: Real) -> Surface {
    let r = p.x.hypot(p.z);
    let radial = if r > 0.0 { Vec3::new(p.x / r, 0.0, p.z / r) } else { Vec3::X };
    let axial = Vec3::Y * 1f64.copysign(p.y);
    let (dr, dy) = (r - radius, p.y.abs() - half);
    if dr > 0.0 && dy > 0.0 {
        let length = dr.hypot(dy);
        return Surface { distance: length, normal: (radial * dr + axial * dy) / length };
    }
    if dr > dy { Surface { distance: dr, normal: radial } } else { Surface { distance: dy, normal: axial } }
}

impl Motion {
    /// Where a point that was at x0 at t = 0 is carried to.
    pub fn carry(&self, x0: Vec3, time: Real) -> Vec3 {
        match *self {
            Motion::Fixed => x0,
            Motion::Driven { velocity, angular_velocity, center, stop } => {
                let time = stop.map_or(time, |stop| time.min(stop));
                let turn = Quat::from_scaled_axis(angular_velocity * time);
                center + velocity * time + turn * (x0 - center)
            }
        }
    }
}

impl Motion {
    /// Rotation since t = 0.
    fn turn(&self, time: Real) -> Quat {
        match *self {
            Motion::Fixed => Quat::IDENTITY,
            Motion::Driven { angular_velocity, stop, .. } => {
                Quat::from_scaled_axis(angular_velocity * stop.map_or(time, |stop| time.min(stop)))
            }
        }
    }

    /// Velocity of the point of the body that is at x, and angular velocity.
    fn velocities(&self, x: Vec3, time: Real) -> (Vec3, Vec3) {
        match *self {
            Motion::Fixed => (Vec3::ZERO, Vec3::ZERO),
            Motion::Driven { stop: Some(stop), .. } if time >= stop => (Vec3::ZERO, Vec3::ZERO),
            Motion::Driven { velocity, angular_velocity, center, .. } => {
                let arm = x - (center + velocity * time);
                (velocity + angular_velocity.cross(arm), angular_velocity)
            }
        }
    }
}

impl Rigid {
    /// Pose at a time as far as the scene tells it: a dynamic body's is that of the start.
    pub fn pose_at(&self, time: Real) -> Pose {
        match self.motion {
            RigidMotion::Dynamic(_) => self.pose,
            RigidMotion::Told(motion) => Pose {
                position: motion.carry(self.pose.position, time),
                rotation: motion.turn(time) * self.pose.rotation,
            },
        }
    }

    /// Is it moved by forces?
    pub fn is_dynamic(&self) -> bool {
        matches!(self.motion, RigidMotion::Dynamic(_))
    }

    /// The body at a time as far as the scene tells it: a dynamic body's is that of the start.
    pub fn at(&self, time: Real) -> RigidNow {
        let pose = self.pose_at(time);
        let ((velocity, angular_velocity), mass) = match self.motion {
            RigidMotion::Told(motion) => (motion.velocities(pose.position, time), None),
            RigidMotion::Dynamic(start) => {
                ((start.velocity, start.angular_velocity), Some(self.shape.mass(start.density)))
            }
        };
        let mut now = RigidNow {
            shape: self.shape.clone(),
            pose,
            to_world: Mat3::from_quat(pose.rotation),
            center: pose.position,
            velocity,
            angular_velocity,
            inverse_mass: 0.0,
            inverse_inertia: Mat3::ZERO,
            friction: self.friction,
            restitution: self.restitution,
        };
        if let Some(mass) = mass {
            now.place(pose, &mass);
        }
        now
    }
}

/// A rigid body at one moment: what a step needs of it, prepared once.
#[derive(Clone, Debug)]
pub struct RigidNow {
    shape: RigidShape,
    pub pose: Pose,
    to_world: Mat3,
    /// Centre of mass; the position of bodies that are told their motion [m].
    pub center: Vec3,
    /// Velocity of the centre [m/s].
    pub velocity: Vec3,
    /// [rad/s]
    pub angular_velocity: Vec3,
    /// Zero unless dynamic [1/kg].
    pub inverse_mass: Real,
    /// About the centre, in world axes; zero unless dynamic [1/(kg m2)].
    pub inverse_inertia: Mat3,
    pub friction: Real,
    pub restitution: Real,
}

impl RigidNow {
    /// As pressure sees it.
    pub fn as_wall(&self) -> super::WallBody {
        super::WallBody {
            position: self.pose.position,
            to_world: self.to_world,
            center: self.center,
            inverse_mass: self.inverse_mass,
            inverse_inertia: self.inverse_inertia,
        }
    }

    /// Signed distance and outward normal at a point of the world.
    pub fn surface(&self, x: Vec3) -> Surface {
        let seen = self.shape.surface(self.to_world.transpose() * (x - self.pose.position));
        Surface { normal: self.to_world * seen.normal, ..seen }
    }

    /// Are all points of a box outside and further away than this? If it takes too long to tell, it says no.
    pub fn is_farther_than(&self, distance: Real, (lo, hi): (Vec3, Vec3)) -> bool {
        let at = self.pose.position;
        if self.shape.reach().is_some_and(|reach| at.distance(at.clamp(lo, hi)) > reach + distance) {
            return true;
        }
        let (middle, half) = (0.5 * (lo + hi), 0.5 * (hi - lo));
        let room = match self.shape {
            RigidShape::Mesh(_) => return false,
            RigidShape::Plane { normal } => (self.to_world * normal).abs().dot(half),
            // distances to these change by no more than one goes
            _ => half.length(),
        };
        self.surface(middle).distance > distance + room
    }

    /// Velocity of the body at a point of the world.
    pub fn velocity_at(&self, x: Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(x - self.center)
    }

    pub fn shape(&self) -> &RigidShape {
        &self.shape
    }

    /// Do impulses move it?
    pub fn is_dynamic(&self) -> bool {
        self.inverse_mass > 0.0
    }

    /// Puts a dynamic body of this mass at a pose; velocities stay.
    pub(super) fn place(&mut self, pose: Pose, mass: &MassPart) {
        self.pose = pose;
        self.to_world = Mat3::from_quat(pose.rotation);
        self.center = pose.to_world(mass.center);
        self.inverse_mass = 1.0 / mass.mass;
        self.inverse_inertia = self.to_world * mass.inertia.inverse() * self.to_world.transpose();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> [RigidShape; 6] {
        [
            RigidShape::Plane { normal: Vec3::new(0.6, 0.8, 0.0) },
            RigidShape::Box { size: Vec3::new(1.0, 0.6, 0.4) },
            RigidShape::Container { size: Vec3::new(1.0, 0.6, 0.4) },
            RigidShape::Sphere { radius: 0.4 },
            RigidShape::Cylinder { radius: 0.3, height: 0.8 },
            RigidShape::Capsule { radius: 0.2, height: 0.5 },
        ]
    }

    #[test]
    fn the_normal_is_the_gradient_of_the_distance() {
        for shape in shapes() {
            for k in 1..500 {
                let wave = |a: f64| (k as f64 * a).sin();
                let p = Vec3::new(wave(1.1), wave(2.3), wave(3.7)) * 0.9;
                let Surface { distance, normal } = shape.surface(p);
                assert!((normal.length() - 1.0).abs() < 1e-12);
                let eps = 1e-6;
                let along = shape.surface(p + normal * eps).distance - distance;
                assert!((along / eps - 1.0).abs() < 1e-3, "{shape:?} at {p}: {along}");
            }
        }
    }

    #[test]
    fn nothing_near_is_taken_for_far_and_most_of_what_is_far_is_seen() {
        let rotation = Quat::from_scaled_axis(Vec3::new(0.7, -0.4, 1.1));
        let pose = Pose { position: Vec3::new(0.3, -0.2, 0.1), rotation };
        for shape in shapes() {
            let rigid = Rigid {
                name: "rigid".into(),
                shape: shape.clone(),
                pose,
                motion: Motion::Fixed.into(),
                friction: 0.0,
                restitution: 0.0,
            };
            let world = super::super::RigidWorld::new(&[rigid], &[], Vec3::ZERO);
            let (now, mut seen, mut far) = (&world.now()[0], 0, 0);
            for k in 1..2000 {
                let wave = |a: f64| (k as f64 * a).sin();
                // flat, long and thick boxes
                let half = Vec3::new(wave(0.3), wave(0.7), wave(1.9)).abs() * Vec3::new(0.2, 0.1, 0.02);
                let middle = Vec3::new(wave(1.1), wave(2.3), wave(3.7)) * 1.2;
                let corner = |c: i32| [c & 1, c & 2, c & 4].map(|bit| if bit == 0 { -1.0 } else { 1.0 });
                let points = (0..8).map(|c| middle + half * Vec3::from_array(corner(c))).chain([middle]);
                let nearest = points.map(|x| now.surface(x).distance).fold(Real::INFINITY, Real::min);
                let is_far = now.is_farther_than(0.1, (middle - half, middle + half));
                assert!(!is_far || nearest > 0.1, "{shape:?}: a box about {middle} is {nearest} away");
                (seen, far) = (seen + is_far as u32, far + (nearest > 0.1) as u32);
            }
            // in the container there is no room for boxes this large
            let is_container = matches!(shape, RigidShape::Container { .. });
            assert!(is_container || far > 100 && 2 * seen > far, "{shape:?}: {seen} of {far}");
        }
    }

    #[test]
    fn a_carried_point_moves_with_the_stated_velocity() {
        let motion = Motion::Driven {
            velocity: Vec3::new(1.0, 2.0, 0.0),
            angular_velocity: Vec3::new(0.3, 0.0, 2.0),
            center: Vec3::new(0.5, 0.0, 0.1),
            stop: Some(1.0),
        };
        let (x0, t, eps) = (Vec3::new(1.0, -1.0, 2.0), 0.7, 1e-6);
        let slope = (motion.carry(x0, t + eps) - motion.carry(x0, t - eps)) / (2.0 * eps);
        let rigid = Rigid {
            name: "paddle".into(),
            shape: RigidShape::Sphere { radius: 1.0 },
            pose: Pose::IDENTITY,
            motion: motion.into(),
            friction: 0.0,
            restitution: 0.0,
        };
        assert!((slope - rigid.at(t).velocity_at(motion.carry(x0, t))).length() < 1e-8);
        assert_eq!(motion.carry(x0, 1.0), motion.carry(x0, 2.0));
        assert_eq!(rigid.at(1.5).velocity_at(x0), Vec3::ZERO);
    }
}
