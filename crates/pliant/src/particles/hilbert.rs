//! Order along a space-filling curve: neighbours in space are near in memory.

use crate::math::Vec3;

/// Bits per axis of the curve's grid.
const BITS: u32 = 20;

/// Indices of the points in the order of a Hilbert curve through their bounding cube.
pub fn hilbert_order(points: &[Vec3]) -> Vec<u32> {
    let lo = points.iter().fold(Vec3::INFINITY, |a, p| a.min(*p));
    let hi = points.iter().fold(Vec3::NEG_INFINITY, |a, p| a.max(*p));
    let side = (hi - lo).max_element().max(f64::MIN_POSITIVE);
    let cells = ((1u64 << BITS) - 1) as f64;
    let key = |p: Vec3| {
        let q = (p - lo) / side * cells;
        hilbert_key([q.x as u32, q.y as u32, q.z as u32])
    };
    let mut order: Vec<(u64, u32)> = points.iter().zip(0..).map(|(p, i)| (key(*p), i)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, i)| i).collect()
}

/// Distance along the curve: axes to transposed index (Skilling 2004), then its bits interleaved.
fn hilbert_key(mut x: [u32; 3]) -> u64 {
    let mut q = 1 << (BITS - 1);
    while q > 1 {
        let p = q - 1;
        for k in 0..3 {
            if x[k] & q != 0 {
                x[0] ^= p;
            } else {
                let t = (x[0] ^ x[k]) & p;
                x[0] ^= t;
                x[k] ^= t;
            }
        }
        q >>= 1;
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    let mut t = 0;
    let mut q = 1 << (BITS - 1);
    while q > 1 {
        if x[2] & q != 0 {
            t ^= q - 1;
        }
        q >>= 1;
    }
    let mut key = 0;
    for bit in (0..BITS).rev() {
        for axis in x {
            key = key << 1 | (((axis ^ t) >> bit) & 1) as u64;
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_along_the_curve_goes_to_an_adjacent_cell() {
        let mut points = Vec::new();
        for i in 0..16 {
            for j in 0..16 {
                for k in 0..16 {
                    // Corners of the finest 16 cells a side: the coarse curve visits them one by one.
                    let cell = ((1u64 << BITS) / 16) as f64;
                    points.push(Vec3::new(i as f64, j as f64, k as f64) * cell);
                }
            }
        }
        points.push(Vec3::splat(((1u64 << BITS) - 1) as f64)); // fixes the bounding cube
        let order: Vec<u32> = hilbert_order(&points).into_iter().filter(|&i| i < 4096).collect();
        assert_eq!(order.len(), 4096);
        let cell = ((1u64 << BITS) / 16) as f64;
        for pair in order.windows(2) {
            let step = points[pair[0] as usize].distance(points[pair[1] as usize]);
            assert!((step - cell).abs() < 1e-6, "a step of {} cells", step / cell);
        }
    }
}
