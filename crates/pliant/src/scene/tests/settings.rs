//! Settings beside the file, files that cannot be read, errors found later.

use super::*;

fn refuse(setting: &str, message: &str, help: &str) {
    let error = read_with(BASE, &[setting]).expect_err(setting);
    assert_eq!(error.origin, Origin::Override, "{error}");
    assert_eq!(error.to_string(), format!("--set {setting}: {}", error.message));
    assert!(error.message.contains(message), "{error}");
    assert!(error.help.contains(help), "help is: {}", error.help);
    assert_eq!(error.line, 1);
    assert_eq!(&*error.text, setting);
}

#[test]
fn settings_change_what_they_name() {
    let settings = [
        "simulation.spacing=0.05",
        "materials.rubber.density = 900",
        "bodies.beam.velocity=[0, 1, 0]",
        "bodies.0.pins.0.motion={ velocity = [1, 0, 0] }",
        "rigids.floor.friction=0.7",
        "render.color_by=speed",
        "title=Not quoted",
    ];
    let scene = read_with(BASE, &settings).expect("all settings are right");
    assert_eq!(scene.setup.spacing, 0.05);
    assert_eq!(scene.setup.bodies[0].material.density, 900.0);
    assert_eq!(scene.setup.bodies[0].velocity, Vec3::Y);
    assert_ne!(
        scene.setup.bodies[0].pins[0].motion,
        crate::simulation::PinMotion::Told(crate::rigid::Motion::Fixed)
    );
    assert_eq!(scene.setup.rigids[0].friction, 0.7);
    assert_eq!(scene.look.color_by, ColorBy::Field { field: ColorField::Speed, range: None });
    assert_eq!(scene.title, "Not quoted");
    let again = read(&scene.resolved_toml()).expect("the resolved scene reads back");
    assert_eq!(again, scene);
}

#[test]
fn a_scene_without_settings_resolves_to_its_own_text() {
    assert_eq!(read(BASE).expect("base").resolved_toml(), BASE);
}

#[test]
fn wrong_settings_are_told_as_settings() {
    refuse("simulation.spacing=-1", "\"spacing\" must be from", "write a number");
    refuse("simulation.spaceing=1", "did you mean \"spacing\"?", "spacing");
    refuse("simulaton.spacing=1", "did you mean \"simulation\"?", "simulation");
    refuse("bodies.0.pins.0.motion=\"fixd\"", "did you mean \"fixed\"?", "fixed");
    refuse("simulation.spacing=wide", "but is the text \"wide\"", "a number");
    refuse("simulation.spacing", "has no value", "--set key.path=value");
    refuse("simulation.spacing=", "has no value", "--set key.path=value");
    refuse("=1", "not a path of keys", "--set key.path=value");
    refuse("a..b=1", "not a path of keys", "--set key.path=value");
    refuse("bodies.bean.velocity=[0,0,0]", "no element \"bean\"; did you mean \"beam\"?", "beam");
    refuse("bodies.7.velocity=[0,0,0]", "no element \"7\"", "from 0 to 0");
    refuse("simulation.spacing.x=1", "\"spacing\" is the number 0.1, and has no key \"x\"", "shorten");
    refuse("bodies.0.velocity=[0,1", "not valid TOML", "--set key.path=value");
    refuse("bodies.0.velocity=[0, nan, 0]", "finite", "ordinary");
    refuse("materials.glass.density=3", "material \"glass\" has no stiffness", "youngs_modulus");
}

#[test]
fn a_wrong_value_in_the_file_is_not_blamed_on_a_setting() {
    let text = edited("spacing = 0.1", "spacing = -1");
    let error = read_with(&text, &["simulation.duration=1"]).expect_err("negative spacing");
    assert_eq!((error.origin, error.line, error.column), (Origin::File, 3, 11));
    assert!(read_with(&text, &["simulation.spacing=0.1"]).is_ok());
}

#[test]
fn errors_found_later_point_into_the_file() {
    let text = edited("name = \"beam\"", "array = { count = [3, 1, 1], step = [2, 0, 0] }");
    let scene = read(&text.replace("body = \"beam\"", "body = \"body1_2\"")).expect("three copies");
    assert_eq!(scene.body_key(2), "bodies.0");
    let error = scene.error_at(&format!("{}.pins.0.region", scene.body_key(2)), "no particle", "widen it");
    assert_eq!((error.line, error.column), (16, 10));
    assert_eq!(error.to_string(), "scene.toml:16:10: no particle");
    assert_eq!(scene.error_at("bodies.0.pins.0.until", "m", "h").line, 15);
    assert_eq!(scene.error_at("nonsense.7", "m", "h").line, 1);
}

#[test]
fn unreadable_scenes_are_told_clearly() {
    let folder = std::env::temp_dir().join(format!("pliant_scene_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let load = |path: &std::path::Path| Scene::load(&path.to_string_lossy(), &[]);

    let error = load(&folder).expect_err("folder");
    assert!(error.to_string().ends_with("this is a folder, not a scene file"), "{error}");

    let bytes = folder.join("bytes.toml");
    std::fs::write(&bytes, b"title = \"x\"\nspacing = \xff\xfe\n").expect("written");
    let error = load(&bytes).expect_err("not UTF-8");
    assert_eq!((error.line, error.column), (2, 11), "{error}");

    let long = folder.join("long.toml");
    std::fs::write(&long, vec![b'\n'; (16 << 20) + 1]).expect("written");
    assert!(load(&long).expect_err("too long").message.contains("longer than 16 MB"));

    let own = folder.join("own.toml");
    std::fs::write(&own, starter()).expect("written");
    assert_eq!(load(&own).expect("the starter scene").name, "own");
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_missing_scene_is_told_with_the_nearest_bundled_name() {
    let error = Scene::load("faling_cuboid", &[]).expect_err("misspelt");
    assert!(error.message.contains("did you mean \"falling_cuboid\"?"), "{error}");
    assert!(error.help.contains("falling_cuboid"));
    assert_eq!(error.origin, Origin::Unread);
}

#[test]
fn garbage_and_deep_nesting_are_refused() {
    for text in [
        "[".repeat(10_000_000),
        "x".repeat(10_000_000),
        format!("a = {}", "[".repeat(1_000_000)),
        format!("a = {}", "{a=".repeat(1_000_000)),
        format!("{}a = 1", "a.".repeat(100_000)),
        format!("[{}a]", "a.".repeat(100_000)),
        "[[bodies]]\n".repeat(100_000),
        (0..100_000).map(|key| format!("k{key} = 1\n")).collect(),
        (0..100_000).map(|name| format!("[materials.m{name}]\nyoungs_modulus = 1\n")).collect(),
        "\u{feff}\0\u{1}".to_owned(),
        String::new(),
    ] {
        let error = read(&text).expect_err("garbage");
        assert!(error.line >= 1 && !error.help.is_empty() && error.message.len() < 1000);
    }
}
