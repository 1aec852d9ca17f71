//! What holds for any bytes, in every grammar: a judgement comes, the size of the pieces in which they are read changes nothing, and
//! nothing is committed that the live summary does not know to be over.

use std::io::{self, Read};

use provider::{Evidence, Finding, Judgement, Profile, Summary, Terminal, catalogue};

/// Judges and summarises the bytes as the output of a turn of that profile.
///
/// # Panics
/// When one of the promises above is broken.
pub fn check(profile: &str, stdout: &[u8]) {
    let profile = catalogue().get(&profile.parse().expect("an id")).expect("a profile");
    let most = 1 + stdout.first().map_or(0, |byte| usize::from(*byte) % 16);
    let whole = judge(profile, stdout, usize::MAX);
    assert_eq!(whole, judge(profile, stdout, most));
    let summary = summarise(profile, stdout, usize::MAX);
    assert_eq!(summary, summarise(profile, stdout, most));
    if whole.0.finding == Finding::Success {
        assert!(!whole.1.iter().all(u8::is_ascii_whitespace));
        // The last event may lack its line feed, which the summary waits for.
        let summary = summarise(profile, &[stdout, b"\n"].concat(), usize::MAX);
        assert_eq!(summary.terminal, Some(Terminal::Success));
    }
}

fn judge(profile: &dyn Profile, stdout: &[u8], most: usize) -> (Judgement, Vec<u8>) {
    let mut answer = Vec::new();
    let evidence = Evidence {
        stdout: &mut Pieces(stdout, most),
        stderr: &mut Pieces(stdout, most),
        artifact: &mut |_| Ok(None),
        expected_session: None,
        requested_model: None,
        cut: false,
        exit_code: None,
    };
    let judge = profile.judges().last().expect("a judge");
    let judgement = judge.judge(evidence, &mut answer).expect("reading from memory");
    (judgement, answer)
}

fn summarise(profile: &dyn Profile, stdout: &[u8], most: usize) -> Summary {
    let mut summariser = profile.summariser();
    stdout.chunks(most).for_each(|piece| summariser.feed(piece));
    summariser.summary()
}

/// A reader that gives a few bytes at a time.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.1);
        self.0.read(&mut buffer[..length])
    }
}
