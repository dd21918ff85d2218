//! The numbers of an array, however they are stored.

use crate::output::deflate::Inflater;

/// Where the numbers of an array are.
pub(super) enum Place<'a> {
    /// Numbers as words, within the tag.
    Text(&'a str),
    /// In base 64 within the tag.
    Inline(&'a str),
    /// This many bytes after the start of the appended data.
    Appended(usize),
}

/// How blocks of bytes are stored in a file.
pub(super) struct Storage<'a> {
    pub appended: &'a [u8],
    /// Appended data is bytes, not text in base 64.
    pub raw: bool,
    /// Lengths of blocks have 64 bits, not 32.
    pub wide: bool,
    pub compressed: bool,
    pub inflater: Inflater,
    /// Bytes that may still be read: blocks do not overlap, so together they are no longer than the file.
    pub budget: usize,
}

impl Storage<'_> {
    /// The bytes of a block; `None` if its lengths reach beyond the file.
    pub(super) fn block(&mut self, place: &Place) -> Result<Vec<u8>, String> {
        let beyond = "reaches beyond the file";
        let (stored, raw) = match *place {
            Place::Text(_) => return Err("is text".into()),
            Place::Inline(text) => (text.trim_ascii().as_bytes(), false),
            Place::Appended(offset) => (self.appended.get(offset..).ok_or(beyond)?, self.raw),
        };
        let mut source = Source { stored, raw, used: 0 };
        let bytes = if self.compressed { self.inflated(&mut source)? } else { self.plain(&mut source)? };
        self.budget = self.budget.checked_sub(source.used).ok_or("overlaps other arrays")?;
        Ok(bytes)
    }

    fn word(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    /// A block that is not compressed: its length, then its bytes, in base 64 together.
    fn plain(&self, source: &mut Source) -> Result<Vec<u8>, String> {
        let word = self.word();
        let head = Source { stored: source.stored, raw: source.raw, used: 0 }.take(word)?;
        let length = lengths(&head, word).first().copied().and_then(|length| length.checked_add(word));
        let mut bytes = source.take(length.ok_or("reaches beyond the file")?)?;
        bytes.drain(..word);
        Ok(bytes)
    }

    /// A compressed block: number of blocks, bytes of a block and of the last one, compressed bytes of each; then
    /// the blocks. In base 64 the numbers are encoded apart.
    fn inflated(&mut self, source: &mut Source) -> Result<Vec<u8>, String> {
        let word = self.word();
        let head = Source { stored: source.stored, raw: source.raw, used: 0 }.take(3 * word)?;
        let count = lengths(&head, word).first().copied().and_then(|count| count.checked_add(3));
        let head = source.take(count.and_then(|n| n.checked_mul(word)).ok_or("reaches beyond the file")?)?;
        let sizes = &lengths(&head, word)[3..];
        let total = sizes.iter().try_fold(0usize, |sum, size| sum.checked_add(*size));
        let stored = source.take(total.ok_or("reaches beyond the file")?)?;
        let mut rest = stored.as_slice();
        let mut bytes = Vec::new();
        for size in sizes {
            let (block, after) = rest.split_at(*size);
            bytes.extend(self.inflater.zlib(block)?);
            rest = after;
        }
        Ok(bytes)
    }
}

/// What is left of the stored bytes of a block.
struct Source<'a> {
    stored: &'a [u8],
    raw: bool,
    used: usize,
}

impl Source<'_> {
    /// The next bytes; in base 64, those of the next piece that was encoded by itself.
    fn take(&mut self, length: usize) -> Result<Vec<u8>, String> {
        let stored_length = if self.raw { Some(length) } else { length.div_ceil(3).checked_mul(4) };
        let beyond = "reaches beyond the file";
        let (piece, rest) = stored_length.and_then(|n| self.stored.split_at_checked(n)).ok_or(beyond)?;
        let bytes =
            if self.raw { piece.to_vec() } else { base64(piece, length).ok_or("is not in base 64")? };
        self.used += piece.len();
        self.stored = rest;
        Ok(bytes)
    }
}

fn lengths(bytes: &[u8], word: usize) -> Vec<usize> {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    bytes.chunks_exact(word).map(|bytes| usize::try_from(number(bytes)).unwrap_or(usize::MAX)).collect()
}

/// The first `length` bytes that these characters stand for.
fn base64(text: &[u8], length: usize) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        b'=' => Some(0),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for four in text.chunks_exact(4) {
        let bits = four.iter().try_fold(0u32, |bits, c| Some(bits << 6 | u32::from(digit(*c)?)))?;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    bytes.truncate(length);
    (bytes.len() == length).then_some(bytes)
}
