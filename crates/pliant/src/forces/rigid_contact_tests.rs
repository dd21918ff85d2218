//! Laws of contacts between particles and rigid bodies.

use super::*;
use crate::geometry::Pose;
use crate::rigid::{Dynamic, Motion, Rigid, RigidMotion, RigidShape};

const SPACING: Real = 0.1;

fn rigid(shape: RigidShape, motion: RigidMotion) -> Rigid {
    Rigid { name: "rigid".into(), shape, pose: Pose::IDENTITY, motion, friction: 0.5, restitution: 0.0 }
}

fn moving(density: Real, velocity: Vec3) -> RigidMotion {
    RigidMotion::Dynamic(Dynamic { density, velocity, angular_velocity: Vec3::new(0.1, 0.2, 0.4) })
}

/// Contacts of particles of one kilogram.
fn resolve(rigids: &mut RigidWorld, x: &[Vec3], v: &mut [Vec3], dt: Real) {
    let arriving = v.to_vec();
    resolve_after(&arriving, 0.0, rigids, x, v, dt);
}

fn resolve_after(
    arriving: &[Vec3],
    restitution: Real,
    rigids: &mut RigidWorld,
    x: &[Vec3],
    v: &mut [Vec3],
    dt: Real,
) {
    let law = SurfaceLaw { friction: 0.5, restitution };
    let input = RigidContactInput {
        positions: x,
        arriving,
        inverse_mass: &|_| 1.0,
        carrier: &|_| None,
        bodies: &[(0..x.len(), law)],
        dt,
    };
    rigids.begin(0.0, dt);
    RigidContacts::new(SPACING).resolve(&input, rigids, v);
}

#[test]
fn a_particle_lands_on_a_plane_exactly_and_friction_stays_in_its_cone() {
    let ground = rigid(RigidShape::Plane { normal: Vec3::Y }, Motion::Fixed.into());
    let mut world = RigidWorld::new(&[ground], &[], Vec3::ZERO);
    let (x, dt) = (Vec3::new(0.0, 0.06, 0.0), 0.01); // gap of 0.01 at spacing 0.1
    let mut v = [Vec3::new(3.0, -2.0, 0.0), Vec3::new(0.2, -2.0, 0.0)];
    resolve(&mut world, &[x, x], &mut v, dt);
    assert!((x.y + dt * v[0].y - 0.05).abs() < 1e-12);
    assert!((v[0].x - (3.0 - 0.5 * 1.0)).abs() < 1e-12); // normal change 1 m/s
    assert_eq!(v[1].x, 0.0);
}

/// A particle pressed to a plane by a strong spring, with restitution 1: contact takes no energy and gives none.
#[test]
fn a_bounce_keeps_its_energy_while_forces_press() {
    let ground =
        Rigid { restitution: 1.0, ..rigid(RigidShape::Plane { normal: Vec3::Y }, Motion::Fixed.into()) };
    let mut world = RigidWorld::new(&[ground], &[], Vec3::ZERO);
    let (stiffness, rest, dt) = (1e4, -0.1, 1e-4); // steps per period: 600
    let (mut x, mut v) = (Vec3::Y * 0.2, Vec3::X);
    let mut turns = 0;
    for _ in 0..100_000 {
        let mut next = [v - Vec3::Y * (stiffness * (x.y - rest) * dt)];
        resolve_after(&[v], 1.0, &mut world, &[x], &mut next, dt);
        turns += (v.y < 0.0 && next[0].y > 0.0) as usize;
        (v, x) = (next[0], x + next[0] * dt);
    }
    assert!(turns > 200, "{turns}");
    let energy = 0.5 * v.y * v.y + 0.5 * stiffness * (x.y - rest).powi(2);
    let before = 0.5 * stiffness * (0.2 - rest).powi(2);
    assert!((energy / before - 1.0).abs() < 0.05, "{energy} {before} {turns}");
}

/// A grid of particles on top of a box that comes up, at an angle and off the middle.
fn hit(density: Real) -> (RigidWorld, Vec<Vec3>, Vec<Vec3>) {
    let block = RigidShape::Box { size: Vec3::new(1.0, 0.4, 0.8) };
    let world = RigidWorld::new(&[rigid(block, moving(density, Vec3::new(0.3, 2.0, 0.0)))], &[], Vec3::ZERO);
    let x: Vec<Vec3> =
        (0..40).map(|k| Vec3::new(0.1 * (k % 8) as Real - 0.2, 0.25, 0.1 * (k / 8) as Real - 0.3)).collect();
    let v = (0..40).map(|k| Vec3::new(0.1, -0.5 * (k as Real).sin().abs(), 0.3)).collect();
    (world, x, v)
}

#[test]
fn momentum_and_angular_momentum_are_kept_and_the_approach_is_stopped() {
    for density in [1.0, 100.0, 1e5] {
        let (mut world, x, mut v) = hit(density);
        let momentum = |world: &RigidWorld, v: &[Vec3]| {
            let now = &world.now()[0];
            let p = now.velocity / now.inverse_mass;
            let linear = v.iter().sum::<Vec3>() + p;
            let angular: Vec3 = x.iter().zip(v).map(|(x, v)| x.cross(*v)).sum();
            (linear, angular + now.center.cross(p) + world.spin(0))
        };
        let closing = |world: &RigidWorld, v: &[Vec3]| {
            let speed = |(x, v): (&Vec3, &Vec3)| (world.now()[0].velocity_at(*x) - *v).y;
            x.iter().zip(v).map(speed).fold(0.0, Real::max)
        };
        let (before, first) = (momentum(&world, &v), closing(&world, &v));
        resolve(&mut world, &x, &mut v, 1e-3);
        let after = momentum(&world, &v);
        let scale = before.0.length() + before.1.length();
        assert!((after.0 - before.0).length() < 1e-12 * scale, "{before:?} {after:?}");
        assert!((after.1 - before.1).length() < 1e-12 * scale, "{before:?} {after:?}");
        assert!(closing(&world, &v) < 0.3 * first, "{density}: {} of {first}", closing(&world, &v));
    }
}

#[test]
fn contact_gives_no_energy() {
    for density in [1.0, 100.0, 1e5] {
        let (mut world, x, mut v) = hit(density);
        let energy = |world: &RigidWorld, v: &[Vec3]| {
            let now = &world.now()[0];
            let rigid =
                now.velocity.length_squared() / now.inverse_mass + world.spin(0).dot(now.angular_velocity);
            0.5 * (rigid + v.iter().map(|v| v.length_squared()).sum::<Real>())
        };
        let before = energy(&world, &v);
        resolve(&mut world, &x, &mut v, 1e-3);
        assert!(energy(&world, &v) < before, "{density}");
    }
}
