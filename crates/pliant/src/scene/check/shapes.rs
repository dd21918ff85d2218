//! Shapes of bodies and how they are sampled.

use std::path::{Path, PathBuf};

use super::super::error::SceneError;
use super::super::file::{OutlineWord, ParticlesFile, SamplingWord, ScaleFile, ShapeFile};
use super::super::read::At;
use super::numbers::{FARTHEST, show};
use crate::geometry::{Cloud, Figure, Outline, Relief, Sampling, Shape, SolidMesh};
use crate::math::{Real, Vec3};
use crate::output::read_frame;

/// Teeth of a gear, and strands of a hairball.
const TEETH: [u64; 2] = [3, 400];
const STRANDS: [u64; 2] = [1, 2000];

pub(super) fn shape(at: At<'_>, written: &ShapeFile) -> Result<Shape, SceneError> {
    let length = |key, x| at.key(key).length(x);
    let figure = |figure, key, x| Ok(Shape::Figure { figure, size: length(key, x)? });
    Ok(match written {
        ShapeFile::Box(shape) => Shape::Box { size: at.key("size").lengths(shape.size)? },
        ShapeFile::Sphere(shape) => Shape::Sphere { radius: length("radius", shape.radius)? },
        ShapeFile::Cylinder(shape) => Shape::Cylinder {
            radius: length("radius", shape.radius)?,
            height: length("height", shape.height)?,
        },
        ShapeFile::Capsule(shape) => Shape::Capsule {
            radius: length("radius", shape.radius)?,
            height: length("height", shape.height)?,
        },
        ShapeFile::Torus(shape) => {
            let radius = length("radius", shape.radius)?;
            let tube_radius = length("tube_radius", shape.tube_radius)?;
            if tube_radius > radius {
                let message =
                    format!("the tube_radius is larger than the radius of the ring, {}", show(radius));
                return Err(at.key("tube_radius").error(message, "use a thinner tube, or a wider ring"));
            }
            Shape::Torus { radius, tube_radius }
        }
        ShapeFile::Beast(shape) => figure(Figure::Beast, "length", shape.length)?,
        ShapeFile::Duck(shape) => figure(Figure::Duck, "length", shape.length)?,
        ShapeFile::Bunny(shape) => figure(Figure::Bunny, "height", shape.height)?,
        ShapeFile::Armadillo(shape) => figure(Figure::Armadillo, "height", shape.height)?,
        ShapeFile::Gear(shape) => Shape::Gear {
            radius: length("radius", shape.radius)?,
            height: length("height", shape.height)?,
            teeth: count(at.key("teeth"), shape.teeth.unwrap_or(12), TEETH)?,
        },
        ShapeFile::Hairball(shape) => {
            let radius = length("radius", shape.radius)?;
            let thickness = length("thickness", shape.thickness.unwrap_or(radius / 8.0))?;
            if thickness > radius {
                let message = format!("a strand is thicker than the radius of the ball, {}", show(radius));
                return Err(at.key("thickness").error(message, "use thinner strands, or a larger ball"));
            }
            let strands = count(at.key("strands"), shape.strands.unwrap_or(60), STRANDS)?;
            Shape::Hairball { radius, strands, thickness }
        }
        ShapeFile::Mesh(shape) => {
            Shape::Mesh { mesh: mesh(at, &shape.file, shape.scale.as_ref(), shape.center)? }
        }
        ShapeFile::Particles(shape) => Shape::Particles { cloud: cloud(at, shape)? },
        ShapeFile::Rod(shape) => Shape::Rod { length: length("length", shape.length)? },
        ShapeFile::Sheet(shape) => {
            let size = at.key("size");
            let relief = at.key("relief");
            Shape::Sheet {
                size: [size.index(0).length(shape.size[0])?, size.index(1).length(shape.size[1])?],
                outline: match shape.outline {
                    None | Some(OutlineWord::Rectangle) => Outline::Rectangle,
                    Some(OutlineWord::Ellipse) => Outline::Ellipse,
                },
                relief: match &shape.relief {
                    Some(written) => Some(Relief {
                        height: relief.key("height").range(written.height, -FARTHEST, FARTHEST, "m")?,
                        wavelength: relief.key("wavelength").length(written.wavelength)?,
                    }),
                    None => None,
                },
            }
        }
    })
}

fn count(at: At<'_>, number: u64, [least, most]: [u64; 2]) -> Result<u32, SceneError> {
    let number = at.range(number as Real, least as Real, most as Real, "")?;
    Ok(number as u32)
}

/// Metres for one unit of a file.
fn scale(at: At<'_>, written: Option<&ScaleFile>) -> Result<Vec3, SceneError> {
    match written {
        None => Ok(Vec3::ONE),
        Some(ScaleFile::Alike(x)) => Ok(Vec3::splat(at.range(*x, 1e-9, 1e9, "")?)),
        Some(ScaleFile::Axes(axes)) => {
            for (index, &x) in axes.iter().enumerate() {
                at.index(index).range(x, 1e-9, 1e9, "")?;
            }
            Ok(Vec3::from_array(*axes))
        }
    }
}

/// A relative path starts at the folder of the scene file.
fn whole_path(at: At<'_>, file: &str) -> PathBuf {
    Path::new(&at.source.file).parent().unwrap_or(Path::new("")).join(file)
}

/// Reads the particles of a file.
fn cloud(at: At<'_>, written: &ParticlesFile) -> Result<Cloud, SceneError> {
    let scale = scale(at.key("scale"), written.scale.as_ref())?;
    let place = at.key("file");
    let path = whole_path(at, &written.file);
    let help = "name a .bgeo, .vtu, .ply, .csv, .npz or .usdc file of points";
    let frame = read_frame(&path).map_err(|error| place.error(format!("particles: {error}"), help))?;
    let point = |p: &[f32; 3]| Vec3::from_array(p.map(Real::from)) * scale;
    let points: Vec<Vec3> = frame.positions.iter().map(point).collect();
    if points.is_empty() {
        return Err(place.error("the file holds no points", help));
    }
    let far = |p: &&Vec3| !p.is_finite() || p.abs().max_element() > FARTHEST;
    match points.iter().find(far) {
        None => Ok(Cloud::new(points)),
        Some(p) => Err(place.error(format!("the file has a particle at {p}"), "use a smaller scale")),
    }
}

/// Reads a mesh; `at` is the shape.
pub(super) fn mesh(
    at: At<'_>,
    file: &str,
    written_scale: Option<&ScaleFile>,
    center: Option<bool>,
) -> Result<SolidMesh, SceneError> {
    let scale = scale(at.key("scale"), written_scale)?;
    let path = whole_path(at, file);
    let refused = |message, help| at.key("file").error(message, help);
    let mesh = SolidMesh::load(&path, scale, center.unwrap_or(false))
        .map_err(|error| refused(format!("mesh {}: {}", error.path.display(), error.message), error.help))?;
    let (lo, hi) = mesh.bounds();
    let farthest = lo.abs().max(hi.abs()).max_element();
    if farthest > FARTHEST {
        let message = format!("the mesh reaches {} m from the origin", show(farthest));
        return Err(refused(message, "use a smaller scale, or center = true".into()));
    }
    Ok(mesh)
}

pub(super) fn sampling(
    at: At<'_>,
    written: Option<SamplingWord>,
    shape: &Shape,
    seed: u64,
) -> Result<Sampling, SceneError> {
    let sampling = match written {
        None | Some(SamplingWord::Lattice) => return Ok(Sampling::Lattice),
        Some(SamplingWord::Ccp) => Sampling::Ccp,
        Some(SamplingWord::Poisson) => Sampling::Poisson { seed },
        Some(SamplingWord::Relaxed) => Sampling::Relaxed { seed },
    };
    if !shape.is_solid() {
        let message = match shape {
            Shape::Particles { .. } => "particles of a file are where the file says",
            _ => "a sheet or rod is one layer or line of a lattice",
        };
        return Err(at.error(message, "use sampling = \"lattice\", or leave it out"));
    }
    Ok(sampling)
}
