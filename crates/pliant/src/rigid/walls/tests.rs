//! Densities, gradients and rest of walls.

use super::*;
use crate::kernel::KernelKind;
use crate::math::Quat;

fn neighbors_of(points: &[Vec3], h: Real) -> CurrentNeighbors {
    let all: Vec<u32> = (0..points.len() as u32).collect();
    let mut neighbors = CurrentNeighbors::default();
    neighbors.build(points, &all, h, None);
    neighbors
}

fn placed(shape: &RigidShape, spacing: Real, kind: KernelKind, turn: Quat) -> Walls {
    let mut walls = Walls::new(Kernel::new(kind, 2.0 * spacing), spacing);
    walls.add(shape);
    let body = WallBody {
        position: Vec3::new(0.3, -0.2, 0.1),
        to_world: Mat3::from_quat(turn),
        center: Vec3::ZERO,
        inverse_mass: 0.0,
        inverse_inertia: Mat3::ZERO,
    };
    walls.place([body].into_iter());
    walls
}

/// Forces are those of a potential: what else they were, a liquid at rest would be stirred by them.
#[test]
fn gradients_are_derivatives_of_densities() {
    let turn = Quat::from_scaled_axis(Vec3::new(0.4, -0.9, 0.3));
    for (shape, inside) in [
        (RigidShape::Plane { normal: Vec3::Y }, Vec3::ZERO),
        (RigidShape::Container { size: Vec3::new(0.6, 0.5, 0.7) }, Vec3::new(-0.29, -0.24, 0.335)),
        (RigidShape::Box { size: Vec3::splat(0.4) }, Vec3::new(0.21, 0.19, 0.05)),
        (RigidShape::Sphere { radius: 0.2 }, Vec3::new(0.12, 0.11, 0.13)),
    ] {
        for (spacing, kind) in [(0.05, KernelKind::WendlandC2), (0.03, KernelKind::CubicSpline)] {
            let walls = placed(&shape, spacing, kind, turn);
            for ((k, away), is_liquid) in
                [(0, 0.2), (1, 0.5), (2, 0.9)].into_iter().flat_map(|at| [(at, true), (at, false)])
            {
                let outward = shape.surface(inside).normal * (away * spacing);
                let x = walls.bodies[0].position + turn * (inside + outward);
                let at = |x: Vec3| {
                    let (mut touches, mut presses) = (Vec::new(), Vec::new());
                    walls.touches_of(0, x, is_liquid, &mut touches, &mut presses);
                    touches.first().map_or((0.0, Vec3::ZERO), |t| (t.density, t.gradient))
                };
                let step = 1e-6 * spacing;
                let slope = |d: Vec3| (at(x + d * step).0 - at(x - d * step).0) / (2.0 * step);
                let derivative = Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
                let gradient = at(x).1;
                assert!(k > 0 || gradient.length() > 0.1 / spacing, "{shape:?} is felt");
                let error = (gradient - derivative).length();
                let rounding = 1e-5 * gradient.length() + 1e-7 / spacing;
                assert!(error < rounding, "{shape:?} {k}: {gradient} is not {derivative}");
            }
        }
    }
}

/// A lattice of particles at a smooth face, and on top of a sampled one, compresses nothing.
#[test]
fn a_lattice_at_a_wall_is_at_rest() {
    for spacing in [0.05, 0.02] {
        let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * spacing);
        let cell = 1.0 / kernel.lattice_sum(spacing);
        let layers = |x: Real| cell * (kernel.layer_sum(spacing, 0.0) + kernel.layer_sum(spacing, x));
        let walls =
            placed(&RigidShape::Plane { normal: Vec3::Y }, spacing, KernelKind::WendlandC2, Quat::IDENTITY);
        let (mut touches, mut presses) = (Vec::new(), Vec::new());
        let above = walls.bodies[0].position + Vec3::Y * (0.5 * spacing);
        walls.touches_of(0, above, true, &mut touches, &mut presses);
        assert!((touches[0].density + layers(spacing) - 1.0).abs() < 1e-9, "{}", touches[0].density);

        let shape = RigidShape::Box { size: Vec3::splat(8.0 * spacing) };
        let mut walls = placed(&shape, spacing, KernelKind::WendlandC2, Quat::IDENTITY);
        let at = |k: i64| (k as Real + 0.5) * spacing;
        let lattice = (-6..6).flat_map(|i| (-6..6).flat_map(move |j| (-6..6).map(move |k| [i, j, k])));
        let outside: Vec<Vec3> = lattice
            .map(|p| Vec3::from_array(p.map(at)))
            .filter(|p| shape.surface(*p).distance > 0.0)
            .map(|p| p + walls.bodies[0].position)
            .collect();
        walls.touch(&neighbors_of(&outside, kernel.h), &outside, |_| true);
        let worst = (0..walls.len()).map(|b| walls.compression(b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-5, "{worst}");
    }
}

const CONTAINER: RigidShape = RigidShape::Container { size: Vec3::new(0.6, 0.52, 0.7) };

/// The same of the nodes of a container's faces, at an edge, at a corner and away from them.
#[test]
fn gradients_at_nodes_are_derivatives_of_densities() {
    let turn = Quat::from_scaled_axis(Vec3::new(0.4, -0.9, 0.3));
    let walls = placed(&CONTAINER, 0.05, KernelKind::WendlandC2, turn);
    let at = |x: Vec3| {
        let (mut touches, mut presses) = (Vec::new(), Vec::new());
        walls.touches_of(0, x, true, &mut touches, &mut presses);
        presses
    };
    for inside in [Vec3::new(-0.28, 0.01, 0.333), Vec3::new(0.29, 0.24, -0.34), Vec3::new(0.03, -0.245, 0.04)]
    {
        let x = walls.bodies[0].position + turn * inside;
        let here = at(x);
        assert!(here.len() >= 9 && here.len() % 9 == 0, "nine nodes of each face: {}", here.len());
        let step = 1e-3 * walls.spacing;
        for (k, press) in here.iter().enumerate() {
            let slope = |d: Vec3| {
                let (more, less) = (at(x + d * step)[k], at(x - d * step)[k]);
                assert_eq!((more.point, less.point), (press.point, press.point));
                (more.density - less.density) / (2.0 * step as f32)
            };
            let derivative = [Vec3::X, Vec3::Y, Vec3::Z].map(slope);
            for (gradient, derivative) in press.gradient.iter().zip(derivative) {
                assert!((gradient - derivative).abs() < 0.01, "{k}: {gradient} is not {derivative}");
            }
        }
    }
}

/// The nodes' splines sum to one, so that a face has no bumps.
#[test]
fn nodes_sum_to_the_layer() {
    let walls = placed(&CONTAINER, 0.05, KernelKind::WendlandC2, Quat::IDENTITY);
    for along in [-0.299, -0.21, 0.0, 0.123, 0.2999] {
        let (mut touches, mut presses) = (Vec::new(), Vec::new());
        let x = walls.bodies[0].position + Vec3::new(along, -0.25, 0.1);
        walls.touches_of(0, x, true, &mut touches, &mut presses);
        let rho = walls.flat.rho(0.01 + 0.5 * walls.spacing).0 as f32;
        let total =
            |nine: &[Press]| nine.iter().map(|p| glam::Vec3::from_array(p.gradient)).sum::<glam::Vec3>();
        let floor = presses.chunks(9).find(|nine| total(nine).y < -1.0).expect("it is near the floor");
        let sum: f32 = floor.iter().map(|press| press.density).sum();
        assert!((sum - rho).abs() < 1e-5, "{sum} is not {rho}");
        assert!(total(floor).x.abs() < 1e-4, "{}", total(floor));
    }
}

/// Liquid that fills a container is not compressed and compresses no node, and what turns with it does not either.
#[test]
fn a_full_container_is_at_rest() {
    // with kernels that reach further the second layer feels a smooth layer, not a lattice
    for (reach, allowed) in [(2.0, 1e-9), (2.5, 0.01)] {
        full_container_is_at_rest(reach, allowed);
    }
}

/// With a kernel that reaches so many spacings.
fn full_container_is_at_rest(reach: Real, allowed: Real) {
    let spacing = 0.05;
    let shape = RigidShape::Container { size: Vec3::new(12.0, 9.0, 14.0) * spacing };
    let mut walls = Walls::new(Kernel::new(KernelKind::WendlandC2, reach * spacing), spacing);
    walls.add(&shape);
    walls.place(placed(&shape, spacing, KernelKind::WendlandC2, Quat::IDENTITY).bodies.into_iter());
    let at = |k: i64, n: i64| (k as Real + 0.5 - 0.5 * n as Real) * spacing;
    let lattice = (0..12).flat_map(|i| (0..9).flat_map(move |j| (0..14).map(move |k| (i, j, k))));
    let points: Vec<Vec3> = lattice
        .map(|(i, j, k)| walls.bodies[0].position + Vec3::new(at(i, 12), at(j, 9), at(k, 14)))
        .collect();
    let neighbors = neighbors_of(&points, walls.kernel.h);
    walls.touch(&neighbors, &points, |_| true);
    assert!(walls.points.is_empty() && walls.rows() > 100);
    let worst = (0..walls.rows()).map(|b| walls.compression_of_node(b).abs()).fold(0.0, f32::max);
    // nine spacings are not a whole number of cells
    assert!(worst < 0.02 * walls.flat.one as f32, "{worst}");
    // at faces, edges and corners
    for (m, &i) in neighbors.members.iter().enumerate() {
        let x = points[i as usize];
        let within: Real = points.iter().map(|y| walls.cell * walls.kernel.w(x.distance(*y))).sum();
        let touches = walls.touches.iter().flatten().filter(|touch| touch.member == m as u32);
        let density = within + touches.map(|touch| touch.density).sum::<Real>();
        assert!((density - 1.0).abs() < allowed, "{density} at {x}");
    }
    let means = (0..walls.rows()).map(|b| walls.mean_at_node(b, |_| 3.0));
    assert!(means.into_iter().all(|mean| (mean - 3.0).abs() < 1e-5), "shares sum to one");

    let (center, turning) = (walls.bodies[0].center, Vec3::new(0.3, 1.0, -2.0));
    for b in 0..walls.rows() {
        let rate = |press: &Press| {
            let x = points[neighbors.members[press.member as usize] as usize];
            glam::Vec3::from_array(press.gradient).as_dvec3().dot(turning.cross(x - center))
        };
        let (of_members, own) =
            (walls.presses_on(b).iter().map(rate).sum::<Real>(), turning.dot(walls.sums[b][1]));
        assert!((of_members - own).abs() < 1e-9, "{of_members} is not {own}");
    }
}

/// What is too large for nodes takes no memory and is held by phi.
#[test]
fn a_huge_container_has_no_nodes() {
    let shape = RigidShape::Container { size: Vec3::new(1e9, 1.0, 1e300) };
    let walls = placed(&shape, 0.05, KernelKind::WendlandC2, Quat::IDENTITY);
    let (mut touches, mut presses) = (Vec::new(), Vec::new());
    walls.touches_of(0, walls.bodies[0].position - Vec3::Y * 0.475, true, &mut touches, &mut presses);
    assert!(walls.rows() == 0 && presses.is_empty());
    assert!((touches[0].density - walls.flat.one).abs() < 1e-9);
}
