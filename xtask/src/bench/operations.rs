//! What a task asks of the file system under its root, counted with strace: the input of `docs/scaling.md`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::real::slurm::{self, Cluster, Plan};

use super::rounds::{read, run};
use super::world::{self, CODEX, Lead, World, Worlds};
use crate::failure::Failure;

/// Lengths of the two turns whose difference is what a second of watching costs.
const SHORT_SECONDS: u32 = 2;
const LONG_SECONDS: u32 = 12;

/// Kinds of operations, in the order of the table, with the system calls that they are.
const KINDS: &[(&str, &[&str])] = &[
    ("make", &["mkdir", "mkdirat", "CREATE"]),
    ("rename", &["rename", "renameat", "renameat2", "link", "linkat"]),
    ("remove", &["unlink", "unlinkat", "rmdir"]),
    ("sync", &["fsync", "fdatasync"]),
    ("lock", &["LOCK"]),
    ("open", &["open", "openat", "openat2"]),
    (
        "look",
        &[
            "stat",
            "lstat",
            "newfstatat",
            "statx",
            "fstat",
            "statfs",
            "fstatfs",
            "access",
            "faccessat2",
            "readlink",
            "readlinkat",
        ],
    ),
    ("list", &["getdents64"]),
    ("read", &["read", "pread64", "copy_file_range", "sendfile"]),
    ("write", &["write", "pwrite64", "writev", "ftruncate", "fallocate", "fchmod"]),
];

/// How often each kind was asked for.
type Counts = BTreeMap<&'static str, i64>;

/// Counts, and prints one table.
pub(crate) fn run_all() -> Result<(), Failure> {
    if let Some(reason) = slurm::missing() {
        return Err(Failure::Other(reason));
    }
    run(Command::new("strace").arg("--version"))?;
    world::build()?;
    let worlds = Worlds::new()?;
    let world = World::new(&worlds, "operations")?;
    let cluster = Cluster::start(&Plan::default()).map_err(|error| Failure::Other(error.to_string()))?;
    let lead = world.lead("root").and("DELEGATE_SUPERVISOR", "slurm").and("SLURM_CONF", cluster.config());
    let traced = Traced { world: &world, lead: &lead };
    // The first task makes the folders of the root and fills its caches.
    traced.turn(1)?;
    let short = traced.turn(SHORT_SECONDS)?;
    let long = traced.turn(LONG_SECONDS)?;
    let seconds = i64::from(LONG_SECONDS - SHORT_SECONDS);
    let second: Counts =
        KINDS.iter().map(|(kind, _)| (*kind, (long.runner[kind] - short.runner[kind]) / seconds)).collect();
    let begin_and_end = KINDS
        .iter()
        .map(|(kind, _)| (*kind, short.runner[kind] - second[kind] * i64::from(SHORT_SECONDS)))
        .collect();
    let head: String = KINDS.iter().map(|(kind, _)| format!(" {kind} |")).collect();
    println!("| step |{head} all |\n|---|{}", "---:|".repeat(KINDS.len() + 1));
    for (step, counts) in [
        ("`dispatch`", &short.dispatch),
        ("the runner, beginning and end", &begin_and_end),
        ("the runner, each second of the turn", &second),
        ("`status` of a running turn", &short.status),
        ("`collect` of an ended one", &short.collect),
    ] {
        let cells: String = KINDS.iter().map(|(kind, _)| format!(" {} |", counts[kind])).collect();
        println!("| {step} |{cells} {} |", counts.values().sum::<i64>());
    }
    Ok(())
}

struct Traced<'a> {
    world: &'a World,
    lead: &'a Lead,
}

/// What one task asked for, by step.
struct Turn {
    dispatch: Counts,
    runner: Counts,
    status: Counts,
    collect: Counts,
}

impl Traced<'_> {
    /// A turn of the fake codex that says nothing for so long.
    fn turn(&self, seconds: u32) -> Result<Turn, Failure> {
        let id = store::random_task_id();
        let brief = self.world.place("timed.md");
        let text = format!("[[fake: silent-then-final {seconds}]] [[fake: answer done]]\n");
        fs::write(&brief, text).map_err(Failure::file(&brief))?;
        let (runner, trace) = self.runner()?;
        let mut dispatch = self.lead.dispatch(CODEX, &brief);
        dispatch.args(["--id", &id.to_string(), "--runner"]).arg(&runner);
        let dispatch = self.count(&dispatch)?;
        let running = self.lead.task_directory(id).join("running.json");
        super::changes::Changes::of(&self.lead.task_directory(id))?
            .until("the launch", || running.exists())?;
        let status = self.count(&self.lead.delegate(["status", &id.to_string(), "--json"]))?;
        run(&mut self.lead.delegate(["collect", &id.to_string(), "--watch", "5m"]))?;
        let collect = self.count(&self.lead.delegate(["collect", &id.to_string(), "--json"]))?;
        // The runner still tidies up when the outcome is there.
        self.lead.wait_until_idle()?;
        let trace_is_whole =
            || fs::read_to_string(&trace).is_ok_and(|text| text.contains("+++ exited with 0 +++"));
        super::changes::Changes::of(&self.world.place("jobs"))?.until("the runner's end", trace_is_whole)?;
        Ok(Turn { dispatch, runner: self.read(&trace)?, status, collect })
    }

    /// A runner that is watched by strace.
    fn runner(&self) -> Result<(PathBuf, PathBuf), Failure> {
        let (script, trace) = (self.world.place("bin/traced-runner"), self.world.place("jobs/runner.trace"));
        let ours =
            self.lead.delegate(["help"]).get_program().to_string_lossy().replace("delegate", "delegate-run");
        let text = format!("#!/bin/sh\nexec strace -f -y -s 0 -o {} {ours} \"$@\"\n", trace.display());
        fs::write(&script, text).map_err(Failure::file(&script))?;
        fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).map_err(Failure::file(&script))?;
        Ok((script, trace))
    }

    /// Runs a command under strace.
    fn count(&self, command: &Command) -> Result<Counts, Failure> {
        let trace = self.world.place("jobs/command.trace");
        let mut traced = self.world.command("strace");
        traced
            .args(["-f", "-y", "-s", "0", "-o"])
            .arg(&trace)
            .arg(command.get_program())
            .args(command.get_args());
        traced.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        read(&mut traced)?;
        self.read(&trace)
    }

    fn read(&self, trace: &Path) -> Result<Counts, Failure> {
        let text = fs::read_to_string(trace).map_err(Failure::file(trace))?;
        let root = self.lead.root().to_string_lossy().into_owned();
        let mut counts: Counts = KINDS.iter().map(|(kind, _)| (*kind, 0)).collect();
        for line in text.lines().filter(|line| line.contains(&root)) {
            let Some((call, words)) = line.split_once('(') else { continue };
            let call = call.rsplit(' ').next().unwrap_or_default();
            let call = match call {
                "openat" | "openat2" if words.contains("O_CREAT") => "CREATE",
                "fcntl" if words.contains("F_OFD_") => "LOCK",
                call => call,
            };
            let kind = KINDS.iter().find(|(_, calls)| calls.contains(&call));
            if let Some((kind, _)) = kind {
                *counts.entry(kind).or_default() += 1;
            }
        }
        Ok(counts)
    }
}
