//! An armoured animal that stands upright. x points forward, y up, arms to the sides. Lengths are in parts of its own,
//! from feet to ears.

use super::{Model, Part, cone, ellipsoid};
use crate::math::Vec3;

const PARTS: [Part; 20] = [
    // belly, chest, shell on the back, and its ridges
    ellipsoid([0.03, -0.09, 0.0], [0.13, 0.17, 0.15], 0.0),
    ellipsoid([0.02, 0.06, 0.0], [0.12, 0.14, 0.14], 0.0),
    ellipsoid([-0.06, -0.02, 0.0], [0.13, 0.22, 0.16], 0.0),
    cone([-0.17, 0.1, 0.0], [-0.13, 0.1, 0.1], 0.035, 0.035),
    cone([-0.19, 0.0, 0.0], [-0.15, 0.0, 0.11], 0.035, 0.035),
    cone([-0.18, -0.1, 0.0], [-0.14, -0.1, 0.11], 0.035, 0.035),
    // neck, head, snout, ear
    cone([0.02, 0.16, 0.0], [0.05, 0.25, 0.0], 0.085, 0.075),
    ellipsoid([0.07, 0.295, 0.0], [0.11, 0.085, 0.085], -0.3),
    cone([0.12, 0.27, 0.0], [0.235, 0.215, 0.0], 0.062, 0.038),
    ellipsoid([0.015, 0.4, 0.075], [0.035, 0.1, 0.045], 0.25),
    // upper arm, forearm, hand and claws
    cone([0.01, 0.13, 0.12], [0.05, 0.11, 0.25], 0.065, 0.05),
    cone([0.05, 0.11, 0.25], [0.17, 0.17, 0.31], 0.05, 0.042),
    cone([0.17, 0.17, 0.31], [0.215, 0.2, 0.325], 0.048, 0.036),
    // thigh, shin, foot
    cone([0.01, -0.17, 0.09], [0.055, -0.28, 0.145], 0.095, 0.075),
    cone([0.055, -0.28, 0.145], [0.0, -0.43, 0.15], 0.068, 0.055),
    cone([0.0, -0.45, 0.15], [0.11, -0.455, 0.17], 0.052, 0.045),
    // tail
    cone([-0.13, -0.19, 0.0], [-0.22, -0.31, 0.0], 0.085, 0.06),
    cone([-0.22, -0.31, 0.0], [-0.32, -0.37, 0.0], 0.06, 0.048),
    cone([-0.32, -0.37, 0.0], [-0.42, -0.36, 0.0], 0.048, 0.038),
    cone([0.09, 0.34, 0.04], [0.11, 0.33, 0.05], 0.035, 0.03),
];

pub(super) const MODEL: Model = Model {
    parts: &PARTS,
    blend: 0.025,
    center: Vec3::ZERO,
    half_extent: Vec3::new(0.46, 0.505, 0.365),
    volume: 0.06,
    thickness: 0.065,
};
