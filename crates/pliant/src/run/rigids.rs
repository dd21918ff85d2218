//! `rigids.csv`: where the dynamic rigid bodies are in every frame.

use crate::geometry::Pose;
use crate::math::{Quat, Real, Vec3};
use crate::output::tables::vector_columns;
use crate::rigid::Rigid;
use crate::scene::Scene;
use crate::simulation::Simulation;
use std::path::Path;

/// Name of the table in the folder of a run.
pub(super) const FILE: &str = "rigids.csv";

/// Columns of the table, if anything is dynamic.
pub(super) fn header(simulation: &Simulation) -> Option<Vec<String>> {
    let rigids = &simulation.setup().rigids;
    let columns = |rigid: &Rigid| {
        let [x, y, z] = vector_columns(&format!("{}.rotation", rigid.name));
        let w = format!("{}.rotation.w", rigid.name);
        vector_columns(&format!("{}.position", rigid.name))
            .into_iter()
            .chain([x, y, z, w])
            .collect::<Vec<_>>()
    };
    let dynamic = rigids.iter().filter(|rigid| rigid.is_dynamic());
    let header = std::iter::once("time".to_string()).chain(dynamic.flat_map(columns));
    simulation.rigids().has_dynamic().then(|| header.collect())
}

/// The row of the present time.
pub(super) fn row(simulation: &Simulation) -> Vec<Real> {
    let mut row = vec![simulation.time()];
    for now in simulation.rigids().now().iter().filter(|now| now.is_dynamic()) {
        row.extend(now.pose.position.to_array());
        row.extend(now.pose.rotation.to_array());
    }
    row
}

/// Poses of all rigid bodies of a scene over time, read back from the folder of a run.
pub(super) struct Poses {
    /// Time and numbers of each row, in the order of the file.
    rows: Vec<Vec<Real>>,
}

impl Poses {
    /// Rows that cannot be read are left out; without any, dynamic bodies stay where they start.
    pub fn read(dir: &Path, scene: &Scene) -> Self {
        let dynamic = scene.setup.rigids.iter().filter(|rigid| rigid.is_dynamic()).count();
        let text = if dynamic == 0 {
            String::new()
        } else {
            std::fs::read_to_string(dir.join(FILE)).unwrap_or_default()
        };
        let numbers =
            |line: &str| line.split(',').map(|word| word.trim().parse().ok()).collect::<Option<Vec<Real>>>();
        let rows = text.lines().filter_map(numbers).filter(|row| row.len() == 1 + 7 * dynamic).collect();
        Poses { rows }
    }

    /// Poses of all rigid bodies at the time of a frame.
    pub fn at(&self, scene: &Scene, time: Real) -> Vec<Pose> {
        let late = |row: &&Vec<Real>| (row[0] - time).abs();
        let row = self.rows.iter().min_by(|a, b| late(a).total_cmp(&late(b)));
        let mut numbers = row.map(|row| &row[1..]).unwrap_or_default().chunks_exact(7);
        let pose = |rigid: &Rigid| match rigid.is_dynamic() {
            true => numbers.next().map_or(rigid.pose, |n| Pose {
                position: Vec3::from_slice(n),
                rotation: Quat::from_slice(&n[3..]),
            }),
            false => rigid.pose_at(time),
        };
        scene.setup.rigids.iter().map(pose).collect()
    }
}
