//! One body filled with particles in every way.

use super::record::{Recorder, advance};
use pliant::simulation::Simulation;

const MASS: f64 = 64.0;
const GRAVITY: f64 = 9.81;
/// Height of the centre at the start, and when the cube stands on the floor [m].
const START: f64 = 0.4;
const STANDING: f64 = 0.2;

/// Kinetic energy, and all energy over that of the cube standing on the floor.
fn energies(simulation: &Simulation) -> (f64, f64) {
    let d = simulation.diagnostics(0, &simulation.fields());
    let mass: f64 = simulation.particles().masses.iter().sum();
    let fallen = d.potential_energy - mass * GRAVITY * STANDING;
    (d.kinetic_energy, d.kinetic_energy + d.elastic_energy + fallen)
}

/// C17a.
pub fn bounce(r: &mut Recorder) {
    let fall = MASS * GRAVITY * (START - STANDING);
    let mut lattice = None;
    for sampling in ["lattice", "ccp", "poisson", "relaxed"] {
        let mut simulation = r.simulation(&[format!("bodies.0.sampling={sampling}")]);
        let mass: f64 = simulation.particles().masses.iter().sum();
        r.compare("mass / (density * volume)", sampling, &[mass / MASS]);
        advance(&mut simulation, 0.19);
        r.compare("energy of the fall / (m g h)", sampling, &[energies(&simulation).1 / fall]);
        advance(&mut simulation, 0.35);
        let (kinetic, all) = energies(&simulation);
        let (kinetic_of_lattice, all_of_lattice) = *lattice.get_or_insert((kinetic, all));
        r.compare("energy after the bounce / that of the lattice", sampling, &[all / all_of_lattice]);
        let of_motion = "kinetic energy after the bounce / that of the lattice";
        r.compare(of_motion, sampling, &[kinetic / kinetic_of_lattice]);
    }
}
