//! `install.sh` is killed between any two of its steps: what was there works, or what is new does.

use std::fs;

use crate::world::{SYSTEM_PATH, World, names, run, write_program};

/// The programs by which the script changes something.
const STEPS: [&str; 6] = ["mkdir", "mktemp", "cp", "mv", "ln", "rm"];

/// Each of them counts its calls, and kills the script before the call with the number in `$FATAL`.
fn deadly(world: &mut World) {
    let directory = world.at("deadly");
    fs::create_dir(&directory).expect("a directory");
    for name in STEPS {
        let script = format!(
            "#!/bin/sh\necho >> \"$COUNT\"\nn=$(wc -l < \"$COUNT\")\n\
             [ \"$n\" -ne \"$FATAL\" ] || kill -s KILL \"$VICTIM\"\nPATH={SYSTEM_PATH} exec {name} \"$@\"\n"
        );
        write_program(&directory.join(name), &script);
    }
    world.put_first(&directory);
}

/// Installs and is killed before step `fatal`; whether it came that far.
fn killed_at(world: &World, fatal: u32) -> bool {
    let count = world.at("count");
    let _ = fs::remove_file(&count);
    // The shell tells its number, then becomes the script.
    let script = testkit::real::workspace_directory().join("install.sh");
    let ran = run(world
        .command("/bin/sh")
        .args(["-c", "VICTIM=$$ exec sh \"$0\""])
        .arg(script)
        .env("COUNT", &count)
        .env("FATAL", fatal.to_string()));
    assert!(ran.code == -1 || ran.code == 0, "{ran:?}");
    ran.code == -1
}

/// Everything that is there works, and the pair is of one version.
fn is_whole(world: &World, allowed: &[&str]) {
    let directory = world.default_directory();
    for name in names(&directory).iter().filter(|name| !name.starts_with('.')) {
        world.printed_by(&directory.join(name));
    }
    if directory.join("delegate").exists() {
        let printed = world.printed_by(&directory.join("delegate"));
        assert!(allowed.contains(&printed.as_str()), "{printed}");
    } else {
        assert!(allowed.contains(&""), "delegate is gone");
    }
}

#[test]
fn a_first_installation_is_killed() {
    let mut fatal = 0;
    loop {
        fatal += 1;
        let mut world = World::new();
        deadly(&mut world);
        let was_killed = killed_at(&world, fatal);
        is_whole(
            &world,
            if was_killed { &["", "delegate 1.2.3 with 1.2.3"] } else { &["delegate 1.2.3 with 1.2.3"] },
        );
        if !was_killed {
            break;
        }
        // The next one cures it.
        assert!(!killed_at(&world, 0));
        is_whole(&world, &["delegate 1.2.3 with 1.2.3"]);
    }
    assert!(fatal > 10, "only {fatal} steps");
}

#[test]
fn an_upgrade_is_killed() {
    let mut world = World::new();
    deadly(&mut world);
    assert!(!killed_at(&world, 0));
    let [first, second] = ["delegate 1.2.3 with 1.2.3", "second 2.0.0"];
    world.publish("2.0.0", "#!/bin/sh\necho second VERSION\n");
    let mut fatal = 0;
    loop {
        fatal += 1;
        let was_killed = killed_at(&world, fatal);
        let both = [first, second];
        is_whole(&world, if was_killed { &both } else { &both[1..] });
        if !was_killed {
            break;
        }
        let back =
            run(world.installer(["--version", "1.2.3"]).env("COUNT", world.at("count")).env("FATAL", "0"));
        assert_eq!(back.code, 0, "{back:?}");
        is_whole(&world, &[first]);
    }
    assert!(fatal > 10, "only {fatal} steps");
}
