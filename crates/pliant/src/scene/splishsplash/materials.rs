//! What matter is made of: the list `Materials`, and its older places.

use super::block::Block;
use super::configuration::Configuration;
use super::matter::{DEFAULT_ID, Matter};
use super::methods::{Choice, DRAG, ELASTICITY, OLDER_VISCOSITY, TENSION, VISCOSITY, VORTICITY};
use super::text::Text;
use crate::math::{Real, Vec3};
use crate::scene::error::SceneError;
use crate::scene::resolved::quoted;

/// Keys that the oldest files have in `Configuration`.
const IN_CONFIGURATION: [&str; 4] = ["density0", "viscosity", "viscosityMethod", "surfaceTension"];

pub(super) struct Materials(Vec<Material>);

struct Material {
    id: String,
    /// Fit for Pliant, and of no other material.
    name: String,
    density: Real,
    stuff: Stuff,
    /// Particles that emitters may make.
    most_emitted: Option<u64>,
    /// Liquid outside of it is emitted again.
    reuse_box: Option<(Vec3, Vec3)>,
    /// Coloured by speed, in this range.
    by_speed: Option<Option<[Real; 2]>>,
}

/// How matter resists.
pub(super) enum Stuff {
    Liquid { viscosity: Option<Real>, xsph: Option<Real>, tension: Option<Real>, drag: Option<Real> },
    Solid { model: &'static str, young: Real, poisson: Real, zero_energy: Real, fixed: Vec<(Vec3, Vec3)> },
}

/// Reads the materials of all that is in the scene.
pub(super) fn read(
    root: &Block,
    (written, configuration): (&Block, &Configuration),
    matter: &Matter,
) -> Result<Materials, SceneError> {
    let mut materials = Materials(Vec::new());
    for block in root.list("Materials")? {
        let id = block.text("id")?.unwrap_or(DEFAULT_ID);
        if materials.find(id).is_some() {
            block.note("id", "a second material of this id is left out");
            block.take_all();
            continue;
        }
        materials.add(&block, id, configuration)?;
        if materials.0.len() > 1 && materials.0.last().is_some_and(|material| material.by_speed.is_some()) {
            block.note("colorMapType", "pictures are coloured as the first material says");
        }
    }
    for id in matter.ids() {
        if materials.find(id).is_some() {
            continue;
        }
        match root.inner(id)? {
            Some(block) => materials.add(&block, id, configuration)?,
            None if IN_CONFIGURATION.iter().any(|key| written.has(key)) => {
                materials.add(written, id, configuration)?
            }
            None => {
                root.notes
                    .add("Materials", format!("no material has the id {}: it is like water", quoted(id)));
                materials.push(Material::plain(id));
            }
        }
    }
    let reusing = materials.0.iter().filter(|material| material.reuse_box.is_some()).count();
    if reusing > 1 || (reusing == 1 && materials.0.len() > 1) {
        root.notes
            .add("Materials", "boxes outside of which liquid is reused are taken as one domain for all");
    }
    Ok(materials)
}

impl Material {
    fn plain(id: &str) -> Material {
        let stuff = Stuff::Liquid { viscosity: None, xsph: None, tension: None, drag: None };
        Material {
            id: id.to_owned(),
            name: String::new(),
            density: 1000.0,
            stuff,
            most_emitted: None,
            reuse_box: None,
            by_speed: None,
        }
    }

    fn read(block: &Block, id: &str, configuration: &Configuration) -> Result<Material, SceneError> {
        let density = block.number("density0")?.unwrap_or(1000.0);
        let elastic = Choice::read(block, "elasticityMethod", &ELASTICITY, &ELASTICITY)?;
        let viscous = Choice::read(block, "viscosityMethod", &VISCOSITY, &OLDER_VISCOSITY)?;
        let tension = Choice::read(block, "surfaceTensionMethod", &TENSION, &TENSION)?;
        let drag = Choice::read(block, "dragMethod", &DRAG, &DRAG)?;
        let vorticity = Choice::read(block, "vorticityMethod", &VORTICITY, &VORTICITY)?;
        let stuff = match elastic.name {
            "None" => {
                let (viscosity, xsph) = viscous.viscosity(density, |nu| configuration.smoothing(nu))?;
                Stuff::Liquid { viscosity, xsph, tension: tension.tension()?, drag: drag.drag()? }
            }
            _ => {
                for (choice, key) in
                    [(&viscous, "viscosityMethod"), (&tension, "surfaceTensionMethod"), (&drag, "dragMethod")]
                {
                    choice.leave_all();
                    if choice.name != "None" {
                        block.note(key, "solids have no viscosity, surface tension or drag here");
                    }
                }
                elastic.solid()?
            }
        };
        vorticity.leave_all();
        if vorticity.name != "None" {
            block.note("vorticityMethod", "vorticity is not added");
        }
        block.leave(&["vorticity", "viscosityOmega", "inertiaInverse"], "vorticity is not added");
        let reuse = block.flag("emitterReuseParticles")?.unwrap_or(false);
        let corners = (block.vector("emitterBoxMin")?, block.vector("emitterBoxMax")?);
        if !reuse {
            for key in ["emitterBoxMin", "emitterBoxMax"].into_iter().filter(|key| block.has(key)) {
                block.note(key, "the box means something with emitterReuseParticles only");
            }
        }
        if reuse && block.has("maxEmitterParticles") {
            block.note("maxEmitterParticles", "liquid that leaves the domain makes room for any number");
        }
        let most = block.number("maxEmitterParticles")?.filter(|most| (1.0..1e9).contains(most));
        Ok(Material {
            density,
            stuff,
            most_emitted: most.filter(|_| !reuse).map(|most| most as u64),
            reuse_box: match corners {
                (Some(min), Some(max)) if reuse && min.cmplt(max).all() => Some((min, max)),
                _ => None,
            },
            by_speed: by_speed(block)?,
            ..Material::plain(id)
        })
    }
}

/// Colours that show speed are taken over.
fn by_speed(block: &Block) -> Result<Option<Option<[Real; 2]>>, SceneError> {
    let (field, map) = (block.text("colorField")?, block.method("colorMapType")?);
    let (low, high) = (block.number("renderMinValue")?, block.number("renderMaxValue")?);
    let shows_speed = map.is_some_and(|map| map > 0) && field.unwrap_or("velocity") == "velocity";
    let reason = if shows_speed { "speed has its own colours here" } else { "pictures are coloured by body" };
    let keys = ["colorMapType", "colorField", "renderMinValue", "renderMaxValue"];
    for key in keys.into_iter().filter(|key| block.has(key) && (!shows_speed || *key == "colorMapType")) {
        block.note(key, reason);
    }
    let range = high.map(|high| [low.unwrap_or(0.0), high]).filter(|[a, b]| a < b);
    Ok(shows_speed.then_some(range))
}

impl Materials {
    fn find(&self, id: &str) -> Option<&Material> {
        self.0.iter().find(|material| material.id == id)
    }

    fn add(&mut self, block: &Block, id: &str, configuration: &Configuration) -> Result<(), SceneError> {
        self.push(Material::read(block, id, configuration)?);
        Ok(())
    }

    /// Gives it a name of its own.
    fn push(&mut self, material: Material) {
        let fit = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
        let base: String = material.id.chars().take(50).map(fit).collect();
        let base = if base.is_empty() { "material".to_owned() } else { base };
        let mut name = base.clone();
        while self.0.iter().any(|other| other.name == name) {
            name = format!("{base}_{}", self.0.len() + 1);
        }
        self.0.push(Material { name, ..material });
    }

    pub fn name_of(&self, id: &str) -> &str {
        self.find(id).map_or("", |material| &material.name)
    }

    pub fn is_solid(&self, id: &str) -> bool {
        self.find(id).is_some_and(|material| matches!(material.stuff, Stuff::Solid { .. }))
    }

    pub fn any_liquid(&self) -> bool {
        self.0.iter().any(|material| matches!(material.stuff, Stuff::Liquid { .. }))
    }

    /// Boxes of the world in which particles are held.
    pub fn fixed_boxes(&self, id: &str) -> &[(Vec3, Vec3)] {
        match self.find(id).map(|material| &material.stuff) {
            Some(Stuff::Solid { fixed, .. }) => fixed,
            _ => &[],
        }
    }

    pub fn most_emitted(&self, id: &str) -> Option<u64> {
        self.find(id)?.most_emitted
    }

    pub fn first_density(&self) -> Real {
        self.0.first().map_or(1000.0, |material| material.density)
    }

    /// The box outside of which liquid is taken out.
    pub fn domain(&self) -> Option<(Vec3, Vec3)> {
        let boxes = self.0.iter().filter_map(|material| material.reuse_box);
        boxes.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }

    pub fn write_look(&self, out: &mut Text) {
        if let Some(range) = self.0.first().and_then(|material| material.by_speed) {
            out.heading("[render]");
            out.word("color_by", "speed");
            if let Some([low, high]) = range {
                out.entry("range", &format!("[{low:?}, {high:?}]"));
            }
        }
    }

    pub fn write(&self, out: &mut Text) {
        for material in &self.0 {
            out.heading(&format!("[materials.{}]", quoted(&material.name)));
            out.number("density", material.density);
            match &material.stuff {
                Stuff::Liquid { viscosity, xsph, tension, drag } => {
                    out.word("model", "fluid");
                    out.number_if("viscosity", *viscosity);
                    out.number_if("xsph", *xsph);
                    out.number_if("surface_tension", *tension);
                    out.number_if("drag", *drag);
                }
                Stuff::Solid { model, young, poisson, zero_energy, .. } => {
                    out.word("model", model);
                    out.number("youngs_modulus", *young);
                    out.number("poisson_ratio", *poisson);
                    out.number("zero_energy", *zero_energy);
                }
            }
        }
    }
}
