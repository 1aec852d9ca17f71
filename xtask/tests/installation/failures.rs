//! What `install.sh` does when something is wrong: a clear sentence, and nothing half-installed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use testkit::release_server::Mishap;

use crate::world::{Ran, VERSION, World, names, run, stem, write_program};

/// The archive, where it is downloaded from.
fn archive() -> String {
    format!("/download/v{VERSION}/{}.tar.gz", stem(VERSION))
}

/// It failed with this sentence, and the directory is what it was.
fn refused(world: &World, ran: &Ran, sentence: &str) {
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains(sentence), "{ran:?}");
    assert!(!world.default_directory().exists(), "{:?}", names(&world.default_directory()));
    assert!(world.is_tidy());
}

/// Every downloader meets the same mishap.
fn with_every_downloader(prepare: impl Fn(&World), sentence: &str) {
    for downloader in ["curl", "wget", "node"] {
        let mut world = World::new();
        if !world.only_with(Some(downloader)) {
            continue;
        }
        prepare(&world);
        let ran = run(world.installer([""; 0]).env("DELEGATE_NODE", "node"));
        refused(&world, &ran, sentence);
    }
}

#[test]
fn a_wrong_checksum() {
    with_every_downloader(|world| world.server.spoil(&archive(), Mishap::Altered), "the checksum of");
}

#[test]
fn a_download_that_is_cut_off() {
    with_every_downloader(|world| world.server.spoil(&archive(), Mishap::Cut), "could not download");
}

#[test]
fn an_archive_that_is_missing() {
    with_every_downloader(|world| world.server.forget(&archive()), "could not download");
}

#[test]
fn checksums_that_can_not_be_had() {
    let path = "/latest/download/checksums.txt";
    with_every_downloader(|world| world.server.spoil(path, Mishap::Fails(503)), "could not download");
    with_every_downloader(|world| world.server.spoil(path, Mishap::Cut), "could not download");
}

#[test]
fn a_version_that_does_not_exist() {
    let world = World::new();
    let ran = world.install(["--version", "9.9.9"]);
    refused(&world, &ran, "/download/v9.9.9/checksums.txt");
}

#[test]
fn a_release_without_this_platform() {
    let world = World::new();
    let digest = "0".repeat(64);
    let path = "/latest/download/checksums.txt";
    world.server.say(path, &format!("{digest}  delegation-layer-1.2.3-darwin-mips.tar.gz\n"));
    refused(&world, &world.install([""; 0]), "has no archive for linux-");
    let line = format!("{digest}  {}.tar.gz\n", stem(VERSION));
    world.server.say(path, &format!("{line}{}", line.replace(VERSION, "1.2.4")));
    refused(&world, &world.install([""; 0]), "names several archives");
    // Another version than the one that was asked for.
    world.server.say("/download/v1.2.2/checksums.txt", &line);
    refused(&world, &world.install(["--version", "1.2.2"]), "holds the version 1.2.3");
    // A page of a portal that wants a login, say.
    world.server.say(path, "<html><body>Sign in</body></html>\n");
    refused(&world, &world.install([""; 0]), "has no archive for linux-");
}

#[test]
fn a_platform_that_is_not_supported() {
    for (system, processor, sentence) in [
        ("FreeBSD", "amd64", "there is no release for FreeBSD"),
        ("MINGW64_NT-10.0", "x86_64", "there is no release for MINGW64_NT-10.0"),
        ("Linux", "riscv64", "there is no release for the processor riscv64"),
        ("Darwin", "ppc", "there is no release for the processor ppc"),
    ] {
        let mut world = World::new();
        fake_uname(&mut world, system, processor);
        refused(&world, &world.install([""; 0]), sentence);
        assert!(world.server.requests().is_empty());
    }
}

#[test]
fn each_platform_asks_for_its_own_archive() {
    for (system, processor, name) in [
        ("Linux", "x86_64", "linux-amd64"),
        ("Linux", "aarch64", "linux-arm64"),
        ("Darwin", "x86_64", "darwin-amd64"),
        ("Darwin", "arm64", "darwin-arm64"),
    ] {
        let mut world = World::new();
        fake_uname(&mut world, system, processor);
        let file = format!("delegation-layer-1.2.3-{name}.tar.gz");
        world.server.say("/latest/download/checksums.txt", &format!("{}  {file}\n", "0".repeat(64)));
        world.server.say(&format!("/download/v1.2.3/{file}"), "no archive");
        refused(&world, &world.install([""; 0]), &format!("the checksum of {file} is wrong"));
    }
}

fn fake_uname(world: &mut World, system: &str, processor: &str) {
    let directory = world.at("fakes");
    fs::create_dir(&directory).expect("a directory");
    let script = format!("#!/bin/sh\ncase $1 in -s) echo {system} ;; -m) echo {processor} ;; esac\n");
    write_program(&directory.join("uname"), &script);
    world.put_first(&directory);
}

#[test]
fn a_directory_that_can_not_be_written() {
    let world = World::new();
    fs::write(world.at("file"), "kept").expect("a file");
    for (place, sentence) in [("file", "is no directory"), ("file/below", "can not be made")] {
        let ran = world.install(["--install-dir".as_ref(), world.at(place).as_os_str()]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(sentence), "{ran:?}");
        assert!(world.is_tidy());
    }
    assert_eq!(fs::read_to_string(world.at("file")).expect("a file"), "kept");
    // Nobody can write there, not even root.
    let ran = world.install(["--install-dir", "/proc/sys"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    // Something of somebody else's lies where our folder is to be.
    let directory = world.default_directory();
    fs::create_dir_all(&directory).expect("a directory");
    fs::write(directory.join(".delegation-layer"), "kept").expect("a file");
    let ran = world.install([""; 0]);
    assert_eq!((ran.code, names(&directory)), (1, vec![".delegation-layer".to_owned()]), "{ran:?}");
}

#[test]
fn a_directory_that_has_the_name_of_a_program() {
    let world = World::new();
    let directory = world.default_directory();
    fs::create_dir_all(directory.join("delegate-run")).expect("a directory");
    let ran = world.install([""; 0]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("delegate-run is a directory"), "{ran:?}");
    assert_eq!(names(&directory), ["delegate-run"]);
    assert!(names(&directory.join("delegate-run")).is_empty());
}

#[test]
fn what_is_not_ours_is_left_alone() {
    type Put = fn(&Path);
    let put: [Put; 4] = [
        |place| fs::write(place, "somebody's own").expect("a file"),
        |place| symlink("/bin/echo", place).expect("a link"),
        |place| symlink("/nowhere", place).expect("a dead link"),
        // Another folder of the same name.
        |place| symlink("../.delegation-layer/1.2.3/bin/delegate", place).expect("a link"),
    ];
    for name in ["delegate", "delegate-run", "delegation-route"] {
        for put in put {
            let world = World::new();
            let directory = world.default_directory();
            fs::create_dir_all(&directory).expect("a directory");
            put(&directory.join(name));
            let before = directory.join(name).read_link().ok();
            let ran = world.install([""; 0]);
            assert_eq!(ran.code, 1, "{ran:?}");
            assert!(ran.stderr.contains(&format!("{name} was not put there by this installer")), "{ran:?}");
            assert!(ran.stderr.contains("DELEGATE_REPLACE=1"), "{ran:?}");
            assert_eq!(names(&directory), [name], "{ran:?}");
            assert_eq!(directory.join(name).read_link().ok(), before);
            if before.is_none() {
                let text = fs::read_to_string(directory.join(name)).expect("it is still there");
                assert_eq!(text, "somebody's own");
            }
            assert!(world.is_tidy());
        }
    }
}

#[test]
fn a_release_on_this_machine_leads_nowhere_else() {
    let elsewhere = World::new();
    for path in ["/latest/download/checksums.txt".to_owned(), archive()] {
        let lead_away = |world: &World| {
            world.server.redirect(&path, &format!("{}{path}", elsewhere.server.url()));
        };
        with_every_downloader(lead_away, "could not download");
    }
    assert!(elsewhere.server.requests().is_empty(), "{:?}", elsewhere.server.requests());
}

#[test]
fn a_program_that_does_not_run_here() {
    let world = World::empty();
    world.publish(VERSION, "#!/bin/sh\necho 'version GLIBC_2.99 not found' >&2\nexit 1\n");
    let directory = world.default_directory();
    fs::create_dir_all(&directory).expect("a directory");
    let ran = world.install([""; 0]);
    assert_eq!((ran.code, names(&directory)), (1, Vec::new()), "{ran:?}");
    assert!(ran.stderr.contains("GLIBC_2.99"), "{ran:?}");
    assert!(ran.stderr.contains("does not run on this machine"), "{ran:?}");
}

#[test]
fn an_archive_with_more_than_a_release_holds() {
    type Spoil = fn(&Path);
    let spoil: [(&str, Spoil); 3] = [
        ("a program of another name, ls", |bin| write_program(&bin.join("ls"), "#!/bin/sh\n")),
        ("holds a link", |bin| {
            fs::remove_file(bin.join("delegate-run")).expect("a program");
            symlink("/bin/echo", bin.join("delegate-run")).expect("a link");
        }),
        ("holds no delegate-run", |bin| fs::remove_file(bin.join("delegate-run")).expect("a program")),
    ];
    for (sentence, spoil) in spoil {
        let world = World::new();
        spoil(&world.programs_of(VERSION));
        world.publish_again(VERSION);
        refused(&world, &world.install([""; 0]), sentence);
    }
}

#[test]
fn checksums_with_the_line_ends_of_another_system() {
    let world = World::new();
    let path = world.at("releases").join(VERSION).join("checksums.txt");
    let text = fs::read_to_string(path).expect("checksums");
    world.server.say("/latest/download/checksums.txt", &text.replace('\n', "\r\n"));
    assert_eq!(world.install([""; 0]).code, 0);
}

#[test]
fn a_failure_leaves_the_old_version() {
    let world = World::new();
    assert_eq!(world.install([""; 0]).code, 0);
    world.publish("2.0.0", "#!/bin/sh\necho VERSION\n");
    for mishap in [Mishap::Altered, Mishap::Cut] {
        world.server.spoil(&format!("/download/v2.0.0/{}.tar.gz", stem("2.0.0")), mishap);
        assert_eq!(world.install([""; 0]).code, 1);
        let delegate = world.default_directory().join("delegate");
        assert_eq!(world.printed_by(&delegate), "delegate 1.2.3 with 1.2.3");
    }
}

#[test]
fn a_call_that_is_wrong() {
    let world = World::new();
    for (arguments, sentence) in [
        (&["--install-dir", "here"][..], "no absolute path"),
        (&["--install-dir"], "needs a value"),
        (&["--install-dir", ""], "is empty"),
        (&["--version", "../1.2.3"], "no version"),
        (&["--version", "latest"], "no version"),
        (&["--force"], "what is --force?"),
    ] {
        let ran = world.install(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(sentence), "{arguments:?}: {ran:?}");
    }
    for (url, sentence) in [
        ("", "where are the releases?"),
        ("http://releases.example", "no https:// address"),
        ("file:///etc", "no https:// address"),
        ("http://127.0.0.1.example", "no https:// address"),
        ("http://127.0.0.1:1@127.0.0.1:2", "must not hold a user"),
    ] {
        let ran = run(world.installer([""; 0]).env("DELEGATE_RELEASE_URL", url));
        assert_eq!(ran.code, 2, "{url}: {ran:?}");
        assert!(ran.stderr.contains(sentence), "{url}: {ran:?}");
    }
    assert!(!world.default_directory().exists());
    assert!(world.server.requests().is_empty());
    let ran = world.install(["--help"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("DELEGATE_RELEASE_URL"), "{ran:?}");
}
