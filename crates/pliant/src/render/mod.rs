//! Pictures without a GPU: balls and obstacles under a soft light, drawn by casting rays.
//!
//! A picture is a function of its input alone: every ray's jitter is a function of its pixel, so any number of threads
//! draws the same bytes, and a still part of a scene stays still in a movie.

mod colors;
mod encode;
mod font;
mod levels;
mod movie;
mod mp4;
mod overlay;
mod palette;
mod shade;
mod solids;
mod text;
mod tree;
mod triangles;
mod view;
mod water;

use rayon::prelude::*;

use crate::geometry::Pose;
use crate::rigid::RigidShape;
use colors::Screen;
use shade::{Cast, NO_SURFACE, Sample, Stage};
use solids::Obstacles;
use tree::BallTree;
use triangles::TriangleTree;

pub use colors::colormap;
pub use encode::encode_png;
pub use movie::GifMovie;
pub use mp4::Mp4Movie;
pub use overlay::{Legend, Overlay};
pub use view::{View, fit_view};

/// A picture: sRGB bytes, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub rgb: Vec<u8>,
}

/// A particle as drawn. Balls with a non-finite value or no size are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    pub center: [f32; 3],
    /// About 0.55 particle spacings make a body look closed.
    pub radius: f32,
    /// sRGB, 0..1.
    pub color: [f32; 3],
}

/// A surface as drawn. Triangles with vertices that are not there or unsound are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    pub positions: Vec<[f32; 3]>,
    /// Of unit length, outward.
    pub normals: Vec<[f32; 3]>,
    /// sRGB, 0..1.
    pub colors: Vec<[f32; 3]>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// How much it looks like a liquid, from 0 to 1.
    pub liquid: f32,
}

/// An obstacle as drawn: planes are floors that fade into the distance, containers are floor, edges and thin glass.
/// Planes are seen from outside only, so that they never hide the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    pub shape: RigidShape,
    pub pose: Pose,
    /// sRGB, 0..1; grey if not given. Planes and containers keep their own.
    pub color: Option<[f32; 3]>,
}

/// Draws a picture.
pub fn render(view: &View, balls: &[Ball], meshes: &[Mesh], solids: &[Solid], overlay: &Overlay) -> Picture {
    let [width, height] = view.size();
    let samples = view.samples.clamp(1, 8);
    let stage = Stage::new(view::Camera::new(view), cast(balls, meshes, solids), 16 * samples * samples);
    // Strips bound the memory of large pictures.
    let strip = (4_000_000 / width as usize).max(64);
    let mut picture = Picture { width, height, rgb: draw(&stage, [width, height], samples, strip) };
    overlay::draw(&mut picture, overlay);
    picture
}

fn cast<'a>(balls: &[Ball], meshes: &'a [Mesh], solids: &[Solid]) -> Cast<'a> {
    let (liquids, skins) = meshes.iter().partition(|mesh| mesh.liquid > 0.0);
    Cast {
        balls: BallTree::new(balls),
        obstacles: Obstacles::new(solids),
        skins: TriangleTree::new(skins),
        liquids: TriangleTree::new(liquids),
    }
}

/// The bytes of a picture, drawn by `strip` rows at a time, each with the rows its smoothing looks at.
fn draw(stage: &Stage, size: [u32; 2], samples: u32, strip: usize) -> Vec<u8> {
    let [width, height] = size.map(|n| n as usize);
    let screen = Screen::new();
    let mut rgb = vec![0; width * height * 3];
    for (index, bytes) in rgb.chunks_mut(strip * width * 3).enumerate() {
        let first = index * strip;
        let last = first + bytes.len() / (width * 3);
        let rows = first.saturating_sub(SMOOTHING_RADIUS)..(last + SMOOTHING_RADIUS).min(height);
        let pixels = Pixels::draw(stage, rows, width, samples);
        bytes.par_chunks_mut(width * 3).enumerate().for_each(|(row, bytes)| {
            for (x, out) in bytes.chunks_exact_mut(3).enumerate() {
                out.copy_from_slice(&screen.bytes(pixels.smoothed(x, first + row)));
            }
        });
    }
    rgb
}

/// Pixels over which visibilities are smoothed, to each side: the window holds all rays of a four by four block.
const SMOOTHING_RADIUS: usize = 2;

/// The mean samples of some rows.
struct Pixels {
    rows: std::ops::Range<usize>,
    width: usize,
    samples: Vec<Sample>,
}

impl Pixels {
    fn draw(stage: &Stage, rows: std::ops::Range<usize>, width: usize, per_side: u32) -> Pixels {
        let mut samples = Vec::new();
        (0..rows.len() * width)
            .into_par_iter()
            .with_min_len(64)
            .map(|k| pixel(stage, k % width, rows.start + k / width, per_side))
            .collect_into_vec(&mut samples);
        Pixels { rows, width, samples }
    }

    /// Light of a pixel, its visibilities averaged over near pixels of the same surface.
    fn smoothed(&self, x: usize, y: usize) -> glam::Vec3A {
        let row = |y: usize| &self.samples[(y - self.rows.start) * self.width..][..self.width];
        let here = &row(y)[x];
        if here.surface == NO_SURFACE {
            return here.rest;
        }
        let (mut key_seen, mut sky_seen, mut weight) = (0.0, 0.0, 0.0);
        let around = |at: usize| at.saturating_sub(SMOOTHING_RADIUS)..at + SMOOTHING_RADIUS + 1;
        for v in around(y).start.max(self.rows.start)..around(y).end.min(self.rows.end) {
            for u in around(x).start..around(x).end.min(self.width) {
                let sample = &row(v)[u];
                if sample.surface == here.surface && sample.normal.dot(here.normal) > 0.9 {
                    // The ends of the window count half: it then holds each of the sixteen patterns once.
                    let end = |a: usize, b: usize| if a.abs_diff(b) == SMOOTHING_RADIUS { 0.5 } else { 1.0 };
                    let w = end(u, x) * end(v, y);
                    key_seen += w * sample.key_seen;
                    sky_seen += w * sample.sky_seen;
                    weight += w;
                }
            }
        }
        if weight == 0.0 {
            return here.light();
        }
        Sample { key_seen: key_seen / weight, sky_seen: sky_seen / weight, ..*here }.light()
    }
}

/// Mean of the samples of a pixel. Samples of several surfaces are summed to plain light.
fn pixel(stage: &Stage, x: usize, y: usize, per_side: u32) -> Sample {
    /// Order in which the pixels of a four by four block take their rays: neighbours take distant ones.
    const BLOCK: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    let count = per_side * per_side;
    let step = 1.0 / per_side as f32;
    let mut sum: Option<Sample> = None;
    let mut light = glam::Vec3A::ZERO;
    let mut single = true;
    for k in 0..count {
        let offset = |k: u32| (k as f32 + 0.5) * step;
        let ray = stage.camera.ray(x as f32 + offset(k % per_side), y as f32 + offset(k / per_side));
        let sample = stage.sample(&ray, BLOCK[y % 4][x % 4] * count + k);
        light += sample.light();
        match &mut sum {
            None => sum = Some(sample),
            Some(sum) => {
                single &= sum.surface == sample.surface;
                sum.add(&sample);
            }
        }
    }
    let mut mean = sum.expect("a pixel has at least one sample");
    mean.scale(1.0 / count as f32);
    if !single {
        mean = Sample { rest: light / count as f32, surface: NO_SURFACE, ..mean };
    }
    mean
}

#[cfg(test)]
mod tests;
