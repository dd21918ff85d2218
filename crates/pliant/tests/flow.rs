//! Laws of liquids, solids and rigid bodies under one pressure.

use pliant::math::Vec3;
use pliant::scene::Scene;
use pliant::simulation::Simulation;

/// A jet, a jelly that melts and an elastic block fall into water in which a rigid ball floats; a drain takes some out.
const BUSY: &str = "
    simulation = { spacing = 0.05, duration = 10, time_step = { max = 0.004 } }
    materials.water = { model = 'fluid', density = 1000, viscosity = 0.01, surface_tension = 0.07 }
    materials.oil = { model = 'fluid', density = 800, viscosity = 1 }
    materials.jelly = { model = 'becker2009', youngs_modulus = 1e5, density = 700 }
    materials.wax = { model = 'peer2018', density = 900,
        schedule = [{ time = 0.03, youngs_modulus = 2e5 }, { time = 0.04, phase = 'liquid', viscosity = 1 }] }
    bodies = [
        { name = 'pool', material = 'water', shape = { type = 'box', size = [0.8, 0.3, 0.6] }, position = [0, 0.15, 0] },
        { name = 'block', material = 'jelly', shape = { type = 'box', size = [0.2, 0.2, 0.2] }, position = [0.2, 0.41, 0] },
        { name = 'wax', material = 'wax', shape = { type = 'box', size = [0.2, 0.2, 0.2] }, position = [-0.25, 0.41, 0] },
    ]
    emitters = [{ name = 'jet', material = 'oil', mouth = { type = 'circle', radius = 0.1 }, position = [0, 0.9, 0.1],
                  direction = [0, -1, 0], speed = 3, end = 0.1 }]
    drains = [{ region = { type = 'box', min = [-1, -1, -1], max = [-0.2, 0.06, 1] } }]
    rigids = [
        { name = 'tank', shape = { type = 'box', size = [0.8, 1.2, 0.6], inside_out = true }, position = [0, 0.6, 0] },
        { name = 'ball', shape = { type = 'sphere', radius = 0.1 }, position = [0, 0.35, -0.15],
          motion = 'dynamic', density = 400 },
    ]";

fn build(text: &str) -> Simulation {
    let scene = Scene::from_toml("test", "test", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    scene.build().unwrap_or_else(|e| panic!("{e}"))
}

fn advance(simulation: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        simulation.step(1e6).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn results_do_not_depend_on_threads_and_a_restart_goes_on_exactly() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(|| {
            let mut simulation = build(BUSY);
            advance(&mut simulation, 40);
            simulation
        })
    };
    let runs = [run(1), run(2), run(7)];
    assert!(runs.iter().all(|r| r.state_hash() == runs[0].state_hash()));
    assert!(runs[0].removed().leaving > 0, "the drain is at work");
    for pause in [7, 25] {
        let mut first = build(BUSY);
        advance(&mut first, pause);
        let mut second = build(BUSY);
        second.restore(first.time(), first.steps(), &first.save()).unwrap_or_else(|e| panic!("{e}"));
        advance(&mut second, 40 - pause);
        assert_eq!(second.state_hash(), runs[0].state_hash(), "after {pause} steps");
    }
}

#[test]
fn water_at_rest_weighs_what_it_weighs_on_smooth_and_on_sampled_floors() {
    let tank = |bottom: f64, floor: &str| {
        let (height, middle) = (1.0 - bottom, 0.5 + 0.5 * bottom);
        format!(
            "simulation = {{ spacing = 0.05, duration = 10, time_step = {{ max = 0.004 }} }}
             materials.water = {{ model = 'fluid', density = 1000 }}
             bodies = [{{ name = 'water', material = 'water', shape = {{ type = 'box', size = [0.4, 0.5, 0.4] }},
                          position = [0, 0.25, 0] }}]
             rigids = [{{ name = 'tank', shape = {{ type = 'box', size = [0.4, {height}, 0.4], inside_out = true }},
                          position = [0, {middle}, 0] }}{floor}]"
        )
    };
    let sampled =
        ", { name = 'slab', shape = { type = 'box', size = [1, 0.4, 1] }, position = [0, -0.2, 0] }";
    for (bottom, floor) in [(0.0, ""), (-0.2, sampled)] {
        let mut simulation = build(&tank(bottom, floor));
        simulation.advance_to(0.8).unwrap_or_else(|e| panic!("{e}"));
        let (mut weight, samples) = (0.0, 50);
        for _ in 0..samples {
            advance(&mut simulation, 1);
            weight -= simulation.pressure_on_rigids().iter().map(|[force, _]| force.y).sum::<f64>();
        }
        let exact = 1000.0 * 9.81 * 0.4 * 0.4 * 0.5;
        let error = weight / samples as f64 / exact - 1.0;
        assert!(error.abs() < 0.01, "floor {floor:?}: {error}");
        let deepest = simulation.particles().positions.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        assert!(deepest > 0.015, "floor {floor:?}: {deepest}");
        let center: Vec3 = simulation.particles().positions.iter().sum::<Vec3>()
            / simulation.particles().positions.len() as f64;
        assert!((center.y - 0.25).abs() < 0.005, "floor {floor:?}: {center}");
    }
}

/// Pressure and walls take energy from a liquid that runs up a wall in a thin sheet, and give none.
#[test]
fn a_dam_break_never_gains_energy() {
    for spacing in [0.04, 0.025] {
        let mut simulation = build(&format!(
            "simulation = {{ spacing = {spacing}, duration = 10, time_step = {{ max = 0.004 }} }}
             materials.water = {{ model = 'fluid', density = 1000 }}
             bodies = [{{ name = 'water', material = 'water', shape = {{ type = 'box', size = [0.4, 0.8, 0.2] }},
                          position = [-0.4, 0.4, 0] }}]
             rigids = [{{ name = 'tank', shape = {{ type = 'box', size = [1.2, 2.4, 0.2], inside_out = true }},
                          position = [0, 1.2, 0] }}]"
        ));
        let energy = |simulation: &Simulation| {
            let particles = simulation.particles();
            let columns = particles.positions.iter().zip(&particles.velocities).zip(&particles.masses);
            columns.map(|((x, v), m)| m * (0.5 * v.length_squared() + 9.81 * x.y)).sum::<f64>()
        };
        let first = energy(&simulation);
        let mut before = first;
        while simulation.time() < 1.2 {
            simulation.step(1e6).unwrap_or_else(|e| panic!("{e}"));
            let now = energy(&simulation);
            let time = simulation.time();
            assert!(now < before + 2e-3 * first, "{spacing}: from {before} J to {now} J at {time} s");
            before = before.min(now);
        }
    }
}

/// A plate so stiff that sound passes it many times in a step carries water and comes to rest: elasticity answers to what
/// pressure does to its surface.
#[test]
fn a_stiff_plate_under_water_comes_to_rest() {
    for step in [0.0005, 0.002] {
        let mut simulation = build(&format!(
        "simulation = {{ spacing = 0.0125, duration = 10, time_step = {step} }}
         materials.water = {{ model = 'fluid', density = 1000, viscosity = 1 }}
         materials.plate = {{ model = 'peer2018', density = 2700, youngs_modulus = 7.6e7, poisson_ratio = 0 }}
         bodies = [{{ name = 'water', material = 'water', shape = {{ type = 'box', size = [0.5, 0.1, 0.05] }},
                     position = [0, 0.05, 0] }},
                   {{ name = 'plate', material = 'plate', shape = {{ type = 'box', size = [0.55, 0.05, 0.05] }},
                     position = [0, -0.025, 0],
                     pins = [{{ region = {{ type = 'box', min = [-2, -2, -2], max = [-0.25, 2, 2] }} }},
                             {{ region = {{ type = 'box', min = [0.25, -2, -2], max = [2, 2, 2] }} }}] }}]
         rigids = [{{ name = 'left', shape = {{ type = 'box', size = [0.1, 0.3, 0.05] }}, position = [-0.3, 0.15, 0] }},
                   {{ name = 'right', shape = {{ type = 'box', size = [0.1, 0.3, 0.05] }}, position = [0.3, 0.15, 0] }},
                   {{ name = 'tank', shape = {{ type = 'box', size = [0.8, 1, 0.05], inside_out = true }},
                     position = [0, 0.2, 0] }}]"
    ));
        simulation.advance_to(0.2).unwrap_or_else(|e| panic!("{e}"));
        let plate = simulation.bodies()[1].range.clone();
        let rises = |i: usize| simulation.particles().velocities[i].length();
        let fastest = plate.map(rises).fold(0.0, f64::max);
        assert!(fastest < 0.02, "steps of {step} s: {fastest} m/s");
    }
}
