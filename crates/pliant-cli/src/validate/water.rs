//! Liquids at rest and in motion: pressure, fronts, waves, what floats.

use super::plots::Plot;
use super::record::{Recorder, Resolution, advance, period};
use pliant::math::Vec3;
use pliant::scene::Scene;
use pliant::simulation::{BodyDiagnostics, Simulation};

const GRAVITY: f64 = 9.81;

fn set(key: &str, value: impl std::fmt::Display) -> String {
    format!("{key}={value}")
}

const FLOATING_ELASTIC: &str = include_str!("../../../../validation/C08a_floating/elastic.toml");
const HOVERING_ELASTIC: &str = include_str!("../../../../validation/W01_neutral_buoyancy/elastic.toml");

fn scene(text: &str, changes: &[String]) -> Simulation {
    let scene = Scene::from_toml("elastic", "elastic", text, changes).expect("a good scene");
    scene.build().expect("a small scene")
}

fn highest(simulation: &Simulation, body: usize) -> f64 {
    let range = simulation.bodies()[body].range.clone();
    simulation.particles().positions[range].iter().map(|x| x.y).fold(f64::NEG_INFINITY, f64::max)
}

/// Mean height of the liquid's particles, times two: its depth over a floor at y = 0.
fn depth(simulation: &Simulation, body: usize) -> f64 {
    2.0 * diagnostics(simulation, body).center.y
}

fn diagnostics(simulation: &Simulation, body: usize) -> BodyDiagnostics {
    simulation.diagnostics(body, &simulation.fields())
}

fn fastest(simulation: &Simulation) -> f64 {
    simulation.particles().velocities.iter().map(|v| v.length()).fold(0.0, f64::max)
}

/// C07b: pressure by depth, weight on the floor, rest.
pub fn tank(r: &mut Recorder) {
    let spacings: &[f64] = if r.full { &[0.05, 0.025] } else { &[0.05] };
    for &s in spacings {
        r.resolution = if s < 0.04 { Resolution::L40 } else { Resolution::L20 };
        let mut simulation = r.simulation(&[set("simulation.spacing", s)]);
        let start = depth(&simulation, 0);
        let variant = format!("{} across", (1.0 / s).round());
        advance(&mut simulation, 2.0);
        let (fields, x) = (simulation.fields(), &simulation.particles().positions);
        let pressure = |height: f64| {
            // a straight line through the layers near this height
            let near = |i: &usize| (x[*i].y - height).abs() < 2.6 * s;
            let points: Vec<(f64, f64)> =
                (0..x.len()).filter(near).map(|i| (x[i].y, fields[i].pressure as f64)).collect();
            let n = points.len() as f64;
            let (my, mp) = points.iter().fold((0.0, 0.0), |a, p| (a.0 + p.0 / n, a.1 + p.1 / n));
            let (top, bottom) = points
                .iter()
                .fold((0.0, 0.0), |a, p| (a.0 + (p.0 - my) * (p.1 - mp), a.1 + (p.0 - my).powi(2)));
            mp + top / bottom * (height - my)
        };
        let measured = [0.0, 0.25, 0.5, 0.75].map(pressure);
        r.compare("pressure at z=0,H/4,H/2,3H/4 (above floor)", &variant, &measured);
        for (z, p) in [0.0, 0.25, 0.5].iter().zip(measured) {
            let exact = 1000.0 * GRAVITY * (1.0 - z);
            r.judge(
                &format!("pressure at {z} H, within 2 %"),
                &variant,
                p,
                exact,
                0.02 * exact,
                "rho g (H-z)",
            );
        }
        let weight = 1000.0 * GRAVITY;
        let floor = -simulation.pressure_on_rigids()[0][0].y;
        r.compare("force on floor / (weight)", &variant, &[floor / weight]);
        r.compare("water depth change", &variant, &[depth(&simulation, 0) - start]);
        let speed = fastest(&simulation) / (GRAVITY * 1.0f64).sqrt();
        r.compare("residual max speed / sqrt(gH) after 2 s", &variant, &[speed]);
        advance(&mut simulation, 10.0);
        let energy = diagnostics(&simulation, 0).kinetic_energy / (weight * 0.5);
        r.judge("kinetic energy / potential energy after 10 s", &variant, energy, 0.0, 1e-6, "rest");
    }
}

/// C07c: the front of a collapsing column.
pub fn dam_break(r: &mut Recorder) {
    const A: f64 = 0.05715;
    let across = if r.full { 40.0 } else { 20.0 };
    r.resolution = if r.full { Resolution::L40 } else { Resolution::L20 };
    let mut simulation = r.simulation(&[set("simulation.spacing", A / across)]);
    let unit = (A / (2.0 * GRAVITY)).sqrt();
    let table = r.values("front position Z=x/a at T=t sqrt(2g/a): table [T,Z]");
    let rows: Vec<(f64, f64)> = table.chunks(2).map(|p| (p[0], p[1])).filter(|p| p.0 < 6.0).collect();
    let (mut measured, mut curve) = (Vec::new(), Vec::new());
    for &(time, _) in &rows {
        advance(&mut simulation, time * unit);
        // the front is where a hundredth of the liquid is ahead: single drops do not count
        let mut ahead: Vec<f64> = simulation.particles().positions.iter().map(|x| x.x).collect();
        ahead.sort_by(f64::total_cmp);
        let front = ahead[ahead.len() - 1 - ahead.len() / 100] / A;
        measured.push(front);
        curve.push((time, front));
    }
    let variant = format!("{across} across the column");
    for (&(time, z), &front) in rows.iter().zip(&measured).skip(2) {
        let tolerance = if r.full { 0.1 } else { 0.15 };
        r.judge(&format!("front Z at T = {time}"), &variant, front, z, tolerance * z, "Martin & Moyce 1952");
    }
    let slope = |p: &[(f64, f64)]| {
        let (a, b) = (p[p.len() - 5], p[p.len() - 1]);
        (b.1 - a.1) / (b.0 - a.0)
    };
    r.note("front speed dZ/dT of the last points", &variant, slope(&curve), "experiment 1.70, Ritter 2");
    r.plots.push(Plot {
        name: "front".into(),
        x_label: "T = t sqrt(2 g/a)",
        y_label: "Z = x/a",
        curves: vec![("pliant".into(), curve), ("experiment".into(), rows)],
    });
}

/// C07e: the first mode of a sloshing tank, started by a tilted gravity that turns upright.
pub fn sloshing(r: &mut Recorder) {
    r.resolution = if r.full { Resolution::L40 } else { Resolution::L20 };
    let s = if r.full { 0.0125 } else { 0.025 };
    let mut simulation = r.simulation(&[set("simulation.spacing", s)]);
    // displacements of the standing wave of small height: particles start where the wave has them
    let (length, height, amplitude): (f64, f64, f64) = (1.0, 0.5, 0.03);
    let k = std::f64::consts::PI / length;
    for x in &mut simulation.particles_mut().positions {
        let along = x.x + 0.5 * length;
        let rise = amplitude * (k * along).cos() * (k * x.y).sinh() / (k * height).sinh();
        let shift = -amplitude * (k * along).sin() * (k * x.y).cosh() / (k * height).sinh();
        *x += Vec3::new(shift, rise, 0.0);
    }
    let moment = |simulation: &Simulation| {
        let x = &simulation.particles().positions;
        x.iter().map(|x| x.x).sum::<f64>() / x.len() as f64
    };
    let start = moment(&simulation);
    let (frequency, mut wave) = (r.value("frequency of first mode"), Vec::new());
    let periods = 5.25;
    for step in 1..=(periods * 40.0) as usize {
        advance(&mut simulation, step as f64 / (40.0 * frequency));
        wave.push((simulation.time(), moment(&simulation)));
    }
    let variant = format!("{} along", (length / s).round());
    r.compare("frequency of first mode", &variant, &[1.0 / period(&wave)]);
    let late = wave.iter().filter(|p| p.0 > 4.4 / frequency).map(|p| p.1.abs()).fold(0.0, f64::max);
    r.note("amplitude kept after 5 periods", &variant, late / start.abs(), "numerical damping");
}

/// C08a: what floats, rigid and elastic.
pub fn floating(r: &mut Recorder) {
    let s = if r.full { 0.05 } else { 0.1 };
    for density in [300.0, 500.0, 666.0] {
        for kind in ["rigid", "elastic"] {
            let spacing = set("simulation.spacing", s);
            let mut simulation = match kind {
                "rigid" => r.simulation(&[spacing, set("rigids.block.density", density)]),
                _ => scene(FLOATING_ELASTIC, &[spacing, set("materials.block.density", density)]),
            };
            advance(&mut simulation, 4.0);
            let (mut low, mut tilt) = (0.0, 0.0);
            let samples = 20;
            for k in 1..=samples {
                advance(&mut simulation, 4.0 + 0.05 * k as f64);
                let center = if kind == "rigid" {
                    let now = &simulation.rigids().now()[1];
                    let up = now.pose.rotation * Vec3::Y;
                    tilt += up.y.clamp(-1.0, 1.0).acos().to_degrees() / samples as f64;
                    now.center.y
                } else {
                    diagnostics(&simulation, 1).center.y
                };
                low += (center - 0.2) / samples as f64;
            }
            let level = 1.0 + density * 0.4 / (1000.0 * 4.0);
            let variant = format!("{kind}, spacing {s} m");
            let draft = level - low;
            let source = "Archimedes, within one spacing";
            r.judge(&format!("draft for rho={density}"), &variant, draft, density / 1000.0 * 0.4, s, source);
            if kind == "rigid" {
                r.compare("tilt at rest", &variant, &[tilt]);
            }
        }
    }
}

/// A ball of the density of water hovers in it, at any spacing.
pub fn neutral(r: &mut Recorder) {
    let spacings: &[f64] = if r.full { &[0.08, 0.05, 0.04] } else { &[0.08, 0.05] };
    for &s in spacings {
        for kind in ["rigid", "elastic"] {
            let spacing = [set("simulation.spacing", s)];
            let mut simulation = match kind {
                "rigid" => r.simulation(&spacing),
                _ => scene(HOVERING_ELASTIC, &spacing),
            };
            let center = |simulation: &Simulation| match kind {
                "rigid" => simulation.rigids().now()[1].center.y,
                _ => diagnostics(simulation, 1).center.y,
            };
            advance(&mut simulation, 0.3);
            let start = center(&simulation);
            advance(&mut simulation, 2.3);
            let moved = center(&simulation) - start;
            // the mean acceleration over two seconds, against gravity: the relative error of the buoyancy
            let error = 2.0 * moved / (2.0f64.powi(2) * GRAVITY);
            let variant = format!("{kind}, spacing {s} m");
            r.judge("rise in 2 s", &variant, moved, 0.0, 2.0 * s, "neutral buoyancy");
            r.note("error of the buoyancy", &variant, error, "mean acceleration over g");
        }
    }
}

/// Tanks of thirty lengths, none a friend of the spacing: water fills the gap that is left, and no more happens.
pub fn lengths(r: &mut Recorder) {
    let mut worst: (f64, f64) = (0.0, 0.0);
    for k in 0..30 {
        let length = 0.5 + 3.5 * k as f64 / 29.0;
        let mut simulation = r.simulation(&[
            set("bodies.water.shape.size", format!("[{length}, 0.5, 0.25]")),
            set("rigids.tank.shape.size", format!("[{length}, 1.5, 0.25]")),
        ]);
        advance(&mut simulation, 1.0);
        let speed = if highest(&simulation, 0) < 1.0 { fastest(&simulation) } else { f64::INFINITY };
        if speed >= worst.0 {
            worst = (speed, length);
        }
    }
    let variant = format!("worst at {:.3} m", worst.1);
    let source = "a tenth of sqrt(g H)";
    r.judge("largest speed after 1 s of 30 tanks", &variant, worst.0, 0.0, 0.2, source);
}

/// A jet hits a wall of one layer at 20 m/s: nothing passes.
pub fn thin_wall(r: &mut Recorder) {
    let mut simulation = r.simulation(&[]);
    let passed = |simulation: &Simulation| {
        let range = simulation.bodies()[0].range.clone();
        let behind = |x: &&Vec3| x.x > 0.0 && x.y.abs() < 0.9 && x.z.abs() < 0.9;
        simulation.particles().positions[range].iter().filter(behind).count() as f64
    };
    let mut through: f64 = 0.0;
    for k in 1..=30 {
        advance(&mut simulation, 0.002 * k as f64);
        through = through.max(passed(&simulation));
    }
    r.judge("particles behind the wall", "20 m/s", through, 0.0, 0.0, "a wall");
    let left = simulation.removed().leaving as f64;
    r.note("particles that left the domain", "20 m/s", left, "counted");
}

/// Liquid, a solid and a rigid body collide in free space: momentum is kept.
pub fn momentum(r: &mut Recorder) {
    let mut simulation = r.simulation(&[]);
    let total = |simulation: &Simulation| {
        let bodies: Vec3 = (0..2).map(|k| diagnostics(simulation, k).momentum).sum();
        let rigid = &simulation.rigids().now()[0];
        bodies + rigid.velocity / rigid.inverse_mass
    };
    let start = total(&simulation);
    let scale: f64 = 2.0 * 1000.0 * 0.4f64.powi(3); // what the two that fly bring, without sign
    for _ in 0..1000 {
        simulation.step(1e6).expect("a step");
    }
    let drift = (total(&simulation) - start).length() / scale;
    r.judge("drift of momentum in 1000 steps", "liquid, solid, rigid", drift, 0.0, 1e-6, "action = reaction");
}

/// C07a: an elastic plate under water. Load and modulus are other than the paper's; the deflection goes as their ratio.
pub fn plate(r: &mut Recorder) {
    let s = 0.00625;
    let mut simulation = r.simulation(&[]);
    let particles = simulation.bodies()[1].range.clone();
    let middle = |simulation: &Simulation| {
        let (x, rest) = (&simulation.particles().positions, &simulation.particles().rest_positions);
        let near: Vec<usize> = particles.clone().filter(|&i| rest[i].x.abs() < 1.01 * s).collect();
        near.iter().map(|&i| x[i].y + 0.025 - rest[i].y).sum::<f64>() / near.len() as f64
    };
    advance(&mut simulation, 0.3);
    let (mut mean, samples) = (0.0, 20);
    for k in 1..=samples {
        advance(&mut simulation, 0.3 + 0.01 * k as f64);
        mean += middle(&simulation) / samples as f64;
    }
    // depths of water, and of water that weighs as much as the plate
    let (depths, weight) = ([0.2, 2.0], 2.7 * 0.05);
    let load = (depths[0] + weight) / (depths[1] + weight);
    let exact = 1000.0 * load * r.value("mid-span deflection, 2D elasticity");
    let variant = "8 particles across the plate, 0.2 m of water, E/1000 in plane strain";
    r.judge("mid-span deflection", variant, mean, exact, 0.1 * exact.abs(), "own plane-strain FEM");
}
