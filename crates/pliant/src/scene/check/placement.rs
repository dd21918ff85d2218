//! Where things stand and how they move: poses, regions, motions.

use super::super::error::SceneError;
use super::super::file::{DrivenFile, RegionFile, RegionTable, RotationFile, TurnFile};
use super::super::read::At;
use super::numbers::{FARTHEST, FASTEST};
use crate::geometry::{Pose, Region};
use crate::math::{Quat, Real, Vec3};
use crate::rigid::Motion;

/// `at` is the body or rigid.
pub(super) fn pose(
    at: At<'_>,
    position: Option<[Real; 3]>,
    rotation: Option<&RotationFile>,
) -> Result<Pose, SceneError> {
    let position = at.key("position").vector_or_zero(position, FARTHEST, "m")?;
    let at = at.key("rotation");
    let rotation = match rotation {
        None => Quat::IDENTITY,
        Some(RotationFile::One(written)) => turn(at, written)?,
        Some(RotationFile::Several(list)) => {
            let mut rotation = Quat::IDENTITY;
            for (index, written) in list.iter().enumerate() {
                rotation = (turn(at.index(index), written)? * rotation).normalize();
            }
            rotation
        }
    };
    Ok(Pose { position, rotation })
}

fn turn(at: At<'_>, written: &TurnFile) -> Result<Quat, SceneError> {
    let axis = at.key("axis").direction(written.axis)?;
    let degrees = at.key("degrees").range(written.degrees, -1e6, 1e6, "degrees")?;
    Ok(Quat::from_axis_angle(axis, degrees.to_radians()))
}

pub(super) fn region(at: At<'_>, written: &RegionFile) -> Result<Region, SceneError> {
    match written {
        RegionFile::All(_) => Ok(Region::All),
        RegionFile::Part(RegionTable::Box(part)) => {
            let min = at.key("min").vector(part.min, FARTHEST, "m")?;
            let max = at.key("max").vector(part.max, FARTHEST, "m")?;
            if let Some(axis) = (0..3).find(|&axis| min[axis] > max[axis]) {
                let message =
                    format!("this box is empty: its min is above its max along {}", ["x", "y", "z"][axis]);
                return Err(at.error(message, "swap the two numbers"));
            }
            Ok(Region::Box { min, max })
        }
        RegionFile::Part(RegionTable::Sphere(part)) => Ok(Region::Sphere {
            center: at.key("center").vector(part.center, FARTHEST, "m")?,
            radius: at.key("radius").length(part.radius)?,
        }),
    }
}

/// A driven motion of a thing at `position`, and whether it turns about that position.
pub(super) fn driven(at: At<'_>, written: &DrivenFile, position: Vec3) -> Result<(Motion, bool), SceneError> {
    if written.velocity.is_none() && written.angular_velocity.is_none() {
        return Err(at.error(
            "this motion has neither velocity nor angular_velocity",
            "write velocity = [x, y, z], angular_velocity = [x, y, z], or both",
        ));
    }
    if written.center.is_some() && written.angular_velocity.is_none() {
        return Err(at.key("center").error(
            "\"center\" means nothing without angular_velocity",
            "add angular_velocity = [x, y, z], or remove the center",
        ));
    }
    let velocity = at.key("velocity").vector_or_zero(written.velocity, FASTEST, "m/s")?;
    let angular_velocity =
        at.key("angular_velocity").vector_or_zero(written.angular_velocity, FASTEST, "rad/s")?;
    let center = match written.center {
        Some(center) => Some(at.key("center").vector(center, FARTHEST, "m")?),
        None => None,
    };
    let stop = at.key("stop").until(written.stop)?;
    let motion = Motion::Driven { velocity, angular_velocity, center: center.unwrap_or(position), stop };
    Ok((motion, center.is_none()))
}
