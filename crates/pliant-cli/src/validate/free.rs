//! Free flight and free rotation: conservation.

use super::plots::Plot;
use super::record::{Recorder, Resolution, advance, at_face};
use super::way::Way;
use pliant::elasticity::{Model, Solver};
use pliant::material::Law;
use pliant::math::{Mat3, Quat, Vec3, outer, svd};
use pliant::simulation::Simulation;

/// C00a.
pub fn projectile(r: &mut Recorder) {
    let explicit = Model::EXPLICIT.map(|model| Way { model, law: Law::Corotated, solver: Solver::Linear });
    for way in explicit {
        throw(r, &way, 0.05);
    }
    for way in Way::implicit(Law::Corotated) {
        throw(r, &way, 0.1);
    }
}

fn throw(r: &mut Recorder, way: &Way, spacing: f64) {
    let set = [way.settings("cube"), vec![format!("simulation.spacing={spacing}")]].concat();
    let (variant, mut simulation) = (way.describe(), r.simulation(&set));
    let start = simulation.diagnostics(0, &simulation.fields()).center;
    advance(&mut simulation, 1.0);
    let fields = simulation.fields();
    let moved = simulation.diagnostics(0, &fields).center - start;
    r.compare("com displacement x at t=1 s", &variant, &[moved.x]);
    r.compare("com displacement z at t=1 s", &variant, &[moved.z]);
    let states = simulation
        .elastic(0)
        .expect("the scene has one solid")
        .point_states(&simulation.particles().positions);
    let strained = states.iter().map(|s| (s.deformation_gradient - Mat3::IDENTITY).to_cols_array());
    let largest = strained.flatten().map(f64::abs).fold(0.0, f64::max);
    if way.model.is_implicit() {
        let source = "uniform acceleration; solves in single precision to 1e-4 of the push leave a little";
        r.judge("max |strain|", &variant, largest, 0.0, 1e-5, source);
    } else {
        r.compare("max |strain|", &variant, &[largest]);
    }
}

/// C05c: ten turns of a free cube.
pub fn spinning_cube(r: &mut Recorder) {
    r.resolution = Resolution::L20;
    let mut curves = Vec::new();
    for model in ["mls2004", "becker2009"] {
        for strain in ["linear", "green"] {
            for across in if r.full { vec![10, 20] } else { vec![10] } {
                if across == 20 && strain == "green" {
                    continue;
                }
                curves.push(spin(r, model, strain, across));
            }
        }
    }
    for way in Way::implicit(Law::Corotated) {
        spin_implicit(r, &way, Some(0.002));
        spin_implicit(r, &way, None);
    }
    let name = "angular_momentum".to_string();
    r.plots.push(Plot { name, x_label: "time [s]", y_label: "angular momentum / start", curves });
}

fn spin(r: &mut Recorder, model: &str, strain: &str, across: usize) -> (String, Vec<(f64, f64)>) {
    let mut simulation = r.simulation(&[
        format!("materials.cube.model={model}"),
        format!("materials.cube.strain={strain}"),
        format!("simulation.spacing={}", 1.0 / across as f64),
    ]);
    let variant = format!("{model} {strain}, {across} across");
    let state = |simulation: &Simulation| simulation.diagnostics(0, &simulation.fields());
    let start = state(&simulation);
    let energy = |d: &pliant::simulation::BodyDiagnostics| d.kinetic_energy + d.elastic_energy;
    let (mut momentum, mut turned, mut last) = (Vec::new(), 0.0, Quat::IDENTITY);
    for k in 0..=200 {
        advance(&mut simulation, k as f64 * 0.05);
        momentum.push((simulation.time(), state(&simulation).angular_momentum.z / start.angular_momentum.z));
        let q = body_rotation(&simulation, 0);
        turned += 2.0 * (q * last.inverse()).z.asin() * (q * last.inverse()).w.signum();
        last = q;
    }
    let end = state(&simulation);
    let lattice = 1.0 - 1.0 / (across * across) as f64;
    let drift = end.angular_momentum.z / start.angular_momentum.z - 1.0;
    r.compare(
        "angular momentum (continuum; lattice value is times (1-1/N^2))",
        &variant,
        &[start.angular_momentum.z / lattice],
    );
    r.compare("relative drift of angular momentum over run", &variant, &[drift]);
    r.compare("kinetic+strain energy at start (continuum)", &variant, &[start.kinetic_energy / lattice]);
    r.compare("relative energy drift over run, explicit", &variant, &[energy(&end) / energy(&start) - 1.0]);
    r.compare("revolution period", &variant, &[10.0 * std::f64::consts::TAU / turned]);
    r.compare("linear momentum", &variant, &[end.momentum.length()]);
    (variant, momentum)
}

/// One turn, ten with Newton's method, with a step or with that of the scene's own limits.
fn spin_implicit(r: &mut Recorder, way: &Way, step: Option<f64>) {
    let set = step.map_or(way.settings("cube"), |dt| way.stepping("cube", dt));
    let mut simulation = r.simulation(&set);
    let state = |simulation: &Simulation| simulation.diagnostics(0, &simulation.fields());
    let start = state(&simulation);
    let turns = if way.solver == Solver::Newton { 10.0 } else { 1.0 };
    advance(&mut simulation, turns);
    let (end, dt) = (state(&simulation), turns / simulation.steps() as f64);
    let variant = format!("{}, 10 across, step {:.1} ms", way.describe(), 1e3 * dt);
    let kept = end.angular_momentum.z / start.angular_momentum.z;
    if way.solver == Solver::Newton {
        r.compare("relative drift of angular momentum over run", &variant, &[kept - 1.0]);
    } else {
        let omega = std::f64::consts::TAU;
        let expected = (1.0 + 2.0 * omega * omega * dt).sqrt().recip();
        let source = "backward Euler: a turn by phi a step becomes phi - phi³, so omega = omega0/sqrt(1 + 2 omega0² dt t)";
        let quantity = "part of the angular momentum kept in the first turn";
        r.judge(quantity, &variant, kept, expected, 0.005, source);
    }
    let energy = |d: &pliant::simulation::BodyDiagnostics| d.kinetic_energy + d.elastic_energy;
    let lost = 1.0 - energy(&end) / energy(&start);
    r.note(&format!("energy lost in {turns} turns"), &variant, lost, "no reference");
    r.compare("linear momentum", &variant, &[end.momentum.length()]);
}

/// Rotation of a body between its rest shape and now: polar rotation of Σ x ⊗ X.
pub fn body_rotation(simulation: &Simulation, k: usize) -> Quat {
    let range = simulation.bodies()[k].range.clone();
    let (x, rest) =
        (&simulation.particles().positions[range.clone()], &simulation.particles().rest_positions[range]);
    let n = x.len() as f64;
    let (c, c0) = (x.iter().sum::<Vec3>() / n, rest.iter().sum::<Vec3>() / n);
    let a = x.iter().zip(rest).fold(Mat3::ZERO, |a, (x, rest)| a + outer(*x - c, *rest - c0));
    let d = svd(a);
    Quat::from_mat3(&(d.u * d.v.transpose())).normalize()
}

/// C05d: a spinning bar stretches; its axial oscillation is averaged out.
pub fn rotating_bar(r: &mut Recorder) {
    for along in if r.full { vec![20, 40] } else { vec![20] } {
        r.resolution = if along >= 40 { Resolution::L40 } else { Resolution::L20 };
        let s = 2.0 / along as f64;
        let mut simulation = r.simulation(&[
            format!("simulation.spacing={s}"),
            format!("bodies.0.shape.size=[2.0, {0}, {0}]", (4.0 * s).max(0.2)),
        ]);
        let start = simulation.diagnostics(0, &simulation.fields()).angular_momentum.z;
        let period = 0.04; // 2 * 2 m / c
        let (samples, periods) = (40, 20);
        let (mut end, mut strain) = (0.0, 0.0);
        let turn = |simulation: &Simulation| body_rotation(simulation, 0).inverse();
        for k in 1..=samples * periods {
            advance(&mut simulation, k as f64 * period / samples as f64);
            let back = turn(&simulation);
            let particles = simulation.particles();
            let u: Vec<Vec3> = particles
                .positions
                .iter()
                .zip(&particles.rest_positions)
                .map(|(x, rest)| back * *x - *rest)
                .collect();
            end += at_face(&simulation, &u, Vec3::X).x;
            strain += central_strain(&simulation, &u);
        }
        let n = (samples * periods) as f64;
        let variant = format!("mls2004 corotated, {along} along");
        r.compare("steady end displacement relative to centre", &variant, &[end / n]);
        r.compare("steady strain at centre", &variant, &[strain / n]);
        let now = simulation.diagnostics(0, &simulation.fields()).angular_momentum.z;
        r.compare("angular momentum drift", &variant, &[now / start - 1.0]);
    }
    for way in Way::implicit(Law::Corotated) {
        rotating_bar_implicit(r, &way);
    }
}

/// Implicit steps damp the axial oscillation within a few periods, and the rotation more slowly: the stretch is judged
/// by the rotation that is left.
fn rotating_bar_implicit(r: &mut Recorder, way: &Way) {
    let dt = 0.001;
    let mut simulation = r.simulation(&way.stepping("bar", dt));
    let spin = |simulation: &Simulation| simulation.diagnostics(0, &simulation.fields()).angular_momentum.z;
    let (start, time) = (spin(&simulation), 0.6);
    advance(&mut simulation, time);
    let kept = spin(&simulation) / start;
    let back = body_rotation(&simulation, 0).inverse();
    let particles = simulation.particles();
    let placed = particles.positions.iter().zip(&particles.rest_positions);
    let u: Vec<Vec3> = placed.map(|(x, rest)| back * *x - *rest).collect();
    let variant = format!("{}, 20 along, step {} ms", way.describe(), 1e3 * dt);
    let end = at_face(&simulation, &u, Vec3::X).x;
    let source = "rho omega² l³/(3E) with the omega that is left";
    for (quantity, measured) in [
        ("steady end displacement relative to centre", end),
        ("steady strain at centre", central_strain(&simulation, &u)),
    ] {
        let reference = r.value(quantity) * kept * kept;
        r.judge(quantity, &variant, measured, reference, 0.05 * reference, source);
    }
    if way.solver == Solver::Newton {
        r.compare("angular momentum drift", &variant, &[kept - 1.0]);
    } else {
        let expected = (1.0 + 2.0 * 100.0 * dt * time).sqrt().recip();
        let source = "backward Euler: omega = omega0/sqrt(1 + 2 omega0² dt t), see C05c";
        r.judge("part of the angular momentum kept", &variant, kept, expected, 0.005, source);
    }
}

fn central_strain(simulation: &Simulation, u: &[Vec3]) -> f64 {
    let s = simulation.setup().spacing;
    let layer = |at: f64| super::record::mean_where(simulation, u, |x| (x.x - at).abs() < 0.1 * s).x;
    (layer(0.5 * s) - layer(-0.5 * s)) / s
}
