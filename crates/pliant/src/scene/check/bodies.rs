//! Deformable bodies: one sketch for each table, expanded to its copies once their number is known to fit.

use std::collections::{BTreeMap, HashMap};

use super::super::error::SceneError;
use super::super::file::{
    ArrayFile, BodyFile, LoadFile, PinFile, PinMotionFile, RigidFile, RigidMotionFile, RigidMotionWord,
    SceneFile,
};
use super::super::overrides::default_name;
use super::super::read::At;
use super::super::suggest::{did_you_mean, quoted};
use super::look;
use super::materials::Stuff;
use super::numbers::{FARTHEST, FASTEST, show};
use super::placement::{driven, pose, region};
use super::rigids;
use super::shapes::{sampling, shape};
use super::surfaces;
use crate::math::{Real, Vec3};
use crate::rigid::Motion;
use crate::simulation::{BodySetup, Load, Pin, PinMotion};
use crate::surface::SurfaceWish;

/// Bodies of a scene, copies counted.
const MOST_BODIES: Real = 1e5;
/// Pins and loads of a scene, copies counted.
const MOST_PINS: Real = 1e6;

/// A body and the copies to be made of it.
pub(in crate::scene) struct Sketch {
    /// The first copy; its name is still the base name.
    pub body: BodySetup,
    pub copies: Option<Copies>,
    /// Pins driven about the position of each copy.
    centered_pins: Vec<usize>,
    color: Option<[f32; 3]>,
    surface: Option<SurfaceWish>,
}

pub(in crate::scene) struct Copies {
    count: [usize; 3],
    step: Vec3,
}

impl Sketch {
    pub fn number(&self) -> usize {
        self.copies.as_ref().map_or(1, |copies| copies.count.iter().product())
    }

    fn names(&self) -> impl Iterator<Item = String> {
        let base = &self.body.name;
        let single = self.copies.is_none();
        (1..=self.number()).map(move |copy| if single { base.clone() } else { format!("{base}_{copy}") })
    }
}

/// Checks every body; `at` is the whole scene.
pub(super) fn sketches(
    at: At<'_>,
    file: &SceneFile,
    materials: &BTreeMap<String, Stuff>,
) -> Result<Vec<Sketch>, SceneError> {
    let written = file.bodies.as_deref().unwrap_or_default();
    let rigids = file.rigids.as_deref().unwrap_or_default();
    let moves =
        |rigid: &RigidFile| matches!(rigid.motion, Some(RigidMotionFile::Word(RigidMotionWord::Dynamic)));
    let known = Known { materials, rigids: rigids::names(rigids), spacing: file.simulation.spacing };
    let at = at.key("bodies");
    let flows = file.emitters.as_ref().is_some_and(|emitters| !emitters.is_empty());
    if written.is_empty() && !flows && !rigids.iter().any(moves) {
        let help = "add a [[bodies]] table with a material and a shape; `pliant new` writes a starter scene";
        return Err(at.error("the scene has no bodies", help));
    }
    let seed = file.simulation.seed.unwrap_or(1);
    let mut sketches = Vec::new();
    let (mut bodies, mut pins) = (0.0, 0.0);
    for (index, body) in written.iter().enumerate() {
        let at = at.index(index);
        let sketch = sketch(at, index, body, &known, seed)?;
        bodies += sketch.number() as Real;
        pins += (sketch.number() * (sketch.body.pins.len() + sketch.body.loads.len())) as Real;
        if bodies > MOST_BODIES || pins > MOST_PINS {
            let message =
                format!("the scene has more than {MOST_BODIES} bodies or {MOST_PINS} pins and loads");
            return Err(at.key("array").error(message, "make fewer copies"));
        }
        sketches.push(sketch);
    }
    refuse_equal_names(at, &sketches)?;
    Ok(sketches)
}

fn refuse_equal_names(at: At<'_>, sketches: &[Sketch]) -> Result<(), SceneError> {
    let mut seen = HashMap::new();
    for (index, sketch) in sketches.iter().enumerate() {
        for name in sketch.names() {
            if let Some(first) = seen.insert(name.clone(), index) {
                let line = at.index(first).error("", "").line;
                let message = format!("two bodies are named {}", quoted(&name));
                let help = format!("rename one of them; the first is in line {line}");
                return Err(at.index(index).key("name").error(message, help));
            }
        }
    }
    Ok(())
}

/// What bodies name.
struct Known<'a> {
    materials: &'a BTreeMap<String, Stuff>,
    rigids: Vec<String>,
    spacing: Real,
}

fn sketch(
    at: At<'_>,
    index: usize,
    written: &BodyFile,
    known: &Known,
    seed: u64,
) -> Result<Sketch, SceneError> {
    let name = written.name.clone().unwrap_or_else(|| default_name("bodies", index));
    at.key("name").name(&name)?;
    let Some((material, method)) = known.materials.get(&written.material) else {
        return Err(undefined_material(at, &name, &written.material, known.materials));
    };
    let pose = pose(at, written.position, written.rotation.as_ref())?;
    let (pins, centered_pins) =
        pins(at.key("pins"), written.pins.as_deref().unwrap_or_default(), pose.position, &known.rigids)?;
    let shape = shape(at.key("shape"), &written.shape)?;
    let body = BodySetup {
        name,
        material: material.clone(),
        method: *method,
        sampling: sampling(at.key("sampling"), written.sampling, &shape, seed)?,
        shape,
        emitter: None,
        pose,
        velocity: at.key("velocity").vector_or_zero(written.velocity, FASTEST, "m/s")?,
        angular_velocity: at.key("angular_velocity").vector_or_zero(
            written.angular_velocity,
            FASTEST,
            "rad/s",
        )?,
        initial_stretch: stretch(at.key("initial_stretch"), written.initial_stretch)?,
        pins,
        loads: loads(at.key("loads"), written.loads.as_deref().unwrap_or_default())?,
    };
    let copies = match &written.array {
        Some(array) => Some(copies(at, array, &body)?),
        None => None,
    };
    let color = match &written.color {
        Some(color) => Some(look::color(at.key("color"), color)?),
        None => None,
    };
    let surface = surfaces::wish(at, written.surface, written.surface_cell, &body, known.spacing)?;
    Ok(Sketch { body, copies, centered_pins, color, surface })
}

/// The pins, and which of them are driven about the body's own position.
fn pins(
    at: At<'_>,
    written: &[PinFile],
    position: Vec3,
    rigids: &[String],
) -> Result<(Vec<Pin>, Vec<usize>), SceneError> {
    let mut pins = Vec::new();
    let mut centered = Vec::new();
    for (index, pin) in written.iter().enumerate() {
        let at = at.index(index);
        let motion = match &pin.motion {
            None | Some(PinMotionFile::Fixed(_)) => PinMotion::Told(Motion::Fixed),
            Some(PinMotionFile::Attached(written)) => {
                let place = at.key("motion").key("attached");
                let names = rigids.iter().map(String::as_str);
                PinMotion::Attached { rigid: rigids::find(place, &written.attached, names)? }
            }
            Some(PinMotionFile::Driven(written)) => {
                let (motion, about_itself) = driven(at.key("motion"), written, position)?;
                if about_itself {
                    centered.push(index);
                }
                PinMotion::Told(motion)
            }
        };
        let region = region(at.key("region"), &pin.region)?;
        pins.push(Pin { region, motion, until: at.key("until").until(pin.until)? });
    }
    Ok((pins, centered))
}

fn loads(at: At<'_>, written: &[LoadFile]) -> Result<Vec<Load>, SceneError> {
    let load = |(index, load): (usize, &LoadFile)| {
        let at = at.index(index);
        Ok(Load {
            region: region(at.key("region"), &load.region)?,
            force: at.key("force").vector(load.force, 1e15, "N")?,
            until: at.key("until").until(load.until)?,
        })
    };
    written.iter().enumerate().map(load).collect()
}

pub(super) fn undefined_material(
    at: At<'_>,
    body: &str,
    material: &str,
    materials: &BTreeMap<String, Stuff>,
) -> SceneError {
    let names = || materials.keys().map(String::as_str);
    let message = format!(
        "body {} uses material {}, which is not defined{}",
        quoted(body),
        quoted(material),
        did_you_mean(material, names())
    );
    let help = if materials.is_empty() {
        "define it under a heading [materials.NAME]".to_owned()
    } else {
        format!("the materials are: {}", names().take(20).collect::<Vec<_>>().join(", "))
    };
    at.key("material").error(message, help)
}

fn stretch(at: At<'_>, written: Option<[Real; 3]>) -> Result<Vec3, SceneError> {
    let parts = written.unwrap_or([1.0; 3]);
    for (index, &x) in parts.iter().enumerate() {
        at.index(index).range(x, 0.01, 100.0, "")?;
    }
    Ok(Vec3::from_array(parts))
}

/// `at` is the body.
fn copies(at: At<'_>, written: &ArrayFile, body: &BodySetup) -> Result<Copies, SceneError> {
    let at = at.key("array");
    let step = at.key("step").vector(written.step, FARTHEST, "m")?;
    let mut number = 1.0;
    for axis in 0..3 {
        let count = written.count[axis];
        let place = at.key("count").index(axis);
        if count == 0 {
            return Err(
                place.error("\"count\" is zero: there would be no copy", "count 1 or more along each axis")
            );
        }
        number *= count as Real;
        if number > MOST_BODIES {
            let message = format!("\"count\" makes more than {MOST_BODIES} copies");
            return Err(place.error(message, "make fewer copies"));
        }
        if count > 1 && step[axis] == 0.0 {
            let place = at.key("step").index(axis);
            return Err(
                place.error("the copies would lie on top of one another", "step further than 0 m here")
            );
        }
        let last = body.pose.position[axis] + step[axis] * (count - 1) as Real;
        if last.abs() > FARTHEST {
            let message = format!("the last copy would stand {} m away", show(last));
            return Err(at.key("step").index(axis).error(message, "make fewer copies, or smaller steps"));
        }
    }
    let last_name = format!("{}_{number}", body.name);
    at.key("name").name(&last_name)?;
    Ok(Copies { count: written.count.map(|count| count as usize), step })
}

/// Makes the copies: x runs fastest, then y, then z.
pub(super) fn expand(sketches: &[Sketch]) -> (Vec<BodySetup>, Vec<[f32; 3]>, Vec<Option<SurfaceWish>>) {
    let mut bodies = Vec::new();
    let mut colors = Vec::new();
    let mut surfaces = Vec::new();
    for sketch in sketches {
        for (index, name) in sketch.names().enumerate() {
            let mut body = BodySetup { name, ..sketch.body.clone() };
            if let Some(Copies { count: [nx, ny, _], step }) = &sketch.copies {
                let cell =
                    Vec3::new((index % nx) as Real, (index / nx % ny) as Real, (index / (nx * ny)) as Real);
                body.pose.position += cell * *step;
            }
            for &pin in &sketch.centered_pins {
                if let PinMotion::Told(Motion::Driven { center, .. }) = &mut body.pins[pin].motion {
                    *center = body.pose.position;
                }
            }
            colors.push(sketch.color.unwrap_or_else(|| look::palette(bodies.len())));
            surfaces.push(sketch.surface);
            bodies.push(body);
        }
    }
    (bodies, colors, surfaces)
}
