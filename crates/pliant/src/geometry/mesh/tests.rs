use super::*;
use crate::math::Real;
use std::f64::consts::{PI, TAU};

/// A closed surface over a grid of two angles.
pub(crate) fn grid_mesh(n: [u32; 2], point: impl Fn(Real, Real) -> Vec3) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for i in 0..n[0] {
        for j in 0..n[1] {
            mesh.vertices.push(point(i as Real / n[0] as Real, j as Real / n[1] as Real));
        }
    }
    for i in 0..n[0] {
        for j in 0..n[1] {
            let at = |i: u32, j: u32| (i % n[0]) * n[1] + j % n[1];
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            mesh.triangles.extend([[a, c, b], [a, d, c]]);
        }
    }
    mesh
}

/// Ring about the y axis, of radius 0.6 and tube radius 0.25.
pub(crate) fn torus(n: u32) -> TriangleMesh {
    grid_mesh([3 * n, n], |u, v| {
        let ring = 0.6 + 0.25 * (TAU * v).cos();
        Vec3::new(ring * (TAU * u).cos(), 0.25 * (TAU * v).sin(), -ring * (TAU * u).sin())
    })
}

/// A ring whose tube has three bulges around it and five along it: concave everywhere.
pub(crate) fn lobed_ring(n: u32) -> TriangleMesh {
    grid_mesh([3 * n, n], |u, v| {
        let tube = 0.15 * (1.0 + 0.2 * (3.0 * TAU * v).cos() + 0.15 * (5.0 * TAU * u).cos());
        let ring = 0.33 + tube * (TAU * v).cos();
        Vec3::new(ring * (TAU * u).cos(), tube * (TAU * v).sin(), -ring * (TAU * u).sin())
    })
}

/// Volume inside by the divergence theorem: exact for closed meshes.
pub(crate) fn enclosed(mesh: &TriangleMesh) -> Real {
    let cone = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        a.dot(b.cross(c)) / 6.0
    };
    (0..mesh.triangles.len()).map(cone).sum::<Real>().abs()
}

pub(crate) fn cube() -> TriangleMesh {
    let corner = |k: u32| Vec3::new((k & 1) as Real, (k >> 1 & 1) as Real, (k >> 2 & 1) as Real) - 0.5;
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    TriangleMesh { vertices: (0..8).map(corner).collect(), triangles, ..TriangleMesh::default() }
}

fn moved(mut mesh: TriangleMesh, by: Vec3, scale: Real) -> TriangleMesh {
    mesh.vertices.iter_mut().for_each(|v| *v = *v * scale + by);
    mesh
}

fn both(mut a: TriangleMesh, b: TriangleMesh) -> TriangleMesh {
    let first = a.vertices.len() as u32;
    a.vertices.extend(b.vertices);
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + first)));
    a
}

fn obj(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = String::from("o shape\nusemtl skin\nvt 0 0\nvt 1 0.5\n");
    mesh.vertices.iter().for_each(|v| text += &format!("v {} {} {}\n", v.x, v.y, v.z));
    mesh.triangles.iter().for_each(|t| text += &format!("f {}/1 {}/2 {}/1\n", t[0] + 1, t[1] + 1, t[2] + 1));
    text.into_bytes()
}

fn ply(mesh: &TriangleMesh, encoding: &str) -> Vec<u8> {
    let mut bytes = format!(
        "ply\nformat {encoding} 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        mesh.vertices.len(),
        mesh.triangles.len()
    )
    .into_bytes();
    let big = encoding == "binary_big_endian";
    for v in &mesh.vertices {
        match encoding {
            "ascii" => bytes.extend(format!("{} {} {}\n", v.x, v.y, v.z).bytes()),
            _ => v.to_array().iter().for_each(|x| {
                bytes.extend(if big { x.to_be_bytes() } else { x.to_le_bytes() });
            }),
        }
    }
    for t in &mesh.triangles {
        match encoding {
            "ascii" => bytes.extend(format!("3 {} {} {}\n", t[0], t[1], t[2]).bytes()),
            _ => {
                bytes.push(3);
                t.iter().for_each(|v| bytes.extend(if big { v.to_be_bytes() } else { v.to_le_bytes() }));
            }
        }
    }
    bytes
}

fn stl(mesh: &TriangleMesh, text: bool) -> Vec<u8> {
    let corners = (0..mesh.triangles.len()).map(|t| mesh.corners(t));
    if text {
        let facet = |c: [Vec3; 3]| {
            let vertex = c.map(|v| format!("vertex {} {} {}\n", v.x, v.y, v.z)).concat();
            format!("facet normal 0 0 0\nouter loop\n{vertex}endloop\nendfacet\n")
        };
        return format!("solid shape\n{}endsolid shape\n", corners.map(facet).collect::<String>())
            .into_bytes();
    }
    let mut bytes = b"solid but binary".to_vec();
    bytes.resize(80, b' ');
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for c in corners {
        bytes.extend([0; 12]);
        c.iter().flat_map(|v| v.to_array()).for_each(|x| bytes.extend((x as f32).to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// Doubled in size by its node.
fn glb(mesh: &TriangleMesh) -> Vec<u8> {
    let mut data: Vec<u8> =
        mesh.vertices.iter().flat_map(|v| v.to_array()).flat_map(|x| (x as f32).to_le_bytes()).collect();
    let positions = data.len();
    data.extend(mesh.triangles.iter().flatten().flat_map(|v| v.to_le_bytes()));
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0,"scale":[2,2,2]}}],
        "meshes":[{{"name":"shape","primitives":[{{"attributes":{{"POSITION":0}},"indices":1,"material":0}}]}}],
        "materials":[{{"name":"skin"}}],"buffers":[{{"byteLength":{}}}],
        "bufferViews":[{{"buffer":0,"byteLength":{positions}}},{{"buffer":0,"byteOffset":{positions},"byteLength":{}}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":{},"type":"VEC3","min":[-9,-9,-9],"max":[9,9,9]}},
        {{"bufferView":1,"componentType":5125,"count":{},"type":"SCALAR"}}]}}"#,
        data.len(),
        data.len() - positions,
        mesh.vertices.len(),
        3 * mesh.triangles.len()
    );
    let padded = json.len().next_multiple_of(4);
    let mut bytes = b"glTF".to_vec();
    let lengths = [2, 12 + 8 + padded + 8 + data.len(), padded, 0x4E4F534A];
    lengths.iter().for_each(|n| bytes.extend((*n as u32).to_le_bytes()));
    bytes.extend(json.bytes());
    bytes.resize(20 + padded, b' ');
    [data.len(), 0x004E4942].iter().for_each(|n| bytes.extend((*n as u32).to_le_bytes()));
    bytes.extend(data);
    bytes
}

/// One small file of each kind.
fn files() -> Vec<(MeshFormat, Vec<u8>)> {
    let mesh = cube();
    let text = r#"{"asset":{"version":"2.0"},"nodes":[{"mesh":0,"children":[1]},{"children":[0]}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
        "buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],
        "bufferViews":[{"buffer":0,"byteLength":36}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}]}"#;
    vec![
        (MeshFormat::Obj, obj(&mesh)),
        (MeshFormat::Ply, ply(&mesh, "ascii")),
        (MeshFormat::Ply, ply(&mesh, "binary_little_endian")),
        (MeshFormat::Ply, ply(&mesh, "binary_big_endian")),
        (MeshFormat::Stl, stl(&mesh, true)),
        (MeshFormat::Stl, stl(&mesh, false)),
        (MeshFormat::Gltf, glb(&mesh)),
        (MeshFormat::Gltf, text.as_bytes().to_vec()),
    ]
}

fn decode(format: MeshFormat, bytes: &[u8]) -> Result<TriangleMesh, String> {
    TriangleMesh::decode(bytes, format, Path::new("nowhere"))
}

#[test]
fn every_format_gives_the_same_triangles() {
    let mesh = cube();
    for (format, bytes) in &files()[..7] {
        let read = decode(*format, bytes).unwrap_or_else(|problem| panic!("{format:?}: {problem}"));
        let scale = if *format == MeshFormat::Gltf { 2.0 } else { 1.0 };
        assert_eq!(read.triangles.len(), mesh.triangles.len());
        for t in 0..mesh.triangles.len() {
            assert_eq!(read.corners(t), mesh.corners(t).map(|v| v * scale), "{format:?}");
        }
    }
    let read = decode(MeshFormat::Gltf, &files()[7].1).expect("a triangle");
    assert_eq!(read.corners(0), [Vec3::ZERO, Vec3::X, Vec3::Y]);
}

#[test]
fn names_and_texture_coordinates_are_kept() {
    let group = MeshGroup { name: "shape".into(), material: "skin".into(), triangles: 0..12 };
    let read = decode(MeshFormat::Obj, &obj(&cube())).expect("a cube");
    assert_eq!(read.groups, std::slice::from_ref(&group));
    let texture = read.texture.expect("texture coordinates");
    assert_eq!((texture.coordinates, texture.triangles), (vec![[0.0, 0.0], [1.0, 0.5]], vec![[0, 1, 0]; 12]));
    assert_eq!(decode(MeshFormat::Gltf, &glb(&cube())).expect("a cube").groups, [group]);
    let quad = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4 -3 -2 -1 # a square\n";
    let read = decode(MeshFormat::Obj, quad.as_bytes()).expect("a square");
    assert_eq!(read.triangles, [[0, 1, 2], [0, 2, 3]]);
}

#[test]
fn damaged_files_are_refused_by_a_reason() {
    let refused = |format, text: &str, reason: &str| {
        let problem = decode(format, text.as_bytes()).expect_err(text);
        assert!(problem.contains(reason), "{problem}");
    };
    refused(MeshFormat::Obj, "v 0 0 0\nf 1 2 3\n", "line 2: index 2 names nothing");
    refused(MeshFormat::Obj, "v 0 0\n", "a number is missing");
    refused(MeshFormat::Obj, "", "no triangles");
    refused(MeshFormat::Obj, "v 0 0 1e300\nv 0 0 0\nv 1 0 0\nf 1 2 3\n", "vertex 0 is at");
    let many = "ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nend_header\n0\n";
    refused(MeshFormat::Ply, many, "shorter than the 4000000000 rows of vertex");
    refused(MeshFormat::Stl, "solid\nfacet\nvertex 1 2 3\n", "ends within a triangle");
    refused(MeshFormat::Gltf, "{}", "");
    let error = TriangleMesh::read(Path::new("no_such.obj")).expect_err("no file");
    assert!(error.to_string().starts_with("no_such.obj: cannot read it"), "{error}");
    let error = TriangleMesh::read(Path::new("mesh.step")).expect_err("no mesh");
    assert!(error.help.contains(".obj"), "{error}");
}

/// A small generator of its own, so that every run sees the same bytes.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as usize
}

#[test]
fn no_bytes_make_a_reader_panic_or_hang() {
    let mut state = 0x9E37_79B9_7F4A_7C15;
    let words: [&[u8]; 9] =
        [b"4294967295", b"-1", b"nan", b"1e999", b"\n", b" ", &[0xff; 4], &[0, 0, 0, 0x80], b"/"];
    let (mut accepted, mut refused) = (0, 0);
    for (format, file) in files() {
        for round in 0..1500 {
            let mut bytes = file.clone();
            for _ in 0..1 + random(&mut state) % 3 {
                let at = random(&mut state) % bytes.len().max(1);
                let end = (at + random(&mut state) % 8).min(bytes.len());
                match random(&mut state) % 5 {
                    0 => bytes.truncate(at),
                    1 => drop(bytes.drain(at..end)),
                    2 => drop(bytes.splice(at..end, words[random(&mut state) % words.len()].iter().copied())),
                    3 => drop(bytes.splice(at..at, words[random(&mut state) % words.len()].iter().copied())),
                    _ if bytes.is_empty() => {}
                    _ => bytes[at] ^= 1 << (random(&mut state) % 8),
                }
            }
            let start = std::time::Instant::now();
            match decode(format, &bytes) {
                Ok(mesh) => {
                    accepted += 1;
                    // what is accepted becomes a solid or is refused for a reason
                    if round % 50 == 0 {
                        let _ = SolidMesh::new(mesh).map_err(|problem| assert!(!problem.is_empty()));
                    }
                }
                Err(problem) => {
                    refused += 1;
                    assert!(!problem.is_empty());
                }
            }
            assert!(start.elapsed().as_secs() < 5, "{format:?} took {:?}", start.elapsed());
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

#[test]
fn distances_of_a_cube_are_exact() {
    let solid = SolidMesh::new(cube()).expect("a cube");
    assert!(solid.warnings().is_empty() && (solid.volume() - 1.0).abs() < 0.01, "{}", solid.volume());
    for (p, distance) in [
        (Vec3::ZERO, -0.5),
        (Vec3::new(0.4, 0.1, -0.2), -0.1),
        (Vec3::new(0.0, 0.8, 0.0), 0.3),
        (Vec3::new(1.5, 1.5, 0.0), 2f64.sqrt()),
    ] {
        assert!((solid.distance(p) - distance).abs() < 1e-9, "{p}: {}", solid.distance(p));
    }
}

#[test]
fn the_tree_finds_what_brute_force_finds() {
    let solid = SolidMesh::new(torus(12)).expect("a torus");
    let mut state = 7;
    for _ in 0..300 {
        let mut coordinate = || (random(&mut state) % 2001) as Real / 1000.0 - 1.0;
        let p = Vec3::new(coordinate(), coordinate(), coordinate());
        let brute: Real = (0..solid.mesh().triangles.len())
            .map(|t| {
                let [a, b, c] = solid.mesh().corners(t).map(|v| v - p);
                let base = a.length() * b.length() * c.length()
                    + a.dot(b) * c.length()
                    + b.dot(c) * a.length()
                    + c.dot(a) * b.length();
                a.dot(b.cross(c)).atan2(base) / TAU
            })
            .sum();
        let d = solid.distance(p);
        assert_eq!(d < 0.0, brute.abs() > 0.5, "{p}");
        let exact = p.x.hypot(p.z) - 0.6;
        let exact = exact.hypot(p.y) - 0.25;
        // the torus has flat faces: 12 around the tube, chords 0.25 (1 - cos 15°) inside it, 36 around the ring
        assert!((d - exact).abs() < 0.015, "{p}: {d} {exact}");
    }
}

#[test]
fn holes_flipped_triangles_and_overlaps_keep_the_volume() {
    let volume = TAU * PI * 0.6 * 0.0625;
    let whole = torus(24);
    let mut holed = whole.clone();
    holed.triangles.drain(100..104);
    let mut flipped = whole.clone();
    flipped.triangles.iter_mut().step_by(3).for_each(|t| t.swap(0, 1));
    let mut inside_out = whole.clone();
    inside_out.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let mut flat = whole.clone();
    flat.triangles.push([0, 0, 5]);
    for (name, mesh, words) in [
        ("whole", whole, 0),
        ("holed", holed, 1),
        ("flipped", flipped, 1),
        ("inside out", inside_out, 0),
        ("with a flat triangle", flat, 1),
    ] {
        let solid = SolidMesh::new(mesh).expect(name);
        // facets cut off 1 - sin(15°)/15° = 1 %, a hole of four triangles about as much
        assert!((solid.volume() / volume - 1.0).abs() < 0.03, "{name}: {} {volume}", solid.volume());
        assert_eq!(solid.warnings().len(), words, "{name}: {:?}", solid.warnings());
    }
    let overlapping = both(cube(), moved(cube(), Vec3::X * 0.5, 1.0));
    let solid = SolidMesh::new(overlapping).expect("two cubes");
    assert!((solid.volume() - 1.5).abs() < 0.02, "{}", solid.volume());
    let far_apart = both(cube(), moved(cube(), Vec3::X * 3.0, 1.0));
    assert!((SolidMesh::new(far_apart).expect("two cubes").volume() - 2.0).abs() < 0.05);
}

#[test]
fn a_mesh_without_an_inside_is_refused() {
    let mut sheet = cube();
    sheet.triangles.truncate(2);
    let problem = SolidMesh::new(sheet).expect_err("a sheet");
    assert!(problem.contains("no volume (4 open edges)"), "{problem}");
    let mut needle = cube();
    needle.triangles = vec![[0, 0, 1]];
    assert!(SolidMesh::new(needle).expect_err("a line").contains("area"));
}

#[test]
fn equal_meshes_are_equal_and_print_their_hash() {
    let [a, b] = [cube(), cube()].map(|mesh| SolidMesh::new(mesh).expect("a cube"));
    assert_eq!(a, b);
    assert_ne!(a, SolidMesh::new(moved(cube(), Vec3::ZERO, 1.1)).expect("a cube"));
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
    assert!(format!("{a:?}").len() < 60);
}
