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
    /// What a body is made of. Give youngs_modulus with poisson_ratio, or shear_modulus with bulk_modulus.
    MaterialFile {
        /// Rest density [kg/m3]; default 1000.
        density: Option<f64>,
        /// Elastic method, named after its paper; default "mls2004".
        model: Option<ModelWord>,
        /// Strain measure; default "linear".
        strain: Option<StrainWord>,
        /// Elastic law, another way to say the strain: "corotated" is linear, "st_venant_kirchhoff" is green.
        law: Option<LawWord>,
        /// Young's modulus E [Pa].
        youngs_modulus: Option<f64>,
        /// Poisson's ratio, between -1 and 0.5; default 0.3.
        poisson_ratio: Option<f64>,
        /// Shear modulus G [Pa].
        shear_modulus: Option<f64>,
        /// Bulk modulus K [Pa].
        bulk_modulus: Option<f64>,
        /// Strength of the zero-energy control, 0 to 10; 0 switches it off; default 0.1.
        zero_energy: Option<f64>,
        /// Mass-proportional damping [1/s]; default 0.
        damping: Option<f64>,
        /// Damping of the motion of neighbours relative to one another [1/s]; default 0.
        xsph: Option<f64>,
        /// Coulomb friction of the surface; default 0.3.
        friction: Option<f64>,
        /// Restitution of contacts, 0 to 1; default 0.
        restitution: Option<f64>,
    }
}

words! {
    /// Elastic method, named after its paper.
    ModelWord {
        Solenthaler2007 = "solenthaler2007", Mls2004 = "mls2004", Becker2009 = "becker2009",
        Peer2018 = "peer2018", Kugelstadt2021 = "kugelstadt2021",
    }
    later ["zhou2013", "wicke2006", "fluid", "mpm"]
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
    LawWord { Corotated = "corotated", StVenantKirchhoff = "st_venant_kirchhoff", }
    later ["neo_hookean", "neo_hookean_quadratic", "neo_hookean_bounded", "mooney_rivlin"]
}
