//! Producer id, epoch and sequences per partition (`TransactionManager`, `TxnPartitionMap`). A
//! producer that is not transactional asks for its id by itself and bumps its epoch; of a
//! transactional one `transaction` says which id and epoch it has.

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::ProducerIdAndEpoch;
use crate::sim::partition::next_sequence;
use crate::sim::producer::accumulator::{Accumulator, Queue, Sequences};
use crate::sim::producer::batch::BatchId;

/// The client's producer id and what is to happen to it.
#[derive(Clone, Debug)]
pub struct Idempotence {
    /// How far it is.
    pub state: ProducerIdState,
    /// Queues whose in-flight batches are renumbered under a bumped epoch.
    pub rewrite: Vec<u32>,
    /// Queues of which it is not known what became of an expired retry.
    unresolved: Vec<u32>,
}

/// Whether there is a producer id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProducerIdState {
    /// `enable.idempotence=false`.
    Off,
    /// None yet: no data is sent.
    Wanted,
    /// Asked for.
    Requested,
    /// Known.
    Ready {
        /// The id.
        producer_id: i64,
        /// Its epoch.
        epoch: i16,
    },
    /// A fatal error came: nothing is sent any more.
    Failed,
}

/// Whether a head batch may be drained now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Yes.
    Open,
    /// No, and the node's drain pass ends here.
    Shut,
}

impl Idempotence {
    /// The state of a new client.
    pub fn new(enabled: bool) -> Self {
        let state = if enabled {
            ProducerIdState::Wanted
        } else {
            ProducerIdState::Off
        };
        Self {
            state,
            rewrite: Vec::new(),
            unresolved: Vec::new(),
        }
    }

    /// Whether sequences are in use.
    pub fn is_on(&self) -> bool {
        self.state != ProducerIdState::Off
    }

    /// Whether data may leave at all.
    pub fn lets_data_pass(&self) -> bool {
        matches!(
            self.state,
            ProducerIdState::Off | ProducerIdState::Ready { .. }
        )
    }

    /// Whether the sender's next turn has nothing to do for it.
    pub fn is_at_rest(&self) -> bool {
        self.lets_data_pass() && self.rewrite.is_empty() && self.unresolved.is_empty()
    }

    /// Whether an error of a batch ends the client (`maybeTransitionToErrorState`).
    pub fn is_fatal(&self, error: ErrorCode) -> bool {
        let is_fatal = matches!(
            error,
            ErrorCode::ClusterAuthorizationFailed
                | ErrorCode::TransactionalIdAuthorizationFailed
                | ErrorCode::ProducerFenced
                | ErrorCode::UnsupportedVersion
                | ErrorCode::InvalidProducerIdMapping
        );
        self.is_on() && is_fatal
    }

    /// Producer id and epoch, or (-1, -1).
    pub fn current(&self) -> (i64, i16) {
        match self.state {
            ProducerIdState::Ready { producer_id, epoch } => (producer_id, epoch),
            _ => (-1, -1),
        }
    }

    /// Whether a queue's head may go (`shouldStopDrainBatchesForPartition`).
    pub fn gate(&self, queue: &Queue, accumulator: &Accumulator, head: BatchId) -> Gate {
        let ProducerIdState::Ready { producer_id, epoch } = self.state else {
            return if self.is_on() { Gate::Shut } else { Gate::Open };
        };
        let batch = accumulator.batches.get(head);
        let has_sequence = batch.base_sequence >= 0;
        let is_stale = queue.sequences.producer_id != (producer_id, epoch);
        let blocked = if has_sequence {
            queue.unfinished.front() != Some(&head)
        } else {
            (is_stale && !queue.unfinished.is_empty()) || queue.sequences.unresolved.is_some()
        };
        if blocked { Gate::Shut } else { Gate::Open }
    }

    /// Gives a batch its sequence, when it is drained for the first time.
    pub fn assign(&self, accumulator: &mut Accumulator, id: BatchId) {
        let ProducerIdState::Ready { producer_id, epoch } = self.state else {
            return;
        };
        let batch = accumulator.batches.get_mut(id);
        if batch.base_sequence >= 0 {
            return;
        }
        let sequences = &mut accumulator.queues[batch.queue as usize].sequences;
        if sequences.producer_id != (producer_id, epoch) {
            *sequences = Sequences {
                producer_id: (producer_id, epoch),
                next: 0,
                last_acked: -1,
                unresolved: None,
            };
        }
        batch.base_sequence = sequences.next;
        (batch.producer_id, batch.epoch) = (producer_id, epoch);
        sequences.next = next_sequence(sequences.next, batch.records as i32);
    }

    /// Asks for a bumped epoch because of this queue; it happens at the sender's next turn.
    pub fn request_bump(&mut self, queue: u32) {
        let is_alive = self.is_on() && self.state != ProducerIdState::Failed;
        if is_alive && !self.rewrite.contains(&queue) {
            self.rewrite.push(queue);
        }
    }

    /// Bumps the epoch, if asked for, and renumbers in-flight batches from 0; says whether it did.
    pub fn bump(&mut self, accumulator: &mut Accumulator) -> bool {
        let ProducerIdState::Ready { producer_id, epoch } = &mut self.state else {
            return false;
        };
        if self.rewrite.is_empty() {
            return false;
        }
        if *epoch == i16::MAX {
            self.state = ProducerIdState::Wanted;
            return false;
        }
        *epoch += 1;
        let current = (*producer_id, *epoch);
        for place in std::mem::take(&mut self.rewrite) {
            let mut next = 0;
            for id in accumulator.queues[place as usize].unfinished.clone() {
                let batch = accumulator.batches.get_mut(id);
                batch.base_sequence = next;
                (batch.producer_id, batch.epoch) = current;
                next = next_sequence(next, batch.records as i32);
            }
            accumulator.queues[place as usize].sequences = Sequences {
                producer_id: current,
                next,
                last_acked: -1,
                unresolved: None,
            };
        }
        true
    }

    /// The coordinator gave this id and epoch.
    pub fn adopt(&mut self, (producer_id, epoch): ProducerIdAndEpoch) {
        self.state = ProducerIdState::Ready { producer_id, epoch };
    }

    /// Sequences begin anew, and what was unresolved is forgotten (`resetSequenceNumbers`).
    pub fn reset_sequences(&mut self, accumulator: &mut Accumulator) {
        for place in std::mem::take(&mut self.unresolved) {
            accumulator.queues[place as usize].sequences.unresolved = None;
        }
    }

    /// A batch of a transaction failed for good: those behind it move up
    /// (`adjustSequencesDueToFailedBatch`).
    pub fn close_gap(accumulator: &mut Accumulator, queue: u32, failed: (i32, u32)) {
        let (base, records) = (failed.0, failed.1 as i32);
        let unfinished = accumulator.queues[queue as usize].unfinished.clone();
        for id in unfinished {
            let batch = accumulator.batches.get_mut(id);
            if batch.base_sequence > base {
                batch.base_sequence -= records;
            }
        }
        let sequences = &mut accumulator.queues[queue as usize].sequences;
        if sequences.next > base {
            sequences.next -= records;
        }
    }

    /// Looks at partitions whose last word is open (`maybeResolveSequences`).
    pub fn resolve(&mut self, accumulator: &mut Accumulator) {
        if self.unresolved.is_empty() {
            return;
        }
        for place in self.lost(accumulator) {
            self.request_bump(place);
        }
    }

    /// The same in a transaction; says whether something is lost for good.
    pub fn resolve_in_transaction(&mut self, accumulator: &mut Accumulator) -> bool {
        !self.lost(accumulator).is_empty()
    }

    /// Queues of which batches are lost that the broker may have.
    fn lost(&mut self, accumulator: &mut Accumulator) -> Vec<u32> {
        let mut lost = Vec::new();
        if self.unresolved.is_empty() {
            return lost;
        }
        for place in std::mem::take(&mut self.unresolved) {
            let queue = &mut accumulator.queues[place as usize];
            if queue.sequences.unresolved.is_none() {
                continue;
            }
            if !queue.unfinished.is_empty() {
                self.unresolved.push(place);
                continue;
            }
            let is_acked = queue.sequences.next == next_sequence(queue.sequences.last_acked, 1);
            queue.sequences.unresolved = None;
            if !is_acked {
                lost.push(place);
            }
        }
        lost
    }

    /// A retry of this batch expired: what became of it is to be seen
    /// (`markSequenceUnresolved`).
    pub fn leave_unresolved(&mut self, accumulator: &mut Accumulator, id: BatchId) {
        let batch = accumulator.batches.get(id);
        let next = next_sequence(batch.base_sequence, batch.records as i32);
        let sequences = &mut accumulator.queues[batch.queue as usize].sequences;
        let known = sequences.unresolved.map_or(next, |known| known.max(next));
        sequences.unresolved = Some(known);
        if !self.unresolved.contains(&batch.queue) {
            self.unresolved.push(batch.queue);
        }
    }
}
