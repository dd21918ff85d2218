//! Words on a picture: title, time, and what the colours mean.

use glam::vec2;

use super::Picture;
use super::colors::colormap;
use super::text::{Pen, fill_rectangle};

/// What is written on a picture; the default writes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    pub title: String,
    /// Simulated time [s].
    pub time: Option<f64>,
    /// Meaning of the colours of [`colormap`].
    pub legend: Option<Legend>,
    /// Names of bodies with their colours, sRGB 0..1.
    pub names: Vec<(String, [f32; 3])>,
}

/// A colour bar: `min` has the colour of `colormap(0)`, `max` that of `colormap(1)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    pub label: String,
    /// Written after the label, with a prefix such as k or M where the values call for one; empty for none.
    pub unit: String,
    pub min: f64,
    pub max: f64,
}

const INK: [u8; 3] = [38, 46, 58];
const SOFT_INK: [u8; 3] = [74, 84, 98];

/// Sizes of the overlay for a picture of some size.
struct Layout {
    /// Pixels per pixel of a 640x360 picture.
    scale: f32,
    margin: f32,
    width: f32,
    height: f32,
}

pub fn draw(picture: &mut Picture, overlay: &Overlay) {
    let (width, height) = (picture.width as f32, picture.height as f32);
    let scale = (width / 640.0).min(height / 360.0).max(0.75);
    let layout = Layout { scale, margin: 16.0 * scale, width, height };
    let used = overlay.time.map_or(0.0, |time| layout.write_time(picture, time));
    let title = layout.pen(11.0, 1.65, INK);
    let text = title.shortened(&overlay.title, width - 3.0 * layout.margin - used);
    if !overlay.title.is_empty() {
        title.write(picture, &text, vec2(layout.margin, layout.margin + title.size));
    }
    if let Some(legend) = &overlay.legend {
        layout.draw_legend(picture, legend);
    }
    layout.draw_names(picture, &overlay.names, overlay.legend.is_some());
}

impl Layout {
    fn pen(&self, size: f32, weight: f32, color: [u8; 3]) -> Pen {
        Pen { size: size * self.scale, weight: weight * self.scale, color }
    }

    /// Time at the upper right; the width it takes.
    fn write_time(&self, picture: &mut Picture, time: f64) -> f32 {
        let pen = self.pen(9.0, 1.3, SOFT_INK);
        let text = format!("t = {time:.2} s");
        let width = pen.width_of(&text);
        pen.write(picture, &text, vec2(self.width - self.margin - width, self.margin + 11.0 * self.scale));
        width
    }

    /// Colour bar at the lower left: label above, ticks and values below.
    fn draw_legend(&self, picture: &mut Picture, legend: &Legend) {
        let s = self.scale;
        let (label_pen, tick_pen) = (self.pen(8.0, 1.2, INK), self.pen(7.0, 1.05, SOFT_INK));
        let bar = vec2(170.0 * s, 9.0 * s).min(vec2((self.width - 2.0 * self.margin).max(8.0), self.height));
        let low = vec2(self.margin, self.height - self.margin - 14.0 * s - bar.y);
        let (factor, unit) = prefixed(legend);
        let label = if unit.is_empty() { legend.label.clone() } else { format!("{} [{unit}]", legend.label) };
        let label = label_pen.shortened(&label, self.width - 2.0 * self.margin);
        label_pen.write(picture, &label, vec2(low.x, low.y - 6.5 * s));

        let frame = vec2(s, s);
        fill_rectangle(picture, low - frame, low + bar + frame, 2.0 * s, INK, 0.8);
        let columns = bar.x.round() as u32;
        for k in 0..columns {
            let color = colormap((k as f32 + 0.5) / columns as f32).map(|c| (c * 255.0 + 0.5) as u8);
            let x = low.x + bar.x * k as f32 / columns as f32;
            fill_rectangle(
                picture,
                vec2(x, low.y),
                vec2(x + bar.x / columns as f32, low.y + bar.y),
                0.0,
                color,
                1.0,
            );
        }
        for k in 0..=4u8 {
            let t = f32::from(k) / 4.0;
            let x = low.x + t * bar.x;
            let below = low.y + bar.y + s;
            let half = 0.5 * s.max(1.0);
            fill_rectangle(picture, vec2(x - half, below), vec2(x + half, below + 3.0 * s), 0.0, INK, 0.8);
            if k % 2 == 0 {
                let value = number((legend.min + f64::from(t) * (legend.max - legend.min)) * factor);
                // Ends stand flush with the bar, the middle is centred.
                let x = x - t * tick_pen.width_of(&value);
                tick_pen.write(picture, &value, vec2(x, below + 6.0 * s + tick_pen.size));
            }
        }
    }

    /// Names with swatches, upwards from the lower left, or from the lower right beside a legend.
    fn draw_names(&self, picture: &mut Picture, names: &[(String, [f32; 3])], at_right: bool) {
        let s = self.scale;
        let pen = self.pen(8.0, 1.2, INK);
        let (line, swatch) = (16.0 * s, 9.0 * s);
        let room = ((self.height - 3.0 * self.margin) / line).max(1.0) as usize;
        let shown = if names.len() > room { room - 1 } else { names.len() };
        let mut lines: Vec<(String, Option<[f32; 3]>)> =
            names[..shown].iter().map(|(name, color)| (name.clone(), Some(*color))).collect();
        if shown < names.len() {
            lines.push((format!("and {} more", names.len() - shown), None));
        }
        let widest = 0.4 * self.width;
        for (text, _) in &mut lines {
            *text = pen.shortened(text, widest);
        }
        let width = lines.iter().map(|(text, _)| pen.width_of(text)).fold(0.0, f32::max);
        let left = if at_right { self.width - self.margin - width - swatch - 6.0 * s } else { self.margin };
        let count = lines.len();
        for (k, (text, color)) in lines.iter().enumerate() {
            let base = self.height - self.margin - (count - 1 - k) as f32 * line;
            if let Some(color) = color {
                let color = color.map(|c| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8);
                let low = vec2(left, base - swatch + 0.5 * s);
                fill_rectangle(picture, low, low + swatch, 2.5 * s, color, 1.0);
            }
            pen.write(picture, text, vec2(left + swatch + 6.0 * s, base));
        }
    }
}

/// Factor of the values and unit with its prefix, so that the greatest value lies between 0.1 and 1000 or so.
fn prefixed(legend: &Legend) -> (f64, String) {
    let greatest = legend.min.abs().max(legend.max.abs());
    let prefixes = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "\u{b5}")];
    let plain = legend.unit.is_empty() || (0.05..2000.0).contains(&greatest) || !greatest.is_finite();
    let found = prefixes.iter().find(|(size, _)| greatest >= *size);
    match found {
        Some((size, prefix)) if !plain => (1.0 / size, format!("{prefix}{}", legend.unit)),
        _ => (1.0, legend.unit.clone()),
    }
}

/// A value in three digits, without needless zeros.
fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { format!("{value}") };
    }
    let power = value.abs().log10().floor() as i32;
    if !(-3..=4).contains(&power) {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.*}", (2 - power).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (1.0, "1"), (12.5, "12.5"), (0.0521, "0.0521"), (-340.0, "-340"), (3e7, "3.0e7")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn large_values_get_a_prefixed_unit() {
        let legend = |max, unit: &str| Legend { label: "stress".into(), unit: unit.into(), min: 0.0, max };
        assert_eq!(prefixed(&legend(25e3, "Pa")), (1e-3, "kPa".into()));
        assert_eq!(prefixed(&legend(3.2, "m/s")), (1.0, "m/s".into()));
        assert_eq!(prefixed(&legend(25e3, "")), (1.0, String::new()));
        assert_eq!(prefixed(&legend(0.0, "Pa")), (1.0, "Pa".into()));
    }

    #[test]
    fn tiny_pictures_and_wild_values_do_no_harm() {
        let overlay = Overlay {
            title: "a title longer than the picture".into(),
            time: Some(f64::NAN),
            legend: Some(Legend {
                label: "x".into(),
                unit: "Pa".into(),
                min: f64::NEG_INFINITY,
                max: f64::NAN,
            }),
            names: (0..50).map(|k| (format!("body {k}"), [f32::NAN; 3])).collect(),
        };
        for (width, height) in [(1, 1), (5, 300), (300, 5), (640, 360)] {
            let mut picture = Picture { width, height, rgb: vec![200; (width * height * 3) as usize] };
            draw(&mut picture, &overlay);
        }
    }
}
