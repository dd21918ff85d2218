//! Cubic closest packing: a cubic lattice of constant a with points at corners and faces, four in a³.

use super::sample::deepest;
use super::{Field, Shape};
use crate::math::{Real, Vec3};
use rayon::prelude::*;

/// Each particle owns spacing³, so a = ∛4 spacings. In half steps of a, points are those with an even sum of indices.
pub(super) fn sample(shape: &Shape, spacing: Real) -> Vec<Vec3> {
    let half_step = 0.5 * 4f64.cbrt() * spacing;
    if let Shape::Box { size } = shape {
        return in_box(*size, half_step, spacing);
    }
    let (lo, hi) = shape.bounds();
    let middle = 0.5 * (lo + hi);
    let reach = (0.5 * (hi - lo) / half_step).ceil() + 1.0;
    let [nx, ny, nz] = reach.to_array().map(|n| n as i64);
    let column = |k: i64| {
        let (ix, iy) = (k / (2 * ny + 1) - nx, k % (2 * ny + 1) - ny);
        let even = (-nz..=nz).filter(move |iz| (ix + iy + iz) % 2 == 0);
        let point = move |iz| middle + half_step * Vec3::new(ix as Real, iy as Real, iz as Real);
        let near = |p: Vec3| Some((shape.distance(p), p)).filter(|(d, _)| *d < spacing);
        even.filter_map(|iz| near(point(iz))).collect::<Vec<_>>()
    };
    let columns = (2 * nx + 1) * (2 * ny + 1);
    let points = (0..columns).into_par_iter().flat_map_iter(column).collect();
    deepest(points, shape.volume(spacing), spacing)
}

/// Whole layers along each axis, stretched to fill the box: those numbers of layers that come nearest to its volume.
fn in_box(size: Vec3, half_step: Real, spacing: Real) -> Vec<Vec3> {
    let wanted = size.element_product() / spacing.powi(3);
    let layers = |choice: u32| -> [usize; 3] {
        std::array::from_fn(|axis| {
            let fitting = size[axis] / half_step;
            let n = if choice >> axis & 1 == 0 { fitting.floor() } else { fitting.ceil() };
            n.max(1.0) as usize
        })
    };
    let error = |n: &[usize; 3]| (0.5 * n.iter().product::<usize>() as Real / wanted).ln().abs();
    let best = (0..8).map(layers).min_by(|a, b| error(a).total_cmp(&error(b)));
    let [nx, ny, nz] = best.unwrap_or([1; 3]);
    let at = |k: usize, n: usize, length: Real| length * ((k as Real + 0.5) / n as Real - 0.5);
    let mut points = Vec::new();
    for ix in 0..nx {
        for iy in 0..ny {
            for iz in (0..nz).filter(|iz| (ix + iy + iz) % 2 == 0) {
                points.push(Vec3::new(at(ix, nx, size.x), at(iy, ny, size.y), at(iz, nz, size.z)));
            }
        }
    }
    points
}
