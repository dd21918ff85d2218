//! Joints between rigid bodies.

use super::super::error::SceneError;
use super::super::file::{FreeJointFile, JointTable, MotorFile};
use super::super::read::At;
use super::numbers::{FARTHEST, FASTEST};
use super::rigids::find;
use crate::math::Real;
use crate::rigid::{Freedom, Joint, JointKind, Motor, Rigid};

/// Joints of a scene.
const MOST_JOINTS: usize = 100_000;

/// `at` is the list.
pub(super) fn joints(at: At<'_>, written: &[JointTable], rigids: &[Rigid]) -> Result<Vec<Joint>, SceneError> {
    if written.len() > MOST_JOINTS {
        let message = format!("the scene has more than {MOST_JOINTS} joints");
        return Err(at.error(message, "use fewer joints"));
    }
    written.iter().enumerate().map(|(index, written)| joint(at.index(index), written, rigids)).collect()
}

fn joint(at: At<'_>, written: &JointTable, rigids: &[Rigid]) -> Result<Joint, SceneError> {
    let (a, b, anchor) = match written {
        JointTable::Fixed(joint) | JointTable::Ball(joint) => (&joint.a, joint.b.as_ref(), joint.anchor),
        JointTable::Hinge(joint) | JointTable::Slider(joint) => (&joint.a, joint.b.as_ref(), joint.anchor),
    };
    let names = rigids.iter().map(|rigid| rigid.name.as_str());
    let a = find(at.key("a"), a, names.clone())?;
    let b = b.map(|b| find(at.key("b"), b, names)).transpose()?;
    if b == Some(a) {
        return Err(at.key("b").error("a joint of a rigid body with itself", "name two rigid bodies"));
    }
    if !rigids[a].is_dynamic() && !b.is_some_and(|b| rigids[b].is_dynamic()) {
        let message = "this joint holds no dynamic rigid body";
        return Err(at.key("a").error(message, "set motion = \"dynamic\" with a density for one of them"));
    }
    let anchor = match anchor {
        Some(anchor) => at.key("anchor").vector(anchor, FARTHEST, "m")?,
        None => rigids[a].pose.position,
    };
    let kind = match written {
        JointTable::Fixed(_) => JointKind::Fixed,
        JointTable::Ball(_) => JointKind::Ball,
        JointTable::Hinge(joint) => {
            JointKind::Hinge(freedom(at, joint, 180.0, "degrees", 1f64.to_radians())?)
        }
        JointTable::Slider(joint) => JointKind::Slider(freedom(at, joint, FARTHEST, "m", 1.0)?),
    };
    Ok(Joint { a, b, anchor, kind })
}

/// `most` is the farthest limit in the unit it is written in, and `si` that unit.
fn freedom(
    at: At<'_>,
    written: &FreeJointFile,
    most: Real,
    unit: &'static str,
    si: Real,
) -> Result<Freedom, SceneError> {
    let axis = at.key("axis").direction(written.axis)?;
    let place = at.key("limits");
    let limits = match written.limits {
        None => None,
        Some([low, high]) => {
            place.index(0).range(low, -most, 0.0, unit)?;
            place.index(1).range(high, 0.0, most, unit)?;
            Some([low * si, high * si])
        }
    };
    let motor = written.motor.as_ref().map(|written| motor(at.key("motor"), written)).transpose()?;
    Ok(Freedom { axis, limits, motor })
}

fn motor(at: At<'_>, written: &MotorFile) -> Result<Motor, SceneError> {
    let max_force = match written.max_force {
        None => None,
        Some(most) => Some(at.key("max_force").range(most, 0.0, 1e15, "N")?),
    };
    Ok(Motor { velocity: at.key("velocity").range(written.velocity, -FASTEST, FASTEST, "")?, max_force })
}
