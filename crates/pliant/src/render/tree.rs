//! Which ball a ray meets: an eight-wide tree over balls sorted along a space-filling curve.

use glam::Vec3A;
use wide::f32x8;

use super::Ball;
use super::levels::{FARTHEST, Levels, Ray, RayLanes, WIDTH, curve_order, lanes_of};

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

/// The balls of a picture, sorted, with their tree.
pub struct BallTree {
    /// Drawable balls in tree order; non-finite and empty ones are left out.
    pub balls: Vec<Ball>,
    leaves: Vec<Leaf>,
    levels: Levels,
    pub lo: Vec3A,
    pub hi: Vec3A,
}

impl BallTree {
    pub fn new(balls: &[Ball]) -> BallTree {
        let drawable: Vec<Ball> = balls.iter().filter(|b| is_drawable(b)).copied().collect();
        let (lo, hi) = bounds_of_balls(&drawable);
        let order = curve_order(drawable.iter().map(|ball| Vec3A::from(ball.center)), lo, hi);
        let balls: Vec<Ball> = order.into_iter().map(|i| drawable[i as usize]).collect();
        let leaves: Vec<Leaf> = balls.chunks(WIDTH).map(Leaf::new).collect();
        let levels = Levels::new(balls.chunks(WIDTH).map(bounds_of_balls).collect());
        BallTree { balls, leaves, levels, lo, hi }
    }

    /// The ball that the ray enters first.
    pub fn first_hit(&self, ray: &Ray) -> Option<BallHit> {
        let mut best = BallHit { t: ray.reach, slot: usize::MAX };
        self.levels.visit(ray, |index, lanes, _| {
            self.leaves[index].closest(lanes, index, &mut best);
            best.t
        });
        (best.slot != usize::MAX).then_some(best)
    }

    /// Whether the ray enters any ball within its reach.
    pub fn is_blocked(&self, ray: &Ray) -> bool {
        self.levels.any(ray, |index, lanes| self.leaves[index].entry(lanes, ray.reach).0 != 0)
    }

    /// Outward direction of the matter around a ball, from where its neighbours are not.
    ///
    /// n = -Σ w_j (x_j - x_i) / |x_j - x_i| / Σ w_j, w falling linearly to zero at `radius`: near zero inside a body
    /// or a sheet, about one half at a flat surface.
    pub fn outward(&self, slot: usize, radius: f32) -> Vec3A {
        let center = Vec3A::from(self.balls[slot].center);
        let x = center.to_array().map(f32x8::splat);
        let (mut sum, mut weight) = ([f32x8::ZERO; 3], f32x8::ZERO);
        self.levels.for_each_near(&x, radius, |index| {
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
        });
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

fn bounds_of_balls(balls: &[Ball]) -> (Vec3A, Vec3A) {
    balls.iter().fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(lo, hi), ball| {
        let c = Vec3A::from(ball.center);
        (lo.min(c - ball.radius), hi.max(c + ball.radius))
    })
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
