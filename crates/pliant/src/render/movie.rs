//! Pictures as an endless GIF.

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use super::Picture;
use super::palette::Palette;

/// Differences of a channel up to this are not redrawn.
const UNSEEN: u8 = 2;
/// Palette index that leaves a pixel as it was.
const UNCHANGED: u8 = 255;

/// A movie under way: only what changes is stored, with the best colours for it.
pub struct GifMovie {
    encoder: Encoder<Vec<u8>>,
    width: u16,
    height: u16,
    fps: f64,
    frames: u32,
    /// What the pixels on screen were drawn from.
    shown: Vec<u8>,
}

impl GifMovie {
    /// A movie of `size` pixels. GIF counts time in hundredths of a second and players slow down below two of them:
    /// at most 50 frames a second.
    pub fn new(size: [u32; 2], fps: f64) -> GifMovie {
        let [width, height] = size.map(|n| n.clamp(1, 8192) as u16);
        let mut encoder =
            Encoder::new(Vec::new(), width, height, &[]).expect("writing to memory does not fail");
        encoder.set_repeat(Repeat::Infinite).expect("writing to memory does not fail");
        let fps = if fps.is_finite() { fps.clamp(0.1, 50.0) } else { 25.0 };
        GifMovie { encoder, width, height, fps, frames: 0, shown: Vec::new() }
    }

    /// Adds a frame. A picture of another size than the movie is cut, or continued with its last row and column.
    pub fn push(&mut self, picture: &Picture) {
        if picture.width == 0 || picture.height == 0 {
            return;
        }
        let next = self.fitted(picture);
        let changed = |k: usize| {
            let (old, new) = (&self.shown[k * 3..k * 3 + 3], &next[k * 3..k * 3 + 3]);
            old.iter().zip(new).any(|(a, b)| a.abs_diff(*b) > UNSEEN)
        };
        let pixels = usize::from(self.width) * usize::from(self.height);
        let changed: Vec<bool> =
            if self.shown.is_empty() { vec![true; pixels] } else { (0..pixels).map(changed).collect() };
        let frame = self.changed_part(&next, &changed);
        self.encoder.write_frame(&frame).expect("a frame inside the movie, written to memory");
        self.frames += 1;
        if self.shown.is_empty() {
            self.shown = next;
        } else {
            for k in (0..pixels).filter(|&k| changed[k]) {
                self.shown[k * 3..k * 3 + 3].copy_from_slice(&next[k * 3..k * 3 + 3]);
            }
        }
    }

    /// The bytes of the GIF file.
    pub fn finish(self) -> Vec<u8> {
        self.encoder.into_inner().expect("writing to memory does not fail")
    }

    fn fitted(&self, picture: &Picture) -> Vec<u8> {
        let (width, height) = (u32::from(self.width), u32::from(self.height));
        if (picture.width, picture.height) == (width, height) {
            return picture.rgb.clone();
        }
        let mut rgb = Vec::with_capacity((width * height * 3) as usize);
        for y in 0..height {
            for x in 0..width {
                let (x, y) = (x.min(picture.width - 1) as usize, y.min(picture.height - 1) as usize);
                let at = (y * picture.width as usize + x) * 3;
                rgb.extend_from_slice(&picture.rgb[at..at + 3]);
            }
        }
        rgb
    }

    /// The smallest rectangle that holds all changed pixels; at least one pixel, so that time passes.
    fn changed_part(&self, next: &[u8], changed: &[bool]) -> Frame<'static> {
        let width = usize::from(self.width);
        let rows: Vec<usize> = (0..changed.len()).filter(|&k| changed[k]).map(|k| k / width).collect();
        let columns = || (0..changed.len()).filter(|&k| changed[k]).map(|k| k % width);
        let (top, bottom) = (rows.first().map_or(0, |r| *r), rows.last().map_or(0, |r| *r));
        let (left, right) = (columns().min().unwrap_or(0), columns().max().unwrap_or(0));

        let color = |k: usize| [next[k * 3], next[k * 3 + 1], next[k * 3 + 2]];
        let palette = Palette::new((0..changed.len()).filter(|&k| changed[k]).map(color), 255);
        let mut buffer = Vec::with_capacity((bottom - top + 1) * (right - left + 1));
        for y in top..=bottom {
            for k in y * width + left..=y * width + right {
                buffer.push(if changed[k] { palette.index_of(color(k)) } else { UNCHANGED });
            }
        }
        let mut colors = palette.colors.concat();
        colors.resize(256 * 3, 0);
        // Rounded times, not rounded delays: the movie keeps its pace.
        let until = |frame: u32| (100.0 * f64::from(frame) / self.fps).round();
        Frame {
            delay: (until(self.frames + 1) - until(self.frames)) as u16,
            dispose: DisposalMethod::Keep,
            transparent: Some(UNCHANGED),
            top: top as u16,
            left: left as u16,
            width: (right - left + 1) as u16,
            height: (bottom - top + 1) as u16,
            palette: Some(colors),
            buffer: buffer.into(),
            ..Frame::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(square_at: usize) -> Picture {
        let mut rgb = vec![220; 40 * 30 * 3];
        for y in 10..15 {
            for x in square_at..square_at + 5 {
                rgb[(y * 40 + x) * 3..][..3].copy_from_slice(&[200, 40, 60]);
            }
        }
        Picture { width: 40, height: 30, rgb }
    }

    /// What a player shows after each frame, and the delays.
    fn played(bytes: &[u8]) -> (Vec<Vec<u8>>, Vec<u16>) {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(bytes).unwrap();
        let width = usize::from(decoder.width());
        let mut screen = vec![0; width * usize::from(decoder.height()) * 3];
        let (mut screens, mut delays) = (Vec::new(), Vec::new());
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            for (k, pixel) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, p)| p[3] > 0) {
                let x = usize::from(frame.left) + k % usize::from(frame.width);
                let y = usize::from(frame.top) + k / usize::from(frame.width);
                screen[(y * width + x) * 3..][..3].copy_from_slice(&pixel[..3]);
            }
            screens.push(screen.clone());
            delays.push(frame.delay);
        }
        (screens, delays)
    }

    #[test]
    fn a_movie_plays_the_pictures_it_was_given() {
        let mut movie = GifMovie::new([40, 30], 30.0);
        let pictures: Vec<Picture> = [3, 3, 8, 20, 20, 35].map(picture).into();
        for picture in &pictures {
            movie.push(picture);
        }
        let (screens, delays) = played(&movie.finish());
        assert_eq!(screens.len(), pictures.len());
        for (screen, picture) in screens.iter().zip(&pictures) {
            assert!(screen == &picture.rgb);
        }
        // 6 frames at 30 a second: 0.2 s, whatever the rounding
        assert_eq!(delays.iter().sum::<u16>(), 20);
    }

    #[test]
    fn a_still_movie_is_small() {
        let size_of = |frames| {
            let mut movie = GifMovie::new([40, 30], 25.0);
            (0..frames).for_each(|_| movie.push(&picture(3)));
            movie.finish().len()
        };
        let per_frame = (size_of(21) - size_of(1)) / 20;
        // a palette and a pixel
        assert!(per_frame < 900, "{per_frame} bytes a frame");
    }

    #[test]
    fn pictures_of_other_sizes_are_cut_or_continued() {
        let mut movie = GifMovie::new([20, 50], 25.0);
        movie.push(&picture(3));
        movie.push(&Picture { width: 0, height: 0, rgb: vec![] });
        assert_eq!(played(&movie.finish()).0.len(), 1);
    }
}
