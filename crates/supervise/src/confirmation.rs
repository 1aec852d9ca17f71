//! What an attempt to hand a task over to a queue really did.

use std::fmt::Display;

use crate::SuperviseError;

/// The result of handing a task over. The program of a queue can fail after the queue has taken the task, so that after a
/// failure the queue is asked `again`: one entry of the task that is the same as none of those `before` is enough.
///
/// # Errors
/// The task was not taken; [`SuperviseError::Uncertain`] when the queue can not say.
pub(crate) fn confirmed<Entry, Failure>(
    added: Result<(), Failure>,
    before: &[Entry],
    is_same: fn(&Entry, &Entry) -> bool,
    again: impl FnOnce() -> Result<Vec<Entry>, Failure>,
) -> Result<(), SuperviseError>
where
    Failure: Display + Into<SuperviseError>,
{
    let Err(failure) = added else { return Ok(()) };
    match again() {
        Ok(now) if now.iter().any(|entry| !before.iter().any(|known| is_same(known, entry))) => Ok(()),
        Ok(_) => Err(failure.into()),
        Err(_) => Err(SuperviseError::Uncertain { why: failure.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slurm::SlurmError;

    fn told(added: Result<(), SlurmError>, again: Result<Vec<u8>, SlurmError>) -> &'static str {
        match confirmed(added, &[1, 2], PartialEq::eq, || again) {
            Ok(()) => "taken",
            Err(SuperviseError::Slurm(_)) => "not taken",
            Err(SuperviseError::Uncertain { .. }) => "uncertain",
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn after_a_failure_the_queue_has_the_last_word() {
        let failed = || Err(SlurmError::NotBound);
        assert_eq!(told(Ok(()), Err(SlurmError::NotBound)), "taken");
        assert_eq!(told(failed(), Ok(vec![2, 3])), "taken");
        assert_eq!(told(failed(), Ok(vec![2, 1])), "not taken");
        assert_eq!(told(failed(), Ok(Vec::new())), "not taken");
        assert_eq!(told(failed(), Err(SlurmError::NotBound)), "uncertain");
    }
}
