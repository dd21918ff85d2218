//! A rabbit that sits. x points from tail to nose, y up. Lengths are in parts of its own, from paws to ears.

use super::{Model, Part, cone, ellipsoid};
use crate::math::Vec3;

const PARTS: [Part; 13] = [
    // rump, back, chest
    ellipsoid([-0.14, -0.24, 0.0], [0.24, 0.23, 0.22], 0.3),
    ellipsoid([0.0, -0.2, 0.0], [0.24, 0.2, 0.19], 0.5),
    ellipsoid([0.12, -0.2, 0.0], [0.15, 0.2, 0.15], 0.0),
    // tail
    ellipsoid([-0.37, -0.3, 0.0], [0.085, 0.08, 0.08], 0.0),
    // neck, head, muzzle, cheek
    cone([0.12, -0.08, 0.0], [0.19, 0.03, 0.0], 0.13, 0.12),
    ellipsoid([0.21, 0.07, 0.0], [0.165, 0.135, 0.13], -0.2),
    ellipsoid([0.33, 0.03, 0.0], [0.085, 0.075, 0.075], -0.2),
    ellipsoid([0.25, 0.03, 0.07], [0.09, 0.075, 0.06], -0.2),
    // ear, laid back a little
    ellipsoid([0.08, 0.31, 0.085], [0.06, 0.2, 0.045], 0.3),
    cone([0.15, 0.13, 0.065], [0.11, 0.22, 0.08], 0.06, 0.05),
    // haunch, hind foot, fore leg
    ellipsoid([-0.1, -0.31, 0.17], [0.17, 0.15, 0.085], 0.4),
    cone([-0.12, -0.435, 0.18], [0.1, -0.44, 0.18], 0.06, 0.055),
    cone([0.18, -0.22, 0.09], [0.24, -0.44, 0.09], 0.075, 0.055),
];

pub(super) const MODEL: Model = Model {
    parts: &PARTS,
    blend: 0.03,
    center: Vec3::new(-0.02, 0.005, 0.0),
    half_extent: Vec3::new(0.435, 0.505, 0.255),
    volume: 0.108,
    thickness: 0.06,
};
