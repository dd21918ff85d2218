//! Light on surfaces: a soft key light, a sky, and how much of each a point sees.

use glam::Vec3A;

use super::colors::to_linear;
use super::levels::Ray;
use super::solids::{Entry, Finish, Obstacles, Piece};
use super::tree::{BallHit, BallTree};
use super::triangles::{Touch, TriangleHit, TriangleTree};
use super::view::Camera;

/// Angular radius of the key light [rad].
const KEY_RADIUS: f32 = 0.10;
const KEY_COLOR: Vec3A = Vec3A::new(0.84, 0.80, 0.74);
const SKY_COLOR: Vec3A = Vec3A::new(0.43, 0.47, 0.53);
const BOUNCE_COLOR: Vec3A = Vec3A::new(0.30, 0.285, 0.27);
const HORIZON: Vec3A = Vec3A::new(0.735, 0.79, 0.855);
const ZENITH: Vec3A = Vec3A::new(0.40, 0.53, 0.70);
const LINE: [f32; 3] = [0.42, 0.46, 0.52];
const FLOOR: Vec3A = Vec3A::new(0.72, 0.72, 0.715);
/// Share of the shading normal that follows the matter around a ball instead of the ball.
const SMOOTHING: f32 = 0.62;

/// One sample of a pixel, kept in parts until its visibilities are smoothed:
/// light = rest + key * key_seen + sky * sky_seen.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub rest: Vec3A,
    pub key: Vec3A,
    pub sky: Vec3A,
    pub key_seen: f32,
    pub sky_seen: f32,
    /// The surface this is a sample of; `NO_SURFACE` for the background.
    pub surface: u32,
    pub normal: Vec3A,
}

pub const NO_SURFACE: u32 = u32::MAX;

/// Everything there is to draw.
pub struct Cast<'a> {
    pub balls: BallTree,
    pub obstacles: Obstacles,
    pub skins: TriangleTree<'a>,
    pub liquids: TriangleTree<'a>,
}

/// What a ray meets first, but for liquids.
#[derive(Clone, Copy)]
pub(super) enum Meeting {
    Ball(BallHit),
    Solid(usize, Entry),
    Skin(TriangleHit),
}

/// Everything a ray can meet, and the light.
pub struct Stage<'a> {
    pub camera: Camera,
    tree: BallTree,
    obstacles: Obstacles,
    skins: TriangleTree<'a>,
    pub(super) liquids: TriangleTree<'a>,
    /// Way through a liquid after which light has its colour.
    pub(super) clear_depth: f32,
    /// By slot of the tree: outward direction of the matter, scaled by how much it counts.
    outward: Vec<Vec3A>,
    /// By slot of the tree, linear.
    albedo: Vec<Vec3A>,
    /// Middle of the key light.
    pub(super) key_direction: Vec3A,
    /// Directions into the key light, by index of the ray.
    key_rays: Vec<Vec3A>,
    /// Directions into the half space over y = 0, cosine weighted, and how far matter dims them.
    sky_rays: Vec<(Vec3A, f32)>,
    tile: f32,
}

/// A point of a surface as the light sees it.
pub(super) struct Point {
    at: Vec3A,
    /// Normal of the surface itself.
    normal: Vec3A,
    /// Normal used for shading.
    shading_normal: Vec3A,
    albedo: Vec3A,
    gloss: f32,
    /// Share of the sky's light that reaches even hidden places, through the matter.
    scatter: f32,
    surface: u32,
}

impl<'a> Stage<'a> {
    /// `rays` is the number of rays of a four by four block of pixels.
    pub fn new(camera: Camera, cast: Cast<'a>, rays: u32) -> Stage<'a> {
        use rayon::prelude::*;
        let Cast { balls: tree, obstacles, skins, liquids } = cast;
        let outward = (0..tree.balls.len()).into_par_iter().with_min_len(256).map(|slot| {
            let n = tree.outward(slot, 4.2 * tree.balls[slot].radius);
            let length = n.length();
            if length < 1e-3 { Vec3A::ZERO } else { n / length * smoothstep(0.12, 0.36, length) }
        });
        let outward = outward.collect();
        let albedo = tree.balls.iter().map(|ball| to_linear(ball.color)).collect();

        // The key light stands to the left above the camera, whatever way the camera looks.
        let level_right = camera.right;
        let level_back = level_right.cross(Vec3A::Y).normalize_or(Vec3A::Z);
        let key_direction = (-0.62 * level_right + 1.05 * Vec3A::Y + 0.50 * level_back).normalize();
        let key_rays = (0..rays).map(|k| key_ray(key_direction, k)).collect();

        let lo = tree.lo.min(obstacles.lo).min(skins.lo).min(liquids.lo);
        let hi = tree.hi.max(obstacles.hi).max(skins.hi).max(liquids.hi);
        let extent = (hi - lo).length();
        let size = if extent.is_finite() { extent.min(2.0 * camera.distance) } else { camera.distance };
        let tile = round_number(camera.distance / 9.0);
        Stage {
            camera,
            tree,
            obstacles,
            clear_depth: (0.4 * (liquids.hi - liquids.lo).max_element()).min(0.3 * size).max(1e-6),
            skins,
            liquids,
            outward,
            albedo,
            key_direction,
            key_rays,
            sky_rays: (0..rays).map(|k| sky_ray(0.22 * size, k)).collect(),
            tile,
        }
    }

    /// Light along a ray of the camera; `index` counts the rays of a four by four block of pixels.
    pub fn sample(&self, ray: &Ray, index: u32) -> Sample {
        let nearest = self.nearest(ray);
        let reach = nearest.map_or(ray.reach, |(t, _)| t);
        let (mut sample, reach) = match self.liquids.first_hit(&Ray { reach, ..*ray }) {
            Some(hit) => (self.liquid_sample(ray, &hit, index), hit.t),
            None => (self.shaded(ray, nearest, index), reach),
        };
        if !self.obstacles.panes.is_empty() {
            let passed = self.obstacles.panes_passed(&Ray { reach, ..*ray });
            sample.fade(1.0 - 0.93f32.powi(passed), Vec3A::new(0.80, 0.87, 0.92));
        }
        sample
    }

    /// What the ray meets first, but for liquids, and where.
    pub(super) fn nearest(&self, ray: &Ray) -> Option<(f32, Meeting)> {
        let mut found = self.tree.first_hit(ray).map(|hit| (hit.t, Meeting::Ball(hit)));
        let reach = |found: &Option<(f32, Meeting)>| found.map_or(ray.reach, |(t, _)| t);
        if let Some(hit) = self.skins.first_hit(&Ray { reach: reach(&found), ..*ray }) {
            found = Some((hit.t, Meeting::Skin(hit)));
        }
        if let Some((piece, entry)) = self.obstacles.first_hit(&Ray { reach: reach(&found), ..*ray }) {
            found = Some((entry.t, Meeting::Solid(piece, entry)));
        }
        found
    }

    /// Light from what the ray meets.
    pub(super) fn shaded(&self, ray: &Ray, met: Option<(f32, Meeting)>, index: u32) -> Sample {
        match met {
            Some((_, Meeting::Solid(piece, entry))) => self.solid_sample(ray, piece, entry, index),
            Some((t, Meeting::Ball(hit))) => self.lit(ray, &self.ball_point(ray.at(t), hit.slot), index),
            Some((t, Meeting::Skin(hit))) => {
                let touch = self.skins.touch(&hit);
                self.lit(ray, &self.mesh_point(ray, t, &touch, 1 + touch.mesh), index)
            }
            None => Sample::unlit(background(ray.direction), NO_SURFACE),
        }
    }

    /// `number` tells the surfaces of meshes apart.
    pub(super) fn mesh_point(&self, ray: &Ray, t: f32, touch: &Touch, number: usize) -> Point {
        let side = if touch.normal.dot(ray.direction) > 0.0 { -1.0 } else { 1.0 };
        let normal = side * touch.normal;
        Point {
            at: ray.at(t) + normal * (1e-4 * self.camera.distance),
            normal,
            shading_normal: side * touch.smooth_normal,
            albedo: to_linear(touch.color.to_array()),
            gloss: 0.22,
            scatter: 0.1,
            surface: (self.obstacles.pieces.len() + self.tree.balls.len() + number) as u32,
        }
    }

    fn ball_point(&self, at: Vec3A, slot: usize) -> Point {
        let ball = &self.tree.balls[slot];
        let normal = (at - Vec3A::from(ball.center)) / ball.radius;
        let out = self.outward[slot];
        let weight = SMOOTHING * out.length();
        let shading_normal = (normal * (1.0 - weight) + out * SMOOTHING).normalize_or(normal);
        let surface = (self.obstacles.pieces.len() + slot) as u32;
        // Away from the ball by a rounding error of its place.
        let at = at + normal * (1e-3 * ball.radius);
        Point { at, normal, shading_normal, albedo: self.albedo[slot], gloss: 0.22, scatter: 0.3, surface }
    }

    fn solid_sample(&self, ray: &Ray, index: usize, entry: Entry, count: u32) -> Sample {
        let piece = &self.obstacles.pieces[index];
        let at = ray.at(entry.t) + entry.normal * (2e-5 * (entry.t + self.camera.distance));
        let normal = entry.normal;
        let (albedo, gloss) = match piece.finish {
            Finish::Line => return Sample::unlit(to_linear(LINE), index as u32),
            Finish::Stone(color) => (to_linear(color), 0.10),
            Finish::Floor => (FLOOR * self.checker(piece, ray, &entry), 0.0),
        };
        let point =
            Point { at, normal, shading_normal: normal, albedo, gloss, scatter: 0.0, surface: index as u32 };
        if !piece.is_endless() {
            return self.lit(ray, &point, count);
        }
        // Endless floors fade into the background.
        let away = (at - self.camera.look_at).length() / self.camera.distance;
        let fade = smoothstep(0.8, 4.5, away);
        let haze = background(ray.direction);
        if fade >= 1.0 {
            return Sample::unlit(haze, NO_SURFACE);
        }
        let mut sample = self.lit(ray, &point, count);
        sample.fade(fade, haze);
        sample
    }

    pub(super) fn lit(&self, ray: &Ray, point: &Point, index: u32) -> Sample {
        let n = point.shading_normal;
        let lambert = n.dot(self.key_direction).max(0.0);
        let half = (self.key_direction - ray.direction).normalize_or_zero();
        let shine = point.gloss * n.dot(half).max(0.0).powi(24) * smoothstep(0.0, 0.2, lambert);
        // Grazing views of glossy matter mirror a little sky.
        let grazing = (1.0 + point.normal.dot(ray.direction)).clamp(0.0, 1.0).powi(4);
        let ambient = ambient(n);
        let key_seen = lambert > 0.0 && self.sees_key(point, index);
        Sample {
            rest: ambient * point.albedo * point.scatter,
            key: KEY_COLOR * (point.albedo * (1.12 * lambert) + shine),
            sky: ambient * (point.albedo * (1.05 - point.scatter) + 0.6 * point.gloss * grazing),
            key_seen: f32::from(key_seen),
            sky_seen: f32::from(self.sees_sky(point, index)),
            surface: point.surface,
            normal: point.normal,
        }
    }

    fn sees_key(&self, point: &Point, index: u32) -> bool {
        let direction = self.key_rays[index as usize];
        let ray = Ray { origin: point.at, direction, reach: f32::MAX };
        self.is_free(&ray, index) && !self.obstacles.is_blocked(&ray, false)
    }

    fn sees_sky(&self, point: &Point, index: u32) -> bool {
        let (local, reach) = self.sky_rays[index as usize];
        let (x, z) = point.shading_normal.any_orthonormal_pair();
        let direction = (x * local.x + z * local.z + point.shading_normal * local.y).normalize();
        let ray = Ray { origin: point.at, direction, reach };
        self.is_free(&ray, index) && !self.obstacles.is_blocked(&ray, true)
    }

    /// Whether no matter blocks the ray; liquids let every second ray pass.
    fn is_free(&self, ray: &Ray, index: u32) -> bool {
        let blocked = self.tree.is_blocked(ray) || self.skins.is_blocked(ray);
        !blocked && (index.is_multiple_of(2) || !self.liquids.is_blocked(ray))
    }

    /// Brightness of the floor's checker, averaged over the width of a pixel.
    fn checker(&self, piece: &Piece, ray: &Ray, entry: &Entry) -> f32 {
        let at = piece.own(ray.at(entry.t)) / self.tile;
        let slant = -entry.normal.dot(ray.direction).min(-0.02);
        let width = self.camera.pixel_width() * entry.t / self.tile / slant;
        // Mean of the square wave sign(sin πx) over `width`, from its integral, the triangle wave.
        let wave = |x: f32| {
            let triangle = |x: f32| (2.0 * (0.5 * x - (0.5 * x).floor()) - 1.0).abs();
            let w = width.max(1e-4);
            ((triangle(x - 0.5 * w) - triangle(x + 0.5 * w)) / w).clamp(-1.0, 1.0)
        };
        1.0 + 0.035 * wave(at.x) * wave(at.z)
    }
}

impl Sample {
    fn unlit(light: Vec3A, surface: u32) -> Sample {
        Sample {
            rest: light,
            key: Vec3A::ZERO,
            sky: Vec3A::ZERO,
            key_seen: 1.0,
            sky_seen: 1.0,
            surface,
            normal: Vec3A::ZERO,
        }
    }

    /// Filters the light.
    pub(super) fn tint(&mut self, color: Vec3A) {
        self.rest *= color;
        self.key *= color;
        self.sky *= color;
    }

    /// Mixes the share `amount` of `haze` in.
    pub(super) fn fade(&mut self, amount: f32, haze: Vec3A) {
        let keep = 1.0 - amount;
        self.rest = self.rest * keep + haze * amount;
        self.key *= keep;
        self.sky *= keep;
    }

    pub fn add(&mut self, other: &Sample) {
        self.rest += other.rest;
        self.key += other.key;
        self.sky += other.sky;
        self.key_seen += other.key_seen;
        self.sky_seen += other.sky_seen;
        self.normal += other.normal;
    }

    pub fn scale(&mut self, factor: f32) {
        self.rest *= factor;
        self.key *= factor;
        self.sky *= factor;
        self.key_seen *= factor;
        self.sky_seen *= factor;
        self.normal *= factor;
    }

    pub fn light(&self) -> Vec3A {
        self.rest + self.key * self.key_seen + self.sky * self.sky_seen
    }
}

/// Light of the sky and of the ground on a surface that faces along n.
pub(super) fn ambient(n: Vec3A) -> Vec3A {
    BOUNCE_COLOR + (0.5 + 0.5 * n.y) * (SKY_COLOR - BOUNCE_COLOR)
}

pub(super) fn background(direction: Vec3A) -> Vec3A {
    let up = smoothstep(-0.05, 0.75, direction.y);
    HORIZON + up * (ZENITH - HORIZON)
}

/// A direction to a point of the key light's disc.
fn key_ray(middle: Vec3A, index: u32) -> Vec3A {
    let [u, w, _] = scattered(index, 0.0);
    let (radius, angle) = (KEY_RADIUS * u.sqrt(), std::f32::consts::TAU * w);
    let (x, z) = middle.any_orthonormal_pair();
    (middle + x * (radius * angle.cos()) + z * (radius * angle.sin())).normalize()
}

/// A direction over y = 0, cosine weighted, and a length. Lengths are scattered up to `reach`, so that near matter
/// dims more than far matter.
fn sky_ray(reach: f32, index: u32) -> (Vec3A, f32) {
    let [u, w, v] = scattered(index, 0.5);
    let (radius, angle) = (u.sqrt(), std::f32::consts::TAU * w);
    (Vec3A::new(radius * angle.cos(), (1.0 - u).max(0.0).sqrt(), radius * angle.sin()), reach * v)
}

/// Points that fill the unit cube evenly: x_k = frac(shift + k α), α from the root of x⁴ = x + 1.
fn scattered(index: u32, shift: f32) -> [f32; 3] {
    [0.819_172_5, 0.671_043_6, 0.549_700_5].map(|alpha: f32| (shift + (index + 1) as f32 * alpha).fract())
}

pub fn smoothstep(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The nearest of 1, 2, 5 times a power of ten below.
fn round_number(x: f32) -> f32 {
    let power = 10f32.powf(x.max(1e-20).log10().floor());
    let leading = x / power;
    power
        * if leading < 2.0 {
            1.0
        } else if leading < 5.0 {
            2.0
        } else {
            5.0
        }
}
