//! Laws of sampling, over every way and several shapes.

use super::mesh::tests::{cube, enclosed, lobed_ring};
use super::*;

const WAYS: [Sampling; 4] =
    [Sampling::Lattice, Sampling::Ccp, Sampling::Poisson { seed: 1 }, Sampling::Relaxed { seed: 1 }];

/// Sphere, torus and a concave mesh, also turned, with their volumes, 20 particles of 0.05 across.
fn solids() -> Vec<(Shape, Real)> {
    let ring = lobed_ring(20);
    let volume = enclosed(&ring);
    let mesh = SolidMesh::new(ring).expect("a ring");
    let tau = std::f64::consts::TAU;
    let mut turned = lobed_ring(20);
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 0.5).normalize(), 0.7);
    turned.vertices.iter_mut().for_each(|v| *v = turn * *v);
    let turned = SolidMesh::new(turned).expect("a ring");
    vec![
        (Shape::Sphere { radius: 0.5 }, tau / 12.0),
        (Shape::Torus { radius: 0.35, tube_radius: 0.15 }, tau * tau / 2.0 * 0.35 * 0.0225),
        (Shape::Mesh { mesh }, volume),
        (Shape::Mesh { mesh: turned }, volume),
    ]
}

#[test]
fn every_sampling_has_the_volume_and_relaxed_is_even() {
    let s: Real = 0.05;
    for (shape, volume) in solids() {
        let reports = WAYS.map(|way| SamplingReport::new(&shape, s, &shape.sample(s, way)));
        for (way, report) in WAYS.iter().zip(&reports) {
            let error = report.particles as Real * s.powi(3) / volume - 1.0;
            assert!(error.abs() < 0.01, "{shape:?} {way:?}: {error}");
        }
        let [_, _, poisson, relaxed] = reports;
        assert!(relaxed.density_spread < poisson.density_spread.min(0.03), "{shape:?}: {relaxed:?}");
        let depth = relaxed.surface_depth;
        assert!((depth - 0.5).abs() < 0.1 && relaxed.surface_spread < 0.1, "{shape:?}: {relaxed:?}");
    }
}

/// Standard deviation over mean of the distance to the nearest point, and the points per area of one spacing.
fn evenness(points: &[Vec3]) -> (Real, Real) {
    let nearest = |p: &Vec3| {
        let others = points.iter().map(|q| q.distance(*p)).filter(|d| *d > 0.0);
        others.fold(Real::INFINITY, Real::min)
    };
    let all: Vec<Real> = points.iter().map(nearest).collect();
    let mean = all.iter().sum::<Real>() / all.len() as Real;
    let variance = all.iter().map(|d| (d - mean).powi(2)).sum::<Real>() / all.len() as Real;
    (mean, variance.sqrt())
}

#[test]
fn a_lattice_is_as_symmetric_as_its_shape_and_keeps_to_its_surface() {
    for (radius, s) in [(0.5, 0.05), (0.5, 0.07), (0.3, 0.11), (0.1, 0.08)] {
        let shape = Shape::Sphere { radius };
        let points = shape.sample(s, Sampling::Lattice);
        let is_there = |p: Vec3| points.iter().any(|q| q.distance(p) < 1e-9);
        assert!(points.iter().all(|p| is_there(Vec3::new(p.y, p.z, p.x)) && is_there(-*p)), "{radius} {s}");
        assert!(points.iter().all(|p| shape.distance(*p) <= 0.25 * s), "{radius} {s}");
    }
    // a mesh of a box of whole spacings is filled as the box is
    let mesh = SolidMesh::new(cube()).expect("a cube");
    let by_mesh = Shape::Mesh { mesh }.sample(0.1, Sampling::Lattice);
    let by_box = Shape::Box { size: Vec3::ONE }.sample(0.1, Sampling::Lattice);
    assert_eq!(by_mesh.len(), by_box.len());
    assert!(by_box.iter().all(|p| by_mesh.iter().any(|q| q.distance(*p) < 1e-9)));
}

#[test]
fn a_surface_layer_lies_at_its_depth_and_is_even() {
    let s = 0.05;
    let mesh = SolidMesh::new(cube()).expect("a cube");
    for (shape, area) in [
        (Shape::Sphere { radius: 0.5 }, 4.0 * std::f64::consts::PI * 0.475 * 0.475),
        (Shape::Cylinder { radius: 0.4, height: 0.6 }, std::f64::consts::TAU * 0.375 * (0.375 + 0.55)),
        (Shape::Capsule { radius: 0.3, height: 0.5 }, std::f64::consts::TAU * 0.275 * (2.0 * 0.275 + 0.5)),
        (Shape::Mesh { mesh }, 6.0 * 0.95 * 0.95),
    ] {
        let points = sample_surface(&shape, s, 0.5 * s);
        let deepest = points.iter().map(|p| (shape.distance(*p) + 0.5 * s).abs()).fold(0.0, Real::max);
        assert!(deepest < 0.05 * s, "{shape:?}: {deepest}");
        let number = points.len() as Real * s * s / area;
        let (mean, deviation) = evenness(&points);
        assert!((number - 1.0).abs() < 0.05, "{shape:?}: {number}");
        // a triangular lattice of this density has 1.07, random points no nearest distance
        assert!(mean > 0.85 * s && deviation < 0.1 * s, "{shape:?}: {mean} {deviation}");
    }
}

#[test]
fn walls_continue_the_lattice_of_the_matter() {
    let s = 0.1;
    let size = Vec3::new(0.5, 0.3, 0.4);
    let matter = Shape::Box { size }.sample(s, Sampling::Lattice);
    let is_outer = |p: &&Vec3| (p.abs() - size * 0.5).max_element() > -0.75 * s;
    let wall = sample_surface(&Shape::Box { size }, s, 0.5 * s);
    assert_eq!(wall.len(), matter.iter().filter(is_outer).count());
    assert!(wall.iter().all(|p| matter.iter().any(|q| q.distance(*p) < 1e-12)));
}

#[test]
fn samplings_do_not_depend_on_threads_but_on_the_seed() {
    let shape = Shape::Sphere { radius: 0.5 };
    let sample = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(|| shape.sample(0.1, Sampling::Relaxed { seed }))
    };
    assert_eq!(sample(1, 1), sample(3, 1));
    assert_ne!(sample(1, 1), sample(1, 2));
}

#[test]
fn distances_change_no_faster_than_they_say() {
    let mut random = random::Random::new(3);
    let figures = Figure::ALL.map(|figure| Shape::Figure { figure, size: 1.0 });
    let others = [
        Shape::Gear { radius: 0.5, height: 0.2, teeth: 12 },
        Shape::Hairball { radius: 0.5, strands: 40, thickness: 0.08 },
        Shape::Capsule { radius: 0.2, height: 0.5 },
    ];
    for shape in figures.into_iter().chain(others) {
        for _ in 0..20_000 {
            let p = random.in_cube() * 1.4;
            let q = p + random.in_cube() * 0.1;
            let slope = (shape.distance(p) - shape.distance(q)).abs() / p.distance(q);
            assert!(slope <= shape.steepness() * (1.0 + 1e-9), "{shape:?} at {p}: {slope}");
        }
    }
}
