//! Which ball a ray meets: an eight-wide tree over balls sorted along a space-filling curve.
//!
//! Eight consecutive balls make a leaf, eight consecutive nodes make a node above, so the tree has no pointers,
//! no bad cases and at most eleven levels; boxes and balls are tested eight at a time.

use glam::Vec3A;
use wide::f32x8;

use super::Ball;

const WIDTH: usize = 8;
/// Coordinates beyond this are treated like non-finite ones: their squares would overflow.
const FARTHEST: f32 = 1e15;

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

/// Where a ray enters a ball: distance, and the ball's slot in the tree's order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallHit {
    pub t: f32,
    pub slot: usize,
}

/// Eight balls.
struct Leaf {
    center: [f32x8; 3],
    radius: f32x8,
}

/// Bounding boxes of eight children.
struct Boxes {
    lo: [f32x8; 3],
    hi: [f32x8; 3],
}

/// The balls of a picture, sorted, with their tree.
pub struct BallTree {
    /// Drawable balls in tree order; non-finite and empty ones are left out.
    pub balls: Vec<Ball>,
    leaves: Vec<Leaf>,
    /// `levels[0]` holds the boxes of leaves, the last level is a single node.
    levels: Vec<Vec<Boxes>>,
    pub lo: Vec3A,
    pub hi: Vec3A,
}

impl BallTree {
    pub fn new(balls: &[Ball]) -> BallTree {
        let drawable: Vec<Ball> = balls.iter().filter(|b| is_drawable(b)).copied().collect();
        let (lo, hi) = bounds_of_balls(&drawable);
        let balls = sorted_along_curve(drawable, lo, hi);
        let leaves: Vec<Leaf> = balls.chunks(WIDTH).map(Leaf::new).collect();
        let mut bounds: Vec<(Vec3A, Vec3A)> = balls.chunks(WIDTH).map(bounds_of_balls).collect();
        let mut levels = Vec::new();
        while !bounds.is_empty() {
            levels.push(bounds.chunks(WIDTH).map(Boxes::new).collect::<Vec<_>>());
            if bounds.len() <= WIDTH {
                break;
            }
            bounds = bounds.chunks(WIDTH).map(union).collect();
        }
        BallTree { balls, leaves, levels, lo, hi }
    }

    /// The ball that the ray enters first.
    pub fn first_hit(&self, ray: &Ray) -> Option<BallHit> {
        let mut best = BallHit { t: ray.reach, slot: usize::MAX };
        let lanes = RayLanes::new(ray);
        if !self.may_meet(&lanes, ray.reach) {
            return None;
        }
        let mut stack = Stack::new(self.levels.len());
        while let Some((level, index, t)) = stack.pop() {
            if t >= best.t {
                continue;
            }
            if level == 0 {
                self.leaves[index].closest(&lanes, index, &mut best);
            } else {
                let (mask, near) = self.levels[level - 1][index].entered(&lanes, best.t);
                stack.push_near_last(level - 1, index, mask, &near);
            }
        }
        (best.slot != usize::MAX).then_some(best)
    }

    /// Whether the ray enters any ball within its reach.
    pub fn is_blocked(&self, ray: &Ray) -> bool {
        let lanes = RayLanes::new(ray);
        if !self.may_meet(&lanes, ray.reach) {
            return false;
        }
        let mut stack = Stack::new(self.levels.len());
        while let Some((level, index, _)) = stack.pop() {
            if level == 0 {
                if self.leaves[index].entry(&lanes, ray.reach).0 != 0 {
                    return true;
                }
            } else {
                let (mask, _) = self.levels[level - 1][index].entered(&lanes, ray.reach);
                stack.push_all(level - 1, index, mask);
            }
        }
        false
    }

    /// Whether the ray passes any box of the topmost node: most rays of a picture do not.
    fn may_meet(&self, ray: &RayLanes, reach: f32) -> bool {
        self.levels.last().is_some_and(|top| top[0].entered(ray, reach).0 != 0)
    }

    /// Outward direction of the matter around a ball, from where its neighbours are not.
    ///
    /// n = -Σ w_j (x_j - x_i) / |x_j - x_i| / Σ w_j, w falling linearly to zero at `radius`: near zero inside a body
    /// or a sheet, about one half at a flat surface.
    pub fn outward(&self, slot: usize, radius: f32) -> Vec3A {
        let center = Vec3A::from(self.balls[slot].center);
        let x = center.to_array().map(f32x8::splat);
        let (mut sum, mut weight) = ([f32x8::ZERO; 3], f32x8::ZERO);
        let mut stack = Stack::new(self.levels.len());
        while let Some((level, index, _)) = stack.pop() {
            if level == 0 {
                let leaf = &self.leaves[index];
                let d = [leaf.center[0] - x[0], leaf.center[1] - x[1], leaf.center[2] - x[2]];
                let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                // Coincident balls and the ball itself have no direction; padding lies far away.
                let inside = r2.simd_lt(f32x8::splat(radius * radius)) & r2.simd_gt(f32x8::splat(1e-20));
                let r = r2.max(f32x8::splat(1e-20)).sqrt();
                let w = inside & (f32x8::ONE - r / f32x8::splat(radius));
                for axis in 0..3 {
                    sum[axis] += w * d[axis] / r;
                }
                weight += w;
            } else {
                let mask = self.levels[level - 1][index].overlapping(&x, f32x8::splat(radius));
                stack.push_all(level - 1, index, mask);
            }
        }
        let total = weight.reduce_add().max(1e-12);
        -Vec3A::new(sum[0].reduce_add(), sum[1].reduce_add(), sum[2].reduce_add()) / total
    }
}

fn is_drawable(ball: &Ball) -> bool {
    ball.center.iter().all(|c| c.abs() < FARTHEST)
        && ball.radius > 0.0
        && ball.radius < FARTHEST
        && ball.color.iter().all(|c| c.is_finite())
}

/// Sorts by Morton code of the centre: near in space is near in the order.
fn sorted_along_curve(balls: Vec<Ball>, lo: Vec3A, hi: Vec3A) -> Vec<Ball> {
    let cells = ((1u64 << 21) - 1) as f32;
    let scale = cells / (hi - lo).max_element().max(1e-30);
    let mut keyed: Vec<(u64, u32)> = (0u32..)
        .zip(&balls)
        .map(|(i, ball)| {
            let cell = (Vec3A::from(ball.center) - lo) * scale;
            (spread(cell.x as u64) | spread(cell.y as u64) << 1 | spread(cell.z as u64) << 2, i)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| balls[i as usize]).collect()
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

fn bounds_of_balls(balls: &[Ball]) -> (Vec3A, Vec3A) {
    balls.iter().fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(lo, hi), ball| {
        let c = Vec3A::from(ball.center);
        (lo.min(c - ball.radius), hi.max(c + ball.radius))
    })
}

fn union(bounds: &[(Vec3A, Vec3A)]) -> (Vec3A, Vec3A) {
    let empty = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
    bounds.iter().fold(empty, |(lo, hi), b| (lo.min(b.0), hi.max(b.1)))
}

/// A ray, copied to all lanes.
struct RayLanes {
    origin: [f32x8; 3],
    direction: [f32x8; 3],
    inverse: [f32x8; 3],
    backward: [bool; 3],
}

impl RayLanes {
    fn new(ray: &Ray) -> RayLanes {
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

impl Leaf {
    fn new(balls: &[Ball]) -> Leaf {
        // Padding: balls of no size, far away.
        let lane = |axis: usize| {
            f32x8::from(std::array::from_fn::<f32, WIDTH, _>(|k| {
                balls.get(k).map_or(1e18, |b| b.center[axis])
            }))
        };
        let radius = std::array::from_fn::<f32, WIDTH, _>(|k| balls.get(k).map_or(0.0, |b| b.radius));
        Leaf { center: [lane(0), lane(1), lane(2)], radius: f32x8::from(radius) }
    }

    /// Distances at which the ray enters the balls, and the lanes where it does within `reach`.
    ///
    /// r² - |l|² with l the shortest way from the ray to the centre: exact enough for far small balls in f32.
    fn entry(&self, ray: &RayLanes, reach: f32) -> (u32, f32x8) {
        let m: [f32x8; 3] = std::array::from_fn(|a| self.center[a] - ray.origin[a]);
        let along = m[0] * ray.direction[0] + m[1] * ray.direction[1] + m[2] * ray.direction[2];
        let l: [f32x8; 3] = std::array::from_fn(|a| m[a] - along * ray.direction[a]);
        let rest = self.radius * self.radius - (l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
        let t = along - rest.max(f32x8::ZERO).sqrt();
        let hit = rest.simd_gt(f32x8::ZERO) & t.simd_gt(f32x8::ZERO) & t.simd_lt(f32x8::splat(reach));
        (hit.to_bitmask(), t)
    }

    fn closest(&self, ray: &RayLanes, index: usize, best: &mut BallHit) {
        let (mask, t) = self.entry(ray, best.t);
        let t = t.to_array();
        for k in lanes_of(mask) {
            if t[k] < best.t {
                *best = BallHit { t: t[k], slot: index * WIDTH + k };
            }
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

fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(count: usize) -> Vec<Ball> {
        let fraction = |i: usize, g: f64| ((i as f64 * g).fract() as f32 - 0.5) * 2.0;
        (0..count)
            .map(|i| Ball {
                center: [fraction(i, 0.8191725), fraction(i, 0.6710436), fraction(i, 0.5497005)],
                radius: 0.01 + 0.02 * (i % 7) as f32 / 7.0,
                color: [0.5; 3],
            })
            .collect()
    }

    fn first_hit_by_hand(balls: &[Ball], ray: &Ray) -> Option<f32> {
        balls
            .chunks(1)
            .filter_map(|ball| {
                let mut best = BallHit { t: ray.reach, slot: usize::MAX };
                Leaf::new(ball).closest(&RayLanes::new(ray), 0, &mut best);
                (best.slot == 0).then_some(best.t)
            })
            .min_by(f32::total_cmp)
    }

    #[test]
    fn the_tree_finds_the_same_hit_as_testing_every_ball() {
        for count in [0, 1, 7, 8, 9, 65, 1000] {
            let tree = BallTree::new(&cloud(count));
            for i in 0..500 {
                let a = i as f32 * 0.37;
                let origin = Vec3A::new(3.0 * a.cos(), (a * 0.3).sin(), 3.0 * a.sin());
                let aim = Vec3A::new((a * 1.7).sin(), (a * 2.3).cos(), (a * 0.9).sin()) * 0.6;
                let direction = if i % 10 == 0 { -Vec3A::X } else { (aim - origin).normalize() };
                let ray = Ray { origin, direction, reach: 10.0 };
                let expected = first_hit_by_hand(&tree.balls, &ray);
                assert_eq!(tree.first_hit(&ray).map(|hit| hit.t), expected, "{count} balls, ray {i}");
                assert_eq!(tree.is_blocked(&ray), expected.is_some(), "{count} balls, ray {i}");
            }
        }
    }

    #[test]
    fn the_outward_direction_points_out_of_a_half_space_of_balls() {
        let mut balls = Vec::new();
        for i in 0..15 * 15 * 7 {
            let (x, z, y) = (i % 15, i / 15 % 15, i / 225);
            balls.push(Ball { center: [x as f32, -(y as f32), z as f32], radius: 0.5, color: [0.5; 3] });
        }
        let tree = BallTree::new(&balls);
        let slot_of = |center: [f32; 3]| tree.balls.iter().position(|b| b.center == center).unwrap();
        let surface = tree.outward(slot_of([7.0, 0.0, 7.0]), 2.5);
        assert!(surface.normalize().dot(Vec3A::Y) > 0.999 && surface.length() > 0.3, "{surface}");
        assert!(tree.outward(slot_of([7.0, -3.0, 7.0]), 2.5).length() < 1e-3);
    }
}
