//! Animals, for scenes that need bodies with limbs.
//!
//! Round cones and ellipsoids joined by a smooth union, min(a, b) - max(k - |a - b|, 0)²/4k: where two of them are about
//! equally near, the skin is drawn out by up to a quarter of the blending width k. One side is written down; the other
//! is its mirror image at z = 0. Each animal has size one and is centred in its bounding box.

mod armadillo;
mod beast;
mod bunny;
mod duck;

use crate::math::{Real, Vec3};

/// An animal made by Pliant itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// On four legs, its snout along x; its size is its length.
    Beast,
    /// Swimming along x; its size is its length.
    Duck,
    /// Sitting, its nose along x; its size is its height.
    Bunny,
    /// Standing upright, facing x; its size is its height.
    Armadillo,
}

/// An animal of size one.
struct Model {
    parts: &'static [Part],
    /// Width over which parts blend into one another.
    blend: Real,
    /// Middle and half extents of the bounding box of the parts.
    center: Vec3,
    half_extent: Vec3,
    volume: Real,
    /// Thickness of the thinnest limb.
    thickness: Real,
}

enum Part {
    /// With round ends, from `a` to `b`.
    Cone { a: Vec3, b: Vec3, radius_a: Real, radius_b: Real },
    /// Turned about the z axis by this angle [radians].
    Ellipsoid { center: Vec3, radii: Vec3, turn: Real },
}

const fn cone(a: [Real; 3], b: [Real; 3], radius_a: Real, radius_b: Real) -> Part {
    Part::Cone { a: Vec3::from_array(a), b: Vec3::from_array(b), radius_a, radius_b }
}

const fn ellipsoid(center: [Real; 3], radii: [Real; 3], turn: Real) -> Part {
    Part::Ellipsoid { center: Vec3::from_array(center), radii: Vec3::from_array(radii), turn }
}

impl Part {
    /// Distance to its surface; of an ellipsoid to first order.
    fn distance(&self, p: Vec3) -> Real {
        match *self {
            Part::Cone { a, b, radius_a, radius_b } => {
                let along = b - a;
                let t = ((p - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                p.distance(a + along * t) - (radius_a + (radius_b - radius_a) * t)
            }
            Part::Ellipsoid { center, radii, turn } => {
                let (sin, cos) = turn.sin_cos();
                let q = p - center;
                let q = Vec3::new(cos * q.x + sin * q.y, cos * q.y - sin * q.x, q.z) / radii;
                let (k, slope) = (q.length(), (q / radii).length());
                if slope > 0.0 {
                    ((k - 1.0) * k / slope).max(-radii.min_element())
                } else {
                    -radii.min_element()
                }
            }
        }
    }
}

impl Figure {
    pub const ALL: [Figure; 4] = [Figure::Beast, Figure::Duck, Figure::Bunny, Figure::Armadillo];

    fn model(self) -> &'static Model {
        match self {
            Figure::Beast => &beast::MODEL,
            Figure::Duck => &duck::MODEL,
            Figure::Bunny => &bunny::MODEL,
            Figure::Armadillo => &armadillo::MODEL,
        }
    }

    /// Distance to the skin of an animal of size one, negative inside.
    pub fn distance(self, p: Vec3) -> Real {
        let Model { parts, blend, center, .. } = self.model();
        let p = Vec3::new(p.x, p.y, p.z.abs()) + *center;
        let join = |a: Real, b: Real| {
            let near = (blend - (a - b).abs()).max(0.0);
            a.min(b) - near * near / (4.0 * blend)
        };
        parts.iter().map(|part| part.distance(p)).reduce(join).unwrap_or(Real::INFINITY)
    }

    /// Half extents of the bounding box of an animal of size one.
    pub fn half_extent(self) -> Vec3 {
        self.model().half_extent
    }

    /// Volume of an animal of size one, to about a fiftieth.
    pub fn volume(self) -> Real {
        self.model().volume
    }

    /// Thickness of the thinnest limb of an animal of size one.
    pub fn thickness(self) -> Real {
        self.model().thickness
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::DistanceGrid;

    fn ends(part: &Part) -> [Vec3; 2] {
        match *part {
            Part::Cone { a, b, .. } => [a, b],
            Part::Ellipsoid { center, .. } => [center, center],
        }
    }

    #[test]
    fn every_limb_hangs_on_the_body() {
        for figure in Figure::ALL {
            let model = figure.model();
            for (k, part) in model.parts.iter().enumerate() {
                let [a, b] = ends(part);
                assert!((0..=20).all(|k| figure.distance(a.lerp(b, k as f64 / 20.0) - model.center) < 0.0));
                let others = || model.parts.iter().filter(|o| !std::ptr::eq(*o, part));
                let holds_an_end = others().any(|o| ends(o).iter().any(|p| part.distance(*p) < 0.0));
                let is_held = others().any(|o| ends(part).iter().any(|p| o.distance(*p) < 0.0));
                assert!(holds_an_end || is_held, "part {k} of {figure:?} touches no other");
            }
        }
    }

    #[test]
    fn each_animal_fills_its_bounding_box_and_has_its_volume() {
        for figure in Figure::ALL {
            let half = figure.half_extent();
            let cell = 0.01;
            let grid = DistanceGrid::new((-half - 0.1, half + 0.1), cell, 2.0, &|p| figure.distance(p));
            let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            grid.for_each_cell(|p, distance| {
                if distance <= 0.0 {
                    (low, high) = (low.min(p), high.max(p));
                }
            });
            // less than two cells of this grid
            assert!(low.cmpge(-half).all() && high.cmple(half).all(), "{figure:?}: {low} {high}");
            assert!((high - low - half * 2.0).abs().max_element() < 4.0 * cell, "{figure:?}: {low} {high}");
            let volume = grid.volume();
            assert!((volume / figure.volume() - 1.0).abs() < 0.02, "{figure:?}: {volume}");
        }
    }
}
