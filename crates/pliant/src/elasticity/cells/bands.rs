//! Bands of lines, and where their stresses are while they are needed.
//!
//! A product makes stresses T in one pass over the cells and sums them over neighbours in the next. Both passes go band after
//! band, one behind the other, so that T of three bands is all that is needed at a time. They have three slots, which bands
//! take in turn: T of a large body does not stay in the cache and would go to memory and back for nothing.
//!
//! Neighbours of eight cells are read from one slot: bands start with a line, and zeros are around a slot as they are between
//! lines.

use super::{LANES, NOWHERE, SLICES_PER_TASK, Slice};
use std::ops::Range;

/// Bands whose stresses are kept.
pub(super) const SLOTS: usize = 3;
/// Zeros around a slot.
const MARGIN: usize = 2 * LANES;
/// In the margin of the first slot: where stresses of neighbours that are not there are read.
const NO_STRESS: u32 = LANES as u32 - 2;

/// Slices one after the other.
#[derive(Clone, Debug)]
pub struct Task {
    pub(super) slices: Range<usize>,
    /// Tasks share no cell, and all cells from the first slice on have one.
    pub(super) cells: Range<usize>,
}

/// Tasks one after the other, so many that neighbours of their cells are in the same band or the next.
#[derive(Clone, Debug)]
pub(super) struct Band {
    pub tasks: Range<usize>,
    /// Its slot, where its cells are in the same order.
    pub slot: Range<usize>,
}

/// Where eight cells find the stresses that push them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sources {
    /// The first of them, in columns of all cells.
    pub cell: u32,
    /// Their own stresses, and those in the lines around, in slots.
    pub own: u32,
    pub around: [u32; 8],
    /// Their number among the kinds.
    pub kind: u32,
    /// Have all eight all their neighbours?
    pub is_inside: bool,
}

/// Slices in tasks and bands.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub tasks: Vec<Task>,
    pub bands: Vec<Band>,
    /// Of each slice.
    pub sources: Vec<Sources>,
    /// Cells of all slots.
    pub slot_cells: usize,
    /// Do bands leave stresses where others of their slot have none? They are then to be cleared.
    pub clears: bool,
}

impl Cut {
    /// Bands of at least so many cells, of `cells` in all; what is left at the end belongs to the last.
    pub fn new(slices: &[Slice], cells: usize, least: usize) -> Cut {
        let first_cell = |slice: usize| slices.get(slice).map_or(cells, |slice| slice.cell as usize);
        let (mut tasks, mut bands, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        let slices_of = slices_of_bands(slices, cells, least);
        for slices in &slices_of {
            let first = tasks.len();
            let size = slices.len().div_ceil(slices.len().div_ceil(SLICES_PER_TASK));
            for start in slices.clone().step_by(size) {
                let end = (start + size).min(slices.end);
                tasks.push(Task { slices: start..end, cells: first_cell(start)..first_cell(end) });
            }
            starts.push(first_cell(slices.start));
            bands.push((first..tasks.len(), first_cell(slices.end) - first_cell(slices.start)));
        }
        let room = bands.iter().map(|(_, cells)| *cells).max().unwrap_or(0) + 2 * MARGIN;
        let slot = |band: usize| band % SLOTS * room + MARGIN;
        // lines reach up to eight cells before their first particle
        let band_of = |cell: u32| starts.partition_point(|start| *start <= cell as usize + LANES) - 1;
        let place = |cell: u32| match cell as usize == NOWHERE {
            true => NO_STRESS,
            false => (slot(band_of(cell)) + cell as usize - starts[band_of(cell)]) as u32,
        };
        let sources = |slice: &Slice| Sources {
            cell: slice.cell,
            own: place(slice.cell),
            around: slice.around.map(place),
            kind: slice.kind,
            is_inside: slice.is_inside,
        };
        let slot_cells = room * bands.len().min(SLOTS);
        let cut = Cut {
            sources: slices.iter().map(sources).collect(),
            bands: (bands.into_iter().enumerate())
                .map(|(k, (tasks, cells))| Band { tasks, slot: slot(k)..slot(k) + cells })
                .collect(),
            tasks,
            slot_cells,
            clears: !are_alike(slices, &slices_of),
        };
        let is_inside = |place: &u32| (1..slot_cells - LANES).contains(&(*place as usize));
        let are_inside = |sources: &Sources| is_inside(&sources.own) && sources.around.iter().all(is_inside);
        assert!(cut.sources.iter().all(are_inside), "zeros around all slots");
        cut
    }

    /// Do bands take slots that others have had?
    pub fn takes_turns(&self) -> bool {
        self.bands.len() > SLOTS
    }
}

/// The slices of each band: whole lines.
fn slices_of_bands(slices: &[Slice], cells: usize, least: usize) -> Vec<Range<usize>> {
    let (mut bands, mut first) = (Vec::new(), 0);
    for (k, slice) in slices.iter().enumerate().filter(|(_, slice)| slice.starts_line) {
        let cell = slice.cell as usize;
        if cell - slices[first].cell as usize >= least && cells - cell >= least {
            bands.push(first..k);
            first = k;
        }
    }
    bands.push(first..slices.len());
    bands
}

/// Have all bands, as far as they go, slices at the same places, if some share a slot?
fn are_alike(slices: &[Slice], bands: &[Range<usize>]) -> bool {
    let places = |band: &Range<usize>| {
        let slices = &slices[band.clone()];
        slices.iter().map(|slice| slice.cell - slices[0].cell)
    };
    let longest = bands.iter().max_by_key(|band| band.len());
    let alike =
        |band: &Range<usize>| longest.is_some_and(|most| places(band).zip(places(most)).all(|(a, b)| a == b));
    bands.len() <= SLOTS || bands.iter().all(alike)
}

/// How many cells away a slice looks at most.
pub(super) fn reach_of(slices: &[Slice]) -> usize {
    let around = slices.iter().flat_map(|slice| slice.around.map(|cell| (slice.cell, cell)));
    let there = around.filter(|(_, cell)| *cell as usize != NOWHERE);
    there.map(|(own, cell)| own.abs_diff(cell) as usize).max().unwrap_or(0) + 2 * LANES
}
