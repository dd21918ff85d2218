//! A four-legged animal, for scenes that need a body with limbs.
//!
//! Round cones joined by a smooth union, min(a, b) - max(k - |a - b|, 0)²/4k: where two of them are about equally near,
//! the skin is drawn out by up to a quarter of the blending width k. x points from tail to snout, y up, z to the side.
//! Lengths are in parts of the animal's own, from tail to snout.

use crate::math::{Real, Vec3};

/// A cone with round ends, from `a` to `b`.
struct Part {
    a: Vec3,
    b: Vec3,
    radius_a: Real,
    radius_b: Real,
}

const fn part(a: [Real; 3], b: [Real; 3], radius_a: Real, radius_b: Real) -> Part {
    Part { a: Vec3::from_array(a), b: Vec3::from_array(b), radius_a, radius_b }
}

/// One side of the animal; the other is its mirror image.
const PARTS: [Part; 15] = [
    // back, belly
    part([-0.16, -0.01, 0.0], [0.14, 0.02, 0.0], 0.13, 0.145),
    part([-0.05, -0.04, 0.0], [0.05, -0.04, 0.0], 0.135, 0.135),
    // neck, head, snout, ear
    part([0.17, 0.07, 0.0], [0.25, 0.18, 0.0], 0.105, 0.09),
    part([0.27, 0.225, 0.0], [0.31, 0.215, 0.0], 0.112, 0.102),
    part([0.35, 0.19, 0.0], [0.455, 0.16, 0.0], 0.072, 0.05),
    part([0.235, 0.29, 0.065], [0.205, 0.385, 0.105], 0.045, 0.036),
    // fore leg, paw
    part([0.16, -0.02, 0.08], [0.17, -0.2, 0.105], 0.085, 0.062),
    part([0.17, -0.2, 0.105], [0.165, -0.355, 0.105], 0.06, 0.056),
    part([0.165, -0.37, 0.105], [0.205, -0.375, 0.105], 0.056, 0.05),
    // hind leg, paw
    part([-0.18, -0.03, 0.08], [-0.15, -0.18, 0.11], 0.1, 0.075),
    part([-0.15, -0.18, 0.11], [-0.195, -0.345, 0.11], 0.068, 0.057),
    part([-0.195, -0.37, 0.11], [-0.15, -0.375, 0.11], 0.056, 0.05),
    // tail
    part([-0.25, 0.04, 0.0], [-0.36, 0.05, 0.0], 0.078, 0.063),
    part([-0.36, 0.05, 0.0], [-0.445, 0.14, 0.0], 0.063, 0.053),
    part([-0.445, 0.14, 0.0], [-0.455, 0.26, 0.0], 0.053, 0.04),
];

/// Width over which parts blend into one another.
const BLEND: Real = 0.03;

/// Half extents of the bounding box about the origin.
pub const HALF_EXTENT: Vec3 = Vec3::new(0.505, 0.43, 0.19);

/// Volume of an animal of length one.
pub const VOLUME: Real = 0.068;

/// Thickness of the thinnest limb, the ears.
pub const THICKNESS: Real = 0.072;

impl Part {
    fn distance(&self, p: Vec3) -> Real {
        let along = self.b - self.a;
        let t = ((p - self.a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        p.distance(self.a + along * t) - (self.radius_a + (self.radius_b - self.radius_a) * t)
    }
}

/// Distance to the skin, negative inside; a lower bound of it outside.
pub fn distance(p: Vec3) -> Real {
    let p = Vec3::new(p.x, p.y, p.z.abs());
    let join = |a: Real, b: Real| {
        let near = (BLEND - (a - b).abs()).max(0.0);
        a.min(b) - near * near / (4.0 * BLEND)
    };
    PARTS.iter().map(|part| part.distance(p)).reduce(join).unwrap_or(Real::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limb_hangs_on_the_body() {
        let path = |from: Vec3, to: Vec3| (0..=20).map(move |k| from.lerp(to, k as f64 / 20.0));
        for part in &PARTS {
            for side in [1.0, -1.0] {
                let mirrored = |p: Vec3| Vec3::new(p.x, p.y, p.z * side);
                assert!(path(mirrored(part.a), mirrored(part.b)).all(|p| distance(p) < 0.0));
                let joins = PARTS.iter().filter(|o| !std::ptr::eq(*o, part));
                let nearest = joins.map(|o| o.distance(part.a).min(o.distance(part.b)));
                assert!(nearest.fold(f64::INFINITY, f64::min) < 0.0, "a limb touches no other");
            }
        }
    }

    #[test]
    fn the_animal_fills_its_bounding_box_and_stays_in_it() {
        let s = 0.01;
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let steps = |half: f64| -(half / s) as i32 - 3..=(half / s) as i32 + 3;
        for x in steps(HALF_EXTENT.x) {
            for y in steps(HALF_EXTENT.y) {
                for z in steps(HALF_EXTENT.z) {
                    let p = Vec3::new(x as f64, y as f64, z as f64) * s;
                    if distance(p) <= 0.0 {
                        (low, high) = (low.min(p), high.max(p));
                    }
                }
            }
        }
        assert!(low.cmpge(-HALF_EXTENT).all() && high.cmple(HALF_EXTENT).all(), "{low} {high}");
        // less than two cells of this lattice
        assert!((high - low - HALF_EXTENT * 2.0).abs().max_element() < 0.04, "{low} {high}");
    }
}
