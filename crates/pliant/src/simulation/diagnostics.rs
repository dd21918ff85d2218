//! What is reported of a state: sums per body, fields per particle.

use super::Simulation;
use crate::elasticity::PointState;
use crate::math::{Real, Vec3, sum};
use rayon::prelude::*;

/// Sums over a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyDiagnostics {
    /// [J]
    pub kinetic_energy: Real,
    /// Zero-energy control included [J].
    pub elastic_energy: Real,
    /// Of gravity, zero at the world origin [J].
    pub potential_energy: Real,
    /// [kg m/s]
    pub momentum: Vec3,
    /// About the world origin [kg m2/s].
    pub angular_momentum: Vec3,
    /// Centre of mass [m].
    pub center: Vec3,
    /// Σ V det F [m3].
    pub volume: Real,
    pub min_det_f: Real,
    pub particles: usize,
}

/// What frames and sums need of a particle: compact, as there is one for each.
#[derive(Clone, Copy, Debug)]
pub struct PointFields {
    /// [J]
    pub energy: Real,
    /// J = det F.
    pub volume_ratio: f32,
    /// [Pa]
    pub von_mises: f32,
    /// Of the pressure among all matter [Pa].
    pub pressure: f32,
}

impl PointFields {
    fn of(state: &PointState) -> Self {
        PointFields {
            energy: state.energy,
            volume_ratio: state.deformation_gradient.determinant() as f32,
            von_mises: state.von_mises() as f32,
            pressure: 0.0,
        }
    }
}

impl Simulation {
    /// Fields of every particle, in the order of the store; those of rows that wait are at rest.
    pub fn fields(&self) -> Vec<PointFields> {
        let mut fields = Vec::with_capacity(self.particles.len());
        for body in &self.bodies {
            let x = &self.particles.positions[body.range.clone()];
            let state = |i: usize| match &body.solid {
                Some(solid) if !solid.is_molten() => solid.elastic.point_state(i, x),
                _ => PointState::AT_REST,
            };
            let of = |i: usize| PointFields::of(&state(i));
            fields.par_extend((0..body.range.len()).into_par_iter().with_min_len(128).map(of));
            if let Some(flow) = &self.flow {
                let fields = &mut fields[body.range.clone()];
                fields.par_iter_mut().with_min_len(1024).zip(body.range.clone()).for_each(|(field, i)| {
                    field.pressure = flow.pressure(i);
                    if body.solid.is_none() {
                        field.volume_ratio = flow.volume_ratio(i);
                    }
                });
            }
            fields.resize(body.room.end, PointFields::of(&PointState::AT_REST));
        }
        fields
    }

    /// Sums over body `k`, given the fields of the present state.
    pub fn diagnostics(&self, k: usize, fields: &[PointFields]) -> BodyDiagnostics {
        let range = self.bodies[k].range.clone();
        let x = &self.particles.positions[range.clone()];
        let v = &self.particles.velocities[range.clone()];
        let m = &self.particles.masses[range.clone()];
        let fields = &fields[range];
        let n = x.len();
        let scalar = |term: &(dyn Fn(usize) -> Real + Sync)| sum(n, 0.0, term);
        let vector = |term: &(dyn Fn(usize) -> Vec3 + Sync)| sum(n, Vec3::ZERO, term);
        let mass = scalar(&|i| m[i]);
        let center = vector(&|i| x[i] * m[i]) / mass;
        let volume = self.setup.spacing.powi(3);
        let det = |i: usize| fields[i].volume_ratio as Real;
        BodyDiagnostics {
            kinetic_energy: scalar(&|i| 0.5 * m[i] * v[i].length_squared()),
            elastic_energy: scalar(&|i| fields[i].energy),
            potential_energy: -mass * self.setup.gravity.dot(center),
            momentum: vector(&|i| v[i] * m[i]),
            angular_momentum: vector(&|i| x[i].cross(v[i]) * m[i]),
            center,
            volume: scalar(&|i| volume * det(i)),
            min_det_f: (0..n).map(det).fold(Real::INFINITY, Real::min),
            particles: n,
        }
    }

    /// Force [N] and torque about its centre [N m] that pressure gave each rigid body in the last step; none without
    /// pressure.
    pub fn pressure_on_rigids(&self) -> Vec<[Vec3; 2]> {
        self.flow.as_ref().map_or_else(Vec::new, |flow| flow.forces_on_rigids())
    }

    /// Elastic force on the particles of body `k` as of the last step [N]; at pins, minus what they hold. None for
    /// liquids.
    pub fn elastic_forces(&self, k: usize) -> &[glam::Vec3] {
        self.bodies[k].solid.as_ref().map_or(&[], |solid| &solid.elastic.forces)
    }
}
