//! Damping settles a body; where it settles is none of its business.

use pliant::scene::Scene;

const HANGING: &str = r#"
[simulation]
spacing = 0.1
duration = 2
time_step = 0.004
contact = { between_bodies = false, within_body = false }

[materials.bar]
youngs_modulus = 2e5
poisson_ratio = 0
damping = 44

[[bodies]]
material = "bar"
shape = { type = "box", size = [0.2, 1, 0.2] }
pins = [{ region = { type = "box", min = [-9, 0.31, -9], max = [9, 9, 9] } }]
loads = [{ region = { type = "box", min = [-9, -9, -9], max = [9, -0.31, 9] }, force = [0, -100, 0] }]
"#;

/// How far the lowest layer comes down in 1 s, 22 times the damping's time [m].
fn sag(model: &str, support: f64) -> f64 {
    let set = [format!("materials.bar.model={model}"), format!("simulation.support={support:?}")];
    let scene = Scene::from_toml("hanging", "hanging", HANGING, &set).expect("a good scene");
    let mut simulation = scene.build().expect("a small scene");
    let lowest = |x: &[pliant::math::Vec3]| x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    let start = lowest(&simulation.particles().positions);
    simulation.advance_to(1.0).expect("a quiet bar");
    start - lowest(&simulation.particles().positions)
}

#[test]
fn damped_bodies_come_to_rest_where_forces_balance() {
    for model in ["peer2018", "kugelstadt2021"] {
        let (implicit, explicit) = (sag(model, 2.5), sag("mls2004", 2.5));
        // the same forces at rest; what is left of the motion is below a thousandth
        assert!((implicit / explicit - 1.0).abs() < 2e-3, "{model}: {implicit} m, mls2004: {explicit} m");
    }
}
