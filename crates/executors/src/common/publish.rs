//! Publication: everything is staged beside its destination, then renamed in order; a failure takes all of it back
//! (runners.md 1.6).

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use super::evaluation::Manifest;
use super::exit::{Exit, Failure, Phase};
use super::place::{Destination, Places};
use super::report::json_file;

/// One file that is published.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    /// Where.
    pub destination: &'a Destination,
    /// Its whole content.
    pub bytes: Vec<u8>,
    /// What it is called when it can not be staged.
    pub stage_failure: Failure,
    /// The reason when it can not be renamed.
    pub publish_reason: &'static str,
}

/// An answer and what goes with it.
#[derive(Debug)]
pub struct Publication<'a> {
    /// Where.
    pub places: &'a Places,
    /// The content of the answer's file.
    pub output: Vec<u8>,
    /// The metrics.
    pub metrics: Map<String, Value>,
    /// The manifest of an evaluation, whose receipt the metrics get and whose commit marker binds them to the answer; nothing where
    /// none is published.
    pub marked: Option<&'a Manifest>,
    /// Whether the metrics come before the answer where no marker follows.
    pub metrics_first: bool,
}

/// Publishes answer, metrics and commit marker, in this order where the publication says no other (runners.md 1.6). `reasons` are
/// theirs: what it is when one can not be staged, and the reason when it can not be renamed.
///
/// # Errors
/// As for [`publish`].
pub fn answer(publication: Publication<'_>, reasons: [(Failure, &'static str); 3]) -> Result<(), Failure> {
    let Publication { places, output, mut metrics, marked, metrics_first } = publication;
    if let Some(manifest) = marked {
        metrics.insert("evaluation_receipt".to_owned(), manifest.attempt_receipt(&output));
    }
    let metrics = json_file(&Value::Object(metrics));
    let marker = marked.map(|manifest| json_file(&manifest.commit_marker(&output, &metrics)));
    let files = [(&places.output, Some(output)), (&places.metrics, Some(metrics)), (&places.commit, marker)];
    let mut members: Vec<Member<'_>> = files
        .into_iter()
        .zip(reasons)
        .filter_map(|((destination, bytes), (stage_failure, publish_reason))| {
            Some(Member { destination, bytes: bytes?, stage_failure, publish_reason })
        })
        .collect();
    if metrics_first && marked.is_none() {
        members.reverse();
    }
    publish(&members)
}

/// Publishes all members in order, or none. Nothing that exists is replaced: what appeared at a destination since it was
/// checked stays as it is.
///
/// # Errors
/// That of the first member that could not be staged or renamed; nothing of ours is left then.
pub fn publish(members: &[Member<'_>]) -> Result<(), Failure> {
    let mut staged = Vec::with_capacity(members.len());
    for member in members {
        let file = stage(member.destination, &member.bytes).map_err(|_| member.stage_failure)?;
        staged.push((file, member));
    }
    let mut published: Vec<Published> = Vec::with_capacity(staged.len());
    for (file, member) in staged {
        match rename(file, member.destination) {
            Ok(done) => published.push(done),
            Err(_) => {
                published.iter().rev().for_each(Published::retract);
                return Err(Failure::new(Exit::Failed, Phase::Publish, member.publish_reason));
            }
        }
    }
    Ok(())
}

/// Writes one file with mode 600: as new, or with `replace` in the place of whatever file is there.
///
/// # Errors
/// Those of the file system; something is there and is not to be replaced.
pub fn write(destination: &Destination, bytes: &[u8], replace: bool) -> io::Result<()> {
    let staged = stage(destination, bytes)?;
    if replace {
        staged.persist(destination.path()).map(|_| ()).map_err(|error| error.error)
    } else {
        rename(staged, destination).map(|_| ())
    }
}

fn stage(destination: &Destination, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let prefix = destination.staged_prefix();
    let mut file = tempfile::Builder::new().prefix(&prefix).tempfile_in(&destination.directory)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn rename(staged: NamedTempFile, destination: &Destination) -> io::Result<Published> {
    let path = destination.path();
    let file = staged.persist_noclobber(&path).map_err(|error| error.error)?;
    let metadata = file.metadata()?;
    Ok(Published { path, identity: (metadata.dev(), metadata.ino()) })
}

/// A file that was published, by which it can be taken back.
struct Published {
    path: PathBuf,
    identity: (u64, u64),
}

impl Published {
    /// Removes the file if it still is ours.
    fn retract(&self) {
        let is_ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == self.identity);
        if is_ours {
            // Somebody who removed it meanwhile did what we wanted.
            let _ = fs::remove_file(&self.path);
        }
    }
}
