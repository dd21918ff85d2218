use super::*;
use crate::geometry::Shape;
use crate::math::Vec3;
use crate::rigid::RigidShape;
use crate::scene::{Format, Scene};
use crate::simulation::{Mouth, Pressure, TimeStep};
use proptest::prelude::*;

/// All kinds of things in the present form.
const PRESENT: &str = r#"{
  "Configuration": {
    "particleRadius": 0.05, "simulationMethod": 4, "gravitation": [0, -5, 0], "timeStepSize": 0.002,
    "cflMethod": 1, "cflFactor": 0.5, "cflMaxTimeStepSize": 0.004, "cflMinTimeStepSize": 1e-5,
    "stopAt": 2.5, "dataExportFPS": 40, "enablePartioExport": true, "enableVTKExport": true,
    "kernel": 1, "gradKernel": 1, "cameraPosition": [0, 2, 5], "cameraLookat": [0, 1, 0],
    "boundaryHandlingMethod": 2, "enableZSort": true, "pause": false, "sim2D": false,
    "DFSPH": { "maxError": 0.05, "maxIterations": 100, "enableDivergenceSolver": true },
    "WCSPH": { "stiffness": 1 }
  },
  "Materials": [
    { "id": "Water", "density0": 900, "viscosityMethod": 6, "Weiler et al. 2018": { "viscosity": 0.02, "viscosityBoundary": 0 },
      "surfaceTensionMethod": 2, "Akinci et al. 2013": { "surfaceTension": 0.07 },
      "dragMethod": 2, "Gissler et al. 2017": { "drag": 0.5 },
      "vorticityMethod": 1, "Bender et al. 2017": { "vorticity": 0.1 },
      "colorMapType": 1, "colorField": "velocity", "renderMinValue": 1, "renderMaxValue": 4,
      "maxEmitterParticles": 700, "emitterReuseParticles": false,
      "emitterBoxMin": [-4, -4, -4], "emitterBoxMax": [4, 4, 4] },
    { "id": "Rubber", "density0": 1100, "elasticityMethod": 3, "viscosityMethod": 1, "Standard viscosity": { "viscosity": 0.01 },
      "Kugelstadt et al. 2021": { "youngsModulus": 2e5, "poissonsRatio": 0.4, "alpha": 0.3, "maxNeighbors": 15,
        "fixedBoxMin": [-10, -10, -10], "fixedBoxMax": [1.25, 10, 10] } }
  ],
  "FluidBlocks": [
    { "id": "Water", "start": [0, 0, 0], "end": [1, 1, 1], "translation": [-1, 0, 0], "scale": [1, 0.5, 1],
      "denseMode": 0, "initialVelocity": [1, 0, 0] },
    { "id": "Rubber", "start": [1, 0, 0], "end": [2, 1, 1] }
  ],
  "Emitters": [
    { "id": "Water", "type": 0, "width": 4, "height": 2, "translation": [0, 2, 0], "rotationAxis": [0, 0, 1],
      "rotationAngle": 1.5707963267948966, "velocity": 2, "emitStartTime": 0.5, "emitEndTime": 1.5 },
    { "id": "Water", "type": 1, "width": 6, "velocity": 3 }
  ],
  "RigidBodies": [
    { "id": 0, "geometryFile": "UnitBox.obj", "translation": [0, 1.5, 0], "scale": [4, 3, 2], "color": [0.1, 0.4, 0.6, 1],
      "isDynamic": false, "mapInvert": true, "mapThickness": 0, "mapResolution": [20, 20, 20] },
    { "id": 1, "geometryFile": "UnitBox.obj", "translation": [1, 2, 0], "rotationAxis": [0, 1, 0], "rotationAngle": 0.5,
      "scale": [0.3, 0.2, 0.3], "isDynamic": true, "density": 300, "friction": 0.1, "restitution": 0.5, "velocity": [0, 1, 0] }
  ],
  "TargetVelocityMotorHingeJoints": [
    { "bodyID1": 1, "bodyID2": 0, "position": [1, 2, 0], "axis": [0, 1, 0], "target": -6 }
  ],
  "AnimationFields": [ { "particleField": "velocity" } ],
  "Simulation": { "contactTolerance": 0.05 }
}"#;

/// The older form: coefficients beside their methods, vectors in emitters, a block for the default id.
const OLDER: &str = r#"{
  "Configuration": {
    "particleRadius": 0.05, "simulationMethod": 0, "stiffness": 50000, "exponent": 7, "cflMethod": 0, "timeStepSize": 0.001,
    "maxError": 0.01, "pauseAt": 3, "partioFPS": 30
  },
  "Fluid": { "density0": 800, "viscosityMethod": 2, "viscosity": 0.25, "surfaceTensionMethod": 1, "surfaceTension": 0.1 },
  "FluidBlocks": [ { "start": [0, 0, 0], "end": [1, 1, 1], "denseMode": 1 } ],
  "Emitters": [ { "width": 3, "height": 3, "translation": [0, 3, 0], "velocity": [0, -2, 0], "emitsPerSecond": 20 } ],
  "RigidBodies": [ { "geometryFile": "UnitBox.obj", "translation": [0.5, 1, 0.5], "scale": [2, 4, 2], "isWall": true } ]
}"#;

fn raw(value: &Value) -> Result<(String, Vec<Note>), SceneError> {
    let notes = Notes { file: "scene.json".into(), list: RefCell::default() };
    let toml = scene(value, &notes, Path::new(""))?;
    Ok((toml, notes.list.into_inner()))
}

fn read(text: &str) -> Scene {
    Scene::from_splishsplash("test", "scene.json", text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_present_form_is_taken_over() {
    let scene = read(PRESENT);
    let setup = &scene.setup;
    assert_eq!((setup.spacing, scene.duration, scene.output.fps), (0.1, 2.5, 40.0));
    assert_eq!(scene.output.formats, [Format::Bgeo, Format::Vtk]);
    assert_eq!(setup.time_step, TimeStep::Adaptive { max: 0.004, cfl: 0.2 });
    let Pressure::Implicit(settings) = setup.pressure else { panic!("implicit") };
    assert_eq!(settings.density_error, 5e-4);
    let [water, rubber, slot, pipe] = &setup.bodies[..] else { panic!("four bodies") };
    // ten spacings hold nine particles, half of ten four
    assert_eq!(water.shape, Shape::Box { size: Vec3::new(0.9, 0.4, 0.9) });
    assert!(water.pose.position.distance(Vec3::new(-0.5, 0.25, 0.5)) < 1e-12);
    let flow = water.material.flow;
    assert_eq!((flow.viscosity, flow.surface_tension, flow.drag), (0.0, 0.07, 0.5));
    // nu 6 dt / <r²>, with <r²> = 1.245 spacings² on the lattice
    assert!((flow.xsph - 0.02 * 6.0 * 0.004 / 0.01245).abs() < 1e-4, "{}", flow.xsph);
    assert_eq!(rubber.material.density, 1100.0);
    let pin = &rubber.pins[0].region;
    let held = rubber.shape.sample(0.1, rubber.sampling).into_iter().filter(|p| pin.contains(*p)).count();
    assert_eq!(held, 2 * 81, "the layers at x = 1.1 and 1.2");
    let (slot, pipe) = (slot.emitter.as_ref().expect("one"), pipe.emitter.as_ref().expect("one"));
    assert!(slot.direction().distance(Vec3::Y) < 1e-9);
    assert_eq!((slot.start, slot.end, slot.capacity), (0.5, 1.5, 350));
    assert_eq!(slot.mouth, Mouth::Box { size: [0.2, 0.4] });
    assert_eq!(pipe.mouth, Mouth::Circle { radius: 0.3 });
    assert_eq!(setup.rigids[0].shape, RigidShape::Container { size: Vec3::new(4.0, 3.0, 2.0) });
    assert!(setup.rigids[1].is_dynamic());
    assert_eq!(setup.joints.len(), 1);
    assert!(!scene.notes().is_empty());
}

#[test]
fn liquid_that_walls_hold_back_is_viscous() {
    let scene = read(&PRESENT.replace(r#""viscosityBoundary": 0"#, r#""viscosityBoundary": 0.1"#));
    assert_eq!(scene.setup.bodies[0].material.flow.viscosity, 18.0);
    // thicker than smoothing can be
    let scene = read(&PRESENT.replace(r#"{ "viscosity": 0.02,"#, r#"{ "viscosity": 2,"#));
    assert_eq!(scene.setup.bodies[0].material.flow.viscosity, 1800.0);
}

#[test]
fn the_older_form_is_taken_over() {
    let scene = read(OLDER);
    let setup = &scene.setup;
    assert_eq!((scene.duration, setup.time_step), (3.0, TimeStep::Fixed(0.001)));
    let Pressure::Weak(tait) = setup.pressure else { panic!("weak") };
    assert!((tait.sound_speed - (50_000.0f64 * 7.0 / 800.0).sqrt()).abs() < 1e-9);
    let flow = setup.bodies[0].material.flow;
    assert_eq!((flow.viscosity, flow.xsph, flow.surface_tension), (0.0, 0.25, 0.1));
    let emitter = setup.bodies[1].emitter.as_ref().expect("one");
    assert!(emitter.speed == 2.0 && emitter.direction().distance(-Vec3::Y) < 1e-9);
    // a wall that holds the liquid keeps it in
    assert_eq!(setup.rigids[0].shape, RigidShape::Container { size: Vec3::new(2.0, 4.0, 2.0) });
}

/// Calls `found` with the path of every value that is no object and no list of objects, as JSON pointer and as in notes.
fn for_each_leaf(value: &Value, pointer: &str, path: &str, found: &mut impl FnMut(&str, &str)) {
    match value {
        Value::Object(entries) => entries.iter().for_each(|(key, value)| {
            let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            for_each_leaf(value, &format!("{pointer}/{key}"), &below, found);
        }),
        Value::Array(values) if values.iter().any(Value::is_object) => {
            for (k, value) in values.iter().enumerate() {
                for_each_leaf(value, &format!("{pointer}/{k}"), &format!("{path}[{k}]"), found);
            }
        }
        _ => found(pointer, path),
    }
}

/// Another value of the same kind.
fn changed(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Number(number) if number.is_i64() => serde_json::json!(2 * number.as_i64().unwrap_or(0) + 1),
        Value::Number(number) => serde_json::json!(number.as_f64().unwrap_or(0.0) * 0.5 + 0.001),
        Value::String(text) => Value::String(format!("x{text}")),
        Value::Array(values) => Value::Array(values.iter().map(changed).collect()),
        other => other.clone(),
    }
}

#[test]
fn every_key_is_taken_over_or_told() {
    for text in [PRESENT, OLDER] {
        let value: Value = serde_json::from_str(text).expect("JSON");
        let (toml, _) = raw(&value).expect("a scene");
        let mut paths = Vec::new();
        for_each_leaf(&value, "", "", &mut |pointer, path| paths.push((pointer.to_owned(), path.to_owned())));
        assert!(paths.len() > 20);
        for (pointer, path) in paths {
            let mut other = value.clone();
            let leaf = other.pointer_mut(&pointer).expect("a value");
            *leaf = changed(leaf);
            let (other_toml, notes) = raw(&other).unwrap_or_else(|error| panic!("{path}: {error}"));
            let told = |note: &Note| path.starts_with(&note.path);
            assert!(other_toml != toml || notes.iter().any(told), "{path} is neither used nor told");
        }
    }
}

#[test]
fn unknown_keys_are_told_with_what_may_be_meant() {
    let notes = |text: &str| {
        let imported = import_splishsplash("scene.json", text, Path::new("")).expect("a scene");
        imported.notes.join("\n")
    };
    let told = notes(
        r#"{ "Configuration": { "imteStepSize": 0.001 }, "Bodies": [], "FluidBlocks": [ { "srart": 1 } ] }"#,
    );
    for words in [
        "Configuration.imteStepSize: this key is not known; did you mean \"timeStepSize\"?",
        "Bodies",
        "FluidBlocks[0].srart",
    ] {
        assert!(told.contains(words), "{words} in {told}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let refused = |text: &str| {
        Scene::from_splishsplash("test", "scene.json", text, &[]).expect_err("refused").to_string()
    };
    for (text, words) in [
        ("{\n \"Configuration\": }", "scene.json:2:"),
        ("[]", "must be an object"),
        ("{}", "not a scene of SPlisHSPlasH"),
        (
            r#"{ "Configuration": { "particleRadius": "wide" } }"#,
            "\"Configuration.particleRadius\" must be a number",
        ),
        (
            r#"{ "FluidBlocks": [ { "start": [0, 0], "end": [1, 1, 1] } ] }"#,
            "\"FluidBlocks[0].start\" must be three numbers",
        ),
        (r#"{ "FluidBlocks": 3 }"#, "must be a list"),
        (r#"{ "Configuration": {} }"#, "no bodies"),
    ] {
        assert!(refused(text).contains(words), "{text}: {}", refused(text));
    }
}

#[test]
fn numbers_are_written_as_people_write_them() {
    for (x, text) in
        [(0.1 + 0.2, "0.3"), (2.0 * 0.025, "0.05"), (1e-7, "1e-7"), (1000.0, "1000.0"), (-0.0, "-0.0")]
    {
        assert_eq!(text::number(x), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_scenes_are_read_or_refused(older: bool, cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = if older { OLDER } else { PRESENT }.as_bytes().to_vec();
        for (at, byte) in cuts {
            let k = at.index(bytes.len());
            match byte % 4 {
                0 => { bytes.remove(k); }
                1 => bytes[k] = b'0' + byte % 10,
                2 => bytes.insert(k, byte & 0x7f),
                _ => bytes[k] = b"{}[]\",:-e."[byte as usize % 10],
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = Scene::from_splishsplash("test", "scene.json", &text, &[]) {
            prop_assert!(!error.help.is_empty());
        }
    }

    #[test]
    fn values_of_any_kind_are_read_or_refused(older: bool, pick: prop::sample::Index, kind in 0usize..8) {
        let mut value: Value = serde_json::from_str(if older { OLDER } else { PRESENT }).expect("JSON");
        let mut pointers = Vec::new();
        for_each_leaf(&value, "", "", &mut |pointer, _| pointers.push(pointer.to_owned()));
        let new = [r#"null"#, "-1", "1e300", "[]", "{}", "\"\\u0000\"", "[1e308, -1e308, 0]", "0"][kind];
        *value.pointer_mut(&pointers[pick.index(pointers.len())]).expect("a value") = serde_json::from_str(new).expect("JSON");
        if let Err(error) = Scene::from_splishsplash("test", "scene.json", &value.to_string(), &[]) {
            prop_assert!(!error.help.is_empty());
        }
    }
}
