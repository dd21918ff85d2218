//! What is written down of a state: a row of statistics, a row of probes, a frame.

use super::rigids;
use crate::elasticity::SolvePart;
use crate::math::Real;
use crate::output::tables::{Cell, vector_columns};
use crate::output::{Field, Frame, FrameBody, OutputError, Table, Values};
use crate::simulation::{BodyDiagnostics, PointFields, Simulation, TimeStepLimit};
use std::path::Path;

/// `stats.csv`; `probes.csv` if the scene has probes, `rigids.csv` if it has dynamic rigid bodies.
pub(super) struct Tables {
    stats: Table,
    probes: Option<Table>,
    rigids: Option<Table>,
}

impl Tables {
    pub fn create(dir: &Path, simulation: &Simulation) -> Result<Self, OutputError> {
        let probes = probe_header(simulation);
        Ok(Tables {
            stats: Table::create(&dir.join("stats.csv"), &stats_header(simulation))?,
            probes: probes.map(|header| Table::create(&dir.join("probes.csv"), &header)).transpose()?,
            rigids: rigids::header(simulation)
                .map(|header| Table::create(&dir.join(rigids::FILE), &header))
                .transpose()?,
        })
    }

    pub fn resume(dir: &Path, simulation: &Simulation, time: Real) -> Result<Self, OutputError> {
        let probes = probe_header(simulation);
        let open = |name: &str, header: &[String]| Table::resume(&dir.join(name), header, time);
        Ok(Tables {
            stats: open("stats.csv", &stats_header(simulation))?,
            probes: probes.map(|header| open("probes.csv", &header)).transpose()?,
            rigids: rigids::header(simulation).map(|header| open(rigids::FILE, &header)).transpose()?,
        })
    }

    pub fn sync(&self) -> Result<(), OutputError> {
        let others = self.probes.iter().chain(&self.rigids);
        std::iter::once(&self.stats).chain(others).try_for_each(Table::sync)
    }

    /// Time of the next sample of any probe.
    pub fn next_sample(&self, simulation: &Simulation) -> Real {
        let after = |every: Real| every * ((simulation.time() / every + 1e-6).floor() + 1.0);
        simulation.setup().probes.iter().map(|p| after(p.every)).fold(Real::INFINITY, Real::min)
    }

    /// Adds a row if a probe is due now; probes that are not leave their columns without a number.
    pub fn sample_probes(&mut self, simulation: &Simulation) -> Result<(), OutputError> {
        let Some(table) = &mut self.probes else { return Ok(()) };
        let time = simulation.time();
        let due = |every: Real| (time / every - (time / every).round()).abs() < 1e-6;
        let probes = &simulation.setup().probes;
        if !probes.iter().any(|p| due(p.every)) {
            return Ok(());
        }
        let mut row = vec![time];
        for (k, probe) in probes.iter().enumerate() {
            if due(probe.every) {
                row.extend(simulation.sample_probe(k));
            } else {
                row.extend(simulation.probe_columns(k).iter().map(|_| Real::NAN));
            }
        }
        table.append(&row)
    }
}

fn probe_header(simulation: &Simulation) -> Option<Vec<String>> {
    let probes = &simulation.setup().probes;
    let columns = |k: usize| {
        let name = &probes[k].name;
        simulation.probe_columns(k).into_iter().map(move |c| format!("{name}.{c}")).collect::<Vec<_>>()
    };
    let header = std::iter::once("time".to_string()).chain((0..probes.len()).flat_map(columns));
    (!probes.is_empty()).then(|| header.collect())
}

fn stats_header(simulation: &Simulation) -> Vec<String> {
    let run = ["time", "frame", "steps", "dt", "limit", "limit_body", "limit_particle"];
    let stages = ["ms_elasticity", "ms_contact", "ms_neighbors", "ms_forces", "ms_pressure", "ms_motion"];
    let mut header: Vec<String> = run.iter().chain(&stages).map(|s| s.to_string()).collect();
    if simulation.pressure_totals().is_some() {
        header.extend(["pressure_iterations", "density_error", "max_density_error"].map(String::from));
    }
    if simulation.viscosity_totals().is_some() {
        header.extend(["viscosity_iterations", "viscosity_residual"].map(String::from));
    }
    if simulation.has_solvers() {
        let name = |part: &SolvePart| part.name();
        header.extend(SolvePart::ALL.iter().map(|part| format!("{}_iterations", name(part))));
        header.extend(SolvePart::ALL.iter().map(|part| format!("{}_products", name(part))));
        header.extend(SolvePart::ALL.iter().map(|part| format!("{}_residual", name(part))));
        header.extend(["newton_iterations", "factors"].map(String::from));
    }
    for body in simulation.bodies() {
        let name = |what: &str| format!("{}.{what}", body.name);
        header.extend(["kinetic_energy", "elastic_energy", "potential_energy"].map(name));
        for vector in ["momentum", "angular_momentum", "center"] {
            header.extend(vector_columns(&name(vector)));
        }
        header.extend(["volume", "min_det_f", "particles"].map(name));
    }
    for rigid in simulation.setup().rigids.iter().filter(|rigid| rigid.is_dynamic()) {
        for vector in ["center", "velocity", "angular_velocity"] {
            header.extend(vector_columns(&format!("{}.{vector}", rigid.name)));
        }
    }
    header
}

fn body_columns(d: &BodyDiagnostics) -> Vec<Real> {
    let mut columns = vec![d.kinetic_energy, d.elastic_energy, d.potential_energy];
    for vector in [d.momentum, d.angular_momentum, d.center] {
        columns.extend(vector.to_array());
    }
    columns.extend([d.volume, d.min_det_f, d.particles as Real]);
    columns
}

/// Adds a row of statistics and gives the frame of the present state.
pub(super) fn record(
    simulation: &Simulation,
    index: u32,
    limit: &TimeStepLimit,
    tables: &mut Tables,
) -> Result<Frame, OutputError> {
    let fields = simulation.fields();
    let times = simulation.stage_times();
    let (body, particle) = match limit.at {
        Some((body, particle)) => (simulation.bodies()[body].name.clone(), particle as Real),
        None => ("none".to_string(), Real::NAN),
    };
    let number = Cell::Number;
    let mut row = vec![
        number(simulation.time()),
        number(index as Real),
        number(simulation.steps() as Real),
        number(limit.dt),
        Cell::Word(limit.criterion.name().to_string()),
        Cell::Word(body),
        number(particle),
    ];
    let stages =
        [times.elasticity, times.contact, times.neighbors, times.forces, times.pressure, times.motion];
    row.extend(stages.map(number));
    if let Some(totals) = simulation.pressure_totals() {
        let last = totals.last;
        row.extend([totals.iterations as Real, last.mean_error, last.max_error].map(number));
    }
    if let Some(totals) = simulation.viscosity_totals() {
        row.extend([totals.iterations as Real, totals.residual].map(number));
    }
    if simulation.has_solvers() {
        let totals = simulation.solver_totals();
        row.extend(SolvePart::ALL.map(|part| number(totals.part(part).iterations as Real)));
        row.extend(SolvePart::ALL.map(|part| number(totals.part(part).products as Real)));
        row.extend(SolvePart::ALL.map(|part| number(totals.part(part).residual)));
        row.extend([totals.newton as Real, totals.factors as Real].map(number));
    }
    for k in 0..simulation.bodies().len() {
        row.extend(body_columns(&simulation.diagnostics(k, &fields)).into_iter().map(number));
    }
    for now in simulation.rigids().now().iter().filter(|now| now.is_dynamic()) {
        for vector in [now.center, now.velocity, now.angular_velocity] {
            row.extend(vector.to_array().map(number));
        }
    }
    tables.stats.append_cells(&row)?;
    if let Some(table) = &mut tables.rigids {
        table.append(&rigids::row(simulation))?;
    }
    Ok(frame(simulation, index, &fields))
}

/// The frame of the present state.
pub(super) fn frame(simulation: &Simulation, index: u32, fields: &[PointFields]) -> Frame {
    let particles = simulation.particles();
    let bodies = simulation.bodies();
    let rows: Vec<usize> = bodies.iter().flat_map(|b| b.range.clone()).collect();
    let single = |v: &crate::math::Vec3| v.as_vec3().to_array();
    let vectors = |column: &[crate::math::Vec3]| rows.iter().map(|&i| single(&column[i])).collect::<Vec<_>>();
    let scalars = |name: &str, f: &dyn Fn(usize) -> f32| Field {
        name: name.to_string(),
        values: Values::Scalars(rows.iter().map(|&i| f(i)).collect()),
    };
    let numbers = bodies.iter().enumerate().flat_map(|(k, b)| std::iter::repeat_n(k as i32, b.range.len()));
    Frame {
        index,
        time: simulation.time(),
        spacing: Some(simulation.setup().spacing as f32),
        bodies: bodies.iter().map(|b| FrameBody { name: b.name.clone(), count: b.range.len() }).collect(),
        positions: vectors(&particles.positions),
        fields: vec![
            Field { name: "velocity".into(), values: Values::Vectors(vectors(&particles.velocities)) },
            Field { name: "body".into(), values: Values::Integers(numbers.collect()) },
            scalars("stress", &|i| fields[i].von_mises),
            scalars("volume_ratio", &|i| fields[i].volume_ratio),
            scalars("pressure", &|i| fields[i].pressure),
        ],
        faces: None,
    }
}
