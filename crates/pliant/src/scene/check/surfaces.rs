//! Which bodies have surfaces.

use super::super::error::SceneError;
use super::super::file::SurfaceWord;
use super::super::read::At;
use super::super::suggest::quoted;
use crate::math::Real;
use crate::simulation::BodySetup;
use crate::surface::{SurfaceKind, SurfaceWish};

/// Smallest and largest cell, in spacings.
const CELLS: [Real; 2] = [0.2, 4.0];

/// `at` is the body.
pub(super) fn wish(
    at: At<'_>,
    word: Option<SurfaceWord>,
    cell: Option<f64>,
    body: &BodySetup,
    spacing: Real,
) -> Result<Option<SurfaceWish>, SceneError> {
    let kind = match word {
        None | Some(SurfaceWord::None) => {
            return match cell {
                None => Ok(None),
                Some(_) => {
                    let message = "\"surface_cell\" means nothing without a surface";
                    Err(at.key("surface_cell").error(message, "add surface = \"isosurface\" or \"skin\""))
                }
            };
        }
        Some(SurfaceWord::Skin) => SurfaceKind::Skin,
        Some(SurfaceWord::Isosurface) => SurfaceKind::Isosurface,
    };
    if kind == SurfaceKind::Skin && SurfaceKind::suiting(body) != kind {
        let what = if body.method.is_none() { "flows" } else { "is a sheet or a rod" };
        let message = format!("body {} {what} and has no skin", quoted(&body.name));
        return Err(at.key("surface").error(message, "use surface = \"isosurface\""));
    }
    let [least, most] = CELLS.map(|cells| cells * spacing);
    let cell = cell.map(|cell| at.key("surface_cell").range(cell, least, most, "m")).transpose()?;
    Ok(Some(SurfaceWish { kind, cell }))
}
