//! The ways in which a case computes its body: model, law, and how a step is solved.

use pliant::elasticity::{Model, Solver};
use pliant::material::Law;

#[derive(Clone, Copy, PartialEq)]
pub struct Way {
    pub model: Model,
    pub law: Law,
    pub solver: Solver,
}

impl Way {
    pub const fn explicit(law: Law) -> Self {
        Way { model: Model::Mls2004, law, solver: Solver::Linear }
    }

    pub const fn newton(model: Model, law: Law) -> Self {
        Way { model, law, solver: Solver::Newton }
    }

    /// Stretch and volume one after the other.
    pub const SPLIT: Way = Way { model: Model::Kugelstadt2021, law: Law::Corotated, solver: Solver::Split };

    /// The implicit ways that cases run for a law: one linear solve a step where the law allows it, and Newton's method.
    pub fn implicit(law: Law) -> Vec<Way> {
        let linear = Model::IMPLICIT.map(|model| Way { model, law, solver: Solver::Linear });
        let linear = linear.into_iter().filter(|_| law == Law::Corotated);
        linear.chain([Way::newton(Model::Kugelstadt2021, law)]).collect()
    }

    /// As settings of the scene's material.
    pub fn settings(&self, material: &str) -> Vec<String> {
        let mut set = vec![
            format!("materials.{material}.model={}", self.model.name()),
            format!("materials.{material}.law={}", self.law.name()),
        ];
        if self.model.is_implicit() {
            let solver = match self.solver {
                Solver::Linear => "linear",
                Solver::Split => "split",
                Solver::Newton => "newton",
            };
            set.push(format!("materials.{material}.solver={solver}"));
        }
        set
    }

    /// The same, with a fixed step [s].
    pub fn stepping(&self, material: &str, dt: f64) -> Vec<String> {
        let mut set = self.settings(material);
        set.push(format!("simulation.time_step={dt:?}"));
        set
    }

    pub fn describe(&self) -> String {
        let solver = match self.solver {
            Solver::Newton if self.model.is_implicit() => " newton",
            Solver::Split => " split",
            _ => "",
        };
        format!("{}{solver} {}", self.model.name(), self.law.name())
    }

    /// The law as the references abbreviate it.
    pub fn short_law(&self) -> &'static str {
        match self.law {
            Law::Corotated => "cor",
            Law::StVenantKirchhoff => "stvk",
            Law::NeoHookean => "nh",
            _ => self.law.name(),
        }
    }
}
