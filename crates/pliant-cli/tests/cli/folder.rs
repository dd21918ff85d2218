//! What a run leaves in its folder.

use crate::support::{BUSY, Place, SMALL, column, json, text};

#[test]
fn the_folder_of_a_run_holds_what_the_documentation_lists() {
    let place = Place::with_scene("busy", BUSY);
    place.succeed("run busy.toml -o out --set simulation.duration=0.25");
    assert_eq!(
        place.names_in("out"),
        [
            "checkpoints",
            "frames",
            "movie.gif",
            "preview.png",
            "probes.csv",
            "scene.toml",
            "stats.csv",
            "summary.json"
        ]
    );
    let mut frames: Vec<String> = (0..=8).map(|k| format!("busy_{k:04}.vtu")).collect();
    frames.insert(0, "busy.pvd".into());
    frames.push("index.json".into());
    assert_eq!(place.names_in("out/frames"), frames);
    let index = json(&place.path("out/frames/index.json"));
    for (k, frame) in index["frames"].as_array().expect("frames").iter().enumerate() {
        assert_eq!(frame["frame"], k);
        assert_eq!(frame["time"].as_f64(), Some((k as f64 / 30.0).min(0.25)));
        assert_eq!(frame["files"][0], format!("busy_{k:04}.vtu"));
    }
    let summary = json(&place.path("out/summary.json"));
    for key in [
        "version",
        "scene",
        "particles",
        "steps",
        "simulated_seconds",
        "wall_seconds",
        "ms_per_step",
        "peak_memory_mb",
        "state_hash",
        "warnings",
    ] {
        assert!(!summary[key].is_null(), "{key}");
    }
    assert_eq!(summary["simulated_seconds"], 0.25);
    assert_eq!(summary["particles"].as_object().map(|bodies| bodies.len()), Some(3));
}

#[test]
fn tables_have_the_documented_columns() {
    let place = Place::with_scene("busy", BUSY);
    place.succeed("run busy.toml -o out --frames 2");
    let header = |name: &str| text(&place.path(name)).lines().next().expect("a header").to_string();
    let stats = header("out/stats.csv");
    assert!(stats.starts_with("time,frame,steps,dt,"), "{stats}");
    let columns: Vec<&str> = stats.split(',').collect();
    let xyz = |name: &str| ["x", "y", "z"].map(|axis| format!("{name}.{axis}")).to_vec();
    for body in ["cube", "ball", "awning"] {
        let mut expected: Vec<String> =
            ["kinetic_energy", "elastic_energy", "potential_energy"].map(|c| format!("{body}.{c}")).to_vec();
        for vector in ["momentum", "angular_momentum", "center"] {
            expected.extend(xyz(&format!("{body}.{vector}")));
        }
        expected.extend(["volume", "min_det_f", "particles"].map(|c| format!("{body}.{c}")));
        let start = columns.iter().position(|c| *c == expected[0]).expect("columns of the body");
        assert_eq!(columns[start..start + expected.len()], expected);
    }
    let mut probes = vec!["time".to_string()];
    probes.extend(xyz("corner.position"));
    probes.extend(xyz("corner.velocity"));
    for tensor in ["deformation_gradient", "stress"] {
        let axes = ["xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"];
        probes.extend(axes.map(|a| format!("corner.{tensor}.{a}")));
    }
    probes.extend(xyz("middle.position"));
    assert_eq!(header("out/probes.csv"), probes.join(","));
    assert_eq!(column(&place.path("out/stats.csv"), "frame"), ["0", "1", "2"]);
}

#[test]
fn the_last_frame_is_at_the_duration_exactly() {
    let place = Place::with_scene("small", SMALL);
    for (duration, frames) in [("0.05", 3), ("0.1", 5), ("0.30000000000000004", 15), ("0.001", 1)] {
        place.succeed(&format!("run small.toml -o out --set simulation.duration={duration}"));
        let times = column(&place.path("out/stats.csv"), "time");
        assert_eq!(times.len(), frames + 1, "{times:?}");
        assert_eq!(times.last().map(String::as_str), Some(duration));
    }
}

#[test]
fn frames_limits_the_run() {
    let place = Place::with_scene("small", SMALL);
    for (frames, stored) in [(0, 1), (3, 4), (100, 6)] {
        place.succeed(&format!("run small.toml -o out --frames {frames}"));
        let times = column(&place.path("out/stats.csv"), "time");
        assert_eq!(times.len(), stored);
        assert_eq!(times.last(), Some(&(0.02 * (stored - 1) as f64).to_string()));
        let files = place.names_in("out/frames").iter().filter(|name| name.ends_with(".vtu")).count();
        assert_eq!(files, stored, "frames of an earlier run are gone");
    }
}

#[test]
fn a_new_run_replaces_what_an_earlier_one_left() {
    let place = Place::with_scene("busy", BUSY);
    place.succeed("run busy.toml -o out --frames 4");
    place.write("other.toml", SMALL);
    place.succeed("run other.toml -o out --frames 2 --set output.formats=[\"ply\"]");
    assert_eq!(
        place.names_in("out/frames"),
        ["index.json", "other_0000.ply", "other_0001.ply", "other_0002.ply"]
    );
    assert_eq!(json(&place.path("out/summary.json"))["scene"], "other");
    assert!(!place.path("out/probes.csv").exists(), "the new scene has no probes");
}

/// The stiffness allows about a millisecond; the scene asks for twenty.
#[test]
fn a_fixed_step_above_the_stable_one_is_divided() {
    let place = Place::with_scene("busy", BUSY);
    let settings = "--set simulation.time_step=0.02 --set simulation.duration=0.2";
    place.succeed(&format!("run busy.toml -o out {settings}"));
    let stats = place.path("out/stats.csv");
    assert!(column(&stats, "limit").iter().all(|limit| limit == "stiffness"));
    assert!(column(&stats, "limit_body").iter().all(|body| body == "cube" || body == "ball"));
    assert!(column(&stats, "dt").iter().all(|dt| dt.parse::<f64>().is_ok_and(|dt| dt < 0.002)));
    for body in ["cube", "ball", "awning"] {
        let energies = column(&stats, &format!("{body}.kinetic_energy"));
        // Everything starts slower than 3 m/s and falls less than a second, at a few kilograms a body.
        let bounded = |e: &String| e.parse::<f64>().is_ok_and(|e| e < 1e3);
        assert!(energies.iter().all(bounded), "{energies:?}");
    }
}
