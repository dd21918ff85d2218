//! Force fields as written.

use super::Vector;
use crate::scene::read::{table, typed};

table! { RotationFieldFile {
    /// Axis of any length but zero; matter is turned counterclockwise about it.
    axis: Vector,
    /// A point of the axis [m]; default [0, 0, 0].
    center: Option<Vector>,
    /// Acceleration per distance from the axis [1/s2]: angular acceleration of a body centred there.
    strength: f64,
    /// Reach from the axis [m]; default everywhere.
    radius: Option<f64>,
    /// Time at which it ends [s]; default never.
    until: Option<f64>,
} }

typed! {
    /// A field that pushes all matter.
    FieldFile {
        /// Turns matter about an axis.
        Rotation(RotationFieldFile) = "rotation",
    } later []
}
