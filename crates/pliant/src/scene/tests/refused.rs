//! Refusals of text, types, numbers, materials and sizes: place, words, remedy.

use super::*;

/// Refuses the base scene with one piece replaced. `‸` marks the place the error must point at.
pub(super) fn refuse(from: &str, to: &str, message: &str, help: &str) {
    refuse_text(&edited(from, to), message, help);
}

fn refuse_text(marked: &str, message: &str, help: &str) {
    let offset = marked.find('‸').expect("the test marks the place of its error");
    let text = marked.replace('‸', "");
    let error = read(&text).expect_err(marked);
    let line = 1 + marked[..offset].matches('\n').count();
    let column = 1 + marked[..offset].rsplit('\n').next().unwrap_or("").chars().count();
    assert_eq!((error.line as usize, error.column as usize), (line, column), "{error}");
    assert_eq!(error.span.start, offset, "{error}");
    assert_eq!(error.origin, Origin::File);
    assert!(error.message.contains(message), "{error}");
    assert!(error.help.contains(help), "help is: {}", error.help);
    assert_eq!(error.to_string(), format!("scene.toml:{line}:{column}: {}", error.message));
}

#[test]
fn an_undefined_material_is_told_with_the_nearest_name() {
    let text = edited("material = \"rubber\"", "material = \"ruber\"");
    let error = read(&text).expect_err("ruber");
    assert_eq!(
        error.to_string(),
        "scene.toml:13:12: body \"beam\" uses material \"ruber\", which is not defined; did you mean \"rubber\"?"
    );
    assert_eq!(error.help, "the materials are: rubber");
}

#[test]
fn an_unknown_key_is_told_with_the_nearest_key() {
    refuse(
        "spacing =",
        "‸spaceing =",
        "unknown key \"spaceing\" in \"simulation\"; did you mean \"spacing\"?",
        "support",
    );
    refuse("[output]", "[‸ouptut]", "did you mean \"output\"?", "materials");
    refuse(
        "motion = \"fixed\"",
        "‸movement = \"fixed\"",
        "unknown key \"movement\"",
        "region, motion, until",
    );
    refuse(
        "size = [1, 0.2, 0.2]",
        "‸radius = 1, size = [1, 1, 1]",
        "unknown key \"radius\" in \"shape\"",
        "size",
    );
}

#[test]
fn a_wrong_type_is_told_with_what_was_found() {
    refuse("spacing = 0.1", "spacing = ‸\"0.1\"", "must be a number, but is the text \"0.1\"", "a number");
    refuse("motion = \"fixed\"", "motion = ‸3", "must be a word in quotes, but is the number 3", "fixed");
    refuse("name = \"tip\"", "name = ‸true", "must be text in quotes, but is true", "quotes");
    refuse("fps = 50", "fps = ‸1979-05-27", "must be a number, but is the date 1979-05-27", "a number");
    refuse(
        "shape = { type = \"plane\", normal = [0, 1, 0] }",
        "shape = ‸\"plane\"",
        "a table with a type",
        "type = ",
    );
    refuse("[[rigids]]", "‸[rigids]", "must be a list, but is one table", "[[rigids]]");
    refuse("gravity = [0, -9.81, 0]", "seed = ‸1.5", "must be a whole number", "1");
    refuse("gravity = [0, -9.81, 0]", "contact = { within_body = ‸1 }", "must be true or false", "true");
    refuse("fps = 50", "formats = ‸\"vtk\"", "must be a list", "[");
    refuse_text(
        "materials = ‸3\n[simulation]\nspacing=1\nduration=1\n",
        "must be a table of materials",
        "[materials.NAME]",
    );
}

#[test]
fn a_vector_has_exactly_three_numbers() {
    refuse("gravity = [0, -9.81, 0]", "gravity = ‸[0, -9.81]", "exactly 3 numbers, but has 2", "[1, 1, 1]");
    refuse("gravity = [0, -9.81, 0]", "gravity = ‸[0, 0, 0, 0]", "exactly 3 numbers, but has 4", "[1, 1, 1]");
    refuse(
        "gravity = [0, -9.81, 0]",
        "gravity = ‸-9.81",
        "a list of 3 numbers, but is the number",
        "[1, 1, 1]",
    );
    refuse("gravity = [0, -9.81, 0]", "gravity = [0, ‸\"x\", 0]", "must be a number", "a number");
}

#[test]
fn a_missing_key_points_at_its_table() {
    refuse(
        "[simulation]\nspacing = 0.1",
        "‸[simulation]",
        "\"spacing\" is missing in \"simulation\"",
        "spacing = ",
    );
    refuse(
        "[[bodies]]\nname = \"beam\"\nmaterial = \"rubber\"",
        "‸[[bodies]]",
        "\"material\" is missing",
        "material",
    );
}

#[test]
fn a_missing_key_of_an_inline_table_points_at_it() {
    refuse("{ type = \"box\", size = [1, 0.2, 0.2] }", "‸{ type = \"box\" }", "\"size\" is missing", "size");
    refuse(
        "{ type = \"plane\", normal = [0, 1, 0] }",
        "‸{ normal = [0, 1, 0] }",
        "\"shape\" has no type",
        "plane, box",
    );
}

#[test]
fn a_scene_without_simulation_points_at_its_start() {
    refuse_text("‸title = \"x\"\n", "\"simulation\" is missing", "simulation");
}

#[test]
fn broken_toml_is_told_where_it_breaks() {
    refuse("spacing = 0.1", "spacing = ‸", "a value is missing", "after the =");
    refuse("spacing = 0.1", "spacing = 0.1\n‸spacing = 0.2", "duplicate key", "once");
    refuse("material = \"rubber\"", "material = ‸rubber", "must be quoted", "double quotes");
    refuse("fps = 50", "fps = ‸1e999", "too large", "ordinary size");
    refuse("fps = 50", "fps = ‸99999999999999999999", "too large", "ordinary size");
}

#[test]
fn nan_and_infinity_are_refused_everywhere() {
    refuse("spacing = 0.1", "spacing = ‸nan", "must be a finite number, but is NaN", "ordinary number");
    refuse(
        "youngs_modulus = 1e5",
        "youngs_modulus = ‸inf",
        "must be a finite number, but is inf",
        "ordinary",
    );
    refuse("force = [0, 1, 0]", "force = [0, ‸-inf, 0]", "must be a finite number, but is -inf", "ordinary");
}

#[test]
fn numbers_out_of_their_limits_are_refused() {
    for (from, to, message) in [
        ("spacing = 0.1", "spacing = ‸-1", "must be from 1e-6 to 1000 m, but is -1"),
        ("spacing = 0.1", "spacing = ‸1e-7", "must be from 1e-6"),
        ("spacing = 0.1", "spacing = ‸1e4", "to 1000 m"),
        ("duration = 2.0", "duration = ‸0", "must be from 1e-9"),
        ("duration = 2.0", "duration = ‸1e9", "to 1e6 s"),
        ("gravity = [0, -9.81, 0]", "gravity = [0, ‸-1e6, 0]", "from -1e5 to 1e5 m/s2"),
        ("gravity = [0, -9.81, 0]", "support = ‸1", "from 1.05 to 4"),
        ("gravity = [0, -9.81, 0]", "support = ‸4.5", "from 1.05 to 4"),
        ("gravity = [0, -9.81, 0]", "time_step = ‸0", "from 1e-9"),
        ("gravity = [0, -9.81, 0]", "time_step = { max = ‸-1 }", "\"max\" must be"),
        ("gravity = [0, -9.81, 0]", "time_step = { cfl = ‸0 }", "\"cfl\" must be above 0, at most 1"),
        ("gravity = [0, -9.81, 0]", "time_step = { cfl = ‸1.5 }", "above 0, at most 1"),
        ("gravity = [0, -9.81, 0]", "seed = ‸-1", "must not be negative"),
        ("fps = 50", "fps = ‸-0.0", "above 0"),
        ("fps = 50", "checkpoint_every = ‸0", "must be from"),
        ("fps = 50", "checkpoint_every = ‸1e-8", "checkpoints would be written"),
        ("youngs_modulus = 1e5", "youngs_modulus = ‸-5", "must be from"),
        ("youngs_modulus = 1e5", "youngs_modulus = ‸1e14", "to 1e13 Pa"),
        ("poisson_ratio = 0.3", "density = ‸0", "\"density\" must be"),
        ("poisson_ratio = 0.3", "zero_energy = ‸11", "from 0 to 10"),
        ("poisson_ratio = 0.3", "damping = ‸-1", "\"damping\" must be from 0"),
        ("poisson_ratio = 0.3", "xsph = ‸-1", "\"xsph\" must be from 0"),
        ("poisson_ratio = 0.3", "friction = ‸-1", "\"friction\" must be from 0"),
        ("poisson_ratio = 0.3", "restitution = ‸1.1", "from 0 to 1"),
        ("name = \"beam\"", "position = [0, ‸2e6, 0]", "from -1e6 to 1e6 m"),
        ("name = \"beam\"", "velocity = [‸2e5, 0, 0]", "from -1e5 to 1e5 m/s"),
        ("name = \"beam\"", "angular_velocity = [‸2e5, 0, 0]", "rad/s"),
        ("name = \"beam\"", "initial_stretch = [1, ‸0, 1]", "from 0.01 to 100"),
        ("name = \"beam\"", "color = [0, 0, ‸2]", "from 0 to 1"),
        ("name = \"beam\"", "rotation = { axis = [0, 1, 0], degrees = ‸1e7 }", "degrees"),
        ("size = [1, 0.2, 0.2]", "size = [1, ‸0, 0.2]", "above 0"),
        ("region = \"all\"", "region = { type = \"sphere\", center = [0, 0, 0], radius = ‸-1 }", "above 0"),
        ("at = [0.5, 0, 0]", "at = [0.5, 0, 0]\nevery = ‸0", "must be from"),
        ("at = [0.5, 0, 0]", "at = [0.5, 0, 0]\nevery = ‸1.1e-9", "samples would be recorded"),
        ("title = \"Beam\"", "camera = { field_of_view = ‸180 }", "from 1 to 170 degrees"),
        ("title = \"Beam\"", "render = { size = [‸4, 100] }", "from 16 to 8192 pixels"),
    ] {
        refuse(from, to, message, "");
    }
}

#[test]
fn a_spacing_thicker_than_a_body_leaves_no_particle() {
    refuse(
        "{ type = \"box\", size = [1, 0.2, 0.2] }",
        "‸{ type = \"box\", size = [1, 0.05, 0.2] }",
        "holds no particle",
        "0.05",
    );
    refuse(
        "{ type = \"box\", size = [1, 0.2, 0.2] }",
        "‸{ type = \"sphere\", radius = 0.04 }",
        "thinner than the spacing",
        "0.08",
    );
    refuse(
        "{ type = \"box\", size = [1, 0.2, 0.2] }",
        "‸{ type = \"sheet\", size = [1, 0.01] }",
        "holds no particle",
        "0.01",
    );
    refuse(
        "{ type = \"box\", size = [1, 0.2, 0.2] }",
        "‸{ type = \"rod\", length = 0.01 }",
        "holds no particle",
        "0.01",
    );
    refuse(
        "{ type = \"box\", size = [1, 0.2, 0.2] }",
        "‸{ type = \"torus\", radius = 1, tube_radius = 0.01 }",
        "holds no",
        "0.02",
    );
}

#[test]
fn a_scene_too_large_for_memory_is_refused_with_a_spacing_that_fits() {
    let text = edited("size = [1, 0.2, 0.2]", "size = [1e4, 1e4, 1e4]");
    let error = read(&text).expect_err("1e15 particles");
    assert_eq!((error.line, error.column), (3, 11));
    assert!(error.message.contains("about 1.00e15 particles and need 1.2e9 GB"), "{error}");
    let words = error.help.strip_prefix("use a spacing of ").expect(&error.help);
    let fitting = words.split(' ').next().expect("a number");
    read(&text.replace("spacing = 0.1", &format!("spacing = {fitting}")))
        .expect("the spacing suggested fits");
}

#[test]
fn a_scene_without_bodies_is_refused() {
    refuse_text("‸[simulation]\nspacing = 0.1\nduration = 1\n", "the scene has no bodies", "[[bodies]]");
    refuse_text(
        "bodies = ‸[]\n[simulation]\nspacing = 0.1\nduration = 1\n",
        "the scene has no bodies",
        "[[bodies]]",
    );
}

#[test]
fn poisson_ratios_of_no_solid_are_refused_with_the_reason() {
    refuse("poisson_ratio = 0.3", "poisson_ratio = ‸0.5", "must be below 0.5, but is 0.5", "use e.g. 0.49");
    refuse("poisson_ratio = 0.3", "poisson_ratio = ‸-1", "must be above -1", "auxetic");
    refuse("poisson_ratio = 0.3", "poisson_ratio = ‸0.4999999999", "so near to 0.5", "0.49");
}

#[test]
fn stiffness_is_one_pair_of_moduli() {
    let pair = "youngs_modulus = 1e5\npoisson_ratio = 0.3";
    refuse(
        "[materials.rubber]\nyoungs_modulus = 1e5\npoisson_ratio = 0.3",
        "‸[materials.rubber]",
        "has no stiffness",
        "shear_modulus with",
    );
    refuse(pair, "poisson_ratio = ‸0.3", "but no youngs_modulus", "youngs_modulus with");
    refuse(pair, "shear_modulus = ‸1e5", "but no bulk_modulus", "bulk_modulus");
    refuse(pair, "bulk_modulus = ‸1e5", "but no shear_modulus", "shear_modulus");
    refuse(
        pair,
        "youngs_modulus = 1e5\nbulk_modulus = ‸1e5",
        "in two ways",
        "or shear_modulus with bulk_modulus",
    );
}

#[test]
fn strain_and_law_must_agree() {
    refuse(
        "poisson_ratio = 0.3",
        "strain = \"linear\"\nlaw = ‸\"st_venant_kirchhoff\"",
        "different things",
        "one of them",
    );
}

#[test]
fn a_law_goes_with_its_model_and_its_own_numbers() {
    let rubber = "model = \"becker2009\"\nlaw = ‸\"mooney_rivlin\"";
    refuse("poisson_ratio = 0.3", rubber, "\"becker2009\" cannot compute", "mls2004");
    let strain = "strain = \"linear\"\nlaw = ‸\"neo_hookean\"";
    refuse("poisson_ratio = 0.3", strain, "different things", "linear strain is corotated");
    refuse("poisson_ratio = 0.3", "‸min_stretch = 0.2", "means nothing", "neo_hookean_bounded");
    let share = "law = \"neo_hookean_bounded\"\n‸second_invariant = 0.2";
    refuse("poisson_ratio = 0.3", share, "means nothing", "mooney_rivlin");
    let low = "law = \"neo_hookean_bounded\"\nmin_stretch = ‸0";
    refuse("poisson_ratio = 0.3", low, "from 0.05 to 0.95", "");
    let high = "law = \"mooney_rivlin\"\nsecond_invariant = ‸1.5";
    refuse("poisson_ratio = 0.3", high, "from 0 to 1", "");
}

#[test]
fn solvers_go_with_implicit_models() {
    let nu = "poisson_ratio = 0.3";
    refuse(nu, "‸solver = \"newton\"", "means nothing", "kugelstadt2021");
    refuse(nu, "‸tolerance = 1e-3", "means nothing", "peer2018");
    let model = |rest: &str| format!("model = \"kugelstadt2021\"\n{rest}");
    refuse(nu, &model("tolerance = ‸0"), "from 1e-6 to 0.1", "");
    refuse(nu, &model("tolerance = 1e-3\n‸absolute_tolerance = 1e-3"), "in two ways", "relative");
    refuse(nu, &model("law = \"neo_hookean\"\nsolver = ‸\"linear\""), "cannot compute", "newton");
    refuse(nu, &model("law = \"neo_hookean\"\nsolver = ‸\"split\""), "cannot compute", "newton");
    refuse(nu, &model("poisson_ratio = -0.2\nsolver = ‸\"split\""), "0 or more", "linear");
    refuse(nu, "model = \"peer2018\"\nsolver = ‸\"split\"", "is not split", "kugelstadt2021");
}

#[test]
fn what_this_version_cannot_do_is_told_with_what_it_can() {
    for (from, to, help) in [
        ("poisson_ratio = 0.3", "model = ‸\"zhou2013\"", "solenthaler2007, mls2004, becker2009"),
        (
            "at = [0.5, 0, 0]",
            "at = [0.5, 0, 0]\nrecord = [‸\"temperature\"]",
            "position, velocity, deformation_gradient, stress",
        ),
    ] {
        refuse(from, to, "is not in this version", help);
    }
}

#[test]
fn an_unknown_word_is_told_with_the_nearest_word() {
    refuse(
        "poisson_ratio = 0.3",
        "model = ‸\"mls2005\"",
        "unknown model \"mls2005\"; did you mean \"mls2004\"?",
        "becker2009",
    );
    refuse("\"plane\"", "‸\"plain\"", "did you mean \"plane\"?", "capsule");
    refuse("region = \"all\"", "region = ‸\"everything\"", "unknown region", "all");
}

#[test]
fn liquids_and_solids_refuse_keys_of_one_another_and_numbers_out_of_range() {
    let solid = |keys: &str| format!("poisson_ratio = 0.3\n{keys}");
    let keys = ["viscosity", "surface_tension", "adhesion", "drag"];
    for key in keys {
        let message = format!("\"{key}\" means nothing to the solid \"rubber\"");
        refuse("poisson_ratio = 0.3", &solid(&format!("‸{key} = 0.5")), &message, "fluid");
    }
    let stiffness = "youngs_modulus = 1e5\npoisson_ratio = 0.3";
    let liquid = |key: &str| format!("model = \"fluid\"\n{key}");
    for key in
        ["viscosity = ‸-1", "viscosity = ‸1e10", "surface_tension = ‸1e4", "adhesion = ‸-0.1", "drag = ‸1.5"]
    {
        refuse(stiffness, &liquid(key), "must be from", "write a number");
    }
    refuse(stiffness, &liquid("‸zero_energy = 1"), "means nothing to the liquid", "leave it out");
    refuse("duration = 2.0", "duration = 2.0\nair = { density = ‸-1 }", "must be from", "write a number");
}
