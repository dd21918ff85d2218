//! Explicit solids under a common step that is longer than theirs: they take steps of their own inside it.

use super::{Body, Simulation};
use crate::math::{Real, Vec3};
use rayon::prelude::*;

/// A solid's own steps inside the common one.
#[derive(Debug, Default)]
pub(super) struct SubSteps {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// Velocity at the end of the common step less the mean velocity over it; empty if the last step was one step.
    pub lead: Vec<Vec3>,
}

impl Simulation {
    /// Own steps that explicit body k needs in a step of this length.
    fn sub_steps_of(&self, k: usize, dt: Real) -> usize {
        let body = &self.bodies[k];
        let stable =
            |solid: &super::Solid| Some(solid.stable?.time_step(solid.stiffening_now(&body.material)));
        match body.solid.as_ref().and_then(stable) {
            Some(longest) if self.flow.is_some() => (dt / longest).ceil().max(1.0) as usize,
            _ => 1,
        }
    }

    /// Solids that need it take their own steps. Before, `next_velocities` hold all pushes over the step but theirs of
    /// elasticity; after, their mean velocities over it.
    pub(super) fn take_sub_steps(&mut self, dt: Real) {
        for k in 0..self.bodies.len() {
            let steps = self.sub_steps_of(k, dt);
            let (particles, time, setup) = (&self.particles, self.time, &self.setup.bodies[k]);
            let Body { range, solid: Some(solid), .. } = &mut self.bodies[k] else { continue };
            solid.sub_steps.lead.clear();
            if steps == 1 || solid.implicit.is_some() {
                continue;
            }
            let (x0, v0) = (&particles.positions[range.clone()], &particles.velocities[range.clone()]);
            let (masses, pins) = (&particles.masses[range.clone()], &particles.pins[range.clone()]);
            let next = &mut self.next_velocities[range.clone()];
            let mut own = std::mem::take(&mut solid.sub_steps);
            own.positions.clear();
            own.positions.extend_from_slice(x0);
            own.velocities.clear();
            own.velocities.extend_from_slice(v0);
            let short = dt / steps as Real;
            for step in 0..steps {
                if step > 0 {
                    let deformation = solid.elastic.compute_forces(&own.positions, &own.velocities);
                    solid.note_deformation(deformation);
                }
                let forces = &solid.elastic.forces;
                own.positions
                    .par_iter_mut()
                    .zip(&mut own.velocities)
                    .with_min_len(1024)
                    .enumerate()
                    .for_each(|(i, (x, v))| {
                        if setup.is_held(pins[i], time) {
                            *v = next[i];
                        } else {
                            let push = (next[i] - v0[i]) / dt;
                            *v += (forces[i].as_dvec3() / masses[i] + push) * short;
                        }
                        *x += *v * short;
                    });
            }
            own.lead.resize(range.len(), Vec3::ZERO);
            for i in 0..range.len() {
                next[i] = (own.positions[i] - x0[i]) / dt;
                own.lead[i] = own.velocities[i] - next[i];
            }
            solid.sub_steps = own;
        }
    }

    /// Does explicit body k take its own steps inside one of this length?
    pub(super) fn needs_sub_steps(&self, k: usize, dt: Real) -> bool {
        self.sub_steps_of(k, dt) > 1
    }
}
