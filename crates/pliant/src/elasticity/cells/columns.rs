//! Numbers of cells, one column each, and loops over them.

use super::Task;
use crate::math::{LANES, Lane};
use glam::DVec2;

/// Columns start this many cells further, modulo `PAGE`, than the last: no more of them share a cache line's place.
const SHIFT: usize = 112;
const PAGE: usize = 1024;

/// N numbers a cell.
#[derive(Clone, Debug, Default)]
pub struct Columns<const N: usize> {
    numbers: Vec<Lane>,
    cells: usize,
    /// Cells from one column to the next.
    stride: usize,
}

impl<const N: usize> Columns<N> {
    /// Zeros.
    pub fn new(cells: usize) -> Self {
        let stride = cells.next_multiple_of(PAGE) + SHIFT;
        Columns { numbers: vec![Lane::ZERO; (N * stride).div_ceil(LANES)], cells, stride }
    }

    pub fn view(&self) -> View<'_, N> {
        View { numbers: bytemuck::cast_slice(&self.numbers), stride: self.stride }
    }

    pub fn columns_mut(&mut self) -> [&mut [f32]; N] {
        let (cells, stride) = (self.cells, self.stride);
        let mut left: &mut [f32] = bytemuck::cast_slice_mut(&mut self.numbers);
        std::array::from_fn(|_| {
            let (column, others) = std::mem::take(&mut left).split_at_mut(stride);
            left = others;
            &mut column[..cells]
        })
    }

    pub fn set(&mut self, cell: usize, values: [f32; N]) {
        let (stride, numbers) = (self.stride, bytemuck::cast_slice_mut(&mut self.numbers));
        values.into_iter().enumerate().for_each(|(k, value)| numbers[k * stride + cell] = value);
    }

    pub fn bytes(&self) -> usize {
        self.numbers.len() * size_of::<Lane>()
    }
}

/// Columns to be read.
///
/// The innermost loops read some two hundred lanes for eight particles, and a fifth of their time would go into checks that
/// cannot fail: `Cells::of` has checked that each slice and those around it, and one cell on either side, are cells, and
/// all columns of a body have as many of them. So `lane` and `row` take cells of slices only, and do not check again.
#[derive(Clone, Copy)]
pub struct View<'a, const N: usize> {
    numbers: &'a [f32],
    stride: usize,
}

impl<const N: usize> View<'_, N> {
    #[inline(always)]
    pub fn get(&self, column: usize, cell: u32) -> f32 {
        self.numbers[column * self.stride + cell as usize]
    }

    /// Eight cells of a column, from the first cell of a slice.
    #[inline(always)]
    pub fn lane(&self, column: usize, cell: u32) -> Lane {
        self.unchecked(column * self.stride + cell as usize)
    }

    /// Eight cells of all columns.
    #[inline(always)]
    pub fn lanes(&self, cell: u32) -> [Lane; N] {
        let mut lanes = [Lane::ZERO; N];
        for (k, lane) in lanes.iter_mut().enumerate() {
            *lane = self.lane(k, cell);
        }
        lanes
    }

    /// The eight cells one before those of a slice, they themselves, and those one after.
    #[inline(always)]
    pub fn row(&self, column: usize, cell: u32) -> [Lane; 3] {
        let at = column * self.stride + cell as usize;
        [self.unchecked(at - 1), self.unchecked(at), self.unchecked(at + 1)]
    }

    #[inline(always)]
    fn unchecked(&self, at: usize) -> Lane {
        debug_assert!(at + LANES <= self.numbers.len(), "not a cell of a slice");
        // SAFETY: columns are numbered below N in this module, and cells of slices are inside a column (see above).
        let eight = unsafe { self.numbers.get_unchecked(at..at + LANES) };
        lane(eight, 0)
    }
}

/// Eight numbers of a column.
#[inline(always)]
pub fn lane(column: &[f32], at: usize) -> Lane {
    let eight: &[f32; LANES] = column[at..at + LANES].try_into().expect("eight numbers");
    Lane::from(*eight)
}

/// Sets eight numbers of a column.
#[inline(always)]
pub fn put(column: &mut [f32], at: usize, value: Lane) {
    let eight: &mut [f32; LANES] = (&mut column[at..at + LANES]).try_into().expect("eight numbers");
    *eight = value.to_array();
}

/// Sets eight numbers of each column.
#[inline(always)]
pub fn put_all<const N: usize>(columns: &mut [&mut [f32]; N], at: usize, values: [Lane; N]) {
    for (column, value) in columns.iter_mut().zip(values) {
        put(column, at, value);
    }
}

/// The sum of eight.
pub fn total(lane: Lane) -> f64 {
    lane.to_array().iter().map(|part| *part as f64).sum()
}

/// Runs `work` on every task with its part of the columns; the sums are added in a tree that depends on the tasks alone.
pub fn over<const N: usize>(
    tasks: &[Task],
    columns: [&mut [f32]; N],
    work: &(impl Fn(&Task, [&mut [f32]; N]) -> DVec2 + Sync),
) -> DVec2 {
    match tasks {
        [] => DVec2::ZERO,
        [task] => work(task, columns),
        _ => {
            let (first, second) = tasks.split_at(tasks.len() / 2);
            let at = second[0].cells.start - first[0].cells.start;
            let nothing = || -> [&mut [f32]; N] { std::array::from_fn(|_| Default::default()) };
            let (mut left, mut right) = (nothing(), nothing());
            for ((column, left), right) in columns.into_iter().zip(&mut left).zip(&mut right) {
                (*left, *right) = column.split_at_mut(at);
            }
            let (a, b) = rayon::join(|| over(first, left, work), || over(second, right, work));
            a + b
        }
    }
}
