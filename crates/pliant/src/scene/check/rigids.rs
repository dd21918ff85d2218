//! Rigid obstacles.

use std::collections::HashMap;

use super::super::error::SceneError;
use super::super::file::{RigidFile, RigidMotionFile, RigidShapeFile};
use super::super::overrides::default_name;
use super::super::read::At;
use super::super::suggest::quoted;
use super::placement::{driven, pose};
use crate::rigid::{Motion, Rigid, RigidShape};

/// `at` is the list.
pub(super) fn rigids(at: At<'_>, written: &[RigidFile]) -> Result<Vec<Rigid>, SceneError> {
    let mut rigids: Vec<Rigid> = Vec::new();
    let mut seen = HashMap::new();
    for (index, written) in written.iter().enumerate() {
        let rigid = rigid(at.index(index), index, written)?;
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
    let motion = match &written.motion {
        None | Some(RigidMotionFile::Static(_)) => Motion::Fixed,
        Some(RigidMotionFile::Driven(written)) => driven(at.key("motion"), written, pose.position)?.0,
    };
    Ok(Rigid {
        name,
        shape: shape(at.key("shape"), &written.shape)?,
        pose,
        motion: motion.into(),
        friction: at.key("friction").range(written.friction.unwrap_or(0.3), 0.0, 100.0, "")?,
        restitution: at.key("restitution").range(written.restitution.unwrap_or(0.0), 0.0, 1.0, "")?,
    })
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
    })
}
