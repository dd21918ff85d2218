//! The elastic flag of Turek and Hron: at rest under its weight, and swinging.
//!
//! The reference is in plane strain. Here the flag is a strip that is free to contract sideways, with the modulus
//! E/(1 - nu²), which makes its bending stiffness that of plane strain: see the README of C06a.

use super::plots::Plot;
use super::record::{Recorder, Resolution, advance, at_face, displacements, period};
use super::way::Way;
use pliant::elasticity::{Model, Solver};
use pliant::material::Law;
use pliant::math::Vec3;
use pliant::simulation::Simulation;

const LENGTH: f64 = 0.35;
const THICKNESS: f64 = 0.02;
const NU: f64 = 0.4;
/// First angular frequency over sqrt(E): 1.0995 Hz at 1.4 MPa [1/(s sqrt(Pa))].
const OMEGA: f64 = std::f64::consts::TAU * 1.0995 / 1183.2;

fn flag(r: &Recorder, way: &Way, youngs_modulus: f64, across: usize, rest: &[String]) -> Simulation {
    let s = THICKNESS / across as f64;
    let set = vec![
        format!("simulation.spacing={s:?}"),
        format!("bodies.0.shape.size=[{:?}, {THICKNESS:?}, {:?}]", LENGTH + s, 4.0 * s),
        format!("bodies.0.pins.0.region.max=[{:?}, 1.0, 1.0]", -0.5 * LENGTH + 1.25 * s),
        format!("materials.flag.youngs_modulus={:?}", youngs_modulus / (1.0 - NU * NU)),
    ];
    r.simulation(&[&set, way.settings("flag").as_slice(), rest].concat())
}

/// Displacement of point A, the centre of the free end.
fn tip(simulation: &Simulation) -> Vec3 {
    at_face(simulation, &displacements(simulation), Vec3::X)
}

/// C06a and C06b: critical damping, until the flag hangs still.
pub fn hanging(r: &mut Recorder) {
    let youngs_modulus = if r.title().contains("CSM1") { 1.4e6 } else { 5.6e6 };
    let soft = youngs_modulus < 2e6;
    let omega = OMEGA * f64::sqrt(youngs_modulus);
    let laws: &[Law] = match (r.full, soft) {
        (true, true) => &[Law::StVenantKirchhoff, Law::Corotated, Law::NeoHookean],
        (true, false) => &[Law::StVenantKirchhoff, Law::Corotated],
        (false, _) => &[Law::StVenantKirchhoff],
    };
    for way in laws.iter().flat_map(|law| Way::implicit(*law)) {
        let steps = [
            format!("materials.flag.damping={:?}", 2.0 * omega),
            format!("simulation.time_step={:?}", 0.2 / omega),
        ];
        let mut simulation = flag(r, &way, youngs_modulus, 10, &steps);
        advance(&mut simulation, 12.0 / omega);
        let u = tip(&simulation);
        let variant = format!("{}, 10 across", way.describe());
        match (way.law, soft) {
            (Law::StVenantKirchhoff, _) => {
                r.compare("ux(A)", &variant, &[u.x]);
                r.compare("uy(A)", &variant, &[u.y]);
            }
            (Law::Corotated, true) => {
                let quantity = "corotated-linear material instead of StVK: ux,uy(A)";
                r.compare(quantity, &variant, &[u.x, u.y]);
            }
            (Law::Corotated, false) => r.compare("corotated ux,uy", &variant, &[u.x, u.y]),
            _ => r.compare("neo-Hookean instead: ux,uy(A)", &variant, &[u.x, u.y]),
        }
    }
}

/// C06c: gravity is there from the start, and nothing damps but the steps.
pub fn swinging(r: &mut Recorder) {
    r.resolution = Resolution::L20;
    let (dt, across) = (0.0025, if r.full { 10 } else { 8 });
    let mut curves = Vec::new();
    let linear = Way { model: Model::Peer2018, law: Law::Corotated, solver: Solver::Linear };
    let newton = Way::newton(Model::Kugelstadt2021, Law::StVenantKirchhoff);
    for way in if r.full { vec![newton, linear] } else { vec![newton] } {
        let mut simulation = flag(r, &way, 1.4e6, across, &[format!("simulation.time_step={dt:?}")]);
        let variant = format!("{}, {across} across, step {} ms", way.describe(), 1e3 * dt);
        let mut path = Vec::new();
        for k in 0..=if r.full { 400 } else { 200 } {
            advance(&mut simulation, k as f64 * dt);
            path.push((simulation.time(), tip(&simulation)));
        }
        judge_swing(r, &variant, &path);
        curves.push((variant, path.iter().map(|(t, u)| (*t, u.y)).collect()));
    }
    r.plots.push(Plot { name: "tip".into(), x_label: "time [s]", y_label: "uy(A) [m]", curves });
}

fn judge_swing(r: &mut Recorder, variant: &str, path: &[(f64, Vec3)]) {
    let lowest = path.iter().copied().fold((0.0, Vec3::ZERO), |a, b| if b.1.y < a.1.y { b } else { a });
    r.compare("first minimum of uy(A): time, value", variant, &[lowest.0, lowest.1.y]);
    if !r.full {
        return;
    }
    // Back at the top, the swing has lost what backward Euler takes in a period.
    let after = path.iter().filter(|p| p.0 > lowest.0);
    let highest = after.copied().fold((0.0, lowest.1), |a, b| if b.1.y > a.1.y { b } else { a });
    for (quantity, low, high) in [
        ("uy(A) mean, amplitude", lowest.1.y, highest.1.y),
        ("ux(A) mean, amplitude", lowest.1.x, highest.1.x),
    ] {
        let source = "Turek & Hron 2006; within 10 %: first-order steps damp the swing";
        let measured = [0.5 * (low + high), 0.5 * (high - low)];
        for (k, (measured, reference)) in measured.into_iter().zip(r.values(quantity)).enumerate() {
            let quantity = format!("{quantity} [{k}]");
            r.judge(&quantity, variant, measured, reference, 0.1 * reference.abs(), source);
        }
    }
    let middle = 0.5 * (lowest.1.y + highest.1.y);
    let series: Vec<(f64, f64)> = path.iter().map(|(t, u)| (*t, u.y - middle)).collect();
    r.compare("frequency", variant, &[1.0 / period(&series)]);
}
