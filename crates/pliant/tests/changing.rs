//! Moduli that change with time, and fields that push for a while.

use pliant::elasticity::Model;
use pliant::material::Moduli;
use pliant::math::Vec3;
use pliant::scene::Scene;
use pliant::simulation::Simulation;

/// A free cube of 6³ particles whose moduli fall and rise; before `until` it is turned by a field.
fn cube(model: Model, schedule: &str) -> Simulation {
    let text = format!(
        r#"
        [simulation]
        spacing = 0.1
        duration = 1.0
        gravity = [0, 0, 0]
        time_step = {{ max = 0.002 }}
        [materials.stuff]
        model = "{}"
        {schedule}
        [[bodies]]
        material = "stuff"
        shape = {{ type = "box", size = [0.6, 0.6, 0.6] }}
        initial_stretch = [1.02, 1, 1]
        position = [1, 2, 3]
        [[fields]]
        type = "rotation"
        axis = [0, 0, 1]
        center = [1, 2, 3]
        strength = 3
        until = 0.1
        "#,
        model.name()
    );
    Scene::from_toml("cube", "cube", &text, &[]).expect("a scene").build().expect("a simulation")
}

const FALLING: &str = "schedule = [{ time = 0.02, youngs_modulus = 1e5 }, { time = 0.08, youngs_modulus = 1e3 }, \
     { time = 0.2, youngs_modulus = 1e6 }]";

fn every_model() -> impl Iterator<Item = Model> {
    Model::EXPLICIT.into_iter().chain(Model::IMPLICIT)
}

#[test]
fn the_moduli_are_those_of_the_time() {
    for model in every_model() {
        let mut simulation = cube(model, FALLING);
        for (time, youngs_modulus) in [(0.0, 1e5), (0.01, 1e5), (0.05, 1e4), (0.08, 1e3), (0.25, 1e6)] {
            simulation.advance_to(time).expect("a stable run");
            let got = simulation.elastic(0).expect("the scene has one solid").moduli();
            let expected = Moduli::from_young_poisson(youngs_modulus, 0.3);
            // rounding of powers
            assert!((got.shear / expected.shear - 1.0).abs() < 1e-9, "{model:?} at {time}: {got:?}");
            assert!((got.bulk / expected.bulk - 1.0).abs() < 1e-9, "{model:?} at {time}: {got:?}");
        }
    }
}

#[test]
fn a_run_continued_from_a_saved_state_is_the_run_uninterrupted() {
    for model in every_model() {
        let mut whole = cube(model, FALLING);
        whole.advance_to(0.05).expect("a stable run");
        let (time, steps, saved) = (whole.time(), whole.steps(), whole.save());
        let energy = |s: &Simulation| s.diagnostics(0, &s.fields()).elastic_energy;
        let energy_then = energy(&whole);
        whole.advance_to(0.15).expect("a stable run");
        let mut continued = cube(model, FALLING);
        continued.restore(time, steps, &saved).expect("the same scene");
        assert_eq!(energy(&continued), energy_then, "{model:?}");
        continued.advance_to(0.15).expect("a stable run");
        assert_eq!(continued.state_hash(), whole.state_hash(), "{model:?}");
    }
}

#[test]
fn explicit_steps_shorten_as_a_body_stiffens() {
    for model in Model::EXPLICIT {
        let mut simulation = cube(
            model,
            "schedule = [{ time = 0.01, youngs_modulus = 1e7 }, { time = 0.02, youngs_modulus = 1e9 }]",
        );
        let soft = simulation.time_step_limit().dt;
        simulation.advance_to(0.02).expect("a stable run");
        let stiff = simulation.time_step_limit().dt;
        // sqrt(1e9 / 1e7), and the state is hardly strained
        assert!((soft / stiff - 10.0).abs() < 0.5, "{model:?}: {soft} {stiff}");
        simulation.advance_to(0.05).unwrap_or_else(|error| panic!("{model:?}: {error}"));
    }
}

#[test]
fn a_rotation_field_gives_a_body_its_angular_momentum_and_no_other() {
    // solenthaler2007 takes a turn for a strain
    for model in every_model().filter(|model| *model != Model::Solenthaler2007) {
        let mut simulation = cube(model, "youngs_modulus = 1e6");
        let center = Vec3::new(1.0, 2.0, 3.0);
        let inertia: f64 = {
            let particles = simulation.particles();
            let arm = |x: &Vec3| Vec3::new(x.x - center.x, x.y - center.y, 0.0).length_squared();
            particles.positions.iter().zip(&particles.masses).map(|(x, m)| m * arm(x)).sum()
        };
        simulation.advance_to(0.15).expect("a stable run");
        let state = simulation.diagnostics(0, &simulation.fields());
        let spin = state.angular_momentum - state.center.cross(state.momentum);
        let expected = Vec3::Z * (inertia * 3.0 * 0.1);
        // the inertia breathes by the initial stretch of 2 %, averaged over its oscillations
        assert!((spin - expected).length() < 0.03 * expected.length(), "{model:?}: {spin} {expected}");
        // elastic forces are summed in single precision
        assert!(state.momentum.length() < 1e-5 * expected.length(), "{model:?}: {}", state.momentum);
    }
}

#[test]
fn a_liquid_that_turns_solid_takes_the_shape_it_had() {
    for model in [Model::Becker2009, Model::Peer2018, Model::Kugelstadt2021] {
        let mut simulation = cube(
            model,
            "damping = 20\nschedule = [{ time = 0, phase = 'liquid' }, { time = 0.5, youngs_modulus = 1e5 }]",
        );
        let particles = simulation.particles_mut();
        let n = particles.positions.len();
        let before = particles.positions.clone();
        // 216 particles, each where another was
        for (i, x) in particles.positions.iter_mut().enumerate() {
            *x = before[i * 5 % n];
        }
        simulation.advance_to(1.0).unwrap_or_else(|error| panic!("{model:?}: {error}"));
        let (x, rest) = (&simulation.particles().positions, &simulation.particles().rest_positions);
        for (i, j) in (0..n).map(|i| (i, (i + 37) % n)) {
            let (length, own) = (x[i].distance(x[j]), rest[i].distance(rest[j]));
            // what is left of its oscillations
            assert!((length - own).abs() < 0.01, "{model:?}: {i} and {j}, {length} instead of {own}");
        }
    }
}
