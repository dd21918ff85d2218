//! The binary encoding of USD layers ("crate"), in its version 0.8.
//!
//! ```text
//! bootstrap   "PXR-USDC", version, where the table of contents is
//! values      arrays, vectors and time samples, wherever values point
//! TOKENS STRINGS FIELDS FIELDSETS PATHS SPECS, and the table of contents
//! ```
//! A spec is a prim or an attribute: a path, and a set of fields. A field is a name and a value of 64 bits: flags, a
//! type, and a payload that is the value itself or its place in the file. Sections are compressed, in form: they are
//! small, so that they are packed without looking for anything to save ([`packed`], [`packed_words`]).

use std::collections::HashMap;
use std::io::{self, Seek, SeekFrom, Write};

pub(super) const MAGIC: &[u8; 8] = b"PXR-USDC";
pub(super) const VERSION: [u8; 8] = [0, 8, 0, 0, 0, 0, 0, 0];
/// Magic, version, place of the table of contents, and room for later.
const BOOTSTRAP: usize = 88;
/// Ends a set of fields.
pub(super) const END_OF_SET: u32 = u32::MAX;

/// Kinds of specs.
pub(super) const ATTRIBUTE: u32 = 1;
pub(super) const PRIM: u32 = 6;
pub(super) const LAYER: u32 = 7;

/// Types of values.
pub(super) mod types {
    pub const INT: u64 = 3;
    pub const FLOAT: u64 = 8;
    pub const DOUBLE: u64 = 9;
    pub const STRING: u64 = 10;
    pub const TOKEN: u64 = 11;
    pub const VEC2F: u64 = 20;
    pub const VEC3F: u64 = 24;
    pub const TOKEN_VECTOR: u64 = 41;
    pub const SPECIFIER: u64 = 42;
    pub const VARIABILITY: u64 = 44;
    pub const TIME_SAMPLES: u64 = 46;
    pub const DOUBLE_VECTOR: u64 = 48;
}

const IS_ARRAY: u64 = 1 << 63;
const IS_INLINE: u64 = 1 << 62;

/// Flags, type and payload of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Value(pub u64);

impl Value {
    /// A value that fits into its payload.
    pub(super) fn inline(kind: u64, payload: u32) -> Value {
        Value(IS_INLINE | kind << 48 | u64::from(payload))
    }

    fn stored(kind: u64, offset: u64) -> Value {
        Value(kind << 48 | offset)
    }

    pub(super) fn is_inline(self) -> bool {
        self.0 & IS_INLINE != 0
    }

    pub(super) fn kind(self) -> u64 {
        self.0 >> 48 & 0xff
    }

    pub(super) fn payload(self) -> u64 {
        self.0 & ((1 << 48) - 1)
    }
}

/// A prim or an attribute, with those below it.
pub(super) struct Node {
    pub name: String,
    pub kind: u32,
    pub fields: Vec<(&'static str, Value)>,
    pub children: Vec<Node>,
}

/// A layer being written: values go out at once, the rest at the end.
pub(super) struct Layer<W> {
    out: W,
    at: u64,
    tokens: Vec<String>,
    known_tokens: HashMap<String, u32>,
    /// Tokens of the strings.
    strings: Vec<u32>,
}

impl<W: Write + Seek> Layer<W> {
    pub(super) fn start(out: W) -> io::Result<Layer<W>> {
        let mut layer =
            Layer { out, at: 0, tokens: Vec::new(), known_tokens: HashMap::new(), strings: Vec::new() };
        layer.token("");
        layer.put(&[0; BOOTSTRAP])?;
        Ok(layer)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// The number of a token.
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.known_tokens.get(text) {
            return *number;
        }
        let number = self.tokens.len() as u32;
        self.tokens.push(text.to_string());
        self.known_tokens.insert(text.to_string(), number);
        number
    }

    pub(super) fn token(&mut self, text: &str) -> Value {
        Value::inline(types::TOKEN, self.number(text))
    }

    pub(super) fn string(&mut self, text: &str) -> Value {
        let token = self.number(text);
        self.strings.push(token);
        Value::inline(types::STRING, self.strings.len() as u32 - 1)
    }

    /// A double; those that are singles, too, are stored as such.
    pub(super) fn double(&mut self, number: f64) -> io::Result<Value> {
        let single = number as f32;
        if f64::from(single) == number {
            return Ok(Value::inline(types::DOUBLE, single.to_bits()));
        }
        let offset = self.at;
        self.put(&number.to_le_bytes())?;
        Ok(Value::stored(types::DOUBLE, offset))
    }

    pub(super) fn tokens(&mut self, names: &[String]) -> io::Result<Value> {
        let numbers: Vec<u32> = names.iter().map(|name| self.number(name)).collect();
        let offset = self.at;
        self.put(&(numbers.len() as u64).to_le_bytes())?;
        for number in numbers {
            self.put(&number.to_le_bytes())?;
        }
        Ok(Value::stored(types::TOKEN_VECTOR, offset))
    }

    /// An array of `count` values in these bytes.
    pub(super) fn array(&mut self, kind: u64, count: usize, bytes: &[u8]) -> io::Result<Value> {
        if count == 0 {
            return Ok(Value(IS_ARRAY | kind << 48));
        }
        self.put(&[0; 8][..(self.at.next_multiple_of(8) - self.at) as usize])?;
        let offset = self.at;
        self.put(&(count as u64).to_le_bytes())?;
        self.put(bytes)?;
        Ok(Value(IS_ARRAY | kind << 48 | offset))
    }

    pub(super) fn doubles(&mut self, numbers: &[f64]) -> io::Result<Value> {
        let offset = self.at;
        self.put(&(numbers.len() as u64).to_le_bytes())?;
        for number in numbers {
            self.put(&number.to_le_bytes())?;
        }
        Ok(Value::stored(types::DOUBLE_VECTOR, offset))
    }

    /// Values at times that are stored already. Both parts start with how far to jump over what they refer to.
    pub(super) fn samples(&mut self, times: Value, values: &[Value]) -> io::Result<Value> {
        let offset = self.at;
        self.put(&8i64.to_le_bytes())?;
        self.put(&times.0.to_le_bytes())?;
        self.put(&8i64.to_le_bytes())?;
        self.put(&(values.len() as u64).to_le_bytes())?;
        for value in values {
            self.put(&value.0.to_le_bytes())?;
        }
        Ok(Value::stored(types::TIME_SAMPLES, offset))
    }

    /// Writes the sections, the table of contents and the bootstrap.
    pub(super) fn finish(mut self, root: &Node) -> io::Result<W> {
        let mut structure = Structure::default();
        structure.add(&mut self, root, false);
        let tokens: String = self.tokens.iter().flat_map(|token| [token, "\0"]).collect();
        let sections = [
            (
                "TOKENS",
                [&words64(&[self.tokens.len(), tokens.len()])[..], &packed(tokens.as_bytes())].concat(),
            ),
            ("STRINGS", [words64(&[self.strings.len()]), words(&self.strings)].concat()),
            ("FIELDS", structure.fields()),
            ("FIELDSETS", [words64(&[structure.sets.len()]), packed_words(&structure.sets)].concat()),
            ("PATHS", structure.paths()),
            ("SPECS", structure.specs()),
        ];
        let mut table = words64(&[sections.len()]);
        for (name, section) in sections {
            let mut padded = [0; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            table.extend(padded);
            table.extend(words64(&[self.at as usize, section.len()]));
            self.put(&section)?;
        }
        let at = self.at;
        self.put(&table)?;
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&[&MAGIC[..], &VERSION, &at.to_le_bytes()].concat())?;
        self.out.seek(SeekFrom::End(0))?;
        Ok(self.out)
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words64(words: &[usize]) -> Vec<u8> {
    words.iter().flat_map(|word| (*word as u64).to_le_bytes()).collect()
}

/// The length of what follows; the number of chunks less one; a block of LZ4 that is all literal.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut block = vec![0];
    let length = bytes.len();
    block.push((length.min(15) as u8) << 4);
    if length >= 15 {
        block.resize(block.len() + (length - 15) / 255, 255);
        block.push(((length - 15) % 255) as u8);
    }
    block.extend_from_slice(bytes);
    [words64(&[block.len()]), block].concat()
}

/// What [`packed`] bytes stand for, and the bytes after them.
pub(super) fn unpacked(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (block, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let mut literal = block.strip_prefix(&[0])?;
    let mut length = usize::from(literal.split_off_first()? >> 4);
    if length == 15 {
        loop {
            let more = *literal.split_off_first()?;
            length += usize::from(more);
            if more < 255 {
                break;
            }
        }
    }
    (literal.len() == length).then_some((literal, rest))
}

/// Whole numbers as differences from one to the next: a common difference, two bits for the length of each that is
/// another one (3: four bytes), and those.
fn packed_words(words: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.resize(4 + words.len().div_ceil(4), 0xff);
    let mut last = 0u32;
    for word in words {
        bytes.extend(word.wrapping_sub(last).to_le_bytes());
        last = *word;
    }
    packed(&bytes)
}

/// So many [`packed_words`], and the bytes after them.
pub(super) fn unpacked_words(bytes: &[u8], count: usize) -> Option<(Vec<u32>, &[u8])> {
    let (bytes, rest) = unpacked(bytes)?;
    let codes = count.div_ceil(4);
    let differences = bytes.get(codes.checked_add(4)?..)?.as_chunks().0;
    let add = |last: &mut u32, difference: &[u8; 4]| {
        *last = last.wrapping_add(u32::from_le_bytes(*difference));
        Some(*last)
    };
    (differences.len() == count).then(|| (differences.iter().scan(0, add).collect(), rest))
}

/// The sections that tell what values mean.
#[derive(Default)]
struct Structure {
    /// Token of the name and value of each field.
    fields: Vec<(u32, Value)>,
    /// Sets of fields, one after the other.
    sets: Vec<u32>,
    /// Where the set of each spec starts.
    starts: Vec<u32>,
    kinds: Vec<u32>,
    /// Token of the last part of each path; negative for attributes.
    names: Vec<i32>,
    /// What comes after each path: -2 nothing, -1 a child, 0 a sibling, else a child and so far away a sibling.
    jumps: Vec<i32>,
}

impl Structure {
    /// Adds a node and those below it; paths have the numbers of their specs.
    fn add<W: Write + Seek>(&mut self, layer: &mut Layer<W>, node: &Node, has_sibling: bool) {
        self.starts.push(self.sets.len() as u32);
        self.kinds.push(node.kind);
        for (name, value) in &node.fields {
            self.sets.push(self.fields.len() as u32);
            self.fields.push((layer.number(name), *value));
        }
        self.sets.push(END_OF_SET);
        let name = layer.number(&node.name) as i32;
        self.names.push(if node.kind == ATTRIBUTE { -name } else { name });
        let at = self.jumps.len();
        self.jumps.push(if has_sibling { 0 } else { -2 });
        let last = node.children.len().saturating_sub(1);
        for (k, child) in node.children.iter().enumerate() {
            self.add(layer, child, k < last);
        }
        if !node.children.is_empty() {
            self.jumps[at] = if has_sibling { (self.jumps.len() - at) as i32 } else { -1 };
        }
    }

    fn fields(&self) -> Vec<u8> {
        let names: Vec<u32> = self.fields.iter().map(|(name, _)| *name).collect();
        let values: Vec<u8> = self.fields.iter().flat_map(|(_, value)| value.0.to_le_bytes()).collect();
        [words64(&[names.len()]), packed_words(&names), packed(&values)].concat()
    }

    fn numbers(&self) -> Vec<u32> {
        (0..self.kinds.len() as u32).collect()
    }

    /// The tree of paths, children before siblings.
    fn paths(&self) -> Vec<u8> {
        let count = self.kinds.len();
        let signed = |words: &[i32]| packed_words(&words.iter().map(|word| *word as u32).collect::<Vec<_>>());
        let columns = [packed_words(&self.numbers()), signed(&self.names), signed(&self.jumps)];
        [words64(&[count, count]), columns.concat()].concat()
    }

    /// Path, where its set starts, kind.
    fn specs(&self) -> Vec<u8> {
        let columns = [packed_words(&self.numbers()), packed_words(&self.starts), packed_words(&self.kinds)];
        [words64(&[self.kinds.len()]), columns.concat()].concat()
    }
}
