//! Dense work in one front: assembly, Cholesky factor of the pivots, update of the rows below.
//!
//! All matrices lie in strips of eight rows, a lane for each column, so that a product A Bᵀ streams both factors.
//! The strip of a panel at the diagonal keeps the inverse of its triangle: solving with it is a product as well.

use super::elimination::Ordered;
use super::structure::{Front, Panel, Structure, update_offset};
use crate::math::{LANES, Lane};
use rayon::prelude::*;

/// Panels that are updated together by those before them.
const BLOCK: usize = 4;
/// Strips of one task.
const TASK_STRIPS: usize = 12;
/// Products of lanes from which on a loop over strips is shared among threads.
const PARALLEL: usize = 400_000;
/// Panels whose product is summed in registers before it is subtracted.
const PANELS_AT_ONCE: usize = 32;

/// The factored columns of a front, and what it subtracts from the rows below.
pub struct Factored {
    pub values: Vec<Lane>,
    pub update: Vec<Lane>,
}

/// Factors front f. `columns` are those of its rows, `children` the update matrices of its children.
/// Fails with the first column whose pivot is not positive.
pub fn factor_front(
    s: &Structure,
    matrix: &Ordered,
    (f, columns): (usize, &[u32]),
    children: &[(usize, Vec<Lane>)],
) -> Result<Factored, u32> {
    let (front, panels) = (&s.fronts[f], s.panels_of(f));
    let mut factored = Factored {
        values: vec![Lane::ZERO; s.value_lanes(f)],
        update: vec![Lane::ZERO; front.update_lanes()],
    };
    put_matrix(front, panels, matrix, columns, &mut factored.values);
    for (child, update) in children {
        add_update(front, panels, s.rows_of(*child), update, &mut factored);
    }
    for block in (0..panels.len()).step_by(BLOCK) {
        let end = panels.len().min(block + BLOCK);
        let (done, values) = factored.values.split_at_mut(panels[block].offset);
        update_panels(&panels[..block], &panels[block..end], done, values);
        for p in block..end {
            let (done, values) = factored.values.split_at_mut(panels[p].offset);
            update_panels(&panels[block..p], &panels[p..p + 1], done, values);
            invert_triangle(&panels[p], values).map_err(|k| front.first + (p * LANES + k) as u32)?;
            solve_panel(&panels[p], values);
        }
    }
    update_rows(front, panels, &factored.values, &mut factored.update);
    Ok(factored)
}

/// Place of an entry in the values of a front: lane, and number within it.
#[inline(always)]
fn entry(panels: &[Panel], row_place: usize, column: usize) -> (usize, usize) {
    (panels[column / LANES].strip(row_place / LANES) + column % LANES, row_place % LANES)
}

fn put_matrix(front: &Front, panels: &[Panel], matrix: &Ordered, columns: &[u32], values: &mut [Lane]) {
    let end = front.first + front.pivots;
    for column in 0..front.pivots as usize {
        let j = front.first as usize + column;
        for k in matrix.starts[j]..matrix.starts[j + 1] {
            let i = matrix.rows[k];
            let place = if i < end {
                (i - front.first) as usize
            } else {
                front.rows_place() + columns.partition_point(|&c| c < i)
            };
            let (lane, number) = entry(panels, place, column);
            values[lane].as_mut_array()[number] = matrix.values[k];
        }
    }
}

/// Adds the update matrix of a child, whose rows have the given places in this front.
fn add_update(front: &Front, panels: &[Panel], places: &[u32], update: &[Lane], to: &mut Factored) {
    let base = front.rows_place();
    let pivots = places.partition_point(|&place| (place as usize) < base);
    for strip in 0..places.len().div_ceil(LANES) {
        let rows = Rows::new(&places[strip * LANES..places.len().min((strip + 1) * LANES)]);
        let lanes = &update[update_offset(strip)..update_offset(strip + 1)];
        // Above the diagonal there is nothing to keep.
        let above = |j: usize| j.saturating_sub(strip * LANES);
        for (j, (lane, &column)) in lanes.iter().zip(&places[..pivots]).enumerate() {
            let column = column as usize;
            let panel = &panels[column / LANES];
            rows.add(above(j), lane, &mut to.values, |strip| panel.strip(strip) + column % LANES);
        }
        let columns = places.iter().enumerate().skip(pivots);
        for ((j, &column), lane) in columns.zip(&lanes[pivots.min(lanes.len())..]) {
            let column = column as usize - base;
            rows.add(above(j), lane, &mut to.update, |strip| update_offset(strip - base / LANES) + column);
        }
    }
}

/// Where eight rows of a child lie in its parent.
struct Rows {
    count: usize,
    strips: [usize; LANES],
    numbers: [usize; LANES],
    /// They are the eight rows of one strip.
    together: bool,
}

impl Rows {
    fn new(places: &[u32]) -> Self {
        let place = |r: usize| places[r.min(places.len() - 1)] as usize;
        let together = places.len() == LANES && place(0).is_multiple_of(LANES) && place(7) == place(0) + 7;
        Rows {
            count: places.len(),
            strips: std::array::from_fn(|r| place(r) / LANES),
            numbers: std::array::from_fn(|r| place(r) % LANES),
            together,
        }
    }

    /// Adds the numbers of a lane from number `from` on; `lane_of` is where a strip has its lane of this column.
    #[inline(always)]
    fn add(&self, from: usize, lane: &Lane, to: &mut [Lane], lane_of: impl Fn(usize) -> usize) {
        if self.together && from == 0 {
            to[lane_of(self.strips[0])] += *lane;
            return;
        }
        let lane = lane.as_array();
        for r in from..self.count {
            to[lane_of(self.strips[r])].as_mut_array()[self.numbers[r]] += lane[r];
        }
    }
}

/// sums[m][j] += Σ_k a[m][k] b[k]_j: rows of M strips by the eight rows of strip b.
#[inline(always)]
fn add_products<const M: usize>(sums: &mut [[Lane; LANES]; M], a: [&[Lane]; M], b: &[Lane]) {
    let a = a.map(|a| &a[..b.len()]);
    for k in 0..b.len() {
        let b_k = b[k].as_array();
        for j in 0..LANES {
            let b_kj = Lane::splat(b_k[j]);
            for m in 0..M {
                sums[m][j] = a[m][k].mul_add(b_kj, sums[m][j]);
            }
        }
    }
}

/// Product of strips i.. of the panels with strip j of the panels.
#[inline(always)]
fn product<const M: usize>(panels: &[Panel], values: &[Lane], i: usize, j: usize) -> [[Lane; LANES]; M] {
    let mut sums = [[Lane::ZERO; LANES]; M];
    for panel in panels {
        let strip = |i: usize| &values[panel.strip(i)..];
        let a: [&[Lane]; M] = std::array::from_fn(|m| strip(i + m));
        if panel.width == LANES {
            add_products(&mut sums, a.map(|a| &a[..LANES]), &strip(j)[..LANES]);
        } else {
            add_products(&mut sums, a, &strip(j)[..panel.width]);
        }
    }
    sums
}

/// The panels that reach a strip; they are the last ones, as later columns reach further.
fn first_reaching(panels: &[Panel], strip: usize) -> usize {
    panels.partition_point(|panel| panel.reach <= strip)
}

/// Strips from i on, at most three and before `end`, that the same panels reach.
fn alike(panels: &[Panel], i: usize, end: usize) -> usize {
    let first = first_reaching(panels, i);
    (1..3.min(end - i)).take_while(|m| first_reaching(panels, i + m) == first).count() + 1
}

/// Calls `subtract(m, sums)` for strips i + m of the product with strip j, for M strips at once.
#[inline(always)]
fn subtract_products(
    (panels, values): (&[Panel], &[Lane]),
    (i, strips): (usize, usize),
    j: usize,
    mut subtract: impl FnMut(usize, &[Lane; LANES]),
) {
    match strips {
        3 => product::<3>(panels, values, i, j).iter().enumerate().for_each(|(m, sums)| subtract(m, sums)),
        0 => {}
        2 => product::<2>(panels, values, i, j).iter().enumerate().for_each(|(m, sums)| subtract(m, sums)),
        _ => product::<1>(panels, values, i, j).iter().enumerate().for_each(|(m, sums)| subtract(m, sums)),
    }
}

/// Subtracts the products of the panels before from those of a block. `values` begin with the block.
fn update_panels(before: &[Panel], block: &[Panel], done: &[Lane], values: &mut [Lane]) {
    let reach = block[block.len() - 1].reach;
    let task = |(start, mut parts): (usize, [&mut [Lane]; BLOCK])| {
        let end = reach.min(start + TASK_STRIPS);
        let mut i = start;
        while i < end {
            let strips = alike(before, i, end);
            for panels in before[first_reaching(before, i)..].chunks(PANELS_AT_ONCE) {
                for (panel, part) in block.iter().zip(&mut parts) {
                    let strips_before = start.max(panel.first);
                    let (i, strips) = (
                        i.max(panel.first),
                        (i + strips).min(panel.reach).saturating_sub(i.max(panel.first)),
                    );
                    subtract_products((panels, done), (i, strips), panel.first, |m, sums| {
                        let row = (i + m - strips_before) * panel.width;
                        subtract_from(&mut part[row..row + panel.width], sums);
                    });
                }
            }
            i += strips;
        }
    };
    if before.is_empty() {
        return;
    }
    let tasks = split_block(block, reach, values);
    if values_of(block) * before.len() * LANES > PARALLEL {
        tasks.into_par_iter().for_each(task);
    } else {
        tasks.into_iter().for_each(task);
    }
}

/// Lanes of a block of panels.
fn values_of(block: &[Panel]) -> usize {
    block[block.len() - 1].end() - block[0].offset
}

/// The parts of the panels of a block that each task over strips works on, and its first strip.
fn split_block<'a>(
    block: &[Panel],
    reach: usize,
    values: &'a mut [Lane],
) -> Vec<(usize, [&'a mut [Lane]; BLOCK])> {
    let mut tasks: Vec<(usize, [&mut [Lane]; BLOCK])> = (block[0].first..reach)
        .step_by(TASK_STRIPS)
        .map(|start| (start, std::array::from_fn(|_| Default::default())))
        .collect();
    let mut left = values;
    for (p, panel) in block.iter().enumerate() {
        for (start, parts) in &mut tasks {
            let strips = (*start + TASK_STRIPS).min(panel.reach).saturating_sub(panel.first.max(*start));
            let (part, rest) = std::mem::take(&mut left).split_at_mut(strips * panel.width);
            (parts[p], left) = (part, rest);
        }
    }
    tasks
}

#[inline(always)]
fn subtract_from(lanes: &mut [Lane], sums: &[Lane; LANES]) {
    for (lane, sum) in lanes.iter_mut().zip(sums) {
        *lane -= *sum;
    }
}

/// Replaces the triangle of a panel by the inverse of its Cholesky factor, worked out in double precision.
/// `values` begin with the panel. Fails with the first column whose pivot is not positive.
fn invert_triangle(panel: &Panel, values: &mut [Lane]) -> Result<(), usize> {
    let n = panel.width;
    let mut l = [[0f64; LANES]; LANES];
    for i in 0..n {
        for j in 0..=i {
            l[i][j] = f64::from(values[j].as_array()[i]);
        }
    }
    for j in 0..n {
        let row_j = l[j];
        let pivot = row_j[j] - row_j[..j].iter().map(|v| v * v).sum::<f64>();
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(j);
        }
        l[j][j] = pivot.sqrt();
        for row in &mut l[j + 1..n] {
            let dot: f64 = row[..j].iter().zip(&row_j[..j]).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - dot) / pivot.sqrt();
        }
    }
    let mut inverse = [[0f64; LANES]; LANES];
    for i in 0..n {
        inverse[i][i] = 1.0 / l[i][i];
        for j in 0..i {
            let dot: f64 = (j..i).map(|k| l[i][k] * inverse[k][j]).sum();
            inverse[i][j] = -dot / l[i][i];
        }
    }
    for j in 0..n {
        values[j] = Lane::new(std::array::from_fn(|i| inverse[i][j] as f32));
    }
    Ok(())
}

/// Multiplies the strips below the triangle by the transposed inverse: the factor's columns.
fn solve_panel(panel: &Panel, values: &mut [Lane]) {
    let (triangle, rest) = values[..panel.end() - panel.offset].split_at_mut(panel.width);
    for strip in rest.chunks_exact_mut(panel.width) {
        let mut sums = [[Lane::ZERO; LANES]];
        add_products(&mut sums, [strip], triangle);
        strip.copy_from_slice(&sums[0][..panel.width]);
    }
}

/// Subtracts the products of the rows below the pivots from the update matrix.
fn update_rows(front: &Front, panels: &[Panel], values: &[Lane], update: &mut [Lane]) {
    let (base, strips) = (front.pivot_strips(), front.row_strips());
    let mut tasks = Vec::new();
    let mut left = update;
    for start in (0..strips).step_by(TASK_STRIPS) {
        let end = strips.min(start + TASK_STRIPS);
        let (lanes, rest) = left.split_at_mut(update_offset(end) - update_offset(start));
        tasks.push((start, end, lanes));
        left = rest;
    }
    let task = |(start, end, lanes): (usize, usize, &mut [Lane])| {
        let mut i = start;
        while i < end {
            let alike = alike(panels, base + i, base + end);
            for panels in panels[first_reaching(panels, base + i)..].chunks(PANELS_AT_ONCE) {
                // A strip stops at its own diagonal; the first strips of three go without the last ones.
                for j in 0..i + alike {
                    let skipped = j.saturating_sub(i);
                    subtract_products(
                        (panels, values),
                        (base + i + skipped, alike - skipped),
                        base + j,
                        |m, sums| {
                            let offset = update_offset(i + skipped + m) - update_offset(start) + j * LANES;
                            subtract_from(&mut lanes[offset..offset + LANES], sums);
                        },
                    );
                }
            }
            i += alike;
        }
    };
    if update_offset(strips) * front.pivots as usize > PARALLEL {
        tasks.into_par_iter().for_each(task);
    } else {
        tasks.into_iter().for_each(task);
    }
}
