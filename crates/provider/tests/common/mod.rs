//! Shared by the tests of this crate.
#![allow(dead_code, reason = "each test program uses a part")]

pub(crate) mod host;

use std::io::{self, Cursor, Read};

use provider::{Evidence, Finding, Judgement, catalogue};
use record::words::ReasonCode;

/// What a turn left, to be judged.
#[derive(Clone, Default)]
pub(crate) struct Left<'a> {
    pub(crate) stdout: &'a [u8],
    pub(crate) stderr: &'a [u8],
    /// The artifact of every name that is not in the list.
    pub(crate) artifact: Option<&'a [u8]>,
    pub(crate) artifacts: &'a [(&'a str, &'a [u8])],
    pub(crate) expected_session: Option<&'a str>,
    pub(crate) requested_model: Option<&'a str>,
    pub(crate) cut: bool,
    pub(crate) exit_code: Option<i32>,
}

impl<'a> Left<'a> {
    pub(crate) fn stdout(stdout: &'a [u8]) -> Self {
        Self { stdout, ..Self::default() }
    }

    /// The judgement of the newest judge, and the answer that it wrote; none counts without success.
    pub(crate) fn judge(&self, profile: &str) -> (Judgement, String) {
        self.judge_in_pieces(profile, usize::MAX)
    }

    /// The same, with readers that give at most so many bytes at once.
    pub(crate) fn judge_in_pieces(&self, profile: &str, most: usize) -> (Judgement, String) {
        let profile = catalogue().get(&profile.parse().unwrap()).unwrap();
        let judge = profile.judges().last().unwrap();
        let mut answer = Vec::new();
        let evidence = Evidence {
            stdout: &mut Pieces(self.stdout, most),
            stderr: &mut Pieces(self.stderr, most),
            artifact: &mut |name| {
                let named = self.artifacts.iter().find(|(own, _)| *own == name).map(|(_, bytes)| *bytes);
                let bytes = named.or(self.artifact).map(<[u8]>::to_vec);
                Ok(bytes.map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn Read>))
            },
            expected_session: self.expected_session,
            requested_model: self.requested_model,
            cut: self.cut,
            exit_code: self.exit_code,
        };
        let judgement = judge.judge(evidence, &mut answer).unwrap();
        if judgement.finding != Finding::Success {
            answer.clear();
        }
        assert_eq!(judgement.finding == Finding::Success, !answer.is_empty(), "a success has an answer");
        (judgement, String::from_utf8(answer).unwrap())
    }

    /// One word for the finding.
    pub(crate) fn code(&self, profile: &str) -> ReasonCode {
        code(&self.judge(profile).0.finding)
    }
}

/// One word for a finding.
pub(crate) fn code(finding: &Finding) -> ReasonCode {
    match finding {
        Finding::Success => ReasonCode::Completed,
        Finding::ProviderError { code, .. } | Finding::Defect { code, .. } => *code,
    }
}

/// A reader that gives a few bytes at a time.
pub(crate) struct Pieces<'a>(pub(crate) &'a [u8], pub(crate) usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.1);
        self.0.read(&mut buffer[..length])
    }
}
