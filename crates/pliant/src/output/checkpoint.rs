//! Checkpoints: the exact state of a run in one file that is either whole or refused.
//!
//! ```text
//! magic         8 bytes  PLIANTCK
//! version       u32
//! total length  u64      bytes of the file
//! scene hash    u64
//! time          f64
//! step          u64
//! frame         u32
//! notes         u64 length, JSON
//! columns       u32 count, then each: u32 length of the name, u64 length of the bytes, name, bytes
//! checksum      u64      xxh3 of everything before
//! ```
//! All numbers are little endian. The two newest checkpoints of a run are kept.

use super::OutputError;
use super::atomic::{files_in, open_regular, write_atomically_with};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

const MAGIC: [u8; 8] = *b"PLIANTCK";
const VERSION: u32 = 2;
/// Bytes of the header without the notes, and of the checksum.
const FIXED: u64 = 8 + 4 + 8 + 8 + 8 + 8 + 4 + 8 + 4 + 8;
/// Bytes of a column besides its name and contents.
const FIXED_PER_COLUMN: u64 = 4 + 8;

/// What a run needs to go on as if it had never stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Hash of the resolved scene: a run only resumes from its own checkpoints.
    pub scene_hash: u64,
    /// Simulated time [s].
    pub time: f64,
    /// Steps taken.
    pub step: u64,
    /// Frames stored so far.
    pub frame: u32,
    /// Counters of the run, such as wall time and iterations so far.
    pub notes: serde_json::Value,
    /// The state, column by column, as raw bytes.
    pub columns: Vec<(String, Vec<u8>)>,
}

impl Checkpoint {
    /// Stores the checkpoint under `dir/checkpoints/`. When it is safely there, all others but the one before it
    /// are removed, later ones too: they belong to a run that this one replaces.
    pub fn save(&self, dir: &Path) -> Result<PathBuf, OutputError> {
        let folder = folder(dir);
        fs::create_dir_all(&folder).map_err(OutputError::io(&folder, "create"))?;
        let path = folder.join(format!("{:06}.ckpt", self.frame));
        write_atomically_with(&path, |file| self.write(file))?;
        let others: Vec<_> = list(dir)?.into_iter().filter(|(frame, _)| *frame != self.frame).collect();
        let before = others.iter().map(|(frame, _)| *frame).filter(|frame| *frame < self.frame).max();
        for (frame, path) in others {
            if Some(frame) != before {
                fs::remove_file(&path).map_err(OutputError::io(&path, "remove"))?;
            }
        }
        Ok(path)
    }

    /// Writes the checkpoint as the bytes of a file.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut out = Hashing { inner: out, hasher: Xxh3::new() };
        let notes = serde_json::to_vec(&self.notes)?;
        let columns = self.columns.iter();
        let lengths = columns.map(|(name, bytes)| FIXED_PER_COLUMN + name.len() as u64 + bytes.len() as u64);
        let total = FIXED + notes.len() as u64 + lengths.sum::<u64>();
        out.put(&MAGIC)?;
        out.put(&VERSION.to_le_bytes())?;
        out.put(&total.to_le_bytes())?;
        out.put(&self.scene_hash.to_le_bytes())?;
        out.put(&self.time.to_le_bytes())?;
        out.put(&self.step.to_le_bytes())?;
        out.put(&self.frame.to_le_bytes())?;
        out.put(&(notes.len() as u64).to_le_bytes())?;
        out.put(&notes)?;
        out.put(&(self.columns.len() as u32).to_le_bytes())?;
        for (name, bytes) in &self.columns {
            out.put(&(name.len() as u32).to_le_bytes())?;
            out.put(&(bytes.len() as u64).to_le_bytes())?;
            out.put(name.as_bytes())?;
            out.put(bytes)?;
        }
        let checksum = out.hasher.digest();
        out.put(&checksum.to_le_bytes())
    }

    /// Reads a checkpoint of `length` bytes, or tells why it is none.
    pub fn read(input: impl Read, length: u64) -> Result<Checkpoint, String> {
        let mut input = Checked { inner: input, hasher: Xxh3::new(), left: length };
        if input.array()? != MAGIC {
            return Err("it does not start like a checkpoint".into());
        }
        match u32::from_le_bytes(input.array()?) {
            VERSION => {}
            version if version > VERSION => {
                return Err(format!(
                    "it has version {version}, from a newer Pliant than this (version {VERSION})"
                ));
            }
            0 => return Err("it has version 0, which never was".into()),
            version => {
                return Err(format!(
                    "it has version {version}, from an older Pliant than this (version {VERSION})"
                ));
            }
        }
        let total = u64::from_le_bytes(input.array()?);
        if total != length {
            return Err(format!("it has {length} bytes where {total} were written"));
        }
        let scene_hash = u64::from_le_bytes(input.array()?);
        let time = f64::from_le_bytes(input.array()?);
        let step = u64::from_le_bytes(input.array()?);
        let frame = u32::from_le_bytes(input.array()?);
        let notes_length = u64::from_le_bytes(input.array()?);
        let notes = input.bytes(notes_length)?;
        let count = u32::from_le_bytes(input.array()?);
        let mut columns = Vec::new();
        for _ in 0..count {
            let name_length = u64::from(u32::from_le_bytes(input.array()?));
            let length = u64::from_le_bytes(input.array()?);
            let name = String::from_utf8(input.bytes(name_length)?).map_err(|_| DAMAGED)?;
            columns.push((name, input.bytes(length)?));
        }
        let checksum = input.hasher.digest();
        if u64::from_le_bytes(input.array()?) != checksum || input.left != 0 {
            return Err(DAMAGED.into());
        }
        let notes = serde_json::from_slice(&notes).map_err(|_| DAMAGED)?;
        Ok(Checkpoint { scene_hash, time, step, frame, notes, columns })
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&[u8]> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, bytes)| bytes.as_slice())
    }
}

const DAMAGED: &str = "its contents are damaged (the checksum differs)";

/// The newest usable checkpoint of a run, and why newer ones were refused.
pub fn load_latest(dir: &Path, expected_scene_hash: u64) -> Result<(Checkpoint, Vec<String>), OutputError> {
    let mut refused = Vec::new();
    for (_, path) in list(dir)?.into_iter().rev() {
        match load(&path, expected_scene_hash) {
            Ok(checkpoint) => return Ok((checkpoint, refused)),
            Err(reason) => {
                let name = path.file_name().unwrap_or_default().display();
                refused.push(format!("checkpoint {name} was refused: {reason}"));
            }
        }
    }
    Err(OutputError::NoCheckpoint { path: folder(dir), reasons: refused })
}

fn load(path: &Path, expected_scene_hash: u64) -> Result<Checkpoint, String> {
    let (file, length): (File, u64) = open_regular(path).map_err(|error| error.to_string())?;
    let checkpoint = Checkpoint::read(BufReader::with_capacity(1 << 16, file), length)?;
    if checkpoint.scene_hash != expected_scene_hash {
        return Err("it belongs to another scene, or the scene was changed since".into());
    }
    Ok(checkpoint)
}

/// Removes all checkpoints of a run, as when it starts anew.
pub fn remove_all(dir: &Path) -> Result<(), OutputError> {
    for (_, path) in list(dir)? {
        fs::remove_file(&path).map_err(OutputError::io(&path, "remove"))?;
    }
    Ok(())
}

/// Checkpoints of a run by frame, oldest first.
pub fn list(dir: &Path) -> Result<Vec<(u32, PathBuf)>, OutputError> {
    let mut found = Vec::new();
    for path in files_in(&folder(dir))? {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_number = stem.len() >= 6 && stem.bytes().all(|byte| byte.is_ascii_digit());
        if let (true, Ok(frame)) = (is_number && path.extension().is_some_and(|e| e == "ckpt"), stem.parse())
        {
            found.push((frame, path));
        }
    }
    found.sort();
    Ok(found)
}

fn folder(dir: &Path) -> PathBuf {
    dir.join("checkpoints")
}

struct Hashing<W> {
    inner: W,
    hasher: Xxh3,
}

impl<W: Write> Hashing<W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.inner.write_all(bytes)
    }
}

/// Reads no further, and allocates no more, than the file is long.
struct Checked<R> {
    inner: R,
    hasher: Xxh3,
    left: u64,
}

impl<R: Read> Checked<R> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, String> {
        if length > self.left {
            return Err(CUT.into());
        }
        let mut bytes = Vec::new();
        let reserved = usize::try_from(length).is_ok_and(|length| bytes.try_reserve_exact(length).is_ok());
        if !reserved {
            return Err(format!("{length} bytes do not fit into memory"));
        }
        bytes.resize(length as usize, 0);
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or(CUT)?;
        self.inner.read_exact(bytes).map_err(|error| format!("it cannot be read: {error}"))?;
        self.hasher.update(bytes);
        Ok(())
    }
}

const CUT: &str = "it ends too early";
