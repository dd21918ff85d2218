//! Zip archives as NumPy writes and reads them: one disk, stored or deflated members, no passwords.

use super::deflate::{self, Inflater};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const DEFLATED: u16 = 8;
/// Lengths and places have 32 bits.
pub(super) const LONGEST: usize = u32::MAX as usize;
/// Names are UTF-8.
const UTF8_NAMES: u16 = 1 << 11;
/// The first of January 1980: files of one run do not depend on the day.
const DATE: u16 = 1 << 5 | 1;

/// An archive being put together.
#[derive(Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    central: Vec<u8>,
    members: u16,
}

impl Archive {
    pub(super) fn push(&mut self, name: &str, contents: &[u8], compress: bool) {
        assert!(self.bytes.len() + contents.len() < LONGEST, "frames without room are not stored");
        let deflated = compress.then(|| deflate::deflated(contents));
        let stored = deflated.as_deref().unwrap_or(contents);
        let method = if compress { DEFLATED } else { 0 };
        let mut head = Vec::new();
        for word in [20, UTF8_NAMES, method, 0, DATE] {
            head.extend(u16::to_le_bytes(word)); // version 2.0 extracts it
        }
        for word in [deflate::crc32(contents), stored.len() as u32, contents.len() as u32] {
            head.extend(word.to_le_bytes());
        }
        head.extend((name.len() as u16).to_le_bytes());
        head.extend([0; 2]); // nothing extra

        self.central.extend(CENTRAL.to_le_bytes());
        self.central.extend(20u16.to_le_bytes());
        self.central.extend(&head);
        self.central.extend([0; 10]); // no comment, first disk, no attributes
        self.central.extend((self.bytes.len() as u32).to_le_bytes());
        self.central.extend(name.as_bytes());

        self.bytes.extend(LOCAL.to_le_bytes());
        self.bytes.extend(&head);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(stored);
        self.members += 1;
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let start = self.bytes.len() as u32;
        self.bytes.extend(&self.central);
        self.bytes.extend(END.to_le_bytes());
        self.bytes.extend([0; 4]); // first disk
        self.bytes.extend(self.members.to_le_bytes());
        self.bytes.extend(self.members.to_le_bytes());
        self.bytes.extend((self.central.len() as u32).to_le_bytes());
        self.bytes.extend(start.to_le_bytes());
        self.bytes.extend([0; 2]); // no comment
        self.bytes
    }
}

/// A member of an archive.
pub(super) struct Member<'a> {
    pub name: String,
    stored: &'a [u8],
    method: u16,
    crc: u32,
}

impl Member<'_> {
    pub(super) fn contents(&self, inflater: &mut Inflater) -> Result<Vec<u8>, String> {
        let contents = match self.method {
            0 => self.stored.to_vec(),
            DEFLATED => inflater.deflate(self.stored)?,
            _ => return Err(format!("its member {} is compressed in a way that is not known", self.name)),
        };
        match deflate::crc32(&contents) == self.crc {
            true => Ok(contents),
            false => Err(format!("its member {} is damaged", self.name)),
        }
    }
}

/// The members of an archive, none of which share their bytes.
pub(super) fn members(archive: &[u8]) -> Result<Vec<Member<'_>>, String> {
    let cut = "the end of the archive is missing";
    // The end is 22 bytes and a comment of at most 65535.
    let first = archive.len().saturating_sub(22 + 65535);
    let is_end = |at: &usize| {
        let comment = u16_at(archive, at + 20).map(usize::from);
        u32_at(archive, *at) == Some(END) && comment.is_some_and(|length| at + 22 + length == archive.len())
    };
    let end = (first..archive.len()).rev().find(is_end).ok_or(cut)?;
    let count = u16_at(archive, end + 10).ok_or(cut)?;
    let mut at = u32_at(archive, end + 16).ok_or(cut)? as usize;
    let mut members = Vec::new();
    let mut budget = archive.len();
    for _ in 0..count {
        let (member, next) = member(archive, at).ok_or("its list of members is damaged")?;
        budget = budget.checked_sub(member.stored.len()).ok_or("its members overlap")?;
        members.push(member);
        at = next;
    }
    Ok(members)
}

/// The member whose entry in the list starts here, and where the next one starts.
fn member(archive: &[u8], at: usize) -> Option<(Member<'_>, usize)> {
    if u32_at(archive, at)? != CENTRAL {
        return None;
    }
    let [name, extra, comment] = [28, 30, 32].map(|k| u16_at(archive, at + k).map(usize::from));
    let (name, after) = (at + 46..at + 46 + name?, at + 46 + name? + extra? + comment?);
    let local = u32_at(archive, at + 42)? as usize;
    if u32_at(archive, local)? != LOCAL {
        return None;
    }
    let skipped = 30 + usize::from(u16_at(archive, local + 26)?) + usize::from(u16_at(archive, local + 28)?);
    let length = u32_at(archive, at + 20)? as usize;
    let member = Member {
        name: String::from_utf8_lossy(archive.get(name)?).into_owned(),
        stored: archive.get(local + skipped..)?.get(..length)?,
        method: u16_at(archive, at + 10)?,
        crc: u32_at(archive, at + 16)?,
    };
    Some((member, after))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}
