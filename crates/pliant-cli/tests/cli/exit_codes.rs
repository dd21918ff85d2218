//! 0 done, 1 the run failed, 2 bad input; one error on standard error, JSON lines on standard output.

use crate::support::{BUSY, EXPLODING, Place, SMALL, column, json, names_in};
use pliant::output::{Values, read_frame};

fn once(text: &str, part: &str) {
    assert_eq!(text.matches(part).count(), 1, "`{part}` once in:\n{text}");
}

#[test]
fn bad_scenes_end_with_2_and_a_remedy() {
    let place = Place::with_scene("small", SMALL);
    place.write("typo.toml", &SMALL.replace("youngs_modulus", "youngs_modulos"));
    place.write("broken.toml", "[simulation\n");
    place.write(
        "pin.toml",
        &format!(
            "{SMALL}\n[[bodies.pins]]\nregion = {{ type = \"sphere\", center = [9, 9, 9], radius = 1 }}\n"
        ),
    );
    for command in ["run", "check"] {
        let error = place.fail(&format!("{command} typo.toml"), 2);
        once(&error, "did you mean \"youngs_modulus\"");
        assert!(error.contains("typo.toml:13"), "{error}");
        let error = place.fail(&format!("{command} broken.toml"), 2);
        assert!(error.contains("broken.toml:1"), "{error}");
        let error = place.fail(&format!("{command} pin.toml"), 2);
        assert!(error.contains("pin.toml:") && error.contains("body coordinates"), "{error}");
        let error = place.fail(&format!("{command} nowhere.toml"), 2);
        assert!(error.contains("nowhere.toml") && error.contains("falling_cuboid"), "{error}");
        let error = place.fail(&format!("{command} faling_cuboid"), 2);
        assert!(error.contains("did you mean \"falling_cuboid\""), "{error}");
        let error = place.fail(&format!("{command} ."), 2);
        assert!(error.contains("folder"), "{error}");
    }
    assert_eq!(place.names_in("runs"), [""; 0], "a bad scene leaves nothing behind");
}

#[test]
fn bad_settings_end_with_2() {
    let place = Place::with_scene("small", SMALL);
    for (setting, word) in [
        ("nonsense", "no value"),
        ("simulation.spacing=", "no value"),
        ("simulation.spacing=wide", "spacing"),
        ("simulation.spacing=-1", "spacing"),
        ("simulation.spacin=1", "did you mean \"spacing\""),
        ("bodies.ball.velocity=[0,0,0]", "ball"),
        ("output.formats=[", "TOML"),
        ("..=1", "path"),
    ] {
        let error = place.fail(&format!("run small.toml --set {setting}"), 2);
        assert!(error.contains(word), "{setting}: {error}");
    }
}

#[test]
fn bad_flags_and_names_end_with_2() {
    let place = Place::with_scene("small", SMALL);
    for arguments in [
        "run small.toml --threads 0",
        "run small.toml --threads many",
        "run small.toml --frames -1",
        "run small.toml --no-such-flag",
        "no-such-command",
        "check",
        "render",
        "completions tcl",
        "scenes no_such_scene",
        "render nowhere",
        "render .",
        "bench no_such_benchmark",
        "bench peers", // away from the project's folder
        "bench against_explicit --until 9",
        "bench against_explicit --pressure high",
    ] {
        let error = place.fail(arguments, 2);
        assert!(!error.trim().is_empty(), "{arguments}");
    }
}

#[test]
fn a_folder_that_is_no_run_is_left_alone() {
    let place = Place::with_scene("small", SMALL);
    std::fs::create_dir(place.path("photos")).expect("a folder");
    place.write("photos/me.jpg", "a picture");
    let error = place.fail("run small.toml -o photos", 2);
    assert!(error.contains("photos") && error.contains("-o"), "{error}");
    assert_eq!(place.names_in("photos"), ["me.jpg"]);
    let error = place.fail("run small.toml -o small.toml", 2);
    assert!(error.contains("is a file"), "{error}");

    // A scene somebody wrote under the name that runs use.
    place.write("photos/scene.toml", SMALL);
    place.fail("run photos/scene.toml -o photos --set simulation.duration=0.05", 2);
    assert_eq!(place.names_in("photos"), ["me.jpg", "scene.toml"]);
}

#[test]
fn an_exploding_run_ends_with_1_and_keeps_its_last_good_state() {
    let place = Place::with_scene("exploding", EXPLODING);
    let error = place.fail("run exploding.toml -o out", 1);
    for part in ["error: ", "particle ", "of \"splinter\"", "at t = 0.0", "time_step.max", "kept in out"] {
        once(&error, part);
    }
    let index = json(&place.path("out/frames/index.json"));
    let last = index["frames"].as_array().and_then(|frames| frames.last()).expect("a last frame");
    let file = last["files"][0].as_str().expect("a file");
    let frame = read_frame(&place.path("out/frames").join(file)).expect("a frame that reads");
    assert!(frame.positions.as_flattened().iter().all(|x| x.is_finite()));
    for field in &frame.fields {
        match &field.values {
            Values::Scalars(values) => assert!(values.iter().all(|a| a.is_finite()), "{}", field.name),
            Values::Vectors(values) => assert!(values.as_flattened().iter().all(|a| a.is_finite())),
            Values::Integers(_) => {}
        }
    }
    let times = column(&place.path("out/stats.csv"), "time");
    assert_eq!(times.last(), Some(&last["time"].to_string()), "the last row is of the same state");
    assert!(!place.path("out/summary.json").exists(), "a run that failed has no summary");

    let again = place.fail("run exploding.toml -o out --resume", 1);
    assert_eq!(again.split_once("error: ").map(|(_, e)| e), error.split_once("error: ").map(|(_, e)| e));
    assert_eq!(column(&place.path("out/stats.csv"), "time"), times);
}

#[test]
fn a_run_that_fails_at_once_keeps_its_start() {
    let place = Place::with_scene("small", SMALL);
    let stretch = "--set bodies.cube.initial_stretch=[100,100,1] --set materials.rubber.strain=green";
    let error = place.fail(&format!("run small.toml -o out {stretch}"), 1);
    once(&error, "of \"cube\" is stretched");
    let frame = read_frame(&place.path("out/frames/small_0000.vtu")).expect("a frame that reads");
    assert!(frame.positions.as_flattened().iter().all(|x| x.is_finite()));
}

#[test]
fn json_lines_are_all_there_is_on_standard_output() {
    let place = Place::with_scene("busy", BUSY);
    place.write("exploding.toml", EXPLODING);
    let last = |arguments: &str, code: i32| {
        let end = place.end_of(arguments);
        assert_eq!(end.code, Some(code), "{arguments}: {}", end.stderr);
        let mut events = end.events();
        assert!(events.iter().all(|event| event["event"].is_string()), "{}", end.stdout);
        (events.pop().expect("an event"), end.stderr)
    };
    let (done, stderr) = last("run busy.toml -o done --json --set simulation.duration=0.1", 0);
    assert_eq!(done["event"], "done");
    assert_eq!(done["summary"], json(&place.path("done/summary.json")));
    assert_eq!(stderr, "");

    let (error, stderr) = last("run exploding.toml -o failed --json", 1);
    assert_eq!((&error["event"], &error["exit_code"]), (&"error".into(), &1.into()));
    once(&stderr, "of \"splinter\"");
    let message = error["message"].as_str().expect("a message");
    assert!(stderr.contains(message), "{message}");

    let (error, stderr) = last("run nowhere.toml --json", 2);
    assert_eq!((&error["event"], &error["exit_code"]), (&"error".into(), &2.into()));
    once(&stderr, "there is no file");
    assert!(names_in(&place.path("runs")).is_empty());
}
