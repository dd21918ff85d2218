//! Checks the scene as written and turns it into the scene that runs. Nothing is checked twice.

mod bodies;
mod fields;
mod joints;
mod liquids;
mod look;
mod materials;
mod numbers;
mod placement;
mod probes;
mod rigids;
mod shapes;
mod surfaces;

pub(super) use bodies::Sketch;
pub(super) use numbers::show;

use super::error::SceneError;
use super::estimate::{self, Resolution};
use super::file::{
    FormatWord, KernelWord, OutputFile, PressureWord, RegionBoxFile, RegionFile, RegionTable, SceneFile,
    SimulationFile, TimeStepFile,
};
use super::load::Provenance;
use super::read::{At, Read};
use super::suggest::quoted;
use super::tree::Source;
use super::{Format, OutputSettings, Scene};
use crate::forces::drag::Air;
use crate::geometry::Region;
use crate::kernel::KernelKind;
use crate::math::Real;
use crate::pressure::{Settings, Tait};
use crate::simulation::{BodySetup, Contact, Pressure, Setup, TimeStep};
use probes::Times;

/// Frames of one run, and its checkpoints.
const MOST_FRAMES: Real = 1e6;
/// Samples of one probe.
const MOST_SAMPLES: Real = 1e8;
/// Shortest time anything can be asked to take [s].
const SHORTEST_TIME: Real = 1e-9;
/// Longest simulated time [s].
const LONGEST_TIME: Real = 1e6;

/// Reads and checks everything; `name` is the scene's own.
pub(super) fn check(name: &str, source: Source) -> Result<Scene, SceneError> {
    let at = At::root(&source);
    let file = SceneFile::read(at)?;
    let title = match &file.title {
        Some(title) => at.key("title").title(title)?,
        None => name.to_owned(),
    };
    let simulation = at.key("simulation");
    let duration = simulation.key("duration").time(file.simulation.duration, LONGEST_TIME)?;
    let output = output(at.key("output"), file.output.as_ref(), duration)?;
    let resolution = resolution(at.key("simulation"), &file.simulation)?;
    let materials = materials::materials(at.key("materials"), file.materials.as_ref())?;
    let sketches = bodies::sketches(at, &file, &materials)?;
    estimate::refuse_too_large(at, resolution, &sketches)?;
    let copies = sketches.iter().map(Sketch::number).collect();
    let (mut bodies, mut colors, mut surfaces) = bodies::expand(&sketches);
    let emitters = file.emitters.as_deref().unwrap_or_default();
    for (body, color, surface) in
        liquids::emitters(at.key("emitters"), emitters, &materials, resolution, duration)?
    {
        surfaces.push(surface);
        colors.push(color.unwrap_or_else(|| look::palette(bodies.len())));
        bodies.push(body);
    }
    let times = Times { every: (1.0 / output.fps).min(LONGEST_TIME), duration };
    let setup = setup(at, &file, resolution, bodies, times)?;
    let look = look::look(at, &file, colors)?;
    let seed = file.simulation.seed.unwrap_or(1);
    let name = name.to_owned();
    let provenance = Provenance::new(source, copies);
    Ok(Scene { name, title, duration, setup, surfaces, output, look, seed, provenance })
}

fn resolution(at: At<'_>, written: &SimulationFile) -> Result<Resolution, SceneError> {
    Ok(Resolution {
        spacing: at.key("spacing").range(written.spacing, 1e-6, 1e3, "m")?,
        support: at.key("support").range(written.support.unwrap_or(2.0), 1.05, 4.0, "")?,
    })
}

fn setup(
    at: At<'_>,
    file: &SceneFile,
    resolution: Resolution,
    bodies: Vec<BodySetup>,
    times: Times,
) -> Result<Setup, SceneError> {
    let simulation = at.key("simulation");
    let written = &file.simulation;
    let contact = written.contact.as_ref();
    let gravity = written.gravity.unwrap_or([0.0, -9.81, 0.0]);
    let fields = file.fields.as_deref().unwrap_or_default();
    let rigids = file.rigids.as_deref().unwrap_or_default();
    let rigids = rigids::rigids(at.key("rigids"), rigids, resolution.spacing)?;
    rigids::refuse_body_names(at.key("rigids"), &rigids, &bodies)?;
    let joints = file.joints.as_deref().unwrap_or_default();
    let probes = file.probes.as_deref().unwrap_or_default();
    Ok(Setup {
        spacing: resolution.spacing,
        support: resolution.support,
        kernel: match written.kernel {
            None | Some(KernelWord::WendlandC2) => KernelKind::WendlandC2,
            Some(KernelWord::CubicSpline) => KernelKind::CubicSpline,
        },
        gravity: simulation.key("gravity").vector(gravity, 1e5, "m/s2")?,
        fields: fields::fields(at.key("fields"), fields)?,
        air: air(simulation, written)?,
        time_step: time_step(simulation, written, times.every)?,
        pressure: pressure(simulation, written, &bodies)?,
        contact: Contact {
            between_bodies: contact.and_then(|contact| contact.between_bodies).unwrap_or(true),
            within_body: contact.and_then(|contact| contact.within_body).unwrap_or(true),
        },
        domain: domain(simulation.key("domain"), written)?,
        drains: liquids::drains(at.key("drains"), file.drains.as_deref().unwrap_or_default())?,
        joints: joints::joints(at.key("joints"), joints, &rigids)?,
        rigids,
        probes: probes::probes(at.key("probes"), probes, &bodies, times)?,
        bodies,
    })
}

fn domain(at: At<'_>, written: &SimulationFile) -> Result<Option<Region>, SceneError> {
    let region =
        |domain: &RegionBoxFile| placement::region(at, &RegionFile::Part(RegionTable::Box(domain.clone())));
    written.domain.as_ref().map(region).transpose()
}

fn air(at: At<'_>, written: &SimulationFile) -> Result<Air, SceneError> {
    let (at, air) = (at.key("air"), written.air.as_ref());
    let (default, velocity) = (Air::default(), air.and_then(|air| air.velocity).unwrap_or_default());
    let density = air.and_then(|air| air.density).unwrap_or(default.density);
    Ok(Air {
        density: at.key("density").range(density, 0.0, 1e3, "kg/m3")?,
        velocity: at.key("velocity").vector(velocity, 1e3, "m/s")?,
    })
}

/// Liquids need a pressure; solids alone may do without.
fn pressure(at: At<'_>, written: &SimulationFile, bodies: &[BodySetup]) -> Result<Pressure, SceneError> {
    let liquid = bodies.iter().find(|body| body.method.is_none() || body.material.melts());
    match (written.pressure, liquid) {
        (Some(PressureWord::None), Some(liquid)) => {
            let message = format!("there is no pressure, but body {} is a liquid", quoted(&liquid.name));
            Err(at.key("pressure").error(message, "use pressure = \"iisph\""))
        }
        (None | Some(PressureWord::None), None) => match written.density_error {
            None => Ok(Pressure::None),
            Some(_) => {
                let message = "\"density_error\" means nothing without a pressure";
                Err(at.key("density_error").key_error(message, "leave it out, or use pressure = \"iisph\""))
            }
        },
        (Some(PressureWord::Wcsph), _) => {
            let sound_speed =
                at.key("sound_speed").range(written.sound_speed.unwrap_or(50.0), 1e-3, 1e4, "m/s")?;
            Ok(Pressure::Weak(Tait { sound_speed }))
        }
        (Some(PressureWord::Iisph), _) | (None, Some(_)) => {
            let default = Settings::default();
            let density_error = written.density_error.unwrap_or(default.density_error);
            let density_error = at.key("density_error").range(density_error, 1e-6, 0.1, "")?;
            Ok(Pressure::Implicit(Settings { density_error, ..default }))
        }
    }
}

fn time_step(at: At<'_>, written: &SimulationFile, default_max: Real) -> Result<TimeStep, SceneError> {
    let at = at.key("time_step");
    let most = 1e3;
    match &written.time_step {
        None => Ok(TimeStep::Adaptive { max: default_max.min(most), cfl: 0.4 }),
        Some(TimeStepFile::Fixed(step)) => Ok(TimeStep::Fixed(at.range(*step, SHORTEST_TIME, most, "s")?)),
        Some(TimeStepFile::Adaptive(limits)) => {
            let max = match limits.max {
                Some(max) => at.key("max").range(max, SHORTEST_TIME, most, "s")?,
                None => default_max.min(most),
            };
            let cfl = at.key("cfl").positive(limits.cfl.unwrap_or(0.4), 1.0, "")?;
            Ok(TimeStep::Adaptive { max, cfl })
        }
    }
}

fn output(at: At<'_>, written: Option<&OutputFile>, duration: Real) -> Result<OutputSettings, SceneError> {
    let fps = at.key("fps").positive(written.and_then(|output| output.fps).unwrap_or(50.0), 1e6, "1/s")?;
    let frames = fps * duration;
    if frames > MOST_FRAMES {
        let message = format!(
            "{frames:.1e} frames would be written: fps times duration is more than {MOST_FRAMES:.0e}"
        );
        let help = format!("use fps = {:.3e} or less, or a shorter duration", MOST_FRAMES / duration);
        return Err(at.key("fps").error(message, help));
    }
    let every = written.and_then(|output| output.checkpoint_every).unwrap_or(1.0);
    let checkpoint_every = at.key("checkpoint_every").time(every, LONGEST_TIME)?;
    if duration / checkpoint_every > MOST_FRAMES {
        let message = format!("{:.1e} checkpoints would be written", duration / checkpoint_every);
        return Err(at
            .key("checkpoint_every")
            .error(message, "use a longer time between checkpoints, such as 1.0"));
    }
    let words = written.and_then(|output| output.formats.as_deref()).unwrap_or(&[FormatWord::Vtk]);
    let mut formats = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let format = match word {
            FormatWord::Vtk => Format::Vtk,
            FormatWord::Ply => Format::Ply,
            FormatWord::Obj => Format::Obj,
            FormatWord::Bgeo => Format::Bgeo,
            FormatWord::Usd => Format::Usd,
            FormatWord::Csv => Format::Csv,
            FormatWord::Npz => Format::Npz,
        };
        if formats.contains(&format) {
            let place = at.key("formats").index(index);
            return Err(place.error("this format is listed twice", "name each format once"));
        }
        formats.push(format);
    }
    let compress = written.and_then(|output| output.compress).unwrap_or(false);
    Ok(OutputSettings { fps, formats, compress, checkpoint_every })
}
