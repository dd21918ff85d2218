//! Reductions whose result does not depend on the number of threads.

use rayon::prelude::*;
use std::ops::Add;

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
    let better = |a: (f64, usize), b: (f64, usize)| match b.0.total_cmp(&a.0) {
        std::cmp::Ordering::Greater => b,
        std::cmp::Ordering::Equal if b.1 < a.1 => b,
        _ => a,
    };
    let key = |i: usize| {
        let value = value(i);
        (if value.is_nan() { f64::NAN } else { value }, i)
    };
    (0..n).into_par_iter().with_min_len(CHUNK).map(key).reduce(|| (f64::NEG_INFINITY, usize::MAX), better)
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
    }
}
