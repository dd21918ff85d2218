//! The scene room as its users meet it.

mod accepted;
mod refused;
mod refused_parts;
mod rigid_bodies;
mod settings;

use super::*;

/// A small scene with one of everything.
const BASE: &str = r##"title = "Beam"
[simulation]
spacing = 0.1
duration = 2.0
gravity = [0, -9.81, 0]
[output]
fps = 50
[materials.rubber]
youngs_modulus = 1e5
poisson_ratio = 0.3
[[bodies]]
name = "beam"
material = "rubber"
shape = { type = "box", size = [1, 0.2, 0.2] }
[[bodies.pins]]
region = { type = "box", min = [-1, -1, -1], max = [-0.4, 1, 1] }
motion = "fixed"
[[bodies.loads]]
region = "all"
force = [0, 1, 0]
[[rigids]]
name = "floor"
shape = { type = "plane", normal = [0, 1, 0] }
[[probes]]
name = "tip"
body = "beam"
at = [0.5, 0, 0]
"##;

fn read(text: &str) -> Result<Scene, SceneError> {
    Scene::from_toml("test", "scene.toml", text, &[])
}

fn read_with(text: &str, settings: &[&str]) -> Result<Scene, SceneError> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    Scene::from_toml("test", "scene.toml", text, &settings)
}

/// The base scene with one piece replaced.
fn edited(from: &str, to: &str) -> String {
    assert_eq!(BASE.matches(from).count(), 1, "{from:?} must be in the base scene once");
    BASE.replace(from, to)
}

/// Accepts the base scene with one piece replaced.
fn accept(from: &str, to: &str) -> Scene {
    read(&edited(from, to)).unwrap_or_else(|error| panic!("{to}: {error} ({})", error.help))
}
