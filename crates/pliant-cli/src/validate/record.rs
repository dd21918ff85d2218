//! Measured against reference: the rows of a case.

use super::Case;
use super::plots::Plot;
use anyhow::Context;
use pliant::math::{Mat3, Quat, Vec3};
use pliant::scene::Scene;
use pliant::simulation::Simulation;
use serde::{Deserialize, Serialize};

/// One judged quantity.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub name: String,
    pub quantity: String,
    /// Method, resolution, orientation.
    pub variant: String,
    pub measured: f64,
    pub reference: Option<f64>,
    pub relative_error: Option<f64>,
    /// Allowed |measured - reference|, or the bound itself.
    pub tolerance: Option<f64>,
    pub source: String,
    /// `None`: recorded, not judged.
    pub passed: Option<bool>,
}

#[derive(Deserialize)]
struct Reference {
    title: String,
    quantities: Vec<Quantity>,
}

#[derive(Clone, Deserialize)]
struct Quantity {
    name: String,
    value: serde_json::Value,
    abs_tol: Option<f64>,
    #[serde(rename = "rel_tol_L20")]
    rel_tol_l20: Option<f64>,
    #[serde(rename = "rel_tol_L40")]
    rel_tol_l40: Option<f64>,
    compare: String,
    source: String,
    #[serde(default)]
    info_only: bool,
}

/// Spacing over the case's characteristic length, which chooses the tolerance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    L20,
    L40,
}

pub struct Recorder {
    case: &'static str,
    reference: Reference,
    scene: &'static str,
    pub full: bool,
    pub resolution: Resolution,
    pub rows: Vec<Row>,
    pub plots: Vec<Plot>,
}

impl Recorder {
    pub fn new(case: &Case, full: bool) -> anyhow::Result<Self> {
        let reference =
            serde_json::from_str(case.reference).with_context(|| format!("reference of {}", case.name))?;
        Ok(Recorder {
            case: case.name,
            reference,
            scene: case.scene,
            full,
            resolution: Resolution::L20,
            rows: Vec::new(),
            plots: Vec::new(),
        })
    }

    pub fn title(&self) -> &str {
        &self.reference.title
    }

    /// The case's scene with some keys changed.
    pub fn simulation(&self, set: &[String]) -> Simulation {
        let scene = Scene::from_toml(self.case, self.case, self.scene, set);
        let scene = scene.unwrap_or_else(|error| panic!("the scene of {}: {error}", self.case));
        scene.build().unwrap_or_else(|error| panic!("the scene of {}: {error}", self.case))
    }

    /// The first reference value of a quantity.
    pub fn value(&self, quantity: &str) -> f64 {
        self.values(quantity)[0]
    }

    /// The reference values of a quantity.
    pub fn values(&self, quantity: &str) -> Vec<f64> {
        let found = self.reference.quantities.iter().find(|q| q.name == quantity);
        numbers(&found.unwrap_or_else(|| panic!("{} has no \"{quantity}\"", self.case)).value)
    }

    /// Judges measured values against the quantity of this name in the reference.
    pub fn compare(&mut self, quantity: &str, variant: &str, measured: &[f64]) {
        let found = self.reference.quantities.iter().find(|q| q.name == quantity).cloned();
        let q = found.unwrap_or_else(|| panic!("{} has no quantity \"{quantity}\"", self.case));
        let values = numbers(&q.value);
        assert_eq!(values.len(), measured.len(), "{} \"{quantity}\"", self.case);
        for (k, (&measured, &reference)) in measured.iter().zip(&values).enumerate() {
            let relative = match self.resolution {
                Resolution::L20 => q.rel_tol_l20,
                Resolution::L40 => q.rel_tol_l40,
            };
            let tolerance = q.abs_tol.or(relative.map(|r| r * reference.abs()));
            let judged = !q.info_only && q.compare != "record";
            let passed = match q.compare.as_str() {
                "ge" => measured >= reference,
                "true" => measured == 1.0,
                _ => tolerance.is_some_and(|t| (measured - reference).abs() <= t),
            };
            let name = if values.len() > 1 { format!("{quantity} [{k}]") } else { quantity.to_string() };
            self.rows.push(Row {
                name: self.case.to_string(),
                quantity: name,
                variant: variant.to_string(),
                measured,
                reference: Some(reference),
                relative_error: (reference != 0.0).then(|| measured / reference - 1.0),
                tolerance,
                source: q.source.clone(),
                passed: judged.then_some(passed),
            });
        }
    }

    /// Judges a value against our own reference: |measured - reference| <= tolerance.
    pub fn judge(
        &mut self,
        quantity: &str,
        variant: &str,
        measured: f64,
        reference: f64,
        tolerance: f64,
        source: &str,
    ) {
        self.push(quantity, variant, measured, Some(reference), Some(tolerance), source);
        let passed = (measured - reference).abs() <= tolerance;
        if let Some(row) = self.rows.last_mut() {
            row.passed = Some(passed);
        }
    }

    /// Notes a value without judging it.
    pub fn note(&mut self, quantity: &str, variant: &str, measured: f64, source: &str) {
        self.push(quantity, variant, measured, None, None, source);
    }

    fn push(
        &mut self,
        quantity: &str,
        variant: &str,
        measured: f64,
        reference: Option<f64>,
        tolerance: Option<f64>,
        source: &str,
    ) {
        self.rows.push(Row {
            name: self.case.to_string(),
            quantity: quantity.to_string(),
            variant: variant.to_string(),
            measured,
            reference,
            relative_error: reference.filter(|r| *r != 0.0).map(|r| measured / r - 1.0),
            tolerance,
            source: source.to_string(),
            passed: None,
        });
    }
}

/// A number, or the numbers of a list or table, row by row.
fn numbers(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().unwrap_or(f64::NAN)],
    }
}

/// An odd orientation in which cases are run again.
pub fn odd_turn() -> Quat {
    let (axis, degrees) = ODD_TURN;
    Quat::from_axis_angle(Vec3::from_array(axis).normalize(), f64::to_radians(degrees))
}

const ODD_TURN: ([f64; 3], f64) = ([0.3, 1.0, -0.5], 37.0);

/// Turns a body and a world vector (gravity, a force) by the odd angle, as settings of a scene.
pub fn turned(key: &str, vector: Vec3) -> Vec<String> {
    let (axis, degrees) = ODD_TURN;
    vec![
        format!("bodies.0.rotation={{ axis = {axis:?}, degrees = {degrees:?} }}"),
        setting(key, odd_turn() * vector),
    ]
}

/// `key=[x, y, z]`.
pub fn setting(key: &str, v: Vec3) -> String {
    format!("{key}=[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// Steps until a time; a failing step is a failing case.
pub fn advance(simulation: &mut Simulation, time: f64) {
    if let Err(error) = simulation.advance_to(time) {
        panic!("{error}");
    }
}

/// Displacement of each particle of body 0 in body coordinates.
pub fn displacements(simulation: &Simulation) -> Vec<Vec3> {
    let pose = simulation.setup().bodies[0].pose;
    let particles = simulation.particles();
    particles
        .positions
        .iter()
        .zip(&particles.rest_positions)
        .map(|(x, rest)| pose.to_body(*x) - *rest)
        .collect()
}

/// Elastic forces on body 0 in body coordinates [N].
pub fn forces(simulation: &Simulation) -> Vec<Vec3> {
    let back = Mat3::from_quat(simulation.setup().bodies[0].pose.rotation).transpose();
    simulation.elastic_forces(0).iter().map(|f| back * f.as_dvec3()).collect()
}

/// Mean over the particles whose rest position passes.
pub fn mean_where(simulation: &Simulation, values: &[Vec3], wanted: impl Fn(Vec3) -> bool) -> Vec3 {
    let rest = &simulation.particles().rest_positions;
    let chosen: Vec<Vec3> = values.iter().zip(rest).filter(|(_, x)| wanted(**x)).map(|(v, _)| *v).collect();
    chosen.iter().sum::<Vec3>() / chosen.len().max(1) as f64
}

/// Value at the outer face of a layered body along `axis`: linear through the means of the last two pairs of layers.
/// (Single layers carry the zig-zag that a lattice's gradients do not see.)
pub fn at_face(simulation: &Simulation, values: &[Vec3], axis: Vec3) -> Vec3 {
    let s = simulation.setup().spacing;
    let rest = &simulation.particles().rest_positions;
    let face = rest.iter().map(|x| x.dot(axis)).fold(f64::MIN, f64::max) + 0.5 * s;
    let pair =
        |depth: f64| mean_where(simulation, values, |x| (face - depth * s - x.dot(axis)).abs() < 0.75 * s);
    pair(1.0) * 1.5 - pair(3.0) * 0.5
}

/// Times at which a series crosses zero.
pub fn zero_crossings(series: &[(f64, f64)]) -> Vec<f64> {
    let crosses = |w: &&[(f64, f64)]| w[0].1 * w[1].1 < 0.0;
    let at = |w: &[(f64, f64)]| w[0].0 + (w[1].0 - w[0].0) * w[0].1 / (w[0].1 - w[1].1);
    series.windows(2).filter(crosses).map(at).collect()
}

/// Mean period from the crossings of zero, two a period.
pub fn period(series: &[(f64, f64)]) -> f64 {
    let crossings = zero_crossings(series);
    match crossings.len() {
        0 | 1 => f64::NAN,
        n => 2.0 * (crossings[n - 1] - crossings[0]) / (n - 1) as f64,
    }
}
