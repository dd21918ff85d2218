//! Torsion: slow twist and vibration of a square bar.

use super::record::{Recorder, Resolution, advance, displacements, forces, period};
use pliant::math::Vec3;
use pliant::simulation::Simulation;

/// C04a.
pub fn slow_twist(r: &mut Recorder) {
    r.resolution = Resolution::L40;
    for (strain, law) in [("linear", "cor"), ("green", "stvk")] {
        let mut smallest = f64::INFINITY;
        for degrees in [5.0f64, 90.0, 180.0] {
            let rate = degrees.to_radians() / 6.0;
            let mut simulation = r.simulation(&[
                format!("materials.bar.strain={strain}"),
                format!("bodies.0.pins.1.motion.angular_velocity=[0.0, 0.0, {rate:?}]"),
            ]);
            // Turned for 6 s, then 2 s at rest.
            advance(&mut simulation, 8.0);
            let (torque, axial) = held(&simulation);
            let variant = format!("mls2004 {strain}, 8 across");
            if degrees < 10.0 {
                let quantity = "torque per twist, both end faces rigidly clamped (small angle)";
                r.compare(quantity, &variant, &[torque / degrees.to_radians()]);
            } else {
                let quantity = format!("{law}: torque at {degrees} deg twist, both faces clamped, fixed length");
                r.compare(&quantity, &variant, &[torque]);
                let quantity = format!(
                    "{law}: axial force on the rotated face at {degrees} deg (second-order Poynting effect, + = tension; sign is material dependent)"
                );
                r.compare(&quantity, &variant, &[axial]);
            }
            let fields = simulation.fields();
            smallest = smallest.min(simulation.diagnostics(0, &fields).min_det_f);
        }
        let quantity = "no element/particle inversion up to 180 deg, det F>0 everywhere";
        r.compare(quantity, &format!("mls2004 {strain}, 8 across"), &[(smallest > 0.0) as u8 as f64]);
    }
}

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
    r.resolution = Resolution::L40;
    let mut simulation = r.simulation(&[]);
    let clamp = -0.5 + 0.5 * simulation.setup().spacing;
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
    let variant = "mls2004 linear, 8 across";
    r.compare("frequency of first torsion mode, clamped end (3D)", variant, &[1.0 / period(&angle)]);
    let largest = angle.iter().map(|p| p.1.abs()).fold(0.0, f64::max);
    r.compare("tip rotation amplitude for initial twist rate w0 sin(pi z/2L), w0=0.5 rad/s", variant, &[largest]);
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
