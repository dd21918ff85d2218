//! Blocks, particle files and emitters: what the scene is filled with.

use std::rc::Rc;

use super::block::{Block, Notes};
use super::configuration::Configuration;
use super::geometry::{Files, Place};
use super::materials::Materials;
use super::text::{Text, name, number, vector};
use crate::geometry::mesh::MeshFormat;
use crate::math::{Quat, Real, Vec3};
use crate::scene::error::SceneError;

/// Times from here on are never [s].
const NEVER: Real = 1e9;
/// The id of all that names none.
pub(super) const DEFAULT_ID: &str = "Fluid";

/// All bodies and emitters.
pub(super) struct Matter<'a> {
    bodies: Vec<Body>,
    emitters: Vec<Emitter>,
    notes: &'a Notes,
}

struct Body {
    name: String,
    path: String,
    id: String,
    /// TOML of its shape.
    shape: String,
    place: Place,
    velocity: Vec3,
    angular_velocity: Vec3,
    points: Points,
}

/// Where the particles of a body are, in body coordinates.
enum Points {
    /// A cubic lattice from the first to the last, so far apart.
    Lattice {
        first: Vec3,
        last: Vec3,
        spacing: Real,
    },
    File(Rc<Vec<Vec3>>, Vec3),
    Unknown,
}

struct Emitter {
    name: String,
    path: String,
    id: String,
    mouth: String,
    position: Vec3,
    direction: Vec3,
    speed: Real,
    start: Real,
    end: Option<Real>,
}

pub(super) fn read<'a>(
    root: &Block<'a>,
    configuration: &Configuration,
    files: &Files,
) -> Result<Matter<'a>, SceneError> {
    let mut matter = Matter { bodies: Vec::new(), emitters: Vec::new(), notes: root.notes };
    for (k, written) in root.list("FluidBlocks")?.iter().enumerate() {
        matter.bodies.extend(block(written, k, configuration.spacing())?);
    }
    for (k, written) in root.list("FluidModels")?.iter().enumerate() {
        matter.bodies.extend(model(written, k, files)?);
    }
    for (k, written) in root.list("Emitters")?.iter().enumerate() {
        matter.emitters.extend(emitter(written, k, configuration.spacing())?);
    }
    Ok(matter)
}

fn id(block: &Block) -> Result<String, SceneError> {
    Ok(block.text("id")?.unwrap_or(DEFAULT_ID).to_owned())
}

/// A block from `start` to `end` leaves half a spacing free on each side: N spacings hold N - 1 particles.
fn block(written: &Block, k: usize, spacing: Real) -> Result<Option<Body>, SceneError> {
    let id = id(written)?;
    let translation = written.vector("translation")?.unwrap_or(Vec3::ZERO);
    let scale = written.scale("scale")?;
    let corners = (written.vector("start")?, written.vector("end")?);
    let velocity = written.vector("initialVelocity")?.unwrap_or(Vec3::ZERO);
    let angular_velocity = written.vector("initialAngularVelocity")?.unwrap_or(Vec3::ZERO);
    written.leave(&["visMesh"], "meshes that follow particles are not taken over");
    if written.method("denseMode")?.is_some_and(|mode| mode != 0) {
        written.note("denseMode", "the block is filled with a cubic lattice");
    }
    let (Some(start), Some(end)) = corners else {
        written.note("start", "a block without start and end is left out");
        return Ok(None);
    };
    let (start, end) = (start * scale + translation, end * scale + translation);
    let counts = ((end - start) / spacing).round() - 1.0;
    if counts.min_element() < 1.0 || !counts.is_finite() {
        written.note("end", "the block is thinner than two particles and holds none");
        return Ok(None);
    }
    let center = start + (counts + 1.0) * (0.5 * spacing);
    let last = (counts - 1.0) * (0.5 * spacing);
    Ok(Some(Body {
        name: format!("block{}", k + 1),
        path: written.path.clone(),
        id,
        shape: format!("{{ type = \"box\", size = {} }}", vector(counts * spacing)),
        place: Place::at(center),
        velocity,
        angular_velocity,
        points: Points::Lattice { first: -last, last, spacing },
    }))
}

/// Particles of a file, or the inside of a mesh.
fn model(written: &Block, k: usize, files: &Files) -> Result<Option<Body>, SceneError> {
    let id = id(written)?;
    let place = Place::read(written)?;
    let scale = written.scale("scale")?;
    let velocity = written.vector("initialVelocity")?.unwrap_or(Vec3::ZERO);
    let angular_velocity = written.vector("initialAngularVelocity")?.unwrap_or(Vec3::ZERO);
    written.leave(&["visMesh"], "meshes that follow particles are not taken over");
    let sampling = ["denseMode", "mode", "invert", "resolutionSDF"];
    written.leave(&sampling, "a mesh is filled with a cubic lattice");
    let Some(file) = written.text("particleFile")? else {
        written.note("particleFile", "a fluid model without a file is left out");
        return Ok(None);
    };
    // .ply files are read as particles, as there
    let format = MeshFormat::of(std::path::Path::new(file));
    let is_mesh = format.is_some_and(|format| format != MeshFormat::Ply);
    let kind = if is_mesh { "mesh" } else { "particles" };
    let shape =
        format!("{{ type = \"{kind}\", file = {}, scale = {} }}", name(&files.named(file)), vector(scale));
    let points = if is_mesh { Points::Unknown } else { Points::File(files.points(file), scale) };
    Ok(Some(Body {
        name: format!("model{}", k + 1),
        path: written.path.clone(),
        id,
        shape,
        place,
        velocity,
        angular_velocity,
        points,
    }))
}

/// The liquid flows along the x axis of its place; width lies along z, height along y, both counted in particles.
fn emitter(written: &Block, k: usize, spacing: Real) -> Result<Option<Emitter>, SceneError> {
    let id = id(written)?;
    let place = Place::read(written)?;
    let width = written.number("width")?.unwrap_or(5.0) * spacing;
    let height = written.number("height")?.unwrap_or(5.0) * spacing;
    let is_circle = written.method("type")? == Some(1);
    let start = written.number("emitStartTime")?.unwrap_or(0.0);
    let end = written.number("emitEndTime")?.filter(|end| *end < NEVER);
    let older = written.vector("direction")?;
    // older files give the velocity as a vector
    let given = written.take("velocity").map(serde_json::Value::is_array).unwrap_or(false);
    let (speed, direction) = match given {
        true => {
            let v = written.vector("velocity")?.unwrap_or(Vec3::X);
            (v.length(), v.normalize_or(Vec3::X))
        }
        false => {
            (written.number("velocity")?.unwrap_or(1.0), older.unwrap_or(place.pose().rotation * Vec3::X))
        }
    };
    written.leave(&["emitsPerSecond"], "layers follow one another by their speed");
    written.leave(
        &["boundingBoxMin", "boundingBoxMax", "tag", "comment"],
        "remarks of the program that wrote it",
    );
    if speed <= 0.0 || end.is_some_and(|end| end <= start) {
        written.note("velocity", "an emitter from which nothing flows is left out");
        return Ok(None);
    }
    let mouth = match is_circle {
        true => format!("{{ type = \"circle\", radius = {} }}", number(0.5 * width)),
        false => {
            let [along_y, along_z] = slot(written, &place, direction, [height, width]);
            format!("{{ type = \"box\", size = [{}, {}] }}", number(along_y), number(along_z))
        }
    };
    let (name, path) = (format!("emitter{}", k + 1), written.path.clone());
    Ok(Some(Emitter { name, path, id, mouth, position: place.position, direction, speed, start, end }))
}

/// Sides of a slot in the frame of Pliant, which turns x into the direction by the shortest way.
fn slot(written: &Block, place: &Place, direction: Vec3, [height, width]: [Real; 2]) -> [Real; 2] {
    let frame = Quat::from_rotation_arc(Vec3::X, direction.normalize_or(Vec3::X));
    let up = frame.inverse() * (place.pose().rotation * Vec3::Y);
    if up.y.abs().max(up.z.abs()) < 0.99 && height != width {
        written.note("rotationAngle", "the slot is turned about its own direction, which is not taken over");
    }
    if up.y.abs() >= up.z.abs() { [height, width] } else { [width, height] }
}

impl Matter<'_> {
    /// The ids in use, each once.
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        let used =
            self.bodies.iter().map(|body| &body.id).chain(self.emitters.iter().map(|emitter| &emitter.id));
        for id in used {
            if !ids.contains(&id.as_str()) {
                ids.push(id);
            }
        }
        ids
    }

    /// Some points that are filled, in world coordinates.
    pub fn places(&self) -> impl Iterator<Item = Vec3> {
        let middle = |body: &Body| match &body.points {
            Points::File(points, scale) => {
                points.first().map_or(body.place.position, |p| body.place.pose().to_world(*p * *scale))
            }
            _ => body.place.position,
        };
        self.bodies.iter().map(middle).chain(self.emitters.iter().map(|emitter| emitter.position))
    }

    pub fn write(&self, out: &mut Text, materials: &Materials) {
        for body in &self.bodies {
            out.heading("[[bodies]]");
            out.word("name", &body.name);
            out.word("material", materials.name_of(&body.id));
            out.entry("shape", &body.shape);
            body.place.write(out);
            out.vector_if("velocity", body.velocity);
            out.vector_if("angular_velocity", body.angular_velocity);
            for &(min, max) in materials.fixed_boxes(&body.id) {
                self.write_pin(out, body, (min, max));
            }
        }
        for emitter in &self.emitters {
            if materials.is_solid(&emitter.id) {
                self.notes.add(&emitter.path, "an emitter of elastic matter is left out");
                continue;
            }
            out.heading("[[emitters]]");
            out.word("name", &emitter.name);
            out.word("material", materials.name_of(&emitter.id));
            out.entry("mouth", &emitter.mouth);
            out.vector("position", emitter.position);
            out.vector("direction", emitter.direction);
            out.number("speed", emitter.speed);
            out.number("start", emitter.start.max(0.0));
            out.number_if("end", emitter.end);
            if let Some(most) = materials.most_emitted(&emitter.id) {
                let sharing = self.emitters.iter().filter(|other| other.id == emitter.id).count();
                out.entry("max_particles", &(most / sharing.max(1) as u64).to_string());
            }
        }
    }

    /// Holds the particles of a box of the world; nothing where it holds none.
    fn write_pin(&self, out: &mut Text, body: &Body, (min, max): (Vec3, Vec3)) {
        let pose = body.place.pose();
        let corner = |k: usize| {
            let pick = |axis: usize| if k >> axis & 1 == 1 { max[axis] } else { min[axis] };
            pose.to_body(Vec3::new(pick(0), pick(1), pick(2)))
        };
        let corners: Vec<Vec3> = (0..8).map(corner).collect();
        let lo = corners.iter().fold(Vec3::INFINITY, |a, b| a.min(*b));
        let hi = corners.iter().fold(Vec3::NEG_INFINITY, |a, b| a.max(*b));
        if !body.points.any_in(lo, hi) {
            return;
        }
        if body.place.is_turned() {
            self.notes.add(&body.path, "the body is turned: its fixed box is the one around the turned box");
        }
        out.heading("[[bodies.pins]]");
        out.entry("region", &format!("{{ type = \"box\", min = {}, max = {} }}", vector(lo), vector(hi)));
    }
}

impl Points {
    fn any_in(&self, lo: Vec3, hi: Vec3) -> bool {
        match self {
            Points::Unknown => true,
            // a file that cannot be read is refused later
            Points::File(points, scale) => {
                let inside = |p: &Vec3| (*p * *scale).cmpge(lo).all() && (*p * *scale).cmple(hi).all();
                points.is_empty() || points.iter().any(inside)
            }
            Points::Lattice { first, last, spacing } => (0..3).all(|axis| {
                let next = ((lo[axis] - first[axis]) / spacing - 1e-9).ceil().max(0.0);
                first[axis] + next * spacing <= last[axis].min(hi[axis]) + 1e-9 * spacing
            }),
        }
    }
}
