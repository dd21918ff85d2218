//! What the trees of balls and triangles share: rays, boxes eight at a time, and the order of visits.
//!
//! Eight consecutive things make a leaf, eight consecutive nodes make a node above, so a tree has no pointers,
//! no bad cases and at most eleven levels.

use glam::Vec3A;
use wide::f32x8;

pub(super) const WIDTH: usize = 8;
/// Coordinates beyond this are treated like non-finite ones: their squares would overflow.
pub(super) const FARTHEST: f32 = 1e15;

/// A ray from `origin` along the unit vector `direction`, up to the distance `reach`.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    pub origin: Vec3A,
    pub direction: Vec3A,
    pub reach: f32,
}

impl Ray {
    pub fn at(&self, t: f32) -> Vec3A {
        self.origin + t * self.direction
    }
}

/// The boxes over leaves: the first level holds those of leaves, the last is a single node.
pub struct Levels(Vec<Vec<Boxes>>);

impl Levels {
    /// From the bounds of the leaves, in order.
    pub fn new(leaves: Vec<(Vec3A, Vec3A)>) -> Levels {
        let (mut bounds, mut levels) = (leaves, Vec::new());
        while !bounds.is_empty() {
            levels.push(bounds.chunks(WIDTH).map(Boxes::new).collect::<Vec<_>>());
            if bounds.len() <= WIDTH {
                break;
            }
            bounds = bounds.chunks(WIDTH).map(union).collect();
        }
        Levels(levels)
    }

    /// Calls `leaf(number, ray, reach)`, which gives the reach that is left, for the leaves that the ray passes, near
    /// ones first.
    pub fn visit(&self, ray: &Ray, mut leaf: impl FnMut(usize, &RayLanes, f32) -> f32) {
        let (lanes, mut reach) = (RayLanes::new(ray), ray.reach);
        if !self.may_meet(&lanes, reach) {
            return;
        }
        let mut stack = Stack::new(self.0.len());
        while let Some((level, index, t)) = stack.pop() {
            if t >= reach {
                continue;
            }
            if level == 0 {
                reach = leaf(index, &lanes, reach);
            } else {
                let (mask, near) = self.0[level - 1][index].entered(&lanes, reach);
                stack.push_near_last(level - 1, index, mask, &near);
            }
        }
    }

    /// Whether `leaf(number, ray)` is true for any leaf that the ray passes.
    pub fn any(&self, ray: &Ray, leaf: impl Fn(usize, &RayLanes) -> bool) -> bool {
        let lanes = RayLanes::new(ray);
        if !self.may_meet(&lanes, ray.reach) {
            return false;
        }
        let mut stack = Stack::new(self.0.len());
        while let Some((level, index, _)) = stack.pop() {
            if level == 0 {
                if leaf(index, &lanes) {
                    return true;
                }
            } else {
                let (mask, _) = self.0[level - 1][index].entered(&lanes, ray.reach);
                stack.push_all(level - 1, index, mask);
            }
        }
        false
    }

    /// Calls `leaf(number)` for the leaves whose box meets the cube of half width `radius` about x.
    pub fn for_each_near(&self, x: &[f32x8; 3], radius: f32, mut leaf: impl FnMut(usize)) {
        let mut stack = Stack::new(self.0.len());
        while let Some((level, index, _)) = stack.pop() {
            if level == 0 {
                leaf(index);
            } else {
                let mask = self.0[level - 1][index].overlapping(x, f32x8::splat(radius));
                stack.push_all(level - 1, index, mask);
            }
        }
    }

    /// Whether the ray passes any box of the topmost node: most rays of a picture do not.
    fn may_meet(&self, ray: &RayLanes, reach: f32) -> bool {
        self.0.last().is_some_and(|top| top[0].entered(ray, reach).0 != 0)
    }
}

/// The order of points along a curve: near in space is near in the order.
pub(super) fn curve_order(points: impl Iterator<Item = Vec3A>, lo: Vec3A, hi: Vec3A) -> Vec<u32> {
    let cells = ((1u64 << 21) - 1) as f32;
    let scale = cells / (hi - lo).max_element().max(1e-30);
    let mut keyed: Vec<(u64, u32)> = (0u32..)
        .zip(points)
        .map(|(i, point)| {
            let cell = (point - lo) * scale;
            (spread(cell.x as u64) | spread(cell.y as u64) << 1 | spread(cell.z as u64) << 2, i)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// Moves 21 bits three places apart.
fn spread(v: u64) -> u64 {
    let mut v = v & 0x1f_ffff;
    v = (v | v << 32) & 0x1f_0000_0000_ffff;
    v = (v | v << 16) & 0x1f_0000_ff00_00ff;
    v = (v | v << 8) & 0x100f_00f0_0f00_f00f;
    v = (v | v << 4) & 0x10c3_0c30_c30c_30c3;
    (v | v << 2) & 0x1249_2492_4924_9249
}

pub(super) fn union(bounds: &[(Vec3A, Vec3A)]) -> (Vec3A, Vec3A) {
    let empty = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
    bounds.iter().fold(empty, |(lo, hi), b| (lo.min(b.0), hi.max(b.1)))
}

/// Bounding boxes of eight children.
struct Boxes {
    lo: [f32x8; 3],
    hi: [f32x8; 3],
}

/// A ray, copied to all lanes.
pub struct RayLanes {
    pub origin: [f32x8; 3],
    pub direction: [f32x8; 3],
    inverse: [f32x8; 3],
    backward: [bool; 3],
}

impl RayLanes {
    pub fn new(ray: &Ray) -> RayLanes {
        let d = ray.direction.to_array();
        // A tiny component stands for zero, so that no slab distance is 0 * ∞.
        let inverse = d.map(|c| 1.0 / if c.abs() < 1e-12 { 1e-12f32.copysign(c) } else { c });
        RayLanes {
            origin: ray.origin.to_array().map(f32x8::splat),
            direction: d.map(f32x8::splat),
            inverse: inverse.map(f32x8::splat),
            backward: inverse.map(|c| c < 0.0),
        }
    }
}

impl Boxes {
    fn new(bounds: &[(Vec3A, Vec3A)]) -> Boxes {
        // Padding: inside-out boxes, which no ray enters.
        let lo = |axis: usize| {
            f32x8::from(std::array::from_fn::<f32, WIDTH, _>(|k| bounds.get(k).map_or(1e18, |b| b.0[axis])))
        };
        let hi = |axis: usize| {
            f32x8::from(std::array::from_fn::<f32, WIDTH, _>(|k| bounds.get(k).map_or(-1e18, |b| b.1[axis])))
        };
        Boxes { lo: [lo(0), lo(1), lo(2)], hi: [hi(0), hi(1), hi(2)] }
    }

    /// Lanes whose box the ray passes within `reach`, and the distances of entry.
    fn entered(&self, ray: &RayLanes, reach: f32) -> (u32, f32x8) {
        let (mut near, mut far) = (f32x8::ZERO, f32x8::splat(reach));
        for a in 0..3 {
            let (first, last) =
                if ray.backward[a] { (self.hi[a], self.lo[a]) } else { (self.lo[a], self.hi[a]) };
            near = near.fast_max((first - ray.origin[a]) * ray.inverse[a]);
            far = far.fast_min((last - ray.origin[a]) * ray.inverse[a]);
        }
        // Widened by rounding: a ball that touches its box must not be lost.
        (near.simd_le(far * f32x8::splat(1.000001)).to_bitmask(), near)
    }

    /// Lanes whose box meets the cube of half width `radius` about x.
    fn overlapping(&self, x: &[f32x8; 3], radius: f32x8) -> u32 {
        let mut meets = f32x8::ZERO.simd_le(f32x8::ZERO);
        for a in 0..3 {
            meets &= self.lo[a].simd_le(x[a] + radius) & (x[a] - radius).simd_le(self.hi[a]);
        }
        meets.to_bitmask()
    }
}

pub(super) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let k = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            k
        })
    })
}

/// Nodes still to visit: level (0 is a leaf), index in the level, distance of entry.
struct Stack {
    entries: [(u32, u32, f32); Stack::SIZE],
    len: usize,
}

impl Stack {
    /// Eleven levels hold 2³² balls; each visited node leaves at most seven siblings behind.
    const SIZE: usize = 96;

    fn new(levels: usize) -> Stack {
        Stack { entries: [(levels as u32, 0, 0.0); Stack::SIZE], len: usize::from(levels > 0) }
    }

    fn pop(&mut self) -> Option<(usize, usize, f32)> {
        self.len = self.len.checked_sub(1)?;
        let (level, index, t) = self.entries[self.len];
        Some((level as usize, index as usize, t))
    }

    fn push_all(&mut self, level: usize, parent: usize, mask: u32) {
        for k in lanes_of(mask) {
            self.entries[self.len] = (level as u32, (parent * WIDTH + k) as u32, 0.0);
            self.len += 1;
        }
    }

    /// Pushes so that the nearest child is visited first.
    fn push_near_last(&mut self, level: usize, parent: usize, mask: u32, near: &f32x8) {
        let near = near.to_array();
        let start = self.len;
        for k in lanes_of(mask) {
            let mut at = self.len;
            while at > start && self.entries[at - 1].2 < near[k] {
                self.entries[at] = self.entries[at - 1];
                at -= 1;
            }
            self.entries[at] = (level as u32, (parent * WIDTH + k) as u32, near[k]);
            self.len += 1;
        }
    }
}
