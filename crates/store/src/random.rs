//! Random identifiers, from the kernel.

use record::TaskId;
use record::id::Nonce;
use rustix::rand::{GetRandomFlags, getrandom};

/// A new task id: 16 random bytes.
///
/// # Panics
/// When the kernel gives no random bytes; it blocks until it can, so that this is a broken system.
pub fn random_task_id() -> TaskId {
    TaskId::from_random(random())
}

/// A new nonce: 16 random bytes.
///
/// # Panics
/// As [`random_task_id`].
pub fn random_nonce() -> Nonce {
    Nonce::from_random(random())
}

pub(crate) fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    let count = rustix::io::retry_on_intr(|| getrandom(&mut bytes[..], GetRandomFlags::empty()))
        .expect("the kernel gives random bytes");
    assert_eq!(count, bytes.len(), "up to 256 random bytes come in one piece");
    bytes
}
