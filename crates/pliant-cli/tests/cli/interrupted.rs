//! Ctrl-C.
#![cfg(unix)]

use crate::support::{BUSY, End, Place, json};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Runs with these arguments and sends Ctrl-C as soon as the run has said that it goes.
fn interrupt(place: &Place, arguments: &str) -> End {
    let mut command = place.pliant(arguments);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut said = String::new();
    stderr.read_line(&mut said).expect("a line on standard error");
    assert!(said.contains("particles"), "{said}");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    stderr.read_to_string(&mut said).expect("text on standard error");
    let output = child.wait_with_output().expect("a child");
    End { stderr: said, ..End::of(output) }
}

#[test]
fn ctrl_c_finishes_the_frame_and_tells_how_to_go_on() {
    let place = Place::with_scene("busy", BUSY);
    // A longer run than anyone waits for.
    let end = interrupt(&place, "run busy.toml -o out --set simulation.duration=500");
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stderr.contains("finishing this frame and writing a checkpoint"), "{}", end.stderr);
    let summary = json(&place.path("out/summary.json"));
    assert_eq!(summary["stopped_early"], true);
    let stored = json(&place.path("out/frames/index.json"))["frames"].as_array().expect("frames").len();
    assert_eq!(place.names_in("out/checkpoints").last(), Some(&format!("{stored:06}.ckpt")));
    let hint = end.stdout.lines().find(|line| line.starts_with("stopped")).expect("how to go on");
    assert!(hint.contains("--resume"), "{hint}");
}

#[test]
fn the_printed_command_resumes_to_the_same_bits() {
    let place = Place::with_scene("busy", BUSY);
    let settings = "--set bodies.ball.velocity=[-2,0,0]";
    let end = interrupt(&place, &format!("run busy.toml -o out {settings}"));
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let (_, hint) = end.stdout.split_once("go on with:").expect("how to go on");
    let command = hint.trim().strip_prefix("pliant ").expect("a command");
    let program = env!("CARGO_BIN_EXE_pliant");
    let resumed = Command::new("sh")
        .args(["-c", &format!("'{program}' {command}")])
        .current_dir(place.path(""))
        .output()
        .expect("a shell");
    let resumed = End::of(resumed);
    assert_eq!(resumed.code, Some(0), "{command}\n{}", resumed.stderr);
    place.succeed(&format!("run busy.toml -o whole {settings}"));
    assert_eq!(place.results("out"), place.results("whole"));
    assert_eq!(json(&place.path("out/summary.json"))["stopped_early"], false);
}
