//! A real Slurm cluster on this host: munged, slurmctld and two slurmd, each node with a host name and processes of its own.
//!
//! It needs root and Debian's packages. Everything talks over the loopback interface of a closed network
//! ([`crate::closed_network`]), with a key, ports and files of its own. No process outlives the thread that made the cluster,
//! whatever happens to it.

mod node;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use node::Node;

use super::skip::skip;
use crate::closed_network;

/// The programs of the cluster; Debian's packages are named as in `cargo xtask real install`.
const PROGRAMS: [&str; 8] =
    ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "setpriv"];
const PLACES: [&str; 3] = ["/usr/sbin", "/usr/bin", "/bin"];
/// Nobody else is in the network.
const CONTROLLER_PORT: u16 = 6817;
const FIRST_NODE_PORT: u16 = 6818;
/// A wait that ends here is a failure, not a measurement.
const PATIENCE: Duration = Duration::from_secs(30);
const KEY_BYTES: usize = 128;
const RHYTHM: Duration = Duration::from_millis(20);

/// How a cluster is made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names of the nodes, which become their host names.
    pub nodes: Vec<&'static str>,
    /// Processors of each node, whatever this machine has.
    pub processors: u32,
    /// Directories that the last node does not see.
    pub hidden: Vec<PathBuf>,
}

impl Default for Plan {
    fn default() -> Self {
        Self { nodes: vec!["node1", "node2"], processors: 4, hidden: Vec::new() }
    }
}

/// A running cluster; ends with the value.
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Node>,
    controller: Option<Child>,
    munge: Child,
    /// Short, for the address of a socket.
    directory: TempDir,
}

impl Cluster {
    /// A cluster for a test, idle; `None` after the test was reported as skipped ([`skip`]). The calling thread moves into a
    /// closed network and stays there; start what shall reach the cluster from it.
    ///
    /// # Panics
    /// The cluster could be, but does not come up; or it can not be, and real components are demanded.
    #[must_use]
    pub fn for_test(test: &str, plan: &Plan) -> Option<Self> {
        match missing() {
            Some(reason) => {
                skip(test, &reason);
                None
            }
            None => Some(Self::start(plan).unwrap_or_else(|error| panic!("{test}: {error}"))),
        }
    }

    /// Starts a cluster and waits until its nodes are idle.
    ///
    /// # Errors
    /// Something can not be started, or does not come up.
    pub fn start(plan: &Plan) -> io::Result<Self> {
        closed_network::enter().map_err(io::Error::other)?;
        closed_network::look_connected()?;
        let directory = TempDir::new()?;
        let place = |name: &str| directory.path().join(name);
        fs::create_dir(place("state"))?;
        fs::write(place("key"), key()?)?;
        fs::set_permissions(place("key"), PermissionsExt::from_mode(0o600))?;
        fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755))?;
        fs::write(place("slurm.conf"), configuration(directory.path(), plan))?;
        let file = |flag: &str, name: &str| format!("--{flag}={}", place(name).display());
        let munge = daemon(
            directory.path(),
            "munged",
            &[
                "--foreground",
                "--force",
                &file("key-file", "key"),
                &file("socket", "munge.sock"),
                &file("pid-file", "munged.pid"),
                &file("seed-file", "seed"),
                &file("log-file", "munged.log"),
            ],
        )?;
        let mut cluster = Self { nodes: Vec::new(), controller: None, munge, directory };
        cluster.wait("munged", || cluster.place("munge.sock").exists())?;
        cluster.start_controller()?;
        for name in &plan.nodes {
            let hidden = if plan.nodes.last() == Some(name) { plan.hidden.as_slice() } else { &[] };
            cluster.nodes.push(Node::start(cluster.directory.path(), name, hidden)?);
        }
        cluster.wait_for_idle_nodes(plan.nodes.len())?;
        Ok(cluster)
    }

    /// A file of the cluster.
    #[must_use]
    pub fn place(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Its configuration, the value of `SLURM_CONF`.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.place("slurm.conf")
    }

    /// A node.
    ///
    /// # Panics
    /// There is none of that name.
    pub fn node(&mut self, name: &str) -> &mut Node {
        let node = self.nodes.iter_mut().find(|node| node.name() == name);
        node.unwrap_or_else(|| panic!("no node {name}"))
    }

    /// Starts the controller, which goes on with the state that it finds. Answers when it does.
    ///
    /// # Errors
    /// It can not be started, or does not come up.
    pub fn start_controller(&mut self) -> io::Result<()> {
        self.controller = Some(daemon(self.directory.path(), "slurmctld", &["-D"])?);
        self.wait("slurmctld", || self.program("squeue").output().is_ok_and(|output| output.status.success()))
    }

    /// Kills the controller; nodes and jobs go on.
    ///
    /// # Errors
    /// The system's.
    pub fn kill_controller(&mut self) -> io::Result<()> {
        match self.controller.take() {
            Some(controller) => end(controller),
            None => Ok(()),
        }
    }

    /// Lets the killed controller forget every job.
    ///
    /// # Errors
    /// The system's.
    pub fn forget_jobs(&self) -> io::Result<()> {
        fs::remove_dir_all(self.place("state"))?;
        fs::create_dir(self.place("state"))
    }

    /// A program of Slurm that asks this cluster.
    #[must_use]
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.env_clear().env("PATH", PLACES.join(":")).env("SLURM_CONF", self.config());
        command.stdin(Stdio::null());
        command
    }

    /// Asks the cluster; it must answer.
    ///
    /// # Panics
    /// It does not.
    pub fn ask(&self, program: &str, words: &[&str]) -> String {
        let output = self.program(program).args(words).output();
        let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(output.status.success(), "{program} {words:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until that many nodes are idle.
    ///
    /// # Errors
    /// They are not in time.
    pub fn wait_for_idle_nodes(&self, count: usize) -> io::Result<()> {
        self.wait("idle nodes", || {
            // A line for each partition that a node is in.
            let nodes = self.program("sinfo").args(["--noheader", "--Node", "--format=%N %T"]).output();
            nodes.is_ok_and(|output| {
                let text = String::from_utf8_lossy(&output.stdout);
                let idle: BTreeSet<&str> = text.lines().filter(|line| line.ends_with(" idle")).collect();
                idle.len() == count
            })
        })
    }

    fn wait(&self, what: &str, is_there: impl Fn() -> bool) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !is_there() {
            if Instant::now() >= deadline {
                let logs = fs::read_dir(self.directory.path())?.flatten().map(|entry| entry.path());
                let logs = logs.filter(|path| path.extension().is_some_and(|end| end == "log"));
                let said = logs.fold(String::new(), |mut said, path| {
                    let text = fs::read_to_string(&path).unwrap_or_default();
                    let _ = write!(said, "\n{}:\n{text}", path.display());
                    said
                });
                return Err(io::Error::other(format!("waited in vain for {what}{said}")));
            }
            std::thread::sleep(RHYTHM);
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.kill();
        }
        let _ = self.kill_controller();
        let _ = self.munge.kill();
        let _ = self.munge.wait();
    }
}

/// Why there can be no cluster here; `None` when there can.
#[must_use]
pub fn missing() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("a Slurm cluster of our own needs root".to_owned());
    }
    let is_there = |name: &&str| PLACES.iter().any(|place| Path::new(place).join(name).is_file());
    let missing: Vec<&str> = PROGRAMS.iter().copied().filter(|name| !is_there(name)).collect();
    (!missing.is_empty()).then(|| format!("not installed: {}", missing.join(", ")))
}

/// Starts a daemon that ends with the thread that started it.
fn daemon(directory: &Path, program: &str, words: &[&str]) -> io::Result<Child> {
    let log = File::create(directory.join(format!("{program}.out.log")))?;
    Command::new("setpriv")
        .args(["--pdeathsig", "KILL", program])
        .args(words)
        .env_clear()
        .env("PATH", PLACES.join(":"))
        .env("SLURM_CONF", directory.join("slurm.conf"))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
}

fn end(mut child: Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

/// A key that nobody else has.
fn key() -> io::Result<Vec<u8>> {
    let mut key = vec![0; KEY_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    Ok(key)
}

fn configuration(directory: &Path, plan: &Plan) -> String {
    let place = directory.display();
    let mut text = format!(
        "ClusterName=testkit\n\
         SlurmctldHost=localhost(127.0.0.1)\n\
         SlurmctldPort={CONTROLLER_PORT}\n\
         AuthType=auth/munge\n\
         AuthInfo=socket={place}/munge.sock\n\
         CredType=cred/munge\n\
         SlurmUser=root\n\
         SlurmdUser=root\n\
         StateSaveLocation={place}/state\n\
         SlurmdSpoolDir={place}/spool-%n\n\
         SlurmctldPidFile={place}/slurmctld.pid\n\
         SlurmdPidFile={place}/slurmd-%n.pid\n\
         SlurmctldLogFile={place}/slurmctld.log\n\
         SlurmdLogFile={place}/slurmd-%n.log\n\
         ProctrackType=proctrack/linuxproc\n\
         TaskPlugin=task/none\n\
         SwitchType=switch/none\n\
         MpiDefault=none\n\
         JobAcctGatherType=jobacct_gather/none\n\
         AccountingStorageType=accounting_storage/none\n\
         SelectType=select/cons_tres\n\
         SelectTypeParameters=CR_CPU_Memory\n\
         SlurmdParameters=config_overrides\n\
         SchedulerParameters=batch_sched_delay=0,sched_min_interval=0\n\
         DefMemPerCPU=64\n\
         MessageTimeout=2\n\
         ReturnToService=2\n"
    );
    for (port, name) in (FIRST_NODE_PORT..).zip(&plan.nodes) {
        // A name of its own for its host would need a name server.
        let _ = writeln!(
            text,
            "NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs={} RealMemory=16000",
            plan.processors
        );
    }
    text.push_str("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n");
    text.push_str("PartitionName=other Nodes=ALL MaxTime=INFINITE State=UP\n");
    text
}
