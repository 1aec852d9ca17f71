//! SHA-256 digests as 64 lowercase hexadecimal characters.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use crate::id::{hexadecimal, parse_hexadecimal};

/// A SHA-256 digest. Text form: 64 lowercase hexadecimal characters (predecessor-core 2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256Digest([u8; 32]);

impl Sha256Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest and length in bytes of everything that `reader` still gives.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn of_reader(reader: impl Read) -> io::Result<(Self, u64)> {
        DigestReader::new(reader).finish()
    }
}

/// Passes a stream through and takes its digest on the way.
#[derive(Debug)]
pub struct DigestReader<R> {
    inner: R,
    hasher: Sha256,
    length: u64,
}

impl<R: Read> DigestReader<R> {
    /// Reads `inner` from where it stands.
    pub fn new(inner: R) -> Self {
        Self { inner, hasher: Sha256::new(), length: 0 }
    }

    /// Reads what is left, and answers the digest and length in bytes of the whole stream.
    ///
    /// # Errors
    /// Those of the inner reader.
    pub fn finish(mut self) -> io::Result<(Sha256Digest, u64)> {
        let mut buffer = [0; 16 << 10];
        loop {
            match self.read(&mut buffer) {
                Ok(0) => return Ok((Sha256Digest(self.hasher.finalize().into()), self.length)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl<R: Read> Read for DigestReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.length += count as u64;
        Ok(count)
    }
}

crate::id::text_form!(
    Sha256Digest,
    |digest| hexadecimal(&digest.0),
    |text| parse_hexadecimal(text)
        .map(Sha256Digest)
        .ok_or(crate::id::InvalidId("a digest is 64 lowercase hexadecimal characters")),
    "A SHA-256 digest.",
    "^[0-9a-f]{64}$"
);
