use super::{Folder, frame, settings};
use crate::output::Format;
use crate::output::{FrameWriter, OutputError, read_frame, read_index};
use std::fs;

#[test]
fn frames_are_written_in_order_with_an_index_and_a_time_series() {
    let folder = Folder::new();
    let mut writer =
        FrameWriter::new(folder.path(), &settings(&[Format::Vtk, Format::Ply, Format::Usd]), "jelly")
            .unwrap();
    for index in 0..25 {
        writer.submit(frame(index, 10)).unwrap();
    }
    let written = writer.finish().unwrap();
    assert_eq!(written.len(), 3 * 25 + 3);
    assert!(written.iter().all(|path| path.is_file()));

    let index = read_index(folder.path()).unwrap();
    assert_eq!(index.len(), 25);
    for (k, entry) in index.iter().enumerate() {
        assert_eq!(entry.files, ["vtu", "ply", "usdc"].map(|extension| format!("jelly_{k:04}.{extension}")));
        for file in &entry.files {
            let stored = read_frame(&folder.path().join("frames").join(file)).unwrap();
            assert_eq!(stored, frame(k as u32, 10));
            assert_eq!(stored.time.to_bits(), entry.time.to_bits());
        }
    }
    let series = fs::read_to_string(folder.path().join("frames/jelly.pvd")).unwrap();
    assert_eq!(series.matches("<DataSet").count(), 25);
    assert!(folder.names("frames").iter().all(|name| !name.starts_with('.')));
}

#[test]
fn a_resumed_run_keeps_the_frames_before_it() {
    let folder = Folder::new();
    let mut writer = FrameWriter::new(folder.path(), &settings(&[Format::Vtk]), "jelly").unwrap();
    for index in 0..6 {
        writer.submit(frame(index, 3)).unwrap();
    }
    drop(writer); // waits for the frames
    let mut writer = FrameWriter::resume(folder.path(), &settings(&[Format::Vtk]), "jelly", 4).unwrap();
    assert_eq!(read_index(folder.path()).unwrap().len(), 4);
    writer.submit(frame(4, 3)).unwrap();
    writer.finish().unwrap();
    let frames: Vec<u32> = read_index(folder.path()).unwrap().iter().map(|entry| entry.frame).collect();
    assert_eq!(frames, [0, 1, 2, 3, 4]);
    let series = fs::read_to_string(folder.path().join("frames/jelly.pvd")).unwrap();
    assert_eq!(series.matches("<DataSet").count(), 5);
}

#[test]
fn a_new_run_starts_with_an_empty_index() {
    let folder = Folder::new();
    let mut writer = FrameWriter::new(folder.path(), &settings(&[Format::Ply]), "a").unwrap();
    writer.submit(frame(0, 3)).unwrap();
    writer.finish().unwrap();
    let _writer = FrameWriter::new(folder.path(), &settings(&[Format::Ply]), "a").unwrap();
    assert!(read_index(folder.path()).unwrap().is_empty());
}

#[test]
fn without_formats_the_index_still_has_the_times() {
    let folder = Folder::new();
    let mut writer = FrameWriter::new(folder.path(), &settings(&[]), "jelly").unwrap();
    writer.submit(frame(0, 3)).unwrap();
    writer.finish().unwrap();
    assert!(read_index(folder.path()).unwrap()[0].files.is_empty());
    assert_eq!(folder.names("frames"), ["index.json"]);
}

#[test]
fn an_error_of_the_writer_is_told_and_not_lost() {
    let folder = Folder::new();
    let mut writer = FrameWriter::new(folder.path(), &settings(&[Format::Vtk]), "jelly").unwrap();
    fs::remove_dir_all(folder.path().join("frames")).unwrap();
    // The queue takes a few frames before the error shows, never more than it has room for.
    let error = (0..8).find_map(|index| writer.submit(frame(index, 3)).err()).unwrap();
    assert!(matches!(error, OutputError::Io { .. }), "{error}");
    assert!(error.to_string().contains("jelly_0000.vtu"), "{error}");
    assert!(matches!(writer.submit(frame(9, 3)).unwrap_err(), OutputError::WriterStopped { .. }));
    assert!(matches!(writer.finish().unwrap_err(), OutputError::WriterStopped { .. }));
}

#[test]
fn after_a_flush_all_frames_are_there() {
    let folder = Folder::new();
    let mut writer = FrameWriter::new(folder.path(), &settings(&[Format::Vtk]), "jelly").unwrap();
    for index in 0..4 {
        writer.submit(frame(index, 30)).unwrap();
        writer.flush().unwrap();
        assert_eq!(read_index(folder.path()).unwrap().len(), index as usize + 1);
    }
    fs::remove_dir_all(folder.path().join("frames")).unwrap();
    writer.submit(frame(4, 30)).unwrap();
    assert!(matches!(writer.flush().unwrap_err(), OutputError::Io { .. }));
}

#[test]
fn an_error_after_the_last_frame_is_told_when_finishing() {
    let folder = Folder::new();
    let mut writer = FrameWriter::new(folder.path(), &settings(&[Format::Vtk]), "jelly").unwrap();
    fs::create_dir(folder.path().join("frames/jelly_0000.vtu")).unwrap();
    writer.submit(frame(0, 3)).unwrap();
    assert!(matches!(writer.finish().unwrap_err(), OutputError::Io { .. }));
}

#[test]
fn a_frame_that_does_not_fit_together_is_refused() {
    let folder = Folder::new();
    let mut writer = FrameWriter::new(folder.path(), &settings(&[Format::Vtk]), "jelly").unwrap();
    let mut bad = frame(0, 3);
    bad.positions.pop();
    assert!(matches!(writer.submit(bad).unwrap_err(), OutputError::BadFrame { .. }));
    writer.submit(frame(0, 3)).unwrap();
    writer.finish().unwrap();
}

#[test]
fn names_stay_inside_the_folder() {
    let folder = Folder::new();
    let mut writer = FrameWriter::new(folder.path(), &settings(&[Format::Vtk]), "../a b/<c>").unwrap();
    writer.submit(frame(0, 3)).unwrap();
    writer.finish().unwrap();
    assert_eq!(folder.names("frames"), ["_a_b__c_.pvd", "_a_b__c__0000.vtu", "index.json"]);
}

#[test]
fn a_damaged_index_is_an_error() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("frames")).unwrap();
    for text in [
        "",
        "[]",
        "{\"version\": 1, \"frames\": [",
        "{\"version\": 2, \"frames\": []}",
        "{\"version\": 1, \"frames\": [{\"frame\":0,\"time\":0.0,\"files\":[\"../../secret\"]}]}",
    ] {
        fs::write(folder.path().join("frames/index.json"), text).unwrap();
        assert!(read_index(folder.path()).unwrap_err().to_string().contains("index.json"), "{text}");
    }
}
