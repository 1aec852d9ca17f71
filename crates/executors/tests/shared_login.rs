//! Runs that share a login: who may begin beside them, and what becomes of it when they end (runners.md 3.7).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use executors::common::exit::{Exit, Refusal};
use executors::common::files::write_new;
use executors::common::login::{Joining, Kept, Kind, Placed, Shared, UserLogin, private_directory, tokens};
use record::Sha256Digest;
use tempfile::TempDir;

static KIND: Kind = Kind {
    vendor: "Example",
    program: "example",
    file: "login.json",
    shared_file: "login.json",
    generations: "generations",
    replaces: tokens::are_all_kept,
};

const OLD: &str = r#"{"access_token":"a","refresh_token":"old"}"#;
const NEW: &str = r#"{"access_token":"a","refresh_token":"new"}"#;
/// What is there of a refresh while it is being written.
const HALF: &str = r#"{"access_token":"a","refr"#;

struct Bench {
    directory: TempDir,
    user: UserLogin,
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().canonicalize().expect("a path");
        let user = UserLogin { kind: &KIND, directory: path.join("user"), data_home: path.join("data") };
        private_directory(&user.directory).expect("a directory");
        let bench = Self { directory, user };
        bench.sign_in(OLD);
        bench
    }

    fn sign_in(&self, login: &str) {
        fs::write(self.user.directory.join(KIND.file), login).expect("written");
    }

    fn login(&self) -> String {
        fs::read_to_string(self.user.directory.join(KIND.file)).expect("a login")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().expect("a path").join("data/generations").join(name)
    }

    fn generations(&self) -> usize {
        let entries = fs::read_dir(self.path("")).expect("a directory");
        entries.filter(|entry| entry.as_ref().expect("an entry").path().is_dir()).count()
    }

    fn join(&self) -> Result<Shared, Refusal> {
        self.user.join(&Joining {
            wait: Duration::ZERO,
            fill: &|generation: &Path| {
                write_new(&generation.join(KIND.shared_file), self.login().as_bytes(), 0o600)
                    .map_err(|error| Refusal::unavailable(error.to_string()))
            },
            note: "",
            prepare: &|_, _| Ok(()),
        })
    }

    fn joined(&self) -> Shared {
        self.join().expect("joined")
    }

    /// Nobody gets the login, alone or with others.
    fn nobody_begins(&self, exit: Exit, words: &str) {
        let generations = self.generations();
        for refusal in [self.user.take().map(drop).unwrap_err(), self.join().map(drop).unwrap_err()] {
            assert_eq!(refusal.exit, exit, "{refusal:?}");
            assert!(refusal.message.contains(words), "{refusal:?}");
        }
        assert_eq!(self.generations(), generations, "no second one beside it");
    }
}

fn write(shared: &Shared, login: &str) {
    fs::write(shared.directory().join(KIND.shared_file), login).expect("written");
}

fn keep(shared: &Shared) -> Kept {
    Placed::Shared(shared).keep()
}

#[test]
fn a_refresh_that_another_run_is_writing_is_no_lost_login() {
    let bench = Bench::new();
    let (first, second) = (bench.joined(), bench.joined());
    write(&first, HALF);
    assert_eq!(keep(&second), Kept::Yes, "the one that goes on keeps it");
    drop(second);
    bench.nobody_begins(Exit::Temporary, "runs that share the Example login are at work");
    write(&first, NEW);
    assert_eq!(keep(&first), Kept::Yes);
    assert_eq!(bench.login(), NEW);
    drop(first);
    let next = bench.joined();
    assert_eq!((bench.generations(), keep(&next)), (1, Kept::Yes));
}

#[test]
fn the_last_run_tells_that_a_login_is_lost_and_the_next_begins_anew() {
    let bench = Bench::new();
    let (first, second) = (bench.joined(), bench.joined());
    write(&first, HALF);
    drop(first);
    assert_eq!(keep(&second), Kept::No);
    let old = second.directory().to_path_buf();
    drop(second);
    assert_eq!(bench.login(), OLD);
    let next = bench.joined();
    assert_ne!(next.directory(), old);
    assert_eq!((bench.generations(), keep(&next)), (1, Kept::Yes));
}

#[test]
fn nothing_begins_beside_runs_at_work_in_any_generation() {
    let bench = Bench::new();
    let first = bench.joined();
    // A login from elsewhere supersedes the generation, and somebody took its name away.
    bench.sign_in(NEW);
    bench.nobody_begins(Exit::Temporary, "are at work");
    bench.sign_in(OLD);
    fs::remove_file(bench.path("current")).expect("removed");
    bench.nobody_begins(Exit::Temporary, "are at work");
    drop(first);
    drop(bench.user.take().expect("alone"));
    drop(bench.joined());
    assert_eq!(bench.generations(), 1);
}

#[test]
fn what_can_not_be_read_is_not_taken_for_nothing() {
    let bench = Bench::new();
    let shared = bench.joined();
    write(&shared, NEW);
    drop(shared);
    // The refreshed token in it works, and that of the user does not any more.
    let entries = fs::read_dir(bench.path("")).expect("a directory").flatten();
    let generation = entries.map(|entry| entry.path()).find(|path| path.is_dir()).expect("a generation");
    for name in [bench.path("current"), generation.join("baseline"), generation.join(KIND.shared_file)] {
        let text = fs::read(&name).expect("readable");
        fs::remove_file(&name).expect("removed");
        fs::create_dir(&name).expect("a directory");
        bench.nobody_begins(Exit::Unavailable, "can not be used");
        fs::remove_dir(&name).expect("removed");
        fs::write(&name, text).expect("written");
    }
    drop(bench.user.take().expect("alone"));
    assert_eq!(bench.login(), NEW);
}

#[test]
fn a_refresh_after_a_publication_that_broke_off_is_kept() {
    const NEWEST: &str = r#"{"access_token":"a","refresh_token":"newest"}"#;
    let bench = Bench::new();
    let (first, second) = (bench.joined(), bench.joined());
    write(&second, NEW);
    assert_eq!(keep(&second), Kept::Yes);
    // As another run left it that was killed in its middle, before and after the login of the user was written.
    let between = [OLD, NEW].map(|login| Sha256Digest::of(login.as_bytes()).to_string()).join(" ");
    for of_user in [OLD, NEW] {
        fs::write(first.directory().join("baseline"), &between).expect("written");
        bench.sign_in(of_user);
        write(&first, NEWEST);
        assert_eq!(keep(&first), Kept::Yes);
        assert_eq!(bench.login(), NEWEST);
    }
    fs::write(first.directory().join("baseline"), &between).expect("written");
    bench.sign_in(OLD);
    write(&first, NEW);
    drop((first, second));
    drop(bench.joined());
    assert_eq!(bench.login(), NEW, "the next run ends what was begun");
}

#[test]
fn a_login_is_published_only_where_that_is_recorded() {
    let bench = Bench::new();
    let (first, second) = (bench.joined(), bench.joined());
    let baseline = first.directory().join("baseline");
    fs::remove_file(&baseline).expect("removed");
    fs::create_dir(&baseline).expect("a directory");
    write(&first, NEW);
    assert_eq!(keep(&first), Kept::No);
    assert_eq!(bench.login(), OLD);
    fs::remove_dir(&baseline).expect("removed");
    fs::write(&baseline, Sha256Digest::of(OLD.as_bytes()).to_string()).expect("written");
    assert_eq!(keep(&second), Kept::Yes, "it is still there");
    assert_eq!(bench.login(), NEW);
}
