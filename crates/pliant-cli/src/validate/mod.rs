//! `pliant validate`: every method against closed forms and converged references.
//!
//! A case is a folder under `validation/` (scene, reference values with their sources) and a check here.

mod bars;
mod beams;
mod blocks;
mod contact;
mod flag;
mod free;
mod laws;
mod liquids;
mod manufactured;
mod patch;
mod plots;
mod record;
mod rigid;
mod samplings;
mod spin;
mod torsion;
mod water;
mod way;

use clap::Args;
use record::{Recorder, Row};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct Arguments {
    /// Cases to run, by id or a part of the name [default: all]
    cases: Vec<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Finer resolutions, more moduli, steps and orientations: minutes instead of seconds
    #[arg(long)]
    full: bool,
    /// Draw plots (SVG) into this folder
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Threads [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// A validation case: its folder's reference and scene, and the check.
struct Case {
    name: &'static str,
    reference: &'static str,
    scene: &'static str,
    check: fn(&mut Recorder),
}

macro_rules! case {
    ($name:literal, $check:path) => {
        case!($name, $check, include_str!(concat!("../../../../validation/", $name, "/scene.toml")))
    };
    ($name:literal, $check:path, $scene:expr) => {
        Case {
            name: $name,
            reference: include_str!(concat!("../../../../validation/", $name, "/reference.json")),
            scene: $scene,
            check: $check,
        }
    };
}

/// Cases that look at single force evaluations have no scene.
const NO_SCENE: &str = "";
const CUBE: &str = include_str!("../../../../validation/C05c_spinning_cube/scene.toml");
const CANTILEVER: &str = include_str!("../../../../validation/C03a_cantilever/scene.toml");

const CASES: &[Case] = &[
    case!("C00a_projectile", free::projectile),
    case!("C01a_bar_vibration", bars::vibration),
    case!("C01b_bar_vibration_small", bars::vibration),
    case!("C02a_tension", bars::tension),
    case!("C02b_hanging_bar", bars::hanging),
    case!("C02c_confined_compression", blocks::confined),
    case!("C02d_bonded_block", blocks::bonded),
    case!("C03a_cantilever", beams::cantilever),
    case!("C04a_torsion", torsion::slow_twist),
    case!("C04b_torsion_vibration", torsion::vibration),
    case!("C04c_twisting_column", torsion::twisting_column),
    case!("C05a_patch", patch::homogeneous, NO_SCENE),
    case!("C05b_rigid_rotation", patch::rotation, NO_SCENE),
    case!("C05c_spinning_cube", free::spinning_cube),
    case!("C05d_rotating_bar", free::rotating_bar),
    case!("C05e_tumbling_box", rigid::tumbling),
    case!("C06a_csm1", flag::hanging),
    case!("C06b_csm2", flag::hanging),
    case!("C06c_csm3", flag::swinging),
    case!("C07a_plate", water::plate),
    case!("C07b_tank", water::tank),
    case!("C07c_dam_break", water::dam_break),
    case!("C07e_sloshing", water::sloshing),
    case!("C08a_floating", water::floating),
    case!("C09a_sliding_box", contact::sliding),
    case!("C09b_sliding_to_rolling", rigid::rolling),
    case!("C09c_bounce", rigid::bounce),
    case!("C09d_bar_impact", contact::bar_impact),
    case!("C10a_stress_stretch", laws::stress_stretch, NO_SCENE),
    case!("C10b_stvk_limit", blocks::compressive_limit, NO_SCENE),
    case!("C10c_principal_stress", laws::principal_stress, NO_SCENE),
    case!("C10d_principal_stress_inverted", laws::principal_stress_inverted, NO_SCENE),
    case!("C14c_droplet", liquids::droplet),
    case!("C14d_poiseuille", liquids::poiseuille),
    case!("C14e_couette", liquids::couette),
    case!("C15a_checkerboard", patch::checkerboard, CUBE),
    case!("C15b_convergence", beams::convergence, CANTILEVER),
    case!("C15c_manufactured", manufactured::neo_hookean, NO_SCENE),
    case!("C16a_bar_mode", bars::mode),
    case!("C17a_samplings", samplings::bounce),
    case!("B09_falling_cuboid", contact::falling_cuboid, include_str!("../../../../scenes/tumble.toml")),
    case!("W01_neutral_buoyancy", water::neutral),
    case!("W02_tank_lengths", water::lengths),
    case!("W03_thin_wall", water::thin_wall),
    case!("W04_momentum", water::momentum),
    case!("P18-2_spin", spin::rotation_field, include_str!("../../../../scenes/spin.toml")),
];

pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let wanted = |case: &&Case| {
        arguments.cases.is_empty()
            || arguments.cases.iter().any(|c| case.name.to_lowercase().contains(&c.to_lowercase()))
    };
    let chosen: Vec<&Case> = CASES.iter().filter(wanted).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = CASES.iter().map(|c| c.name).collect();
        return Err(crate::complain::BadInput(format!("no such case; there are {}", names.join(", "))).into());
    }
    let (mut judged, mut failed) = (0, 0);
    for case in chosen {
        let mut recorder = Recorder::new(case, arguments.full)?;
        if !arguments.json {
            say!("{}  {}", case.name, recorder.title());
        }
        (case.check)(&mut recorder);
        for row in &recorder.rows {
            judged += row.passed.is_some() as usize;
            failed += (row.passed == Some(false)) as usize;
            print_row(row, arguments.json)?;
        }
        if let Some(dir) = &arguments.plots {
            plots::draw(dir, case.name, &recorder.plots)?;
        }
    }
    if !arguments.json {
        say!("{} checks, {} passed, {failed} failed", judged, judged - failed);
    }
    Ok(ExitCode::from((failed > 0) as u8))
}

fn print_row(row: &Row, json: bool) -> anyhow::Result<()> {
    if json {
        say!("{}", serde_json::to_string(row)?);
        return Ok(());
    }
    let mark = match row.passed {
        Some(true) => "ok  ",
        Some(false) => "FAIL",
        None => "    ",
    };
    let number = |x: f64| if x != 0.0 && x.abs() < 1e-3 { format!("{x:.4e}") } else { format!("{x:.6}") };
    let reference = row.reference.map_or("-".to_string(), number);
    let error = row.relative_error.map_or(String::new(), |e| format!("{:+.2} %", 100.0 * e));
    say!(
        "  {mark} {:<62} {:>14}  {reference:>14} {error:>10}   {}",
        row.quantity,
        number(row.measured),
        row.variant
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_folder_has_a_readme_and_a_check() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation");
        let folders = std::fs::read_dir(root).expect("the validation folder").flatten();
        for folder in folders.filter(|f| f.path().is_dir()) {
            let name = folder.file_name().to_string_lossy().into_owned();
            assert!(folder.path().join("README.md").exists(), "{name} has no README.md");
            assert!(CASES.iter().any(|case| case.name == name), "{name} has no check");
        }
    }

    /// The quick cases that tell most: they take seconds. `pliant validate --full` runs everything.
    #[test]
    fn quick_cases_hold() {
        let quick = [
            "C00a", "C01a", "C02a", "C03a", "C05a", "C05b", "C05c", "C05e", "C09b", "C09c", "C09d", "C10",
            "C15a",
        ];
        for case in CASES.iter().filter(|c| quick.iter().any(|q| c.name.starts_with(q))) {
            let mut recorder = Recorder::new(case, false).expect("a readable reference");
            (case.check)(&mut recorder);
            assert!(recorder.rows.iter().any(|row| row.passed.is_some()), "{} judges nothing", case.name);
            for row in &recorder.rows {
                assert_ne!(row.passed, Some(false), "{}: {row:?}", case.name);
            }
        }
    }
}
