//! Dynamic rigid bodies, joints and attached pins in scenes.

use super::*;
use crate::math::Vec3;
use crate::rigid::{Dynamic, JointKind, RigidMotion};
use crate::simulation::PinMotion;

const RIGIDS: &str = r##"
[simulation]
spacing = 0.1
duration = 1

[materials.rubber]
youngs_modulus = 1e5
poisson_ratio = 0.3

[[bodies]]
name = "beam"
material = "rubber"
shape = { type = "box", size = [1, 1, 1] }
pins = [{ region = "all", motion = { attached = "ball" } }]

[[rigids]]
name = "ball"
shape = { type = "sphere", radius = 0.5 }
motion = "dynamic"
density = 500
velocity = [1, 0, 0]
color = "#ff0000"

[[rigids]]
name = "floor"
shape = { type = "plane", normal = [0, 1, 0] }

[[joints]]
type = "hinge"
a = "ball"
axis = [0, 0, 2]
limits = [-90, 45]
motor = { velocity = 2 }
"##;

fn changed(from: &str, to: &str) -> Result<Scene, SceneError> {
    assert!(RIGIDS.contains(from), "{from}");
    read_with(&RIGIDS.replacen(from, to, 1), &[])
}

#[test]
fn dynamic_bodies_joints_and_attached_pins_are_read() {
    let scene = read_with(RIGIDS, &[]).expect("a good scene");
    let setup = &scene.setup;
    let dynamic = Dynamic { density: 500.0, velocity: Vec3::X, angular_velocity: Vec3::ZERO };
    assert_eq!(setup.rigids[0].motion, RigidMotion::Dynamic(dynamic));
    assert_eq!(setup.bodies[0].pins[0].motion, PinMotion::Attached { rigid: 0 });
    assert_eq!(scene.look.rigid_colors, [Some([1.0, 0.0, 0.0]), None]);
    let JointKind::Hinge(hinge) = setup.joints[0].kind else { panic!("a hinge") };
    assert_eq!((setup.joints[0].a, setup.joints[0].b, hinge.axis), (0, None, Vec3::Z));
    let [low, high] = hinge.limits.expect("limits");
    assert!((low + std::f64::consts::FRAC_PI_2).abs() < 1e-12 && (high - low / -2.0).abs() < 1e-12);
    assert_eq!(hinge.motor.map(|motor| motor.velocity), Some(2.0));
}

#[test]
fn a_scene_of_rigid_bodies_alone_runs() {
    let (start, rest) = RIGIDS.split_once("[[bodies]]").expect("bodies");
    let (_, rigids) = rest.split_once("[[rigids]]").expect("rigids");
    let scene = read_with(&format!("{start}[[rigids]]{rigids}"), &[]).expect("a good scene");
    let mut simulation = scene.build().expect("nothing to sample");
    simulation.advance_to(0.2).expect("a quiet fall");
    assert!(simulation.rigids().now()[0].is_dynamic());
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let refused = [
        ("density = 500\n", "", "needs a density", "density = 1000"),
        ("density = 500", "density = -1", "density", "0.001"),
        (
            "{ type = \"sphere\", radius = 0.5 }",
            "{ type = \"plane\", normal = [0, 1, 0] }",
            "cannot be dynamic",
            "another shape",
        ),
        ("motion = \"dynamic\"", "motion = \"static\"", "only of dynamic", "dynamic"),
        ("motion = \"dynamic\"", "motion = \"dynamical\"", "did you mean \"dynamic\"", "static"),
        ("attached = \"ball\"", "attached = \"bal\"", "did you mean \"ball\"", "the rigid bodies are"),
        ("a = \"ball\"", "a = \"bell\"", "did you mean \"ball\"", "the rigid bodies are"),
        ("a = \"ball\"", "a = \"floor\"", "no dynamic rigid body", "dynamic"),
        ("a = \"ball\"", "a = \"ball\"\nb = \"ball\"", "with itself", "two rigid bodies"),
        ("limits = [-90, 45]", "limits = [10, 45]", "limits", "0"),
        ("axis = [0, 0, 2]\n", "", "axis", "axis"),
        ("axis = [0, 0, 2]", "axis = [0, 0, 0]", "axis", ""),
        ("name = \"ball\"", "name = \"beam\"", "there is no rigid body", "the rigid bodies are"),
        ("name = \"floor\"", "name = \"beam\"\nmotion = \"dynamic\"\ndensity = 1", "cannot be dynamic", ""),
    ];
    for (from, to, message, help) in refused {
        let error = changed(from, to).err().unwrap_or_else(|| panic!("{to} is accepted"));
        assert!(error.message.contains(message), "{to}: {}", error.message);
        assert!(error.help.contains(help), "{to}: {}", error.help);
    }
    let both = RIGIDS.replace("\"ball\"", "\"beam\"");
    let error = read_with(&both, &[]).expect_err("a body and a rigid of one name");
    assert!(error.message.contains("a body and a dynamic rigid body are named"), "{}", error.message);
}
