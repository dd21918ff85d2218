//! Materials as written.

use crate::scene::error::SceneError;
use crate::scene::read::{At, Read, table, words};
use crate::scene::tree::Kind;

/// Materials by name, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::scene) struct MaterialsFile(pub Vec<(String, MaterialFile)>);

impl Read for MaterialsFile {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        let Kind::Table(entries) = &at.node.kind else {
            return Err(at.error(
                format!("\"materials\" must be a table of materials, but is {}", at.node.kind.describe()),
                "write a heading [materials.NAME] for each material",
            ));
        };
        let read = |(index, (name, _)): (usize, &(String, _))| {
            MaterialFile::read(at.index(index)).map(|material| (name.clone(), material))
        };
        entries.iter().enumerate().map(read).collect::<Result<_, _>>().map(MaterialsFile)
    }
}

impl schemars::JsonSchema for MaterialsFile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MaterialsFile".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<std::collections::BTreeMap<String, MaterialFile>>()
    }
}

table! {
    /// What a body is made of. Give youngs_modulus with poisson_ratio, or shear_modulus with bulk_modulus, or a schedule.
    MaterialFile {
        /// Rest density [kg/m3]; default 1000.
        density: Option<f64>,
        /// Elastic method, named after its paper; default "mls2004".
        model: Option<ModelWord>,
        /// Elastic law; default "corotated". "solenthaler2007" and "becker2009" take no other than "corotated" and
        /// "st_venant_kirchhoff".
        law: Option<LawWord>,
        /// How "peer2018" and "kugelstadt2021" solve a step; default "linear" for the law "corotated", else "newton".
        solver: Option<SolverWord>,
        /// Relative residual of an implicit solve, 1e-6 to 0.1; default 1e-4.
        tolerance: Option<f64>,
        /// Instead of it, the mean residual of a particle over its mass [m/s], as in the paper of peer2018.
        absolute_tolerance: Option<f64>,
        /// Strain measure, another word for two laws: "linear" is corotated, "green" is st_venant_kirchhoff.
        strain: Option<StrainWord>,
        /// Stretch below which neo_hookean_bounded goes on with the stiffness it has there, 0.05 to 0.95; default 0.3.
        min_stretch: Option<f64>,
        /// Share of the shear modulus that the second invariant carries in mooney_rivlin, 0 to 1; default 0.2.
        second_invariant: Option<f64>,
        /// Young's modulus E [Pa].
        youngs_modulus: Option<f64>,
        /// Poisson's ratio, between -1 and 0.5; default 0.3.
        poisson_ratio: Option<f64>,
        /// Shear modulus G [Pa].
        shear_modulus: Option<f64>,
        /// Bulk modulus K [Pa].
        bulk_modulus: Option<f64>,
        /// Moduli that change with time, in place of the moduli above; constant before the first and after the last.
        schedule: Option<Vec<ScheduleFile>>,
        /// Strength of the zero-energy control, 0 to 10; 0 switches it off; default 0.1.
        zero_energy: Option<f64>,
        /// Mass-proportional damping [1/s]; default 0.
        damping: Option<f64>,
        /// Damping of the motion of neighbours relative to one another: of solids a rate [1/s], default 0; of liquids the
        /// share lost in a step, 0 to 1, default 0.03.
        xsph: Option<f64>,
        /// Dynamic viscosity of a liquid [Pa s]; water 0.001, honey 10; default 0.
        viscosity: Option<f64>,
        /// Surface tension of a liquid [N/m]; water 0.072; default 0.
        surface_tension: Option<f64>,
        /// Attraction of a liquid to walls and solids [N/m]: about half of its surface tension for a contact angle of 90
        /// degrees, all of it wets; default 0.
        adhesion: Option<f64>,
        /// Share of the drag of the air that a liquid feels, 0 to 1; default 0.
        drag: Option<f64>,
        /// Coulomb friction of the surface; default 0.3.
        friction: Option<f64>,
        /// Restitution of contacts, 0 to 1; default 0.
        restitution: Option<f64>,
    }
}

table! {
    /// The moduli at a time, as for a material; between two times they are interpolated geometrically.
    ScheduleFile {
        /// [s], 0 or more; times rise.
        time: f64,
        /// Young's modulus E [Pa].
        youngs_modulus: Option<f64>,
        /// Poisson's ratio, between -1 and 0.5; default that of the material.
        poisson_ratio: Option<f64>,
        /// Shear modulus G [Pa].
        shear_modulus: Option<f64>,
        /// Bulk modulus K [Pa].
        bulk_modulus: Option<f64>,
        /// In place of moduli: "liquid", without any stiffness.
        phase: Option<PhaseWord>,
        /// Dynamic viscosity while it is liquid [Pa s]; default that of the material.
        viscosity: Option<f64>,
    }
}

words! {
    /// Matter without stiffness.
    PhaseWord { Liquid = "liquid", } later []
}

words! {
    /// Elastic method, named after its paper.
    ModelWord {
        Solenthaler2007 = "solenthaler2007", Mls2004 = "mls2004", Becker2009 = "becker2009",
        Peer2018 = "peer2018", Kugelstadt2021 = "kugelstadt2021",
        /// A liquid.
        Fluid = "fluid",
    }
    later ["zhou2013", "wicke2006", "mpm"]
}

words! {
    /// How an implicit step is solved.
    SolverWord {
        /// Once, linearised.
        Linear = "linear",
        /// Stretch, then volume, as published (kugelstadt2021).
        Split = "split",
        /// To convergence, by Newton's method.
        Newton = "newton",
    } later []
}

words! {
    /// Strain measure.
    StrainWord {
        /// Small strain in the frame that turns with the matter.
        Linear = "linear",
        /// Green's strain.
        Green = "green",
    } later []
}

words! {
    /// Elastic law.
    LawWord {
        /// Small strain in the frame that turns with the matter.
        Corotated = "corotated",
        /// Green's strain; weak under strong compression.
        StVenantKirchhoff = "st_venant_kirchhoff",
        /// Resists loss of volume without bound.
        NeoHookean = "neo_hookean",
        /// Neo-Hookean with a quadratic energy of the volume.
        NeoHookeanQuadratic = "neo_hookean_quadratic",
        /// Neo-Hookean of bounded stiffness, valid through inversion.
        NeoHookeanBounded = "neo_hookean_bounded",
        /// Rubber: two invariants of the shape and a quadratic energy of the volume.
        MooneyRivlin = "mooney_rivlin",
    } later []
}
