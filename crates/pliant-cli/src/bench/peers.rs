//! Beams beside SPlisHSPlasH, in turns: what `benchmarks/peers/splishsplash.py` measures, as rows.

use super::{Arguments, rounded};
use crate::complain::BadInput;
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPT: &str = "benchmarks/peers/splishsplash.py";

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Vec<Value>> {
    if !Path::new(SCRIPT).is_file() {
        let text = format!("there is no {SCRIPT} here; run this benchmark in the project's folder");
        return Err(BadInput(text).into());
    }
    let output = Command::new("python3")
        .arg(SCRIPT)
        .args(["--json", "--rounds", "1", "--tries", "2", "--k", "14", "23"])
        .args(["--method", "Peer2018", "Kugelstadt2021", "--threads"])
        .arg(arguments.threads.unwrap_or(2).to_string())
        .arg("--pliant")
        .arg(std::env::current_exe()?)
        .stderr(Stdio::inherit())
        .output()
        .context("python3 cannot be started")?;
    ensure!(output.status.success(), "{SCRIPT} failed");
    let answer: Value = serde_json::from_slice(&output.stdout).context("what the script printed")?;
    let results = answer["results"].as_array().context("results of the script")?;
    Ok(results.iter().map(row).collect())
}

/// The peer's number over ours, and the numbers.
fn row(result: &Value) -> Value {
    let of = |program: &str, what: &str| result[program][what].as_f64().map(rounded);
    let ratio = |what: &str| result["ratio"][what]["best"].as_f64().map(rounded);
    json!({ "name": "peers", "model": result["scene"]["method"], "particles": result["particles"],
        "peer": result["peer"]["program"], "threads": result["threads"], "quiet": result["quiet"],
        "ms_step_peer": of("peer", "ms_step"), "ms_step": of("pliant", "ms_step"),
        "ratio_step": ratio("ms_step"), "ratio_step_median": ratio("ms_step_median"),
        "ratio_setup": ratio("setup_s"), "ratio_memory": ratio("peak_memory_mb") })
}
