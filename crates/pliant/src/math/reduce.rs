//! Reductions whose result does not depend on the number of threads.

use rayon::prelude::*;
use std::ops::{Add, Range};

/// Terms summed in sequence; chunks are then added in their order.
pub const CHUNK: usize = 4096;

/// Σ term(i) for i in 0..n, in an order fixed by n alone.
pub fn sum<T>(n: usize, zero: T, term: impl Fn(usize) -> T + Sync) -> T
where
    T: Add<Output = T> + Copy + Send + Sync,
{
    sum_by_chunk(n, zero, |range| range.fold(zero, |a, i| a + term(i)))
}

/// Σ over chunks of `CHUNK` indices of what `part` gives for the chunk.
pub fn sum_by_chunk<T>(n: usize, zero: T, part: impl Fn(std::ops::Range<usize>) -> T + Sync) -> T
where
    T: Add<Output = T> + Copy + Send + Sync,
{
    let range = |c: usize| c * CHUNK..((c + 1) * CHUNK).min(n);
    let chunks = n.div_ceil(CHUNK);
    if chunks <= 1 {
        return part(0..n);
    }
    let parts: Vec<T> = (0..chunks).into_par_iter().map(|c| part(range(c))).collect();
    parts.into_iter().fold(zero, |a, b| a + b)
}

/// The largest value(i) and the first index that has it; NaN counts as larger than everything.
pub fn max_with_index(n: usize, value: impl Fn(usize) -> f64 + Sync) -> (f64, usize) {
    // the largest of each chunk; which it is matters in one chunk only
    let largest = |c: usize| (largest_of(c * CHUNK..((c + 1) * CHUNK).min(n), &value), c);
    let nothing = || (f64::NEG_INFINITY, usize::MAX);
    let (most, chunk) = (0..n.div_ceil(CHUNK)).into_par_iter().map(largest).reduce(nothing, |a, b| {
        let is_better = is_larger(b.0, a.0) || !is_larger(a.0, b.0) && b.1 < a.1;
        if is_better { b } else { a }
    });
    if chunk == usize::MAX {
        return nothing();
    }
    let is_most = |i: &usize| !is_larger(most, value(*i));
    (most, (chunk * CHUNK..n).find(is_most).unwrap_or(usize::MAX))
}

/// Is a larger than b, or NaN where b is a number?
fn is_larger(a: f64, b: f64) -> bool {
    a > b || a.is_nan() && !b.is_nan()
}

/// Four at a time, so that none waits for the comparison before it.
fn largest_of(range: Range<usize>, value: impl Fn(usize) -> f64) -> f64 {
    let mut most = [f64::NEG_INFINITY; 4];
    let larger = |most: f64, i: usize| {
        let value = value(i);
        if value > most || value.is_nan() { value } else { most }
    };
    let fours = range.len() / 4 * 4;
    for i in range.clone().take(fours).step_by(4) {
        most = std::array::from_fn(|k| larger(most[k], i + k));
    }
    let rest = range.skip(fours).fold(f64::NEG_INFINITY, larger);
    most.into_iter().fold(rest, |a, b| if is_larger(b, a) { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_pool<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool").install(f)
    }

    #[test]
    fn sums_do_not_depend_on_the_thread_count() {
        let term = |i: usize| (i as f64 * 0.37).sin() * 1e3f64.powi((i % 7) as i32 - 3);
        let sums: Vec<f64> = [1, 2, 7].map(|t| in_pool(t, || sum(100_003, 0.0, term))).to_vec();
        assert!(sums.iter().all(|s| s.to_bits() == sums[0].to_bits()));
    }

    #[test]
    fn the_maximum_names_the_first_of_equals_and_finds_nan() {
        assert_eq!(max_with_index(50_000, |i| if i % 100 == 7 { 2.0 } else { 1.0 }), (2.0, 7));
        assert_eq!(max_with_index(10_000, |i| if i == 9_999 { f64::NAN } else { i as f64 }).1, 9_999);
        for n in [1, 3, 6, 5_003] {
            assert_eq!(max_with_index(n, |i| i as f64), (n as f64 - 1.0, n - 1));
            assert_eq!(max_with_index(n, |i| -(i as f64)), (0.0, 0));
            assert_eq!(max_with_index(n, |i| if i >= n / 2 { f64::NAN } else { i as f64 }).1, n / 2);
            assert_eq!(max_with_index(n, |_| f64::NEG_INFINITY), (f64::NEG_INFINITY, 0));
        }
        assert_eq!(max_with_index(0, |_| 0.0).0, f64::NEG_INFINITY);
    }
}
