//! Bodies as prims: which attributes they have, and their samples.

use super::binary::{ATTRIBUTE, LAYER, Layer, Node, PRIM, Value, types};
use super::{Fields, ROOT};
use crate::output::frame::plain_name;
use crate::output::{Faces, Field, Frame, Values};
use std::io::{self, Seek, Write};
use std::ops::Range;

/// Diameter of points in a frame that does not know its spacing [m].
const UNKNOWN_WIDTH: f32 = 0.01;

/// All bodies seen so far.
#[derive(Default)]
pub(super) struct Prims {
    prims: Vec<Prim>,
}

struct Prim {
    /// Name of the body.
    body: String,
    /// Name of the prim.
    name: String,
    is_mesh: bool,
    attributes: Vec<Attribute>,
}

/// An attribute with its samples.
struct Attribute {
    name: String,
    /// Type of the attribute, such as `point3f[]`.
    kind: &'static str,
    interpolation: Option<&'static str>,
    times: Vec<f64>,
    values: Vec<Value>,
    /// Bytes of the last sample of whole numbers: triangles that stay the same are stored once.
    last: Vec<u8>,
}

/// An array to be stored.
struct Array<'a> {
    name: &'a str,
    kind: &'static str,
    interpolation: Option<&'static str>,
    count: usize,
    bytes: Vec<u8>,
}

impl Prims {
    pub(super) fn push<W: Write + Seek>(
        &mut self,
        layer: &mut Layer<W>,
        frame: &Frame,
        code: f64,
    ) -> io::Result<()> {
        for (body, range) in frame.body_ranges() {
            let prim = self.prim(body, frame.faces.is_some());
            let mut put = |array: Array| prim.put(layer, array, code);
            let positions = &frame.positions[range.clone()];
            put(floats("points", "point3f[]", positions.as_flattened(), 3))?;
            put(floats("extent", "float3[]", extent(positions, frame.spacing).as_flattened(), 3))?;
            match &frame.faces {
                Some(faces) => put_faces(&mut put, faces, &range)?,
                None => {
                    let width = [frame.spacing.unwrap_or(UNKNOWN_WIDTH)];
                    put(Array { interpolation: Some("constant"), ..floats("widths", "float[]", &width, 1) })?;
                }
            }
            put_fields(&mut put, frame, &range)?;
        }
        Ok(())
    }

    fn prim(&mut self, body: &str, is_mesh: bool) -> &mut Prim {
        let known = self.prims.iter().position(|prim| prim.body == body && prim.is_mesh == is_mesh);
        let k = known.unwrap_or_else(|| {
            let taken: Vec<String> = self.prims.iter().map(|prim| prim.name.clone()).collect();
            let wanted = if body.is_empty() { "points" } else { body };
            let name = plain_name(wanted, &taken);
            self.prims.push(Prim { body: body.into(), name, is_mesh, attributes: Vec::new() });
            self.prims.len() - 1
        });
        &mut self.prims[k]
    }

    /// The layer with these fields, its root prim, and the bodies below that.
    pub(super) fn tree<W: Write + Seek>(&self, layer: &mut Layer<W>, fields: Fields) -> io::Result<Node> {
        let names: Vec<String> = self.prims.iter().map(|prim| prim.name.clone()).collect();
        let def = Value::inline(types::SPECIFIER, 0);
        let kind = layer.token("Xform");
        let list = layer.tokens(&names)?;
        let bodies = self.prims.iter().map(|prim| prim.node(layer)).collect::<io::Result<_>>()?;
        let root = Node {
            name: ROOT.into(),
            kind: PRIM,
            fields: vec![("specifier", def), ("typeName", kind), ("primChildren", list)],
            children: bodies,
        };
        Ok(Node { name: String::new(), kind: LAYER, fields, children: vec![root] })
    }
}

fn put_faces(
    put: &mut impl FnMut(Array) -> io::Result<()>,
    faces: &Faces,
    range: &Range<usize>,
) -> io::Result<()> {
    let in_body = |triangle: &&[u32; 3]| range.contains(&(triangle[0] as usize));
    let triangles = faces.triangles.iter().filter(in_body);
    let corners: Vec<i32> =
        triangles.flatten().map(|corner| (*corner as usize - range.start) as i32).collect();
    put(integers("faceVertexCounts", &vec![3; corners.len() / 3]))?;
    put(integers("faceVertexIndices", &corners))?;
    if let Some(texture) = &faces.texture {
        let texture = texture[range.clone()].as_flattened();
        put(Array { interpolation: Some("vertex"), ..floats("primvars:st", "texCoord2f[]", texture, 2) })?;
    }
    Ok(())
}

fn put_fields(
    put: &mut impl FnMut(Array) -> io::Result<()>,
    frame: &Frame,
    range: &Range<usize>,
) -> io::Result<()> {
    let mut names = vec!["st".to_string()];
    for Field { name, values } in &frame.fields {
        let plain = plain_name(name, &names);
        let primvar = format!("primvars:{plain}");
        names.push(plain);
        let array = match values {
            Values::Vectors(values) => {
                let values = values[range.clone()].as_flattened();
                match name.as_str() {
                    "velocity" => floats("velocities", "vector3f[]", values, 3),
                    "normal" => floats("normals", "normal3f[]", values, 3),
                    _ => floats(&primvar, "vector3f[]", values, 3),
                }
            }
            Values::Scalars(values) => floats(&primvar, "float[]", &values[range.clone()], 1),
            Values::Integers(values) => integers(&primvar, &values[range.clone()]),
        };
        let is_own = array.name == "velocities";
        put(Array { interpolation: (!is_own).then_some("vertex"), ..array })?;
    }
    Ok(())
}

fn floats<'a>(name: &'a str, kind: &'static str, values: &[f32], components: usize) -> Array<'a> {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Array { name, kind, interpolation: None, count: values.len() / components, bytes }
}

fn integers<'a>(name: &'a str, values: &[i32]) -> Array<'a> {
    let bytes = values.iter().flat_map(|n| n.to_le_bytes()).collect();
    Array { name, kind: "int[]", interpolation: None, count: values.len(), bytes }
}

/// The corners of the box around the points, as wide as they are drawn.
fn extent(positions: &[[f32; 3]], spacing: Option<f32>) -> [[f32; 3]; 2] {
    let reach = spacing.unwrap_or(UNKNOWN_WIDTH) / 2.0;
    let axis = |a: usize| positions.iter().map(move |p| p[a]).filter(|x| x.is_finite());
    let low = |a: usize| axis(a).reduce(f32::min).unwrap_or(0.0) - reach;
    let high = |a: usize| axis(a).reduce(f32::max).unwrap_or(0.0) + reach;
    [[low(0), low(1), low(2)], [high(0), high(1), high(2)]]
}

impl Prim {
    fn put<W: Write + Seek>(&mut self, layer: &mut Layer<W>, array: Array, code: f64) -> io::Result<()> {
        let known = self.attributes.iter().position(|attribute| attribute.name == array.name);
        let k = known.unwrap_or_else(|| {
            let (name, kind, interpolation) = (array.name.to_string(), array.kind, array.interpolation);
            let (times, values, last) = (Vec::new(), Vec::new(), Vec::new());
            self.attributes.push(Attribute { name, kind, interpolation, times, values, last });
            self.attributes.len() - 1
        });
        let attribute = &mut self.attributes[k];
        if array.kind == "int[]" && !attribute.values.is_empty() && attribute.last == array.bytes {
            return Ok(());
        }
        let kind = match array.kind {
            "int[]" => types::INT,
            "float[]" => types::FLOAT,
            "texCoord2f[]" => types::VEC2F,
            _ => types::VEC3F,
        };
        attribute.times.push(code);
        attribute.values.push(layer.array(kind, array.count, &array.bytes)?);
        if array.kind == "int[]" {
            attribute.last = array.bytes;
        }
        Ok(())
    }

    fn node<W: Write + Seek>(&self, layer: &mut Layer<W>) -> io::Result<Node> {
        let mut names: Vec<String> = self.attributes.iter().map(|attribute| attribute.name.clone()).collect();
        let mut children: Vec<Node> =
            self.attributes.iter().map(|attribute| attribute.node(layer)).collect::<io::Result<_>>()?;
        if self.is_mesh {
            // The triangles themselves, not a smooth surface they would be the cage of.
            let uniform = Value::inline(types::VARIABILITY, 1);
            let (kind, none) = (layer.token("token"), layer.token("none"));
            let fields = vec![("typeName", kind), ("variability", uniform), ("default", none)];
            let name = "subdivisionScheme".to_string();
            names.push(name.clone());
            children.push(Node { name, kind: ATTRIBUTE, fields, children: Vec::new() });
        }
        let def = Value::inline(types::SPECIFIER, 0);
        let kind = layer.token(if self.is_mesh { "Mesh" } else { "Points" });
        let list = layer.tokens(&names)?;
        let fields = vec![("specifier", def), ("typeName", kind), ("properties", list)];
        Ok(Node { name: self.name.clone(), kind: PRIM, fields, children })
    }
}

impl Attribute {
    fn node<W: Write + Seek>(&self, layer: &mut Layer<W>) -> io::Result<Node> {
        let times = layer.doubles(&self.times)?;
        let samples = layer.samples(times, &self.values)?;
        let mut fields = vec![("typeName", layer.token(self.kind)), ("timeSamples", samples)];
        if let Some(interpolation) = self.interpolation {
            fields.push(("interpolation", layer.token(interpolation)));
        }
        Ok(Node { name: self.name.clone(), kind: ATTRIBUTE, fields, children: Vec::new() })
    }
}
