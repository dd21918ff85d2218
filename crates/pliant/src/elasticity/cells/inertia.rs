//! Masses and all else that the diagonal of a system is made of, once for slices that are alike.

use super::{Cells, NOBODY};
use crate::math::{LANES, Lane};
use rayon::prelude::*;
use std::collections::HashMap;

/// What tells particles apart that have another inertia: marks of their diagonals, and another one.
pub(super) type Mark = ([u32; 3], u32);
/// Mass m [kg]; dt², zero if it is held; D; lambda: flat neighbourhoods have another one.
pub(super) type ParticleInertia = [f32; 4];
/// The same of eight, and D⁻¹.
type SliceInertia = [Lane; 5];

/// The inertia of all slices; of nobody, zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Inertias {
    /// Of slices that differ.
    table: Vec<SliceInertia>,
    /// The first slice of each sort.
    examples: Vec<u32>,
    /// Which of the table a slice has.
    sorts: Vec<u32>,
}

impl Inertias {
    /// Slices whose particles have the same marks have the same inertia from now on.
    pub fn sort(&mut self, cells: &Cells, mark: impl Fn(usize) -> Mark) {
        let mut known: HashMap<[Mark; LANES], u32> = HashMap::new();
        self.examples.clear();
        self.sorts.clear();
        for (number, slice) in cells.slices.iter().enumerate() {
            let marks = cells.particles_of(slice).map(|i| i.map_or(([u32::MAX; 3], u32::MAX), &mark));
            let next = self.examples.len() as u32;
            let sort = *known.entry(marks).or_insert(next);
            if sort == next {
                self.examples.push(number as u32);
            }
            self.sorts.push(sort);
        }
    }

    /// Sets them all; returns the least m / D of a particle that is free.
    pub fn set(&mut self, cells: &Cells, inertia: impl Fn(usize) -> ParticleInertia + Sync) -> f32 {
        self.table.resize(self.examples.len(), [Lane::ZERO; 5]);
        let set = |(slot, &example): (&mut SliceInertia, &u32)| {
            let (mut lanes, mut least) = ([[0.0; LANES]; 5], 1.0f32);
            for (k, i) in cells.particles_of(&cells.slices[example as usize]).into_iter().enumerate() {
                let Some(i) = i else { continue };
                let [mass, gain, diagonal, lambda] = inertia(i);
                let inverse = 1.0 / diagonal;
                let numbers = [mass, gain, diagonal, lambda, inverse];
                lanes.iter_mut().zip(numbers).for_each(|(lane, number)| lane[k] = number);
                if gain > 0.0 {
                    least = least.min(mass * inverse);
                }
            }
            *slot = lanes.map(Lane::from);
            least
        };
        let rows = self.table.par_iter_mut().zip(&self.examples).with_min_len(256);
        rows.map(set).reduce(|| 1.0, f32::min)
    }

    pub fn view(&self) -> Inertia<'_> {
        Inertia { table: &self.table, sorts: &self.sorts }
    }

    pub fn bytes(&self) -> usize {
        self.table.len() * size_of::<SliceInertia>()
            + (self.examples.len() + self.sorts.len()) * size_of::<u32>()
    }
}

/// The inertia of slices, by their number.
#[derive(Clone, Copy)]
pub(super) struct Inertia<'a> {
    table: &'a [SliceInertia],
    sorts: &'a [u32],
}

impl Inertia<'_> {
    #[inline(always)]
    pub fn masses(&self, slice: usize) -> Lane {
        self.table[self.sorts[slice] as usize][0]
    }

    /// dt² of particles that are free.
    #[inline(always)]
    pub fn gains(&self, slice: usize) -> Lane {
        self.table[self.sorts[slice] as usize][1]
    }

    /// D.
    #[inline(always)]
    pub fn diagonals(&self, slice: usize) -> Lane {
        self.table[self.sorts[slice] as usize][2]
    }

    /// D⁻¹.
    #[inline(always)]
    pub fn inverses(&self, slice: usize) -> Lane {
        self.table[self.sorts[slice] as usize][4]
    }

    #[inline(always)]
    pub fn lambdas(&self, slice: usize) -> Lane {
        self.table[self.sorts[slice] as usize][3]
    }
}

impl Cells {
    /// The particles of eight cells.
    pub(super) fn particles_of(&self, slice: &super::Slice) -> [Option<usize>; LANES] {
        let particles = &self.particle_of[slice.cell as usize..];
        std::array::from_fn(|k| (particles[k] != NOBODY).then_some(particles[k] as usize))
    }
}
