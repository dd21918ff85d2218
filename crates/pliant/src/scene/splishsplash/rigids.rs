//! Rigid bodies and their joints.

use super::block::Block;
use super::geometry::{Files, Form, Place};
use super::matter::Matter;
use super::text::{Text, name, number, vector};
use crate::math::{Real, Vec3};
use crate::scene::error::SceneError;

/// Settings of how walls are sampled there.
const SAMPLING: [&str; 6] =
    ["mapThickness", "mapResolution", "samplingMode", "tubeMapOrder", "particleFile", "testMesh"];

pub(super) struct Rigids {
    bodies: Vec<Rigid>,
    joints: Vec<Joint>,
}

struct Rigid {
    name: String,
    id: Option<i64>,
    shape: String,
    place: Place,
    dynamic: Option<Dynamic>,
    friction: Option<Real>,
    restitution: Option<Real>,
    color: Option<Vec3>,
}

struct Dynamic {
    density: Real,
    velocity: Vec3,
    angular_velocity: Vec3,
}

struct Joint {
    kind: &'static str,
    a: String,
    b: String,
    anchor: Vec3,
    axis: Option<Vec3>,
    /// Velocity that a motor keeps.
    motor: Option<Real>,
}

pub(super) fn read(root: &Block, matter: &Matter, files: &Files) -> Result<Rigids, SceneError> {
    let mut bodies = Vec::new();
    for (k, written) in root.list("RigidBodies")?.iter().enumerate() {
        bodies.extend(rigid(written, k, matter, files)?);
    }
    let mut joints = Vec::new();
    for (key, kind) in [
        ("BallJoints", "ball"),
        ("HingeJoints", "hinge"),
        ("TargetVelocityMotorHingeJoints", "hinge"),
        ("TargetVelocityMotorSliderJoints", "slider"),
    ] {
        for written in root.list(key)? {
            joints.extend(joint(&written, kind, &bodies)?);
        }
    }
    let other = [
        "BallOnLineJoints",
        "UniversalJoints",
        "SliderJoints",
        "TargetAngleMotorHingeJoints",
        "TargetPositionMotorSliderJoints",
        "RigidBodySprings",
        "DistanceJoints",
        "TriangleModels",
        "TetModels",
    ];
    root.leave(&other, "this kind of joint or model is not taken over");
    Ok(Rigids { bodies, joints })
}

fn rigid(written: &Block, k: usize, matter: &Matter, files: &Files) -> Result<Option<Rigid>, SceneError> {
    let place = Place::read(written)?;
    let scale = written.scale("scale")?;
    let wall = written.flag("isWall")?.unwrap_or(false);
    let inverted = [written.flag("mapInvert")?, written.flag("invertSDF")?].contains(&Some(true));
    written.leave(&SAMPLING, "walls are sampled by points half a spacing below their surface");
    written.leave(&["collisionObjectType", "collisionObjectScale"], "rigid bodies meet by their shapes");
    written.leave(
        &["boundingBoxMin", "boundingBoxMax", "tag", "comment"],
        "remarks of the program that wrote it",
    );
    if written.flag("isAnimated")? == Some(true) {
        written.note("isAnimated", "motion by scripts is not taken over: it stands still");
    }
    let id = written.number("id")?.map(|id| id as i64);
    let mut dynamic = dynamic(written)?;
    let [friction, restitution] = [written.number("friction")?, written.number("restitution")?];
    let color = written.vector("color")?;
    let Some(file) = written.text("geometryFile")? else {
        written.note("geometryFile", "a rigid body without geometry is left out");
        return Ok(None);
    };
    let form = files.form(file);
    if form.is_some() && !files.is_there(file) {
        written.note("geometryFile", "the file is not there; by its name it is a box with edges of one unit");
    }
    let (shape, place) = match plain(form, scale, place) {
        Some((Plain::Box(size), place)) => {
            let holds = |x: Vec3| (place.pose().to_body(x).abs() - 0.5 * size).max_element() < 0.0;
            let container = inverted || (wall && matter.places().any(holds));
            if container && dynamic.take().is_some() {
                written.note("isDynamic", "a container stands still");
            }
            let inside_out = if container { ", inside_out = true" } else { "" };
            (format!("{{ type = \"box\", size = {}{inside_out} }}", vector(size)), place)
        }
        Some((Plain::Round(shape), place)) if !inverted => (shape, place),
        _ => {
            if inverted && dynamic.take().is_some() {
                written.note("isDynamic", "a container stands still");
            }
            let file = name(&files.named(file));
            let shape = format!(
                "{{ type = \"mesh\", file = {file}, scale = {}, inside_out = {inverted} }}",
                vector(scale)
            );
            (shape, place)
        }
    };
    let color = color.map(|color| color.clamp(Vec3::ZERO, Vec3::ONE));
    let friction = friction.map(|friction| friction.clamp(0.0, 100.0));
    let restitution = restitution.map(|restitution| restitution.clamp(0.0, 1.0));
    let name = format!("rigid{}", k + 1);
    Ok(Some(Rigid { name, id, shape, place, dynamic, friction, restitution, color }))
}

fn dynamic(written: &Block) -> Result<Option<Dynamic>, SceneError> {
    let dynamic = Dynamic {
        density: written.number("density")?.unwrap_or(1000.0),
        velocity: written.vector("velocity")?.unwrap_or(Vec3::ZERO),
        angular_velocity: written.vector("angularVelocity")?.unwrap_or(Vec3::ZERO),
    };
    if written.flag("isDynamic")? == Some(true) {
        return Ok(Some(dynamic));
    }
    for key in ["density", "velocity", "angularVelocity"].into_iter().filter(|key| written.has(key)) {
        written.note(key, "it means something to dynamic bodies only");
    }
    Ok(None)
}

/// A shape that is no mesh.
enum Plain {
    Box(Vec3),
    /// TOML of a sphere or a cylinder.
    Round(String),
}

/// The plain shape of a scaled mesh about its own middle, if it is one.
fn plain(form: Option<Form>, scale: Vec3, place: Place) -> Option<(Plain, Place)> {
    let alike = |a: Real, b: Real| (a - b).abs() <= 1e-6 * a.abs();
    let (plain, middle) = match form? {
        Form::Box(size, middle) => (Plain::Box((size * scale).abs()), middle),
        Form::Sphere(radius, middle) if alike(scale.x, scale.y) && alike(scale.x, scale.z) => {
            let radius = number(radius * scale.x.abs());
            (Plain::Round(format!("{{ type = \"sphere\", radius = {radius} }}")), middle)
        }
        Form::Cylinder(radius, height, middle) if alike(scale.x, scale.z) => {
            let (radius, height) = (number(radius * scale.x.abs()), number(height * scale.y.abs()));
            (Plain::Round(format!("{{ type = \"cylinder\", radius = {radius}, height = {height} }}")), middle)
        }
        _ => return None,
    };
    Some((plain, place.moved_to(place.pose().to_world(middle * scale))))
}

fn joint(written: &Block, kind: &'static str, bodies: &[Rigid]) -> Result<Option<Joint>, SceneError> {
    let ids = [written.number("bodyID1")?, written.number("bodyID2")?];
    let anchor = written.vector("position")?;
    let axis = written.vector("axis")?;
    let target = written.number("target")?;
    written.leave(&["targetSequence", "repeatSequence"], "a motor keeps one velocity");
    let body =
        |id: Option<Real>| bodies.iter().find(|body| body.id.is_some() && body.id == id.map(|id| id as i64));
    let (Some(a), Some(b)) = (body(ids[0]), body(ids[1])) else {
        written.note("bodyID1", "a joint of bodies that are not there is left out");
        return Ok(None);
    };
    if kind != "ball" && axis.is_none() {
        written.note("axis", "a joint without an axis is left out");
        return Ok(None);
    }
    let anchor = anchor.unwrap_or(a.place.position);
    let (a, b) = (a.name.clone(), b.name.clone());
    Ok(Some(Joint { kind, a, b, anchor, axis: axis.filter(|_| kind != "ball"), motor: target }))
}

impl Rigids {
    pub fn write(&self, out: &mut Text) {
        for rigid in &self.bodies {
            out.heading("[[rigids]]");
            out.word("name", &rigid.name);
            out.entry("shape", &rigid.shape);
            rigid.place.write(out);
            if let Some(dynamic) = &rigid.dynamic {
                out.word("motion", "dynamic");
                out.number("density", dynamic.density);
                out.vector_if("velocity", dynamic.velocity);
                out.vector_if("angular_velocity", dynamic.angular_velocity);
            }
            out.number_if("friction", rigid.friction);
            out.number_if("restitution", rigid.restitution);
            if let Some(color) = rigid.color {
                out.vector("color", color);
            }
        }
        for joint in &self.joints {
            out.heading("[[joints]]");
            out.word("type", joint.kind);
            out.word("a", &joint.a);
            out.word("b", &joint.b);
            out.vector("anchor", joint.anchor);
            if let Some(axis) = joint.axis {
                out.vector("axis", axis);
                if let Some(velocity) = joint.motor {
                    out.entry("motor", &format!("{{ velocity = {} }}", number(velocity)));
                }
            }
        }
    }
}
