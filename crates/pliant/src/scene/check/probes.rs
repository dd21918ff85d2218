//! Probes: time series of particles.

use std::collections::HashMap;

use super::super::error::SceneError;
use super::super::file::{ProbeFile, RecordWord};
use super::super::overrides::default_name;
use super::super::read::At;
use super::super::suggest::{did_you_mean, quoted};
use super::numbers::FARTHEST;
use super::placement::region;
use super::{LONGEST_TIME, MOST_SAMPLES};
use crate::math::Real;
use crate::simulation::{BodySetup, ProbeSetup, ProbeTarget, Recorded};

/// Sampling interval where none is given, and how long is sampled [s].
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub every: Real,
    pub duration: Real,
}

/// `at` is the list.
pub(super) fn probes(
    at: At<'_>,
    written: &[ProbeFile],
    bodies: &[BodySetup],
    times: Times,
) -> Result<Vec<ProbeSetup>, SceneError> {
    if written.is_empty() {
        return Ok(Vec::new());
    }
    let by_name: HashMap<&str, usize> =
        bodies.iter().enumerate().map(|(index, body)| (body.name.as_str(), index)).collect();
    let mut seen = HashMap::new();
    let mut probes: Vec<ProbeSetup> = Vec::new();
    for (index, written) in written.iter().enumerate() {
        let place = at.index(index);
        let Some(&body) = by_name.get(written.body.as_str()) else {
            return Err(unknown_body(place, &written.body, bodies));
        };
        let probe = probe(place, index, written, times)?;
        if let Some(first) = seen.insert(probe.name.clone(), index) {
            let line = at.index(first).error("", "").line;
            let message = format!("two probes are named {}", quoted(&probe.name));
            let help = format!("rename one of them; the first is in line {line}");
            return Err(place.key("name").error(message, help));
        }
        probes.push(ProbeSetup { body, ..probe });
    }
    Ok(probes)
}

fn unknown_body(at: At<'_>, name: &str, bodies: &[BodySetup]) -> SceneError {
    let names = || bodies.iter().take(1000).map(|body| body.name.as_str());
    let near = did_you_mean(name, names());
    let message = format!("there is no body {}{near}", quoted(name));
    let help = format!("the bodies are: {}", names().take(20).collect::<Vec<_>>().join(", "));
    at.key("body").error(message, help)
}

/// A probe whose body is still to be set.
fn probe(at: At<'_>, index: usize, written: &ProbeFile, times: Times) -> Result<ProbeSetup, SceneError> {
    let name = written.name.clone().unwrap_or_else(|| default_name("probes", index));
    at.key("name").name(&name)?;
    let target = match (&written.at, &written.region) {
        (Some(point), None) => ProbeTarget::Nearest(at.key("at").vector(*point, FARTHEST, "m")?),
        (None, Some(written)) => ProbeTarget::Mean(region(at.key("region"), written)?),
        (Some(_), Some(_)) => {
            let message = format!("probe {} has both at and region", quoted(&name));
            return Err(at.key("region").error(message, "give at for one particle, or region for the mean"));
        }
        (None, None) => {
            let message = format!("probe {} has neither at nor region", quoted(&name));
            return Err(at.error(message, "give at = [x, y, z] for one particle, or region for the mean"));
        }
    };
    let every = at.key("every").time(written.every.unwrap_or(times.every), LONGEST_TIME)?;
    if times.duration / every > MOST_SAMPLES {
        let message = format!("{:.1e} samples would be recorded", times.duration / every);
        return Err(at.key("every").error(message, "use a longer time between samples, such as 0.001"));
    }
    Ok(ProbeSetup {
        name,
        body: 0,
        target,
        record: record(at.key("record"), written.record.as_deref())?,
        every,
    })
}

fn record(at: At<'_>, written: Option<&[RecordWord]>) -> Result<Vec<Recorded>, SceneError> {
    let mut record = Vec::new();
    for (index, word) in written.unwrap_or(&[RecordWord::Position]).iter().enumerate() {
        let recorded = match word {
            RecordWord::Position => Recorded::Position,
            RecordWord::Velocity => Recorded::Velocity,
            RecordWord::DeformationGradient => Recorded::DeformationGradient,
            RecordWord::Stress => Recorded::Stress,
        };
        if record.contains(&recorded) {
            return Err(at.index(index).error("this is recorded twice", "name each quantity once"));
        }
        record.push(recorded);
    }
    if record.is_empty() {
        let help = "record at least one of: position, velocity, deformation_gradient, stress";
        return Err(at.error("this probe records nothing", help));
    }
    Ok(record)
}
