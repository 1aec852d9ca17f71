//! The example of the documentation runs as it stands there.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::queue::lead_with_programs;

#[test]
fn the_single_host_example() {
    let Some((lead, programs)) = lead_with_programs("the_single_host_example") else { return };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/supervisors.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("## Pueue\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let script: String =
        section.split("```sh\n").skip(1).filter_map(|part| part.split("```").next()).collect();
    let script = script.replace("/tmp/", &format!("{}/", lead.path().display()));
    assert!(script.lines().count() > 8, "{script}");
    let ours = Path::new(env!("CARGO_BIN_EXE_delegate")).parent().unwrap();
    // A socket address is short, the path of a test is not.
    let sockets = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args(["-eu", "-c", &script])
        .env_clear()
        .envs(lead.command(["help"]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", format!("{}:{}:/usr/local/bin:/usr/bin:/bin", ours.display(), programs.display()))
        .env("XDG_RUNTIME_DIR", sockets.path())
        .current_dir(lead.workspace())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("\"verdict\":\"committed\""), "{printed}");
    assert!(printed.contains("\"kind\":\"pueue\""), "{printed}");
}
