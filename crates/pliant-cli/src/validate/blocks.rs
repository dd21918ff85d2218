//! Blocks: confined and bonded compression, the limit of St Venant-Kirchhoff.

use super::record::{Recorder, Resolution, advance, displacements, forces, mean_where};
use super::way::Way;
use pliant::elasticity::{ElasticBody, Method, Model};
use pliant::geometry::{Sampling, Shape};
use pliant::kernel::{Kernel, KernelKind};
use pliant::material::{Law, Moduli};
use pliant::math::Vec3;

/// C02c: a cube between frictionless side walls, shortened by held layers.
pub fn confined(r: &mut Recorder) {
    for law in [Law::Corotated, Law::StVenantKirchhoff] {
        confine(r, &Way::explicit(law), 20);
    }
    for law in [Law::Corotated, Law::StVenantKirchhoff, Law::NeoHookean] {
        for way in Way::implicit(law) {
            if r.full || law != Law::StVenantKirchhoff {
                confine(r, &way, 10);
            }
        }
    }
}

/// A cube of 1 m between plates of two held layers, the planes midway between them.
fn plates(way: &Way, material: &str, across: usize, dt: f64) -> Vec<String> {
    let s = 1.0 / across as f64;
    let mut set = vec![
        format!("simulation.spacing={s}"),
        format!("bodies.0.shape.size=[1.0, {}, 1.0]", 1.0 + 2.0 * s),
        format!("bodies.0.pins.0.region.max=[9.0, {}, 9.0]", -0.5 + 0.75 * s),
        format!("bodies.0.pins.1.region.min=[-9.0, {}, -9.0]", 0.5 - 0.75 * s),
    ];
    set.extend(if way.model.is_implicit() { way.stepping(material, dt) } else { way.settings(material) });
    set
}

/// Contacts follow the solve of a step, so that what walls push into a body needs a step near that of its waves [s].
const CONTACT_STEP: f64 = 0.001;

fn confine(r: &mut Recorder, way: &Way, across: usize) {
    let mut set = plates(way, "cube", across, CONTACT_STEP);
    let time = if way.model.is_implicit() { 0.8 } else { 3.0 };
    if way.model.is_implicit() {
        set.push("bodies.0.pins.1.motion={ velocity = [0.0, -0.2, 0.0], stop = 0.5 }".to_string());
    }
    let mut simulation = r.simulation(&set);
    advance(&mut simulation, time);
    let f = forces(&simulation);
    let particles = simulation.particles();
    let lid: f64 = f.iter().zip(&particles.pins).filter(|(_, pin)| **pin == 1).map(|(f, _)| f.y).sum();
    let (variant, law) = (format!("{}, {across} across", way.describe()), way.short_law());
    r.compare(&format!("axial nominal stress, {law}"), &variant, &[-lid]);
    // At rest a wall holds what elasticity pushes into its layer of particles; held ones push into the plates.
    let s = simulation.setup().spacing;
    let free = |k: usize| particles.pins[k] == pliant::particles::FREE;
    let outer = |k: &usize| free(*k) && particles.rest_positions[*k].x > 0.5 - 0.75 * s;
    let wall: f64 = (0..f.len()).filter(outer).map(|k| f[k].x).sum();
    let height = 1.0 - s; // of the free layers
    let quantity = format!("side wall nominal stress, {law}");
    if across >= 20 {
        r.compare(&quantity, &variant, &[-wall / height]);
    } else {
        let (reference, source) =
            (r.value(&quantity), "C02c; the wall is half a spacing away from its layer");
        r.judge(&quantity, &variant, -wall / height, reference, 0.1 * reference.abs(), source);
    }
}

/// C02d: a cube between plates it is glued to.
pub fn bonded(r: &mut Recorder) {
    let ratios: &[f64] = if r.full { &[0.3, 0.45] } else { &[0.3] };
    for &nu in ratios {
        for strain in [-0.01, -0.2] {
            let across: &[usize] = if r.full { &[20, 40] } else { &[20] };
            for &n in across {
                r.resolution = if n >= 40 { Resolution::L40 } else { Resolution::L20 };
                press(r, &Way::explicit(Law::Corotated), nu, strain, n);
            }
            r.resolution = Resolution::L20;
            for way in [Law::Corotated, Law::NeoHookean].into_iter().flat_map(Way::implicit) {
                if strain < -0.1 || r.full {
                    press(r, &way, nu, strain, if r.full { 20 } else { 12 });
                }
            }
        }
    }
}

fn press(r: &mut Recorder, way: &Way, nu: f64, strain: f64, across: usize) {
    let s = 1.0 / across as f64;
    let speed = 0.5 * strain.abs();
    let mut set = plates(way, "block", across, 0.01);
    set.extend([
        format!("materials.block.poisson_ratio={nu}"),
        format!("bodies.0.pins.0.motion.velocity=[0.0, {speed}, 0.0]"),
        format!("bodies.0.pins.1.motion.velocity=[0.0, {}, 0.0]", -speed),
    ]);
    let mut simulation = r.simulation(&set);
    // The plates stop after 1 s; the damping of 40 /s settles the rest.
    advance(&mut simulation, if way.model.is_implicit() { 1.5 } else { 3.0 });
    let f = forces(&simulation);
    let particles = simulation.particles();
    let plate: f64 = f.iter().zip(&particles.pins).filter(|(_, pin)| **pin == 1).map(|(f, _)| f.y).sum();
    let (variant, law) = (format!("{}, {across} across", way.describe()), way.short_law());
    r.compare(&format!("plate force nu={nu} {law} strain {strain}"), &variant, &[-plate]);
    let u = displacements(&simulation);
    // Side face: linear through the last two layers around the centre of the face.
    let layer = |depth: f64| {
        let at = 0.5 - (depth + 0.5) * s;
        mean_where(&simulation, &u, |x| {
            (x.x - at).abs() < 0.1 * s && x.y.abs() < 0.6 * s && x.z.abs() < 0.6 * s
        })
        .x
    };
    let bulge = 1.5 * layer(0.0) - 0.5 * layer(1.0);
    let quantity =
        format!("bulge: lateral displacement of side-face centre (mid height) nu={nu} {law} strain {strain}");
    r.compare(&quantity, &variant, &[bulge]);
}

/// C10b: section force of a homogeneously shortened bar with Green strain.
pub fn compressive_limit(r: &mut Recorder) {
    let (s, young, nu) = (0.05, 1e5, 0.3);
    let rest = Shape::Box { size: Vec3::new(1.0, 0.4, 0.4) }.sample(s, Sampling::Lattice);
    let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * s);
    let method = Method { law: Law::StVenantKirchhoff, zero_energy: 0.1, ..Method::of(Model::Mls2004) };
    let moduli = Moduli::from_young_poisson(young, nu);
    let mut body = ElasticBody::new(rest.clone(), s.powi(3), 1000.0, kernel, method, moduli);
    let still = vec![Vec3::ZERO; rest.len()];
    // Uniaxial stress of St Venant-Kirchhoff: lateral stretch² = 1 - nu (axial stretch² - 1).
    let mut nominal = |axial: f64| {
        let side = (1.0 - nu * (axial * axial - 1.0)).sqrt();
        let x: Vec<Vec3> = rest.iter().map(|p| *p * Vec3::new(axial, side, side)).collect();
        body.compute_forces(&x, &still);
        let right = |p: &Vec3| p.x > 0.0;
        let force: f64 =
            body.forces.iter().zip(&rest).filter(|(_, p)| right(p)).map(|(f, _)| f.x as f64).sum();
        -force / 0.16
    };
    let curve: Vec<(f64, f64)> = (0..=600).map(|k| 1.0 - k as f64 * 0.001).map(|l| (l, nominal(l))).collect();
    let lowest = curve.iter().copied().fold((1.0, 0.0), |a, b| if b.1 < a.1 { b } else { a });
    let variant = "mls2004 green, section of a shortened bar";
    r.compare("stretch at maximum compressive nominal stress", variant, &[lowest.0]);
    r.compare("nominal stress there", variant, &[lowest.1]);
    // Beyond the limit stress no stretch balances the load: the curve never reaches it again.
    let reached = curve.iter().any(|&(_, p)| p <= 1.02 * lowest.1);
    let quantity = "under dead load beyond this the bar collapses (no equilibrium until inversion)";
    r.compare(quantity, variant, &[if reached { 0.0 } else { 1.0 }]);
}
