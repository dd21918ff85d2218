//! Space, time, forces and files: the block `Configuration`.

use std::path::Path;

use super::block::Block;
use super::materials::Materials;
use super::text::Text;
use crate::kernel::{Kernel, KernelKind};
use crate::math::{Real, Vec3};
use crate::scene::error::SceneError;

/// Simulated time where the scene never ends [s].
const DURATION: Real = 5.0;
/// Frames per second where the scene does not say, as there.
const FPS: Real = 25.0;
/// Density errors that a scene may ask for.
const DENSITY_ERRORS: [Real; 2] = [1e-6, 0.1];

/// Pressure solvers by their numbers, each with its block.
const METHODS: [&str; 7] = ["WCSPH", "PCISPH", "PBF", "IISPH", "DFSPH", "Projective Fluids", "ICSPH"];

/// The settings that are taken over.
pub(super) struct Configuration {
    pub radius: Real,
    /// Simulated time [s].
    pub duration: Real,
    gravity: Vec3,
    step: Step,
    pressure: Pressure,
    kernel: &'static str,
    fps: Real,
    formats: Vec<&'static str>,
    camera: [Option<Vec3>; 2],
}

enum Step {
    Fixed(Real),
    Adaptive { max: Real, cfl: Real },
}

enum Pressure {
    /// A weak one without stiffness.
    None,
    /// Stiffness of the equation of state times its exponent [Pa]: the bulk modulus.
    Weak {
        bulk_modulus: Real,
    },
    Implicit {
        density_error: Option<Real>,
    },
}

impl Configuration {
    pub fn read(block: &Block) -> Result<Configuration, SceneError> {
        let radius = block.number("particleRadius")?.unwrap_or(0.025);
        let duration = duration(block)?;
        let fps = block.number("dataExportFPS")?;
        let fps = fps.or(block.number("partioFPS")?).filter(|fps| *fps > 0.0).unwrap_or(FPS);
        let configuration = Configuration {
            radius,
            duration,
            gravity: block.vector("gravitation")?.unwrap_or(Vec3::new(0.0, -9.81, 0.0)),
            step: step(block)?,
            pressure: pressure(block)?,
            kernel: kernel(block)?,
            fps: fps.min(1e5 / duration),
            formats: formats(block)?,
            camera: [block.vector("cameraPosition")?, block.vector("cameraLookat")?],
        };
        leave(block)?;
        Ok(configuration)
    }

    pub fn spacing(&self) -> Real {
        2.0 * self.radius
    }

    /// The share of XSPH that acts as a kinematic viscosity nu at the longest step dt: neighbours at a mean square
    /// distance <r²> even out velocities as nu = share <r²>/(6 dt) does.
    pub fn smoothing(&self, nu: Real) -> Real {
        let kind =
            if self.kernel == "wendland_c2" { KernelKind::WendlandC2 } else { KernelKind::CubicSpline };
        let kernel = Kernel::new(kind, 2.0);
        let (mut squares, mut weights) = (0.0, 0.0);
        for k in (0..125).filter(|k| *k != 62) {
            let offset = Vec3::new((k % 5) as Real, (k / 5 % 5) as Real, (k / 25) as Real) - 2.0;
            let weight = kernel.w(offset.length());
            squares += weight * offset.length_squared();
            weights += weight;
        }
        let (Step::Fixed(dt) | Step::Adaptive { max: dt, .. }) = self.step;
        nu * 6.0 * dt * weights / (squares * self.spacing().powi(2))
    }

    pub fn write(&self, out: &mut Text, materials: &Materials, file: &str) {
        let stem = Path::new(file).file_stem().map_or("scene".into(), |stem| stem.to_string_lossy());
        let title: String = stem.chars().filter(|c| !c.is_control()).take(100).collect();
        out.word("title", &title);
        out.heading("[simulation]");
        out.number("spacing", self.spacing());
        out.number("duration", self.duration);
        out.vector("gravity", self.gravity);
        match self.step {
            Step::Fixed(step) => out.number("time_step", step),
            Step::Adaptive { max, cfl } => {
                out.entry("time_step", &format!("{{ max = {max:?}, cfl = {cfl:?} }}"))
            }
        }
        match self.pressure {
            Pressure::None if !materials.any_liquid() => out.word("pressure", "none"),
            Pressure::None => out.word("pressure", "iisph"),
            Pressure::Weak { bulk_modulus } => {
                out.word("pressure", "wcsph");
                out.number("sound_speed", (bulk_modulus / materials.first_density()).sqrt());
            }
            Pressure::Implicit { density_error } => {
                out.word("pressure", "iisph");
                out.number_if("density_error", density_error);
            }
        }
        out.word("kernel", self.kernel);
        if let Some((min, max)) = materials.domain() {
            let (min, max) = (super::text::vector(min), super::text::vector(max));
            out.entry("domain", &format!("{{ min = {min}, max = {max} }}"));
        }
        out.heading("[output]");
        out.number("fps", self.fps);
        if !self.formats.is_empty() {
            out.entry("formats", &format!("[{}]", self.formats.join(", ")));
        }
        if let [Some(position), look_at] = self.camera {
            out.heading("[camera]");
            out.vector("position", position);
            out.vector("look_at", look_at.unwrap_or(Vec3::ZERO));
        }
        materials.write_look(out);
    }
}

fn duration(block: &Block) -> Result<Real, SceneError> {
    let ends = [block.number("stopAt")?, block.number("pauseAt")?];
    match ends.into_iter().flatten().find(|end| *end > 0.0) {
        Some(end) => Ok(end),
        None => {
            block.note("stopAt", format!("the scene has no end; {DURATION} s are simulated"));
            Ok(DURATION)
        }
    }
}

/// Without a CFL condition the step is fixed; with one, a particle moves 0.4 times its factor of a diameter.
fn step(block: &Block) -> Result<Step, SceneError> {
    let size = block.number("timeStepSize")?.unwrap_or(0.001);
    let max = block.number("cflMaxTimeStepSize")?.unwrap_or(0.005);
    let factor = block.number("cflFactor")?.unwrap_or(0.5);
    let method = block.method("cflMethod")?.unwrap_or(1);
    block.leave(&["cflMinTimeStepSize"], "a step is as short as it must be");
    if method == 0 {
        for key in ["cflFactor", "cflMaxTimeStepSize"].into_iter().filter(|key| block.has(key)) {
            block.note(key, "the step is fixed");
        }
        return Ok(Step::Fixed(size));
    }
    if method > 1 {
        block.note("cflMethod", "iterations of the solver do not change the step; the CFL condition does");
    }
    if block.has("timeStepSize") {
        block.note("timeStepSize", "the step is adaptive from the start");
    }
    Ok(Step::Adaptive { max, cfl: (0.4 * factor).clamp(1e-3, 1.0) })
}

fn pressure(block: &Block) -> Result<Pressure, SceneError> {
    let method = block.method("simulationMethod")?.unwrap_or(4);
    let inner = METHODS.get(method).map_or(Ok(None), |name| block.inner(name))?;
    for name in METHODS {
        if METHODS.get(method) != Some(&name) && block.take(name).is_some() {
            block.note(name, "settings of a pressure solver that is not chosen");
        }
    }
    let own = inner.as_ref().unwrap_or(block);
    let pressure = match method {
        0 => {
            let stiffness = own.number("stiffness")?.unwrap_or(50_000.0);
            let exponent = own.number("exponent")?.unwrap_or(7.0);
            if stiffness <= 0.0 || exponent <= 0.0 {
                Pressure::None
            } else {
                if exponent != 7.0 {
                    own.note(
                        "exponent",
                        "the equation of state has the exponent 7, and the same speed of sound",
                    );
                }
                Pressure::Weak { bulk_modulus: stiffness * exponent }
            }
        }
        _ => {
            if method != 3 {
                let name = METHODS.get(method).copied().unwrap_or("an unknown method");
                block.note("simulationMethod", format!("IISPH in place of {name}: both keep the density"));
            }
            let percent = own.number("maxError")?;
            let [low, high] = DENSITY_ERRORS;
            Pressure::Implicit { density_error: percent.map(|error| (error / 100.0).clamp(low, high)) }
        }
    };
    let reason = "the pressure solver has its own limits";
    for block in [own, block] {
        let keys = [
            "minIterations",
            "maxIterations",
            "maxIterationsV",
            "maxErrorV",
            "enableDivergenceSolver",
            "velocityUpdateMethod",
            "lambda",
            "pressureClamping",
        ];
        block.leave(&keys, reason);
        if method != 0 {
            block.leave(&["stiffness", "exponent"], reason);
        } else {
            block.leave(&["maxError"], reason);
        }
    }
    Ok(pressure)
}

fn kernel(block: &Block) -> Result<&'static str, SceneError> {
    let name = |number: Option<usize>| match number {
        Some(1) => "wendland_c2",
        _ => "cubic_spline",
    };
    let (kernel, gradient) = (block.method("kernel")?, block.method("gradKernel")?);
    if matches!(kernel, Some(2 | 3 | 5..)) {
        block.note("kernel", "the cubic spline in place of this kernel");
    }
    if gradient.is_some() && (name(gradient) != name(kernel) || matches!(gradient, Some(2 | 3 | 5..))) {
        block.note("gradKernel", "one kernel serves values and gradients");
    }
    Ok(name(kernel))
}

fn formats(block: &Block) -> Result<Vec<&'static str>, SceneError> {
    let mut formats = Vec::new();
    if block.flag("enablePartioExport")? == Some(true) {
        formats.push("\"bgeo\"");
    }
    if block.flag("enableVTKExport")? == Some(true) {
        formats.push("\"vtk\"");
    }
    Ok(formats)
}

/// What means something only to the other program.
fn leave(block: &Block) -> Result<(), SceneError> {
    if block.flag("sim2D")? == Some(true) {
        block.note("sim2D", "Pliant has three dimensions; blocks keep their thickness");
    }
    if block.method("boundaryHandlingMethod")?.is_some_and(|method| method != 0) {
        block
            .note("boundaryHandlingMethod", "walls are sampled by points half a spacing below their surface");
    }
    let viewer = [
        "pause",
        "numberOfStepsPerRenderUpdate",
        "renderWalls",
        "renderMaxVelocity",
        "renderMinVelocity",
        "renderAngularVelocity",
        "colorMapType",
        "particleColor",
        "cameraFOVY",
    ];
    block.leave(&viewer, "a setting of its viewer");
    let exports = [
        "particleAttributes",
        "enableRigidBodyExport",
        "enableRigidBodyVTKExport",
        "enableStateExport",
        "stateExportFPS",
        "enableObjectSplitting",
        "enableAsyncExport",
    ];
    block.leave(&exports, "Pliant writes every field, rigid bodies and checkpoints by itself");
    block.leave(&["enableZSort", "stepsPerZSort"], "Pliant orders particles by itself");
    block.leave(&["scriptFile", "pythonScript"], "scripts cannot be run");
    block.leave(&["sceneScale"], "nothing is scaled here");
    Ok(())
}
