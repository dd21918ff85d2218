//! Liquids: viscosity between plates, tension of a droplet.

use super::plots::Plot;
use super::record::{Recorder, Resolution, advance, period};
use pliant::math::Vec3;
use pliant::simulation::Simulation;

/// Distance of the plates [m].
const GAP: f64 = 1e-3;
/// Viscosity of the scene [Pa s].
const MU: f64 = 1e-3;

fn channel(r: &mut Recorder) -> (Simulation, String) {
    let set = if r.full { vec!["simulation.spacing=2.5e-5".to_string()] } else { Vec::new() };
    r.resolution = if r.full { Resolution::L40 } else { Resolution::L20 };
    let simulation = r.simulation(&set);
    let across = (GAP / simulation.setup().spacing).round();
    (simulation, format!("{across} particles across"))
}

/// Velocity along the plates at a height over the lower one [m], in the middle third of the channel: linear between the
/// means of layers, zero or the plates' velocity at their surfaces.
fn velocity(simulation: &Simulation, height: f64, upper: f64) -> f64 {
    let s = simulation.setup().spacing;
    let layers = (GAP / s).round() as usize;
    let mut sums = vec![(0.0, 0.0); layers];
    let particles = simulation.particles();
    for (x, v) in particles.rest_positions.iter().zip(&particles.velocities) {
        if x.x.abs() < 0.4 * GAP && x.z.abs() < 0.25 * GAP {
            let sum = &mut sums[((x.y + 0.5 * GAP) / s) as usize];
            *sum = (sum.0 + v.x, sum.1 + 1.0);
        }
    }
    let mut points = vec![(0.0, 0.0)];
    points.extend(sums.iter().enumerate().map(|(k, (v, n))| ((k as f64 + 0.5) * s, v / n)));
    points.push((GAP, upper));
    let above = points.iter().position(|p| p.0 >= height - 1e-12).unwrap_or(points.len() - 1).max(1);
    let ((x0, v0), (x1, v1)) = (points[above - 1], points[above]);
    v0 + (v1 - v0) * (height - x0) / (x1 - x0)
}

fn profile(simulation: &Simulation, upper: f64) -> Vec<(f64, f64)> {
    (0..=20).map(|k| k as f64 / 20.0 * GAP).map(|y| (y / GAP, velocity(simulation, y, upper))).collect()
}

/// C14d.
pub fn poiseuille(r: &mut Recorder) {
    let (mut simulation, variant) = channel(r);
    let mut curves = Vec::new();
    for time in [0.05, 0.1, 0.25] {
        advance(&mut simulation, time);
        let center = velocity(&simulation, 0.5 * GAP, 0.0);
        r.compare(&format!("centre velocity at t={time}"), &variant, &[center]);
        curves.push((format!("{time} s"), profile(&simulation, 0.0)));
    }
    advance(&mut simulation, 0.6);
    r.compare("steady maximum velocity", &variant, &[velocity(&simulation, 0.5 * GAP, 0.0)]);
    let heights = [0.1, 0.25, 0.4];
    let measured = heights.map(|y| velocity(&simulation, y * GAP, 0.0));
    r.compare("steady profile at y/L=.1,.25,.4", &variant, &measured);
    curves.push(("0.6 s".into(), profile(&simulation, 0.0)));
    note_effort(r, &simulation, &variant);
    plot(r, curves);
}

/// C14e.
pub fn couette(r: &mut Recorder) {
    const PLATE: f64 = 1.25e-5;
    let (mut simulation, variant) = channel(r);
    let mut curves = Vec::new();
    for time in [0.05, 0.1, 0.3] {
        advance(&mut simulation, time);
        let middle = velocity(&simulation, 0.5 * GAP, PLATE);
        r.compare(&format!("velocity at y=L/2, t={time}"), &variant, &[middle]);
        curves.push((format!("{time} s"), profile(&simulation, PLATE)));
    }
    advance(&mut simulation, 0.6);
    // the slope of the inner half: at the plates the mean of a layer would have to be extrapolated
    let slope =
        (velocity(&simulation, 0.75 * GAP, PLATE) - velocity(&simulation, 0.25 * GAP, PLATE)) / (0.5 * GAP);
    r.compare("steady wall shear stress", &variant, &[MU * slope]);
    curves.push(("0.6 s".into(), profile(&simulation, PLATE)));
    note_effort(r, &simulation, &variant);
    plot(r, curves);
}

fn plot(r: &mut Recorder, curves: Vec<(String, Vec<(f64, f64)>)>) {
    let name = "velocity".into();
    r.plots.push(Plot {
        name,
        x_label: "height over distance of the plates",
        y_label: "velocity [m/s]",
        curves,
    });
}

fn note_effort(r: &mut Recorder, simulation: &Simulation, variant: &str) {
    if let Some(totals) = simulation.viscosity_totals() {
        let mean = totals.iterations as f64 / totals.solves as f64;
        r.note("mean iterations of a viscous solve", variant, mean, "");
    }
}

/// C14c.
pub fn droplet(r: &mut Recorder) {
    let spacing: f64 = if r.full { 5e-4 } else { 1e-3 };
    r.resolution = if r.full { Resolution::L40 } else { Resolution::L20 };
    let mut curves = Vec::new();
    for degrees in [0.0_f64, 31.0] {
        let turned = format!("bodies.drop.rotation={{ axis = [0, 0, 1], degrees = {degrees:?} }}");
        let mut simulation = r.simulation(&[format!("simulation.spacing={spacing:?}"), turned]);
        let axis = Vec3::new(degrees.to_radians().cos(), degrees.to_radians().sin(), 0.0);
        let (mut series, mut pressures) = (Vec::new(), Vec::new());
        for sample in 0..=130 {
            let time = sample as f64 * 0.005;
            advance(&mut simulation, time);
            series.push((time, elongation(&simulation, axis)));
            if time > 0.15 {
                pressures.push(pressure_inside(&simulation, 0.01 - 3.0 * spacing));
            }
        }
        let variant = format!("{} across, turned by {degrees} degrees", (0.02 / spacing).round());
        r.compare("l=2 oscillation period 3D", &variant, &[period(&rates(&series, 8))]);
        let jump = pressures.iter().sum::<f64>() / pressures.len() as f64;
        r.compare("pressure jump 3D", &variant, &[jump]);
        curves.push((variant, series));
    }
    r.plots.push(Plot { name: "elongation".into(), x_label: "time [s]", y_label: "elongation", curves });
}

/// Differences over some samples, from 0.15 s on; their zeros are the extremes, wherever the middle of the swing lies.
fn rates(series: &[(f64, f64)], samples: usize) -> Vec<(f64, f64)> {
    let rate = |w: &[(f64, f64)]| (0.5 * (w[0].0 + w[samples].0), w[samples].1 - w[0].1);
    series.windows(samples + 1).map(rate).filter(|point| point.0 > 0.15).collect()
}

/// Mean pressure within a distance of the centre.
fn pressure_inside(simulation: &Simulation, radius: f64) -> f64 {
    let (x, fields) = (&simulation.particles().positions, simulation.fields());
    let center = x.iter().sum::<Vec3>() / x.len() as f64;
    let inside: Vec<usize> = (0..x.len()).filter(|&i| x[i].distance(center) < radius).collect();
    inside.iter().map(|&i| fields[i].pressure as f64).sum::<f64>() / inside.len() as f64
}

/// (M_aa - (tr M - M_aa)/2)/tr M of the second moments about the centre, along a: zero for a ball.
fn elongation(simulation: &Simulation, along: Vec3) -> f64 {
    let x = &simulation.particles().positions;
    let center = x.iter().sum::<Vec3>() / x.len() as f64;
    let axial: f64 = x.iter().map(|x| (*x - center).dot(along).powi(2)).sum();
    let all: f64 = x.iter().map(|x| x.distance_squared(center)).sum();
    (axial - 0.5 * (all - axial)) / all
}
