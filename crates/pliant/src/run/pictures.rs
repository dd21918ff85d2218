//! Preview and movie from stored frames.

use super::rigids::Poses;
use crate::geometry::Pose;
use crate::math::Vec3;
use crate::neighbors::Grid;
use crate::output::{Frame, IndexEntry, OutputError, SurfaceFrame, Values, read_index, write_atomically};
use crate::render::{
    Ball, GifMovie, Legend, Mesh, Mp4Movie, Overlay, Picture, Solid, View, colormap, encode_png, fit_view,
    render,
};
use crate::scene::{ColorBy, ColorField, Scene};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Radius of a drawn particle in spacings: neighbours overlap a little, so that a body looks closed.
const BALL: f32 = 0.56;
/// Frames a movie shows per second at most; more frames are skipped evenly.
const MOVIE_FPS: f64 = 25.0;
/// Frames of a movie at most.
const MOVIE_FRAMES: usize = 400;

/// Values of a field looked at in a frame, about.
const SAMPLED_VALUES: usize = 100_000;

/// Which pictures to make of a run.
#[derive(Clone, Debug)]
pub struct PictureRequest<'a> {
    pub dir: PathBuf,
    pub scene: &'a Scene,
    /// A still of the last frame, if any.
    pub still: Option<PathBuf>,
    pub movie: Option<PathBuf>,
    /// The last state with its surfaces, for runs that store no frames.
    pub last: Option<(Frame, Vec<SurfaceFrame>)>,
}

impl<'a> PictureRequest<'a> {
    /// `preview.png` and `movie.gif` in the folder of the run.
    pub fn for_run(dir: &Path, scene: &'a Scene) -> Self {
        PictureRequest {
            dir: dir.to_path_buf(),
            scene,
            still: Some(dir.join("preview.png")),
            movie: Some(dir.join("movie.gif")),
            last: None,
        }
    }
}

/// Draws what is asked for from the stored frames; returns the files written.
pub fn draw(
    request: &PictureRequest,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<PathBuf>, OutputError> {
    let mut stored = read_index(&request.dir).unwrap_or_default();
    stored.retain(|entry| !entry.files.is_empty());
    let mut written = Vec::new();
    let artist = Artist::new(request, &stored)?;
    if let Some(path) = &request.still {
        let picture = match (stored.last(), &request.last) {
            (Some(last), _) => artist.paint_stored(&request.dir, last)?,
            (None, Some((last, surfaces))) => Some(artist.paint(last, surfaces)),
            (None, None) => None,
        };
        if let Some(picture) = picture {
            write_atomically(path, &encode_png(&picture))?;
            written.push(path.clone());
        }
    }
    if let (Some(path), true) = (&request.movie, stored.len() > 1) {
        let every = (request.scene.output.fps / MOVIE_FPS).round().max(1.0) as usize;
        let every = every.max(stored.len().div_ceil(MOVIE_FRAMES));
        let fps = request.scene.output.fps / every as f64;
        let chosen: Vec<&IndexEntry> = stored.iter().step_by(every).collect();
        let mut movie = Movie::start(path, request.scene.look.size, fps)?;
        for (k, entry) in chosen.iter().enumerate() {
            if let Some(picture) = artist.paint_stored(&request.dir, entry)? {
                movie.push(&picture)?;
            }
            progress(k + 1, chosen.len());
        }
        movie.finish(path)?;
        written.push(path.clone());
    }
    Ok(written)
}

/// A movie under way, by how the name of its file ends.
enum Movie {
    Gif(GifMovie),
    Mp4(Mp4Movie),
}

impl Movie {
    fn start(path: &Path, size: [u32; 2], fps: f64) -> Result<Movie, OutputError> {
        match path.extension().is_some_and(|ending| ending == "mp4") {
            true => Mp4Movie::start(path, size, fps).map(Movie::Mp4),
            false => Ok(Movie::Gif(GifMovie::new(size, fps))),
        }
    }

    fn push(&mut self, picture: &Picture) -> Result<(), OutputError> {
        match self {
            Movie::Gif(movie) => movie.push(picture),
            Movie::Mp4(movie) => movie.push(picture)?,
        }
        Ok(())
    }

    fn finish(self, path: &Path) -> Result<(), OutputError> {
        match self {
            Movie::Gif(movie) => write_atomically(path, &movie.finish()),
            Movie::Mp4(movie) => movie.finish(),
        }
    }
}

/// How the frames of a run are drawn: one view and one colour scale for all.
struct Artist<'a> {
    scene: &'a Scene,
    view: View,
    range: [f32; 2],
    poses: Poses,
}

impl<'a> Artist<'a> {
    fn new(request: &PictureRequest<'a>, stored: &[IndexEntry]) -> Result<Self, OutputError> {
        let scene = request.scene;
        // A dozen frames tell where things go and how large fields get; one is held at a time.
        let mut seen = Seen::nothing();
        let poses = Poses::read(&request.dir, scene);
        for entry in stored.iter().step_by(stored.len().div_ceil(12).max(1)) {
            if let Some(frame) = entry.read(&request.dir) {
                seen.look(scene, &frame?, &poses);
            }
        }
        if let Some((last, _)) = &request.last {
            seen.look(scene, last, &poses);
        }
        let range = match scene.look.color_by {
            ColorBy::Body => [0.0, 1.0],
            ColorBy::Field { range: Some([lo, hi]), .. } => [lo as f32, hi as f32],
            ColorBy::Field { field, range: None } => seen.range(field),
        };
        Ok(Artist { scene, view: seen.view(scene), range, poses })
    }

    /// A stored frame with its surfaces.
    fn paint_stored(&self, dir: &Path, entry: &IndexEntry) -> Result<Option<Picture>, OutputError> {
        let Some(frame) = entry.read(dir) else { return Ok(None) };
        Ok(Some(self.paint(&frame?, &entry.read_surfaces(dir)?)))
    }

    /// Bodies with a surface show it; the others are balls.
    fn paint(&self, frame: &Frame, surfaces: &[SurfaceFrame]) -> Picture {
        let radius = BALL * self.scene.setup.spacing as f32;
        let paint = Paint::new(frame, self.colors(frame), self.scene.setup.spacing);
        let covered = |name: &String| surfaces.iter().any(|surface| surface.bodies.contains(name));
        let shown =
            frame.bodies.iter().flat_map(|body| std::iter::repeat_n(!covered(&body.name), body.count));
        let balls: Vec<Ball> = frame
            .positions
            .iter()
            .zip(&paint.colors)
            .zip(shown)
            .filter(|(_, shown)| *shown)
            .map(|((&center, &color), _)| Ball { center, radius, color })
            .collect();
        let meshes: Vec<Mesh> = surfaces.iter().filter_map(|surface| paint.mesh(&surface.frame)).collect();
        let colors = &self.scene.look.rigid_colors;
        let poses = self.poses.at(self.scene, frame.time);
        let solid = |(k, pose): (usize, Pose)| Solid {
            shape: self.scene.setup.rigids[k].shape.clone(),
            pose,
            color: colors.get(k).copied().flatten(),
        };
        let solids: Vec<Solid> = poses.into_iter().enumerate().map(solid).collect();
        let turned = self.scene.look.camera.orbit * frame.time;
        render(&self.view.orbited(turned), &balls, &meshes, &solids, &self.overlay(frame))
    }

    fn colors(&self, frame: &Frame) -> Vec<[f32; 3]> {
        let ColorBy::Field { field, .. } = self.scene.look.color_by else {
            let colors = &self.scene.look.body_colors;
            let of_body = |k: usize| colors.get(k).copied().unwrap_or([0.6; 3]);
            return frame
                .bodies
                .iter()
                .enumerate()
                .flat_map(|(k, b)| std::iter::repeat_n(of_body(k), b.count))
                .collect();
        };
        let [lo, hi] = self.range;
        let scale = |v: f32| ((v - lo) / (hi - lo).max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        values(field, frame).into_iter().map(|v| colormap(scale(v))).collect()
    }

    fn overlay(&self, frame: &Frame) -> Overlay {
        let legend = match self.scene.look.color_by {
            ColorBy::Body => None,
            ColorBy::Field { field, .. } => {
                let (label, unit) = match field {
                    ColorField::Speed => ("speed", "m/s"),
                    ColorField::Stress => ("stress", "Pa"),
                    ColorField::Volume => ("volume ratio", ""),
                };
                Some(Legend {
                    label: label.into(),
                    unit: unit.into(),
                    min: self.range[0] as f64,
                    max: self.range[1] as f64,
                })
            }
        };
        let few = frame.bodies.len() > 1 && frame.bodies.len() <= 6;
        let names = match (&legend, few) {
            (None, true) => {
                let colors = &self.scene.look.body_colors;
                frame.bodies.iter().zip(colors).map(|(b, c)| (b.name.clone(), *c)).collect()
            }
            _ => Vec::new(),
        };
        Overlay { title: self.scene.title.clone(), time: Some(frame.time), legend, names }
    }
}

/// The colours of particles, spread to surfaces near them.
struct Paint {
    colors: Vec<[f32; 3]>,
    grid: Grid,
    radius: f64,
}

impl Paint {
    fn new(frame: &Frame, colors: Vec<[f32; 3]>, spacing: f64) -> Paint {
        let points = frame.positions.iter().map(|x| Vec3::from_array(x.map(f64::from)));
        // A grid takes finite points; the others colour nothing.
        let points: Vec<Vec3> = points.map(|x| if x.is_finite() { x } else { Vec3::ZERO }).collect();
        let (mut grid, radius) = (Grid::default(), 2.0 * spacing);
        grid.build(&points, radius);
        Paint { colors, grid, radius }
    }

    /// None if it is no mesh.
    fn mesh(&self, surface: &Frame) -> Option<Mesh> {
        let faces = surface.faces.as_ref()?;
        let liquid = match surface.field("liquid") {
            Some(Values::Scalars(values)) => values.first().map_or(0.0, |value| value.clamp(0.0, 1.0)),
            _ => 0.0,
        };
        let normals = match surface.field("normal") {
            Some(Values::Vectors(normals)) => normals.clone(),
            _ => vec![[0.0, 1.0, 0.0]; surface.positions.len()],
        };
        Some(Mesh {
            colors: surface.positions.par_iter().with_min_len(512).map(|x| self.color(x)).collect(),
            positions: surface.positions.clone(),
            normals,
            triangles: faces.triangles.clone(),
            liquid,
        })
    }

    /// Mean colour of the particles around x.
    fn color(&self, x: &[f32; 3]) -> [f32; 3] {
        let at = Vec3::from_array(x.map(f64::from));
        let (mut sum, mut total) = (glam::Vec3::ZERO, 0.0);
        if at.is_finite() {
            self.grid.for_each_within(at, self.radius, |j, x_j| {
                let w = (1.0 - x_j.distance_squared(at) / (self.radius * self.radius)) as f32;
                sum += w * glam::Vec3::from(self.colors[j as usize]);
                total += w;
            });
        }
        if total > 0.0 { (sum / total).to_array() } else { [0.6; 3] }
    }
}

/// What some frames show: where things are, and values of the coloured field.
struct Seen {
    lo: Vec3,
    hi: Vec3,
    values: Vec<f32>,
}

impl Seen {
    fn nothing() -> Self {
        Seen { lo: Vec3::INFINITY, hi: Vec3::NEG_INFINITY, values: Vec::new() }
    }

    fn look(&mut self, scene: &Scene, frame: &Frame, poses: &Poses) {
        for (rigid, pose) in scene.setup.rigids.iter().zip(poses.at(scene, frame.time)) {
            if let Some(reach) = rigid.shape.reach().filter(|_| rigid.is_dynamic()) {
                self.lo = self.lo.min(pose.position - reach);
                self.hi = self.hi.max(pose.position + reach);
            }
        }
        for p in frame.positions.iter().map(|p| glam::Vec3::from_array(*p)).filter(|p| p.is_finite()) {
            self.lo = self.lo.min(p.as_dvec3());
            self.hi = self.hi.max(p.as_dvec3());
        }
        if let ColorBy::Field { field, range: None } = scene.look.color_by {
            let every = frame.positions.len() / SAMPLED_VALUES + 1;
            let sampled = values(field, frame).into_iter().step_by(every);
            self.values.extend(sampled.filter(|v| v.is_finite()));
        }
    }

    /// The scene's camera; what it leaves open is chosen to see everything that happens.
    fn view(&self, scene: &Scene) -> View {
        let found = self.lo.is_finite() && self.hi.is_finite();
        let (lo, hi) = if found { (self.lo, self.hi) } else { (-Vec3::ONE, Vec3::ONE) };
        let camera = scene.look.camera;
        let mut view = fit_view(lo, hi, scene.look.size, camera.field_of_view);
        if let Some(look_at) = camera.look_at {
            view.position += look_at - view.look_at;
            view.look_at = look_at;
        }
        if let Some(position) = camera.position {
            view.position = position;
        }
        view
    }

    /// From the smallest to the 99.5th percentile: a few extreme particles do not wash out the rest.
    fn range(&mut self, field: ColorField) -> [f32; 2] {
        self.values.sort_unstable_by(f32::total_cmp);
        let all = &self.values;
        match (all.first(), all.get(all.len().saturating_sub(1 + all.len() / 200))) {
            (Some(&lo), Some(&hi)) if hi > lo => [if field == ColorField::Volume { lo } else { 0.0 }, hi],
            _ => [0.0, 1.0],
        }
    }
}

/// A field of a frame as numbers.
fn values(field: ColorField, frame: &Frame) -> Vec<f32> {
    let name = match field {
        ColorField::Speed => "velocity",
        ColorField::Stress => "stress",
        ColorField::Volume => "volume_ratio",
    };
    match frame.field(name) {
        Some(Values::Scalars(v)) => v.clone(),
        Some(Values::Vectors(v)) => v.iter().map(|v| glam::Vec3::from_array(*v).length()).collect(),
        Some(Values::Integers(v)) => v.iter().map(|v| *v as f32).collect(),
        None => vec![0.0; frame.positions.len()],
    }
}
