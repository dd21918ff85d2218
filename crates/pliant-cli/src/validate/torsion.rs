//! Torsion: slow twist and vibration of a square bar.

use super::record::{Recorder, advance, at_face, displacements, forces, period};
use super::way::Way;
use pliant::elasticity::{Model, Solver};
use pliant::material::Law;
use pliant::math::Vec3;
use pliant::simulation::Simulation;

/// C04a. Surface particles see the strain half a spacing further in, so torsion converges slowly from below.
pub fn slow_twist(r: &mut Recorder) {
    let resolutions: &[usize] = if r.full { &[12, 20] } else { &[12] };
    for &across in resolutions {
        for law in [Law::Corotated, Law::StVenantKirchhoff] {
            twist_to_half_a_turn(r, across, &Way::explicit(law), &[5.0, 90.0, 180.0]);
        }
    }
    for law in [Law::Corotated, Law::StVenantKirchhoff, Law::NeoHookean] {
        for way in Way::implicit(law) {
            if r.full {
                twist_to_half_a_turn(r, 12, &way, &[5.0, 90.0, 180.0]);
            } else if law == Law::NeoHookean {
                twist_to_half_a_turn(r, 12, &way, &[180.0]);
            }
        }
    }
}

fn twist_to_half_a_turn(r: &mut Recorder, across: usize, way: &Way, angles: &[f64]) {
    let (variant, law) = (format!("{}, {across} across", way.describe()), way.short_law());
    let mut smallest = f64::INFINITY;
    for &degrees in angles {
        let s = 0.2 / across as f64;
        let rate = degrees.to_radians() / 2.0;
        let mut set = vec![
            format!("simulation.spacing={s}"),
            format!("bodies.0.shape.size=[0.2, 0.2, {}]", 1.0 + 2.0 * s),
            format!("bodies.0.pins.0.region.max=[1.0, 1.0, {}]", -0.5 + 0.75 * s),
            format!("bodies.0.pins.1.region.min=[-1.0, -1.0, {}]", 0.5 - 0.75 * s),
            "materials.bar.damping=40.0".to_string(),
            format!("bodies.0.pins.1.motion={{ angular_velocity = [0.0, 0.0, {rate:?}], stop = 2.0 }}"),
        ];
        let dt = if way.solver == Solver::Newton { 0.04 } else { 0.01 };
        set.extend(if way.model.is_implicit() { way.stepping("bar", dt) } else { way.settings("bar") });
        let mut simulation = r.simulation(&set);
        advance(&mut simulation, 2.8);
        let (torque, axial) = held(&simulation);
        if degrees < 10.0 {
            let quantity = "torque per twist, both end faces rigidly clamped (small angle)";
            r.compare(quantity, &variant, &[torque / degrees.to_radians()]);
        } else {
            let quantity = format!("{law}: torque at {degrees} deg twist, both faces clamped, fixed length");
            r.compare(&quantity, &variant, &[torque]);
            let quantity = format!("{law}: axial force on the rotated face at {degrees} deg {POYNTING}");
            if way.law == Law::NeoHookean {
                r.note(&quantity, &variant, axial, "a small difference: see the case's notes");
            } else {
                r.compare(&quantity, &variant, &[axial]);
            }
        }
        let fields = simulation.fields();
        smallest = smallest.min(simulation.diagnostics(0, &fields).min_det_f);
    }
    let quantity = "no element/particle inversion up to 180 deg, det F>0 everywhere";
    r.compare(quantity, &variant, &[(smallest > 0.0) as u8 as f64]);
}

const POYNTING: &str = "(second-order Poynting effect, + = tension; sign is material dependent)";

/// Torque about the axis and pull along it that the turned end needs.
fn held(simulation: &Simulation) -> (f64, f64) {
    let particles = simulation.particles();
    let mut torque = 0.0;
    let mut pull = 0.0;
    for ((f, x), pin) in forces(simulation).iter().zip(&particles.positions).zip(&particles.pins) {
        if *pin == 1 {
            torque -= x.cross(*f).z;
            pull -= f.z;
        }
    }
    (torque, pull)
}

/// C04b.
pub fn vibration(r: &mut Recorder) {
    vibrate(r, &Way::explicit(Law::Corotated));
    if r.full {
        Way::implicit(Law::Corotated).iter().for_each(|way| vibrate(r, way));
    }
}

fn vibrate(r: &mut Recorder, way: &Way) {
    let (s, implicit) = (0.2 / 12.0, way.model.is_implicit());
    let mut set = vec![
        format!("simulation.spacing={s}"),
        format!("bodies.0.shape.size=[0.2, 0.2, {}]", 1.0 + s),
        format!("bodies.0.pins.0.region.max=[1.0, 1.0, {}]", -0.5 + 1.25 * s),
    ];
    set.extend(if implicit { way.stepping("bar", 0.0025) } else { way.settings("bar") });
    let mut simulation = r.simulation(&set);
    let clamp = -0.5 + 0.5 * s;
    let particles = simulation.particles_mut();
    for (v, x) in particles.velocities.iter_mut().zip(&particles.rest_positions) {
        let z = (x.z - clamp).max(0.0);
        *v = (Vec3::Z * (0.5 * (std::f64::consts::FRAC_PI_2 * z).sin())).cross(*x);
    }
    let mut angle = Vec::new();
    // Implicit steps damp the vibration: a period is enough.
    for k in 0..=if implicit { 100 } else { 400 } {
        advance(&mut simulation, k as f64 * 0.0025);
        angle.push((simulation.time(), tip_rotation(&simulation)));
    }
    let variant = format!("{}, 12 across", way.describe());
    r.compare("frequency of first torsion mode, clamped end (3D)", &variant, &[1.0 / period(&angle)]);
    let largest = angle.iter().map(|p| p.1.abs()).fold(0.0, f64::max);
    if implicit {
        r.note("largest tip rotation, damped by backward Euler", &variant, largest, "exp(-omega² dt t/2)");
    } else {
        let quantity = "tip rotation amplitude for initial twist rate w0 sin(pi z/2L), w0=0.5 rad/s";
        r.compare(quantity, &variant, &[largest]);
    }
}

/// C04c: explicit steps keep the energy, implicit ones only lose some; nothing breaks.
pub fn twisting_column(r: &mut Recorder) {
    let across: &[usize] = if r.full { &[6, 10] } else { &[6] };
    for &across in across {
        throw_column(r, &Way::explicit(Law::NeoHookean), across);
        for model in Model::IMPLICIT {
            throw_column(r, &Way::newton(model, Law::NeoHookean), across);
        }
    }
}

fn throw_column(r: &mut Recorder, way: &Way, across: usize) {
    let (s, implicit) = (1.0 / across as f64, way.model.is_implicit());
    let mut set = vec![
        format!("simulation.spacing={s:?}"),
        format!("bodies.0.shape.size=[1.0, 1.0, {:?}]", 6.0 + s),
        format!("bodies.0.pins.0.region.max=[9.0, 9.0, {:?}]", -3.0 + 1.25 * s),
    ];
    set.extend(way.settings("column"));
    if !implicit {
        set.push("simulation.time_step={ max = 0.001 }".to_string());
    }
    let mut simulation = r.simulation(&set);
    let clamp = -3.0 + 0.5 * s;
    let particles = simulation.particles_mut();
    for (v, x) in particles.velocities.iter_mut().zip(&particles.rest_positions) {
        let z = (x.z - clamp).max(0.0);
        *v = (Vec3::Z * (105.0 * (std::f64::consts::PI * z / 12.0).sin())).cross(*x);
    }
    let state = |simulation: &Simulation| simulation.diagnostics(0, &simulation.fields());
    let start = state(&simulation);
    let (mut smallest, mut away, mut highest) = (f64::INFINITY, 0.0f64, 0.0f64);
    let mut last = 0.0;
    for k in 1..=50 {
        advance(&mut simulation, k as f64 * 0.01);
        let now = state(&simulation);
        last = (now.kinetic_energy + now.elastic_energy) / start.kinetic_energy;
        (smallest, highest) = (smallest.min(now.min_det_f), highest.max(last));
        let top = at_face(&simulation, &displacements(&simulation), Vec3::Z);
        away = away.max(top.truncate().length());
    }
    let steps = simulation.steps();
    let variant = format!("{}, {across} across, {steps} steps", way.describe());
    // A lattice of N² point masses has (1 - 1/N²) of the polar moment.
    let lattice = 1.0 - 1.0 / (across * across) as f64;
    r.compare("initial kinetic energy", &variant, &[start.kinetic_energy / lattice]);
    if implicit {
        r.note("part of the energy left after 0.5 s", &variant, last, "backward Euler");
        let source = "backward Euler loses energy, never gains any";
        r.judge("energy at its highest / start", &variant, highest.max(1.0), 1.0, 0.01, source);
    } else {
        r.compare("kinetic+strain energy drift (explicit) until 0.5 s", &variant, &[last - 1.0]);
    }
    let whole = smallest > 0.0 && away < 0.05;
    let quantity = "no inversion, no loss of symmetry (tip stays on axis within 0.05 m)";
    r.compare(quantity, &variant, &[whole as u8 as f64]);
}

/// Mean rotation of the last layer about the axis, extrapolated to the face by the sine of the mode being flat there.
fn tip_rotation(simulation: &Simulation) -> f64 {
    let u = displacements(simulation);
    let rest = &simulation.particles().rest_positions;
    let last = rest.iter().map(|x| x.z).fold(f64::MIN, f64::max);
    let (mut moment, mut inertia) = (0.0, 0.0);
    for (x, u) in rest.iter().zip(&u).filter(|(x, _)| x.z > last - 1e-6) {
        moment += x.x * u.y - x.y * u.x;
        inertia += x.x * x.x + x.y * x.y;
    }
    moment / inertia
}
