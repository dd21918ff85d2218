//! A tree of boxes over triangles: winding numbers and nearest points.

use crate::math::{Real, Vec3};

/// Triangles of a leaf.
const LEAF: usize = 4;
/// A node is seen as one dipole from this many of its radii.
const FAR: Real = 2.5;

pub(super) struct Tree {
    triangles: Vec<[Vec3; 3]>,
    /// Triangles with matter on both sides are no surface.
    buried: Vec<bool>,
    /// The children of a node are the next one and `right`.
    nodes: Vec<Node>,
}

struct Node {
    min: Vec3,
    max: Vec3,
    /// Middle of the area, sum of area times normal, and the radius about the middle that holds all triangles.
    middle: Vec3,
    area_normal: Vec3,
    radius: Real,
    /// Range of the triangles.
    start: u32,
    end: u32,
    /// Zero for a leaf.
    right: u32,
}

fn area_normal([a, b, c]: &[Vec3; 3]) -> Vec3 {
    0.5 * (b - a).cross(c - a)
}

fn middle([a, b, c]: &[Vec3; 3]) -> Vec3 {
    (a + b + c) / 3.0
}

impl Tree {
    pub fn new(mut triangles: Vec<[Vec3; 3]>) -> Tree {
        let mut nodes = Vec::with_capacity(triangles.len());
        let end = triangles.len();
        build(&mut nodes, &mut triangles, 0, end);
        Tree { buried: vec![false; end], triangles, nodes }
    }

    pub fn bytes(&self) -> usize {
        self.triangles.len() * size_of::<[Vec3; 3]>() + self.nodes.len() * size_of::<Node>()
    }

    pub fn triangles(&self) -> &[[Vec3; 3]] {
        &self.triangles
    }

    /// Marks triangles of which `buried` says so, by their number in this tree.
    pub fn bury(&mut self, buried: Vec<bool>) {
        self.buried = buried;
    }

    /// Generalised winding number: how often the surface goes around p; between whole numbers where it has holes.
    /// Far parts count as dipoles [Barill et al. 2018].
    pub fn winding_number(&self, p: Vec3) -> Real {
        let mut sum = 0.0;
        let mut waiting = vec![0u32];
        while let Some(at) = waiting.pop() {
            let node = &self.nodes[at as usize];
            let away = node.middle - p;
            let distance_squared = away.length_squared();
            if distance_squared > (FAR * node.radius).powi(2) {
                sum += away.dot(node.area_normal) / (distance_squared * distance_squared.sqrt());
            } else if node.right == 0 {
                let triangles = &self.triangles[node.start as usize..node.end as usize];
                sum += triangles.iter().map(|t| solid_angle(t, p)).sum::<Real>();
            } else {
                waiting.extend([node.right, at + 1]);
            }
        }
        sum / (2.0 * std::f64::consts::TAU)
    }

    /// The nearest point of the surface; None if it is farther than `reach`.
    pub fn nearest(&self, p: Vec3, reach: Real) -> Option<Vec3> {
        let mut best = (reach * reach, None);
        let mut waiting = vec![(0u32, self.nodes[0].distance_squared(p))];
        while let Some((at, distance_squared)) = waiting.pop() {
            if distance_squared > best.0 {
                continue;
            }
            let node = &self.nodes[at as usize];
            if node.right == 0 {
                for k in node.start as usize..node.end as usize {
                    let q = nearest_of(&self.triangles[k], p);
                    let distance_squared = q.distance_squared(p);
                    if distance_squared <= best.0 && !self.buried[k] {
                        best = (distance_squared, Some(q));
                    }
                }
                continue;
            }
            let children = [at + 1, node.right].map(|c| (c, self.nodes[c as usize].distance_squared(p)));
            // the nearer one is looked at first
            if children[0].1 < children[1].1 {
                waiting.extend([children[1], children[0]]);
            } else {
                waiting.extend(children);
            }
        }
        best.1
    }
}

impl Tree {
    /// Where a ray first crosses the surface: the distance along it, and a unit normal on the side it comes from.
    pub fn first_crossing(&self, origin: Vec3, direction: Vec3) -> Option<(Real, Vec3)> {
        let mut best: Option<(Real, Vec3)> = None;
        let mut waiting = vec![0u32];
        while let Some(at) = waiting.pop() {
            let node = &self.nodes[at as usize];
            let reach = best.map_or(Real::INFINITY, |(t, _)| t);
            if !node.is_met(origin, direction, reach) {
                continue;
            }
            if node.right != 0 {
                waiting.extend([node.right, at + 1]);
                continue;
            }
            for k in (node.start as usize..node.end as usize).filter(|k| !self.buried[*k]) {
                let found = crossing(&self.triangles[k], origin, direction);
                best = found.filter(|(t, _)| best.is_none_or(|(nearest, _)| *t < nearest)).or(best);
            }
        }
        best
    }
}

/// Where a ray crosses a triangle [Möller & Trumbore 1997].
fn crossing([a, b, c]: &[Vec3; 3], origin: Vec3, direction: Vec3) -> Option<(Real, Vec3)> {
    let (e, f) = (*b - *a, *c - *a);
    let normal = e.cross(f);
    let against = -direction.dot(normal);
    let moment = (origin - *a).cross(direction);
    let (u, v) = (f.dot(moment) / against, -e.dot(moment) / against);
    let t = (origin - *a).dot(normal) / against;
    let inside = u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0;
    inside.then(|| (t, normal.normalize_or_zero() * against.signum()))
}

impl Node {
    /// Does a ray come into the box before it has gone this far?
    fn is_met(&self, origin: Vec3, direction: Vec3, reach: Real) -> bool {
        let (a, b) = ((self.min - origin) / direction, (self.max - origin) / direction);
        // along a face 0/0 is no number, which min and max leave aside
        let near = a.min(b).to_array().into_iter().fold(0.0, Real::max);
        let far = a.max(b).to_array().into_iter().fold(reach, Real::min);
        near <= far
    }

    fn distance_squared(&self, p: Vec3) -> Real {
        (self.min - p).max(p - self.max).max(Vec3::ZERO).length_squared()
    }
}

/// Appends the node of these triangles and its children, halved at the median of the longest side.
fn build(nodes: &mut Vec<Node>, triangles: &mut [[Vec3; 3]], start: usize, end: usize) {
    let at = nodes.len();
    nodes.push(summary(&triangles[start..end], start, end));
    if end - start <= LEAF {
        return;
    }
    let extent = nodes[at].max - nodes[at].min;
    let axis = if extent.x >= extent.y && extent.x >= extent.z {
        0
    } else if extent.y >= extent.z {
        1
    } else {
        2
    };
    let half = (end - start) / 2;
    triangles[start..end].select_nth_unstable_by(half, |a, b| middle(a)[axis].total_cmp(&middle(b)[axis]));
    build(nodes, triangles, start, start + half);
    nodes[at].right = nodes.len() as u32;
    build(nodes, triangles, start + half, end);
}

fn summary(triangles: &[[Vec3; 3]], start: usize, end: usize) -> Node {
    let corners = || triangles.iter().flatten();
    let (min, max) = corners().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    let area = triangles.iter().map(|t| area_normal(t).length()).sum::<Real>();
    let weighted = triangles.iter().map(|t| middle(t) * area_normal(t).length()).sum::<Vec3>();
    let middle = if area > 0.0 { weighted / area } else { 0.5 * (min + max) };
    Node {
        min,
        max,
        middle,
        area_normal: triangles.iter().map(area_normal).sum(),
        radius: corners().map(|v| v.distance(middle)).fold(0.0, Real::max),
        start: start as u32,
        end: end as u32,
        right: 0,
    }
}

/// Solid angle of a triangle seen from p, positive from inside [Van Oosterom and Strackee 1983].
fn solid_angle(triangle: &[Vec3; 3], p: Vec3) -> Real {
    let [a, b, c] = triangle.map(|v| v - p);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let volume = a.dot(b.cross(c));
    let base = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * volume.atan2(base)
}

/// Nearest point of a triangle: by the region of its plane that p lies over [Ericson 2005, 5.1.5].
fn nearest_of([a, b, c]: &[Vec3; 3], p: Vec3) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    a + ab * (vb / sum) + ac * (vc / sum)
}
