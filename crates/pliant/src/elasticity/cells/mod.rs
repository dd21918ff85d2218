//! Bodies on a cubic lattice, laid out in lines of cells.
//!
//! On a lattice b_ij depends on nothing but the offset from i to j, and neighbours of eight cells in a row are eight
//! cells in a row. So no pair is stored: sums over neighbours are differences of shifted columns, with the few weights
//! of the offsets in registers. A product with the stiffness reads about 150 bytes a particle in place of 1000, and
//! gathers nothing.
//!
//! Cells without a particle hold zeros. A sum over neighbours, Σ_j b_ij φ_j, then runs over all offsets, and what is
//! missing at surfaces enters by one constant a particle: Σ_j b_ij (φ_j - φ_i) = Σ_o b_o φ_(i+o) - φ_i Σ_j b_ij.
//!
//! The axes of the lattice are the rest frame here: with Q their directions in the rest shape, b = Q b', F' = F Q,
//! R' = R Q and C' = QᵀC Q. Lines run along the first axis, the longest of the body. A line starts at its first particle,
//! whatever those beside it do: neighbours of eight cells are eight cells in a row at any rate. Zeros are between lines, so
//! that those who look beyond the end of one see nothing.
#![allow(non_snake_case)] // C, Q, X as in the theory

mod bands;
mod columns;
mod cycle;
mod inertia;
mod kinds;
mod leap;
mod past;
mod solver;
mod stencil;

pub(super) use solver::{CellSolver, Particles, Start};

use super::rest::Rest;
use crate::math::{LANES, Mat3, Real, Vec3};
use crate::neighbors::RestNeighbors;
use bands::{Cut, Sources, Task, reach_of};
use glam::IVec3;
use kinds::{Kind, kinds_of};

/// A cell without a particle.
const NOBODY: u32 = u32::MAX;
/// Eight cells of zeros that neighbours which are not there are read from, amid others.
const NOWHERE: usize = LANES;
/// Cells of zeros between two lines, at least: slices beside a line look up to this far beyond its ends.
const BETWEEN_LINES: usize = LANES + 1;
/// Slices a task works on.
const SLICES_PER_TASK: usize = 96;
/// Cells that are worked on at a time, at least: their stresses should stay in a core's cache.
const CELLS_PER_BAND: usize = 1 << 15;
/// Particles must be this near to their places on the lattice, in spacings, and pairs this near to one another, in parts.
const EXACT: Real = 1e-5;
/// More cells a particle than this are a waste: the body is not laid out.
const MOST_CELLS: usize = 4;
/// Smaller bodies are not worth it.
const LEAST_PARTICLES: usize = 64;

/// Weights of the neighbours at distances s, √2 s and √3 s.
#[derive(Clone, Copy, Debug)]
struct Weights {
    /// b' of an offset o is b o [m2].
    b: [f32; 3],
    /// beta = b / s [m].
    beta: [f32; 3],
    /// Has the kernel weight at √3 s?
    has_corners: bool,
    /// Inside, C' = c I.
    c: f32,
}

/// The layout of a body, and what of it is constant.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    cell_of: Vec<u32>,
    particle_of: Vec<u32>,
    slices: Vec<Slice>,
    cut: Cut,
    /// Q.
    axes: Mat3,
    weights: Weights,
    /// Volume of a particle [m3].
    volume: f32,
    kinds: Vec<Kind>,
    /// Has a neighbourhood missing dimensions?
    is_flat: bool,
    /// Of bodies that smooth their velocities: weights V_i V_j W_ij of XSPH at distances s, √2 s and √3 s.
    xsph: Option<[f32; 3]>,
}

/// Eight cells in a row, at least one of them with a particle.
#[derive(Clone, Copy, Debug)]
struct Slice {
    cell: u32,
    /// The same eight in the lines around: `AROUND`.
    around: [u32; 8],
    /// Its number among `kinds`.
    kind: u32,
    /// Have all eight all their neighbours?
    is_inside: bool,
    /// Is it the first of its line?
    starts_line: bool,
}

/// Offsets of the lines around a line: four beside it, four at its edges.
const AROUND: [(i32, i32); 8] = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)];

/// A line of cells.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Its first particle and the one after its last.
    first: i32,
    end: i32,
    /// Cell of the first one.
    start: usize,
}

impl Line {
    /// The cell at a place, if eight from there on or those beside them may hold a particle.
    fn cell_of(&self, place: i32) -> Option<usize> {
        let reaches = place + LANES as i32 >= self.first && place <= self.end;
        let from_start = (self.first < self.end && reaches).then(|| (place - self.first) as isize)?;
        self.start.checked_add_signed(from_start)
    }
}

impl Cells {
    /// The cells of a body, if all its particles are on one lattice and their neighbours no further than its diagonals.
    pub fn of(rest: &Rest) -> Option<Cells> {
        let n = rest.positions.len();
        if n < LEAST_PARTICLES || rest.volumes.iter().any(|v| *v != rest.volumes[0]) {
            return None;
        }
        let (axes, places) = places_on_lattice(&rest.positions, &rest.neighbors)?;
        let weights = Weights::of(rest, axes, &places)?;
        let (cell_of, mut slices, cells) = lay_out(&places)?;
        let is_inside = |cell: &u32| (1..cells - LANES).contains(&(*cell as usize));
        let are_inside = |slice: &Slice| is_inside(&slice.cell) && slice.around.iter().all(is_inside);
        assert!(slices.iter().all(are_inside), "cells of zeros around all lines");
        let mut particle_of = vec![NOBODY; cells];
        cell_of.iter().zip(0..).for_each(|(cell, i)| particle_of[*cell as usize] = i);
        let (kinds, c) = kinds_of(rest, axes, &particle_of, &mut slices);
        Some(Cells {
            cut: Cut::new(&slices, cells, reach_of(&slices).max(CELLS_PER_BAND)),
            cell_of,
            particle_of,
            slices,
            axes,
            weights: Weights { c: c.unwrap_or(0.0), ..weights },
            volume: rest.volumes[0] as f32,
            kinds,
            is_flat: !rest.null.is_empty(),
            xsph: xsph_weights(rest, &places),
        })
    }

    /// The same layout in bands as narrow as they may be.
    #[cfg(test)]
    pub fn in_narrow_bands(&self) -> Cells {
        let cut = Cut::new(&self.slices, self.count(), reach_of(&self.slices));
        Cells { cut, ..self.clone() }
    }

    #[cfg(test)]
    pub fn band_count(&self) -> usize {
        self.cut.bands.len()
    }

    /// Must bands clear what others left in their slot?
    #[cfg(test)]
    pub fn clears_slots(&self) -> bool {
        self.cut.clears
    }

    #[cfg(test)]
    pub fn kind_count(&self) -> usize {
        self.kinds.len()
    }

    fn tasks(&self) -> &[Task] {
        &self.cut.tasks
    }

    fn count(&self) -> usize {
        self.particle_of.len()
    }

    pub fn bytes(&self) -> usize {
        (self.cell_of.len() + self.particle_of.len()) * size_of::<u32>()
            + self.slices.len() * (size_of::<Slice>() + size_of::<Sources>())
            + self.kinds.len() * size_of::<Kind>()
    }
}

/// Weights of XSPH at distances s, √2 s and √3 s, if the body has them.
fn xsph_weights(rest: &Rest, places: &[IVec3]) -> Option<[f32; 3]> {
    let mut weights = [0.0; 3];
    for (i, place) in places.iter().enumerate() {
        rest.for_each_weight(i, |j, weight| {
            weights[(places[j] - *place).length_squared() as usize - 1] = weight as f32;
        });
    }
    (!rest.ratios.is_empty()).then_some(weights)
}

/// Entries xx, yy, zz, xy, xz, yz.
fn symmetric(m: Mat3) -> [f32; 6] {
    [m.x_axis.x, m.y_axis.y, m.z_axis.z, m.x_axis.y, m.x_axis.z, m.y_axis.z].map(|entry| entry as f32)
}

/// Axes of the lattice, first the one along which the body is longest, and the place of each particle on it, from zero.
fn places_on_lattice(positions: &[Vec3], neighbors: &RestNeighbors) -> Option<(Mat3, Vec<IVec3>)> {
    let (origin, axes, spacing) = (0..positions.len())
        .find_map(|i| corner_at(positions, neighbors, i).map(|(axes, s)| (i, axes, s)))?;
    let to_lattice = axes.transpose() * (1.0 / spacing);
    let mut places = Vec::with_capacity(positions.len());
    for x in positions {
        let place = to_lattice * (*x - positions[origin]);
        if (place - place.round()).abs().max_element() > EXACT || place.abs().max_element() > 1e6 {
            return None;
        }
        places.push(place.round().as_ivec3());
    }
    let low = places.iter().fold(IVec3::MAX, |low, place| low.min(*place));
    let high = places.iter().fold(IVec3::MIN, |high, place| high.max(*place));
    let size = (high - low).to_array();
    // of axes alike, the one along which particles follow one another
    let mut runs = [0; 3];
    for pair in places.windows(2) {
        let step = (pair[1] - pair[0]).abs().to_array();
        (0..3).filter(|&k| step[k] == 1).for_each(|k| runs[k] += 1);
    }
    let longest = (0..3).max_by_key(|&k| (size[k], runs[k])).unwrap_or(0);
    let turned = |v: IVec3| IVec3::new(v[longest], v[(longest + 1) % 3], v[(longest + 2) % 3]);
    places.iter_mut().for_each(|place| *place = turned(*place - low));
    let axis = |k: usize| axes.col((longest + k) % 3);
    Some((Mat3::from_cols(axis(0), axis(1), axis(2)), places))
}

/// Three right-handed axes, two of them along nearest neighbours of particle i at right angles, and their distance.
fn corner_at(positions: &[Vec3], neighbors: &RestNeighbors, i: usize) -> Option<(Mat3, Real)> {
    let mut arms = Vec::new();
    neighbors.for_each_of(i, |j, _, _| arms.push(positions[j] - positions[i]));
    let spacing = arms.iter().map(|arm| arm.length()).reduce(Real::min)?;
    arms.retain(|arm| arm.length() < 1.1 * spacing);
    let first = arms.first()?.normalize();
    let across = |arm: &&Vec3| arm.dot(first).abs() < 1e-3 * spacing;
    let second = arms.iter().find(across)?;
    let second = (*second - first * second.dot(first)).normalize();
    Some((Mat3::from_cols(first, second, first.cross(second)), spacing))
}

impl Weights {
    /// The weights of a body, if they depend on the offset alone and all neighbours are within a cell's corners.
    fn of(rest: &Rest, axes: Mat3, places: &[IVec3]) -> Option<Weights> {
        let (mut b_of, mut beta_of) = ([0.0; 3], [0.0; 3]);
        let mut fits = true;
        for (i, place) in places.iter().enumerate() {
            rest.neighbors.for_each_of(i, |j, b, beta| {
                let offset = places[j] - *place;
                let distance = offset.length_squared() as usize;
                if offset.abs().max_element() > 1 || distance == 0 {
                    fits = false;
                    return;
                }
                let o = offset.as_dvec3();
                let b = (axes.transpose() * b).dot(o) / o.length_squared();
                let (known, known_beta) = (&mut b_of[distance - 1], &mut beta_of[distance - 1]);
                if *known == 0.0 {
                    (*known, *known_beta) = (b, beta);
                }
                fits &= (*known - b).abs() <= 10.0 * EXACT * b.abs()
                    && (*known_beta - beta).abs() <= 10.0 * EXACT * beta;
            });
        }
        (fits && b_of[0] > 0.0).then_some(Weights {
            b: b_of.map(|b| b as f32),
            beta: beta_of.map(|beta| beta as f32),
            has_corners: b_of[2] > 0.0,
            c: 0.0,
        })
    }
}

/// Cell of each particle, the slices, and how many cells there are.
fn lay_out(places: &[IVec3]) -> Option<(Vec<u32>, Vec<Slice>, usize)> {
    let size = places.iter().fold(IVec3::ZERO, |size, place| size.max(*place)) + 1;
    let (rows, line_count) = (size.y, size.y as usize * size.z as usize);
    if line_count > MOST_CELLS * places.len() {
        return None;
    }
    let line_of = |place: &IVec3| (place.z * rows + place.y) as usize;
    let mut lines = vec![Line { first: i32::MAX, end: 0, start: 0 }; line_count];
    for place in places {
        let line = &mut lines[line_of(place)];
        (line.first, line.end) = (line.first.min(place.x), line.end.max(place.x + 1));
    }
    let mut next = NOWHERE + 2 * LANES;
    for line in lines.iter_mut().filter(|line| line.first < line.end) {
        line.start = next;
        next += ((line.end - line.first) as usize + BETWEEN_LINES).next_multiple_of(LANES);
    }
    if next > MOST_CELLS * places.len() {
        return None;
    }
    let cell = |place: &IVec3| lines[line_of(place)].cell_of(place.x).unwrap_or(NOWHERE) as u32;
    let cell_of: Vec<u32> = places.iter().map(cell).collect();
    let mut sorted: Vec<(usize, i32)> = places.iter().map(|place| (line_of(place), place.x)).collect();
    sorted.sort_unstable();
    // a slice starts at the first particle that the last one did not reach
    let mut starts: Vec<(usize, i32)> = Vec::new();
    for (line, x) in sorted {
        if starts.last().is_none_or(|(last, start)| *last != line || x >= start + LANES as i32) {
            starts.push((line, x));
        }
    }
    let slice = |k: usize| {
        let (line, x) = starts[k];
        let at = |(dy, dz): (i32, i32)| {
            let (y, z) = (line as i32 % rows + dy, line as i32 / rows + dz);
            let is_there = (0..rows).contains(&y) && (0..size.z).contains(&z);
            is_there.then(|| lines[(z * rows + y) as usize].cell_of(x)).flatten().unwrap_or(NOWHERE) as u32
        };
        let cell = lines[line].cell_of(x).unwrap_or(NOWHERE) as u32;
        let starts_line = k == 0 || starts[k - 1].0 != line;
        Slice { cell, around: AROUND.map(at), kind: 0, is_inside: false, starts_line }
    };
    Some((cell_of, (0..starts.len()).map(slice).collect(), next))
}
