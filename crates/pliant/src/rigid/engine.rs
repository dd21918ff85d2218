//! Contacts among rigid bodies and joints, by rapier: the one file that knows it.
//!
//! Gravity, impulses and free rotation are not its part: it gets velocities, solves contacts and joints, and moves.

use super::{Freedom, Joint, JointKind, MassPart, Rigid, RigidMotion, RigidShape};
use crate::geometry::{Pose, SolidMesh};
use crate::math::{Quat, Real, Vec3};
use rapier3d_f64::prelude as rapier;
use rapier3d_f64::prelude::{
    ColliderBuilder, GenericJointBuilder, JointAxesMask, JointAxis, PhysicsWorld, RigidBodyBuilder,
    RigidBodyHandle,
};

/// How fast a motor nears its velocity [1/s]: within a step.
const MOTOR_RATE: Real = 1e9;
/// Distances of tolerance, relative to the smallest moving body: contacts are looked for this near.
const NEAR: Real = 0.01;

/// What rapier holds: bodies in the order of the scene, joints, contacts of the last step.
pub(super) struct Engine {
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
}

impl Engine {
    pub fn new(rigids: &[Rigid], joints: &[Joint]) -> Self {
        let mut world = PhysicsWorld { gravity: Vec3::ZERO, ..PhysicsWorld::default() };
        let bodies: Vec<_> = rigids.iter().map(|rigid| insert(&mut world, rigid)).collect();
        set_tolerances(&mut world, rigids);
        let ground = world.insert_body(RigidBodyBuilder::fixed());
        for joint in joints {
            let other = joint.b.map_or((ground, Pose::IDENTITY), |b| (bodies[b], rigids[b].pose));
            world.insert_impulse_joint(other.0, bodies[joint.a], built(joint, other.1, rigids[joint.a].pose));
        }
        Engine { world, bodies }
    }

    /// Mass and inertia of a dynamic body.
    pub fn set_mass(&mut self, k: usize, mass: &MassPart) {
        let properties = rapier::MassProperties::with_inertia_matrix(mass.center, mass.mass, mass.inertia);
        let body = &mut self.world.bodies[self.bodies[k]];
        body.set_additional_mass_properties(properties, true);
    }

    /// Velocities a dynamic body enters the step with.
    pub fn set_velocities(&mut self, k: usize, velocity: Vec3, angular_velocity: Vec3) {
        let body = &mut self.world.bodies[self.bodies[k]];
        body.set_linvel(velocity, true);
        body.set_angvel(angular_velocity, true);
    }

    /// Where a driven body is at the end of the step.
    pub fn set_target(&mut self, k: usize, pose: Pose) {
        self.world.bodies[self.bodies[k]].set_next_kinematic_position(to_rapier(pose));
    }

    /// Solves contacts and joints, and moves all bodies.
    pub fn step(&mut self, dt: Real) {
        let parameters = &mut self.world.integration_parameters;
        parameters.dt = dt;
        // overlaps fade over some steps, however long these are
        parameters.contact_softness.natural_frequency = 0.5 / dt;
        parameters.static_contact_softness.natural_frequency = 1.0 / dt;
        self.world.step();
    }

    /// Pose, velocity and angular velocity of a body after the step.
    pub fn state(&self, k: usize) -> (Pose, Vec3, Vec3) {
        let body = &self.world.bodies[self.bodies[k]];
        let pose = body.position();
        (Pose { position: pose.translation, rotation: pose.rotation }, body.linvel(), body.angvel())
    }

    /// All that the next step depends on.
    pub fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.world).expect("memory holds the state of the rigid bodies")
    }

    /// Puts back what `save` gave; false if it is not of these bodies.
    pub fn restore(&mut self, bytes: &[u8]) -> bool {
        let Ok(world) = postcard::from_bytes::<PhysicsWorld>(bytes) else { return false };
        let fits = world.bodies.len() == self.world.bodies.len()
            && world.colliders.len() == self.world.colliders.len()
            && self.bodies.iter().all(|body| world.bodies.contains(*body));
        if fits {
            self.world = world;
        }
        fits
    }
}

fn insert(world: &mut PhysicsWorld, rigid: &Rigid) -> RigidBodyHandle {
    let builder = match rigid.motion {
        RigidMotion::Told(super::Motion::Fixed) => RigidBodyBuilder::fixed(),
        RigidMotion::Told(super::Motion::Driven { .. }) => RigidBodyBuilder::kinematic_position_based(),
        RigidMotion::Dynamic(_) => RigidBodyBuilder::dynamic(),
    };
    let body = world.insert_body(
        builder
            .pose(to_rapier(rigid.pose))
            .can_sleep(false)
            .allow_fast_rotation(true)
            .gyroscopic_forces_enabled(false),
    );
    for collider in colliders(rigid) {
        let collider = collider.density(0.0).friction(rigid.friction).restitution(rigid.restitution);
        world.insert_collider(collider, Some(body));
    }
    body
}

/// Distances and speeds below which rapier does not look closer.
fn set_tolerances(world: &mut PhysicsWorld, rigids: &[Rigid]) {
    let moving = rigids.iter().filter(|rigid| rigid.is_dynamic());
    let smallest = moving.filter_map(|rigid| rigid.shape.reach()).fold(Real::INFINITY, Real::min);
    let parameters = &mut world.integration_parameters;
    parameters.length_unit = if smallest.is_finite() { smallest } else { 1.0 };
    parameters.normalized_prediction_distance = NEAR;
    parameters.normalized_max_linear_velocity = Real::MAX;
    parameters.contact_recycling = false;
    parameters.warmstart_joints = true;
    parameters.num_internal_pgs_iterations = 4;
    // its other model slides a tenth too far
    parameters.friction_model = rapier::FrictionModel::Simplified;
}

fn colliders(rigid: &Rigid) -> Vec<ColliderBuilder> {
    vec![match rigid.shape {
        RigidShape::Mesh(ref body) => {
            return mesh_collider(&body.mesh, rigid.is_dynamic()).into_iter().collect();
        }
        RigidShape::Plane { normal } => half_space(normal),
        RigidShape::Box { size } => ColliderBuilder::cuboid(0.5 * size.x, 0.5 * size.y, 0.5 * size.z),
        RigidShape::Sphere { radius } => ColliderBuilder::ball(radius),
        RigidShape::Cylinder { radius, height } => ColliderBuilder::cylinder(0.5 * height, radius),
        RigidShape::Capsule { radius, height } => ColliderBuilder::capsule_y(0.5 * height, radius),
        RigidShape::Container { size } => {
            let wall = |out: Vec3| half_space(-out).translation(out * (0.5 * size));
            return [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|e| [wall(e), wall(-e)]).collect();
        }
    }]
}

/// What moves meets other rigid bodies by the convex hull of its mesh, what stands by its triangles. None for a mesh that
/// rapier cannot use: it still meets particles.
fn mesh_collider(mesh: &SolidMesh, moves: bool) -> Option<ColliderBuilder> {
    let mesh = mesh.mesh();
    match moves {
        true => ColliderBuilder::convex_hull(&mesh.vertices),
        false => ColliderBuilder::trimesh(mesh.vertices.clone(), mesh.triangles.clone()).ok(),
    }
}

fn half_space(normal: Vec3) -> ColliderBuilder {
    ColliderBuilder::new(rapier::SharedShape::halfspace(normal))
}

/// A joint in rapier's terms: frames in the coordinates of both bodies whose x axis is the joint's.
fn built(joint: &Joint, pose_b: Pose, pose_a: Pose) -> rapier::GenericJoint {
    let (locked, axis, freedom) = match joint.kind {
        JointKind::Fixed => (JointAxesMask::LOCKED_FIXED_AXES, None, None),
        JointKind::Ball => (JointAxesMask::LOCKED_SPHERICAL_AXES, None, None),
        JointKind::Hinge(freedom) => {
            (JointAxesMask::LOCKED_REVOLUTE_AXES, Some(JointAxis::AngX), Some(freedom))
        }
        JointKind::Slider(freedom) => {
            (JointAxesMask::LOCKED_PRISMATIC_AXES, Some(JointAxis::LinX), Some(freedom))
        }
    };
    let turn = freedom.map_or(Quat::IDENTITY, |freedom| Quat::from_rotation_arc(Vec3::X, freedom.axis));
    let frame = |pose: Pose| {
        let rotation = pose.rotation.inverse() * turn;
        to_rapier(Pose { position: pose.to_body(joint.anchor), rotation })
    };
    let mut builder = GenericJointBuilder::new(locked)
        .local_frame1(frame(pose_b))
        .local_frame2(frame(pose_a))
        .contacts_enabled(false);
    if let (Some(axis), Some(Freedom { limits, motor, .. })) = (axis, freedom) {
        if let Some(limits) = limits {
            builder = builder.limits(axis, limits);
        }
        if let Some(motor) = motor {
            builder = builder
                .motor_velocity(axis, motor.velocity, MOTOR_RATE)
                .motor_max_force(axis, motor.max_force.unwrap_or(Real::MAX));
        }
    }
    builder.build()
}

fn to_rapier(pose: Pose) -> rapier::Pose {
    rapier::Pose { rotation: pose.rotation, translation: pose.position }
}
