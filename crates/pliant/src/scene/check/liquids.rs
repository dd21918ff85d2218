//! Emitters and drains.

use std::collections::BTreeMap;

use super::super::error::SceneError;
use super::super::file::{DrainFile, EmitterFile, MouthFile};
use super::super::overrides::default_name;
use super::super::read::At;
use super::super::suggest::quoted;
use super::bodies::undefined_material;
use super::look;
use super::materials::Stuff;
use super::numbers::{FARTHEST, FASTEST, show};
use super::placement::region;
use super::{LONGEST_TIME, Resolution, surfaces};
use crate::geometry::{Pose, Region, Sampling, Shape};
use crate::math::{Quat, Real, Vec3};
use crate::simulation::{BodySetup, Emitter, Mouth};
use crate::surface::SurfaceWish;

/// Particles one emitter may emit.
const MOST_EMITTED: Real = 20e6;

/// A body that an emitter fills, with its colour if given, and its surface.
type Filled = (BodySetup, Option<[f32; 3]>, Option<SurfaceWish>);

/// The bodies that emitters fill. `at` is the list.
pub(super) fn emitters(
    at: At<'_>,
    written: &[EmitterFile],
    materials: &BTreeMap<String, Stuff>,
    resolution: Resolution,
    duration: Real,
) -> Result<Vec<Filled>, SceneError> {
    let emitter = |(index, written): (usize, &EmitterFile)| {
        emitter(at.index(index), index, written, materials, (resolution.spacing, duration))
    };
    written.iter().enumerate().map(emitter).collect()
}

fn emitter(
    at: At<'_>,
    index: usize,
    written: &EmitterFile,
    materials: &BTreeMap<String, Stuff>,
    (spacing, duration): (Real, Real),
) -> Result<Filled, SceneError> {
    let name = written.name.clone().unwrap_or_else(|| default_name("emitters", index));
    at.key("name").name(&name)?;
    let Some((material, method)) = materials.get(&written.material) else {
        return Err(undefined_material(at, &name, &written.material, materials));
    };
    if method.is_some() {
        let message = format!("emitter {} emits {}, which is a solid", quoted(&name), quoted(&material.name));
        return Err(at.key("material").error(message, "use a material with model = \"fluid\""));
    }
    let position = at.key("position").vector_or_zero(written.position, FARTHEST, "m")?;
    let direction = at.key("direction").direction(written.direction)?;
    let mouth = mouth(at.key("mouth"), &written.mouth)?;
    let start = at.key("start").range(written.start.unwrap_or(0.0), 0.0, LONGEST_TIME, "s")?;
    let end = at.key("end").until(written.end)?;
    if let Some(end) = end.filter(|&end| end <= start) {
        let message = format!("the emitter ends at {} s, before it starts", show(end));
        return Err(at.key("end").error(message, "let it end later"));
    }
    let mut emitter = Emitter {
        pose: Pose { position, rotation: Quat::from_rotation_arc(Vec3::X, direction) },
        mouth,
        speed: at.key("speed").positive(written.speed, FASTEST, "m/s")?,
        start,
        end: end.unwrap_or(Real::INFINITY),
        capacity: 0,
    };
    let layers = ((emitter.end.min(duration) - start).max(0.0) * emitter.speed / spacing).ceil() + 1.0;
    let wanted = match written.max_particles {
        Some(most) => most as Real,
        None => layers * emitter.particles_per_layer(spacing),
    };
    if wanted > MOST_EMITTED {
        let message = format!("emitter {} would emit {wanted:.1e} particles", quoted(&name));
        let help = "use a smaller mouth, a lower speed, an earlier end or a larger spacing";
        return Err(at.key("mouth").error(message, help));
    }
    emitter.capacity = wanted as usize;
    let color = written.color.as_ref().map(|color| look::color(at.key("color"), color)).transpose()?;
    let body = BodySetup {
        name,
        material: material.clone(),
        method: None,
        shape: Shape::Box { size: Vec3::splat(spacing) },
        emitter: Some(emitter),
        sampling: Sampling::Lattice,
        pose: Pose::IDENTITY,
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::ZERO,
        initial_stretch: Vec3::ONE,
        pins: Vec::new(),
        loads: Vec::new(),
    };
    let surface = surfaces::wish(at, written.surface, written.surface_cell, &body, spacing)?;
    Ok((body, color, surface))
}

fn mouth(at: At<'_>, written: &MouthFile) -> Result<Mouth, SceneError> {
    Ok(match written {
        MouthFile::Circle(circle) => Mouth::Circle { radius: at.key("radius").length(circle.radius)? },
        MouthFile::Box(slot) => {
            let at = at.key("size");
            Mouth::Box { size: [at.index(0).length(slot.size[0])?, at.index(1).length(slot.size[1])?] }
        }
    })
}

pub(super) fn drains(at: At<'_>, written: &[DrainFile]) -> Result<Vec<Region>, SceneError> {
    let drain = |(index, drain): (usize, &DrainFile)| region(at.index(index).key("region"), &drain.region);
    written.iter().enumerate().map(drain).collect()
}
