//! Laws of rigid bodies in motion.

use super::*;
use crate::math::Quat;

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

fn body(shape: RigidShape, position: Vec3) -> Rigid {
    let dynamic = Dynamic { density: 1000.0, velocity: Vec3::ZERO, angular_velocity: Vec3::ZERO };
    Rigid {
        name: "body".into(),
        shape,
        pose: Pose { position, rotation: Quat::IDENTITY },
        motion: RigidMotion::Dynamic(dynamic),
        friction: 0.3,
        restitution: 0.0,
    }
}

fn thrown(mut rigid: Rigid, velocity: Vec3, angular_velocity: Vec3) -> Rigid {
    rigid.motion = RigidMotion::Dynamic(Dynamic { density: 1000.0, velocity, angular_velocity });
    rigid
}

fn told(shape: RigidShape, motion: Motion) -> Rigid {
    Rigid { motion: motion.into(), ..body(shape, Vec3::ZERO) }
}

fn ground() -> Rigid {
    told(RigidShape::Plane { normal: Vec3::Y }, Motion::Fixed)
}

fn cube(side: Real) -> RigidShape {
    RigidShape::Box { size: Vec3::splat(side) }
}

fn run(world: &mut RigidWorld, from: Real, dt: Real, steps: usize) {
    for k in 0..steps {
        let time = from + k as Real * dt;
        world.begin(time, dt);
        world.step(time, dt);
    }
}

/// Boxes and balls that fall onto one another in a driven container, one hinged to the world.
fn pile() -> RigidWorld {
    let shaken = Motion::Driven {
        velocity: Vec3::new(0.2, 0.0, 0.0),
        angular_velocity: Vec3::new(0.0, 0.3, 0.1),
        center: Vec3::ZERO,
        stop: Some(0.5),
    };
    let mut rigids = vec![told(RigidShape::Container { size: Vec3::splat(2.0) }, shaken)];
    for k in 0..12 {
        let shape = if k % 3 == 0 { RigidShape::Sphere { radius: 0.15 } } else { cube(0.3) };
        let place = Vec3::new((k % 2) as Real * 0.33 - 0.2, 0.31 * (k / 2) as Real - 0.8, 0.03 * k as Real);
        rigids.push(body(shape, place));
    }
    let freedom = Freedom { axis: Vec3::Z, limits: None, motor: None };
    let hinge = Joint { a: 3, b: None, anchor: Vec3::new(0.5, 0.0, 0.0), kind: JointKind::Hinge(freedom) };
    RigidWorld::new(&rigids, &[hinge], GRAVITY)
}

#[test]
fn free_fall_is_exact_for_any_steps() {
    let thrown = thrown(body(cube(0.2), Vec3::ZERO), Vec3::new(1.0, 5.0, 0.0), Vec3::ZERO);
    let mut world = RigidWorld::new(&[thrown], &[], GRAVITY);
    let mut time = 0.0;
    for k in 0..100 {
        let dt = 0.005 + 0.003 * (k as Real).sin();
        world.begin(time, dt);
        world.step(time, dt);
        time += dt;
    }
    let expected = Vec3::new(1.0, 5.0, 0.0) * time + GRAVITY * (0.5 * time * time);
    assert!((world.now()[0].center - expected).length() < 1e-12);
}

#[test]
fn a_tumbling_body_keeps_spin_and_energy() {
    let size = Vec3::new(0.6, 0.4, 0.2);
    let omega = Vec3::new(0.1, 6.0, 0.05);
    let mut world = RigidWorld::new(
        &[thrown(body(RigidShape::Box { size }, Vec3::ZERO), Vec3::ZERO, omega)],
        &[],
        Vec3::ZERO,
    );
    let energy = |world: &RigidWorld| 0.5 * world.spin(0).dot(world.now()[0].angular_velocity);
    let (spin, start) = (world.spin(0), energy(&world));
    let mut flips = Vec::new();
    let mut last = 1.0;
    for k in 0..10_000 {
        run(&mut world, k as Real * 1e-3, 1e-3, 1);
        let now = &world.now()[0];
        let along = (now.pose.rotation.inverse() * now.angular_velocity).y;
        if along * last < 0.0 {
            flips.push((k + 1) as Real * 1e-3);
        }
        last = along;
        assert!((energy(&world) / start - 1.0).abs() < 1e-5, "{k}");
    }
    assert!((world.spin(0) - spin).length() < 1e-12 * spin.length());
    assert!((flips[0] - 2.191).abs() < 0.005, "{flips:?}");
    assert!((flips[1] - flips[0] - 3.87423).abs() < 0.005, "{flips:?}");
}

#[test]
fn impulses_change_momentum_by_what_they_are_and_an_attempt_leaves_nothing() {
    let mut world = RigidWorld::new(&[body(cube(0.5), Vec3::ZERO), ground()], &[], Vec3::ZERO);
    let (impulse, angular) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.1, 0.0, -0.2));
    world.begin(0.0, 0.1);
    world.apply_impulse(0, impulse, angular);
    world.apply_impulse(1, impulse, angular);
    assert!((world.now()[0].velocity / world.now()[0].inverse_mass - impulse).length() < 1e-12);
    assert!((world.spin(0) - angular).length() < 1e-15);
    assert_eq!(world.now()[1].velocity, Vec3::ZERO);
    world.begin(0.0, 0.05);
    assert_eq!((world.now()[0].velocity, world.spin(0)), (Vec3::ZERO, Vec3::ZERO));
}

#[test]
fn collisions_keep_momentum() {
    let size = Vec3::new(0.6, 0.2, 0.2);
    let left =
        thrown(body(RigidShape::Box { size }, Vec3::new(-0.5, 0.0, 0.0)), Vec3::new(2.0, 0.3, 0.0), Vec3::Z);
    let right = body(RigidShape::Box { size }, Vec3::new(0.5, 0.15, 0.05));
    let mut world = RigidWorld::new(&[left, right], &[], Vec3::ZERO);
    let momentum = |world: &RigidWorld| {
        let of = |k: usize| {
            let now = &world.now()[k];
            let p = now.velocity / now.inverse_mass;
            (p, now.center.cross(p) + world.spin(k))
        };
        (of(0).0 + of(1).0, of(0).1 + of(1).1)
    };
    let before = momentum(&world);
    run(&mut world, 0.0, 1e-3, 800);
    let after = momentum(&world);
    assert!(world.now()[1].velocity.x > 0.5, "they have met");
    assert!((after.0 - before.0).length() < 1e-10 * before.0.length());
    assert!((after.1 - before.1).length() < 2e-3 * before.1.length(), "{before:?} {after:?}");
}

/// Highest points between impacts, and the times of the impacts.
fn bounces(dt: Real) -> (Vec<Real>, Vec<Real>) {
    let bouncy = |rigid: Rigid| Rigid { restitution: 0.8, ..rigid };
    let ball = body(RigidShape::Sphere { radius: 0.2 }, Vec3::Y * 1.2);
    let mut world = RigidWorld::new(&[bouncy(ball), bouncy(ground())], &[], GRAVITY);
    let (mut heights, mut impacts, mut highest, mut last) = (Vec::new(), Vec::new(), 0.0, 0.0);
    for k in 0..(2.4 / dt) as usize {
        run(&mut world, k as Real * dt, dt, 1);
        let now = &world.now()[0];
        if now.velocity.y > 0.1 && last < 0.0 {
            impacts.push((k + 1) as Real * dt);
            heights.push(highest);
            highest = 0.0;
        }
        last = now.velocity.y;
        highest = Real::max(highest, now.center.y - 0.2);
    }
    (heights, impacts)
}

#[test]
fn a_ball_bounces_to_its_restitution_for_any_step() {
    for dt in [1e-4, 1e-3, 3e-3] {
        let (heights, impacts) = bounces(dt);
        for (k, expected) in [1.0, 0.64, 0.4096, 0.262144].into_iter().enumerate() {
            assert!((heights[k] / expected - 1.0).abs() < 0.04, "dt {dt}: {heights:?} {impacts:?}");
        }
        assert!((impacts[2] / 1.75191 - 1.0).abs() < 0.01, "dt {dt}: {impacts:?}");
    }
}

#[test]
fn friction_stops_a_sliding_box_where_it_should_in_any_direction_and_for_any_step() {
    let size = Vec3::new(0.4, 0.2, 0.4);
    for (dt, angle) in [(1e-4, 0.0), (1e-3, 0.0), (5e-3, 0.0), (1e-3, 0.3), (1e-3, 0.785)] {
        let direction = Quat::from_rotation_y(angle) * Vec3::X;
        let start = thrown(body(RigidShape::Box { size }, Vec3::Y * 0.1), direction * 3.0, Vec3::ZERO);
        let mut world = RigidWorld::new(&[start, ground()], &[], GRAVITY);
        run(&mut world, 0.0, dt, (1.5 / dt) as usize);
        let now = &world.now()[0];
        let expected = direction * (9.0 / (2.0 * 0.3 * 9.81)) + Vec3::Y * 0.1;
        assert!((now.center - expected).length() < 5e-3, "dt {dt}, angle {angle}: {}", now.center);
        assert!(now.velocity.length() < 1e-3, "{}", now.velocity);
    }
}

#[test]
fn a_sliding_ball_comes_to_roll() {
    let ball = body(RigidShape::Sphere { radius: 0.25 }, Vec3::Y * 0.25);
    for dt in [1e-4, 1e-3, 5e-3] {
        let mut world =
            RigidWorld::new(&[thrown(ball.clone(), Vec3::X * 2.0, Vec3::ZERO), ground()], &[], GRAVITY);
        run(&mut world, 0.0, dt, (0.5 / dt) as usize);
        let now = &world.now()[0];
        assert!((now.velocity.x * 7.0 / 10.0 - 1.0).abs() < 2e-3, "dt {dt}: {}", now.velocity);
        assert!(now.velocity_at(now.center - Vec3::Y * 0.25).length() < 2e-3, "dt {dt}: {now:?}");
    }
}

#[test]
fn a_stack_stays() {
    let stack: Vec<Rigid> =
        (0..8).map(|k| body(cube(0.2), Vec3::Y * (0.1 + 0.2 * k as Real))).chain([ground()]).collect();
    for dt in [2e-4, 2e-3] {
        let mut world = RigidWorld::new(&stack, &[], GRAVITY);
        run(&mut world, 0.0, dt, (2.0 / dt) as usize);
        for (now, rigid) in world.now().iter().zip(&stack) {
            assert!(
                (now.pose.position - rigid.pose.position).length() < 2e-3,
                "dt {dt}: {}",
                now.pose.position
            );
        }
    }
}

#[test]
fn a_container_holds_what_is_in_it() {
    let mut world = pile();
    run(&mut world, 0.0, 2e-3, 1500);
    let container = &world.now()[0];
    for now in &world.now()[1..] {
        assert!(container.surface(now.center).distance > 0.13, "{:?}", now.pose);
    }
}

#[test]
fn a_restored_state_continues_to_the_same_bits() {
    let mut through = pile();
    run(&mut through, 0.0, 2e-3, 400);
    let mut first = pile();
    run(&mut first, 0.0, 2e-3, 200);
    let mut second = pile();
    second.restore(0.4, &first.save()).unwrap();
    run(&mut second, 0.4, 2e-3, 200);
    run(&mut first, 0.4, 2e-3, 200);
    assert_eq!(first.exact_state(), second.exact_state());
    for (a, b) in first.now().iter().zip(second.now()) {
        assert_eq!((a.pose, a.velocity), (b.pose, b.velocity));
    }
}

#[test]
fn damaged_states_are_refused() {
    let mut world = pile();
    run(&mut world, 0.0, 2e-3, 50);
    let good = world.save();
    for k in (0..good.len()).step_by(good.len() / 50) {
        let mut bad = good.clone();
        bad[k] ^= 0x10;
        assert_eq!(world.restore(0.1, &bad), Err(RestoreError::Damaged));
        assert!(world.restore(0.1, &good[..k]).is_err());
    }
    let mut other = RigidWorld::new(&[body(cube(1.0), Vec3::ZERO)], &[], GRAVITY);
    assert_eq!(other.restore(0.1, &good), Err(RestoreError::OtherBodies));
}

#[test]
fn driven_bodies_move_as_told() {
    let mut world = pile();
    run(&mut world, 0.0, 2e-3, 200);
    let expected = world.rigid(0).at(0.4);
    assert!((world.now()[0].pose.position - expected.pose.position).length() < 1e-12);
    assert!((world.now()[0].velocity - expected.velocity).length() < 1e-12);
}

#[test]
fn joints_hold_and_motors_drive() {
    let at = Vec3::new(0.5, 0.0, 0.0);
    let free = Freedom { axis: Vec3::Z, limits: None, motor: None };
    let driven = Freedom { motor: Some(Motor { velocity: 2.0, max_force: None }), ..free };
    let limited = Freedom { limits: Some([-0.5, 0.2]), ..free };
    let slide = Freedom { axis: Vec3::Y, limits: Some([-0.3, 0.3]), motor: None };
    let after = |kind: JointKind| {
        let joint = Joint { a: 0, b: None, anchor: Vec3::ZERO, kind };
        let mut world = RigidWorld::new(&[body(cube(0.2), at)], &[joint], GRAVITY);
        run(&mut world, 0.0, 1e-3, 1000);
        world.now()[0].clone()
    };
    let fixed = after(JointKind::Fixed);
    assert!((fixed.pose.position - at).length() < 1e-3, "{:?}", fixed.pose);
    let pendulum = after(JointKind::Hinge(free));
    assert!((pendulum.pose.position.length() - 0.5).abs() < 1e-3 && pendulum.pose.position.z.abs() < 1e-6);
    let ball = after(JointKind::Ball);
    assert!((ball.pose.position.length() - 0.5).abs() < 1e-3);
    let motor = after(JointKind::Hinge(driven));
    assert!((motor.angular_velocity - Vec3::Z * 2.0).length() < 0.02, "{}", motor.angular_velocity);
    let held = after(JointKind::Hinge(limited));
    let angle = held.pose.rotation.to_scaled_axis().z;
    assert!((angle + 0.5).abs() < 0.02, "{angle}");
    let slider = after(JointKind::Slider(slide));
    assert!((slider.pose.position - Vec3::new(0.5, -0.3, 0.0)).length() < 5e-3, "{:?}", slider.pose);
}
