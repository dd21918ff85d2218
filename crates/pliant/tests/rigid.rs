//! Rigid bodies among particles: momentum, attaching, exact restarts.

use pliant::math::Vec3;
use pliant::scene::Scene;
use pliant::simulation::Simulation;

fn simulation(text: &str) -> Simulation {
    let scene = Scene::from_toml("test", "test", text, &[]);
    scene.unwrap_or_else(|e| panic!("{}: {}", e.message, e.help)).build().unwrap()
}

/// Elastic forces are sums of singles: pairs cancel to this part of the momentum over a thousand steps.
const SINGLE: f64 = 1e-7;

const FREE: &str = r#"
[simulation]
spacing = 0.05
duration = 3.0
gravity = [0, 0, 0]

[materials.rubber]
density = 1000.0
model = "MODEL"
youngs_modulus = 2e4
poisson_ratio = 0.3
"#;

/// A soft block and a rigid one that fly at each other, off the middle, far from anything else.
const MEETING: &str = r#"
[[bodies]]
name = "soft"
material = "rubber"
shape = { type = "box", size = [0.4, 0.3, 0.3] }
velocity = [1, 0, 0]

[[rigids]]
name = "block"
shape = { type = "box", size = [0.3, 0.5, 0.3] }
position = [0.4, 0.15, 0.05]
motion = "dynamic"
density = DENSITY
velocity = [-1, 0.2, 0]
friction = 0.5
"#;

fn meeting(model: &str, density: &str) -> Simulation {
    simulation(&format!("{FREE}{MEETING}").replace("MODEL", model).replace("DENSITY", density))
}

/// Momentum and angular momentum about the origin of particles that are their own, and of rigid bodies.
fn momentum(simulation: &Simulation, attached: impl Fn(usize) -> bool) -> (Vec3, Vec3) {
    let particles = simulation.particles();
    let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
    for i in (0..particles.len()).filter(|&i| !attached(i)) {
        let p = particles.velocities[i] * particles.masses[i];
        linear += p;
        angular += particles.positions[i].cross(p);
    }
    for (k, now) in simulation.rigids().now().iter().enumerate().filter(|(_, now)| now.is_dynamic()) {
        let p = now.velocity / now.inverse_mass;
        linear += p;
        angular += now.center.cross(p) + simulation.rigids().spin(k);
    }
    (linear, angular)
}

#[test]
fn contact_keeps_the_momentum_of_a_free_system() {
    for density in ["50.0", "1000.0", "20000.0"] {
        let mut simulation = meeting("mls2004", density);
        let before = momentum(&simulation, |_| false);
        let scale = 36.0 + 45e-3 * density.parse::<f64>().unwrap();
        for _ in 0..1000 {
            simulation.step(10.0).unwrap();
        }
        let after = momentum(&simulation, |_| false);
        let block = &simulation.rigids().now()[0];
        assert!(block.velocity.x > -0.99, "density {density}: they have met: {}", block.velocity);
        assert!((after.0 - before.0).length() < SINGLE * scale, "density {density}: {before:?} {after:?}");
        assert!((after.1 - before.1).length() < 1e-4 * scale, "density {density}: {before:?} {after:?}");
    }
}

/// A soft bar with a rigid ball in one end, thrown so that the ball pulls.
const CARRIED: &str = r#"
[[bodies]]
name = "bar"
material = "rubber"
shape = { type = "box", size = [0.6, 0.2, 0.2] }
angular_velocity = [0, 0, 2]

[[bodies.pins]]
region = { type = "box", min = [0.2, -1, -1], max = [1, 1, 1] }
motion = { attached = "weight" }

[[rigids]]
name = "weight"
shape = { type = "sphere", radius = 0.1 }
position = [0.3, 0, 0]
motion = "dynamic"
density = 5000.0
velocity = [0.3, 0.6, 0]
angular_velocity = [0, 0, 2]
"#;

/// Implicit steps lose some spin, with or without a rigid body; explicit ones keep it.
#[test]
fn attached_particles_pull_their_body_and_keep_momentum() {
    for (model, angular) in [("mls2004", 1e-4), ("peer2018", 5e-2), ("kugelstadt2021", 5e-2)] {
        let mut simulation = simulation(&format!("{FREE}{CARRIED}").replace("MODEL", model));
        let pins = simulation.particles().pins.clone();
        let attached = |i: usize| pins[i] == 0;
        let weight = simulation.rigids().mass(0).unwrap().mass;
        let own = 5000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
        assert!((weight - own - 0.004 * 1000.0).abs() < 1e-6, "the attached part weighs: {weight}");
        let before = momentum(&simulation, attached);
        while simulation.time() < 0.5 {
            simulation.step(0.5).unwrap();
        }
        let after = momentum(&simulation, attached);
        assert!((after.0 - before.0).length() < SINGLE * before.0.length(), "{model}: {before:?} {after:?}");
        assert!((after.1 - before.1).length() < angular * before.1.length(), "{model}: {before:?} {after:?}");
        // they sit where they sat, in the coordinates of the ball
        let pose = simulation.rigids().now()[0].pose;
        for i in (0..pins.len()).filter(|&i| attached(i)) {
            let start = simulation.particles().rest_positions[i] - Vec3::X * 0.3;
            assert!((pose.to_body(simulation.particles().positions[i]) - start).length() < 1e-9);
        }
    }
}

#[test]
fn a_weight_on_an_elastic_rope_swings_about_where_it_would_hang() {
    let text = format!("{FREE}{HANGING}")
        .replace("gravity = [0, 0, 0]", "")
        .replace("density = 1000.0", "density = 100.0")
        .replace("[materials.rubber]", "[materials.rubber]\ndamping = 10");
    for model in ["mls2004", "peer2018"] {
        let mut simulation = simulation(&text.replace("MODEL", model));
        simulation.advance_to(1.0).unwrap();
        let mut sunk = 0.0;
        for k in 1..=200 {
            simulation.advance_to(1.0 + 0.01 * k as f64).unwrap();
            sunk += (-0.5 - simulation.rigids().now()[0].pose.position.y) / 200.0;
        }
        // the weight and half of the rope's own 2.4 kg stretch its free 0.6 m: F L / (E A)
        let force = 9.81 * (1.0 / simulation.rigids().now()[0].inverse_mass + 1.2);
        let expected = force * 0.6 / (2e4 * 0.04);
        assert!((sunk / expected - 1.0).abs() < 0.15, "{model}: {sunk} of {expected}");
    }
}

const HANGING: &str = r#"
[[bodies]]
name = "rope"
material = "rubber"
shape = { type = "box", size = [0.2, 0.8, 0.2] }

[[bodies.pins]]
region = { type = "box", min = [-1, 0.3, -1], max = [1, 1, 1] }

[[bodies.pins]]
region = { type = "box", min = [-1, -1, -1], max = [1, -0.3, 1] }
motion = { attached = "weight" }

[[rigids]]
name = "weight"
shape = { type = "box", size = [0.2, 0.2, 0.2] }
position = [0, -0.5, 0]
motion = "dynamic"
density = 500.0
"#;

#[test]
fn a_released_part_leaves_with_the_velocity_it_has() {
    let text = format!("{FREE}{CARRIED}").replace("MODEL", "mls2004");
    let text =
        text.replace("motion = { attached = \"weight\" }", "motion = { attached = \"weight\" }\nuntil = 0.1");
    let mut simulation = simulation(&text);
    simulation.advance_to(0.1).unwrap();
    let mass = simulation.rigids().mass(0).unwrap().mass;
    let before = momentum(&simulation, |_| false).0;
    for _ in 0..50 {
        simulation.step(10.0).unwrap();
    }
    let after = momentum(&simulation, |_| false).0;
    assert!((mass - 5000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3).abs() < 1e-9);
    assert!((after - before).length() < SINGLE * before.length(), "{before} {after}");
}

#[test]
fn a_restored_run_continues_to_the_same_bits() {
    let mut through = meeting("mls2004", "1000.0");
    let mut first = meeting("mls2004", "1000.0");
    for _ in 0..400 {
        through.step(10.0).unwrap();
    }
    for _ in 0..200 {
        first.step(10.0).unwrap();
    }
    let mut second = meeting("mls2004", "1000.0");
    second.restore(first.time(), first.steps(), &first.save()).unwrap();
    for _ in 0..200 {
        second.step(10.0).unwrap();
    }
    assert_eq!(through.state_hash(), second.state_hash());
    assert_ne!(through.state_hash(), first.state_hash());
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let hash = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = meeting("mls2004", "1000.0");
            simulation.advance_to(0.3).unwrap();
            simulation.state_hash()
        })
    };
    let one = hash(1);
    assert_eq!((hash(2), hash(7)), (one, one));
}
