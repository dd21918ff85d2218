//! Colours: the palette of bodies, the map of field values, and the way from light to screen.
//!
//! Colours of the door (balls, palette, map) are sRGB in 0..1, as in scene files; light is summed in linear values.

use glam::Vec3A;

/// Knots of the field map, dark indigo to pale yellow: lightness grows evenly from L* = 14 to 93.
const MAP: [[f32; 3]; 9] = [
    [0.188, 0.071, 0.320],
    [0.226, 0.171, 0.459],
    [0.171, 0.309, 0.514],
    [0.112, 0.435, 0.535],
    [0.119, 0.559, 0.504],
    [0.298, 0.673, 0.411],
    [0.554, 0.767, 0.283],
    [0.801, 0.846, 0.274],
    [0.988, 0.933, 0.455],
];

/// Colour of a field value, sRGB 0..1; t = 0 is the least, t = 1 the greatest value, NaN is grey.
pub fn colormap(t: f32) -> [f32; 3] {
    if t.is_nan() {
        return [0.5; 3];
    }
    let at = t.clamp(0.0, 1.0) * (MAP.len() - 1) as f32;
    let k = (at as usize).min(MAP.len() - 2);
    let f = at - k as f32;
    std::array::from_fn(|c| MAP[k][c] + f * (MAP[k + 1][c] - MAP[k][c]))
}

/// Linear light of an sRGB value.
pub fn to_linear(color: [f32; 3]) -> Vec3A {
    Vec3A::from(color.map(|c| {
        let c = c.clamp(0.0, 1.0);
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    }))
}

/// Table from linear light, tone curve applied, to sRGB bytes.
pub struct Screen {
    table: Vec<u8>,
}

impl Screen {
    /// Light at which the table ends; the curve is flat there.
    const BRIGHTEST: f32 = 4.0;
    const STEPS: usize = 1 << 15;

    pub fn new() -> Screen {
        let byte = |k: usize| {
            let light = k as f32 / Screen::STEPS as f32 * Screen::BRIGHTEST;
            (to_srgb(tone(light)) * 255.0 + 0.5) as u8
        };
        Screen { table: (0..=Screen::STEPS).map(byte).collect() }
    }

    pub fn bytes(&self, light: Vec3A) -> [u8; 3] {
        // A NaN becomes zero in the cast.
        light.to_array().map(|c| {
            let at = (c / Screen::BRIGHTEST).clamp(0.0, 1.0) * Screen::STEPS as f32;
            self.table[at as usize]
        })
    }
}

/// Tone curve: as it is up to the knee, then a soft shoulder that reaches one only at infinity.
fn tone(light: f32) -> f32 {
    const KNEE: f32 = 0.7;
    if light <= KNEE {
        light
    } else {
        let room = 1.0 - KNEE;
        KNEE + room * (1.0 - (-(light - KNEE) / room).exp())
    }
}

fn to_srgb(c: f32) -> f32 {
    if c <= 0.0031308 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lightness(color: [f32; 3]) -> f32 {
        let y = to_linear(color).dot(Vec3A::new(0.2126, 0.7152, 0.0722));
        116.0 * y.cbrt() - 16.0
    }

    #[test]
    fn the_map_grows_lighter_in_even_steps() {
        let steps: Vec<f32> = (0..8)
            .map(|k| lightness(colormap((k + 1) as f32 / 8.0)) - lightness(colormap(k as f32 / 8.0)))
            .collect();
        let mean = steps.iter().sum::<f32>() / 8.0;
        for step in &steps {
            assert!((step - mean).abs() < 0.25 * mean, "steps of lightness {steps:?}");
        }
    }

    #[test]
    fn values_beyond_the_ends_keep_the_end_colours() {
        assert_eq!(colormap(-3.0), colormap(0.0));
        assert_eq!(colormap(f32::INFINITY), colormap(1.0));
        assert!(colormap(f32::NAN).iter().all(|c| c.is_finite()));
    }

    #[test]
    fn the_screen_gives_back_the_colours_of_dim_light() {
        let screen = Screen::new();
        for v in 10..=200u8 {
            let color = [f32::from(v) / 255.0; 3];
            let [r, _, _] = screen.bytes(to_linear(color));
            // half a step of the table, and the rounding of the byte
            assert!(r.abs_diff(v) <= 1, "{v} became {r}");
        }
    }
}
