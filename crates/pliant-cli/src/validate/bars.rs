//! Bars: tension, their own weight, longitudinal waves.

use super::plots::Plot;
use super::record::{
    Recorder, Resolution, advance, at_face, displacements, forces, mean_where, odd_turn, period, setting,
    turned,
};
use super::way::Way;
use pliant::elasticity::{Model, Solver};
use pliant::material::Law;
use pliant::math::{Mat3, Vec3};
use pliant::particles::FREE;
use pliant::simulation::Simulation;

/// Uncorrected gradients with SPH volumes: what a bar of 5 particles across keeps of its modulus at a support of two
/// spacings. Their gradients miss the neighbours beyond the surface, so the factor rises with the particles across.
const UNCORRECTED_FACTOR: (f64, f64) = (0.96, 0.04);

/// C02a, and "E means E" for every method.
pub fn tension(r: &mut Recorder) {
    let ratios: &[f64] = if r.full { &[0.0, 0.3, 0.45] } else { &[0.0, 0.3] };
    for &nu in ratios {
        for load in [0.01, 0.1, -0.1] {
            for way in [Law::Corotated, Law::StVenantKirchhoff].map(Way::explicit) {
                compare_stretch(r, &way, nu, load, false);
                if nu == 0.3 && load == 0.1 {
                    compare_stretch(r, &way, nu, load, true);
                }
            }
        }
    }
    implicit_tension(r);
    for model in Model::EXPLICIT {
        for odd in [false, true] {
            if odd && model == Model::Solenthaler2007 {
                continue; // its rest shape is turned with it: nothing new
            }
            let way = Way { model, law: Law::Corotated, solver: Solver::Linear };
            let [axial, _] = stretched(&way, 0.3, 0.01, odd, r);
            let (factor, tolerance) = if model == Model::Mls2004 { (1.0, 0.02) } else { UNCORRECTED_FACTOR };
            let variant = format!("{}{}", way.describe(), if odd { ", turned" } else { "" });
            let source =
                "E means E: load/(A E strain); uncorrected gradients see fewer neighbours at the surface";
            r.judge("measured modulus / E", &variant, 0.01 / (axial - 1.0), factor, tolerance, source);
        }
    }
}

/// Implicit ways with every Poisson ratio, pulled; pressed, turned and with other laws for one.
fn implicit_tension(r: &mut Recorder) {
    for way in Way::implicit(Law::Corotated).into_iter().chain([Way::SPLIT]) {
        for nu in [0.0, 0.3, 0.45] {
            compare_stretch(r, &way, nu, 0.1, false);
        }
        compare_stretch(r, &way, 0.3, -0.1, false);
        compare_stretch(r, &way, 0.3, 0.1, true);
    }
    let ratios: &[f64] = if r.full { &[0.0, 0.3, 0.45] } else { &[0.3] };
    for &nu in ratios {
        for law in [Law::StVenantKirchhoff, Law::NeoHookean] {
            for load in [0.1, -0.1] {
                compare_stretch(r, &Way::newton(Model::Kugelstadt2021, law), nu, load, false);
            }
        }
        compare_stretch(r, &Way::newton(Model::Peer2018, Law::NeoHookean), nu, 0.1, false);
    }
}

fn compare_stretch(r: &mut Recorder, way: &Way, nu: f64, load: f64, odd: bool) {
    let law = match way.law {
        Law::Corotated => "linear/corotated",
        Law::StVenantKirchhoff => "StVK",
        _ => "neo-Hookean(log J)",
    };
    let quantity = format!("nu={nu:?}, nominal stress {load:+}E, {law}: axial stretch, lateral stretch");
    let variant = format!("{}{}", way.describe(), if odd { ", turned" } else { "" });
    let stretch = stretched(way, nu, load, odd, r);
    r.compare(&quantity, &variant, &stretch);
}

/// Axial and lateral stretch of the middle half of the bar.
fn stretched(way: &Way, nu: f64, load: f64, odd: bool, r: &Recorder) -> [f64; 2] {
    let force = Vec3::X * (load * 1e5 * 0.0625);
    let turn = if odd { Mat3::from_quat(odd_turn()) } else { Mat3::IDENTITY };
    // Pressed by a tenth of E a slender bar buckles; a stub of the same section does not.
    let half = if load < 0.0 { 0.5 } else { 1.0 };
    let mut set = vec![
        format!("bodies.0.shape.size=[{:?}, 0.25, 0.25]", 2.0 * half),
        format!("bodies.0.loads.0.region.min=[{:?}, -1.0, -1.0]", half - 0.05),
        format!("bodies.0.loads.1.region.max=[{:?}, 1.0, 1.0]", 0.05 - half),
        format!("materials.bar.poisson_ratio={nu}"),
        setting("bodies.0.loads.0.force", turn * force),
        setting("bodies.0.loads.1.force", turn * -force),
    ];
    // Where stretch and volume are split, rest is displaced by a part that grows with dt² E / (rho s²).
    set.extend(match way.solver {
        Solver::Split => way.stepping("bar", 0.001),
        _ if way.model.is_implicit() => way.stepping("bar", 0.02),
        _ => way.settings("bar"),
    });
    if odd {
        set.extend(turned("simulation.gravity", Vec3::ZERO));
    }
    // Under pressing dead loads a free bar turns over, too, but not before it has settled if it is damped strongly.
    let (damping, time) = if load < 0.0 { (60.0, 0.8) } else { (15.0, 3.0) };
    set.push(format!("materials.bar.damping={damping:?}"));
    let mut simulation = r.simulation(&set);
    advance(&mut simulation, time);
    let u = displacements(&simulation);
    let layers = |axis: Vec3, at: f64, width: f64| {
        let inside = |x: Vec3| x.x.abs() < 0.5 * half && (x.dot(axis) - at).abs() < width;
        mean_where(&simulation, &u, inside).dot(axis)
    };
    // Along the bar the mean of two layers: one alone may be off by the zig-zag that loads at the ends make.
    let reach = if half < 1.0 { 0.2 } else { 0.45 };
    let axial = 1.0 + (layers(Vec3::X, reach, 0.03) - layers(Vec3::X, -reach, 0.03)) / (2.0 * reach);
    let side = |axis: Vec3| 1.0 + (layers(axis, 0.1, 0.01) - layers(axis, -0.1, 0.01)) / 0.2;
    [axial, 0.5 * (side(Vec3::Y) + side(Vec3::Z))]
}

/// C02b.
pub fn hanging(r: &mut Recorder) {
    let ways = [vec![Way::explicit(Law::Corotated)], Way::implicit(Law::Corotated)].concat();
    for (way, odd) in ways.iter().flat_map(|way| [(way, false), (way, true)]) {
        let mut set = if odd { turned("simulation.gravity", Vec3::Y * -9.81) } else { vec![] };
        set.extend(if way.model.is_implicit() { way.stepping("bar", 0.02) } else { way.settings("bar") });
        let mut simulation = r.simulation(&set);
        advance(&mut simulation, 3.0);
        let u = displacements(&simulation);
        let variant = &format!("{}, 20 along{}", way.describe(), if odd { ", turned" } else { "" });
        r.compare("tip displacement", variant, &[-at_face(&simulation, &u, -Vec3::Y).y]);
        // The free length is from the clamp plane at y = 0.475 down to -0.525; its middle lies at -0.025.
        let middle = mean_where(&simulation, &u, |x| (x.y + 0.025).abs() < 0.03).y;
        r.compare("displacement at mid length", variant, &[-middle]);
        // The clamp carries the held layer below its plane, too.
        let particles = simulation.particles();
        let held_below = |(x, pin): &(&Vec3, &u32)| **pin != FREE && x.y < 0.475;
        let below = particles.rest_positions.iter().zip(&particles.pins).filter(held_below).count();
        let reaction = held_force(&simulation).y - 9.81 * particles.masses[0] * below as f64;
        r.compare("reaction", variant, &[-reaction]);
    }
}

/// Elastic force on all pinned particles, in body coordinates.
fn held_force(simulation: &Simulation) -> Vec3 {
    let pins = &simulation.particles().pins;
    forces(simulation).iter().zip(pins).filter(|(_, pin)| **pin != FREE).map(|(f, _)| *f).sum()
}

/// C01a and C01b: the bar is let go from uniform strain.
pub fn vibration(r: &mut Recorder) {
    let small = r.title().contains("saw") && r.simulation(&[]).setup().bodies[0].initial_stretch.x < 1.1;
    let strain = if small { 0.002 } else { 0.2 };
    let laws: &[Law] = if small { &[Law::Corotated, Law::StVenantKirchhoff] } else { &[Law::Corotated] };
    for along in [20, 40] {
        for &law in laws {
            for odd in [false, true] {
                if odd && along > 20 {
                    continue;
                }
                r.resolution = if along >= 40 { Resolution::L40 } else { Resolution::L20 };
                vibrate(r, along, &Way::explicit(law), strain, odd);
            }
        }
    }
    r.resolution = Resolution::L20;
    for way in Way::implicit(Law::Corotated) {
        vibrate(r, 20, &way, strain, false);
    }
}

fn vibrate(r: &mut Recorder, along: usize, way: &Way, strain: f64, odd: bool) {
    let implicit = way.model.is_implicit();
    let s = 5.0 / along as f64;
    let across = 1.0;
    let mut set = vec![
        format!("simulation.spacing={s}"),
        format!("bodies.0.shape.size=[{}, {across}, {across}]", 5.0 + s),
        format!("bodies.0.pins.0.region.max=[{}, 9.0, 9.0]", -2.5 + 1.25 * s),
        "bodies.0.initial_stretch=[1.0, 1.0, 1.0]".to_string(),
        "probes=[]".to_string(),
    ];
    set.extend(if implicit { way.stepping("bar", 0.02) } else { way.settings("bar") });
    if odd {
        set.extend(turned("simulation.gravity", Vec3::ZERO));
    }
    let mut simulation = r.simulation(&set);
    let clamp = -2.5 + 0.5 * s; // the clamp plane in body coordinates, midway between the two held layers
    let pose = simulation.setup().bodies[0].pose;
    let particles = simulation.particles_mut();
    for (x, rest) in particles.positions.iter_mut().zip(&particles.rest_positions) {
        let pulled = (rest.x - clamp) * strain;
        *x = pose.to_world(*rest + Vec3::X * pulled);
    }

    let fields = simulation.fields();
    let in_bar = fields.iter().zip(&simulation.particles().rest_positions).filter(|(_, x)| x.x > clamp);
    let energy: f64 = in_bar.map(|(point, _)| point.energy).sum();
    let (mut tip, mut middle) = (Vec::new(), Vec::new());
    // Implicit steps damp the wave: one period is enough.
    let (steps_per_second, periods) = (20, if implicit { 1 } else { 5 });
    for k in 0..=20 * steps_per_second * periods {
        advance(&mut simulation, k as f64 / steps_per_second as f64);
        let u = displacements(&simulation);
        tip.push((simulation.time(), at_face(&simulation, &u, Vec3::X).x));
        let half = clamp + 2.5;
        middle.push((simulation.time(), mean_where(&simulation, &u, |x| (x.x - half).abs() < 0.6 * s).x));
    }
    let at = |series: &[(f64, f64)], t: f64| series[(t * steps_per_second as f64).round() as usize].1;
    let variant = format!("{}, {along} along{}", way.describe(), if odd { ", turned" } else { "" });
    let first_period = period(&tip[..=20 * steps_per_second]);
    r.compare("frequency", &variant, &[1.0 / first_period]);
    r.compare("period", &variant, &[first_period]);
    let first = tip[..=20 * steps_per_second].iter().map(|p| p.1);
    let (lowest, highest) = first.fold((f64::MAX, f64::MIN), |(lo, hi), u| (lo.min(u), hi.max(u)));
    let amplitude = 0.5 * (highest - lowest);
    if implicit {
        let source = "backward Euler at 0.02 s: it damps the corners of the triangle most";
        r.note("half the range of the tip in the first period", &variant, amplitude, source);
    } else {
        let quantity = "tip amplitude (first half period, tip goes from +u0 to -u0)";
        r.compare(quantity, &variant, &[amplitude]);
    }
    r.compare("tip speed (constant, +/-)", &variant, &[(at(&tip, 2.5) - at(&tip, 7.5)) / 5.0]);
    if along >= 40 {
        // 20 particles round the corners of the triangle by more than the tolerances, which do not know the resolution.
        let times = [2.5, 5.0, 7.5, 10.0];
        r.compare("tip displacement at t=T/8,T/4,3T/8,T/2", &variant, &times.map(|t| at(&tip, t)));
        r.compare("mid-bar displacement at t=T/8,T/4,3T/8,T/2", &variant, &times.map(|t| at(&middle, t)));
        let last = tip[80 * steps_per_second..].iter().map(|p| p.1.abs()).fold(0.0, f64::max);
        let kept = last / (5.0 * strain);
        r.compare("tip amplitude after 5 periods / u0, no artificial damping", &variant, &[kept]);
    }
    // The reference bar has section 1 m²; ours is 4 particles wide.
    r.compare("stored elastic energy at release", &variant, &[energy / (across * across)]);
    let name =
        format!("tip_{}_{along}{}", way.describe().replace(' ', "_"), if odd { "_turned" } else { "" });
    let exact = (0..=400).map(|k| k as f64 * 0.25).map(|t| (t, 5.0 * strain * triangle(t / 20.0))).collect();
    let curves = vec![(variant, tip), ("exact".to_string(), exact)];
    r.plots.push(Plot { name, x_label: "time [s]", y_label: "tip displacement [m]", curves });
}

/// Triangle wave of period and amplitude one, starting at its top.
fn triangle(phase: f64) -> f64 {
    4.0 * (phase.fract() - 0.5).abs() - 1.0
}

/// C16a.
pub fn mode(r: &mut Recorder) {
    let way = Way::explicit(Law::Corotated);
    let swing = swing(r, &way.settings("bar"), 10);
    let variant = "mls2004 corotated, 20 along";
    r.compare("com velocity amplitude", variant, &[swing.mean_speed]);
    r.compare("period of com velocity", variant, &[swing.period]);
    r.compare("tip displacement amplitude", variant, &[swing.tip]);
    r.compare("total energy (per unit cross-section)", variant, &[swing.energy]);
    r.compare("relative energy loss over 10 periods, FLIP/APIC", variant, &[1.0 - swing.kept]);
    for way in Way::implicit(Law::Corotated) {
        let (dt, periods) = (0.025, 2);
        let swing = self::swing(r, &way.stepping("bar", dt), periods);
        let variant = format!("{}, 20 along, step {dt} s", way.describe());
        r.compare("period of com velocity", &variant, &[swing.period]);
        r.compare("total energy (per unit cross-section)", &variant, &[swing.energy]);
        let omega = std::f64::consts::TAU / 10.0;
        let expected = (-omega * omega * dt * 10.0 * periods as f64).exp();
        let source = "backward Euler: amplitudes decay like exp(-omega² dt t/2)";
        r.judge("energy kept after 2 periods", &variant, swing.kept, expected, 0.02, source);
    }
}

/// What is measured while the bar swings in its first mode.
struct Swing {
    mean_speed: f64,
    period: f64,
    tip: f64,
    /// At the start, over the section [J/m²].
    energy: f64,
    /// Part of the energy at the end.
    kept: f64,
}

fn swing(r: &Recorder, set: &[String], periods: usize) -> Swing {
    let still = ["bodies.0.initial_stretch=[1.0, 1.0, 1.0]".to_string()];
    let mut simulation = r.simulation(&[&still, set].concat());
    let (clamp, beta) = (-11.875, std::f64::consts::PI / 50.0);
    let particles = simulation.particles_mut();
    for (v, rest) in particles.velocities.iter_mut().zip(&particles.rest_positions) {
        *v = Vec3::X * (0.1 * (beta * (rest.x - clamp).max(0.0)).sin());
    }
    let energy = |simulation: &Simulation| {
        let d = simulation.diagnostics(0, &simulation.fields());
        (d.kinetic_energy + d.elastic_energy) / 25.0 // section of 5 m x 5 m
    };
    let start = energy(&simulation);
    let (mut speed, mut tip) = (Vec::new(), Vec::new());
    for k in 0..=200 * periods {
        advance(&mut simulation, k as f64 * 0.05);
        let (v, u) = (&simulation.particles().velocities, displacements(&simulation));
        speed.push((simulation.time(), mean_where(&simulation, v, |x| x.x > clamp).x));
        tip.push(at_face(&simulation, &u, Vec3::X).x);
    }
    let largest = |values: &mut dyn Iterator<Item = f64>| values.map(f64::abs).fold(0.0, f64::max);
    Swing {
        mean_speed: largest(&mut speed.iter().map(|p| p.1)),
        period: period(&speed),
        tip: largest(&mut tip.iter().copied()),
        energy: start,
        kept: energy(&simulation) / start,
    }
}
