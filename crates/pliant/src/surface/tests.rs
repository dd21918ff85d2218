//! Laws of surfaces.

use super::*;
use crate::elasticity::{ElasticBody, Method, Model};
use crate::geometry::{Field, Figure, Sampling, TriangleMesh};
use crate::kernel::{Kernel, KernelKind};
use crate::material::Moduli;
use crate::math::{Quat, outer};
use std::collections::HashMap;

const SPACING: Real = 0.05;

fn ball_of_particles() -> Vec<Vec3> {
    Shape::Sphere { radius: 0.5 }.sample(SPACING, Sampling::Lattice)
}

fn body_of(model: Model, rest: &[Vec3]) -> ElasticBody {
    let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * SPACING);
    let moduli = Moduli { shear: 1e4, bulk: 2e4 };
    ElasticBody::new(rest.to_vec(), SPACING.powi(3), 1000.0, kernel, Method::of(model), moduli)
}

/// Volume inside a closed mesh.
fn volume(mesh: &SurfaceMesh) -> Real {
    let corner = |v: u32| Vec3::from_array(mesh.positions[v as usize].map(Real::from));
    mesh.triangles.iter().map(|t| t.map(corner)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
}

/// Edges that are not passed once in each direction.
fn open_edges(triangles: &[[u32; 3]]) -> usize {
    let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
    for [a, b, c] in triangles {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            *edges.entry([*from.min(to), *from.max(to)]).or_default() += if from < to { 1 } else { -1 };
        }
    }
    edges.values().filter(|balance| **balance != 0).count()
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool").install(work)
}

#[test]
fn a_skin_reproduces_affine_motion_with_every_model() {
    let rest = ball_of_particles();
    let mesh = RestMesh::of_field(&Shape::Sphere { radius: 0.5 }, 0.5 * SPACING);
    let skin = Skin::new(&mesh.vertices, &rest, 2.0 * SPACING);
    let turn = Mat3::from_quat(Quat::from_euler(glam::EulerRot::XYZ, 0.7, -1.1, 2.3));
    let shear = Mat3::IDENTITY + outer(Vec3::X, Vec3::Y) * 0.6;
    let maps = [
        (Mat3::IDENTITY, Vec3::new(1.0, -2.0, 0.5)),
        (turn, Vec3::ZERO),
        (shear, Vec3::ZERO),
        (turn * shear * Mat3::from_diagonal(Vec3::new(1.3, 0.8, 1.0)), Vec3::new(0.3, 2.0, -1.0)),
    ];
    for model in Model::EXPLICIT.into_iter().chain(Model::IMPLICIT) {
        let body = body_of(model, &rest);
        for (linear, offset) in maps {
            let positions: Vec<Vec3> = rest.iter().map(|x| linear * *x + offset).collect();
            let fits = body.affine_fits(&positions);
            assert!(fits.iter().all(|fit| fit.misfit < 1e-5), "{}", model.name());
            let matter = Matter { positions: &positions, velocities: &positions };
            let (moved, _) = skin.place(&rest, matter, &fits);
            for (x, vertex) in moved.iter().zip(&mesh.vertices) {
                let expected = linear * *vertex + offset;
                let error = Vec3::from_array(x.map(Real::from)).distance(expected);
                assert!(error < 1e-5, "{}: {error:e}", model.name());
            }
        }
    }
}

#[test]
fn a_vertex_far_from_all_particles_follows_the_nearest() {
    let rest = ball_of_particles();
    let far = [Vec3::new(4.0, 0.0, 0.0)];
    let skin = Skin::new(&far, &rest, 2.0 * SPACING);
    let positions: Vec<Vec3> = rest.iter().map(|x| *x + Vec3::Y).collect();
    let fits = body_of(Model::Mls2004, &rest).affine_fits(&positions);
    let (moved, _) = skin.place(&rest, Matter { positions: &positions, velocities: &rest }, &fits);
    let error = Vec3::from_array(moved[0].map(Real::from)).distance(far[0] + Vec3::Y);
    assert!(error < 1e-5, "{error:e}");
}

#[test]
fn a_marched_shape_is_closed_and_keeps_its_volume() {
    let shapes = [
        (Shape::Sphere { radius: 0.5 }, 0.01),
        (Shape::Torus { radius: 0.4, tube_radius: 0.15 }, 0.01),
        (Shape::Box { size: Vec3::new(0.7, 0.4, 0.5) }, 0.02), // its edges are cut
        (Shape::Figure { figure: Figure::Duck, size: 1.0 }, 0.06), // its rough volume is good to a twentieth
    ];
    for (shape, tolerance) in shapes {
        let rest = RestMesh::of_field(&shape, 0.02);
        assert_eq!(open_edges(&rest.triangles), 0, "{shape:?}");
        let positions: Vec<[f32; 3]> = rest.vertices.iter().map(|x| x.as_vec3().to_array()).collect();
        let mesh = SurfaceMesh { positions, triangles: rest.triangles.clone(), ..SurfaceMesh::default() };
        let exact = shape.rough_volume().expect("a solid shape");
        assert!((volume(&mesh) / exact - 1.0).abs() < tolerance, "{shape:?}: {} of {exact}", volume(&mesh));
        let off = rest.vertices.iter().map(|x| shape.distance(*x).abs()).fold(0.0, Real::max);
        assert!(off < 0.01, "{shape:?}: a vertex lies {off} off the surface");
    }
}

#[test]
fn an_isosurface_is_closed_and_keeps_the_volume_of_its_particles() {
    let particles = ball_of_particles();
    let velocities: Vec<Vec3> = particles.iter().map(|_| Vec3::new(1.0, 2.0, 3.0)).collect();
    let mesh = isosurface(&particles, &velocities, SPACING, 0.5 * SPACING);
    assert_eq!(open_edges(&mesh.triangles), 0);
    let exact = particles.len() as Real * SPACING.powi(3);
    // the surface lies somewhere between the last particles and the next ones, which are not there
    assert!((volume(&mesh) / exact - 1.0).abs() < 0.04, "{} of {exact}", volume(&mesh));
    assert!(
        mesh.velocities.iter().all(|v| (glam::Vec3::from(*v) - glam::vec3(1.0, 2.0, 3.0)).length() < 1e-4)
    );
    for (x, n) in mesh.positions.iter().zip(&mesh.normals) {
        assert!(glam::Vec3::from(*x).normalize().dot(glam::Vec3::from(*n)) > 0.8);
    }
    // about four triangles for each square of half a spacing
    assert!(mesh.triangles.len() < 5 * (std::f64::consts::PI / (0.5 * SPACING).powi(2)) as usize);
}

#[test]
fn surfaces_do_not_depend_on_the_number_of_threads() {
    let block = Shape::Box { size: Vec3::new(2.4, 1.5, 1.2) };
    let mut particles = block.sample(SPACING, Sampling::Poisson { seed: 3 });
    particles.push(Vec3::new(9.0, 1.0, 0.0));
    let surface = |threads| in_pool(threads, || isosurface(&particles, &particles, SPACING, 0.5 * SPACING));
    let first = surface(1);
    for threads in [2, 3, 2] {
        assert!(surface(threads) == first, "{threads} threads");
    }
    let rest = |threads| in_pool(threads, || RestMesh::of_field(&block, 0.03));
    assert!(rest(1) == rest(2));
}

#[test]
fn no_particles_and_wild_particles_do_no_harm() {
    assert!(isosurface(&[], &[], SPACING, SPACING).triangles.is_empty());
    let lone = [Vec3::ZERO, Vec3::new(1e4, 0.0, 0.0)];
    let mesh = isosurface(&lone, &lone, SPACING, 0.5 * SPACING);
    assert_eq!(open_edges(&mesh.triangles), 0);
    let wild = [Vec3::ZERO, Vec3::splat(1e12), Vec3::splat(-1e12)];
    isosurface(&wild, &wild, SPACING, 0.5 * SPACING);
}

/// A cube of twelve triangles, in two parts.
fn cube() -> TriangleMesh {
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
        vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n\
        g ends\nf 4/1 3/2 2/3 1/4\nf 5/1 6/2 7/3 8/4\n\
        g sides\nf 1/1 2/2 6/3 5/4\nf 2/1 3/2 7/3 6/4\nf 3/1 4/2 8/3 7/4\nf 4/1 1/2 5/3 8/4\n";
    let format = crate::geometry::mesh::MeshFormat::Obj;
    TriangleMesh::decode(text.as_bytes(), format, std::path::Path::new("")).expect("a cube")
}

#[test]
fn the_mesh_of_a_file_keeps_its_parts_and_texture_and_its_edges_stay_sharp() {
    let mesh = cube();
    let rest = RestMesh::of_triangles(&mesh);
    assert_eq!(rest.groups, [("ends".to_string(), 8), ("sides".to_string(), 16)]);
    assert_eq!(rest.texture.as_ref().map(Vec::len), Some(24));
    let positions: Vec<[f32; 3]> = rest.vertices.iter().map(|x| x.as_vec3().to_array()).collect();
    for (t, triangle) in rest.triangles.iter().enumerate() {
        let corners = triangle.map(|v| rest.vertices[v as usize]);
        assert_eq!(corners, mesh.corners(t));
        let flat = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize().as_vec3();
        for v in triangle {
            let normal = rest_mesh::normals(&positions, &rest.triangles, Some(&rest.joined))[*v as usize];
            assert!(glam::Vec3::from(normal).dot(flat) > 0.999);
        }
    }
}

#[test]
fn a_skin_turns_into_an_isosurface_without_a_jump() {
    let particles = ball_of_particles();
    let rest = RestMesh::of_field(&Shape::Sphere { radius: 0.5 }, 0.5 * SPACING);
    let positions: Vec<[f32; 3]> = rest.vertices.iter().map(|x| x.as_vec3().to_array()).collect();
    let skin = SurfaceMesh { positions, triangles: rest.triangles, ..SurfaceMesh::default() };
    let flowing = isosurface(&particles, &particles, SPACING, 0.5 * SPACING);
    let at = |molten| melting::between(&skin, flowing.clone(), molten, SPACING as f32);
    // just molten: on the skin, but for the flatness of its triangles
    for x in &at(1e-6).positions {
        assert!((glam::Vec3::from(*x).length() - 0.5).abs() < 0.004);
    }
    assert_eq!(at(1.0).triangles, flowing.triangles);
    let farthest = |a: &SurfaceMesh, b: &SurfaceMesh| {
        let far = |(a, b): (&[f32; 3], &[f32; 3])| glam::Vec3::from(*a).distance(glam::Vec3::from(*b));
        a.positions.iter().zip(&b.positions).map(far).fold(0.0, f32::max)
    };
    assert!(farthest(&at(1.0), &flowing) < 1e-6);
    assert!(farthest(&at(0.5), &at(0.6)) < 0.1 * SPACING as f32);
    assert_eq!((melting::share(0.0), melting::share(0.1), melting::share(1.0)), (0.0, 0.0, 1.0));
}
