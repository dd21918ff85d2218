//! Laws of pictures.

use super::*;
use crate::math::{Quat, Vec3};

fn render(view: &View, balls: &[Ball], solids: &[Solid], overlay: &Overlay) -> Picture {
    super::render(view, balls, &[], solids, overlay)
}

fn view(size: [u32; 2]) -> View {
    View {
        position: Vec3::new(0.0, 0.0, 4.0),
        look_at: Vec3::ZERO,
        field_of_view: 40.0,
        width: size[0],
        height: size[1],
        samples: 2,
    }
}

fn ball(center: [f32; 3]) -> Ball {
    Ball { center, radius: 0.3, color: [0.9, 0.1, 0.1] }
}

fn pixel_at(picture: &Picture, x: u32, y: u32) -> [u8; 3] {
    let at = ((y * picture.width + x) * 3) as usize;
    [picture.rgb[at], picture.rgb[at + 1], picture.rgb[at + 2]]
}

fn is_red(pixel: [u8; 3]) -> bool {
    let [r, g, b] = pixel.map(u32::from);
    r > 80 && r > 2 * g && r > 2 * b
}

fn ground() -> Solid {
    let pose = Pose { position: Vec3::new(0.0, -0.5, 0.0), rotation: Quat::IDENTITY };
    Solid { shape: RigidShape::Plane { normal: Vec3::Y }, pose, color: None }
}

#[test]
fn a_ball_in_the_middle_is_seen_in_the_middle() {
    let picture = render(&view([81, 61]), &[ball([0.0; 3])], &[], &Overlay::default());
    assert!(is_red(pixel_at(&picture, 40, 30)));
    assert!(!is_red(pixel_at(&picture, 5, 5)));
}

#[test]
fn a_ball_up_and_to_the_right_is_seen_there() {
    let picture = render(&view([80, 60]), &[ball([0.9, 0.9, 0.0])], &[], &Overlay::default());
    let red: Vec<(u32, u32)> =
        (0..80 * 60).map(|k| (k % 80, k / 80)).filter(|&(x, y)| is_red(pixel_at(&picture, x, y))).collect();
    assert!(!red.is_empty() && red.iter().all(|&(x, y)| x > 40 && y < 30));
}

#[test]
fn the_ground_is_darker_under_a_ball() {
    let overlay = Overlay::default();
    let view = View { position: Vec3::new(0.0, 2.0, 3.0), ..view([80, 60]) };
    let bare = render(&view, &[], &[ground()], &overlay);
    let shaded = render(&view, &[ball([0.0, -0.2, 0.0])], &[ground()], &overlay);
    let darker = (0..80 * 60).filter(|&k| {
        let (a, b) = (pixel_at(&bare, k % 80, k / 80), pixel_at(&shaded, k % 80, k / 80));
        !is_red(b) && u32::from(b[0]) + 30 < u32::from(a[0]) && u32::from(b[1]) + 30 < u32::from(a[1])
    });
    assert!(darker.count() > 20);
}

#[test]
fn one_and_two_threads_draw_the_same_picture() {
    let balls: Vec<Ball> = (0..500)
        .map(|k| Ball {
            radius: 0.08,
            ..ball([(k % 10) as f32 * 0.1, (k / 10 % 10) as f32 * 0.1, (k / 100) as f32 * 0.1])
        })
        .collect();
    let picture = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&view([120, 90]), &balls, &[ground()], &Overlay::default()))
    };
    assert!(picture(1) == picture(2));
}

#[test]
fn unsound_balls_and_solids_are_left_out() {
    let sound = [ball([0.0; 3]), ball([0.4, 0.1, -0.3])];
    let mut balls = sound.to_vec();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
        balls.push(ball([0.0, bad, 0.0]));
        balls.push(Ball { radius: bad, ..ball([0.0; 3]) });
    }
    balls.push(Ball { radius: -1.0, ..ball([0.0; 3]) });
    balls.push(Ball { color: [f32::NAN; 3], ..ball([0.0, 0.0, 1.0]) });
    let mut solids = vec![ground()];
    solids.push(Solid { shape: RigidShape::Plane { normal: Vec3::ZERO }, pose: Pose::IDENTITY, color: None });
    solids.push(Solid { shape: RigidShape::Sphere { radius: f64::NAN }, pose: Pose::IDENTITY, color: None });
    solids.push(Solid {
        shape: RigidShape::Box { size: Vec3::ONE },
        pose: Pose { position: Vec3::NAN, rotation: Quat::IDENTITY },
        color: None,
    });
    let overlay = Overlay::default();
    let expected = render(&view([60, 40]), &sound, &[ground()], &overlay);
    assert!(render(&view([60, 40]), &balls, &solids, &overlay) == expected);
}

#[test]
fn no_view_breaks_the_drawing() {
    let solids = [
        ground(),
        Solid { shape: RigidShape::Box { size: Vec3::splat(20.0) }, pose: Pose::IDENTITY, color: None },
        Solid { shape: RigidShape::Container { size: Vec3::ONE }, pose: Pose::IDENTITY, color: None },
    ];
    let good = view([9, 7]);
    let views = [
        View { width: 0, height: 0, samples: 0, ..good },
        View { position: Vec3::ZERO, ..good },
        View { position: Vec3::new(0.0, 5.0, 0.0), ..good },
        View { position: Vec3::NAN, look_at: Vec3::INFINITY, field_of_view: f64::NAN, ..good },
        View { position: Vec3::splat(1e300), ..good },
        View { field_of_view: 400.0, samples: 3, ..good },
    ];
    for view in views {
        for balls in [&[][..], &[ball([0.0; 3])][..]] {
            let picture = render(&view, balls, &solids, &Overlay::default());
            assert_eq!(picture.rgb.len() as u32, picture.width * picture.height * 3);
            assert!(picture.width > 0 && picture.height > 0);
        }
    }
}

#[test]
fn a_picture_drawn_in_strips_has_no_seams() {
    let balls = [ball([0.0; 3]), ball([0.3, 0.4, 0.0])];
    let size = [60, 50];
    let stage = Stage::new(view::Camera::new(&view(size)), cast(&balls, &[], &[ground()]), 64);
    let whole = draw(&stage, size, 2, 50);
    for strip in [1, 7, 49] {
        assert!(draw(&stage, size, 2, strip) == whole, "strips of {strip} rows");
    }
}

/// A square across the view, of four vertices.
fn square(liquid: f32) -> Mesh {
    let positions = vec![[-0.5, -0.5, 0.0], [0.5, -0.5, 0.0], [0.5, 0.5, 0.0], [-0.5, 0.5, 0.0]];
    Mesh {
        positions,
        normals: vec![[0.0, 0.0, 1.0]; 4],
        colors: vec![[0.9, 0.1, 0.1]; 4],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        liquid,
    }
}

#[test]
fn a_mesh_is_seen_where_it_is_and_hides_what_is_behind() {
    let green = Ball { color: [0.1, 0.8, 0.1], ..ball([0.0, 0.0, -0.5]) };
    let picture = super::render(&view([81, 61]), &[green], &[square(0.0)], &[], &Overlay::default());
    assert!(is_red(pixel_at(&picture, 40, 30)));
    assert!(!is_red(pixel_at(&picture, 5, 5)));
}

#[test]
fn a_liquid_lets_one_see_through() {
    let seen = |ball: &[Ball]| {
        let picture = super::render(&view([81, 61]), ball, &[square(1.0)], &[], &Overlay::default());
        pixel_at(&picture, 40, 30)
    };
    let dark = Ball { color: [0.02; 3], ..ball([0.0, 0.0, -0.5]) };
    let brightness = |pixel: [u8; 3]| pixel.map(u32::from).iter().sum::<u32>();
    assert!(brightness(seen(&[dark])) + 20 < brightness(seen(&[])));
}

#[test]
fn an_orbit_of_a_full_turn_ends_where_it_began() {
    let start = view([10, 10]);
    assert!(start.orbited(360.0).position.distance(start.position) < 1e-9);
    let side = start.orbited(90.0).position;
    assert!(side.distance(Vec3::new(4.0, 0.0, 0.0)) < 1e-9, "{side}");
}
