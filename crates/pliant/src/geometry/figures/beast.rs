//! A four-legged animal. x points from tail to snout, y up, z to the side. Lengths are in parts of its own, from tail
//! to snout.

use super::{Model, Part, cone};
use crate::math::Vec3;

/// One side of the animal; the other is its mirror image.
const PARTS: [Part; 15] = [
    // back, belly
    cone([-0.16, -0.01, 0.0], [0.14, 0.02, 0.0], 0.13, 0.145),
    cone([-0.05, -0.04, 0.0], [0.05, -0.04, 0.0], 0.135, 0.135),
    // neck, head, snout, ear
    cone([0.17, 0.07, 0.0], [0.25, 0.18, 0.0], 0.105, 0.09),
    cone([0.27, 0.225, 0.0], [0.31, 0.215, 0.0], 0.112, 0.102),
    cone([0.35, 0.19, 0.0], [0.455, 0.16, 0.0], 0.072, 0.05),
    cone([0.235, 0.29, 0.065], [0.205, 0.385, 0.105], 0.045, 0.036),
    // fore leg, paw
    cone([0.16, -0.02, 0.08], [0.17, -0.2, 0.105], 0.085, 0.062),
    cone([0.17, -0.2, 0.105], [0.165, -0.355, 0.105], 0.06, 0.056),
    cone([0.165, -0.37, 0.105], [0.205, -0.375, 0.105], 0.056, 0.05),
    // hind leg, paw
    cone([-0.18, -0.03, 0.08], [-0.15, -0.18, 0.11], 0.1, 0.075),
    cone([-0.15, -0.18, 0.11], [-0.195, -0.345, 0.11], 0.068, 0.057),
    cone([-0.195, -0.37, 0.11], [-0.15, -0.375, 0.11], 0.056, 0.05),
    // tail
    cone([-0.25, 0.04, 0.0], [-0.36, 0.05, 0.0], 0.078, 0.063),
    cone([-0.36, 0.05, 0.0], [-0.445, 0.14, 0.0], 0.063, 0.053),
    cone([-0.445, 0.14, 0.0], [-0.455, 0.26, 0.0], 0.053, 0.04),
];

pub(super) const MODEL: Model = Model {
    parts: &PARTS,
    blend: 0.03,
    center: Vec3::ZERO,
    half_extent: Vec3::new(0.505, 0.43, 0.19),
    volume: 0.068,
    thickness: 0.072,
};
