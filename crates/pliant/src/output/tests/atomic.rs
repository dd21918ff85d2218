use super::Folder;
use crate::output::atomic::write_atomically_with;
use crate::output::{clean_temporaries, write_atomically};
use std::fs;
use std::io::{self, Write};

#[test]
fn a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else() {
    let folder = Folder::new();
    let path = folder.path().join("state");
    write_atomically(&path, b"old").unwrap();
    let error = write_atomically_with(&path, |file| {
        file.write_all(&[b'n'; 1_000_000])?;
        file.flush()?;
        Err(io::Error::new(io::ErrorKind::StorageFull, "no space left on device"))
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("state") && error.contains("free some space"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(folder.names("."), ["state"]);
}

#[test]
fn the_final_name_holds_the_old_bytes_until_the_new_ones_are_whole() {
    let folder = Folder::new();
    let path = folder.path().join("state");
    write_atomically(&path, b"old").unwrap();
    write_atomically_with(&path, |file| {
        file.write_all(b"new")?;
        file.flush()?;
        assert_eq!(fs::read(&path)?, b"old");
        Ok(())
    })
    .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_write_that_cannot_be_renamed_is_an_error_and_leaves_no_temporary() {
    let folder = Folder::new();
    let path = folder.path().join("taken");
    fs::create_dir(&path).unwrap();
    assert!(write_atomically(&path, b"new").is_err());
    assert_eq!(folder.names("."), ["taken"]);
    assert!(write_atomically(&folder.path().join("missing").join("file"), b"new").is_err());
}

#[test]
fn what_a_killed_run_left_is_removed_and_nothing_else() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("frames")).unwrap();
    for name in [".pliant-77-0.part", "frames/.pliant-77-1.part", "kept.part", ".hidden"] {
        fs::write(folder.path().join(name), "half").unwrap();
    }
    assert_eq!(clean_temporaries(folder.path()).unwrap().len(), 2);
    assert_eq!(folder.names("."), [".hidden", "frames", "kept.part"]);
    assert!(folder.names("frames").is_empty());
    assert!(clean_temporaries(&folder.path().join("nowhere")).unwrap().is_empty());
}
