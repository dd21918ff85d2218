//! Writing on pictures with the stroke letters of [`super::font`].

use glam::{Vec2, vec2};

use super::Picture;
use super::font::{BASE_LINE, CAPITAL_HEIGHT, glyph};

/// Space between letters, in units of the font's grid.
const LETTER_SPACE: f32 = 1.75;
const HALO: [u8; 3] = [250, 251, 252];

/// How text is written.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    /// Height of capitals [pixels].
    pub size: f32,
    /// Width of the strokes [pixels].
    pub weight: f32,
    pub color: [u8; 3],
}

impl Pen {
    fn unit(&self) -> f32 {
        self.size / CAPITAL_HEIGHT
    }

    pub fn width_of(&self, text: &str) -> f32 {
        let letters = text.chars().map(|c| glyph(c).0 + LETTER_SPACE).sum::<f32>();
        (letters - LETTER_SPACE).max(0.0) * self.unit()
    }

    /// The text, or as much of its beginning as fits with three dots.
    pub fn shortened(&self, text: &str, width: f32) -> String {
        let mut text = text.to_string();
        if self.width_of(&text) > width {
            while !text.is_empty() && self.width_of(&format!("{text}...")) > width {
                text.pop();
            }
            text.push_str("...");
        }
        text
    }

    /// Writes with the base line's left end at `at`, over a soft light halo.
    pub fn write(&self, picture: &mut Picture, text: &str, at: Vec2) {
        let half = 0.5 * self.weight;
        let reach = 0.28 * self.size;
        // All of the halo lies below all of the ink.
        self.trace(picture, text, at, half + reach, |d| {
            (HALO, 0.5 * (1.0 - (d - half) / reach).clamp(0.0, 1.0))
        });
        self.trace(picture, text, at, half + 0.5, |d| (self.color, (half + 0.5 - d).clamp(0.0, 1.0)));
    }

    /// Blends each pixel within `reach` of a stroke by its distance.
    fn trace(
        &self,
        picture: &mut Picture,
        text: &str,
        at: Vec2,
        reach: f32,
        ink: impl Fn(f32) -> ([u8; 3], f32),
    ) {
        let mut left = at.x;
        for letter in text.chars() {
            let (width, strokes) = glyph(letter);
            let place = |p: Vec2| vec2(left, at.y) + self.unit() * vec2(p.x, BASE_LINE - p.y);
            let segments: Vec<[Vec2; 2]> =
                strokes.split(' ').filter(|s| !s.is_empty()).flat_map(|s| segments(s, place)).collect();
            let low = segments.iter().flatten().fold(Vec2::MAX, |a, p| a.min(*p)) - reach;
            let high = segments.iter().flatten().fold(Vec2::MIN, |a, p| a.max(*p)) + reach;
            for y in pixels(low.y, high.y, picture.height) {
                for x in pixels(low.x, high.x, picture.width) {
                    let p = vec2(x as f32 + 0.5, y as f32 + 0.5);
                    let d = segments.iter().map(|s| distance(p, s)).fold(f32::MAX, f32::min);
                    if d < reach {
                        let (color, share) = ink(d);
                        blend(picture, x, y, color, share);
                    }
                }
            }
            left += (width + LETTER_SPACE) * self.unit();
        }
    }
}

/// A rectangle with round corners, smoothed at its edge.
pub fn fill_rectangle(
    picture: &mut Picture,
    low: Vec2,
    high: Vec2,
    round: f32,
    color: [u8; 3],
    opacity: f32,
) {
    let (center, half) = (0.5 * (low + high), 0.5 * (high - low));
    for y in pixels(low.y - 1.0, high.y + 1.0, picture.height) {
        for x in pixels(low.x - 1.0, high.x + 1.0, picture.width) {
            let q = (vec2(x as f32 + 0.5, y as f32 + 0.5) - center).abs() - (half - round);
            let d = q.max(Vec2::ZERO).length() + q.max_element().min(0.0) - round;
            blend(picture, x, y, color, opacity * (0.5 - d).clamp(0.0, 1.0));
        }
    }
}

/// Pixels of one axis between two places, inside the picture.
fn pixels(low: f32, high: f32, end: u32) -> std::ops::Range<u32> {
    // Casts from f32 saturate: an empty letter gives an empty range.
    (low.max(0.0) as u32).min(end)..(high.max(0.0).ceil() as u32).min(end)
}

fn blend(picture: &mut Picture, x: u32, y: u32, color: [u8; 3], share: f32) {
    let at = (y as usize * picture.width as usize + x as usize) * 3;
    for (old, new) in picture.rgb[at..at + 3].iter_mut().zip(color) {
        *old = (f32::from(*old) * (1.0 - share) + f32::from(new) * share + 0.5) as u8;
    }
}

fn segments(stroke: &str, place: impl Fn(Vec2) -> Vec2) -> Vec<[Vec2; 2]> {
    let digits = stroke.trim_start_matches('~').as_bytes();
    let points: Vec<Vec2> =
        digits.chunks_exact(2).map(|p| place(vec2(f32::from(p[0] - b'0'), f32::from(p[1] - b'0')))).collect();
    let path = if stroke.starts_with('~') { spline(&points) } else { points };
    match path[..] {
        [dot] => vec![[dot, dot]],
        _ => path.windows(2).map(|pair| [pair[0], pair[1]]).collect(),
    }
}

/// Points of the quadratic spline whose pieces meet midway between the inner points.
fn spline(points: &[Vec2]) -> Vec<Vec2> {
    const PIECES: usize = 6;
    let mut path = vec![points[0]];
    for k in 1..points.len() - 1 {
        let start = path[path.len() - 1];
        let end = if k + 2 == points.len() { points[k + 1] } else { 0.5 * (points[k] + points[k + 1]) };
        for step in 1..=PIECES {
            let t = step as f32 / PIECES as f32;
            path.push((1.0 - t) * (1.0 - t) * start + 2.0 * t * (1.0 - t) * points[k] + t * t * end);
        }
    }
    path
}

fn distance(p: Vec2, [a, b]: &[Vec2; 2]) -> f32 {
    let along = *b - *a;
    let t = (p - *a).dot(along) / along.length_squared().max(1e-12);
    p.distance(*a + t.clamp(0.0, 1.0) * along)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_inside_its_measured_width() {
        let mut picture = Picture { width: 300, height: 40, rgb: vec![255; 300 * 40 * 3] };
        let pen = Pen { size: 12.0, weight: 1.5, color: [0; 3] };
        let text = "Jelly cube (E = 50 kPa)";
        pen.write(&mut picture, text, vec2(20.0, 25.0));
        let dark: Vec<f32> =
            (0..300 * 40).filter(|k| picture.rgb[k * 3] < 128).map(|k| (k % 300) as f32).collect();
        assert!(dark.len() > 200);
        let width = pen.width_of(text);
        assert!(dark.iter().all(|&x| x > 18.0 && x < 22.0 + width), "text is {width} pixels wide");
    }

    #[test]
    fn long_text_is_shortened_to_fit() {
        let pen = Pen { size: 12.0, weight: 1.5, color: [0; 3] };
        let short = pen.shortened("a very long title that nobody can read", 100.0);
        assert!(short.ends_with("...") && pen.width_of(&short) <= 100.0);
        assert_eq!(pen.shortened("title", 100.0), "title");
    }

    #[test]
    fn writing_beyond_the_picture_is_harmless() {
        let mut picture = Picture { width: 3, height: 2, rgb: vec![9; 18] };
        let pen = Pen { size: 50.0, weight: 4.0, color: [0; 3] };
        for at in [vec2(-500.0, -500.0), vec2(500.0, 500.0), vec2(f32::NAN, 0.0)] {
            pen.write(&mut picture, "Ωx~", at);
        }
        assert_eq!(picture.rgb.len(), 18);
    }
}
