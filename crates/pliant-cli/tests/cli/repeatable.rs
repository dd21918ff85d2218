//! Same scene, same result, bit for bit.

use crate::support::{BUSY, Place};

#[test]
fn the_number_of_threads_changes_no_bit() {
    let place = Place::with_scene("busy", BUSY);
    let results = ["1", "2", "7"].map(|threads| {
        place.succeed(&format!("run busy.toml -o by_{threads} --threads {threads}"));
        place.results(&format!("by_{threads}"))
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn the_stored_scene_runs_to_the_same_state() {
    let place = Place::with_scene("busy", BUSY);
    let changed = "--set materials.rubber.youngs_modulus=2e5 --set simulation.duration=0.3";
    place.succeed(&format!("run busy.toml -o first {changed}"));
    place.succeed("run first/scene.toml -o second");
    let (first, second) = (place.results("first"), place.results("second"));
    assert_eq!(first.state_hash, second.state_hash);
    assert_eq!(first.stats, second.stats);
    assert_eq!(first.probes, second.probes);

    place.succeed("run busy.toml -o plain --set simulation.duration=0.3");
    assert_ne!(place.results("plain").state_hash, first.state_hash, "the changed stiffness is in the scene");
}

/// Multiples of 1/60 differ in the last bit from k/60, for k = 23 as the first.
#[test]
fn probes_as_frequent_as_frames_sample_each_frame_once() {
    let place = Place::with_scene("busy", BUSY);
    place.succeed("run busy.toml -o out --set output.fps=60 --set simulation.duration=0.5");
    let frames = crate::support::column(&place.path("out/stats.csv"), "time");
    let times = crate::support::column(&place.path("out/probes.csv"), "time");
    let middle = crate::support::column(&place.path("out/probes.csv"), "middle.position.x");
    let sampled: Vec<&String> =
        times.iter().zip(&middle).filter(|(_, x)| *x != "nan").map(|(t, _)| t).collect();
    assert_eq!(sampled, frames.iter().collect::<Vec<_>>());
}
