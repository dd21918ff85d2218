//! Where liquid cannot start: inside solids and rigid bodies.

use super::Setup;
use crate::math::{Real, Vec3};
use crate::neighbors::Grid;
use crate::rigid::RigidNow;

/// Liquid starts no nearer to a particle of a solid, in spacings.
const TO_SOLIDS: Real = 0.8;
/// Liquid starts no nearer to a rigid surface, in spacings; half a spacing is where it rests.
const TO_RIGIDS: Real = 0.3;

/// Space that solids and rigid bodies take at the start.
pub(super) struct Occupied {
    solids: Grid,
    rigids: Vec<RigidNow>,
    spacing: Real,
}

impl Occupied {
    /// By the solids and rigid bodies of this set-up; nothing is looked at if it has no liquids.
    pub fn by(setup: &Setup) -> Self {
        let (mut points, mut rigids) = (Vec::new(), Vec::new());
        if setup.bodies.iter().any(|body| body.method.is_none()) {
            for body in setup.bodies.iter().filter(|body| body.method.is_some()) {
                let rest = body.shape.sample(setup.spacing, body.sampling);
                points.extend(rest.into_iter().map(|p| body.start_position(p)));
            }
            rigids.extend(setup.rigids.iter().map(|rigid| rigid.at(0.0)));
        }
        let mut solids = Grid::default();
        solids.build(&points, setup.spacing);
        Occupied { solids, rigids, spacing: setup.spacing }
    }

    /// Is there room for a particle of a liquid?
    pub fn has_room(&self, x: Vec3) -> bool {
        let mut free = true;
        self.solids.for_each_within(x, TO_SOLIDS * self.spacing, |_, _| free = false);
        free && self.rigids.iter().all(|rigid| rigid.surface(x).distance > TO_RIGIDS * self.spacing)
    }
}
