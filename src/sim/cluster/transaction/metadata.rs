//! What a coordinator knows of one transactional id, and how it changes: pure functions.
//!
//! Source: `TransactionMetadata`, `TransactionCoordinator` (`handleInitProducerId`,
//! `handleAddPartitionsToTransaction`, `handleEndTransaction`). A function looks at what is known
//! and says what to write; nothing changes before that is written.

use std::collections::BTreeSet;

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::{
    NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ProducerIdAndEpoch, TransactionResult, TransactionState,
    TransactionVersion,
};
use crate::sim::ids::{GroupIndex, PartitionIndex};
use crate::sim::time::SimTime;

/// Epochs from here on are not given to clients any more (`TransactionMetadata.isEpochExhausted`).
const EPOCH_EXHAUSTED: i16 = i16::MAX - 1;

/// What takes part in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Participant {
    /// A partition of a topic.
    Partition(PartitionIndex),
    /// The partition of `__consumer_offsets` that a group's offsets are in.
    Offsets(GroupIndex),
}

/// `TransactionMetadata`, as it is written into `__transaction_state`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionMetadata {
    /// Its producer id.
    pub producer_id: i64,
    /// The one before, while a retry may still name it.
    pub previous_producer_id: i64,
    /// The one that follows when this transaction is complete.
    pub next_producer_id: i64,
    /// Its epoch.
    pub epoch: i16,
    /// The epoch before, in memory only.
    pub last_epoch: i16,
    /// `transaction.timeout.ms` of the owner.
    pub timeout_ms: u64,
    /// Its state.
    pub state: TransactionState,
    /// Who takes part in the transaction.
    pub participants: BTreeSet<Participant>,
    /// When the transaction began.
    pub started: Option<SimTime>,
    /// When it last changed.
    pub updated: SimTime,
    /// The version that the transaction runs under.
    pub version: TransactionVersion,
}

/// What a coordinator does about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It refuses.
    Refuse(ErrorCode),
    /// There is nothing to change: it answers.
    Answer,
    /// It writes this first.
    Write(Box<TransactionMetadata>),
}

impl Decision {
    fn write(target: TransactionMetadata) -> Self {
        Self::Write(Box::new(target))
    }
}

impl TransactionMetadata {
    /// An id that was never seen.
    pub fn new(producer_id: i64, timeout_ms: u64, now: SimTime) -> Self {
        Self {
            producer_id,
            previous_producer_id: NO_PRODUCER_ID,
            next_producer_id: NO_PRODUCER_ID,
            epoch: NO_PRODUCER_EPOCH,
            last_epoch: NO_PRODUCER_EPOCH,
            timeout_ms,
            state: TransactionState::Empty,
            participants: BTreeSet::new(),
            started: None,
            updated: now,
            version: TransactionVersion::One,
        }
    }

    /// Its producer id and epoch.
    pub fn producer(&self) -> ProducerIdAndEpoch {
        (self.producer_id, self.epoch)
    }

    fn is_epoch_exhausted(&self) -> bool {
        self.epoch >= EPOCH_EXHAUSTED
    }

    /// `InitProducerId` without an open transaction; one that is open is fenced first.
    pub fn init_producer_id(
        &self,
        current: Option<ProducerIdAndEpoch>,
        timeout_ms: u64,
        now: SimTime,
        new_producer_id: impl FnOnce() -> i64,
    ) -> Decision {
        if let Some((producer_id, epoch)) = current {
            let is_retry = producer_id == self.previous_producer_id && epoch >= EPOCH_EXHAUSTED;
            let is_known = self.epoch == NO_PRODUCER_EPOCH || producer_id == self.producer_id;
            if !is_known && !is_retry {
                return Decision::Refuse(ErrorCode::ProducerFenced);
            }
        }
        if self.state.prepared().is_some() || self.state == TransactionState::Ongoing {
            return Decision::Refuse(ErrorCode::ConcurrentTransactions);
        }
        let given = current.map(|(_, epoch)| epoch);
        let mut next = Self {
            state: TransactionState::Empty,
            participants: BTreeSet::new(),
            started: None,
            updated: now,
            timeout_ms,
            ..self.clone()
        };
        if self.is_epoch_exhausted() && given.is_none_or(|epoch| epoch == self.epoch) {
            next.previous_producer_id = self.producer_id;
            next.producer_id = new_producer_id();
            next.epoch = 0;
            next.last_epoch = if given.is_some() {
                self.epoch
            } else {
                NO_PRODUCER_EPOCH
            };
            return Decision::write(next);
        }
        match given {
            None => (next.epoch, next.last_epoch) = (self.epoch + 1, NO_PRODUCER_EPOCH),
            Some(epoch) if self.epoch == NO_PRODUCER_EPOCH || epoch == self.epoch => {
                (next.epoch, next.last_epoch) = (self.epoch + 1, self.epoch);
            }
            // A retry: the answer was lost.
            Some(epoch) if epoch == self.last_epoch => {}
            Some(_) => return Decision::Refuse(ErrorCode::ProducerFenced),
        }
        Decision::write(next)
    }

    /// An open transaction is taken from its owner: aborted under an epoch that the owner does not
    /// have.
    pub fn fence(&self, version: TransactionVersion, now: SimTime) -> Option<Self> {
        (self.state == TransactionState::Ongoing).then(|| Self {
            epoch: self.epoch.saturating_add(1),
            last_epoch: NO_PRODUCER_EPOCH,
            state: TransactionState::PrepareAbort,
            updated: now,
            version,
            ..self.clone()
        })
    }

    fn check_owner(&self, (producer_id, epoch): ProducerIdAndEpoch) -> Option<ErrorCode> {
        if producer_id != self.producer_id {
            Some(ErrorCode::InvalidProducerIdMapping)
        } else if epoch != self.epoch {
            Some(ErrorCode::ProducerFenced)
        } else if self.state.prepared().is_some() {
            Some(ErrorCode::ConcurrentTransactions)
        } else {
            None
        }
    }

    /// More takes part in the transaction, which begins with the first.
    pub fn add(
        &self,
        producer: ProducerIdAndEpoch,
        participants: &[Participant],
        version: TransactionVersion,
        now: SimTime,
    ) -> Decision {
        if let Some(error) = self.check_owner(producer) {
            return Decision::Refuse(error);
        }
        let is_open = self.state == TransactionState::Ongoing;
        let is_in = |participant| self.participants.contains(participant);
        if is_open && participants.iter().all(is_in) {
            return Decision::Answer;
        }
        let mut next = Self {
            state: TransactionState::Ongoing,
            started: if is_open { self.started } else { Some(now) },
            updated: now,
            version,
            ..self.clone()
        };
        next.participants.extend(participants.iter().copied());
        Decision::write(next)
    }

    /// Whether somebody takes part; why not, if not.
    pub fn verify(
        &self,
        producer: ProducerIdAndEpoch,
        participant: Participant,
    ) -> Option<ErrorCode> {
        let is_in = self.participants.contains(&participant);
        let absent = (!is_in).then_some(ErrorCode::TransactionAbortable);
        self.check_owner(producer).or(absent)
    }

    /// `EndTxn` of a client.
    pub fn end(
        &self,
        producer: ProducerIdAndEpoch,
        (result, version): (TransactionResult, TransactionVersion),
        now: SimTime,
        new_producer_id: impl FnOnce() -> i64,
    ) -> Decision {
        match version {
            TransactionVersion::One => self.end_v1(producer, result, now),
            TransactionVersion::Two => self.end_v2(producer, result, now, new_producer_id),
        }
    }

    fn end_v1(
        &self,
        (producer_id, epoch): ProducerIdAndEpoch,
        result: TransactionResult,
        now: SimTime,
    ) -> Decision {
        use TransactionState as State;
        if producer_id != self.producer_id {
            return Decision::Refuse(ErrorCode::InvalidProducerIdMapping);
        }
        if epoch != self.epoch {
            return Decision::Refuse(ErrorCode::ProducerFenced);
        }
        match (self.state, result) {
            (State::Ongoing, _) => Decision::write(Self {
                state: prepared(result),
                updated: now,
                version: TransactionVersion::One,
                ..self.clone()
            }),
            (State::CompleteCommit, TransactionResult::Commit)
            | (State::CompleteAbort, TransactionResult::Abort) => Decision::Answer,
            (State::PrepareCommit, TransactionResult::Commit)
            | (State::PrepareAbort, TransactionResult::Abort) => {
                Decision::Refuse(ErrorCode::ConcurrentTransactions)
            }
            _ => Decision::Refuse(ErrorCode::InvalidTxnState),
        }
    }

    /// The request names the epoch before the one that the end of the transaction brings.
    fn end_v2(
        &self,
        (producer_id, epoch): ProducerIdAndEpoch,
        result: TransactionResult,
        now: SimTime,
        new_producer_id: impl FnOnce() -> i64,
    ) -> Decision {
        use TransactionState as State;
        let has_overflown =
            producer_id == self.previous_producer_id && epoch == EPOCH_EXHAUSTED && self.epoch == 0;
        let is_retry = has_overflown
            || (producer_id == self.producer_id && i32::from(epoch) == i32::from(self.epoch) - 1);
        let is_current = producer_id == self.producer_id && epoch == self.epoch;
        if producer_id != self.producer_id && !has_overflown {
            return Decision::Refuse(ErrorCode::InvalidProducerIdMapping);
        }
        if !is_current && !is_retry {
            return Decision::Refuse(ErrorCode::ProducerFenced);
        }
        let fenced = Decision::Refuse(ErrorCode::ProducerFenced);
        let invalid = Decision::Refuse(ErrorCode::InvalidTxnState);
        match (self.state, result) {
            (State::PrepareCommit | State::PrepareAbort, _) if is_current => fenced,
            (State::PrepareCommit, TransactionResult::Commit)
            | (State::PrepareAbort, TransactionResult::Abort) => {
                Decision::Refuse(ErrorCode::ConcurrentTransactions)
            }
            (State::PrepareCommit | State::PrepareAbort, _) => invalid,
            (State::Ongoing | State::Empty, _) if is_retry => fenced,
            (State::CompleteCommit, TransactionResult::Commit)
            | (State::CompleteAbort, TransactionResult::Abort)
                if is_retry =>
            {
                Decision::Answer
            }
            (State::CompleteCommit | State::CompleteAbort, _) if is_retry => invalid,
            (State::Ongoing, _) | (_, TransactionResult::Abort) => {
                Decision::write(self.prepare(result, now, new_producer_id))
            }
            _ => invalid,
        }
    }

    /// The end of a transaction of version 2, under the next epoch.
    fn prepare(
        &self,
        result: TransactionResult,
        now: SimTime,
        new_producer_id: impl FnOnce() -> i64,
    ) -> Self {
        let next_producer_id = if self.is_epoch_exhausted() {
            new_producer_id()
        } else {
            NO_PRODUCER_ID
        };
        Self {
            epoch: self.epoch.saturating_add(1),
            last_epoch: self.epoch,
            next_producer_id,
            state: prepared(result),
            started: self.started.or(Some(now)),
            updated: now,
            version: TransactionVersion::Two,
            ..self.clone()
        }
    }

    /// What the owner uses from now on, once the end of its transaction is decided.
    pub fn after_end(&self) -> ProducerIdAndEpoch {
        if self.next_producer_id == NO_PRODUCER_ID {
            self.producer()
        } else {
            (self.next_producer_id, 0)
        }
    }

    /// All markers are written.
    pub fn complete(&self, now: SimTime) -> Self {
        let state = match self.state.prepared() {
            Some(TransactionResult::Commit) => TransactionState::CompleteCommit,
            _ => TransactionState::CompleteAbort,
        };
        let mut next = Self {
            state,
            participants: BTreeSet::new(),
            updated: now,
            ..self.clone()
        };
        if self.next_producer_id != NO_PRODUCER_ID {
            next.previous_producer_id = self.producer_id;
            next.producer_id = self.next_producer_id;
            next.next_producer_id = NO_PRODUCER_ID;
            next.epoch = 0;
        }
        next
    }
}

fn prepared(result: TransactionResult) -> TransactionState {
    match result {
        TransactionResult::Commit => TransactionState::PrepareCommit,
        TransactionResult::Abort => TransactionState::PrepareAbort,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SimTime = SimTime::ZERO;
    const TWO: TransactionVersion = TransactionVersion::Two;
    const FARES: Participant = Participant::Partition(PartitionIndex::of_first_topic(2));

    fn written(decision: Decision) -> TransactionMetadata {
        match decision {
            Decision::Write(target) => *target,
            other => panic!("expected something to write, not {other:?}"),
        }
    }

    fn init(known: &TransactionMetadata, current: Option<ProducerIdAndEpoch>) -> Decision {
        known.init_producer_id(current, 60_000, NOW, || 4002)
    }

    /// An id whose owner has epoch 0 and an open transaction.
    fn open() -> TransactionMetadata {
        let owned = written(init(&TransactionMetadata::new(4001, 60_000, NOW), None));
        assert_eq!(owned.producer(), (4001, 0));
        written(owned.add((4001, 0), &[FARES], TWO, NOW))
    }

    fn end(known: &TransactionMetadata, epoch: i16, result: TransactionResult) -> Decision {
        known.end((4001, epoch), (result, TWO), NOW, || 4002)
    }

    #[test]
    fn every_transaction_of_version_2_ends_under_the_next_epoch() {
        let prepared = written(end(&open(), 0, TransactionResult::Commit));
        assert_eq!(
            (prepared.state, prepared.epoch),
            (TransactionState::PrepareCommit, 1)
        );
        assert_eq!(prepared.after_end(), (4001, 1));
        assert_eq!(prepared.complete(NOW).producer(), (4001, 1));
    }

    #[test]
    fn a_second_owner_gets_the_second_epoch_after_the_first_owners() {
        let fenced = open().fence(TWO, NOW).unwrap();
        assert_eq!(
            (fenced.state, fenced.epoch),
            (TransactionState::PrepareAbort, 1)
        );
        let concurrent = Decision::Refuse(ErrorCode::ConcurrentTransactions);
        assert_eq!(init(&fenced, None), concurrent);
        assert_eq!(written(init(&fenced.complete(NOW), None)).epoch, 2);
    }

    #[test]
    fn an_owner_that_was_timed_out_can_still_abort_in_version_2_and_nothing_else() {
        let aborted = open().fence(TWO, NOW).unwrap().complete(NOW);
        assert_eq!(end(&aborted, 0, TransactionResult::Abort), Decision::Answer);
        let invalid = Decision::Refuse(ErrorCode::InvalidTxnState);
        assert_eq!(end(&aborted, 0, TransactionResult::Commit), invalid);
        let fenced = Decision::Refuse(ErrorCode::ProducerFenced);
        assert_eq!(
            aborted.end_v1((4001, 0), TransactionResult::Abort, NOW),
            fenced
        );
    }

    #[test]
    fn an_owner_is_fenced_for_good_once_the_next_one_has_its_epoch() {
        let aborted = open().fence(TWO, NOW).unwrap().complete(NOW);
        let taken = written(init(&aborted, None));
        let fenced = Decision::Refuse(ErrorCode::ProducerFenced);
        assert_eq!(end(&taken, 0, TransactionResult::Abort), fenced);
        assert_eq!(taken.add((4001, 0), &[FARES], TWO, NOW), fenced);
    }

    #[test]
    fn the_last_epoch_brings_another_producer_id() {
        let exhausted = TransactionMetadata {
            epoch: EPOCH_EXHAUSTED,
            ..open()
        };
        let prepared = written(end(&exhausted, EPOCH_EXHAUSTED, TransactionResult::Commit));
        assert_eq!(prepared.producer(), (4001, i16::MAX));
        assert_eq!(prepared.after_end(), (4002, 0));
        let complete = prepared.complete(NOW);
        assert_eq!(complete.producer(), (4002, 0));
        let retried = complete.end(
            (4001, EPOCH_EXHAUSTED),
            (TransactionResult::Commit, TWO),
            NOW,
            || 4003,
        );
        assert_eq!(retried, Decision::Answer);
    }

    #[test]
    fn in_version_1_data_and_markers_share_the_epoch() {
        let open = open();
        let prepared = written(open.end_v1((4001, 0), TransactionResult::Commit, NOW));
        assert_eq!(prepared.complete(NOW).producer(), (4001, 0));
    }

    #[test]
    fn a_retried_request_for_another_epoch_gets_the_same_one() {
        let owned = TransactionMetadata {
            epoch: 5,
            last_epoch: 4,
            ..TransactionMetadata::new(4001, 60_000, NOW)
        };
        assert_eq!(written(init(&owned, Some((4001, 4)))).epoch, 5);
        assert_eq!(written(init(&owned, Some((4001, 5)))).epoch, 6);
        let fenced = Decision::Refuse(ErrorCode::ProducerFenced);
        assert_eq!(init(&owned, Some((4001, 3))), fenced);
    }
}
