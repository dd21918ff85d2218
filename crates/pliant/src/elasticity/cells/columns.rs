//! Numbers of cells, one column each, and loops over them.

use super::Task;
use crate::math::{LANES, Lane};
use glam::{DVec2, Vec3};
use std::ops::Range;

/// Numbers in a page of memory.
const PAGE: usize = 1024;
/// The columns of a body start one after the other at other places of a page, this many numbers apart. Processors take
/// numbers at the same place of two pages for the same until they know better: a column that is written would hold up
/// those that are read.
const SHIFT: usize = 48;

/// N numbers a cell.
#[derive(Clone, Debug, Default)]
pub struct Columns<const N: usize> {
    numbers: Vec<Lane>,
    /// Numbers before the first column.
    lead: usize,
    /// Numbers from one column to the next.
    stride: usize,
}

impl<const N: usize> Columns<N> {
    /// Zeros; the first of these columns is the body's `number`th.
    pub fn new(cells: usize, number: usize) -> Self {
        let stride = cells.next_multiple_of(PAGE) + SHIFT;
        let numbers = vec![Lane::ZERO; (N * stride + PAGE).div_ceil(LANES)];
        let place = numbers.as_ptr().addr() / size_of::<f32>() % PAGE;
        Columns { lead: (number * SHIFT + PAGE - place) % PAGE, numbers, stride }
    }

    fn numbers(&self) -> &[f32] {
        &bytemuck::cast_slice(&self.numbers)[self.lead..]
    }

    fn numbers_mut(&mut self) -> &mut [f32] {
        &mut bytemuck::cast_slice_mut(&mut self.numbers)[self.lead..]
    }

    pub fn view(&self) -> View<'_, N> {
        View { numbers: self.numbers(), stride: self.stride }
    }

    /// The cells of these tasks.
    pub fn of(&mut self, tasks: &[Task]) -> [&mut [f32]; N] {
        self.at(match tasks {
            [first, .., last] => first.cells.start..last.cells.end,
            [one] => one.cells.clone(),
            [] => 0..0,
        })
    }

    /// These cells.
    pub fn at(&mut self, cells: Range<usize>) -> [&mut [f32]; N] {
        let stride = self.stride;
        let mut left = self.numbers_mut();
        std::array::from_fn(|_| {
            let (column, others) = std::mem::take(&mut left).split_at_mut(stride);
            left = others;
            &mut column[cells.clone()]
        })
    }

    pub fn set(&mut self, cell: usize, values: [f32; N]) {
        let (stride, numbers) = (self.stride, self.numbers_mut());
        values.into_iter().enumerate().for_each(|(k, value)| numbers[k * stride + cell] = value);
    }

    /// Makes the cells of these tasks zero.
    pub fn clear(&mut self, tasks: &[Task]) {
        self.of(tasks).into_iter().for_each(|column| column.fill(0.0));
    }

    pub fn bytes(&self) -> usize {
        self.numbers.len() * size_of::<Lane>()
    }
}

/// Columns to be read.
///
/// The innermost loops read some two hundred lanes for eight particles, and a fifth of their time would go into checks that
/// cannot fail: `Cells::of` has checked that each slice and those around it, and one cell on either side, are cells, and
/// all columns of a body have as many of them; `Cut::new` has checked the places of stresses. So `lane` and `row` take cells
/// of slices only, or those places, and do not check again.
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

impl View<'_, 3> {
    pub fn vector(&self, cell: u32) -> Vec3 {
        Vec3::new(self.get(0, cell), self.get(1, cell), self.get(2, cell))
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
#[allow(clippy::needless_range_loop)] // zipped arrays of this size are copied, not unrolled
pub fn put_all<const N: usize>(columns: &mut [&mut [f32]; N], at: usize, values: [Lane; N]) {
    for k in 0..N {
        put(columns[k], at, values[k]);
    }
}

/// The sum of eight.
pub fn total(lane: Lane) -> f64 {
    lane.to_array().iter().map(|part| *part as f64).sum()
}

/// Runs `work` on every task with its part of the columns.
pub fn each<const N: usize>(
    tasks: &[Task],
    columns: [&mut [f32]; N],
    work: impl Fn(&Task, [&mut [f32]; N]) + Sync,
) {
    join(tasks, columns, &work, &|(), ()| ());
}

/// Runs `work` on every task with its part of the columns and adds up what it gives.
pub fn sum<const N: usize>(
    tasks: &[Task],
    columns: [&mut [f32]; N],
    work: impl Fn(&Task, [&mut [f32]; N]) -> DVec2 + Sync,
) -> DVec2 {
    join(tasks, columns, &work, &|a, b| a + b)
}

/// The same, joined in a tree that depends on the tasks alone; there must be one.
pub fn join<const N: usize, T: Send>(
    tasks: &[Task],
    columns: [&mut [f32]; N],
    work: &(impl Fn(&Task, [&mut [f32]; N]) -> T + Sync),
    both: &(impl Fn(T, T) -> T + Sync),
) -> T {
    match tasks {
        [] => unreachable!("a body has particles, and so a task"),
        [task] => work(task, columns),
        _ => {
            let (first, second) = tasks.split_at(tasks.len() / 2);
            let at = second[0].cells.start - first[0].cells.start;
            let nothing = || -> [&mut [f32]; N] { std::array::from_fn(|_| Default::default()) };
            let (mut left, mut right) = (nothing(), nothing());
            for ((column, left), right) in columns.into_iter().zip(&mut left).zip(&mut right) {
                (*left, *right) = column.split_at_mut(at);
            }
            let (a, b) = rayon::join(|| join(first, left, work, both), || join(second, right, work, both));
            both(a, b)
        }
    }
}
