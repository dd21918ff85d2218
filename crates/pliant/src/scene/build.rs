//! From a checked scene to a simulation.

use super::{Scene, SceneError};
use crate::simulation::{BuildError, Simulation};

impl Scene {
    /// Samples the bodies and finds their neighbours; what only now turns out wrong is told at its place in the file.
    pub fn build(&self) -> Result<Simulation, SceneError> {
        Simulation::new(self.setup.clone()).map_err(|error| {
            let (key, help) = match &error {
                BuildError::NoParticles { body, .. } => (
                    format!("{}.shape", self.body_key(*body)),
                    "make the shape larger or the spacing smaller",
                ),
                BuildError::EmptyPin { body, pin, .. } => {
                    (format!("{}.pins.{pin}.region", self.body_key(*body)), REGION_HELP)
                }
                BuildError::EmptyLoad { body, load, .. } => {
                    (format!("{}.loads.{load}.region", self.body_key(*body)), REGION_HELP)
                }
                BuildError::EmptyProbe { probe, .. } => (format!("probes.{probe}.region"), REGION_HELP),
            };
            self.error_at(&key, error.to_string(), help)
        })
    }

    /// Hash of all that decides the motion: a checkpoint of one scene does not fit another.
    /// Duration, formats and looks are left out, so that a run may be made longer.
    pub fn physics_hash(&self) -> u64 {
        let text = format!("{:?} {:?}", self.setup, self.output.fps);
        xxhash_rust::xxh3::xxh3_64(text.as_bytes())
    }
}

const REGION_HELP: &str = "regions are in body coordinates, before position and rotation; particles sit half a spacing inside the shape";
