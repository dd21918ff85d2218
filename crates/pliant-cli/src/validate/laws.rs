//! Elastic laws on homogeneous deformations.

use super::plots::Plot;
use super::record::{Recorder, odd_turn};
use pliant::material::{Law, Moduli, first_piola};
use pliant::math::{Mat3, Quat, Vec3};

/// A law with its numbers, seen straight or in odd directions.
#[derive(Clone, Copy)]
struct Matter {
    law: Law,
    mu: f64,
    lambda: f64,
    turned: bool,
}

impl Matter {
    fn new(law: Law, moduli: Moduli, turned: bool) -> Self {
        Matter { law, mu: moduli.shear, lambda: moduli.lame_lambda(), turned }
    }

    fn variant(&self) -> String {
        format!("{}{}", self.law.name(), if self.turned { ", turned" } else { "" })
    }

    /// Nominal stress along the axes for these stretches along them.
    #[allow(non_snake_case)] // F, P as in the theory
    fn nominal(&self, stretches: Vec3) -> Vec3 {
        let (world, rest) = match self.turned {
            true => (Mat3::from_quat(odd_turn()), Mat3::from_quat(Quat::from_rotation_y(0.7) * odd_turn())),
            false => (Mat3::IDENTITY, Mat3::IDENTITY),
        };
        let F = world * Mat3::from_diagonal(stretches) * rest.transpose();
        let P = world.transpose() * first_piola(self.law, self.mu, self.lambda, F) * rest;
        Vec3::new(P.x_axis.x, P.y_axis.y, P.z_axis.z)
    }

    /// The stretch of the free directions, where their stress is zero, by bisection.
    fn free(&self, stretches: impl Fn(f64) -> Vec3) -> Vec3 {
        let (mut low, mut high) = (0.05, 5.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            match self.nominal(stretches(middle)).z > 0.0 {
                true => high = middle,
                false => low = middle,
            }
        }
        stretches(0.5 * (low + high))
    }

    /// [stretch, lateral stretch, nominal stress] of a bar pulled along x.
    fn uniaxial(&self, stretch: f64) -> [f64; 3] {
        let found = self.free(|side| Vec3::new(stretch, side, side));
        [stretch, found.z, self.nominal(found).x]
    }

    /// [stretch, thickness stretch, nominal stress] of a sheet pulled along x and y.
    fn equibiaxial(&self, stretch: f64) -> [f64; 3] {
        let found = self.free(|thickness| Vec3::new(stretch, stretch, thickness));
        [stretch, found.z, self.nominal(found).x]
    }
}

/// C10a.
pub fn stress_stretch(r: &mut Recorder) {
    for turned in [false, true] {
        nearly_incompressible(r, turned);
        compressible(r, turned);
    }
    let moduli = Moduli::from_young_poisson(1e5, 0.3);
    let curve = |law: Law| {
        let matter = Matter::new(law, moduli, false);
        let points = (0..=150).map(|k| matter.uniaxial(0.5 + 0.01 * k as f64));
        (law.name().to_string(), points.map(|[stretch, _, stress]| (stretch, stress)).collect())
    };
    r.plots.push(Plot {
        name: "uniaxial".to_string(),
        x_label: "stretch",
        y_label: "nominal stress [Pa]",
        curves: Law::ALL.map(curve).to_vec(),
    });
}

/// Closed forms for constant volume, met with a bulk modulus of 1000 mu.
fn nearly_incompressible(r: &mut Recorder, turned: bool) {
    let mu = 1e5;
    let moduli = Moduli { shear: mu, bulk: 1000.0 * mu };
    let (pulled, spread) = ([0.5, 0.75, 1.25, 1.5, 2.0, 3.0], [0.8, 1.2, 1.5, 2.0]);
    for law in [Law::NeoHookean, Law::NeoHookeanQuadratic, Law::MooneyRivlin { second_invariant: 0.0 }] {
        let matter = Matter::new(law, moduli, turned);
        let variant = format!("{}, K = 1000 mu", matter.variant());
        let quantity = "incompressible NH uniaxial nominal stress, mu=100000, stretches [0.5, 0.75, 1.25, 1.5, 2.0, 3.0]";
        r.compare(quantity, &variant, &pulled.map(|stretch| matter.uniaxial(stretch)[2]));
        let quantity = "incompressible NH equibiaxial, stretches [0.8, 1.2, 1.5, 2.0]";
        r.compare(quantity, &variant, &spread.map(|stretch| matter.equibiaxial(stretch)[2]));
    }
    // C10 = 40000 and C01 = 10000: the second invariant carries a fifth of mu.
    let matter = Matter::new(Law::MooneyRivlin { second_invariant: 0.2 }, moduli, turned);
    let variant = format!("{}, K = 1000 mu", matter.variant());
    let stresses = pulled.map(|stretch| matter.uniaxial(stretch)[2]);
    r.compare("Mooney-Rivlin uniaxial C10=40000 C01=10000", &variant, &stresses);
    let stresses = spread.map(|stretch| matter.equibiaxial(stretch)[2]);
    r.compare("Mooney-Rivlin equibiaxial", &variant, &stresses);
}

fn compressible(r: &mut Recorder, turned: bool) {
    let moduli = Moduli::from_young_poisson(1e5, 0.3);
    let bounded = Law::NeoHookeanBounded { min_stretch: 0.3 };
    let pulled = [0.5, 0.7, 0.9, 1.1, 1.5, 2.0];
    for (law, quantity) in [
        (Law::NeoHookean, "compressible log-NH uniaxial E=100000 nu=0.3: [stretch, lateral, nominal stress]"),
        (bounded, "compressible log-NH uniaxial E=100000 nu=0.3: [stretch, lateral, nominal stress]"),
        (Law::Corotated, "corotated-linear uniaxial: [stretch, lateral, nominal stress]"),
        (Law::StVenantKirchhoff, "StVK uniaxial: [stretch, lateral, nominal stress]"),
    ] {
        let matter = Matter::new(law, moduli, turned);
        r.compare(quantity, &matter.variant(), pulled.map(|stretch| matter.uniaxial(stretch)).as_flattened());
    }
    for law in [Law::NeoHookean, bounded] {
        let matter = Matter::new(law, moduli, turned);
        let found = [1.1, 1.5, 2.0].map(|stretch| matter.equibiaxial(stretch));
        let quantity = "compressible log-NH equibiaxial: [stretch, thickness stretch, nominal stress]";
        r.compare(quantity, &matter.variant(), found.as_flattened());
    }
}

/// C10c.
pub fn principal_stress(r: &mut Recorder) {
    let sigma = Vec3::new(1.2, 0.9, 0.8);
    principal(r, sigma, Law::Corotated, "cor");
    principal(r, sigma, Law::StVenantKirchhoff, "stvk");
    principal(r, sigma, Law::NeoHookean, "nh");
    principal(r, sigma, Law::NeoHookeanBounded { min_stretch: 0.3 }, "nh");
    principal(r, sigma, Law::MooneyRivlin { second_invariant: 0.0 }, "nh_iso");
}

/// C10d.
pub fn principal_stress_inverted(r: &mut Recorder) {
    let sigma = Vec3::new(1.1, 0.9, -0.3);
    principal(r, sigma, Law::Corotated, "cor");
    principal(r, sigma, Law::StVenantKirchhoff, "stvk");
    let moduli = Moduli::from_young_poisson(1e5, 0.3);
    let (mu, lambda, bound) = (moduli.shear, moduli.lame_lambda(), 0.3);
    let stress = Matter::new(Law::NeoHookeanBounded { min_stretch: bound }, moduli, true).nominal(sigma);
    // Below zero ln σ is continued by ln a - 4/3 + 3/2 σ/a.
    let log = (1.1 * 0.9 * bound).ln() - 4.0 / 3.0 + 1.5 * sigma.z / bound;
    let line = mu * sigma.z + (lambda * log - mu) * 1.5 / bound;
    let variant = "neo_hookean_bounded, bound 0.3, turned";
    let source = "mu s + (lambda L - mu) 3/(2a), L the continued ln J";
    r.judge("P along the inverted direction", variant, stress.z, line, 1e-9 * line.abs(), source);
}

fn principal(r: &mut Recorder, sigma: Vec3, law: Law, short: &str) {
    for turned in [false, true] {
        let matter = Matter::new(law, Moduli::from_young_poisson(1e5, 0.3), turned);
        let stress = matter.nominal(sigma).to_array();
        r.compare(&format!("principal P, {short}"), &matter.variant(), &stress);
    }
}
