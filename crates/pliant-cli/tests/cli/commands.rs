//! The small commands.

use crate::support::{BUSY, Place, SMALL, json, text};
use serde_json::Value;
use std::process::Stdio;

#[test]
fn help_names_every_command() {
    let help = Place::new("help").succeed("--help").stdout;
    for command in
        ["run", "render", "check", "convert", "scenes", "new", "validate", "bench", "schema", "completions"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{command} in\n{help}");
    }
}

#[test]
fn without_a_scene_the_default_one_runs() {
    let place = Place::new("default");
    let default = pliant::scene::default_scene();
    place.succeed("run --frames 1 --set render.size=[96,54] --set simulation.spacing=0.05");
    assert_eq!(json(&place.path(&format!("runs/{default}/summary.json")))["scene"], default);
    let list = place.succeed("scenes").stdout;
    let marked: Vec<&str> = list.lines().filter(|line| line.ends_with("(default)")).collect();
    assert_eq!(marked.len(), 1, "{list}");
    assert!(marked[0].starts_with(default), "{list}");
}

#[test]
fn printed_scenes_load_again() {
    let place = Place::new("scenes");
    let list = place.succeed("scenes").stdout;
    for scene in pliant::scene::BUNDLED {
        assert!(list.contains(scene.name) && list.contains(scene.summary), "{list}");
        let printed = place.succeed(&format!("scenes {}", scene.name)).stdout;
        place.write("printed.toml", &printed);
        let loaded = pliant::scene::Scene::load(&place.path("printed.toml").to_string_lossy(), &[]);
        assert!(loaded.is_ok(), "{:?}", loaded.err());
    }
    let printed = place.succeed(&format!("scenes {}", pliant::scene::default_scene())).stdout;
    place.write("printed.toml", &printed);
    place.succeed("check printed.toml");
}

#[test]
fn a_new_scene_runs_and_is_never_overwritten() {
    let place = Place::new("new");
    let said = place.succeed("new mine.toml").stdout;
    assert!(said.contains("pliant run mine.toml"), "{said}");
    place.succeed("check mine.toml");
    place.write("mine.toml", SMALL);
    let error = place.fail("new mine.toml", 2);
    assert!(error.contains("mine.toml exists already"), "{error}");
    assert_eq!(text(&place.path("mine.toml")), SMALL);
    place.fail("new no/such/folder/mine.toml", 2);
}

#[test]
fn the_schema_is_json_that_describes_the_scene() {
    let schema: Value = serde_json::from_str(&Place::new("schema").succeed("schema").stdout).expect("JSON");
    for key in ["simulation", "output", "materials", "bodies", "rigids", "probes"] {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
}

#[test]
fn shells_complete() {
    let place = Place::new("completions");
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.succeed(&format!("completions {shell}")).stdout.contains("pliant"), "{shell}");
    }
}

#[test]
fn check_tells_what_would_run() {
    let place = Place::with_scene("busy", BUSY);
    let words = place.succeed("check busy.toml").stdout;
    for part in ["particles ", "memory ", "time step ", "limited by stiffness of \"ball\"", "wall time "] {
        assert!(words.contains(part), "{part} in\n{words}");
    }
    let end = place.succeed("check busy.toml --json");
    let [check] = end.events().try_into().expect("one object");
    let number = |key: &str| check[key].as_f64().unwrap_or_else(|| panic!("{key} in {check}"));
    assert_eq!(number("particles"), check["bodies"].as_object().map_or(0.0, sum_of));
    assert!(number("memory_bytes") > 0.0 && number("bytes_per_particle") > 0.0);
    assert!(number("time_step") > 0.0 && number("ms_per_step") > 0.0);
    assert_eq!(number("steps"), (0.95 / number("time_step")).ceil());
    assert!(check["limit"].as_str().is_some_and(|limit| limit.contains("stiffness")), "{check}");
    assert!(check["stable_time_steps"]["cube"].as_f64().is_some_and(|dt| dt >= number("time_step")));
    assert_eq!(check["warnings"], Value::Array(vec![]));
    assert_eq!(place.names_in(""), ["busy.toml"], "nothing is written");

    let short = place.succeed("check busy.toml --json --set simulation.time_step=1e-5").stdout;
    assert!(short.contains("time_step of the scene"), "{short}");
}

fn sum_of(bodies: &serde_json::Map<String, Value>) -> f64 {
    bodies.values().filter_map(Value::as_f64).sum()
}

/// `pliant ... | head`: who stops listening ends the program, quietly.
#[test]
fn a_closed_pipe_is_no_panic() {
    let place = Place::with_scene("small", SMALL);
    for arguments in ["scenes", "schema", "completions bash", "check small.toml", "run small.toml --json"] {
        let mut command = place.pliant(arguments);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        drop(child.stdout.take());
        let end = crate::support::End::of(child.wait_with_output().expect("a child"));
        assert!(!end.stderr.contains("panicked"), "{arguments}: {}", end.stderr);
    }
}
