//! Methods of materials with their coefficients.

use super::block::Block;
use super::materials::Stuff;
use crate::math::{Real, Vec3};
use crate::scene::error::SceneError;

const STICKS: &str = "viscous liquid stands still on walls, with the viscosity it has inside";
const SLIDES: &str =
    "the liquid slides along walls: it gets the XSPH that has this viscosity at the longest step";
/// Largest share of XSPH that stands for a viscosity; beyond it velocities are even within few steps anyway.
const MOST_SMOOTHED: Real = 0.5;

/// Methods by their numbers, under the names of their blocks.
pub(super) const ELASTICITY: [&str; 5] =
    ["None", "Becker et al. 2009", "Peer et al. 2018", "Kugelstadt et al. 2021", "Kee et al. 2023"];
pub(super) const VISCOSITY: [&str; 7] = [
    "None",
    "Standard viscosity",
    "Bender and Koschier 2017",
    "Peer et al. 2015",
    "Peer et al. 2016",
    "Takahashi et al. 2015 (improved)",
    "Weiler et al. 2018",
];
/// The numbers of files without blocks.
pub(super) const OLDER_VISCOSITY: [&str; 8] = [
    "None",
    "Standard viscosity",
    "XSPH",
    "Bender and Koschier 2017",
    "Peer et al. 2015",
    "Peer et al. 2016",
    "Takahashi et al. 2015 (improved)",
    "Weiler et al. 2018",
];
pub(super) const TENSION: [&str; 6] = [
    "None",
    "Becker & Teschner 2007",
    "Akinci et al. 2013",
    "He et al. 2014",
    "Jeske et al. 2023",
    "Zorilla, Ritter, et al. 2020",
];
pub(super) const DRAG: [&str; 3] = ["None", "Macklin et al. 2014", "Gissler et al. 2017"];
pub(super) const VORTICITY: [&str; 3] = ["None", "Bender et al. 2017", "Vorticity confinement"];

/// A method with its coefficients: in a block of its own, or beside it.
pub(super) struct Choice<'b, 'a> {
    pub name: &'static str,
    inner: Option<Block<'a>>,
    outer: &'b Block<'a>,
}

impl<'b, 'a> Choice<'b, 'a> {
    pub fn read(
        outer: &'b Block<'a>,
        key: &'static str,
        names: &'static [&'static str],
        older: &'static [&'static str],
    ) -> Result<Choice<'b, 'a>, SceneError> {
        let number = outer.method(key)?;
        let given: Vec<&'static str> = names.iter().copied().filter(|name| outer.has(name)).collect();
        let name = match number {
            // a viscosity is the default there
            None => given.first().copied().filter(|name| *name == VISCOSITY[1]).unwrap_or("None"),
            Some(0) => "None",
            Some(k) => match (names.get(k), &given[..]) {
                (Some(name), given) if given.contains(name) => name,
                (_, [only]) => {
                    outer.note(
                        key,
                        format!("the number is of another method than the block, {only}, which counts"),
                    );
                    only
                }
                (by_number, _) => {
                    let flat = outer.has("viscosity");
                    let name = if flat { older.get(k) } else { by_number };
                    name.copied().unwrap_or_else(|| {
                        outer.note(key, "this method is not known and left out");
                        "None"
                    })
                }
            },
        };
        for other in given.iter().filter(|given| **given != name) {
            if outer.take(other).is_some() {
                outer.note(other, "settings of a method that is not chosen");
            }
        }
        Ok(Choice { name, inner: if name == "None" { None } else { outer.inner(name)? }, outer })
    }

    fn block(&self) -> &Block<'a> {
        self.inner.as_ref().unwrap_or(self.outer)
    }

    /// Tells that its coefficients are not used.
    pub fn leave_all(&self) {
        let reason = "it belongs to a method that is left out";
        if let Some(block) = &self.inner {
            block.take_all();
            self.outer.note(self.name, reason);
        }
        let flat = [
            "viscosity",
            "viscosityBoundary",
            "surfaceTension",
            "drag",
            "vorticity",
            "viscosityOmega",
            "inertiaInverse",
        ];
        self.outer.leave(&flat, reason);
    }

    /// Dynamic viscosity [Pa s], and XSPH. Coefficients of the other program are kinematic [m2/s].
    ///
    /// Where walls have no viscosity of their own, liquid slides along them. Here only XSPH leaves walls alone;
    /// `smoothing` tells the share of it that has a viscosity.
    pub fn viscosity(
        &self,
        density: Real,
        smoothing: impl Fn(Real) -> Real,
    ) -> Result<(Option<Real>, Option<Real>), SceneError> {
        let block = self.block();
        let coefficient = match self.name {
            "None" => None,
            "XSPH" => block.number("viscosity")?,
            _ => Some(block.number("viscosity")?.unwrap_or(0.01).max(0.0)),
        };
        let solver = ["viscoMaxIter", "viscoMaxError", "viscoMaxIterOmega", "viscoMaxErrorOmega"];
        block.leave(&solver, "the solver of viscosity has its own limits");
        let has_unit = matches!(self.name, "Standard viscosity" | "Weiler et al. 2018");
        let slides = has_unit && block.number("viscosityBoundary")?.unwrap_or(0.0) == 0.0;
        let share = coefficient.filter(|_| slides).map(smoothing).filter(|share| *share <= MOST_SMOOTHED);
        if share.is_none() {
            block.leave(&["viscosityBoundary"], STICKS);
        }
        match (self.name, coefficient) {
            ("None", _) => {
                block.leave(&["viscosity"], "no viscosity is chosen");
                Ok((None, None))
            }
            ("XSPH", coefficient) => Ok((None, coefficient.map(|share| share.clamp(0.0, 1.0)))),
            _ if share.is_some() => {
                block.note("viscosity", SLIDES);
                Ok((None, share))
            }
            (_, coefficient) => {
                if !has_unit {
                    let reason = "the coefficient of this method has no unit; it is taken as a kinematic viscosity in m2/s";
                    block.note("viscosity", reason);
                }
                if !block.has("viscosityBoundary") && coefficient != Some(0.0) {
                    block.note("viscosity", STICKS);
                }
                Ok((coefficient.map(|nu| nu * density), None))
            }
        }
    }

    /// Surface tension [N/m].
    pub fn tension(&self) -> Result<Option<Real>, SceneError> {
        let block = self.block();
        if matches!(self.name, "None" | "Jeske et al. 2023") {
            self.leave_surface("no surface tension in N/m can be made of the coefficient of this method");
            return Ok(None);
        }
        let tension = block.number("surfaceTension")?;
        if tension.is_some() {
            block.note("surfaceTension", "the coefficient is taken as a surface tension in N/m");
        }
        self.leave_surface("it belongs to another method of surface tension");
        Ok(tension.map(|tension| tension.clamp(0.0, 1e3)))
    }

    fn leave_surface(&self, reason: &str) {
        if let Some(block) = &self.inner {
            for key in block.keys().filter(|key| *key != "surfaceTension" || self.name == "Jeske et al. 2023")
            {
                if block.take(key).is_some() {
                    block.note(key, reason);
                }
            }
        }
        self.outer.leave(&["surfaceTension", "surfaceTensionBoundary"], reason);
    }

    /// Share of the drag of the air.
    pub fn drag(&self) -> Result<Option<Real>, SceneError> {
        let block = self.block();
        if self.name == "None" {
            block.leave(&["drag"], "no drag is chosen");
            return Ok(None);
        }
        let drag = block.number("drag")?.unwrap_or(1.0);
        if drag > 1.0 {
            block.note("drag", "all of the drag of the air, and no more");
        }
        Ok(Some(drag.clamp(0.0, 1.0)))
    }

    /// An elastic solid.
    pub fn solid(&self) -> Result<Stuff, SceneError> {
        let block = self.block();
        let model = match self.name {
            "Becker et al. 2009" => "becker2009",
            "Peer et al. 2018" => "peer2018",
            "Kugelstadt et al. 2021" => "kugelstadt2021",
            other => {
                self.outer.note("elasticityMethod", format!("kugelstadt2021 in place of {other}"));
                "kugelstadt2021"
            }
        };
        let fixed = [
            (block.vector("fixedBoxMin")?, block.vector("fixedBoxMax")?),
            (block.vector("fixedBox2Min")?, block.vector("fixedBox2Max")?),
        ];
        let given = |(min, max): (Option<Vec3>, Option<Vec3>)| {
            min.zip(max).filter(|(min, max)| min.cmplt(*max).all())
        };
        let solver = [
            "elasticityMaxIter",
            "elasticityMaxError",
            "maxNeighbors",
            "maxIterations",
            "maxError",
            "maxIterationsCG",
            "tolCG",
            "solverType",
            "lbfgsWindowSize",
            "useLineSearch",
            "materialType",
        ];
        let young = block.number("youngsModulus")?.unwrap_or(1e5);
        let poisson = block.number("poissonsRatio")?.or(block.number("poissonRatio")?).unwrap_or(0.3);
        let zero_energy = block.number("alpha")?.unwrap_or(0.0).clamp(0.0, 10.0);
        block.leave(&solver, "the elastic method has its own solver and limits");
        let fixed = fixed.into_iter().filter_map(given).collect();
        Ok(Stuff::Solid { model, young, poisson, zero_energy, fixed })
    }
}
