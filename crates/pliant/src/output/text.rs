//! Lines of text made of numbers, written by all threads.

use rayon::prelude::*;
use std::fmt::Write;

/// Rows that one thread writes at a time.
const ROWS: usize = 4096;

/// Appends the text of each row, in order.
pub(super) fn put_rows(out: &mut Vec<u8>, rows: usize, put_row: impl Fn(&mut String, usize) + Sync) {
    let starts: Vec<usize> = (0..rows).step_by(ROWS).collect();
    let pieces = starts.into_par_iter().map(|start| {
        let mut text = String::new();
        (start..rows.min(start + ROWS)).for_each(|row| put_row(&mut text, row));
        text
    });
    pieces.collect::<Vec<_>>().iter().for_each(|piece| out.extend_from_slice(piece.as_bytes()));
}

/// The shortest digits that read back exactly.
pub(super) fn put_number(text: &mut String, number: f32) {
    // Writing to a string cannot fail.
    let _ = write!(text, "{number:?}");
}
