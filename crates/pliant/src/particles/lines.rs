//! Order along the lines of a lattice.

use crate::math::{Real, Vec3};

/// Indices of the points of a lattice of this spacing along its axes, line by line. Lines are along the axis on which the
/// points reach furthest.
pub fn line_order(points: &[Vec3], spacing: Real) -> Vec<u32> {
    let lo = points.iter().fold(Vec3::INFINITY, |a, p| a.min(*p));
    let hi = points.iter().fold(Vec3::NEG_INFINITY, |a, p| a.max(*p));
    let size = ((hi - lo) / spacing).round().to_array();
    let along = (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b]).then(b.cmp(&a))).unwrap_or(0);
    let key = |p: Vec3| {
        let place = ((p - lo) / spacing).round().to_array();
        [2, 1, 0].map(|k| place[(along + k) % 3] as u32)
    };
    let mut order: Vec<([u32; 3], u32)> = points.iter().zip(0..).map(|(p, i)| (key(*p), i)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, i)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_points_are_neighbours_along_the_longest_axis() {
        let place = |i: usize| Vec3::new((i % 4) as f64 + 0.5, (i / 4 % 9) as f64, (i / 36) as f64 - 3.0);
        let points: Vec<Vec3> = (0..144).map(|i| place(i * 89 % 144) * 0.3).collect();
        let order = line_order(&points, 0.3);
        let step = |k: usize| points[order[k + 1] as usize] - points[order[k] as usize];
        let ahead = (0..143).filter(|&k| (step(k) - 0.3 * Vec3::Y).length() < 1e-12).count();
        assert_eq!(ahead, 16 * 8);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..144));
    }
}
