//! The state root on disk: tasks that appear whole, records that appear once, locks and the journal (STATE.md 1, 2, 4, 9).
//!
//! Knows records; knows no provider and no process. Everything is opened relative to a directory descriptor, without
//! following symbolic links, and its kind, owner and mode are checked. Only what looks at a whole root ([`Root::task_entries`])
//! lists a directory of tasks: what a call on one task costs does not depend on how many there are.
//!
//! Every step that matters for durability is a named fault point; [`points`] lists them all.

mod admit;
mod backwards;
mod conversation;
mod directory;
mod error;
mod evidence;
mod inventory;
mod journal;
mod kind;
mod lease;
mod limits;
mod lock;
mod once;
mod payload;
pub mod points;
mod probes;
mod random;
mod rebuild;
mod remove;
mod reserve;
mod retention;
mod root;
mod staging;
mod supervisor;
mod task;
mod trial;

pub use admit::{Admitted, NewTask};
pub use backwards::JournalBackwards;
pub use conversation::ConversationLock;
pub use error::StoreError;
pub use evidence::{Import, RawStreams};
pub use inventory::{DirectoryFault, TaskEntry};
pub use journal::{Cursor, InvalidCursor, Journal, JournalLine, JournalReader};
pub use kind::{LaterRecord, ReservedRecord, TaskRecord};
pub use lease::{Lease, LeaseFile};
pub use limits::{JOURNAL_LINE_MAX_BYTES, NAME_MAX_BYTES, PROBE_MAX_BYTES, RESERVE_BYTES};
pub use lock::Lock;
pub use payload::{PayloadName, ResultDraft};
pub use probes::ProbeCache;
pub use random::{random_nonce, random_task_id};
pub use rebuild::{JournalRebuild, Rebuilt};
pub use root::Root;
pub use supervisor::SupervisorDirectory;
pub use task::{Created, LaunchClaim, Loaded, RunLock, Task};
pub use trial::FileSystemTrial;
