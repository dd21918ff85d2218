//! Surfaces as frames: made while a run goes on, or afterwards from the frames it stored.

use crate::math::Vec3;
use crate::output::{
    Faces, Field, Frame, FrameBody, IndexEntry, OutputError, SurfaceFrame, Values, add_surfaces,
};
use crate::scene::OutputSettings;
use crate::simulation::Simulation;
use crate::surface::{Matter, Surface, SurfaceWish, Surfacer};
use std::path::Path;

/// A surface as it is stored.
fn stored(surface: Surface, simulation: &Simulation, index: u32, time: f64) -> SurfaceFrame {
    let Surface { bodies, mesh } = surface;
    let bodies: Vec<String> = bodies.into_iter().map(|k| simulation.bodies()[k].name.clone()).collect();
    let whole = || vec![FrameBody { name: bodies[0].clone(), count: mesh.positions.len() }];
    let part = |(name, count): &(String, usize)| FrameBody { name: name.clone(), count: *count };
    let field = |name: &str, values| Field { name: name.into(), values };
    let frame = Frame {
        index,
        time,
        spacing: None,
        bodies: if mesh.groups.is_empty() { whole() } else { mesh.groups.iter().map(part).collect() },
        fields: vec![
            field("normal", Values::Vectors(mesh.normals)),
            field("velocity", Values::Vectors(mesh.velocities)),
            field("liquid", Values::Scalars(vec![mesh.liquid; mesh.positions.len()])),
        ],
        positions: mesh.positions,
        faces: Some(Faces { triangles: mesh.triangles, texture: mesh.texture }),
    };
    SurfaceFrame { bodies, frame }
}

/// The surfaces of the present state, as they are stored.
pub(super) fn present(surfacer: &Surfacer, simulation: &Simulation, index: u32) -> Vec<SurfaceFrame> {
    let time = simulation.time();
    surfacer.present(simulation).into_iter().map(|surface| stored(surface, simulation, index, time)).collect()
}

/// Makes surfaces from the stored frames of a run in `dir` and lists them in its index. `simulation` is the scene's at
/// its start, `wishes` has an entry for each of its bodies.
pub fn surface_run(
    dir: &Path,
    simulation: &Simulation,
    wishes: &[Option<SurfaceWish>],
    settings: &OutputSettings,
    progress: &mut dyn FnMut(&IndexEntry),
) -> Result<(), OutputError> {
    let surfacer = Surfacer::new(simulation, wishes);
    add_surfaces(dir, settings, |entry| {
        progress(entry);
        let Some(frame) = entry.read(dir) else { return Ok(Vec::new()) };
        let frame = frame?;
        let columns = Columns::of(&frame, simulation).map_err(|reason| OutputError::Damaged {
            path: dir.join("frames").join(entry.file().unwrap_or_default()),
            what: "frame of this scene",
            reason,
            remedy: "run the scene again",
        })?;
        let surfaces = surfacer.surfaces(simulation, &columns.matter());
        let (index, time) = (frame.index, frame.time);
        Ok(surfaces.into_iter().map(|surface| stored(surface, simulation, index, time)).collect())
    })
}

/// The particles of a frame, in double precision.
struct Columns {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    counts: Vec<usize>,
}

impl Columns {
    /// Or why the frame is none of this simulation: solids keep their particles, liquids may gain and lose some.
    fn of(frame: &Frame, simulation: &Simulation) -> Result<Columns, String> {
        let bodies = simulation.bodies();
        let counts: Vec<usize> = frame.bodies.iter().map(|body| body.count).collect();
        if counts.len() != bodies.len() {
            return Err(format!("it has {} bodies, the scene has {}", counts.len(), bodies.len()));
        }
        for (body, count) in bodies.iter().zip(&counts) {
            if body.solid.is_some() && body.range.len() != *count {
                let found = body.range.len();
                return Err(format!("body \"{}\" has {count} particles in it, and {found} here", body.name));
            }
        }
        let vector = |v: &[f32; 3]| Vec3::from_array(v.map(f64::from));
        let positions: Vec<Vec3> = frame.positions.iter().map(vector).collect();
        if let Some(at) = positions.iter().position(|x| !x.is_finite()) {
            return Err(format!("particle {at} is nowhere"));
        }
        let velocities = match frame.field("velocity") {
            Some(Values::Vectors(values)) => values.iter().map(vector).collect(),
            _ => vec![Vec3::ZERO; positions.len()],
        };
        Ok(Columns { positions, velocities, counts })
    }

    fn matter(&self) -> Vec<Matter<'_>> {
        let ranges = self.counts.iter().scan(0, |start, count| {
            let range = *start..*start + count;
            *start = range.end;
            Some(range)
        });
        let matter = |range: std::ops::Range<usize>| Matter {
            positions: &self.positions[range.clone()],
            velocities: &self.velocities[range],
        };
        ranges.map(matter).collect()
    }
}
