//! A duck as it swims. x points forward, y up. Lengths are in parts of its own, from tail to bill.

use super::{Model, Part, cone, ellipsoid};
use crate::math::Vec3;

const PARTS: [Part; 10] = [
    // body, breast
    ellipsoid([-0.08, -0.16, 0.0], [0.33, 0.2, 0.23], 0.0),
    ellipsoid([0.12, -0.13, 0.0], [0.18, 0.19, 0.19], 0.0),
    // tail, pointing up
    cone([-0.3, -0.1, 0.0], [-0.44, 0.03, 0.0], 0.12, 0.045),
    cone([-0.3, -0.1, 0.05], [-0.42, 0.0, 0.05], 0.09, 0.045),
    // neck, head
    cone([0.16, -0.02, 0.0], [0.19, 0.12, 0.0], 0.115, 0.105),
    ellipsoid([0.22, 0.22, 0.0], [0.155, 0.14, 0.14], 0.0),
    // bill, flat
    ellipsoid([0.38, 0.19, 0.0], [0.125, 0.042, 0.085], -0.08),
    cone([0.3, 0.205, 0.0], [0.36, 0.2, 0.0], 0.075, 0.05),
    // wing, its tip up
    ellipsoid([-0.1, -0.11, 0.19], [0.2, 0.115, 0.06], -0.15),
    cone([-0.2, -0.07, 0.2], [-0.31, 0.0, 0.2], 0.055, 0.035),
];

pub(super) const MODEL: Model = Model {
    parts: &PARTS,
    blend: 0.035,
    center: Vec3::new(0.01, 0.0, 0.0),
    half_extent: Vec3::new(0.5, 0.362, 0.265),
    volume: 0.0993,
    thickness: 0.07,
};
