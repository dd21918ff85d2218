//! PLY, text and binary of either byte order.

use super::{MOST_TRIANGLES, TextureMap, TriangleMesh, fan, too_many};
use crate::math::Vec3;
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{Header, Property, PropertyAccess, PropertyAccessResult};

#[derive(Default)]
struct VertexRow {
    position: [f64; 3],
    texture: [Option<f32>; 2],
}

#[derive(Default)]
struct FaceRow {
    corners: Vec<i64>,
}

/// A row of an element that says nothing about the mesh.
struct OtherRow;

impl PropertyAccess for VertexRow {
    fn new() -> Self {
        VertexRow::default()
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        let Some(value) = scalar(&property) else { return PropertyAccessResult::Ignored };
        match name {
            "x" => self.position[0] = value,
            "y" => self.position[1] = value,
            "z" => self.position[2] = value,
            "s" | "u" | "texture_u" => self.texture[0] = Some(value as f32),
            "t" | "v" | "texture_v" => self.texture[1] = Some(value as f32),
            _ => return PropertyAccessResult::Ignored,
        }
        PropertyAccessResult::Set
    }
}

impl PropertyAccess for FaceRow {
    fn new() -> Self {
        FaceRow::default()
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        if name != "vertex_indices" && name != "vertex_index" {
            return PropertyAccessResult::Ignored;
        }
        self.corners = list(&property);
        PropertyAccessResult::Set
    }
}

impl PropertyAccess for OtherRow {
    fn new() -> Self {
        OtherRow
    }
}

fn scalar(property: &Property) -> Option<f64> {
    match *property {
        Property::Char(x) => Some(x.into()),
        Property::UChar(x) => Some(x.into()),
        Property::Short(x) => Some(x.into()),
        Property::UShort(x) => Some(x.into()),
        Property::Int(x) => Some(x.into()),
        Property::UInt(x) => Some(x.into()),
        Property::Float(x) => Some(x.into()),
        Property::Double(x) => Some(x),
        _ => None,
    }
}

/// Whole numbers of a list; empty for a list of other numbers, which is then no face.
fn list(property: &Property) -> Vec<i64> {
    match property {
        Property::ListChar(list) => list.iter().map(|&x| x.into()).collect(),
        Property::ListUChar(list) => list.iter().map(|&x| x.into()).collect(),
        Property::ListShort(list) => list.iter().map(|&x| x.into()).collect(),
        Property::ListUShort(list) => list.iter().map(|&x| x.into()).collect(),
        Property::ListInt(list) => list.iter().map(|&x| x.into()).collect(),
        Property::ListUInt(list) => list.iter().map(|&x| x.into()).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn decode(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let mut reader = Reader::new(bytes);
    let header = Parser::<OtherRow>::new().read_header(&mut reader).map_err(|error| error.to_string())?;
    refuse_long(&header, bytes.len())?;
    let mut mesh = TriangleMesh::default();
    for (name, element) in &header.elements {
        let failed = |error: ply_rs_bw::parser::ParseError| format!("element {name:.40}: {error}");
        match name.as_str() {
            "vertex" => {
                let parser = Parser::<VertexRow>::new();
                let rows = parser.read_payload_for_element(&mut reader, element, &header).map_err(failed)?;
                take_vertices(&mut mesh, &rows);
            }
            "face" => {
                let parser = Parser::<FaceRow>::new();
                let rows = parser.read_payload_for_element(&mut reader, element, &header).map_err(failed)?;
                take_faces(&mut mesh, &rows)?;
            }
            _ => {
                let parser = Parser::<OtherRow>::new();
                parser.read_payload_for_element(&mut reader, element, &header).map_err(failed)?;
            }
        }
    }
    if let Some(texture) = &mut mesh.texture {
        texture.triangles = mesh.triangles.clone();
    }
    Ok(mesh)
}

/// A row takes a byte or more: a header that promises more rows than bytes is wrong.
fn refuse_long(header: &Header, bytes: usize) -> Result<(), String> {
    for (name, element) in &header.elements {
        if element.count > bytes || (element.count > 0 && element.properties.is_empty()) {
            return Err(format!(
                "it is shorter than the {} rows of {name:.40} its header says",
                element.count
            ));
        }
    }
    Ok(())
}

fn take_vertices(mesh: &mut TriangleMesh, rows: &[VertexRow]) {
    mesh.vertices = rows.iter().map(|row| Vec3::from_array(row.position)).collect();
    let coordinates: Option<Vec<[f32; 2]>> =
        rows.iter().map(|row| Some([row.texture[0]?, row.texture[1]?])).collect();
    mesh.texture = coordinates.map(|coordinates| TextureMap { coordinates, triangles: Vec::new() });
}

fn take_faces(mesh: &mut TriangleMesh, rows: &[FaceRow]) -> Result<(), String> {
    for (number, row) in rows.iter().enumerate() {
        let corners: Option<Vec<u32>> = row.corners.iter().map(|&v| u32::try_from(v).ok()).collect();
        let corners = corners.ok_or_else(|| format!("face {number} names a vertex that is not there"))?;
        if mesh.triangles.len() + corners.len() > MOST_TRIANGLES {
            return Err(too_many());
        }
        mesh.triangles.extend(fan(&corners));
    }
    Ok(())
}
