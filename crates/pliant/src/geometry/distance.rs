//! Signed distances, extents and volumes of shapes.

use super::field::differences;
use super::{Field, Shape};
use crate::math::{Real, Vec3};
use std::f64::consts::{PI, TAU};

/// Length of a gear's teeth, and radius of its bore, in parts of its radius.
const TOOTH: Real = 0.2;
const BORE: Real = 0.25;
/// Radius of a hairball's core, in parts of its own.
const CORE: Real = 0.55;
/// Angle from one strand to the next about the axis: the golden one covers a sphere evenly.
const GOLDEN_ANGLE: Real = 2.399963229728653;

impl Field for Shape {
    /// Signed distance to the surface, negative inside. Sheets, rods and given particles have no inside.
    fn distance(&self, p: Vec3) -> Real {
        match self {
            Shape::Box { size } => cut(p.abs() - *size * 0.5),
            Shape::Sphere { radius } => p.length() - radius,
            Shape::Cylinder { radius, height } => cylinder(p.x.hypot(p.z) - radius, p.y, *height),
            Shape::Capsule { radius, height } => {
                let on_axis = Vec3::Y * p.y.clamp(-0.5 * height, 0.5 * height);
                p.distance(on_axis) - radius
            }
            Shape::Torus { radius, tube_radius } => (p.x.hypot(p.z) - radius).hypot(p.y) - tube_radius,
            Shape::Figure { figure, size } => figure.distance(p / *size) * size,
            Shape::Gear { radius, height, teeth } => cylinder(gear(p, *radius, *teeth), p.y, *height),
            Shape::Hairball { radius, strands, thickness } => hairball(p, *radius, *strands, 0.5 * thickness),
            Shape::Mesh { mesh } => mesh.distance(p),
            Shape::Particles { cloud } => {
                let (lo, hi) = cloud.bounds();
                cut((p - 0.5 * (lo + hi)).abs() - self.half_extent()).max(0.0)
            }
            Shape::Sheet { .. } | Shape::Rod { .. } => cut(p.abs() - self.half_extent()).max(0.0),
        }
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        match self {
            Shape::Mesh { mesh } => mesh.bounds(),
            Shape::Particles { cloud } => cloud.bounds(),
            _ => (-self.half_extent(), self.half_extent()),
        }
    }

    fn surface(&self, p: Vec3) -> (Real, Vec3) {
        match self {
            Shape::Mesh { mesh } => mesh.surface(p),
            _ => (self.distance(p), differences(self, p)),
        }
    }

    fn steepness(&self) -> Real {
        match self {
            // cones and ellipsoids are no exact distances
            Shape::Figure { .. } => 2.0,
            _ => 1.0,
        }
    }
}

impl Shape {
    /// Half extents of the shape's bounding box; zero across a sheet or rod.
    pub fn half_extent(&self) -> Vec3 {
        match self {
            Shape::Box { size } => *size * 0.5,
            Shape::Sphere { radius } | Shape::Hairball { radius, .. } => Vec3::splat(*radius),
            Shape::Cylinder { radius, height } | Shape::Gear { radius, height, .. } => {
                Vec3::new(*radius, height * 0.5, *radius)
            }
            Shape::Capsule { radius, height } => Vec3::new(*radius, height * 0.5 + radius, *radius),
            Shape::Torus { radius, tube_radius } => {
                Vec3::new(radius + tube_radius, *tube_radius, radius + tube_radius)
            }
            Shape::Figure { figure, size } => figure.half_extent() * *size,
            Shape::Mesh { mesh } => 0.5 * (mesh.bounds().1 - mesh.bounds().0),
            Shape::Particles { cloud } => 0.5 * (cloud.bounds().1 - cloud.bounds().0),
            Shape::Sheet { size, .. } => Vec3::new(size[0] * 0.5, 0.0, size[1] * 0.5),
            Shape::Rod { length } => Vec3::new(length * 0.5, 0.0, 0.0),
        }
    }

    /// Volume [m3] where it has a closed form.
    pub fn exact_volume(&self) -> Option<Real> {
        match self {
            Shape::Box { size } => Some(size.element_product()),
            Shape::Sphere { radius } => Some(2.0 / 3.0 * TAU * radius.powi(3)),
            Shape::Cylinder { radius, height } => Some(PI * radius.powi(2) * height),
            Shape::Capsule { radius, height } => Some(PI * radius.powi(2) * (height + 4.0 / 3.0 * radius)),
            Shape::Torus { radius, tube_radius } => Some(TAU * PI * radius * tube_radius.powi(2)),
            Shape::Mesh { mesh } => mesh.exact_volume(),
            _ => None,
        }
    }

    /// Volume [m3] to about a twentieth, quickly; None for sheets and rods.
    pub fn rough_volume(&self) -> Option<Real> {
        match self {
            Shape::Figure { figure, size } => Some(figure.volume() * size.powi(3)),
            Shape::Mesh { mesh } => Some(mesh.volume()),
            Shape::Gear { radius, height, .. } => {
                let ring = (1.0 - 0.5 * TOOTH).powi(2) - BORE.powi(2);
                Some(PI * radius.powi(2) * height * ring)
            }
            Shape::Hairball { radius, strands, thickness } => {
                let core = 2.0 / 3.0 * TAU * (CORE * radius).powi(3);
                let strand = PI * (0.5 * thickness).powi(2) * (1.0 - CORE) * radius;
                Some(core + Real::from(*strands) * strand)
            }
            _ => self.exact_volume(),
        }
    }

    /// Extent of its thinnest part [m]; a spacing above it leaves no room for a particle.
    pub fn thickness(&self) -> Real {
        match self {
            Shape::Figure { figure, size } => figure.thickness() * size,
            Shape::Torus { tube_radius, .. } => 2.0 * tube_radius,
            Shape::Capsule { radius, .. } => 2.0 * radius,
            Shape::Gear { radius, height, teeth } => height.min(tooth_width(*radius, *teeth)),
            Shape::Hairball { thickness, .. } => *thickness,
            Shape::Sheet { size: [length, width], .. } => length.min(*width),
            Shape::Rod { length } => *length,
            Shape::Particles { .. } => Real::MAX, // they are there at any spacing
            _ => 2.0 * self.half_extent().min_element(),
        }
    }
}

/// Distance to a box from the distances over its faces.
fn cut(over: Vec3) -> Real {
    over.max(Vec3::ZERO).length() + over.max_element().min(0.0)
}

/// A profile extended along y.
fn cylinder(profile: Real, y: Real, height: Real) -> Real {
    let over = y.abs() - 0.5 * height;
    profile.max(0.0).hypot(over.max(0.0)) + profile.max(over).min(0.0)
}

/// Half of the way around the middle of the teeth is tooth.
fn tooth_width(radius: Real, teeth: u32) -> Real {
    PI * (1.0 - 0.5 * TOOTH) * radius / Real::from(teeth)
}

/// Profile of a gear about the y axis: a disc with a bore and teeth.
fn gear(p: Vec3, radius: Real, teeth: u32) -> Real {
    let r = p.x.hypot(p.z);
    let sector = TAU / Real::from(teeth);
    let turn = p.z.atan2(p.x);
    let (sin, cos) = (turn - (turn / sector).round() * sector).sin_cos();
    // a tooth reaches into the disc, so that both are one
    let (along, aside) = (r * cos, (r * sin).abs());
    let (inner, outer) = ((1.0 - 2.0 * TOOTH) * radius, radius);
    let over = Vec3::new(
        (along - 0.5 * (inner + outer)).abs() - 0.5 * (outer - inner),
        aside - 0.5 * tooth_width(radius, teeth),
        -Real::INFINITY,
    );
    let disc = r - (1.0 - TOOTH) * radius;
    disc.min(cut(over)).max(BORE * radius - r)
}

/// A ball with strands that lean to one side.
fn hairball(p: Vec3, radius: Real, strands: u32, strand_radius: Real) -> Real {
    let mut nearest = p.length() - CORE * radius;
    let (step_sin, step_cos) = GOLDEN_ANGLE.sin_cos();
    let (mut sin, mut cos) = (0.0, 1.0);
    let tip = radius - strand_radius;
    for k in 0..strands {
        let y = 1.0 - (2.0 * Real::from(k) + 1.0) / Real::from(strands);
        let ring = (1.0 - y * y).sqrt();
        let root = Vec3::new(ring * cos, y, ring * sin);
        let lean = Vec3::new(-sin, 0.0, cos) * 0.35;
        let (a, b) = (root * (0.9 * CORE * radius), (root + lean).normalize() * tip);
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        nearest = nearest.min(p.distance(a.lerp(b, t)) - strand_radius);
        (sin, cos) = (sin * step_cos + cos * step_sin, cos * step_cos - sin * step_sin);
    }
    nearest
}
