//! Laws that hold for every elastic method.
#![allow(non_snake_case)]

use pliant::elasticity::{ElasticBody, Method, Model};
use pliant::geometry::{Outline, Sampling, Shape};
use pliant::kernel::{Kernel, KernelKind};
use pliant::material::{Law, Moduli};
use pliant::math::{Mat3, Quat, Vec3};

const S: f64 = 0.1;
const DENSITY: f64 = 1000.0;
const E: f64 = 1e5;

fn every_method() -> impl Iterator<Item = Method> {
    Model::EXPLICIT.into_iter().flat_map(|model| {
        Law::ALL.into_iter().filter(move |law| model.accepts(*law)).flat_map(move |law| {
            [0.0, 0.1].map(|zero_energy| Method { law, zero_energy, ..Method::of(model) })
        })
    })
}

fn shapes() -> [(&'static str, Vec<Vec3>); 3] {
    let sheet = Shape::Sheet { size: [0.8, 0.7], outline: Outline::Rectangle, relief: None };
    [
        ("cube", jittered(Shape::Box { size: Vec3::splat(0.6) }.sample(S, Sampling::Lattice))),
        ("sheet", sheet.sample(S, Sampling::Lattice)),
        ("rod", Shape::Rod { length: 1.3 }.sample(S, Sampling::Lattice)),
    ]
}

/// The same for every run, up to 0.2 spacings.
fn jittered(points: Vec<Vec3>) -> Vec<Vec3> {
    let wave = |i: usize, k: f64| 0.1 * S * ((i as f64 * 12.9898 + k).sin() * 43758.5453).fract() * 2.0;
    points.iter().enumerate().map(|(i, p)| *p + Vec3::new(wave(i, 1.0), wave(i, 2.0), wave(i, 3.0))).collect()
}

fn body(rest: &[Vec3], method: Method) -> ElasticBody {
    let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * S);
    ElasticBody::new(rest.to_vec(), S.powi(3), DENSITY, kernel, method, Moduli::from_young_poisson(E, 0.3))
}

fn forces(body: &mut ElasticBody, x: &[Vec3]) -> Vec<Vec3> {
    // Twice: the rotations start from the rest state and are then converged.
    for _ in 0..3 {
        body.compute_forces(x, &vec![Vec3::ZERO; x.len()]);
    }
    body.forces.iter().map(|f| f.as_dvec3()).collect()
}

fn turn(degrees: f64) -> Quat {
    Quat::from_axis_angle(Vec3::new(0.3, -0.5, 0.8).normalize(), degrees.to_radians())
}

/// A smooth bend and stretch, turned by an odd angle.
fn deformed(rest: &[Vec3]) -> Vec<Vec3> {
    let bend = |X: &Vec3| {
        Vec3::new(
            1.1 * X.x + 0.2 * X.y * X.x,
            0.95 * X.y + 0.1 * X.x * X.x,
            X.z + 0.05 * X.x + 0.15 * X.x * X.x,
        )
    };
    rest.iter().map(|X| Vec3::new(3.0, -2.0, 1.0) + turn(37.0) * bend(X)).collect()
}

fn largest(f: &[Vec3]) -> f64 {
    f.iter().map(|f| f.length()).fold(0.0, f64::max)
}

#[test]
fn bodies_alike_share_their_rest_state_and_nothing_else() {
    for method in every_method() {
        let (_, rest) = shapes().into_iter().next().expect("a cube");
        let mut first = body(&rest, method);
        let alone = first.bytes();
        let expected = forces(&mut first, &deformed(&rest));
        let mut twin = first.twin();
        assert!(twin.bytes() + first.bytes() < 3 * alone / 2);
        assert_eq!(forces(&mut twin, &deformed(&rest)), expected);
    }
}

#[test]
fn fast_passes_equal_the_plain_formulas() {
    for (name, rest) in shapes() {
        for method in every_method() {
            let mut body = body(&rest, method);
            let x = deformed(&rest);
            let fast = forces(&mut body, &x);
            let plain = body.reference_forces(&x);
            // Single precision: 1e-7 of the stress E s², times the pairs that cancel.
            let error = fast.iter().zip(&plain).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
            assert!(error < 2e-5 * E * S * S, "{name} {method:?}: {error}");
        }
    }
}

#[test]
fn a_rigidly_moved_body_has_no_force_unless_its_method_ignores_rotation() {
    for (name, rest) in shapes() {
        for method in every_method() {
            for degrees in [0.0, 33.3, 45.0, 90.0, 180.0] {
                let x: Vec<Vec3> =
                    rest.iter().map(|X| Vec3::new(5.0, 1.0, 2.0) + turn(degrees) * *X).collect();
                let mut body = body(&rest, method);
                // Rotations follow in steps, as they do in a run.
                for k in 1..=8 {
                    let part: Vec<Vec3> = rest.iter().map(|X| turn(degrees * k as f64 / 8.0) * *X).collect();
                    forces(&mut body, &part);
                }
                let f = largest(&forces(&mut body, &x)) / (E * S * S);
                if method.model == Model::Solenthaler2007 && degrees > 0.0 {
                    assert!(f > 1e-3, "{name} {method:?} at {degrees}: feels no rotation ({f})");
                } else {
                    assert!(f < 1e-5, "{name} {method:?} at {degrees}: {f}");
                }
            }
        }
    }
}

#[test]
fn forces_sum_to_zero_and_so_do_torques_where_the_method_promises_it() {
    for (name, rest) in shapes() {
        for method in every_method() {
            let mut body = body(&rest, method);
            let x = deformed(&rest);
            let f = forces(&mut body, &x);
            let scale: f64 = f.iter().map(|f| f.length()).sum();
            let force: Vec3 = f.iter().sum();
            assert!(force.length() < 1e-6 * scale, "{name} {method:?}: {}", force.length() / scale);
            let torque: Vec3 = x.iter().zip(&f).map(|(x, f)| (*x - x_mean(&rest)).cross(*f)).sum();
            if method.model != Model::Solenthaler2007 {
                assert!(
                    torque.length() < 1e-5 * scale,
                    "{name} {method:?}: torque {}",
                    torque.length() / scale
                );
            }
        }
    }
}

fn x_mean(rest: &[Vec3]) -> Vec3 {
    let x = deformed(rest);
    x.iter().sum::<Vec3>() / x.len() as f64
}

#[test]
fn corrected_gradients_reproduce_every_affine_map() {
    let F = Mat3::from_cols_array(&[1.1, 0.05, 0.0, 0.2, 0.95, 0.03, 0.0, -0.1, 1.02]);
    let rest = jittered(Shape::Box { size: Vec3::splat(0.8) }.sample(S, Sampling::Lattice));
    for law in Law::ALL {
        let body = body(&rest, Method { law, zero_energy: 0.1, ..Method::of(Model::Mls2004) });
        let x: Vec<Vec3> = rest.iter().map(|X| F * *X).collect();
        for state in body.point_states(&x) {
            assert!(state.deformation_gradient.abs_diff_eq(F, 1e-6));
        }
    }
}

#[test]
fn the_force_is_the_derivative_of_the_energy() {
    let rest = jittered(Shape::Box { size: Vec3::splat(0.4) }.sample(S, Sampling::Lattice));
    for method in every_method() {
        let mut body = body(&rest, method);
        let x = deformed(&rest);
        forces(&mut body, &x);
        let f = body.reference_forces(&x);
        let energy = |x: &[Vec3]| body.point_states(x).iter().map(|s| s.energy).sum::<f64>();
        for i in [0, 7, 21, 40] {
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                let eps = 1e-6 * S;
                let moved = |sign: f64| {
                    let mut x = x.clone();
                    x[i] += axis * (sign * eps);
                    energy(&x)
                };
                let slope = -(moved(1.0) - moved(-1.0)) / (2.0 * eps);
                // The correction matrices are stored in single precision: 1e-6 of the stress.
                assert!(
                    (slope - f[i].dot(axis)).abs() < 1e-4 * E * S * S,
                    "{method:?}: {slope} {}",
                    f[i].dot(axis)
                );
            }
        }
    }
}

#[test]
fn a_flat_sheet_bent_out_of_its_plane_is_pushed_back() {
    let rest = Shape::Sheet { size: [0.9, 0.9], outline: Outline::Rectangle, relief: None }
        .sample(S, Sampling::Lattice);
    for model in Model::EXPLICIT {
        let mut body = body(&rest, Method { law: Law::Corotated, zero_energy: 1.0, ..Method::of(model) });
        let up = |X: &Vec3| if X.length() < 0.01 { 0.02 * S } else { 0.0 };
        let x: Vec<Vec3> = rest.iter().map(|X| *X + Vec3::Y * up(X)).collect();
        let f = forces(&mut body, &x);
        let middle = rest.iter().position(|X| X.length() < 0.01).expect("a particle in the middle");
        assert!(f[middle].y < -1e-4 * E * S * S, "{model:?}: {}", f[middle].y);
    }
}

#[test]
fn a_body_given_other_moduli_is_the_body_built_with_them() {
    for (name, rest) in shapes() {
        for method in every_method() {
            let x = deformed(&rest);
            let mut changed = body(&rest, method);
            changed.set_moduli(Moduli::from_young_poisson(7.0 * E, 0.1));
            changed.set_moduli(Moduli::from_young_poisson(0.2 * E, 0.4));
            let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * S);
            let moduli = Moduli::from_young_poisson(0.2 * E, 0.4);
            let mut built = ElasticBody::new(rest.clone(), S.powi(3), DENSITY, kernel, method, moduli);
            assert_eq!(forces(&mut changed, &x), forces(&mut built, &x), "{name} {method:?}");
            let energy = |body: &ElasticBody| body.point_states(&x).iter().map(|s| s.energy).sum::<f64>();
            assert_eq!(energy(&changed), energy(&built), "{name} {method:?}");
            let unchanged = forces(&mut body(&rest, method), &x);
            assert_ne!(forces(&mut changed, &x), unchanged, "{name} {method:?}");
        }
    }
}
