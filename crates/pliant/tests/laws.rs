//! Runs with every elastic law.

use pliant::material::Law;
use pliant::scene::Scene;
use pliant::simulation::{Simulation, Trouble};

/// A free cube of 6³ particles that starts deformed, or thrown at a floor.
fn cube(law: Law, start: &str) -> Simulation {
    let text = format!(
        r#"
        [simulation]
        spacing = 0.1
        duration = 1.0
        gravity = [0, 0, 0]
        contact = {{ between_bodies = false, within_body = false }}
        [materials.stuff]
        law = "{}"
        youngs_modulus = 1e5
        poisson_ratio = 0.4
        [[bodies]]
        name = "cube"
        material = "stuff"
        shape = {{ type = "box", size = [0.6, 0.6, 0.6] }}
        {start}
        "#,
        law.name()
    );
    let scene = Scene::from_toml("cube", "cube", &text, &[]).expect("a scene");
    scene.build().expect("a simulation")
}

fn energy(simulation: &Simulation) -> f64 {
    let state = simulation.diagnostics(0, &simulation.fields());
    state.kinetic_energy + state.elastic_energy
}

#[test]
fn a_squeezed_cube_that_is_let_go_never_gains_energy() {
    let squeezed = "initial_stretch = [0.6, 1.2, 1.1]\nrotation = { axis = [1, 2, 3], degrees = 50 }";
    for law in Law::ALL {
        let mut simulation = cube(law, squeezed);
        let start = energy(&simulation);
        for frame in 1..=20 {
            simulation.advance_to(0.01 * frame as f64).unwrap_or_else(|error| panic!("{law:?}: {error}"));
            // Velocities are read half a step before positions, which at the limit of stability is seen; an unstable
            // run would grow without bound.
            let now = energy(&simulation);
            assert!(now < 1.2 * start, "{law:?} at frame {frame}: {now} of {start}");
        }
    }
}

#[test]
fn a_cube_thrown_faster_than_sound_at_a_floor_comes_through_or_says_why_not() {
    let floor = "velocity = [0, -30, 0]\nposition = [0, 0.31, 0]\n[[rigids]]\nname = \"floor\"\nshape = { type = \"plane\", normal = [0, 1, 0] }";
    for law in Law::ALL {
        let mut simulation = cube(law, floor);
        match simulation.advance_to(0.3) {
            Ok(()) => assert!(energy(&simulation).is_finite(), "{law:?}"),
            Err(error) => {
                let forbids = !law.allows(pliant::math::Vec3::new(1.0, 1.0, -1.0));
                assert!(forbids && error.trouble == Trouble::Inverted, "{law:?}: {error}");
                assert!(error.remedy.contains("neo_hookean_bounded"), "{error}");
            }
        }
    }
}
