//! Killed at any moment, a run goes on from its last checkpoint.

use crate::support::{BUSY, Place, WET, json, names_in, text};
use pliant::output::{Checkpoint, read_frame};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const KILLS: u32 = 10;

/// Fractions of the run's duration, one in each tenth; a linear congruential generator places it there.
fn moments() -> impl Iterator<Item = f64> {
    let mut state: u32 = 2026;
    (0..KILLS).map(move |k| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (k as f64 + state as f64 / u32::MAX as f64) / KILLS as f64
    })
}

/// Starts a run and kills it after a while; false if it was done before.
fn kill_after(place: &Place, arguments: &str, wait: Duration) -> bool {
    let mut command = place.pliant(arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    std::thread::sleep(wait);
    let running = child.try_wait().expect("a child").is_none();
    child.kill().expect("a child that can be killed");
    child.wait().expect("a child");
    running
}

#[test]
fn a_run_killed_at_any_moment_resumes_to_the_same_bits() {
    let place = Place::with_scene("busy", BUSY);
    let start = Instant::now();
    place.succeed("run busy.toml -o whole");
    let duration = start.elapsed();
    let whole = place.results("whole");
    let (mut killed, mut from_a_checkpoint) = (0, 0);
    for (k, moment) in moments().enumerate() {
        let dir = format!("killed_{k}");
        killed += kill_after(&place, &format!("run busy.toml -o {dir}"), duration.mul_f64(moment)) as u32;
        nothing_is_partial(&place.path(&dir), BUSY);
        plant_temporaries(&place.path(&dir));
        let end = place.succeed(&format!("run busy.toml -o {dir} --resume"));
        from_a_checkpoint += end.stderr.contains("going on from t = ") as u32;
        assert_eq!(place.results(&dir), whole, "killed after {moment} of the run");
        no_temporaries(&place.path(&dir));
    }
    // how many is a matter of luck where the machine has other work
    assert!(killed > 0, "some of the runs were under way when killed");
    assert!(from_a_checkpoint > 0, "some of the runs had a checkpoint to go on from");
    println!("{killed} of {KILLS} runs were under way, {from_a_checkpoint} went on from a checkpoint");
}

#[test]
fn a_run_killed_again_and_again_arrives() {
    killed_again_and_again(BUSY);
}

#[test]
fn so_does_one_with_liquids() {
    killed_again_and_again(WET);
}

fn killed_again_and_again(scene: &str) {
    let place = Place::with_scene("scene", scene);
    let start = Instant::now();
    place.succeed("run scene.toml -o whole");
    let wait = start.elapsed().mul_f64(0.4);
    for _ in 0..4 {
        kill_after(&place, "run scene.toml -o out --resume", wait);
        nothing_is_partial(&place.path("out"), scene);
    }
    place.succeed("run scene.toml -o out --resume");
    assert_eq!(place.results("out"), place.results("whole"));
}

/// Every file under a final name is whole; only the tables may end in a torn row.
fn nothing_is_partial(dir: &Path, scene: &str) {
    for name in names_in(&dir.join("frames")) {
        let path = dir.join("frames").join(&name);
        match path.extension().and_then(|e| e.to_str()) {
            Some("vtu") => drop(read_frame(&path).expect("a whole frame")),
            Some("pvd") => assert!(text(&path).ends_with("</VTKFile>\n"), "{name}"),
            Some("json") => drop(json(&path)),
            _ => assert!(name.starts_with(".pliant-"), "{name} is a temporary"),
        }
    }
    for name in names_in(&dir.join("checkpoints")).iter().filter(|name| name.ends_with(".ckpt")) {
        let bytes = std::fs::read(dir.join("checkpoints").join(name)).expect("a checkpoint");
        Checkpoint::read(bytes.as_slice(), bytes.len() as u64).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    for name in names_in(dir) {
        let bytes = || std::fs::read(dir.join(&name)).expect("a file");
        match name.as_str() {
            "summary.json" => drop(json(&dir.join(&name))),
            "scene.toml" => assert_eq!(text(&dir.join(&name)), scene),
            "preview.png" => assert!(bytes().ends_with(b"IEND\xaeB`\x82")),
            "movie.gif" => assert!(bytes().ends_with(b";")),
            "stats.csv" | "probes.csv" => assert!(text(&dir.join(&name)).starts_with("time,")),
            _ => {}
        }
    }
}

fn plant_temporaries(dir: &Path) {
    for folder in [dir.to_path_buf(), dir.join("frames"), dir.join("checkpoints")] {
        if folder.is_dir() && dir.join("scene.toml").exists() {
            std::fs::write(folder.join(".pliant-1-2.part"), "half").expect("a file in the run's folder");
        }
    }
}

fn no_temporaries(dir: &Path) {
    for folder in ["", "frames", "checkpoints"] {
        let names = names_in(&dir.join(folder));
        assert!(names.iter().all(|name| !name.starts_with('.')), "{folder}: {names:?}");
    }
}
