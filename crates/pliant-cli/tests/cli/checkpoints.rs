//! Damaged and foreign checkpoints.

use crate::support::{BUSY, Place, names_in, text};
use std::path::PathBuf;

const SHORT: &str = "--set simulation.duration=0.5";

/// The checkpoints of a finished run, oldest first.
fn checkpoints(place: &Place, dir: &str) -> Vec<PathBuf> {
    let folder = place.path(dir).join("checkpoints");
    names_in(&folder).iter().map(|name| folder.join(name)).collect()
}

fn flip_a_byte(path: &PathBuf) {
    let mut bytes = std::fs::read(path).expect("a checkpoint");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(path, bytes).expect("a checkpoint that can be written");
}

fn cut(path: &PathBuf) {
    let bytes = std::fs::read(path).expect("a checkpoint");
    std::fs::write(path, &bytes[..bytes.len() / 3]).expect("a checkpoint that can be written");
}

fn empty(path: &PathBuf) {
    std::fs::write(path, "").expect("a checkpoint that can be written");
}

#[test]
fn a_damaged_newest_checkpoint_is_named_and_the_one_before_serves() {
    let place = Place::with_scene("busy", BUSY);
    place.succeed(&format!("run busy.toml -o out {SHORT}"));
    let whole = place.results("out");
    for damage in [flip_a_byte, cut, empty] {
        let newest = checkpoints(&place, "out").pop().expect("two checkpoints");
        damage(&newest);
        let end = place.succeed(&format!("run busy.toml -o out {SHORT} --resume"));
        let name = newest.file_name().expect("a name").to_string_lossy();
        assert!(end.stderr.contains(&format!("warning: checkpoint {name} was refused")), "{}", end.stderr);
        assert!(end.stderr.contains("going on from t = "), "{}", end.stderr);
        assert_eq!(place.results("out"), whole);
    }
}

#[test]
fn with_all_checkpoints_damaged_nothing_runs_and_nothing_is_lost() {
    let place = Place::with_scene("busy", BUSY);
    place.succeed(&format!("run busy.toml -o out {SHORT}"));
    let whole = place.results("out");
    checkpoints(&place, "out").iter().for_each(flip_a_byte);
    let error = place.fail(&format!("run busy.toml -o out {SHORT} --resume"), 2);
    assert!(error.contains("no usable checkpoint") && error.contains("without --resume"), "{error}");
    assert_eq!(place.results("out"), whole);
    assert!(place.path("out/movie.gif").exists());
}

#[test]
fn a_checkpoint_of_another_scene_is_refused_and_its_run_is_left_alone() {
    let place = Place::with_scene("busy", BUSY);
    place.succeed(&format!("run busy.toml -o out {SHORT}"));
    let (whole, scene) = (place.results("out"), text(&place.path("out/scene.toml")));
    let error = place.fail(&format!("run busy.toml -o out {SHORT} --set output.fps=20 --resume"), 2);
    assert!(error.contains("another scene"), "{error}");
    assert_eq!(place.results("out"), whole);
    assert_eq!(text(&place.path("out/scene.toml")), scene);
    place.succeed(&format!("run busy.toml -o out {SHORT} --resume"));
    assert_eq!(place.results("out"), whole);
}

#[test]
fn the_two_newest_checkpoints_are_kept() {
    let place = Place::with_scene("busy", BUSY);
    place.succeed(&format!("run busy.toml -o out {SHORT}"));
    // Frames 0 to 15 are stored; every 0.1 s is every third frame.
    assert_eq!(place.names_in("out/checkpoints"), ["000013.ckpt", "000016.ckpt"]);
}

#[test]
fn without_a_checkpoint_resume_starts_from_the_beginning_and_says_so() {
    let place = Place::with_scene("busy", BUSY);
    let end = place.succeed(&format!("run busy.toml -o out {SHORT} --resume"));
    assert!(end.stderr.contains("starting from the beginning"), "{}", end.stderr);
    place.succeed(&format!("run busy.toml -o plain {SHORT}"));
    assert_eq!(place.results("out"), place.results("plain"));
}

#[test]
fn a_run_stopped_by_frames_goes_on_where_it_stopped() {
    let place = Place::with_scene("busy", BUSY);
    place.succeed(&format!("run busy.toml -o whole {SHORT}"));
    place.succeed(&format!("run busy.toml -o out {SHORT} --frames 5"));
    assert_eq!(place.results("out").stats.len(), 1 + 6);
    let end = place.succeed(&format!("run busy.toml -o out {SHORT} --resume"));
    assert!(end.stderr.contains("going on from t = 0.1667 s"), "{}", end.stderr);
    assert_eq!(place.results("out"), place.results("whole"));
}
