use super::Folder;
use crate::output::OutputError;
use crate::output::tables::{Table, tensor_columns, vector_columns};
use std::fs;

fn header() -> Vec<String> {
    let mut header = vec!["time".to_string()];
    header.extend(vector_columns("cube, \"big\".momentum"));
    header
}

#[test]
fn columns_are_named_by_their_axes() {
    assert_eq!(vector_columns("tip.position"), ["tip.position.x", "tip.position.y", "tip.position.z"]);
    assert_eq!(tensor_columns("F")[1], "F.xy");
    assert_eq!(tensor_columns("F")[8], "F.zz");
}

#[test]
fn numbers_read_back_exactly() {
    let folder = Folder::new();
    let path = folder.path().join("stats.csv");
    let mut table = Table::create(&path, &header()).unwrap();
    let rows =
        [[0.0, 0.1 + 0.2, 1e300, f64::MIN_POSITIVE], [0.1, -0.0, 12345.0, f64::INFINITY], [1.0 / 3.0; 4]];
    for row in &rows {
        table.append(row).unwrap();
    }
    table.append(&[1.0, f64::NAN, 5e-324, -1e16]).unwrap();
    table.sync().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("time,\"cube, \"\"big\"\".momentum.x\","));
    for (row, line) in rows.iter().zip(&lines[1..]) {
        let back: Vec<u64> = line.split(',').map(|value| value.parse::<f64>().unwrap().to_bits()).collect();
        assert_eq!(back, row.map(f64::to_bits));
    }
    assert_eq!(lines[4], "1,nan,5e-324,-1e16");
}

#[test]
fn a_resumed_table_drops_later_rows_and_a_torn_one() {
    let folder = Folder::new();
    let path = folder.path().join("stats.csv");
    let mut table = Table::create(&path, &header()).unwrap();
    let uninterrupted: Vec<[f64; 4]> = (0..10).map(|k| [0.1 * f64::from(k), 1.0, f64::NAN, 3.0]).collect();
    for row in &uninterrupted[..8] {
        table.append(row).unwrap();
    }
    let mut torn = fs::read(&path).unwrap();
    torn.extend_from_slice(b"0.4,1,2"); // the run was killed within a row, or the disk lost its end
    fs::write(&path, torn).unwrap();

    let mut resumed = Table::resume(&path, &header(), 0.5).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1 + 6);
    for row in &uninterrupted[6..] {
        resumed.append(row).unwrap();
    }
    let mut whole = Table::create(&folder.path().join("whole.csv"), &header()).unwrap();
    for row in &uninterrupted {
        whole.append(row).unwrap();
    }
    assert_eq!(fs::read(&path).unwrap(), fs::read(folder.path().join("whole.csv")).unwrap());
}

#[test]
fn a_table_resumes_after_any_cut() {
    let folder = Folder::new();
    let path = folder.path().join("stats.csv");
    let mut table = Table::create(&path, &header()).unwrap();
    for k in 0..3 {
        table.append(&[f64::from(k), 1.5, 2.5, 3.5]).unwrap();
    }
    let whole = fs::read(&path).unwrap();
    let header_length = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for length in header_length..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        Table::resume(&path, &header(), 1e9).unwrap();
        let kept = fs::read(&path).unwrap();
        assert!(whole.starts_with(&kept) && kept.ends_with(b"\n"), "cut to {length}");
    }
    fs::write(&path, &whole[..header_length - 1]).unwrap();
    assert!(Table::resume(&path, &header(), 1e9).is_err());
}

#[test]
fn rounding_of_the_time_keeps_the_row() {
    let folder = Folder::new();
    let path = folder.path().join("stats.csv");
    let mut table = Table::create(&path, &header()).unwrap();
    table.append(&[0.1 + 0.2, 0.0, 0.0, 0.0]).unwrap(); // a bit more than 0.3
    Table::resume(&path, &header(), 0.3).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
}

#[test]
fn a_table_with_other_columns_is_refused_and_left_alone() {
    let folder = Folder::new();
    let path = folder.path().join("stats.csv");
    fs::write(&path, "time,other\n0,1\n").unwrap();
    let error = Table::resume(&path, &header(), 1.0).unwrap_err();
    assert!(matches!(error, OutputError::OtherColumns { .. }));
    assert!(error.to_string().contains("found `other`"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "time,other\n0,1\n");
}

#[test]
fn a_missing_table_is_created_on_resume() {
    let folder = Folder::new();
    let path = folder.path().join("stats.csv");
    Table::resume(&path, &header(), 1.0).unwrap().append(&[2.0; 4]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
}
