//! Contact: friction, impact, and the falling cuboids of B09.

use super::free::body_rotation;
use super::plots::Plot;
use super::record::{Recorder, Resolution, advance, setting};
use pliant::math::Vec3;
use pliant::simulation::Simulation;

fn center(simulation: &Simulation) -> Vec3 {
    simulation.diagnostics(0, &simulation.fields()).center
}

/// C09a.
pub fn sliding(r: &mut Recorder) {
    let variant = "mls2004 linear, s = 0.05 m";
    let mut simulation = r.simulation(&[]);
    let start = center(&simulation);
    let mut stop_time = f64::NAN;
    for k in 1..=150 {
        advance(&mut simulation, k as f64 * 0.01);
        let d = simulation.diagnostics(0, &simulation.fields());
        if stop_time.is_nan() && d.momentum.x < 0.01 * 3.0 * 32.0 {
            stop_time = simulation.time();
        }
    }
    r.compare("(a) stop distance", variant, &[center(&simulation).x - start.x]);
    r.compare("(a) stop time", variant, &[stop_time]);
    let slope = |mu: f64, time: f64, r: &Recorder| {
        // The slope is a turned gravity.
        let angle = 30f64.to_radians();
        let mut simulation = r.simulation(&[
            setting("simulation.gravity", Vec3::new(angle.sin(), -angle.cos(), 0.0) * 9.81),
            format!("materials.box.friction={mu}"),
            format!("rigids.0.friction={mu}"),
            "bodies.0.velocity=[0.0, 0.0, 0.0]".to_string(),
            "simulation.duration=3.0".to_string(),
        ]);
        let start = center(&simulation);
        advance(&mut simulation, time);
        center(&simulation).x - start.x
    };
    r.compare("(b) distance after 1 s", variant, &[slope(0.2, 1.0, r)]);
    r.compare("(c) creep after 2 s", variant, &[slope(0.6928, 2.0, r)]);
    super::rigid::sliding(r);
}

/// C09d.
pub fn bar_impact(r: &mut Recorder) {
    r.resolution = Resolution::L40;
    for along in if r.full { vec![40, 80] } else { vec![40] } {
        let s = 1.0 / along as f64;
        let mut simulation = r.simulation(&[format!("simulation.spacing={s}")]);
        let mass = 40.0;
        let speed = |p: Vec3| p.x / mass;
        let mut series = Vec::new();
        let mut at_turn = (0.0, 0.0);
        let start = simulation.diagnostics(0, &simulation.fields());
        let length = |simulation: &Simulation| {
            let x = &simulation.particles().positions;
            x.iter().map(|x| x.x).fold(f64::MIN, f64::max) - x.iter().map(|x| x.x).fold(f64::MAX, f64::min)
        };
        let first_length = length(&simulation);
        for k in 0..=300 {
            advance(&mut simulation, k as f64 * 0.001);
            let d = simulation.diagnostics(0, &simulation.fields());
            series.push((simulation.time(), speed(d.momentum)));
            if k == 100 {
                let shortening = (first_length - length(&simulation)) / (first_length + s) * (1.0 + s);
                at_turn = (d.kinetic_energy / start.kinetic_energy, shortening);
            }
        }
        let variant = format!("mls2004 linear, {along} along");
        // The wall acts while the momentum changes: the plateau force crosses from -v to the rebound speed.
        let rebound = series[300].1;
        let crossing = |level: f64| {
            let k = series.windows(2).position(|w| w[0].1 < level && w[1].1 >= level).unwrap_or(0);
            let ((t0, v0), (t1, v1)) = (series[k], series[k + 1]);
            t0 + (t1 - t0) * (level - v0) / (v1 - v0)
        };
        let (low, high) = (-0.3 + 0.25 * (rebound + 0.3), -0.3 + 0.75 * (rebound + 0.3));
        let slope = (high - low) / (crossing(high) - crossing(low));
        r.compare("contact duration", &variant, &[(rebound + 0.3) / slope]);
        r.compare("plateau contact force", &variant, &[slope * mass]);
        r.compare("maximum shortening (at t=L/c)", &variant, &[at_turn.1]);
        r.compare("rebound speed / v", &variant, &[rebound / 0.3]);
        r.compare("kinetic energy at t=L/c / initial", &variant, &[at_turn.0]);
        let name = format!("speed_{along}");
        r.plots.push(Plot {
            name,
            x_label: "time [s]",
            y_label: "speed of the centre [m/s]",
            curves: vec![(variant, series)],
        });
    }
}

/// B09 fig. 5 and 6: after the landing Becker's cuboid has turned, Solenthaler's has sprung back.
pub fn falling_cuboid(r: &mut Recorder) {
    let mut simulation = r.simulation(&[]);
    let index = |name: &str| simulation.body_index(name).unwrap_or(0);
    let bodies = [("solenthaler", index("solenthaler")), ("becker", index("becker"))];
    let mut last = bodies.map(|(_, k)| body_rotation(&simulation, k));
    let mut curves = bodies.map(|(name, _)| (name.to_string(), Vec::new()));
    let mut angles = [0.0; 2];
    let frames = 150;
    for frame in 0..=frames {
        advance(&mut simulation, frame as f64 * 3.0 / frames as f64);
        for (b, (_, k)) in bodies.iter().enumerate() {
            // Summed up frame by frame, so that a turn and a quarter is not taken for a quarter.
            let now = body_rotation(&simulation, *k);
            angles[b] += (now * last[b].inverse()).to_scaled_axis().z.to_degrees();
            last[b] = now;
            curves[b].1.push((simulation.time(), angles[b]));
        }
    }
    let angles = angles.map(f64::abs);
    r.compare("Solenthaler's cuboid springs back: turned by at most", "solenthaler2007 green", &[angles[0]]);
    r.compare("Becker's cuboid turns as a rigid body would", "becker2009 linear", &[angles[1]]);
    r.plots.push(Plot {
        name: "turned".into(),
        x_label: "time [s]",
        y_label: "turned [degrees]",
        curves: curves.into_iter().collect(),
    });
}
