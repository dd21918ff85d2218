//! Where one looks from.

use glam::Vec3A;

use super::levels::Ray;
use crate::math::{Quat, Real, Vec3};

/// A camera and the size of its picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    pub position: Vec3,
    pub look_at: Vec3,
    /// Vertical opening angle [degrees].
    pub field_of_view: Real,
    /// Width of the picture [pixels]; drawn with 1 to 8192.
    pub width: u32,
    /// Height of the picture [pixels]; drawn with 1 to 8192.
    pub height: u32,
    /// Samples along each side of a pixel: 2 means 2x2 rays a pixel; drawn with 1 to 8.
    pub samples: u32,
}

/// A three-quarter view, a little from above, that sees the whole box from `lo` to `hi`.
pub fn fit_view(lo: Vec3, hi: Vec3, size: [u32; 2], field_of_view: Real) -> View {
    const AZIMUTH: Real = 0.60; // rad, from the z axis towards x
    const ELEVATION: Real = 0.30; // rad
    const MARGIN: Real = 1.1;

    let sound = lo.is_finite() && hi.is_finite() && lo.max(hi).abs().max_element() < 1e12;
    let (lo, hi) = if sound { (lo.min(hi), lo.max(hi)) } else { (-Vec3::ONE, Vec3::ONE) };
    let (center, half) = (0.5 * (lo + hi), (0.5 * (hi - lo)).max(Vec3::splat(1e-6)));
    let view = View {
        position: center,
        look_at: center,
        field_of_view,
        width: size[0],
        height: size[1],
        samples: 2,
    };
    let (tan_x, tan_y) = view.half_widths();

    let back = Vec3::new(AZIMUTH.sin() * ELEVATION.cos(), ELEVATION.sin(), AZIMUTH.cos() * ELEVATION.cos());
    let right = Vec3::Y.cross(back).normalize();
    let up = back.cross(right);
    // A corner c is seen if |c·right| <= tan_x (D - c·back), and so for up.
    let distance = (0..8).map(|k| {
        let sign = |bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let c = half * Vec3::new(sign(0), sign(1), sign(2)) * MARGIN;
        c.dot(back) + (c.dot(right).abs() / tan_x).max(c.dot(up).abs() / tan_y)
    });
    View { position: center + distance.fold(0.0, Real::max) * back, ..view }
}

impl View {
    /// The same view after the camera has turned about the vertical through what it looks at.
    pub fn orbited(self, degrees: Real) -> View {
        let turn = Quat::from_rotation_y(degrees.to_radians());
        View { position: self.look_at + turn * (self.position - self.look_at), ..self }
    }

    /// Width and height as drawn.
    pub(super) fn size(&self) -> [u32; 2] {
        [self.width, self.height].map(|n| n.clamp(1, 8192))
    }

    /// Half width and height of the picture at unit distance.
    fn half_widths(&self) -> (Real, Real) {
        let degrees =
            if self.field_of_view.is_finite() { self.field_of_view.clamp(1.0, 150.0) } else { 35.0 };
        let tan_y = (0.5 * degrees.to_radians()).tan();
        let [width, height] = self.size().map(Real::from);
        (tan_y * width / height, tan_y)
    }
}

/// A view made ready to send rays; y is up.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    pub position: Vec3A,
    pub look_at: Vec3A,
    pub right: Vec3A,
    pub up: Vec3A,
    pub forward: Vec3A,
    /// Distance from the eye to what it looks at.
    pub distance: f32,
    half_widths: [f32; 2],
    size: [f32; 2],
}

impl Camera {
    pub fn new(view: &View) -> Camera {
        let sound = |v: Vec3| v.is_finite() && v.abs().max_element() < 1e12;
        let look_at = if sound(view.look_at) { view.look_at } else { Vec3::ZERO };
        let mut position = if sound(view.position) { view.position } else { look_at + Vec3::Z };
        // An eye in its own target looks along -z.
        if (look_at - position).length() < 1e-9 * (1.0 + look_at.length()) {
            position = look_at + Vec3::Z * (1e-3 * look_at.length()).max(1.0);
        }
        let forward = (look_at - position).normalize();
        let right = forward.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
        let (tan_x, tan_y) = view.half_widths();
        Camera {
            position: position.as_vec3a(),
            look_at: look_at.as_vec3a(),
            right: right.as_vec3a(),
            up: right.cross(forward).as_vec3a(),
            forward: forward.as_vec3a(),
            distance: (look_at - position).length() as f32,
            half_widths: [tan_x as f32, tan_y as f32],
            size: view.size().map(|n| n as f32),
        }
    }

    /// The ray through a point of the picture, in pixels from its upper left corner.
    pub fn ray(&self, x: f32, y: f32) -> Ray {
        let u = (2.0 * x / self.size[0] - 1.0) * self.half_widths[0];
        let v = (1.0 - 2.0 * y / self.size[1]) * self.half_widths[1];
        let direction = (self.forward + u * self.right + v * self.up).normalize();
        Ray { origin: self.position, direction, reach: f32::MAX }
    }

    /// Width of a pixel at unit distance.
    pub fn pixel_width(&self) -> f32 {
        2.0 * self.half_widths[1] / self.size[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fitted_view_sees_every_corner_of_the_box() {
        let boxes = [
            (Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 0.3, 1.0)),
            (Vec3::new(5.0, -2.0, 0.0), Vec3::new(5.1, 9.0, 0.2)),
            (Vec3::ZERO, Vec3::ZERO),
        ];
        for (lo, hi) in boxes {
            for size in [[640, 360], [200, 600], [1, 1]] {
                let view = fit_view(lo, hi, size, 30.0);
                let camera = Camera::new(&view);
                let (tan_x, tan_y) = view.half_widths();
                for k in 0..8 {
                    let pick = |bit: u32, a: Real, b: Real| if k >> bit & 1 == 1 { a } else { b };
                    let corner = Vec3::new(pick(0, lo.x, hi.x), pick(1, lo.y, hi.y), pick(2, lo.z, hi.z));
                    let c = corner - view.position;
                    let depth = c.dot(camera.forward.as_dvec3());
                    assert!(depth > 0.0);
                    assert!(c.dot(camera.right.as_dvec3()).abs() <= depth * tan_x);
                    assert!(c.dot(camera.up.as_dvec3()).abs() <= depth * tan_y);
                }
            }
        }
    }
}
