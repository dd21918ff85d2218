//! Materials and the elastic methods that go with them.

use std::collections::BTreeMap;

use super::super::error::SceneError;
use super::super::file::{
    LawWord, MaterialFile, MaterialsFile, ModelWord, PhaseWord, SolverWord, StrainWord,
};
use super::super::read::At;
use super::super::suggest::quoted;
use super::LONGEST_TIME;
use super::numbers::show;
use crate::elasticity::{Method, Model, SolveTolerance, Solver};
use crate::material::{FlowLaw, Law, Material, Moduli, Schedule, SchedulePoint};

/// Stiffest modulus [Pa]; diamond has 1e12.
const STIFFEST: f64 = 1e13;
const SOFTEST: f64 = 1e-6;
/// XSPH of liquids by default, the share lost in a step: calms particles, and hardly slows what is larger than them.
const XSPH: f64 = 0.03;

/// What a body is made of, and how its elastic force is computed.
pub(super) type Stuff = (Material, Option<Method>);

pub(super) fn materials(
    at: At<'_>,
    written: Option<&MaterialsFile>,
) -> Result<BTreeMap<String, Stuff>, SceneError> {
    let mut stuffs = BTreeMap::new();
    for (index, (name, material)) in written.iter().flat_map(|materials| &materials.0).enumerate() {
        let at = at.index(index);
        at.name(name)?;
        stuffs.insert(name.clone(), stuff(at, name, material)?);
    }
    Ok(stuffs)
}

fn stuff(at: At<'_>, name: &str, written: &MaterialFile) -> Result<Stuff, SceneError> {
    let model = match written.model {
        Some(ModelWord::Fluid) => return Ok((liquid(at, name, written)?, None)),
        Some(ModelWord::Solenthaler2007) => Model::Solenthaler2007,
        None | Some(ModelWord::Mls2004) => Model::Mls2004,
        Some(ModelWord::Becker2009) => Model::Becker2009,
        Some(ModelWord::Peer2018) => Model::Peer2018,
        Some(ModelWord::Kugelstadt2021) => Model::Kugelstadt2021,
    };
    refuse_liquid_keys(at, name, written)?;
    let schedule = schedule(at, written)?;
    let moduli = match &schedule {
        Some(schedule) => schedule.stiffest(),
        None => moduli(at, &format!("material {}", quoted(name)), written.stiffness())?,
    };
    let material = Material {
        name: name.to_owned(),
        density: at.key("density").range(written.density.unwrap_or(1000.0), 1e-3, 1e6, "kg/m3")?,
        moduli,
        schedule,
        damping: at.key("damping").range(written.damping.unwrap_or(0.0), 0.0, 1e6, "1/s")?,
        friction: at.key("friction").range(written.friction.unwrap_or(0.3), 0.0, 100.0, "")?,
        restitution: at.key("restitution").range(written.restitution.unwrap_or(0.0), 0.0, 1.0, "")?,
        flow: FlowLaw::default(),
    };
    let law = law(at, written, model)?;
    let method = Method {
        model,
        law,
        solver: solver(at, written, (model, law, &material))?,
        tolerance: tolerance(at, written, model)?,
        zero_energy: at.key("zero_energy").range(written.zero_energy.unwrap_or(0.1), 0.0, 10.0, "")?,
        xsph: at.key("xsph").range(written.xsph.unwrap_or(0.0), 0.0, 1e6, "1/s")?,
    };
    Ok((material, Some(method)))
}

/// What only liquids have is refused.
fn refuse_liquid_keys(at: At<'_>, name: &str, written: &MaterialFile) -> Result<(), SceneError> {
    let liquid = [
        ("viscosity", written.viscosity.is_some()),
        ("surface_tension", written.surface_tension.is_some()),
        ("adhesion", written.adhesion.is_some()),
        ("drag", written.drag.is_some()),
    ];
    match liquid.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((key, _)) => {
            let message = format!("{} means nothing to the solid {}", quoted(key), quoted(name));
            Err(at.key(key).key_error(message, "leave it out, or use model = \"fluid\""))
        }
    }
}

/// A liquid; what only solids have is refused.
fn liquid(at: At<'_>, name: &str, written: &MaterialFile) -> Result<Material, SceneError> {
    let solid = [
        ("law", written.law.is_some()),
        ("solver", written.solver.is_some()),
        ("tolerance", written.tolerance.is_some()),
        ("absolute_tolerance", written.absolute_tolerance.is_some()),
        ("strain", written.strain.is_some()),
        ("youngs_modulus", written.youngs_modulus.is_some()),
        ("poisson_ratio", written.poisson_ratio.is_some()),
        ("shear_modulus", written.shear_modulus.is_some()),
        ("bulk_modulus", written.bulk_modulus.is_some()),
        ("schedule", written.schedule.is_some()),
        ("zero_energy", written.zero_energy.is_some()),
        ("restitution", written.restitution.is_some()),
    ];
    if let Some((key, _)) = solid.iter().find(|(_, given)| *given) {
        let message = format!("{} means nothing to the liquid {}", quoted(key), quoted(name));
        return Err(at.key(key).key_error(message, "leave it out, or choose the model of a solid"));
    }
    let range =
        |key, value: Option<f64>, most, unit| at.key(key).range(value.unwrap_or(0.0), 0.0, most, unit);
    Ok(Material {
        name: name.to_owned(),
        density: at.key("density").range(written.density.unwrap_or(1000.0), 1e-3, 1e6, "kg/m3")?,
        moduli: Moduli::ZERO,
        schedule: None,
        damping: range("damping", written.damping, 1e6, "1/s")?,
        friction: range("friction", written.friction, 100.0, "")?,
        restitution: 0.0,
        flow: FlowLaw {
            viscosity: range("viscosity", written.viscosity, 1e9, "Pa s")?,
            xsph: at.key("xsph").range(written.xsph.unwrap_or(XSPH), 0.0, 1.0, "")?,
            surface_tension: range("surface_tension", written.surface_tension, 1e3, "N/m")?,
            adhesion: range("adhesion", written.adhesion, 1e3, "N/m")?,
            drag: range("drag", written.drag, 1.0, "")?,
        },
    })
}

fn law(at: At<'_>, written: &MaterialFile, model: Model) -> Result<Law, SceneError> {
    let by_strain = written.strain.map(|word| match word {
        StrainWord::Linear => Law::Corotated,
        StrainWord::Green => Law::StVenantKirchhoff,
    });
    let by_law = match written.law {
        None => None,
        Some(word) => Some(law_of_word(at, word, written)?),
    };
    let name = quoted(at.label);
    let law = match (by_strain, by_law) {
        (Some(strain), Some(law)) if strain != law => {
            return Err(at.key("law").error(
                format!("\"law\" and \"strain\" of material {name} say different things"),
                "give one of them: linear strain is corotated, green strain is st_venant_kirchhoff",
            ));
        }
        (strain, law) => law.or(strain).unwrap_or(Law::Corotated),
    };
    if !model.accepts(law) {
        return Err(at.key("law").error(
            format!("model {} cannot compute the law {}", quoted(model.name()), quoted(law.name())),
            "use model = \"mls2004\", \"peer2018\" or \"kugelstadt2021\", or the law corotated or st_venant_kirchhoff",
        ));
    }
    for (key, value, owner) in [
        ("min_stretch", written.min_stretch, "neo_hookean_bounded"),
        ("second_invariant", written.second_invariant, "mooney_rivlin"),
    ] {
        if value.is_some() && law.name() != owner {
            return Err(at.key(key).key_error(
                format!("{} means nothing to the law {} of material {name}", quoted(key), quoted(law.name())),
                format!("leave it out, or use law = \"{owner}\""),
            ));
        }
    }
    Ok(law)
}

/// One linear solve a step where the law allows it, else Newton's method.
fn solver(
    at: At<'_>,
    written: &MaterialFile,
    (model, law, material): (Model, Law, &Material),
) -> Result<Solver, SceneError> {
    if !model.is_implicit() {
        return match written.solver {
            None => Ok(Solver::Linear),
            Some(_) => Err(at.key("solver").key_error(
                format!("\"solver\" means nothing to the explicit model {}", quoted(model.name())),
                "leave it out, or use model = \"peer2018\" or \"kugelstadt2021\"",
            )),
        };
    }
    let solver = match written.solver {
        Some(SolverWord::Newton) => Solver::Newton,
        Some(SolverWord::Linear | SolverWord::Split) if law != Law::Corotated => {
            return Err(at.key("solver").error(
                format!("one linear solve a step cannot compute the law {}", quoted(law.name())),
                "use solver = \"newton\", or law = \"corotated\"",
            ));
        }
        Some(SolverWord::Split) if model != Model::Kugelstadt2021 => {
            return Err(at.key("solver").error(
                format!("model {} is not split into stretch and volume", quoted(model.name())),
                "use solver = \"linear\", or model = \"kugelstadt2021\"",
            ));
        }
        Some(SolverWord::Split) => Solver::Split,
        Some(SolverWord::Linear) => Solver::Linear,
        None if law == Law::Corotated => Solver::Linear,
        None => Solver::Newton,
    };
    let scheduled = material.schedule.iter().flat_map(Schedule::points).map(|point| point.moduli);
    let auxetic = scheduled.chain([material.moduli]).any(|moduli| moduli.lame_lambda() < 0.0);
    if solver == Solver::Split && auxetic {
        return Err(at.key("solver").error(
            "solver \"split\" needs a Poisson's ratio of 0 or more: it solves for the volume on its own",
            "use solver = \"linear\" or \"newton\"",
        ));
    }
    Ok(solver)
}

fn tolerance(at: At<'_>, written: &MaterialFile, model: Model) -> Result<SolveTolerance, SceneError> {
    let given = [("tolerance", written.tolerance), ("absolute_tolerance", written.absolute_tolerance)];
    if let Some((key, _)) = given.iter().find(|(_, value)| value.is_some()).filter(|_| !model.is_implicit()) {
        return Err(at.key(key).key_error(
            format!("{} means nothing to the explicit model {}", quoted(key), quoted(model.name())),
            "leave it out, or use model = \"peer2018\" or \"kugelstadt2021\"",
        ));
    }
    match (written.tolerance, written.absolute_tolerance) {
        (None, None) => Ok(SolveTolerance::default()),
        (Some(relative), None) => {
            at.key("tolerance").range(relative, 1e-6, 0.1, "").map(SolveTolerance::Relative)
        }
        (None, Some(absolute)) => {
            at.key("absolute_tolerance").range(absolute, 1e-9, 10.0, "m/s").map(SolveTolerance::Absolute)
        }
        (Some(_), Some(_)) => Err(at.key("absolute_tolerance").key_error(
            format!("material {} gives its tolerance in two ways", quoted(at.label)),
            "give tolerance (relative) or absolute_tolerance (m/s)",
        )),
    }
}

/// A law with its own number.
fn law_of_word(at: At<'_>, word: LawWord, written: &MaterialFile) -> Result<Law, SceneError> {
    let number = |key, value: Option<f64>, default, (low, high)| {
        at.key(key).range(value.unwrap_or(default), low, high, "")
    };
    Ok(match word {
        LawWord::Corotated => Law::Corotated,
        LawWord::StVenantKirchhoff => Law::StVenantKirchhoff,
        LawWord::NeoHookean => Law::NeoHookean,
        LawWord::NeoHookeanQuadratic => Law::NeoHookeanQuadratic,
        LawWord::NeoHookeanBounded => Law::NeoHookeanBounded {
            min_stretch: number("min_stretch", written.min_stretch, Law::DEFAULT_MIN_STRETCH, (0.05, 0.95))?,
        },
        LawWord::MooneyRivlin => Law::MooneyRivlin {
            second_invariant: number(
                "second_invariant",
                written.second_invariant,
                Law::DEFAULT_SECOND_INVARIANT,
                (0.0, 1.0),
            )?,
        },
    })
}

/// Stiffness as written: E, Poisson's ratio, G, K.
type Stiffness = [Option<f64>; 4];

impl MaterialFile {
    fn stiffness(&self) -> Stiffness {
        [self.youngs_modulus, self.poisson_ratio, self.shear_modulus, self.bulk_modulus]
    }
}

/// `owner` is what has this stiffness, for messages.
fn moduli(at: At<'_>, owner: &str, written: Stiffness) -> Result<Moduli, SceneError> {
    let help = "give youngs_modulus with poisson_ratio, or shear_modulus with bulk_modulus";
    let modulus = |key, x| at.key(key).range(x, SOFTEST, STIFFEST, "Pa");
    match written {
        [Some(youngs), poisson, None, None] => {
            let youngs = modulus("youngs_modulus", youngs)?;
            from_young_poisson(at, youngs, poisson.unwrap_or(0.3))
        }
        [None, None, Some(shear), Some(bulk)] => {
            Ok(Moduli { shear: modulus("shear_modulus", shear)?, bulk: modulus("bulk_modulus", bulk)? })
        }
        [None, None, None, None] => Err(at.error(format!("{owner} has no stiffness"), help)),
        [None, Some(_), None, None] => {
            let message = format!("{owner} has a poisson_ratio but no youngs_modulus");
            Err(at.key("poisson_ratio").error(message, help))
        }
        [None, None, Some(_), None] => {
            let message = format!("{owner} has a shear_modulus but no bulk_modulus");
            Err(at.key("shear_modulus").error(message, help))
        }
        [None, None, None, Some(_)] => {
            let message = format!("{owner} has a bulk_modulus but no shear_modulus");
            Err(at.key("bulk_modulus").error(message, help))
        }
        [_, _, shear, _] => {
            let second = if shear.is_some() { "shear_modulus" } else { "bulk_modulus" };
            Err(at.key(second).error(format!("{owner} gives its stiffness in two ways"), help))
        }
    }
}

/// `at` is the material.
fn schedule(at: At<'_>, written: &MaterialFile) -> Result<Option<Schedule>, SceneError> {
    let Some(points) = &written.schedule else { return Ok(None) };
    let name = quoted(at.label);
    let place = at.key("schedule");
    if points.is_empty() {
        let help = "write points as in schedule = [{ time = 1, youngs_modulus = 5e5 }], or leave it out";
        return Err(place.error(format!("the schedule of material {name} has no points"), help));
    }
    let own = [("youngs_modulus", written.youngs_modulus), ("shear_modulus", written.shear_modulus)];
    for (key, value) in own.into_iter().chain([("bulk_modulus", written.bulk_modulus)]) {
        if value.is_some() {
            let message =
                format!("material {name} gives its stiffness in two ways: here and by its schedule");
            return Err(at.key(key).key_error(message, "move the modulus into the schedule, at time = 0"));
        }
    }
    if written.poisson_ratio.is_some() && points.iter().all(|point| point.youngs_modulus.is_none()) {
        let message = format!("\"poisson_ratio\" means nothing to the schedule of material {name}");
        return Err(at.key("poisson_ratio").key_error(message, "leave it out: shear and bulk moduli say it"));
    }
    let mut checked: Vec<SchedulePoint> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let place = place.index(index);
        let time = place.key("time").range(point.time, 0.0, LONGEST_TIME, "s")?;
        if let Some(last) = checked.last().filter(|last| time <= last.time) {
            let message = format!(
                "the time {} s is not after that of the last point, {} s",
                show(time),
                show(last.time)
            );
            return Err(place.key("time").error(message, "write the points in the order of their times"));
        }
        let poisson_ratio =
            point.poisson_ratio.or(written.poisson_ratio.filter(|_| point.youngs_modulus.is_some()));
        let stiffness = [point.youngs_modulus, poisson_ratio, point.shear_modulus, point.bulk_modulus];
        let moduli = match point.phase {
            Some(PhaseWord::Liquid) if point.youngs_modulus.or(point.shear_modulus).is_some() => {
                let message = "a liquid has no modulus";
                return Err(place.key("phase").error(message, "leave out the phase or the moduli"));
            }
            Some(PhaseWord::Liquid) => Moduli::ZERO,
            None => moduli(place, "this point of the schedule", stiffness)?,
        };
        let viscosity = point.viscosity.or(written.viscosity).unwrap_or(0.0);
        let viscosity = place.key("viscosity").range(viscosity, 0.0, 1e9, "Pa s")?;
        checked.push(SchedulePoint { time, moduli, viscosity });
    }
    if checked.iter().all(|point| point.moduli.is_liquid()) {
        let message = format!("material {name} is a liquid at all times");
        return Err(place.error(message, "use model = \"fluid\", or give some point of the schedule moduli"));
    }
    Ok(Some(Schedule::new(checked)))
}

fn from_young_poisson(at: At<'_>, youngs: f64, poisson: f64) -> Result<Moduli, SceneError> {
    let at = at.key("poisson_ratio");
    if poisson >= 0.5 {
        return Err(at.error(
            format!("\"poisson_ratio\" must be below 0.5, but is {}", show(poisson)),
            "at 0.5 matter cannot change its volume and its bulk modulus is infinite; use e.g. 0.49",
        ));
    }
    if poisson <= -1.0 {
        return Err(at.error(
            format!("\"poisson_ratio\" must be above -1, but is {}", show(poisson)),
            "most solids lie between 0.2 and 0.49; only auxetic foams are below 0",
        ));
    }
    let moduli = Moduli::from_young_poisson(youngs, poisson);
    if moduli.shear > STIFFEST || moduli.bulk > STIFFEST {
        let limit = if poisson > 0.0 { "0.5" } else { "-1" };
        return Err(at.error(
            format!(
                "\"poisson_ratio\" {} is so near to {limit} that a modulus exceeds 1e13 Pa",
                show(poisson)
            ),
            format!("use a ratio farther from {limit}, e.g. {}", if poisson > 0.0 { "0.49" } else { "-0.5" }),
        ));
    }
    Ok(moduli)
}
