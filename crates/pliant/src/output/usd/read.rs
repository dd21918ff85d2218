//! Reads the layers that Pliant writes, of one frame.
//!
//! The documentation of the layer is the legend of the frame: bodies and fields in order. Prims come in the order of
//! the bodies, and the attributes of each in the order in which it lists them, so that paths need not be read.

use super::binary::{
    ATTRIBUTE, END_OF_SET, LAYER, MAGIC, PRIM, VERSION, Value, types, unpacked, unpacked_words,
};
use crate::output::legend::{self, Kind, Legend};
use crate::output::{Faces, Field, Frame, Values};

const DAMAGED: &str = "its structure is damaged";
const FOREIGN: &str = "it is a USD layer of another program or of several frames";

pub fn decode(bytes: &[u8]) -> Result<Frame, String> {
    let head: &[u8; 16] = bytes.first_chunk().ok_or(DAMAGED)?;
    if head[..8] != *MAGIC || head[8..] != VERSION {
        return Err(FOREIGN.into());
    }
    let file = File::parse(bytes).ok_or(DAMAGED)?;
    let legend = file.legend().ok_or(FOREIGN)?;
    let legend = legend::parse(legend.lines())?.ok_or(FOREIGN)?;
    let prims = file.prims().ok_or(DAMAGED)?;
    let mut frame = frame(&prims, &legend)?;
    legend.restore(&mut frame)?;
    Ok(frame)
}

/// Puts the bodies together.
fn frame(prims: &[Prim], legend: &Legend) -> Result<Frame, String> {
    let mut frame = Frame::default();
    let kinds = legend.fields.iter().map(|(kind, _)| match kind {
        Kind::Integers => Values::Integers(Vec::new()),
        Kind::Scalars => Values::Scalars(Vec::new()),
        Kind::Vectors => Values::Vectors(Vec::new()),
    });
    frame.fields = kinds.map(|values| Field { name: String::new(), values }).collect();
    for prim in prims {
        let start = frame.positions.len();
        let mut own = prim.attributes.iter().peekable();
        let mut next = |name: &str| own.next_if(|attribute| attribute.name.ends_with(name));
        frame.positions.extend(next("points").ok_or(DAMAGED)?.vectors());
        next("extent");
        next("widths");
        if prim.is_mesh {
            let faces = frame.faces.get_or_insert_default();
            next("faceVertexCounts");
            let corners = next("faceVertexIndices").ok_or(DAMAGED)?.integers();
            let corner = |n: &i32| u32::try_from(*n).unwrap_or(u32::MAX).saturating_add(start as u32);
            faces
                .triangles
                .extend(corners.as_chunks().0.iter().map(|[a, b, c]| [corner(a), corner(b), corner(c)]));
            if let Some(texture) = next("primvars:st") {
                let pairs = texture.floats();
                faces.texture.get_or_insert_default().extend(pairs.as_chunks::<2>().0);
            }
        }
        for field in &mut frame.fields {
            let attribute = next("").ok_or(DAMAGED)?;
            match &mut field.values {
                Values::Integers(values) => values.extend(attribute.integers()),
                Values::Scalars(values) => values.extend(attribute.floats()),
                Values::Vectors(values) => values.extend(attribute.vectors()),
            }
        }
    }
    if frame.faces.as_ref().is_some_and(|faces| faces.triangles.is_empty() && faces.texture.is_none()) {
        frame.faces = Some(Faces::default());
    }
    Ok(frame)
}

struct Prim<'a> {
    is_mesh: bool,
    attributes: Vec<Attribute<'a>>,
}

/// The bytes of an array of numbers of four bytes.
struct Attribute<'a> {
    name: String,
    kind: u64,
    bytes: &'a [u8],
}

impl Attribute<'_> {
    fn floats(&self) -> Vec<f32> {
        let bytes = if self.kind == types::INT { &[] } else { self.bytes };
        bytes.as_chunks().0.iter().map(|n| f32::from_le_bytes(*n)).collect()
    }

    fn vectors(&self) -> Vec<[f32; 3]> {
        self.floats().as_chunks().0.to_vec()
    }

    fn integers(&self) -> Vec<i32> {
        let bytes = if self.kind == types::INT { self.bytes } else { &[] };
        bytes.as_chunks().0.iter().map(|n| i32::from_le_bytes(*n)).collect()
    }
}

/// The sections of a layer.
struct File<'a> {
    bytes: &'a [u8],
    tokens: Vec<&'a str>,
    strings: Vec<u32>,
    /// Token of the name, value.
    fields: Vec<(u32, Value)>,
    sets: Vec<u32>,
    /// Where the set of fields starts, kind.
    specs: Vec<(u32, u32)>,
}

impl<'a> File<'a> {
    fn parse(bytes: &'a [u8]) -> Option<File<'a>> {
        let section = |name: &str| section(bytes, name);
        let (tokens, _) = unpacked(section("TOKENS")?.get(16..)?)?;
        let strings = section("STRINGS")?.get(8..)?.as_chunks().0;
        let (count, fields) = counted(section("FIELDS")?)?;
        let (names, values) = unpacked_words(fields, count)?;
        let (values, _) = unpacked(values)?;
        let values = values.as_chunks().0.iter().map(|value| Value(u64::from_le_bytes(*value)));
        let (count, sets) = counted(section("FIELDSETS")?)?;
        let (sets, _) = unpacked_words(sets, count)?;
        let (count, specs) = counted(section("SPECS")?)?;
        let (_, specs) = unpacked_words(specs, count)?;
        let (starts, specs) = unpacked_words(specs, count)?;
        let (kinds, _) = unpacked_words(specs, count)?;
        Some(File {
            bytes,
            tokens: std::str::from_utf8(tokens).ok()?.split_terminator('\0').collect(),
            strings: strings.iter().map(|word| u32::from_le_bytes(*word)).collect(),
            fields: names.into_iter().zip(values).collect(),
            sets,
            specs: starts.into_iter().zip(kinds).collect(),
        })
    }

    /// The value of a field of a spec.
    fn field(&self, (set, _): (u32, u32), name: &str) -> Option<Value> {
        let fields = self.sets.get(set as usize..)?.iter().take_while(|field| **field != END_OF_SET);
        // Sets of ours have a handful of fields; a longer one is damage.
        let mut fields = fields.take(16).filter_map(|field| self.fields.get(*field as usize));
        fields.find(|(token, _)| self.tokens.get(*token as usize) == Some(&name)).map(|(_, value)| *value)
    }

    fn legend(&self) -> Option<&'a str> {
        let layer = self.specs.iter().find(|(_, kind)| *kind == LAYER)?;
        let value =
            self.field(*layer, "documentation").filter(|v| v.is_inline() && v.kind() == types::STRING)?;
        let token = self.strings.get(value.payload() as usize)?;
        self.tokens.get(*token as usize).copied()
    }

    fn prims(&self) -> Option<Vec<Prim<'a>>> {
        let mut prims: Vec<Prim> = Vec::new();
        let mut names = Vec::new();
        // Arrays do not overlap, so together they are no longer than the file.
        let mut budget = self.bytes.len();
        for spec in &self.specs {
            match spec.1 {
                PRIM => {
                    let kind = self.tokens.get(self.field(*spec, "typeName")?.payload() as usize)?;
                    names.clear();
                    if let "Mesh" | "Points" = *kind {
                        names.extend(self.names(self.field(*spec, "properties")?)?.into_iter().rev());
                        prims.push(Prim { is_mesh: *kind == "Mesh", attributes: Vec::new() });
                    }
                }
                ATTRIBUTE => {
                    let name = names.pop()?.to_string();
                    if let Some(samples) = self.field(*spec, "timeSamples") {
                        let (kind, bytes) = self.only_sample(samples)?;
                        budget = budget.checked_sub(bytes.len())?;
                        prims.last_mut()?.attributes.push(Attribute { name, kind, bytes });
                    }
                }
                _ => {}
            }
        }
        Some(prims)
    }

    fn names(&self, list: Value) -> Option<Vec<&'a str>> {
        let start = at(self.bytes, list.payload())?;
        let (count, numbers) = counted(start)?;
        let numbers = numbers.as_chunks().0.get(..count)?.iter().map(|n| u32::from_le_bytes(*n));
        numbers.map(|number| self.tokens.get(number as usize).copied()).collect()
    }

    /// The type and bytes of the array at the only time there is.
    fn only_sample(&self, samples: Value) -> Option<(u64, &'a [u8])> {
        let start = at(self.bytes, samples.payload())?;
        if u64_at(start, 24)? != 1 {
            return None;
        }
        let value = Value(u64_at(start, 32)?);
        if value.payload() == 0 {
            return Some((value.kind(), &[]));
        }
        let size = match value.kind() {
            types::INT | types::FLOAT => 4,
            types::VEC2F => 8,
            types::VEC3F => 12,
            _ => return None,
        };
        let array = at(self.bytes, value.payload())?;
        let (count, array) = counted(array)?;
        Some((value.kind(), array.get(..count.checked_mul(size)?)?))
    }
}

/// The bytes of a section, by the table of contents.
fn section<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (count, table) = counted(at(bytes, u64_at(bytes, 16)?)?)?;
    let mut entries = table.as_chunks::<32>().0.iter().take(count.min(16));
    let entry = entries.find(|entry| entry[..16].split(|b| *b == 0).next() == Some(name.as_bytes()))?;
    let (start, length) = (u64_at(entry, 16)?, u64_at(entry, 24)?);
    at(bytes, start)?.get(..usize::try_from(length).ok()?)
}

/// A count and what comes after it.
fn counted(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (count, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(u64::from_le_bytes(*count)).ok()?, rest))
}

fn at(bytes: &[u8], offset: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(offset).ok()?..)
}

fn u64_at(bytes: &[u8], offset: u64) -> Option<u64> {
    at(bytes, offset)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
