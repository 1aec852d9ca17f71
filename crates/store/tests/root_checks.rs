//! Which directories are taken as a root, and which are left alone (STATE.md 1).

#[path = "program/place.rs"]
mod place;
#[path = "program/sample.rs"]
mod sample;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use place::{Place, names, root_path};
use record::AbsolutePath;
use sample::kind;
use store::Root;

/// What both ways of opening answer.
fn refusals(path: &AbsolutePath) -> [&'static str; 2] {
    [Root::open(path), Root::open_or_create(path)].map(|refused| kind(&refused.unwrap_err()))
}

#[test]
fn missing_directories_are_made_for_the_owner_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = root_path(directory.path()).join("a").unwrap().join("b").unwrap();
    assert_eq!(kind(&Root::open(&path).unwrap_err()), "not-found");
    let made = Root::open_or_create(&path).unwrap();
    for path in path.as_path().ancestors().take(3) {
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o700, "{}", path.display());
    }
    assert_eq!(Root::open(&path).unwrap().id(), made.id());
    assert_eq!(Root::open_or_create(&path).unwrap().id(), made.id());
    assert_eq!(made.path(), &path);
}

#[test]
fn a_root_open_to_others_is_refused_with_the_remedy() {
    let place = Place::new();
    let path = place.root.path();
    for mode in [0o750, 0o705, 0o710, 0o720, 0o777] {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        assert_eq!(refusals(path), ["root-invalid"; 2], "{mode:o}");
    }
    let error = Root::open(path).unwrap_err().to_string();
    assert!(error.contains(&format!("chmod 700 '{path}'")), "{error}");
    fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
    assert!(Root::open(path).is_ok());
}

#[test]
fn a_root_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not tried: only root can give files away");
        return;
    }
    let place = Place::new();
    chown(place.root.path(), Some(65534), None).unwrap();
    assert_eq!(refusals(place.root.path()), ["root-invalid"; 2]);
}

#[test]
fn a_link_or_a_file_is_no_root() {
    let place = Place::new();
    let directory = tempfile::tempdir().unwrap();
    let path = root_path(directory.path());
    symlink(place.root.path(), &path).unwrap();
    assert_eq!(refusals(&path), ["root-invalid"; 2]);
    fs::remove_file(&path).unwrap();
    fs::write(&path, "").unwrap();
    assert_eq!(refusals(&path), ["root-invalid"; 2]);
}

#[test]
fn a_directory_with_other_content_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = root_path(directory.path());
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    fs::write(path.as_path().join("letter.txt"), "").unwrap();
    assert_eq!(refusals(&path), ["root-invalid"; 2]);
    assert_eq!(names(path.as_path()), ["letter.txt"]);
    fs::remove_file(path.as_path().join("letter.txt")).unwrap();
    assert!(Root::open_or_create(&path).is_ok());
}

#[test]
fn a_root_that_lost_its_record_gets_no_new_identity() {
    let (place, _) = Place::with_task();
    fs::remove_file(place.path("root.json")).unwrap();
    assert_eq!(refusals(place.root.path()), ["root-invalid"; 2]);
}

#[test]
fn a_damaged_root_record_is_invalid() {
    let place = Place::new();
    fs::write(place.path("root.json"), "{\"schema_version\":1}\n").unwrap();
    assert_eq!(refusals(place.root.path()), ["root-invalid"; 2]);
}

#[test]
fn a_root_of_another_program_or_a_newer_version_is_unsupported() {
    let place = Place::new();
    let path = place.root.path();
    let record = fs::read_to_string(place.path("root.json")).unwrap();
    for wrong in [
        record.replace("\"schema_version\":1", "\"schema_version\":2"),
        record.replace("{\"schema", "{\"extra\":1,\"schema"),
        "{\"schema_version\":7,\"anything\":null}".to_owned(),
    ] {
        fs::write(place.path("root.json"), wrong).unwrap();
        assert_eq!(refusals(path), ["unsupported-root"; 2]);
    }
    fs::write(place.path("root.json"), record).unwrap();
    assert!(Root::open(path).is_ok());
    fs::write(place.path(".maintenance.lock"), "").unwrap();
    assert_eq!(refusals(path), ["unsupported-root"; 2]);
}
