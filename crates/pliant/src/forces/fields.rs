//! Fields in space that push all matter, by an acceleration at every point.

use crate::math::{Real, Vec3};
use crate::rigid::RigidWorld;

/// A field, and how long it acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub kind: FieldKind,
    /// Ends at this time [s].
    pub until: Option<Real>,
}

/// What a field does at a point.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// Turns matter about an axis: a = strength axis × (x - center). A rigid body about whose centre it turns gets the
    /// angular acceleration `strength`, whatever its shape, and no push along.
    Rotation {
        /// Of length one.
        axis: Vec3,
        /// A point of the axis.
        center: Vec3,
        /// [rad/s2]
        strength: Real,
        /// Reach from the axis [m].
        radius: Option<Real>,
    },
}

impl Field {
    /// Acceleration at a point [m/s2].
    pub fn acceleration(&self, x: Vec3) -> Vec3 {
        match self.kind {
            FieldKind::Rotation { axis, center, strength, radius } => {
                let around = axis.cross(x - center);
                let reached = radius.is_none_or(|radius| around.length_squared() <= radius * radius);
                if reached { around * strength } else { Vec3::ZERO }
            }
        }
    }

    /// Pushes dynamic rigid bodies for some time, each as if all of it felt what its centre of mass feels of the field.
    pub fn push_rigids(&self, duration: Real, rigids: &mut RigidWorld) {
        for k in 0..rigids.now().len() {
            let now = &rigids.now()[k];
            if !now.is_dynamic() {
                continue;
            }
            let (a, turn) = (self.acceleration(now.center), self.turning(now.center));
            let (impulse, inertia) = (a * (duration / now.inverse_mass), now.inverse_inertia.inverse());
            rigids.apply_impulse(k, impulse, inertia * turn * duration);
        }
    }

    /// Angular acceleration of a small piece of matter [rad/s2].
    fn turning(&self, x: Vec3) -> Vec3 {
        match self.kind {
            FieldKind::Rotation { axis, center, strength, radius } => {
                let reached = radius.is_none_or(|radius| axis.cross(x - center).length() <= radius);
                if reached { axis * strength } else { Vec3::ZERO }
            }
        }
    }

    /// How long it acts between two times [s].
    pub fn duration_within(&self, from: Real, to: Real) -> Real {
        (self.until.map_or(to, |until| until.min(to)) - from).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation(radius: Option<Real>, until: Option<Real>) -> Field {
        let (axis, center) = (Vec3::Y, Vec3::new(1.0, 5.0, 0.0));
        Field { kind: FieldKind::Rotation { axis, center, strength: 2.0, radius }, until }
    }

    #[test]
    fn a_rotation_pushes_around_its_axis_the_more_the_farther_and_not_beyond_its_reach() {
        let field = rotation(Some(1.0), None);
        assert_eq!(field.acceleration(Vec3::new(1.5, 0.0, 0.0)), Vec3::new(0.0, 0.0, -1.0));
        assert_eq!(field.acceleration(Vec3::new(1.0, -3.0, 0.0)), Vec3::ZERO);
        assert_eq!(field.acceleration(Vec3::new(3.0, 0.0, 0.0)), Vec3::ZERO);
        assert_eq!(rotation(None, None).acceleration(Vec3::new(3.0, 0.0, 0.0)), Vec3::new(0.0, 0.0, -4.0));
    }

    #[test]
    fn a_field_that_ends_within_a_step_acts_for_a_part_of_it() {
        let field = rotation(None, Some(3.0));
        assert_eq!(field.duration_within(1.0, 1.5), 0.5);
        assert_eq!(field.duration_within(2.75, 3.25), 0.25);
        assert_eq!(field.duration_within(3.0, 4.0), 0.0);
        assert_eq!(rotation(None, None).duration_within(3.0, 4.0), 1.0);
    }
}
