use super::Folder;
use crate::output::checkpoint::{Checkpoint, list, load_latest, remove_all};
use std::fs;

const SCENE: u64 = 0xfeed_beef;

fn checkpoint(frame: u32) -> Checkpoint {
    Checkpoint {
        scene_hash: SCENE,
        time: 0.1 + 0.2 * f64::from(frame),
        step: 1000 + u64::from(frame),
        frame,
        notes: serde_json::json!({ "wall_seconds": 0.1 + 0.2, "iterations": [1, 2, 3] }),
        columns: vec![
            ("positions".into(), (0..48).collect()),
            ("velocities".into(), vec![0; 24]),
            ("nothing".into(), vec![]),
        ],
    }
}

fn bytes(checkpoint: &Checkpoint) -> Vec<u8> {
    let mut bytes = Vec::new();
    checkpoint.write(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Checkpoint, String> {
    Checkpoint::read(bytes, bytes.len() as u64)
}

#[test]
fn a_checkpoint_reads_back_bit_for_bit() {
    let folder = Folder::new();
    let original = checkpoint(7);
    let path = original.save(folder.path()).unwrap();
    assert!(path.ends_with("checkpoints/000007.ckpt"));
    let (back, warnings) = load_latest(folder.path(), SCENE).unwrap();
    assert_eq!(back, original);
    assert_eq!(back.column("positions").unwrap().len(), 48);
    assert!(warnings.is_empty());
    assert_eq!(fs::read(path).unwrap(), bytes(&original));
}

#[test]
fn a_checkpoint_with_any_byte_changed_is_refused() {
    let whole = bytes(&checkpoint(7));
    for at in 0..whole.len() {
        for change in [1, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= change;
            assert!(read(&damaged).is_err(), "byte {at} xor {change}");
        }
    }
}

#[test]
fn a_checkpoint_cut_or_grown_is_refused() {
    let mut whole = bytes(&checkpoint(7));
    for length in 0..whole.len() {
        assert!(read(&whole[..length]).is_err(), "cut to {length}");
    }
    whole.push(0);
    assert!(read(&whole).is_err());
}

#[test]
fn lengths_that_lie_are_refused_before_anything_is_allocated() {
    let mut lying = bytes(&checkpoint(7));
    let notes_length = 8 + 4 + 8 + 8 + 8 + 8 + 4;
    lying[notes_length..notes_length + 8].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
    assert!(read(&lying).unwrap_err().contains("too early"));
}

#[test]
fn a_checkpoint_of_another_version_is_refused_as_such() {
    for (version, reason) in [(0, "never was"), (1, "older Pliant"), (3, "newer Pliant")] {
        let mut other = bytes(&checkpoint(7));
        other[8] = version;
        assert!(read(&other).unwrap_err().contains(reason));
    }
}

#[test]
fn the_two_newest_are_kept() {
    let folder = Folder::new();
    for frame in [3, 5, 8, 13] {
        checkpoint(frame).save(folder.path()).unwrap();
    }
    assert_eq!(folder.names("checkpoints"), ["000008.ckpt", "000013.ckpt"]);
    // A run that went back replaces what came later.
    checkpoint(9).save(folder.path()).unwrap();
    assert_eq!(folder.names("checkpoints"), ["000008.ckpt", "000009.ckpt"]);
    checkpoint(1_000_000).save(folder.path()).unwrap();
    assert_eq!(list(folder.path()).unwrap().last().unwrap().0, 1_000_000);
    remove_all(folder.path()).unwrap();
    assert!(folder.names("checkpoints").is_empty());
}

#[test]
fn when_the_newest_is_damaged_the_one_before_is_used_and_the_reason_is_told() {
    let folder = Folder::new();
    checkpoint(1).save(folder.path()).unwrap();
    let newest = checkpoint(2).save(folder.path()).unwrap();
    let whole = fs::read(&newest).unwrap();
    let mut flipped = whole.clone();
    flipped[100] ^= 4;
    let foreign = bytes(&Checkpoint { scene_hash: 1, ..checkpoint(2) });
    for (contents, reason) in [
        (&whole[..50], "bytes where"),
        (&flipped, "damaged"),
        (&foreign, "another scene"),
        (b"something else", "does not start like"),
        (b"", "too early"),
    ] {
        fs::write(&newest, contents).unwrap();
        let (used, warnings) = load_latest(folder.path(), SCENE).unwrap();
        assert_eq!(used.frame, 1);
        assert!(warnings.len() == 1 && warnings[0].contains("000002"), "{warnings:?}");
        assert!(warnings[0].contains(reason), "{warnings:?}");
    }
}

#[test]
fn when_none_is_usable_all_reasons_are_listed() {
    let folder = Folder::new();
    let none = load_latest(folder.path(), SCENE).unwrap_err().to_string();
    assert!(none.contains("no usable checkpoint") && none.contains("--resume"), "{none}");
    let first = checkpoint(1).save(folder.path()).unwrap();
    checkpoint(2).save(folder.path()).unwrap();
    fs::write(first, "PLIANT").unwrap();
    let error = load_latest(folder.path(), SCENE + 1).unwrap_err().to_string();
    assert!(
        error.contains("000001") && error.contains("000002") && error.contains("another scene"),
        "{error}"
    );
}
