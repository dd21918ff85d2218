//! Compression as VTK, gzip and zip use it: blocks deflated side by side, and inflated with a limit.

use flate2::Compression;
use flate2::read::{DeflateDecoder, GzDecoder, ZlibDecoder};
use flate2::write::{DeflateEncoder, ZlibEncoder};
use rayon::prelude::*;
use std::io::{Read, Write};

/// Higher levels take several times longer and save a few percent of such numbers.
const LEVEL: u32 = 1;
/// Bytes of a block: large enough to compress well, small enough to share among threads.
pub(super) const BLOCK: usize = 1 << 18;
/// Compressed files can claim a thousand times their size; what they hold together must stay below this.
const MOST_INFLATED: u64 = 1 << 32;

/// Each block of the bytes as a zlib stream of its own.
pub(super) fn zlib_blocks(bytes: &[u8]) -> Vec<Vec<u8>> {
    let compress = |block: &[u8]| {
        let mut encoder = ZlibEncoder::new(Vec::with_capacity(block.len() / 2), Compression::new(LEVEL));
        in_memory(encoder.write_all(block));
        in_memory(encoder.finish())
    };
    bytes.par_chunks(BLOCK).map(compress).collect()
}

/// The bytes as one deflate stream. Blocks are compressed apart; each ends at a byte with an empty stored block, so
/// that they can be put together.
pub(super) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let compress = |block: &[u8]| {
        let mut encoder = DeflateEncoder::new(Vec::with_capacity(block.len() / 2), Compression::new(LEVEL));
        in_memory(encoder.write_all(block));
        in_memory(encoder.flush());
        std::mem::take(encoder.get_mut())
    };
    let mut stream = bytes.par_chunks(BLOCK).map(compress).collect::<Vec<_>>().concat();
    stream.extend([3, 0]); // a last block without contents
    stream
}

/// The bytes as a deflate stream that is not compressed.
pub(super) fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stream = Vec::with_capacity(bytes.len() + bytes.len() / 1000 + 16);
    for block in bytes.chunks(usize::from(u16::MAX)) {
        let length = block.len() as u16;
        stream.push(0);
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend([3, 0]);
    stream
}

/// Writing to memory cannot fail.
fn in_memory<T>(result: std::io::Result<T>) -> T {
    result.expect("a vector takes all bytes")
}

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// How many bytes of one file may still be inflated.
pub(super) struct Inflater {
    left: u64,
}

impl Default for Inflater {
    fn default() -> Self {
        Inflater { left: MOST_INFLATED }
    }
}

impl Inflater {
    pub(super) fn zlib(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        self.read(ZlibDecoder::new(bytes))
    }

    pub(super) fn deflate(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        self.read(DeflateDecoder::new(bytes))
    }

    pub(super) fn gzip(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        self.read(GzDecoder::new(bytes))
    }

    fn read(&mut self, decoder: impl Read) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let result = decoder.take(self.left + 1).read_to_end(&mut bytes);
        result.map_err(|error| format!("its compressed data is damaged ({error})"))?;
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| format!("it holds more than {} GiB", MOST_INFLATED >> 30))?;
        Ok(bytes)
    }
}
