//! `sessions/<hash>/`: who goes on with a provider's conversation (STATE.md 5). What a claim means is decided by the caller.

use record::{ProfileId, Sha256Digest, TaskId};

use crate::directory::{Directory, Privacy};
use crate::error::{At, StoreError};
use crate::lock::{IfMissing, Lock, Sharing};
use crate::points;
use crate::root::{Root, SESSIONS};

const LOCK: &str = ".lock";
pub(crate) const CLAIM_ENDING: &str = ".claim";
const FILE_MODE: u32 = 0o600;

/// The held lock of one conversation: its claims do not change under it.
#[derive(Debug)]
pub struct ConversationLock {
    directory: Directory,
    _lock: Lock,
}

impl Root {
    /// Takes the lock of a conversation; `None` when somebody has it. Its directory is made when missing.
    ///
    /// # Errors
    /// When the directory or the lock file can not be made, opened or locked.
    pub fn try_lock_conversation(
        &self,
        provider: &ProfileId,
        conversation: &str,
    ) -> Result<Option<ConversationLock>, StoreError> {
        let sessions = self.directory().required_child(SESSIONS)?;
        let name = directory_name(provider, conversation);
        if sessions.make(&name).at(sessions.path_of(&name))? {
            sessions.sync().at(sessions.path())?;
        }
        let directory = sessions
            .child(&name, Privacy::Private)?
            .ok_or_else(|| StoreError::NotFound { path: sessions.path_of(&name) })?;
        let Some(lock) = Lock::try_take(&directory, LOCK, IfMissing::Create, Sharing::Exclusive)? else {
            return Ok(None);
        };
        fault::point(points::CONVERSATION_LOCKED).at(directory.path())?;
        Ok(Some(ConversationLock { directory, _lock: lock }))
    }
}

/// The name of a conversation's directory.
pub(crate) fn directory_name(provider: &ProfileId, conversation: &str) -> String {
    Sha256Digest::of(format!("{provider}\0{conversation}").as_bytes()).to_string()
}

/// The name of the claim of a task.
pub(crate) fn claim_name(task: TaskId) -> String {
    format!("{task}{CLAIM_ENDING}")
}

impl ConversationLock {
    /// The tasks that claimed the conversation, in no order. A claim may have no task: its dispatcher was lost before the
    /// commit, or its commit failed.
    ///
    /// # Errors
    /// When the directory can not be read.
    pub fn claimants(&self) -> Result<Vec<TaskId>, StoreError> {
        let names = self.directory.names()?;
        Ok(names.iter().filter_map(|name| name.strip_suffix(CLAIM_ENDING)?.parse().ok()).collect())
    }

    /// Claims the conversation for a task, durably; claiming again is harmless.
    ///
    /// # Errors
    /// When the claim can not be made or synced.
    pub fn claim(&self, task: TaskId) -> Result<(), StoreError> {
        let name = claim_name(task);
        let path = self.directory.path_of(&name);
        match self.directory.create_file(&name, FILE_MODE) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::at(path, error)),
        }
        fault::point(points::CLAIM_MADE).at(&path)?;
        self.directory.sync().at(&path)?;
        fault::point(points::CLAIM_SYNCED).at(&path)
    }
}
