//! Rigid bodies: free rotation, friction, restitution.

use super::record::{Recorder, advance, setting, zero_crossings};
use pliant::math::Vec3;
use pliant::rigid::RigidNow;
use pliant::scene::Scene;
use pliant::simulation::Simulation;

const SLIDING: &str = include_str!("../../../../validation/C09a_sliding_box/rigid.toml");

fn first(simulation: &Simulation) -> &RigidNow {
    &simulation.rigids().now()[0]
}

/// Calls `look` at multiples of `every`, up to `end`.
fn watch(simulation: &mut Simulation, every: f64, end: f64, mut look: impl FnMut(&Simulation)) {
    for k in 1..=(end / every).round() as usize {
        advance(simulation, k as f64 * every);
        look(simulation);
    }
}

/// C05e.
pub fn tumbling(r: &mut Recorder) {
    let mut simulation = r.simulation(&[]);
    let inertia = simulation.rigids().mass(0).expect("a dynamic body").inertia;
    r.compare("moments of inertia", "rigid", &[0, 1, 2].map(|k| inertia.col(k)[k]));
    let energy = |s: &Simulation| 0.5 * s.rigids().spin(0).dot(first(s).angular_velocity);
    let (start, spin) = (energy(&simulation), simulation.rigids().spin(0).length());
    let (mut along, mut drift) = (Vec::new(), 0f64);
    watch(&mut simulation, 0.002, 20.0, |s| {
        let now = first(s);
        along.push((s.time(), (now.pose.rotation.inverse() * now.angular_velocity).y));
        let spin = s.rigids().spin(0).length() / spin - 1.0;
        drift = drift.max((energy(s) / start - 1.0).abs()).max(spin.abs());
    });
    let flips = zero_crossings(&along);
    r.compare("time of first sign change of omega_y", "rigid", &[flips[0]]);
    let between = (flips[flips.len() - 1] - flips[0]) / (flips.len() - 1) as f64;
    r.compare("interval between successive sign changes", "rigid", &[between]);
    r.compare("kinetic energy and |angular momentum| drift", "rigid", &[drift]);
}

/// C09a with a rigid box.
pub fn sliding(r: &mut Recorder) {
    let variant = "rigid";
    let build = |set: &[String]| {
        let scene = Scene::from_toml("rigid", "rigid", SLIDING, set).expect("a good scene");
        scene.build().expect("a small scene")
    };
    let mut simulation = build(&[]);
    let mut stop_time = f64::NAN;
    watch(&mut simulation, 0.01, 1.5, |s| {
        if stop_time.is_nan() && first(s).velocity.x < 0.03 {
            stop_time = s.time();
        }
    });
    r.compare("(a) stop distance", variant, &[first(&simulation).center.x]);
    r.compare("(a) stop time", variant, &[stop_time]);
    let slope = |mu: f64, time: f64| {
        let angle = 30f64.to_radians();
        let mut simulation = build(&[
            setting("simulation.gravity", Vec3::new(angle.sin(), -angle.cos(), 0.0) * 9.81),
            format!("rigids.0.friction={mu}"),
            format!("rigids.1.friction={mu}"),
            "rigids.0.velocity=[0.0, 0.0, 0.0]".to_string(),
        ]);
        advance(&mut simulation, time);
        first(&simulation).center.x
    };
    r.compare("(b) distance after 1 s", variant, &[slope(0.2, 1.0)]);
    r.compare("(c) creep after 2 s", variant, &[slope(0.6928, 2.0)]);
}

/// C09b.
pub fn rolling(r: &mut Recorder) {
    let mut simulation = r.simulation(&[]);
    let mut rolls = None;
    watch(&mut simulation, 0.001, 0.5, |s| {
        let now = first(s);
        let slide = now.velocity_at(now.center - Vec3::Y * 0.25).length();
        if rolls.is_none() && slide < 0.02 {
            rolls = Some((s.time(), now.center.x));
        }
    });
    let (time, distance) = rolls.unwrap_or((f64::NAN, f64::NAN));
    r.compare("final rolling speed", "rigid", &[first(&simulation).velocity.x]);
    r.compare("time until rolling", "rigid", &[time]);
    r.compare("distance until rolling", "rigid", &[distance]);
}

/// C09c.
pub fn bounce(r: &mut Recorder) {
    let mut simulation = r.simulation(&[]);
    let (mut heights, mut times, mut highest, mut last) = (Vec::new(), Vec::new(), 0f64, 0.0);
    watch(&mut simulation, 0.0005, 2.4, |s| {
        let now = first(s);
        if now.velocity.y > 0.1 && last < 0.0 {
            times.push(s.time());
            heights.push(highest);
            highest = 0.0;
        }
        last = now.velocity.y;
        highest = highest.max(now.center.y - 0.2);
    });
    // the first height is that of the start
    r.compare("heights of first three rebounds", "rigid", &heights[1..4]);
    r.compare("times of first three impacts", "rigid", &times[..3]);
}
