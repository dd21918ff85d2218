//! Cubes in a rotation field [P18, Fig. 2]: who takes up the angular momentum, and who keeps it.

use super::plots::Plot;
use super::record::{Recorder, advance};
use pliant::forces::fields::FieldKind;
use pliant::math::Vec3;
use pliant::simulation::Simulation;

/// When the field ends, and when the scene does [s].
const FIELD: f64 = 3.0;
const END: f64 = 5.0;
/// Between samples [s].
const SAMPLE: f64 = 0.05;

const KEPT: &str = "part kept in the two seconds after the field";

/// Angular momentum of a body over time, in parts of what a rigid one has when the field ends.
struct Spin {
    name: String,
    momentum: Vec<(f64, f64)>,
}

impl Spin {
    fn at(&self, time: f64) -> f64 {
        self.momentum[(time / SAMPLE).round() as usize].1
    }

    fn kept(&self) -> f64 {
        self.at(END) / self.at(FIELD)
    }
}

/// P18-2.
pub fn rotation_field(r: &mut Recorder) {
    let mut simulation = r.simulation(&[]);
    let dt = simulation.time_step_limit().dt;
    let spins = record(&mut simulation);
    let [corrected, saint_venant, viscous, uncorrected] = &spins;
    for spin in [corrected, saint_venant] {
        r.compare("momentum at the end of the field, over a rigid cube's", &spin.name, &[spin.at(FIELD)]);
    }
    judge_decay(r, corrected, dt);
    r.note(KEPT, &saint_venant.name, saint_venant.kept(), "");
    for spin in [viscous, uncorrected] {
        r.note("momentum at the end of the field, over a rigid cube's", &spin.name, spin.at(FIELD), "");
    }
    r.note(KEPT, &viscous.name, viscous.kept(), "");
    let slower = (viscous.kept() < 0.95 * corrected.kept()) as u8 as f64;
    r.compare("XSPH damps the rotation", &viscous.name, &[slower]);
    let largest = uncorrected.momentum.iter().map(|p| p.1.abs()).fold(0.0, f64::max);
    r.compare("uncorrected: largest momentum over the run", &uncorrected.name, &[largest]);

    let materials = ["corrected", "st_venant_kirchhoff", "xsph"];
    let explicit: Vec<String> = materials.map(|name| format!("materials.{name}.model=mls2004")).into();
    let explicit = record(&mut r.simulation(&explicit));
    for spin in &explicit[..2] {
        let name = format!("{}, mls2004", spin.name);
        r.compare("momentum at the end of the field, over a rigid cube's", &name, &[spin.at(FIELD)]);
        r.compare("explicit: part kept in the two seconds after the field", &name, &[spin.kept()]);
    }
    let [first, ..] = explicit;
    plot(r, spins, first);
}

/// Implicit Euler takes the forces at the end of the step, where a turning body points further round: a part of the
/// centripetal force brakes it, d omega/dt = -dt omega³, and omega² falls as 1/(1 + 2 dt omega² t).
fn judge_decay(r: &mut Recorder, spin: &Spin, dt: f64) {
    let omega = FIELD * spin.at(FIELD);
    let expected = 1.0 / (1.0 + 2.0 * dt * omega * omega * (END - FIELD)).sqrt();
    let quantity = format!("{KEPT}, against implicit Euler's own damping");
    r.judge(&quantity, &spin.name, spin.kept(), expected, 0.01, "d omega/dt = -dt omega^3 of a rigid body");
}

/// The curves of the four cubes.
fn record(simulation: &mut Simulation) -> [Spin; 4] {
    let rigid: Vec<f64> = (0..4).map(|k| rigid_momentum(simulation, k)).collect();
    let mut spins =
        [0, 1, 2, 3].map(|k| Spin { name: simulation.bodies()[k].name.clone(), momentum: Vec::new() });
    for sample in 0..=(END / SAMPLE).round() as usize {
        advance(simulation, sample as f64 * SAMPLE);
        let fields = simulation.fields();
        for (k, spin) in spins.iter_mut().enumerate() {
            let state = simulation.diagnostics(k, &fields);
            let own = state.angular_momentum - state.center.cross(state.momentum);
            spin.momentum.push((simulation.time(), own.y / rigid[k]));
        }
    }
    spins
}

/// I strength t of a rigid body: the field turns all its particles alike.
fn rigid_momentum(simulation: &Simulation, k: usize) -> f64 {
    let FieldKind::Rotation { center, strength, .. } = simulation.setup().fields[k].kind;
    let range = simulation.bodies()[k].range.clone();
    let particles = simulation.particles();
    let arm = |x: Vec3| Vec3::new(x.x - center.x, 0.0, x.z - center.z).length_squared();
    let inertia: f64 = range.map(|i| particles.masses[i] * arm(particles.positions[i])).sum();
    inertia * strength * FIELD
}

fn plot(r: &mut Recorder, spins: [Spin; 4], explicit: Spin) {
    let rigid = vec![(0.0, 0.0), (FIELD, 1.0), (END, 1.0)];
    let curves = spins.into_iter().map(|spin| (spin.name, spin.momentum));
    let others =
        [("corrected, explicit (mls2004)".to_string(), explicit.momentum), ("rigid".to_string(), rigid)];
    r.plots.push(Plot {
        name: "angular_momentum".into(),
        x_label: "time [s]",
        y_label: "angular momentum over a rigid cube's at 3 s",
        curves: curves.chain(others).collect(),
    });
}
