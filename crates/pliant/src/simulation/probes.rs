//! Time series of single particles or regions.

use super::{ProbeTarget, Recorded, Simulation};
use crate::elasticity::PointState;
use crate::math::{Mat3, Real, Vec3};

impl ProbeTarget {
    /// The particles meant, among these rest positions.
    pub(super) fn particles(&self, rest: &[Vec3]) -> Vec<usize> {
        match self {
            ProbeTarget::Nearest(point) => {
                let nearest = (0..rest.len()).min_by(|&a, &b| {
                    rest[a].distance_squared(*point).total_cmp(&rest[b].distance_squared(*point))
                });
                nearest.into_iter().collect()
            }
            ProbeTarget::Mean(region) => (0..rest.len()).filter(|&i| region.contains(rest[i])).collect(),
        }
    }
}

impl Simulation {
    /// Column names of a probe, without its own name: `position.x` ...
    pub fn probe_columns(&self, probe: usize) -> Vec<String> {
        let axes = ["x", "y", "z"];
        let vector = |name: &str| axes.map(|a| format!("{name}.{a}")).to_vec();
        let tensor = |name: &str| axes.iter().flat_map(|r| axes.map(|c| format!("{name}.{r}{c}"))).collect();
        let columns = |what: &Recorded| -> Vec<String> {
            match what {
                Recorded::Position => vector("position"),
                Recorded::Velocity => vector("velocity"),
                Recorded::DeformationGradient => tensor("deformation_gradient"),
                Recorded::Stress => tensor("stress"),
            }
        };
        self.setup.probes[probe].record.iter().flat_map(columns).collect()
    }

    /// The probe's values now, in the order of its columns.
    pub fn sample_probe(&self, probe: usize) -> Vec<Real> {
        let p = &self.setup.probes[probe];
        let body = &self.bodies[p.body];
        let range = body.range.clone();
        let x = &self.particles.positions[range.clone()];
        let v = &self.particles.velocities[range.clone()];
        let particles = p.target.particles(&self.particles.rest_positions[range]);
        let weight = 1.0 / particles.len() as Real;
        let mean = |f: &dyn Fn(usize) -> Vec3| {
            particles.iter().map(|&i| f(i) * weight).sum::<Vec3>().to_array().to_vec()
        };
        let mean_tensor = |f: &dyn Fn(usize) -> Mat3| {
            let m = particles.iter().fold(Mat3::ZERO, |m, &i| m + f(i) * weight);
            m.transpose().to_cols_array().to_vec() // row by row
        };
        let state =
            |i: usize| body.solid.as_ref().map_or(PointState::AT_REST, |s| s.elastic.point_state(i, x));
        let values = |what: &Recorded| match what {
            Recorded::Position => mean(&|i| x[i]),
            Recorded::Velocity => mean(&|i| v[i]),
            Recorded::DeformationGradient => mean_tensor(&|i| state(i).deformation_gradient),
            Recorded::Stress => mean_tensor(&|i| state(i).cauchy_stress()),
        };
        p.record.iter().flat_map(values).collect()
    }
}
