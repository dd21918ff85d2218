//! Cantilevers: sag, first frequency, convergence.

use super::plots::Plot;
use super::record::{Recorder, advance, at_face, displacements, period, turned};
use super::way::Way;
use pliant::elasticity::Solver;
use pliant::material::Law;
use pliant::math::Vec3;
use pliant::simulation::Simulation;

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);
/// First bending frequency over sqrt(E) of this beam, used to choose the damping [Hz/sqrt(Pa)].
const F1: f64 = 1e-3;
/// Step of implicit ways over the time in which the first bending mode turns by one radian.
const PHASE_STEP: f64 = 0.2;

/// Phase of the first mode after which a critically damped beam is at rest to 1e-4.
const SETTLED: f64 = 12.0;

/// A beam of the case with this many particles across.
#[derive(Clone, Copy)]
struct Beam {
    across: usize,
    youngs_modulus: f64,
    nu: f64,
    way: Way,
    zero_energy: f64,
    turned: bool,
    clamp: Clamp,
}

/// What most beams have.
const BEAM: Beam = Beam {
    across: 12,
    youngs_modulus: 2e7,
    nu: 0.3,
    way: Way::explicit(Law::Corotated),
    zero_energy: 0.1,
    turned: false,
    clamp: Clamp::TwoLayers,
};

/// How the left end is held.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clamp {
    /// Two layers, the clamp plane midway between them, 1 m from the free face.
    TwoLayers,
    /// The first layer of 1 m, the clamp plane through its centres: half a spacing less is free (theory §5).
    FirstLayer,
}

impl Beam {
    /// From the clamp plane to the free face [m].
    fn free_length(&self) -> f64 {
        match self.clamp {
            Clamp::TwoLayers => 1.0,
            Clamp::FirstLayer => 1.0 - 0.1 / self.across as f64,
        }
    }

    /// Small sag of a beam of this free length after Timoshenko: q L⁴/(8 E I) + q L²/(2 k G A), k = 5/6 [m].
    fn timoshenko(&self, length: f64) -> f64 {
        let (area, inertia) = (0.04, 0.2f64.powi(4) / 12.0);
        let (load, shear) = (1000.0 * 9.81 * area, self.youngs_modulus / (2.0 * (1.0 + self.nu)));
        load * length.powi(4) / (8.0 * self.youngs_modulus * inertia)
            + load * length.powi(2) / (2.0 * 5.0 / 6.0 * shear * area)
    }

    fn build(&self, r: &Recorder, gravity: Vec3, damping: f64) -> Simulation {
        let s = 0.2 / self.across as f64;
        let two = self.clamp == Clamp::TwoLayers;
        let mut set = vec![
            format!("simulation.spacing={s}"),
            format!("bodies.0.shape.size=[{}, 0.2, 0.2]", if two { 1.0 + s } else { 1.0 }),
            format!(
                "bodies.0.pins.0.region.max=[{}, 1.0, 1.0]",
                if two { -0.5 + 1.25 * s } else { -0.5 + 0.75 * s }
            ),
            format!("materials.beam.youngs_modulus={:?}", self.youngs_modulus),
            format!("materials.beam.poisson_ratio={:?}", self.nu),
            format!("materials.beam.zero_energy={:?}", self.zero_energy),
            format!("materials.beam.damping={damping:?}"),
            "probes=[]".to_string(),
        ];
        set.extend(self.way.settings("beam"));
        if self.way.model.is_implicit() {
            let free = damping == 0.0;
            let dt = if free { 0.005 } else { PHASE_STEP / self.omega() };
            set.push(format!("simulation.time_step={dt:?}"));
        }
        match self.turned {
            true => set.extend(turned("simulation.gravity", gravity)),
            false => set.push(super::record::setting("simulation.gravity", gravity)),
        }
        r.simulation(&set)
    }

    fn omega(&self) -> f64 {
        std::f64::consts::TAU * F1 * self.youngs_modulus.sqrt()
    }

    /// Displacement of the centre of the end face at rest under gravity.
    fn sag(&self, r: &Recorder) -> Vec3 {
        let mut simulation = self.build(r, GRAVITY, 2.0 * self.omega());
        advance(&mut simulation, SETTLED / self.omega());
        at_face(&simulation, &displacements(&simulation), Vec3::X)
    }

    fn describe(&self) -> String {
        let turned = if self.turned { ", turned" } else { "" };
        let clamp = match self.clamp {
            Clamp::TwoLayers => "",
            Clamp::FirstLayer => ", first layer held",
        };
        let Beam { zero_energy, across, .. } = self;
        format!("{}, alpha {zero_energy}, {across} across{clamp}{turned}", self.way.describe())
    }
}

/// C03a.
pub fn cantilever(r: &mut Recorder) {
    let ratios: &[f64] = if r.full { &[0.0, 0.3, 0.45] } else { &[0.3] };
    let moduli: &[f64] = if r.full { &[2e7, 2e6, 5e5] } else { &[2e7, 5e5] };
    for &youngs_modulus in moduli {
        for &nu in ratios {
            for law in [Law::Corotated, Law::StVenantKirchhoff] {
                if law != Law::Corotated && youngs_modulus < 1e6 && nu > 0.0 {
                    continue; // no equilibrium: see the case's notes
                }
                for odd in [false, true] {
                    if odd && (nu != 0.3 || law != Law::Corotated) {
                        continue;
                    }
                    let way = Way::explicit(law);
                    let beam = Beam { across: 12, youngs_modulus, nu, way, turned: odd, ..BEAM };
                    compare_sag(r, &beam);
                    // A small sag is scaled to the free length; a large one needs the reference's own.
                    let small = youngs_modulus > 1e6;
                    let clamp = if small { Clamp::FirstLayer } else { Clamp::TwoLayers };
                    judge_sag(r, &Beam { across: 8, clamp, ..beam }, 0.05);
                }
            }
            implicit_sags(r, youngs_modulus, nu);
        }
    }
    for &nu in ratios {
        frequency(r, &Beam { across: 12, youngs_modulus: 2e6, nu, ..BEAM });
        for way in Way::implicit(Law::Corotated) {
            if r.full || way.solver == Solver::Newton {
                frequency(r, &Beam { across: 10, youngs_modulus: 2e6, nu, way, ..BEAM });
            }
        }
    }
}

/// The drop within 2 % at 10 particles across.
fn implicit_sags(r: &mut Recorder, youngs_modulus: f64, nu: f64) {
    let large = youngs_modulus < 1e6;
    for law in [Law::Corotated, Law::StVenantKirchhoff, Law::NeoHookean] {
        if law == Law::StVenantKirchhoff && large && nu > 0.0 {
            continue;
        }
        for way in Way::implicit(law) {
            let beam = Beam { across: 10, youngs_modulus, nu, way, ..BEAM };
            let quick = large || law == Law::Corotated && way.solver == Solver::Newton;
            if r.full || quick {
                judge_sag(r, &beam, 0.02);
            }
            if r.full && nu == 0.3 && law == Law::Corotated {
                judge_sag(r, &Beam { turned: true, ..beam }, 0.02);
            }
        }
    }
}

fn sag_quantity(beam: &Beam) -> String {
    let modulus = match beam.youngs_modulus {
        e if e >= 1e6 => format!("{e:.0e}").replace('e', "e+0"),
        e => format!("{e}"),
    };
    let law = beam.way.short_law();
    format!("E={modulus} nu={:?} {law}: 3D tip (drop, axial shift) at end-face centre", beam.nu)
}

fn compare_sag(r: &mut Recorder, beam: &Beam) {
    let tip = beam.sag(r);
    r.compare(&sag_quantity(beam), &beam.describe(), &[-tip.y, tip.x]);
}

/// The drop alone.
fn judge_sag(r: &mut Recorder, beam: &Beam, tolerance: f64) {
    let scale = beam.timoshenko(beam.free_length()) / beam.timoshenko(1.0);
    let reference = r.value(&sag_quantity(beam)) * scale;
    let source = "converged 3D reference, see C03a; scaled to the free length by Timoshenko's ratio";
    let drop = -beam.sag(r).y;
    let (modulus, law) = (beam.youngs_modulus, beam.way.short_law());
    let quantity = format!("E={modulus:?} nu={:?} {law}: tip drop", beam.nu);
    r.judge(&quantity, &beam.describe(), drop, reference, tolerance * reference, source);
}

fn frequency(r: &mut Recorder, beam: &Beam) {
    let mut simulation = beam.build(r, Vec3::ZERO, 0.0);
    // A push in the shape of the first mode, about: x² (3 - x)/2.
    let clamp = -0.5 + 0.5 * simulation.setup().spacing;
    let particles = simulation.particles_mut();
    for (v, rest) in particles.velocities.iter_mut().zip(&particles.rest_positions) {
        let x = (rest.x - clamp).max(0.0);
        *v = Vec3::Y * (0.01 * x * x * (3.0 - x) / 2.0);
    }
    let mut tip = Vec::new();
    // Implicit steps damp the vibration: a period is enough.
    for k in 0..=if beam.way.model.is_implicit() { 160 } else { 600 } {
        advance(&mut simulation, k as f64 * 0.005);
        tip.push((simulation.time(), at_face(&simulation, &displacements(&simulation), Vec3::X).y));
    }
    let quantity = format!("first bending frequency coefficient f1/sqrt(E) (Hz/sqrt(Pa)), nu={:?}", beam.nu);
    r.compare(&quantity, &beam.describe(), &[1.0 / (period(&tip) * beam.youngs_modulus.sqrt())]);
    let curves = vec![(beam.describe(), tip)];
    let name = format!("bending_{}_nu{}", beam.way.describe().replace(' ', "_"), beam.nu);
    r.plots.push(Plot { name, x_label: "time [s]", y_label: "tip [m]", curves });
}

/// C15b, and the stiffening of C15a.
pub fn convergence(r: &mut Recorder) {
    let reference = 0.0188236; // C03a, E = 2e7, nu = 0.3, corotated
    let across: &[usize] = if r.full { &[4, 6, 8, 12] } else { &[4, 6, 8] };
    let sag = |r: &Recorder, across: usize, zero_energy: f64| {
        let beam = Beam { across, zero_energy, ..BEAM };
        -beam.sag(r).y
    };
    let mut errors = Vec::new();
    for &n in across {
        let error = sag(r, n, 0.0) / reference - 1.0;
        r.note("error of the tip drop", &format!("mls2004 corotated, alpha 0, {n} across"), error, "C03a");
        errors.push(error.abs());
    }
    let (first, last) = (errors[0], errors[errors.len() - 1]);
    let order = (first / last).ln() / (*across.last().unwrap_or(&1) as f64 / across[0] as f64).ln();
    let variant = format!("mls2004 corotated, alpha 0, {} to {} across", across[0], across[across.len() - 1]);
    r.compare("error decreases monotonically; observed order at least", &variant, &[order]);
    r.compare("error at finest", &variant, &[last]);
    let (with, without) = (sag(r, 8, 0.1), sag(r, 8, 0.0));
    let source = "C15a: zero-energy control must not stiffen the cantilever";
    r.judge(
        "stiffening by zero-energy control",
        "alpha 0.1, 8 across",
        with / without - 1.0,
        0.0,
        0.05,
        source,
    );
}
