//! Folders that cannot be written.
#![cfg(unix)]

use crate::support::{BUSY, End, Place, SMALL};
use pliant::output::read_frame;
use std::process::Command;

fn one_line_error(error: &str, part: &str) {
    assert!(error.starts_with("error: ") && error.contains(part), "{error}");
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    assert!(error.matches("os error").count() <= 1, "the reason once: {error}");
}

#[test]
fn a_folder_that_cannot_be_made_is_bad_input() {
    let place = Place::with_scene("small", SMALL);
    one_line_error(&place.fail("run small.toml -o /proc/pliant", 2), "/proc/pliant");
    one_line_error(&place.fail("run small.toml -o small.toml/out", 2), "small.toml/out");
    one_line_error(&place.fail("run small.toml -o /dev/null", 2), "/dev/null");
}

#[test]
fn a_file_in_the_way_is_named() {
    let place = Place::with_scene("small", SMALL);
    for (dir, name) in [("a", "frames"), ("b", "checkpoints")] {
        place.succeed(&format!("run small.toml -o {dir}"));
        std::fs::remove_dir_all(place.path(dir).join(name)).expect("a folder");
        place.write(&format!("{dir}/{name}"), "in the way");
        let end = place.end_of(&format!("run small.toml -o {dir}"));
        assert!(end.code == Some(1) || end.code == Some(2), "{}", end.stderr);
        one_line_error(&end.stderr, name);
    }
    place.succeed("run small.toml -o c");
    std::fs::remove_file(place.path("c/stats.csv")).expect("a table");
    std::fs::create_dir(place.path("c/stats.csv")).expect("a folder");
    one_line_error(&place.fail("run small.toml -o c", 1), "stats.csv");
}

/// A limit on the size of files stands for a full disk: the frames still fit, the table at some time does not.
#[test]
fn a_disk_that_fills_up_ends_the_run_with_a_clear_error() {
    let place = Place::with_scene("busy", BUSY);
    let program = env!("CARGO_BIN_EXE_pliant");
    for blocks in [4, 64] {
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec '{program}' run busy.toml -o out");
        let output = Command::new("sh").args(["-c", &limited]).current_dir(place.path("")).output();
        let end = End::of(output.expect("a shell"));
        assert_eq!(end.code, Some(1), "{}", end.stderr);
        let error = end.stderr.lines().find(|line| line.starts_with("error: ")).expect("an error");
        one_line_error(error, "free some space");
        assert!(!end.stderr.contains("panicked"), "{}", end.stderr);
        for name in place.names_in("out/frames").iter().filter(|name| name.ends_with(".vtu")) {
            read_frame(&place.path("out/frames").join(name)).expect("a whole frame");
        }
    }
    place.succeed("run busy.toml -o out --resume");
    place.succeed("run busy.toml -o whole");
    assert_eq!(place.results("out"), place.results("whole"));
}
