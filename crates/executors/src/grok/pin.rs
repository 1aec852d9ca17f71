//! `pin` (runners.md 4.6): archives one program of the vendor.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use record::Sha256Digest;

use super::archive::{self, DIGEST, PROGRAM};
use super::binary::{self, Binary};
use super::interface;
use super::knobs::Knobs;
use super::lane::Lane;
use super::limits::PROGRAM_MAX_BYTES;
use crate::common::exit::{Exit, Refusal};
use crate::common::files::{exists, read_regular, write_new};
use crate::common::line;
use crate::common::pin::{Line, Store};
use crate::common::program::{Call, Done, Stop, ended};
use crate::common::surroundings::executable_file;

pub(super) fn pin(call: &Call<'_>, words: &[OsString]) -> Result<Done, Refusal> {
    match Line::parse(words)? {
        None => Ok(Done::Text(line::usage(call.family))),
        Some(line) => ended(archive_one(call, &line)),
    }
}

fn archive_one(call: &Call<'_>, line: &Line) -> Result<Done, Stop> {
    let failed = |why: &dyn std::fmt::Display| {
        Stop::from(Refusal::new(Exit::Failed, format!("grok is not pinned: {why}")))
    };
    let knobs = Knobs::of(call.surroundings)?;
    let candidates = match line.named()? {
        Some(path) => vec![path],
        None => candidates(call, &knobs),
    };
    let candidates = candidates.into_iter().map(|path| Binary { path, source: "candidate" });
    let source = binary::choose(call, candidates, Lane::Builder)?.path;
    let bytes = read_regular(&source, PROGRAM_MAX_BYTES).map_err(|error| failed(&error))?;
    let digest = Sha256Digest::of(&bytes);
    let store = Store::open(&knobs.store)?;
    let current = store.current();
    if exists(&current) {
        match archive::verified(&current) {
            Ok((_, pinned)) if pinned == digest => {
                return Ok(Done::Text(format!("grok is already pinned, sha256 {digest}\n")));
            }
            _ if !line.force => {
                let why = "another grok is pinned, or a damaged one; --force replaces it";
                return Err(Refusal::usage(why).into());
            }
            _ => {}
        }
    }
    let staged = store.stage().map_err(|error| failed(&error))?;
    let copy = staged.path().join(PROGRAM);
    write_new(&copy, &bytes, 0o500)
        .and_then(|()| {
            write_new(&staged.path().join(DIGEST), format!("{digest}  {PROGRAM}\n").as_bytes(), 0o400)
        })
        .map_err(|error| failed(&error))?;
    if let Err(why) = interface::examine(call, &copy, Lane::Builder)? {
        return Err(failed(&why));
    }
    store.put(&staged).map_err(|error| failed(&error))?;
    match archive::verified(&current) {
        Ok((_, pinned)) if pinned == digest => {
            Ok(Done::Text(format!("grok is pinned from {}, sha256 {digest}\n", source.display())))
        }
        Ok(_) => Err(failed(&"the archive holds another")),
        Err(why) => Err(failed(&why)),
    }
}

fn candidates(call: &Call<'_>, knobs: &Knobs) -> Vec<PathBuf> {
    let downloads = fs::read_dir(knobs.ambient.join("downloads")).into_iter().flatten().flatten();
    let mut downloads: Vec<PathBuf> = downloads.filter_map(|entry| executable_file(&entry.path())).collect();
    downloads.sort();
    let named = knobs.program.as_deref().and_then(executable_file);
    named
        .into_iter()
        .chain(call.surroundings.find_program(PROGRAM))
        .chain(downloads.into_iter().rev())
        .chain(archive::legacy(&knobs.store))
        .collect()
}
