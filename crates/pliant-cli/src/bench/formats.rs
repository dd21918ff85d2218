//! Size of a frame in each format, and how long it takes to make and to read.

use super::{Arguments, best_and_median, rounded};
use pliant::output::{Field, Frame, FrameBody, Values, decode, encode};
use pliant::scene::{Format, OutputSettings};
use serde_json::{Value, json};

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Vec<Value>> {
    let frame = frame(arguments.particles as usize);
    let mut rows = Vec::new();
    for (format, word) in Format::ALL {
        for compress in [false, true] {
            if compress && !matches!(format, Format::Vtk | Format::Bgeo | Format::Npz) {
                continue;
            }
            let settings = OutputSettings { fps: 50.0, formats: vec![], compress, checkpoint_every: 1.0 };
            let bytes = encode(&frame, format, &settings);
            let (write, _) = best_and_median(9, || drop(encode(&frame, format, &settings)));
            let (read, _) = best_and_median(9, || drop(decode(&bytes)));
            rows.push(json!({
                "bench": "formats",
                "format": word,
                "compress": compress,
                "particles": frame.positions.len(),
                "megabytes": rounded(bytes.len() as f64 / 1e6),
                "ms_encode": rounded(write),
                "ms_decode": rounded(read),
            }));
        }
    }
    Ok(rows)
}

/// A block that is turned and waves, with the fields of a run: numbers with all their digits.
fn frame(particles: usize) -> Frame {
    let side = (particles as f64).cbrt().round().max(1.0) as usize;
    let place = |k: usize| [k % side, k / side % side, k / side / side].map(|n| 0.01 * n as f32);
    let moved = |[x, y, z]: [f32; 3]| {
        let wave = 0.003 * (40.0 * x).sin() * (30.0 * z).cos();
        [0.8 * x - 0.6 * y + wave, 0.6 * x + 0.8 * y + 1.0, z - 0.2 * wave]
    };
    let points: Vec<[f32; 3]> = (0..side.pow(3)).map(place).collect();
    let velocity = |[x, y, z]: [f32; 3]| [0.3 * (20.0 * y).cos(), -2.0 + 0.1 * (9.0 * x).sin(), 0.2 * z];
    let stress = |[x, y, z]: [f32; 3]| 2e3 * (1.0 + (25.0 * x).sin() * (18.0 * y).cos()) + 40.0 * z;
    let field = |name: &str, values| Field { name: name.into(), values };
    Frame {
        index: 10,
        time: 0.2,
        spacing: Some(0.01),
        bodies: vec![FrameBody { name: "block".into(), count: points.len() }],
        positions: points.iter().map(|p| moved(*p)).collect(),
        fields: vec![
            field("velocity", Values::Vectors(points.iter().map(|p| velocity(*p)).collect())),
            field("body", Values::Integers(vec![0; points.len()])),
            field("stress", Values::Scalars(points.iter().map(|p| stress(*p)).collect())),
            field("volume_ratio", Values::Scalars(points.iter().map(|p| 1.0 - 1e-6 * stress(*p)).collect())),
        ],
        faces: None,
    }
}
