use super::{Dice, Folder, WHOLE_FORMATS, every_way, frame, mesh, settings};
use crate::output::Format;
use crate::output::deflate::Inflater;
use crate::output::frame::plain_name;
use crate::output::zip::{Archive, members};
use crate::output::{
    Field, Frame, FrameBody, Values, decode, encode, extension, left_out, read_frame, write_atomically,
};
use std::path::Path;

fn bits(frame: &Frame) -> Vec<u32> {
    let mut bits: Vec<u32> = frame.positions.as_flattened().iter().map(|x| x.to_bits()).collect();
    for Field { values, .. } in &frame.fields {
        match values {
            Values::Integers(values) => bits.extend(values.iter().map(|n| *n as u32)),
            Values::Scalars(values) => bits.extend(values.iter().map(|a| a.to_bits())),
            Values::Vectors(values) => bits.extend(values.as_flattened().iter().map(|a| a.to_bits())),
        }
    }
    bits
}

/// What is left of a frame in formats without a place for all of it.
fn expected(frame: &Frame, format: Format) -> Frame {
    let mut kept = frame.clone();
    let lost = left_out(frame, format);
    kept.fields.retain(|field| !lost.contains(&field.name));
    if let Format::Csv | Format::Bgeo = format {
        kept = Frame { index: 0, time: 0.0, spacing: None, ..kept };
        kept.bodies = vec![FrameBody { name: "points".into(), count: frame.positions.len() }];
    }
    if format == Format::Csv {
        kept.faces = None;
    }
    if format == Format::Bgeo {
        kept.fields.iter_mut().for_each(|field| field.name = plain_name(&field.name, &[]));
    }
    kept
}

#[test]
fn a_frame_reads_back_bit_for_bit_in_every_format() {
    let folder = Folder::new();
    for (format, settings) in every_way() {
        for original in [1, 2, 3, 97, 70_000]
            .map(|points| frame(12, points))
            .into_iter()
            .chain([mesh(7, 30), mesh(7, 200)])
        {
            let path = folder.path().join(format!("frame.{}", extension(format)));
            write_atomically(&path, &encode(&original, format, &settings)).unwrap();
            let back = read_frame(&path).unwrap();
            let original = expected(&original, format);
            let (a, b) =
                (Frame { fields: vec![], ..back.clone() }, Frame { fields: vec![], ..original.clone() });
            assert!(back == original, "{format:?}, {} points: {a:?} {b:?}", original.positions.len());
            assert_eq!(bits(&back), bits(&original));
            assert_eq!(back.time.to_bits(), original.time.to_bits());
        }
    }
}

#[test]
fn a_frame_without_points_reads_back() {
    for format in WHOLE_FORMATS {
        for original in [frame(12, 0), mesh(3, 0)] {
            assert_eq!(decode(&encode(&original, format, &settings(&[]))).unwrap(), original, "{format:?}");
        }
    }
}

#[test]
fn numbers_that_are_no_numbers_keep_their_bits() {
    let odd = [0x7fc0_1234, 0xffc0_0001, 0x7f80_0000, 0x8000_0000, 1].map(f32::from_bits);
    let mut original = frame(0, odd.len());
    original.fields = vec![Field { name: "odd".into(), values: Values::Scalars(odd.to_vec()) }];
    original.time = f64::from_bits(1);
    for format in WHOLE_FORMATS {
        let back = decode(&encode(&original, format, &settings(&[]))).unwrap();
        assert_eq!(bits(&back), bits(&original), "{format:?}");
        assert_eq!(back.time.to_bits(), 1);
    }
}

#[test]
fn a_frame_without_bodies_or_fields_reads_back() {
    let original = Frame { bodies: vec![], fields: vec![], ..frame(u32::MAX, 4) };
    for format in WHOLE_FORMATS {
        assert_eq!(decode(&encode(&original, format, &settings(&[]))).unwrap(), original, "{format:?}");
    }
}

#[test]
fn a_frame_cut_anywhere_is_refused() {
    for (format, settings) in every_way().into_iter().filter(|(format, _)| *format != Format::Csv) {
        for original in [frame(3, 4), mesh(3, 12)] {
            let whole = encode(&original, format, &settings);
            // Without the newline at the very end of a .vtu nothing is missing.
            let last = if format == Format::Vtk { whole.len() - 1 } else { whole.len() };
            for length in 0..last {
                assert!(decode(&whole[..length]).is_err(), "{format:?} cut to {length} of {}", whole.len());
            }
        }
    }
}

/// A few bytes changed, lost, added or moved.
fn damaged(whole: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut damaged = whole.to_vec();
    for _ in 0..1 + dice.below(8) {
        let at = dice.below(damaged.len());
        match dice.below(4) {
            0 => damaged[at] = dice.below(256) as u8,
            1 => drop(damaged.remove(at)),
            2 => damaged.insert(at, b"9<>\"_-\n ,./#f\x00\xff"[dice.below(15)]),
            _ => {
                let from = dice.below(damaged.len());
                let (to, end) = (at.min(damaged.len() - 12), damaged.len().min(from + 12));
                damaged.copy_within(from..end, to);
            }
        }
    }
    damaged
}

/// Reads what may be no frame; if it is one, it is no larger than its bytes can be made to say.
fn try_out(bytes: &[u8]) {
    if let Ok(frame) = decode(bytes) {
        assert!(frame.positions.len() <= 1032 * bytes.len(), "deflated bytes grow no more than that");
    }
}

#[test]
fn a_damaged_frame_never_panics_and_stays_small() {
    let mut dice = Dice(7);
    let ways = every_way().into_iter().flat_map(|way| [(way.clone(), frame(3, 5)), (way, mesh(3, 12))]);
    for ((format, settings), original) in ways {
        let whole = encode(&original, format, &settings);
        for at in 0..whole.len() {
            for change in [1 << dice.below(8), 0xff] {
                let mut damaged = whole.clone();
                damaged[at] ^= change;
                try_out(&damaged);
            }
        }
        (0..2000).for_each(|_| try_out(&damaged(&whole, &mut dice)));
    }
}

#[test]
fn damage_within_an_envelope_that_is_whole_never_panics() {
    let mut dice = Dice(8);
    for original in [frame(3, 5), mesh(3, 12)] {
        let inside = Inflater::default().gzip(&encode(&original, Format::Bgeo, &settings(&[]))).unwrap();
        (0..10_000).for_each(|_| try_out(&damaged(&inside, &mut dice)));
        let whole = encode(&original, Format::Npz, &settings(&[]));
        for round in 0..2000 {
            let mut archive = Archive::default();
            for (k, member) in members(&whole).unwrap().iter().enumerate() {
                let contents = member.contents(&mut Inflater::default()).unwrap();
                let hit = (round + k) % 3 == 0;
                let contents = if hit { damaged(&contents, &mut dice) } else { contents };
                archive.push(&member.name, &contents, false);
            }
            try_out(&archive.finish());
        }
    }
}

#[test]
fn counts_and_lengths_that_lie_are_refused_before_anything_is_allocated() {
    for format in WHOLE_FORMATS {
        let text = encode(&frame(3, 5), format, &settings(&[]));
        for (truth, lie) in [
            (&b"NumberOfPoints=\"5\""[..], &b"NumberOfPoints=\"18446744073709551615\""[..]),
            (b"element vertex 5", b"element vertex 18446744073709551615"),
            (b"element vertex 5", b"element vertex 1000000000000"),
            (b"offset=\"0\"", b"offset=\"18446744073709551615\""),
            (b"body 1 \"cube\"", b"body 18446744073709551615 \"cube\""),
        ] {
            if let Some(at) = text.windows(truth.len()).position(|w| w == truth) {
                let lying = [&text[..at], lie, &text[at + truth.len()..]].concat();
                assert!(decode(&lying).is_err(), "{}", String::from_utf8_lossy(lie));
            }
        }
    }
}

#[test]
fn arrays_that_share_their_bytes_are_refused() {
    let tag = b"<DataArray type=\"Float32\" Name=\"Points\"";
    let text = encode(&frame(3, 50), Format::Vtk, &settings(&[]));
    let at = text.windows(tag.len()).position(|w| w == tag).unwrap();
    let end = at + text[at..].iter().position(|b| *b == b'\n').unwrap() + 1;
    let many = text[at..end].repeat(1000);
    let error = decode(&[&text[..at], &many, &text[at..]].concat()).unwrap_err();
    assert!(error.contains("overlap"), "{error}");
}

#[test]
fn errors_name_the_file_and_what_to_do() {
    let folder = Folder::new();
    let missing = read_frame(&folder.path().join("none.vtu")).unwrap_err().to_string();
    assert!(missing.contains("none.vtu") && missing.contains("check that"), "{missing}");
    let path = folder.path().join("text.vtu");
    write_atomically(&path, b"hello").unwrap();
    let other = read_frame(&path).unwrap_err().to_string();
    assert!(
        other.contains("text.vtu") && other.contains("no file of a format") && other.contains("convert"),
        "{other}"
    );
    assert!(read_frame(folder.path()).is_err());
    assert!(!cfg!(unix) || read_frame(Path::new("/dev/zero")).is_err());
}

#[test]
fn a_point_cloud_of_another_program_reads_as_one_body() {
    let head = "ply\r\nformat binary_little_endian 1.0\r\ncomment by hand\r\nelement vertex 2\r\nproperty double x\r\n\
                property double y\r\nproperty double z\r\nproperty uchar red\r\nelement face 0\r\n\
                property list uchar int vertex_indices\r\nend_header\r\n";
    let mut bytes = head.as_bytes().to_vec();
    for (k, red) in [(1.0f64, 7u8), (2.0, 9)] {
        bytes.extend([k, k + 0.5, -k].iter().flat_map(|x| x.to_le_bytes()));
        bytes.push(red);
    }
    let frame = decode(&bytes).unwrap();
    assert_eq!(frame.positions, [[1.0, 1.5, -1.0], [2.0, 2.5, -2.0]]);
    assert_eq!(frame.field("red"), Some(&Values::Integers(vec![7, 9])));
    assert_eq!(frame.bodies.len(), 1);
}
