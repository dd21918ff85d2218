//! Torsion: slow twist and vibration of a square bar.

use super::record::{Recorder, advance, displacements, forces, period};
use pliant::math::Vec3;
use pliant::simulation::Simulation;

/// C04a. Surface particles see the strain half a spacing further in, so torsion converges slowly from below.
pub fn slow_twist(r: &mut Recorder) {
    let resolutions: &[usize] = if r.full { &[12, 20] } else { &[12] };
    for &across in resolutions {
        for (strain, law) in [("linear", "cor"), ("green", "stvk")] {
            twist_to_half_a_turn(r, across, strain, law);
        }
    }
}

fn twist_to_half_a_turn(r: &mut Recorder, across: usize, strain: &str, law: &str) {
    let variant = format!("mls2004 {strain}, {across} across");
    let mut smallest = f64::INFINITY;
    for degrees in [5.0f64, 90.0, 180.0] {
        let s = 0.2 / across as f64;
        let rate = degrees.to_radians() / 2.0;
        let mut simulation = r.simulation(&[
            format!("simulation.spacing={s}"),
            format!("bodies.0.shape.size=[0.2, 0.2, {}]", 1.0 + 2.0 * s),
            format!("bodies.0.pins.0.region.max=[1.0, 1.0, {}]", -0.5 + 0.75 * s),
            format!("bodies.0.pins.1.region.min=[-1.0, -1.0, {}]", 0.5 - 0.75 * s),
            format!("materials.bar.strain={strain}"),
            "materials.bar.damping=40.0".to_string(),
            format!("bodies.0.pins.1.motion={{ angular_velocity = [0.0, 0.0, {rate:?}], stop = 2.0 }}"),
        ]);
        advance(&mut simulation, 2.8);
        let (torque, axial) = held(&simulation);
        if degrees < 10.0 {
            let quantity = "torque per twist, both end faces rigidly clamped (small angle)";
            r.compare(quantity, &variant, &[torque / degrees.to_radians()]);
        } else {
            let quantity = format!("{law}: torque at {degrees} deg twist, both faces clamped, fixed length");
            r.compare(&quantity, &variant, &[torque]);
            let quantity = format!("{law}: axial force on the rotated face at {degrees} deg {POYNTING}");
            r.compare(&quantity, &variant, &[axial]);
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
    let s = 0.2 / 12.0;
    let mut simulation = r.simulation(&[
        format!("simulation.spacing={s}"),
        format!("bodies.0.shape.size=[0.2, 0.2, {}]", 1.0 + s),
        format!("bodies.0.pins.0.region.max=[1.0, 1.0, {}]", -0.5 + 1.25 * s),
    ]);
    let clamp = -0.5 + 0.5 * s;
    let particles = simulation.particles_mut();
    for (v, x) in particles.velocities.iter_mut().zip(&particles.rest_positions) {
        let z = (x.z - clamp).max(0.0);
        *v = (Vec3::Z * (0.5 * (std::f64::consts::FRAC_PI_2 * z).sin())).cross(*x);
    }
    let mut angle = Vec::new();
    for k in 0..=400 {
        advance(&mut simulation, k as f64 * 0.0025);
        angle.push((simulation.time(), tip_rotation(&simulation)));
    }
    let variant = "mls2004 linear, 12 across";
    r.compare("frequency of first torsion mode, clamped end (3D)", variant, &[1.0 / period(&angle)]);
    let largest = angle.iter().map(|p| p.1.abs()).fold(0.0, f64::max);
    r.compare(
        "tip rotation amplitude for initial twist rate w0 sin(pi z/2L), w0=0.5 rad/s",
        variant,
        &[largest],
    );
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
