//! The example of the documentation runs as it stands there.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::world::World;

#[test]
fn the_cluster_example() {
    let Some(world) = World::new("the_cluster_example") else { return };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/supervisors.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("## Slurm\n").unwrap();
    let script: String =
        section.split("```sh\n").skip(1).filter_map(|part| part.split("```").next()).collect();
    let script = script.replace("/shared/", &format!("{}/", world.path().display()));
    assert!(script.lines().count() > 12, "{script}");
    let ours = Path::new(env!("CARGO_BIN_EXE_delegate")).parent().unwrap();
    let output = Command::new("sh")
        .args(["-eu", "-c", &script])
        .env_clear()
        .envs(world.command(["help"]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env_remove("DELEGATE_SUPERVISOR")
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", ours.display()))
        .current_dir(world.workspace())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    let id = "00000000000000000000000000000002";
    let job = format!(":{id} ");
    for part in ["\"verdict\":\"committed\"", "\"kind\":\"slurm\"", &job, "\"host_name\":\"node"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    // The outcome is there before the job is over.
    world.until_job_is(id, "COMPLETED");
}
