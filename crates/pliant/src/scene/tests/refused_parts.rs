//! Refusals of names, placements, copies, probes and pictures.

use super::refused::refuse;

#[test]
fn names_are_unique() {
    let again = "[[rigids]]\nname = \"floor\"\nshape = { type = \"sphere\", radius = 1 }\n";
    refuse(
        "[[probes]]",
        &format!("{}[[probes]]", again.replace("\"floor\"", "‸\"floor\"")),
        "two rigids are named \"floor\"",
        "line 21",
    );
    refuse(
        "[[rigids]]",
        "[[bodies]]\nname = ‸\"beam\"\nmaterial = \"rubber\"\nshape = { type = \"sphere\", radius = 1 }\n[[rigids]]",
        "two bodies are named \"beam\"",
        "line 11",
    );
    let probe = "at = [0.5, 0, 0]\n[[probes]]\nname = ‸\"tip\"\nbody = \"beam\"\nat = [0, 0, 0]";
    refuse("at = [0.5, 0, 0]", probe, "two probes are named \"tip\"", "line 24");
}

#[test]
fn names_are_fit_for_tables_and_files() {
    let long = "x".repeat(65);
    for name in ["", "a,b", "a.b", "a/b", "a\\\\b", "a\\nb", "a\\\"b", "a'b", "\\u0007", " a", long.as_str()]
    {
        refuse("name = \"beam\"", &format!("name = ‸\"{name}\""), "name", "letters, digits");
    }
    refuse("[materials.rubber]", "[materials.‸\"a,b\"]", "contains ','", "letters");
}

#[test]
fn directions_have_a_length() {
    refuse("normal = [0, 1, 0]", "normal = ‸[0, 0, 0]", "\"normal\" has no direction", "[0, 1, 0]");
    refuse(
        "name = \"beam\"",
        "rotation = { axis = ‸[0, 0, 0], degrees = 3 }",
        "\"axis\" has no direction",
        "[0, 1, 0]",
    );
    refuse(
        "name = \"floor\"",
        "rotation = [{ axis = [1, 0, 0], degrees = 3 }, { axis = ‸[0, 0, 0.0], degrees = 3 }]",
        "no direction",
        "axis",
    );
}

#[test]
fn too_many_frames_are_refused() {
    refuse("fps = 50", "fps = ‸600000", "1.2e6 frames would be written", "5.000e5 or less");
}

#[test]
fn pins_and_loads_end_after_the_start() {
    refuse("motion = \"fixed\"", "until = ‸0", "must be after the start", "above 0 s");
    refuse("region = \"all\"", "region = \"all\"\nuntil = ‸-1", "must be after the start", "above 0 s");
}

#[test]
fn regions_are_not_inside_out() {
    refuse(
        "{ type = \"box\", min = [-1, -1, -1], max = [-0.4, 1, 1] }",
        "‸{ type = \"box\", min = [1, 0, 0], max = [0, 1, 1] }",
        "min is above its max along x",
        "swap",
    );
}

#[test]
fn a_motion_moves() {
    refuse("motion = \"fixed\"", "motion = ‸{}", "neither velocity nor angular_velocity", "both");
    refuse(
        "motion = \"fixed\"",
        "motion = { velocity = [1, 0, 0], center = ‸[0, 0, 0] }",
        "means nothing",
        "angular_velocity",
    );
}

#[test]
fn copies_are_few_and_apart() {
    refuse(
        "name = \"beam\"",
        "array = { count = [1000, ‸1000, 1], step = [2, 2, 2] }",
        "more than 100000 copies",
        "fewer",
    );
    refuse("name = \"beam\"", "array = { count = [‸0, 1, 1], step = [2, 2, 2] }", "no copy", "1 or more");
    refuse(
        "name = \"beam\"",
        "array = { count = [2, 1, 1], step = [‸0, 2, 2] }",
        "on top of one another",
        "further",
    );
    refuse(
        "name = \"beam\"",
        "array = { count = [2, 1, 1], step = [‸1e6, 2, 2] }\nposition = [1, 0, 0]",
        "m away",
        "fewer",
    );
}

#[test]
fn probes_name_a_body_and_one_target() {
    refuse(
        "body = \"beam\"",
        "body = ‸\"bean\"",
        "there is no body \"bean\"; did you mean \"beam\"?",
        "beam",
    );
    refuse("at = [0.5, 0, 0]", "at = [0.5, 0, 0]\nregion = ‸\"all\"", "both at and region", "mean");
    refuse(
        "[[probes]]\nname = \"tip\"\nbody = \"beam\"\nat = [0.5, 0, 0]",
        "‸[[probes]]\nname = \"tip\"\nbody = \"beam\"",
        "neither at nor region",
        "at = ",
    );
    refuse("at = [0.5, 0, 0]", "at = [0.5, 0, 0]\nrecord = ‸[]", "records nothing", "position");
    refuse(
        "at = [0.5, 0, 0]",
        "at = [0.5, 0, 0]\nrecord = [\"stress\", ‸\"stress\"]",
        "recorded twice",
        "once",
    );
}

#[test]
fn pictures_can_be_taken() {
    refuse("name = \"beam\"", "color = ‸\"#12345\"", "is not a colour", "#rrggbb");
    refuse(
        "title = \"Beam\"",
        "camera = { position = [1, 1, 1], look_at = ‸[1, 1, 1] }",
        "where it stands",
        "move",
    );
    refuse("title = \"Beam\"", "render = { range = ‸[0, 1] }", "means nothing", "speed");
    refuse(
        "title = \"Beam\"",
        "render = { color_by = \"speed\", range = ‸[1, 1] }",
        "must rise",
        "[low, high]",
    );
    refuse("fps = 50", "formats = [\"ply\", ‸\"ply\"]", "listed twice", "once");
    refuse("title = \"Beam\"", "title = ‸\"a\\nb\"", "one short line", "line breaks");
    refuse(
        "{ type = \"box\", size = [1, 0.2, 0.2] }",
        "{ type = \"torus\", radius = 1, tube_radius = ‸2 }",
        "larger than the radius",
        "thinner",
    );
}

#[test]
fn a_schedule_has_rising_times_and_is_the_only_stiffness() {
    let pair = "youngs_modulus = 1e5\npoisson_ratio = 0.3";
    refuse(pair, "schedule = ‸[]", "has no points", "schedule = [");
    refuse(
        pair,
        "schedule = [{ time = 1, youngs_modulus = 1e5 }, { time = ‸1, youngs_modulus = 1e3 }]",
        "is not after that of the last point, 1 s",
        "in the order",
    );
    refuse(pair, "schedule = [{ time = ‸-1, youngs_modulus = 1e5 }]", "must be from 0", "s");
    refuse(pair, "schedule = [‸{ time = 1 }]", "this point of the schedule has no stiffness", "bulk_modulus");
    refuse(pair, "schedule = [{ time = 1, youngs_modulus = ‸0 }]", "must be from", "Pa");
    refuse(
        pair,
        "‸youngs_modulus = 1e5\nschedule = [{ time = 1, youngs_modulus = 1e5 }]",
        "in two ways: here and by its schedule",
        "time = 0",
    );
    refuse(
        pair,
        "‸poisson_ratio = 0.3\nschedule = [{ time = 1, shear_modulus = 1e5, bulk_modulus = 1e5 }]",
        "means nothing",
        "leave it out",
    );
    refuse(
        pair,
        "model = \"kugelstadt2021\"\nsolver = ‸\"split\"\nschedule = [{ time = 1, youngs_modulus = 1e5 }, \
         { time = 2, youngs_modulus = 1e5, poisson_ratio = -0.2 }]",
        "Poisson's ratio of 0 or more",
        "linear",
    );
}

#[test]
fn fields_have_an_axis_and_a_strength() {
    let field = |keys: &str| format!("[[fields]]\n{keys}\n[[rigids]]");
    let refuse_field = |keys: &str, message, help| refuse("[[rigids]]", &field(keys), message, help);
    refuse_field("type = ‸\"rotatoin\"", "did you mean \"rotation\"?", "rotation");
    refuse_field("type = \"rotation\"\naxis = ‸[0, 0, 0]\nstrength = 1", "no direction", "axis");
    refuse_field("type = \"rotation\"\naxis = [0, 1, 0]\nstrength = ‸1e9", "must be from", "1/s2");
    refuse_field(
        "type = \"rotation\"\naxis = [0, 1, 0]\nstrength = 1\nuntil = ‸0",
        "after the start",
        "above",
    );
    refuse_field("type = \"rotation\"\naxis = [0, 1, 0]\nstrength = 1\nradius = ‸0", "above 0", "m");
}

#[test]
fn shapes_have_limits() {
    let shape = "\"box\", size = [1, 0.2, 0.2]";
    for (to, message, help) in [
        ("\"gear\", radius = 1, height = 1, teeth = ‸2", "3", ""),
        ("\"hairball\", radius = 1, strands = ‸0", "1", ""),
        ("\"hairball\", radius = 1, thickness = ‸2", "thicker than the radius", "thinner"),
        ("\"mesh\", file = ‸\"no_such.obj\"", "mesh no_such.obj: cannot read it", "check the path"),
        ("\"mesh\", file = ‸\"scene.step\"", "no mesh format", ".obj, .ply, .stl"),
        ("\"mesh\", file = \"a.obj\", scale = ‸0", "scale", ""),
        ("\"mesh\", file = \"a.obj\", scale = [1, ‸-1, 1]", "scale", ""),
    ] {
        refuse(shape, to, message, help);
    }
    let sheet = "name = \"cloth\"\nsampling = ‸\"ccp\"\nmaterial = \"rubber\"\nshape = { type = \"sheet\", size = [1, 1] }\n[[rigids]]";
    refuse("[[rigids]]", &format!("[[bodies]]\n{sheet}"), "one layer or line", "lattice");
}

#[test]
fn surfaces_suit_their_bodies() {
    let body = "name = \"beam\"";
    let sheet = "shape = { type = \"sheet\", size = [1, 1] }";
    refuse(
        "shape = { type = \"box\", size = [1, 0.2, 0.2] }",
        &format!("surface = ‸\"skin\"\n{sheet}"),
        "has no skin",
        "isosurface",
    );
    refuse(body, "surface = ‸\"fur\"", "fur", "skin");
    refuse(body, "surface_cell = ‸0.05", "without a surface", "isosurface");
    refuse(body, "surface = \"skin\"\nsurface_cell = ‸0.01", "surface_cell", "0.02");
    refuse("[materials.rubber]", "[camera]\norbit = ‸1e9\n[materials.rubber]", "orbit", "36000");
}
