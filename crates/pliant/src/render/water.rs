//! How liquids look: a mirror at grazing views, a tinted window at steep ones.

use glam::Vec3A;

use super::colors::to_linear;
use super::levels::Ray;
use super::shade::{Sample, Stage, ambient, background};
use super::triangles::TriangleHit;

/// Refractive index of air over that of water.
const ETA: f32 = 1.0 / 1.33;
/// What of the light is mirrored at a steep view.
const STEEP: f32 = 0.02;
/// Mirrored light below this share is taken from the sky alone.
const FAINT: f32 = 0.05;
/// Surfaces that a ray passes inside the liquid at most.
const MOST_PASSED: usize = 6;
/// Brightness and sharpness of the key light's image.
const GLINT: f32 = 1.6;
const SHARPNESS: i32 = 160;

impl Stage<'_> {
    /// Light from the surface of a liquid:
    ///   (1 - R) (T L_behind + (1 - T) L_own) + R L_mirrored,
    /// R by Schlick's form of Fresnel's law, T = color^(way through the liquid / clear depth).
    pub(super) fn liquid_sample(&self, ray: &Ray, hit: &TriangleHit, index: u32) -> Sample {
        let touch = self.liquids.touch(hit);
        let d = ray.direction;
        let n = if touch.smooth_normal.dot(d) > 0.0 { -touch.smooth_normal } else { touch.smooth_normal };
        let cosine = (-n.dot(d)).clamp(0.0, 1.0);
        let mirrored = STEEP + (1.0 - STEEP) * (1.0 - cosine).powi(5);
        let at = ray.at(hit.t);
        let step = 1e-4 * self.camera.distance;

        let bent = ETA * d + (ETA * cosine - (1.0 - ETA * ETA * (1.0 - cosine * cosine)).sqrt()) * n;
        let below = Ray { origin: at - step * n, direction: bent.normalize_or(d), reach: f32::MAX };
        let behind = self.nearest(&below);
        let reach = behind.as_ref().map_or(f32::MAX, |(t, _)| *t);
        let way = self.way_through(&Ray { reach, ..below }, step);
        let color = to_linear(touch.color.to_array()).clamp(Vec3A::splat(0.01), Vec3A::splat(0.97));
        let clear = Vec3A::from(color.to_array().map(|c| c.powf(way / self.clear_depth)));

        let mut sample = self.shaded(&below, behind, index);
        sample.tint(clear * (1.0 - mirrored));
        sample.rest += (1.0 - mirrored) * (1.0 - clear) * color * ambient(n) * 1.35;
        let up = (d - 2.0 * d.dot(n) * n).normalize_or(n);
        sample.rest += mirrored * self.reflected(at + step * n, up, mirrored, index);
        let half = (self.key_direction - d).normalize_or_zero();
        sample.rest += GLINT * n.dot(half).max(0.0).powi(SHARPNESS);

        let liquid = self.liquids.mesh(touch.mesh).liquid;
        if liquid < 1.0 {
            let solid = self.lit(ray, &self.mesh_point(ray, hit.t, &touch, 0), index).light();
            sample.fade(1.0 - liquid, solid);
        }
        sample
    }

    fn reflected(&self, origin: Vec3A, direction: Vec3A, share: f32, index: u32) -> Vec3A {
        if share < FAINT {
            return background(direction);
        }
        let ray = Ray { origin, direction, reach: f32::MAX };
        self.shaded(&ray, self.nearest(&ray), index).light()
    }

    /// Length of the ray inside the liquid, in which it starts.
    fn way_through(&self, ray: &Ray, step: f32) -> f32 {
        let (mut way, mut from, mut inside) = (0.0, 0.0, true);
        for _ in 0..MOST_PASSED {
            let rest = Ray { origin: ray.at(from), reach: ray.reach - from, ..*ray };
            let Some(hit) = self.liquids.first_hit(&rest) else { break };
            if inside {
                way += hit.t;
            }
            (from, inside) = (from + hit.t + step, !inside);
        }
        let open_end = inside && ray.reach < f32::MAX;
        way + if open_end { (ray.reach - from).max(0.0) } else { 0.0 }
    }
}
