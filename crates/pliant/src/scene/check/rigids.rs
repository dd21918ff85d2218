//! Rigid bodies.

use std::collections::{HashMap, HashSet};

use super::super::error::SceneError;
use super::super::file::{RigidFile, RigidMotionFile, RigidMotionWord, RigidShapeFile};
use super::super::overrides::default_name;
use super::super::read::At;
use super::super::suggest::{did_you_mean, quoted};
use super::look;
use super::numbers::FASTEST;
use super::placement::{driven, pose};
use super::shapes::mesh;
use crate::math::Real;
use crate::rigid::{Dynamic, Motion, Rigid, RigidMesh, RigidMotion, RigidShape};
use crate::simulation::BodySetup;

/// Blocks of cells that a mesh may take while its surface is sampled, each two spacings wide.
const MOST_BLOCKS: Real = 2e7;

/// `at` is the list.
pub(super) fn rigids(at: At<'_>, written: &[RigidFile], spacing: Real) -> Result<Vec<Rigid>, SceneError> {
    let mut rigids: Vec<Rigid> = Vec::new();
    let mut seen = HashMap::new();
    for (index, written) in written.iter().enumerate() {
        let rigid = rigid(at.index(index), index, written)?;
        refuse_large_mesh(at.index(index).key("shape"), &rigid.shape, spacing)?;
        if let Some(first) = seen.insert(rigid.name.clone(), index) {
            let line = at.index(first).error("", "").line;
            let message = format!("two rigids are named {}", quoted(&rigid.name));
            let help = format!("rename one of them; the first is in line {line}");
            return Err(at.index(index).key("name").error(message, help));
        }
        rigids.push(rigid);
    }
    Ok(rigids)
}

fn rigid(at: At<'_>, index: usize, written: &RigidFile) -> Result<Rigid, SceneError> {
    let name = written.name.clone().unwrap_or_else(|| default_name("rigids", index));
    at.key("name").name(&name)?;
    let pose = pose(at, written.position, written.rotation.as_ref())?;
    let shape = shape(at.key("shape"), &written.shape)?;
    let motion = match &written.motion {
        Some(RigidMotionFile::Word(RigidMotionWord::Dynamic)) => {
            RigidMotion::Dynamic(dynamic(at, written, &shape)?)
        }
        told => {
            refuse_dynamic_keys(at, written)?;
            match told {
                Some(RigidMotionFile::Driven(written)) => {
                    driven(at.key("motion"), written, pose.position)?.0.into()
                }
                None | Some(RigidMotionFile::Word(_)) => Motion::Fixed.into(),
            }
        }
    };
    Ok(Rigid {
        name,
        shape,
        pose,
        motion,
        friction: at.key("friction").range(written.friction.unwrap_or(0.3), 0.0, 100.0, "")?,
        restitution: at.key("restitution").range(written.restitution.unwrap_or(0.0), 0.0, 1.0, "")?,
    })
}

fn dynamic(at: At<'_>, written: &RigidFile, shape: &RigidShape) -> Result<Dynamic, SceneError> {
    if shape.reach().is_none() {
        let message = "a plane or a container has no end and no mass: it cannot be dynamic";
        return Err(at.key("motion").error(message, "use another shape, or motion = \"static\""));
    }
    let Some(density) = written.density else {
        let help = "add density = 1000.0, in kg/m3";
        return Err(at.key("motion").error("a dynamic rigid body needs a density", help));
    };
    Ok(Dynamic {
        density: at.key("density").range(density, 1e-3, 1e6, "kg/m3")?,
        velocity: at.key("velocity").vector_or_zero(written.velocity, FASTEST, "m/s")?,
        angular_velocity: at.key("angular_velocity").vector_or_zero(
            written.angular_velocity,
            FASTEST,
            "rad/s",
        )?,
    })
}

/// Keys that only dynamic bodies have.
fn refuse_dynamic_keys(at: At<'_>, written: &RigidFile) -> Result<(), SceneError> {
    let keys = [
        ("density", written.density.is_some()),
        ("velocity", written.velocity.is_some()),
        ("angular_velocity", written.angular_velocity.is_some()),
    ];
    match keys.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((key, _)) => {
            let message = format!("{} is only of dynamic rigid bodies", quoted(key));
            let help = "set motion = \"dynamic\"; a driven one has motion = { velocity = [x, y, z] }";
            Err(at.key(key).error(message, help))
        }
    }
}

/// Tables have columns by the names of bodies and of dynamic rigid bodies: these must differ.
pub(super) fn refuse_body_names(
    at: At<'_>,
    rigids: &[Rigid],
    bodies: &[BodySetup],
) -> Result<(), SceneError> {
    let names: HashSet<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
    let is_taken = |rigid: &Rigid| rigid.is_dynamic() && names.contains(rigid.name.as_str());
    match rigids.iter().position(is_taken) {
        None => Ok(()),
        Some(k) => {
            let message = format!("a body and a dynamic rigid body are named {}", quoted(&rigids[k].name));
            Err(at.index(k).key("name").error(message, "rename one of them"))
        }
    }
}

/// Colours of the rigid bodies in pictures.
pub(super) fn colors(at: At<'_>, written: &[RigidFile]) -> Result<Vec<Option<[f32; 3]>>, SceneError> {
    let color = |(index, rigid): (usize, &RigidFile)| {
        let place = at.index(index).key("color");
        rigid.color.as_ref().map(|color| look::color(place, color)).transpose()
    };
    written.iter().enumerate().map(color).collect()
}

/// Index of the rigid body with a name that is written at `at`.
pub(super) fn find<'a>(
    at: At<'_>,
    name: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, SceneError> {
    names.clone().position(|known| known == name).ok_or_else(|| {
        let message = format!("there is no rigid body {}{}", quoted(name), did_you_mean(name, names.clone()));
        let known: Vec<&str> = names.take(20).collect();
        let help = match known.is_empty() {
            true => "add a [[rigids]] table with this name".to_owned(),
            false => format!("the rigid bodies are: {}", known.join(", ")),
        };
        at.error(message, help)
    })
}

/// The name of each rigid body as written.
pub(super) fn names(written: &[RigidFile]) -> Vec<String> {
    let name = |(index, rigid): (usize, &RigidFile)| {
        rigid.name.clone().unwrap_or_else(|| default_name("rigids", index))
    };
    written.iter().enumerate().map(name).collect()
}

/// The surface of a mesh is sampled on a grid over its bounding box.
fn refuse_large_mesh(at: At<'_>, shape: &RigidShape, spacing: Real) -> Result<(), SceneError> {
    let RigidShape::Mesh(body) = shape else { return Ok(()) };
    let (lo, hi) = body.mesh.bounds();
    if ((hi - lo) / (2.0 * spacing) + 1.0).element_product() <= MOST_BLOCKS {
        return Ok(());
    }
    let message = format!("the mesh is {:.1e} m large, too many spacings", (hi - lo).max_element());
    Err(at.error(message, "use a smaller scale, or a larger spacing"))
}

fn shape(at: At<'_>, written: &RigidShapeFile) -> Result<RigidShape, SceneError> {
    let length = |key, x| at.key(key).length(x);
    Ok(match written {
        RigidShapeFile::Plane(shape) => {
            RigidShape::Plane { normal: at.key("normal").direction(shape.normal)? }
        }
        RigidShapeFile::Box(shape) => {
            let size = at.key("size").lengths(shape.size)?;
            match shape.inside_out {
                Some(true) => RigidShape::Container { size },
                None | Some(false) => RigidShape::Box { size },
            }
        }
        RigidShapeFile::Sphere(shape) => RigidShape::Sphere { radius: length("radius", shape.radius)? },
        RigidShapeFile::Cylinder(shape) => RigidShape::Cylinder {
            radius: length("radius", shape.radius)?,
            height: length("height", shape.height)?,
        },
        RigidShapeFile::Capsule(shape) => RigidShape::Capsule {
            radius: length("radius", shape.radius)?,
            height: length("height", shape.height)?,
        },
        RigidShapeFile::Mesh(shape) => RigidShape::Mesh(RigidMesh {
            mesh: mesh(at, &shape.file, shape.scale.as_ref(), shape.center)?,
            inside_out: shape.inside_out.unwrap_or(false),
        }),
    })
}
