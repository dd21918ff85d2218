//! Which triangle a ray meets, over the same eight-wide tree as the balls.

use glam::Vec3A;
use wide::f32x8;

use super::Mesh;
use super::levels::{FARTHEST, Levels, Ray, RayLanes, WIDTH, curve_order, lanes_of, union};

/// Where a ray meets a triangle from outside or inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleHit {
    pub t: f32,
    slot: usize,
    /// Weights of the second and the third corner.
    weights: [f32; 2],
}

/// What a surface is like where a ray meets it.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Of the triangle, outward.
    pub normal: Vec3A,
    /// Between those of the corners.
    pub smooth_normal: Vec3A,
    /// sRGB.
    pub color: Vec3A,
    /// Number of the mesh.
    pub mesh: usize,
}

/// Eight triangles: a corner and two edges.
struct Leaf {
    corner: [f32x8; 3],
    edges: [[f32x8; 3]; 2],
}

/// Corners of a triangle by mesh and vertex.
#[derive(Clone, Copy)]
struct Slot {
    mesh: u32,
    corners: [u32; 3],
}

/// The triangles of a picture, sorted, with their tree.
pub struct TriangleTree<'a> {
    meshes: Vec<&'a Mesh>,
    slots: Vec<Slot>,
    leaves: Vec<Leaf>,
    levels: Levels,
    pub lo: Vec3A,
    pub hi: Vec3A,
}

impl<'a> TriangleTree<'a> {
    /// Triangles that are no triangles, or with unsound corners, are left out.
    pub fn new(meshes: Vec<&'a Mesh>) -> TriangleTree<'a> {
        let mut slots = Vec::new();
        for (number, mesh) in (0u32..).zip(&meshes) {
            let sound = |v: &u32| mesh.is_sound(*v as usize);
            let drawable = mesh.triangles.iter().filter(|corners| corners.iter().all(sound));
            slots.extend(drawable.map(|corners| Slot { mesh: number, corners: *corners }));
        }
        let corners =
            |slot: &Slot| slot.corners.map(|v| Vec3A::from(meshes[slot.mesh as usize].positions[v as usize]));
        let bounds = |slot: &Slot| {
            let [a, b, c] = corners(slot);
            (a.min(b).min(c), a.max(b).max(c))
        };
        let all: Vec<_> = slots.iter().map(bounds).collect();
        let (lo, hi) = union(&all);
        let order = curve_order(all.iter().map(|(lo, hi)| 0.5 * (*lo + *hi)), lo, hi);
        let slots: Vec<Slot> = order.iter().map(|i| slots[*i as usize]).collect();
        let leaves = slots.chunks(WIDTH).map(|slots| Leaf::new(slots.iter().map(corners))).collect();
        let leaf_bounds = |slots: &[Slot]| union(&slots.iter().map(bounds).collect::<Vec<_>>());
        let levels = Levels::new(slots.chunks(WIDTH).map(leaf_bounds).collect());
        TriangleTree { meshes, slots, leaves, levels, lo, hi }
    }

    /// The triangle that the ray meets first.
    pub fn first_hit(&self, ray: &Ray) -> Option<TriangleHit> {
        let mut best = TriangleHit { t: ray.reach, slot: usize::MAX, weights: [0.0; 2] };
        self.levels.visit(ray, |index, lanes, reach| {
            let (mask, t, [u, v]) = self.leaves[index].met(lanes, reach);
            let (t, u, v) = (t.to_array(), u.to_array(), v.to_array());
            for k in lanes_of(mask).filter(|k| t[*k] < reach) {
                if t[k] < best.t {
                    best = TriangleHit { t: t[k], slot: index * WIDTH + k, weights: [u[k], v[k]] };
                }
            }
            best.t
        });
        (best.slot != usize::MAX).then_some(best)
    }

    /// Whether the ray meets any triangle within its reach.
    pub fn is_blocked(&self, ray: &Ray) -> bool {
        self.levels.any(ray, |index, lanes| self.leaves[index].met(lanes, ray.reach).0 != 0)
    }

    pub fn touch(&self, hit: &TriangleHit) -> Touch {
        let Slot { mesh: number, corners } = self.slots[hit.slot];
        let mesh = self.meshes[number as usize];
        let [v, w] = hit.weights;
        let mix = |column: &[[f32; 3]]| {
            let [a, b, c] = corners.map(|k| Vec3A::from(column[k as usize]));
            a * (1.0 - v - w) + b * v + c * w
        };
        let [a, b, c] = corners.map(|k| Vec3A::from(mesh.positions[k as usize]));
        let normal = (b - a).cross(c - a).normalize_or(Vec3A::Y);
        Touch {
            normal,
            smooth_normal: mix(&mesh.normals).normalize_or(normal),
            color: mix(&mesh.colors),
            mesh: number as usize,
        }
    }

    pub fn mesh(&self, number: usize) -> &Mesh {
        self.meshes[number]
    }
}

impl Mesh {
    /// Whether a vertex can be drawn.
    fn is_sound(&self, vertex: usize) -> bool {
        let column =
            |values: &[[f32; 3]]| values.get(vertex).is_some_and(|v| v.iter().all(|x| x.abs() < FARTHEST));
        column(&self.positions) && column(&self.normals) && column(&self.colors)
    }
}

impl Leaf {
    fn new(triangles: impl Iterator<Item = [Vec3A; 3]>) -> Leaf {
        // Padding: triangles without an area, which no ray meets.
        let mut all = [[Vec3A::ZERO; 3]; WIDTH];
        all.iter_mut().zip(triangles).for_each(|(slot, triangle)| *slot = triangle);
        let lanes = |of: &dyn Fn(&[Vec3A; 3]) -> Vec3A| {
            [0, 1, 2].map(|axis| f32x8::from(std::array::from_fn::<f32, WIDTH, _>(|k| of(&all[k])[axis])))
        };
        Leaf { corner: lanes(&|t| t[0]), edges: [lanes(&|t| t[1] - t[0]), lanes(&|t| t[2] - t[0])] }
    }

    /// Lanes that the ray meets within `reach`, the distances, and the weights of the second and third corner.
    fn met(&self, ray: &RayLanes, reach: f32) -> (u32, f32x8, [f32x8; 2]) {
        let [e1, e2] = &self.edges;
        let p = cross(&ray.direction, e2);
        let det = dot(e1, &p);
        let inverse = f32x8::ONE / det;
        let s: [f32x8; 3] = std::array::from_fn(|a| ray.origin[a] - self.corner[a]);
        let u = dot(&s, &p) * inverse;
        let q = cross(&s, e1);
        let v = dot(&ray.direction, &q) * inverse;
        let t = dot(e2, &q) * inverse;
        // Edges belong to both triangles: a ray does not slip through.
        let edge = f32x8::splat(-1e-5);
        let hit = u.simd_ge(edge)
            & v.simd_ge(edge)
            & (u + v).simd_le(f32x8::splat(1.0 + 1e-5))
            & t.simd_gt(f32x8::ZERO)
            & t.simd_lt(f32x8::splat(reach))
            & det.abs().simd_gt(f32x8::splat(1e-30));
        (hit.to_bitmask(), t, [u, v])
    }
}

fn dot(a: &[f32x8; 3], b: &[f32x8; 3]) -> f32x8 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: &[f32x8; 3], b: &[f32x8; 3]) -> [f32x8; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(count: usize) -> Mesh {
        let fraction = |i: usize, g: f64| ((i as f64 * g).fract() as f32 - 0.5) * 2.0;
        let point = |i: usize| [fraction(i, 0.8191725), fraction(i, 0.6710436), fraction(i, 0.5497005)];
        let near = |i: usize, k: usize| {
            let (middle, off) = (point(i), point(7 * i + k + 1));
            std::array::from_fn(|a| middle[a] + 0.1 * off[a])
        };
        let positions: Vec<[f32; 3]> = (0..3 * count).map(|i| near(i / 3, i % 3)).collect();
        let n = positions.len();
        let triangles = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Mesh {
            positions,
            normals: vec![[0.0, 1.0, 0.0]; n],
            colors: vec![[0.5; 3]; n],
            triangles,
            liquid: 0.0,
        }
    }

    #[test]
    fn the_tree_finds_the_same_hit_as_testing_every_triangle() {
        for count in [0, 1, 7, 8, 9, 65, 1000] {
            let mesh = cloud(count);
            let tree = TriangleTree::new(vec![&mesh]);
            for i in 0..300 {
                let a = i as f32 * 0.37;
                let origin = Vec3A::new(3.0 * a.cos(), (a * 0.3).sin(), 3.0 * a.sin());
                let aim = Vec3A::new((a * 1.7).sin(), (a * 2.3).cos(), (a * 0.9).sin()) * 0.6;
                let ray = Ray { origin, direction: (aim - origin).normalize(), reach: 10.0 };
                let lanes = RayLanes::new(&ray);
                let alone = |t: &[u32; 3]| {
                    let corners = t.map(|v| Vec3A::from(mesh.positions[v as usize]));
                    let (mask, t, _) = Leaf::new(std::iter::once(corners)).met(&lanes, 10.0);
                    (mask & 1 == 1).then_some(t.to_array()[0])
                };
                let expected = mesh.triangles.iter().filter_map(alone).min_by(f32::total_cmp);
                assert_eq!(tree.first_hit(&ray).map(|hit| hit.t), expected, "{count} triangles, ray {i}");
                assert_eq!(tree.is_blocked(&ray), expected.is_some());
            }
        }
    }

    #[test]
    fn unsound_triangles_are_left_out() {
        let mut mesh = cloud(2);
        mesh.positions[0][1] = f32::NAN;
        mesh.triangles.push([0, 1, 99]);
        assert_eq!(TriangleTree::new(vec![&mesh]).slots.len(), 1);
    }
}
