//! The best few colours for many pixels: boxes of colour space, split where they vary most.

/// Bits a channel by which colours are told apart.
const BITS: u32 = 6;
const CELLS: usize = 1 << (3 * BITS);

/// Colours for some pixels, and the nearest of them for each.
pub struct Palette {
    pub colors: Vec<[u8; 3]>,
    /// By colour cell; meaningful for cells of pixels the palette was made from.
    index: Vec<u8>,
}

/// Pixels of one cell.
#[derive(Clone, Copy)]
struct Group {
    cell: u32,
    count: f64,
    mean: [f64; 3],
}

impl Palette {
    /// At most `most` colours (up to 255), learned from the pixels.
    pub fn new(pixels: impl Iterator<Item = [u8; 3]>, most: usize) -> Palette {
        let mut groups = groups(pixels);
        let mut boxes: Vec<(std::ops::Range<usize>, Spread)> = Vec::new();
        if !groups.is_empty() {
            boxes.push((0..groups.len(), Spread::of(&groups)));
        }
        while boxes.len() < most.min(255) {
            let worst = (0..boxes.len()).max_by(|&a, &b| boxes[a].1.badness.total_cmp(&boxes[b].1.badness));
            let Some(k) = worst.filter(|&k| boxes[k].1.badness > 0.0) else { break };
            let (range, spread) = boxes[k].clone();
            let part = &mut groups[range.clone()];
            part.sort_unstable_by(|a, b| {
                a.mean[spread.axis].total_cmp(&b.mean[spread.axis]).then(a.cell.cmp(&b.cell))
            });
            let below = part.partition_point(|g| g.mean[spread.axis] < spread.mean[spread.axis]);
            let middle = range.start + below.clamp(1, part.len() - 1);
            boxes[k] = (range.start..middle, Spread::of(&groups[range.start..middle]));
            boxes.push((middle..range.end, Spread::of(&groups[middle..range.end])));
        }
        let mut index = vec![0; CELLS];
        let mut colors = Vec::with_capacity(boxes.len());
        for (k, (range, spread)) in (0u8..=255).zip(boxes) {
            colors.push(spread.mean.map(|c| c.round() as u8));
            for group in &groups[range] {
                index[group.cell as usize] = k;
            }
        }
        Palette { colors, index }
    }

    pub fn index_of(&self, color: [u8; 3]) -> u8 {
        self.index[cell_of(color)]
    }
}

fn cell_of(color: [u8; 3]) -> usize {
    color.iter().fold(0, |cell, c| cell << BITS | usize::from(c >> (8 - BITS)))
}

fn groups(pixels: impl Iterator<Item = [u8; 3]>) -> Vec<Group> {
    let mut sums = vec![[0u32; 4]; CELLS];
    for color in pixels {
        let sum = &mut sums[cell_of(color)];
        sum[3] += 1;
        for (s, c) in sum.iter_mut().zip(color) {
            *s += u32::from(c);
        }
    }
    (0u32..)
        .zip(sums)
        .filter(|(_, sum)| sum[3] > 0)
        .map(|(cell, [r, g, b, count])| {
            let count = f64::from(count);
            Group { cell, count, mean: [r, g, b].map(|s| f64::from(s) / count) }
        })
        .collect()
}

/// How the colours of a box are spread.
#[derive(Clone)]
struct Spread {
    mean: [f64; 3],
    axis: usize,
    /// Variance along the axis, weighted by the square root of the pixels, so that small things keep their colours.
    badness: f64,
}

impl Spread {
    fn of(groups: &[Group]) -> Spread {
        let count: f64 = groups.iter().map(|g| g.count).sum();
        let mean: [f64; 3] =
            std::array::from_fn(|c| groups.iter().map(|g| g.count * g.mean[c]).sum::<f64>() / count);
        let variance: [f64; 3] = std::array::from_fn(|c| {
            groups.iter().map(|g| g.count * (g.mean[c] - mean[c]).powi(2)).sum::<f64>() / count
        });
        let axis = (0..3).max_by(|&a, &b| variance[a].total_cmp(&variance[b])).unwrap_or(0);
        let badness = if groups.len() < 2 { 0.0 } else { variance[axis] * count.sqrt() };
        Spread { mean, axis, badness }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_as_they_are() {
        let colors = [[0, 0, 0], [255, 255, 255], [200, 30, 40], [20, 90, 200]];
        let palette = Palette::new((0..1000).map(|k| colors[k % 4]), 255);
        assert_eq!(palette.colors.len(), 4);
        for color in colors {
            assert_eq!(palette.colors[usize::from(palette.index_of(color))], color);
        }
    }

    #[test]
    fn many_colours_are_met_closely() {
        let ramp = || (0..4096u32).map(|k| [(k / 16) as u8, (k / 32) as u8, 255 - (k / 16) as u8]);
        let palette = Palette::new(ramp(), 255);
        for color in ramp() {
            let met = palette.colors[usize::from(palette.index_of(color))];
            let error = color.iter().zip(met).map(|(a, b)| a.abs_diff(b)).max().unwrap();
            // two cells of four values
            assert!(error <= 8, "{color:?} became {met:?}");
        }
    }
}
