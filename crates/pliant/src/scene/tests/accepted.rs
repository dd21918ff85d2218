//! What scenes may say, and what it means.

use super::*;
use crate::elasticity::Model;
use crate::forces::fields::{Field, FieldKind};
use crate::geometry::{Figure, Outline, Region, Sampling, Shape};
use crate::kernel::KernelKind;
use crate::material::{Law, Moduli};
use crate::math::Quat;
use crate::rigid::{Motion, RigidShape};
use crate::simulation::PinMotion;
use crate::simulation::{Contact, ProbeTarget, Recorded, TimeStep};

#[test]
fn the_least_scene_takes_every_default() {
    let scene = read(
        "[simulation]\nspacing = 1\nduration = 1\n[materials.m]\nyoungs_modulus = 1e4\n\
         [[bodies]]\nmaterial = \"m\"\nshape = { type = \"box\", size = [1, 1, 1] }\n",
    )
    .expect("enough said");
    let setup = &scene.setup;
    assert_eq!(scene.title, "test");
    assert_eq!(scene.seed, 1);
    assert_eq!(setup.gravity, Vec3::new(0.0, -9.81, 0.0));
    assert_eq!((setup.support, setup.kernel), (2.0, KernelKind::WendlandC2));
    assert_eq!(setup.time_step, TimeStep::Adaptive { max: 0.02, cfl: 0.4 });
    assert_eq!(setup.contact, Contact { between_bodies: true, within_body: true });
    assert_eq!(
        scene.output,
        OutputSettings { fps: 50.0, formats: vec![Format::Vtk], compress: false, checkpoint_every: 1.0 }
    );
    let body = &setup.bodies[0];
    assert_eq!(body.name, "body1");
    assert_eq!(
        (body.material.density, body.material.friction, body.material.restitution),
        (1000.0, 0.3, 0.0)
    );
    assert!((body.material.moduli.poisson_ratio() - 0.3).abs() < 1e-12, "rounding of the conversion");
    let method = body.method.expect("a solid");
    assert_eq!((method.model, method.law), (Model::Mls2004, Law::Corotated));
    assert_eq!((method.zero_energy, method.xsph), (0.1, 0.0));
    assert_eq!(body.initial_stretch, Vec3::ONE);
    assert_eq!(scene.look.color_by, ColorBy::Body);
    assert_eq!(scene.look.size, [640, 360]);
    assert_eq!(scene.look.body_colors.len(), 1);
}

#[test]
fn whole_numbers_are_numbers() {
    assert_eq!(accept("duration = 2.0", "duration = 2"), accept("duration = 2.0", "duration = 2.0"));
}

#[test]
fn every_shape_is_read() {
    let shape = |text: &str| {
        let scene = accept("{ type = \"box\", size = [1, 0.2, 0.2] }", text);
        scene.setup.bodies[0].shape.clone()
    };
    assert_eq!(shape("{ type = \"sphere\", radius = 1 }"), Shape::Sphere { radius: 1.0 });
    assert_eq!(
        shape("{ type = \"cylinder\", radius = 1, height = 2 }"),
        Shape::Cylinder { radius: 1.0, height: 2.0 }
    );
    assert_eq!(
        shape("{ type = \"torus\", radius = 1, tube_radius = 0.5 }"),
        Shape::Torus { radius: 1.0, tube_radius: 0.5 }
    );
    assert_eq!(shape("{ type = \"beast\", length = 2 }"), Shape::Figure { figure: Figure::Beast, size: 2.0 });
    for (text, figure) in [
        ("{ type = \"duck\", length = 2 }", Figure::Duck),
        ("{ type = \"bunny\", height = 2 }", Figure::Bunny),
        ("{ type = \"armadillo\", height = 2 }", Figure::Armadillo),
    ] {
        assert_eq!(shape(text), Shape::Figure { figure, size: 2.0 });
    }
    assert_eq!(
        shape("{ type = \"gear\", radius = 1, height = 0.5 }"),
        Shape::Gear { radius: 1.0, height: 0.5, teeth: 12 }
    );
    assert_eq!(
        shape("{ type = \"hairball\", radius = 1, strands = 9, thickness = 0.2 }"),
        Shape::Hairball { radius: 1.0, strands: 9, thickness: 0.2 }
    );
    assert_eq!(
        shape("{ type = \"capsule\", radius = 1, height = 2 }"),
        Shape::Capsule { radius: 1.0, height: 2.0 }
    );
    assert_eq!(shape("{ type = \"rod\", length = 2 }"), Shape::Rod { length: 2.0 });
    let sheet = shape(
        "{ type = \"sheet\", size = [1, 2], outline = \"ellipse\", relief = { height = 1, wavelength = 2 } }",
    );
    let Shape::Sheet { size, outline, relief } = sheet else { panic!("a sheet") };
    assert_eq!((size, outline), ([1.0, 2.0], Outline::Ellipse));
    assert_eq!(relief.map(|relief| (relief.height, relief.wavelength)), Some((1.0, 2.0)));
}

#[test]
fn every_rigid_shape_is_read() {
    let shape = |text: &str| {
        let scene = accept("{ type = \"plane\", normal = [0, 1, 0] }", text);
        scene.setup.rigids[0].shape.clone()
    };
    let size = Vec3::new(1.0, 2.0, 3.0);
    assert_eq!(shape("{ type = \"plane\", normal = [0, 0, 5] }"), RigidShape::Plane { normal: Vec3::Z });
    assert_eq!(shape("{ type = \"box\", size = [1, 2, 3] }"), RigidShape::Box { size });
    assert_eq!(
        shape("{ type = \"box\", size = [1, 2, 3], inside_out = true }"),
        RigidShape::Container { size }
    );
    assert_eq!(shape("{ type = \"sphere\", radius = 1 }"), RigidShape::Sphere { radius: 1.0 });
    assert_eq!(
        shape("{ type = \"cylinder\", radius = 1, height = 2 }"),
        RigidShape::Cylinder { radius: 1.0, height: 2.0 }
    );
    assert_eq!(
        shape("{ type = \"capsule\", radius = 1, height = 2 }"),
        RigidShape::Capsule { radius: 1.0, height: 2.0 }
    );
}

#[test]
fn rotations_apply_in_order() {
    let list = "rotation = [{ axis = [0, 0, 2], degrees = 90 }, { axis = [1, 0, 0], degrees = 90 }]";
    let rotation: Quat =
        accept("name = \"beam\"", &format!("name = \"beam\"\n{list}")).setup.bodies[0].pose.rotation;
    // x turns to y about z, then y turns to z about x
    assert!((rotation * Vec3::X - Vec3::Z).length() < 1e-12, "rounding of two rotations");
}

#[test]
fn strain_is_another_word_for_two_laws() {
    let law = |text: &str| accept("poisson_ratio = 0.3", text).setup.bodies[0].method.expect("a solid").law;
    assert_eq!(law("strain = \"green\""), Law::StVenantKirchhoff);
    assert_eq!(law("strain = \"green\"\nlaw = \"st_venant_kirchhoff\""), Law::StVenantKirchhoff);
    assert_eq!(law("strain = \"linear\""), Law::Corotated);
}

#[test]
fn every_law_has_its_word_and_its_own_number() {
    let law = |text: &str| accept("poisson_ratio = 0.3", text).setup.bodies[0].method.expect("a solid").law;
    for every in Law::ALL {
        assert_eq!(law(&format!("law = \"{}\"", every.name())), every);
    }
    let bounded = law("law = \"neo_hookean_bounded\"\nmin_stretch = 0.1");
    assert_eq!(bounded, Law::NeoHookeanBounded { min_stretch: 0.1 });
    let rubber = law("law = \"mooney_rivlin\"\nsecond_invariant = 0");
    assert_eq!(rubber, Law::MooneyRivlin { second_invariant: 0.0 });
}

#[test]
fn a_schedule_says_the_moduli_at_some_times() {
    let pair = "youngs_modulus = 1e5\npoisson_ratio = 0.3";
    let points = "poisson_ratio = 0.4\nschedule = [{ time = 1, youngs_modulus = 5e5 }, \
                  { time = 2, shear_modulus = 200, bulk_modulus = 500 }, \
                  { time = 3.5, youngs_modulus = 1e5, poisson_ratio = 0.2 }]";
    let material = accept(pair, points).setup.bodies[0].material.clone();
    let schedule = material.schedule.expect("a schedule");
    assert_eq!(material.moduli, Moduli::from_young_poisson(5e5, 0.4));
    assert_eq!(schedule.at(2.0), Moduli { shear: 200.0, bulk: 500.0 });
    assert_eq!(schedule.at(9.0), Moduli::from_young_poisson(1e5, 0.2));
    assert_eq!(accept(pair, pair).setup.bodies[0].material.schedule, None);
}

#[test]
fn fields_are_read() {
    let field = |text: &str| {
        let heading = format!("[[fields]]\ntype = \"rotation\"\naxis = [0, 2, 0]\n{text}\n[[rigids]]");
        accept("[[rigids]]", &heading).setup.fields[0].clone()
    };
    let (axis, center) = (Vec3::Y, Vec3::ZERO);
    let everywhere = FieldKind::Rotation { axis, center, strength: 2.0, radius: None };
    assert_eq!(field("strength = 2"), Field { kind: everywhere, until: None });
    let near = FieldKind::Rotation { axis, center: Vec3::X, strength: -2.0, radius: Some(0.5) };
    let written = "strength = -2\ncenter = [1, 0, 0]\nradius = 0.5\nuntil = 3";
    assert_eq!(field(written), Field { kind: near, until: Some(3.0) });
}

#[test]
fn copies_stand_on_a_grid_and_are_probed_by_name() {
    let text = edited(
        "name = \"beam\"",
        "name = \"beam\"\narray = { count = [2, 1, 3], step = [2, 0, 3] }\nposition = [1, 0, 0]",
    );
    let text = text.replace("body = \"beam\"", "body = \"beam_4\"");
    let text = text.replace("motion = \"fixed\"", "motion = { angular_velocity = [0, 1, 0] }");
    let scene = read(&text).expect("six copies");
    let bodies = &scene.setup.bodies;
    assert_eq!(
        bodies.iter().map(|body| body.name.as_str()).collect::<Vec<_>>(),
        ["beam_1", "beam_2", "beam_3", "beam_4", "beam_5", "beam_6"]
    );
    assert_eq!(bodies[3].pose.position, Vec3::new(3.0, 0.0, 3.0));
    let PinMotion::Told(Motion::Driven { center, .. }) = bodies[3].pins[0].motion else {
        panic!("a driven pin")
    };
    assert_eq!(center, bodies[3].pose.position);
    assert_eq!(scene.setup.probes[0].body, 3);
    assert_eq!(scene.look.body_colors.len(), 6);
}

#[test]
fn regions_motions_and_probes_are_read() {
    let scene = accept(
        "at = [0.5, 0, 0]",
        "region = { type = \"sphere\", center = [0, 0, 0], radius = 1 }\nrecord = [\"stress\"]\nevery = 0.5",
    );
    let probe = &scene.setup.probes[0];
    assert_eq!(probe.target, ProbeTarget::Mean(Region::Sphere { center: Vec3::ZERO, radius: 1.0 }));
    assert_eq!((probe.record.as_slice(), probe.every), (&[Recorded::Stress][..], 0.5));
    assert_eq!(scene.setup.bodies[0].loads[0].region, Region::All);
    let driven = accept("name = \"floor\"", "position = [0, 2, 0]\nmotion = { velocity = [1, 0, 0] }");
    let (velocity, angular_velocity, center) = (Vec3::X, Vec3::ZERO, Vec3::new(0.0, 2.0, 0.0));
    let expected = Motion::Driven { velocity, angular_velocity, center, stop: None };
    assert_eq!(
        (driven.setup.rigids[0].name.as_str(), driven.setup.rigids[0].motion),
        ("rigid1", expected.into())
    );
}

#[test]
fn colours_are_hexadecimal_or_parts() {
    let color = |text: &str| {
        accept("name = \"beam\"", &format!("name = \"beam\"\ncolor = {text}")).look.body_colors[0]
    };
    assert_eq!(color("\"#FF0000\""), [1.0, 0.0, 0.0]);
    assert_eq!(color("[0, 0.5, 1]"), [0.0, 0.5, 1.0]);
}

#[test]
fn every_file_of_the_scenes_folder_is_bundled_and_loads() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
    for entry in std::fs::read_dir(folder).expect("the scenes folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            assert!(BUNDLED.iter().any(|bundled| bundled.name == name), "add \"{name}\" to BUNDLED");
        }
    }
    for bundled in BUNDLED {
        assert!(
            bundled.text.starts_with("# ") && !bundled.summary.is_empty(),
            "{} says what one sees",
            bundled.name
        );
        let scene = Scene::load(bundled.name, &[]).unwrap_or_else(|error| panic!("{error}\n{}", error.help));
        assert_eq!(scene.name, bundled.name);
        assert!(scene.estimate().particles >= 1.0);
    }
    assert!(BUNDLED.iter().any(|bundled| bundled.name == default_scene()));
}

#[test]
fn the_starter_scene_runs_as_it_is() {
    let scene = Scene::from_toml("starter", "starter.toml", starter(), &[]).expect("the starter scene");
    assert!(scene.estimate().particles < 1e4);
}

#[test]
fn every_key_of_the_scene_is_described_in_the_schema() {
    let schema = schema();
    let tables = schema["$defs"].as_object().expect("definitions");
    assert!(schema["properties"]["simulation"].is_object());
    for (name, table) in tables.iter().chain([(&"scene".to_owned(), &schema)]) {
        for (key, value) in table["properties"].as_object().into_iter().flatten() {
            assert!(value["description"].is_string() || key == "type", "{name}.{key} has no description");
        }
    }
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn every_sampling_is_read_with_the_seed() {
    let sampling = |text: &str| {
        let text = edited("name = \"beam\"", &format!("name = \"beam\"\nsampling = \"{text}\""));
        let scene = read_with(&text, &["simulation.seed=5"]);
        scene.unwrap_or_else(|error| panic!("{error}")).setup.bodies[0].sampling
    };
    assert_eq!(sampling("lattice"), Sampling::Lattice);
    assert_eq!(sampling("ccp"), Sampling::Ccp);
    assert_eq!(sampling("poisson"), Sampling::Poisson { seed: 5 });
    assert_eq!(sampling("relaxed"), Sampling::Relaxed { seed: 5 });
}

#[test]
fn a_mesh_is_read_beside_the_scene_and_found_again_from_elsewhere() {
    let folder = std::env::temp_dir().join(format!("pliant_mesh_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("scene.toml");
    let load = |set: &[String]| {
        let mesh = "{ type = \"mesh\", file = \"a \\\"cube\\\".obj\", scale = 2, center = true } # a cube";
        let text = edited("{ type = \"box\", size = [1, 0.2, 0.2] }", mesh);
        Scene::from_toml("test", &file.to_string_lossy(), &text, set).expect("a scene")
    };
    let cube = |far: &str| {
        let corners = (0..8).map(|k| {
            let at = |bit: i32| if k >> bit & 1 == 1 { far } else { "0" };
            format!("v {} {} {}\n", at(0), at(1), at(2))
        });
        let faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
        std::fs::write(folder.join("a \"cube\".obj"), corners.collect::<String>() + faces).expect("a file");
    };
    cube("0.5");
    let scene = load(&[]);
    let Shape::Mesh { mesh } = &scene.setup.bodies[0].shape else { panic!("a mesh") };
    assert_eq!(mesh.bounds(), (Vec3::splat(-0.5), Vec3::splat(0.5)));
    assert_eq!(scene.setup.bodies[0].shape.sample(0.1, Sampling::Lattice).len(), 1000);
    for set in [vec![], vec!["simulation.duration=1".to_owned()]] {
        let scene = load(&set);
        let text = scene.resolved_toml();
        assert_eq!(Scene::from_toml("test", "elsewhere/scene.toml", &text, &[]).expect("a scene"), scene);
    }
    cube("0.6");
    let other = load(&[]);
    assert_ne!(other.physics_hash(), scene.physics_hash());
    std::fs::remove_dir_all(&folder).expect("a folder to remove");
}

#[test]
fn surfaces_change_no_physics() {
    let plain = read(BASE).expect("the base scene");
    let scene = accept("name = \"beam\"", "name = \"beam\"\nsurface = \"skin\"\nsurface_cell = 0.05");
    let wish = crate::surface::SurfaceWish { kind: crate::surface::SurfaceKind::Skin, cell: Some(0.05) };
    assert_eq!((plain.surfaces, scene.surfaces.clone()), (vec![None], vec![Some(wish)]));
    assert_eq!(scene.physics_hash(), read(BASE).expect("the base scene").physics_hash());
}
