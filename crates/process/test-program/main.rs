//! What the tests of this crate start: the gate, and processes that behave in ways a shell can not.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use process::{
    Containment, Fence, Gate, LaunchSpec, ProcessIdentity, Program, SealedInput, TerminationSignals,
    WriteFence,
};

/// Longer than any test takes: a process that nobody ends goes away by itself.
const LIFE: Duration = Duration::from_secs(120);
/// Where a chain of processes ends by itself.
const CHAIN_MAX_LINKS: u32 = 20_000;

fn main() -> io::Result<()> {
    process::enter_gate_if_asked();
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["escape", environment] => start_again(&["escape-orphan"], environment),
        ["escape-orphan"] => {
            rustix::process::setsid()?;
            start_again(&["orphan", &std::process::id().to_string()], "keep")
        }
        ["orphan", parent] => orphan(parent.parse().unwrap_or(0)),
        ["chain", link] => chain(link.parse().unwrap_or(CHAIN_MAX_LINKS)),
        ["first-thread-ends"] => first_thread_ends(),
        ["launch", output, script] => launch_and_live(shell(Path::new(output), script)?),
        ["launch-in", node, output, script] => {
            let node = process::CgroupNode::open(Path::new(node))?.ok_or(io::ErrorKind::NotFound)?;
            let containment = Containment::Cgroup { node, required: true };
            launch_and_live(LaunchSpec { containment, ..shell(Path::new(output), script)? })
        }
        ["launch-bound", output, script] => {
            launch_and_live(LaunchSpec { dies_with_starter: true, ..shell(Path::new(output), script)? })
        }
        ["launch-bound-in-thread", output, script] => {
            launch_in_thread(LaunchSpec { dies_with_starter: true, ..shell(Path::new(output), script)? })
        }
        ["parent", script] => parent(script),
        ["detach", log] => {
            process::detach::become_detached(Some(Path::new(log)))?;
            report()
        }
        ["detach"] => process::detach::become_detached(None),
        ["signals"] => signals(),
        ["fence-asked"] => asked_for_fence(),
        ["subreaper-asked"] => asked_for_subreaper(),
        ["cgroup-asked"] => {
            println!("{:?}", process::CgroupHome::find());
            Ok(())
        }
        _ => Err(io::Error::other("unknown role")),
    }
}

fn live() {
    thread::sleep(LIFE);
}

/// Says who it is once its parent has ended, and lives.
fn orphan(parent: u32) -> io::Result<()> {
    if let Ok(parent) = identity(parent)
        && let Some(mut parent) = process::Child::adopt(parent)?
    {
        parent.wait(LIFE, &[])?;
    }
    announce()?;
    live();
    Ok(())
}

/// One line on standard output: number and start time of this process.
fn announce() -> io::Result<()> {
    let own = own_identity()?;
    println!("{} {}", own.pid, own.start_time);
    io::stdout().flush()
}

fn own_identity() -> io::Result<ProcessIdentity> {
    identity(std::process::id())
}

fn identity(pid: u32) -> io::Result<ProcessIdentity> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let start_time = line
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_ascii_whitespace().nth(19))
        .and_then(|field| field.parse().ok())
        .ok_or_else(|| io::Error::other("no start time"))?;
    Ok(ProcessIdentity { pid, start_time })
}

/// Starts this program in another role and leaves it.
fn start_again(role: &[&str], environment: &str) -> io::Result<()> {
    let mut command = Command::new(env::current_exe()?);
    if environment == "clear" {
        command.env_clear();
    }
    command.args(role).spawn().map(drop)
}

/// Starts the next link in a session of its own and ends, so that there is always one process and never for long.
fn chain(link: u32) -> io::Result<()> {
    if link > 0 {
        rustix::process::setsid()?;
    }
    if link == 20 {
        announce()?;
    }
    if link < CHAIN_MAX_LINKS {
        return start_again(&["chain", &(link + 1).to_string()], "clear");
    }
    println!("ended by itself");
    Ok(())
}

/// Ends the first thread alone; the process then looks like a zombie and is none.
#[allow(unsafe_code)]
fn first_thread_ends() -> io::Result<()> {
    let other = thread::spawn(|| {
        // The state letter of the first thread is the event to wait for.
        while !fs::read_to_string("/proc/self/stat")?.contains(") Z ") {
            thread::yield_now();
        }
        announce()?;
        live();
        io::Result::Ok(())
    });
    // SAFETY: the call ends this thread and touches no memory; no destructor of this thread is relied on.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
    other.join().unwrap_or(Ok(()))
}

/// Does what a runner does until it is lost: starts a child through the gate, says which one, and lives.
fn launch_and_live(spec: LaunchSpec) -> io::Result<()> {
    process::become_subreaper()?;
    let child = Gate::spawn(&env::current_exe()?, spec).and_then(Gate::go).map_err(io::Error::other)?;
    println!("{} {}", child.identity().pid, child.identity().start_time);
    io::stdout().flush()?;
    live();
    Ok(())
}

/// Starts a child from a thread that ends, and says how the child ended.
fn launch_in_thread(spec: LaunchSpec) -> io::Result<()> {
    process::become_subreaper()?;
    let program = env::current_exe()?;
    let starter = thread::spawn(move || Gate::spawn(&program, spec).and_then(Gate::go));
    let started = starter.join().map_err(|_| io::Error::other("the thread failed"))?;
    let mut child = started.map_err(io::Error::other)?;
    println!("{:?}", child.wait(LIFE, &[])?);
    Ok(())
}

/// Asks for a containment that this process has not arranged.
fn asked_for_subreaper() -> io::Result<()> {
    match Gate::spawn(&env::current_exe()?, shell(Path::new("/dev/null"), "exit 0")?) {
        Ok(_) => println!("started"),
        Err(error) => println!("{error}"),
    }
    Ok(())
}

/// Says what this kernel offers, and what comes of asking for a fence.
fn asked_for_fence() -> io::Result<()> {
    println!("{:?}", process::fence_support());
    let mut spec = shell(Path::new("/dev/null"), "exit 0")?;
    let forbidden = vec![env::temp_dir().canonicalize()?];
    spec.fence =
        Fence::Ours(WriteFence { directories: Vec::new(), files: Vec::new(), forbidden, access: None });
    spec.containment = Containment::ProcessGroup;
    match Gate::spawn(&env::current_exe()?, spec) {
        Ok(_) => println!("raised"),
        Err(error) => println!("{error:?}"),
    }
    Ok(())
}

fn shell(output: &Path, script: &str) -> io::Result<LaunchSpec> {
    let output = File::options().append(true).create(true).open(output)?;
    Ok(LaunchSpec {
        program: Program::Path(PathBuf::from("/bin/sh")),
        argv: ["sh", "-c", script].map(OsString::from).into(),
        environment: env::vars_os()
            .map(|(name, value)| {
                let mut entry = name;
                entry.push("=");
                entry.push(value);
                entry
            })
            .collect(),
        directory: PathBuf::from("/"),
        stdin: SealedInput::from_bytes(b"")?,
        stderr: output.try_clone()?,
        stdout: output,
        umask: 0o077,
        open_files_limit: None,
        containment: Containment::Subreaper,
        fence: Fence::None,
        dies_with_starter: false,
    })
}

/// Starts a shell, says which process it is, and waits for it as a parent does.
fn parent(script: &str) -> io::Result<()> {
    let mut child = Command::new("/bin/sh").args(["-c", script]).stdin(Stdio::null()).spawn()?;
    let identity = identity(child.id())?;
    println!("{} {}", identity.pid, identity.start_time);
    io::stdout().flush()?;
    child.wait().map(drop)
}

/// Says what the process finds itself in, line by line.
fn report() -> io::Result<()> {
    let mut descriptors: Vec<String> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    descriptors.sort();
    // The last one is the directory that is being read.
    println!("descriptors {descriptors:?}");
    println!("stdin {}", fs::read_link("/proc/self/fd/0")?.display());
    println!("stderr {}", fs::read_link("/proc/self/fd/2")?.display());
    println!("directory {}", env::current_dir()?.display());
    let own = std::process::id();
    let stat = fs::read_to_string("/proc/self/stat")?;
    let session = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(3));
    println!("leads its session {}", session == Some(&own.to_string()));
    for line in fs::read_to_string("/proc/self/status")?.lines() {
        if ["Umask:", "SigBlk:", "SigIgn:"].iter().any(|name| line.starts_with(name)) {
            println!("{}", line.replace('\t', " "));
        }
    }
    Ok(())
}

/// Says which termination signals arrive, until SIGTERM has.
fn signals() -> io::Result<()> {
    let signals = TerminationSignals::block()?;
    announce()?;
    loop {
        let mut descriptors =
            [rustix::event::PollFd::from_borrowed_fd(signals.fd(), rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut descriptors, None)?;
        while let Some(signal) = signals.take() {
            println!("signal {signal}");
            io::stdout().flush()?;
            if signal == libc::SIGTERM {
                return Ok(());
            }
        }
    }
}
