//! Messages that come back: the retry is a message's, not a request's.
//!
//! Source: `rd_kafka_handle_Produce_error`, `rd_kafka_retry_msgq`, `rd_kafka_msgq_insert_msgq`.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::rdkafka_error::RdkafkaError;
use crate::sim::context::Context;
use crate::sim::fact::{Exception, Fact};
use crate::sim::ids::PartitionIndex;
use crate::sim::producer::rdkafka::batch::{Batch, Run};
use crate::sim::producer::rdkafka::toppar::{Message, Persisted, Returned};
use crate::sim::producer::rdkafka::transaction::State;
use crate::sim::producer::rdkafka::{Rdkafka, exception};
use crate::sim::request::{ApiKey, RequestId};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::trace::{Trace, TraceStep};

/// How far the jitter goes to either side, in percent.
const JITTER_PERCENT: u64 = 20;

/// Why a request will not be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Its connection ended after it was sent.
    Transport,
    /// Its connection ended, or its partition moved, before it was sent.
    NeverSent,
    /// Its time was over.
    TimedOut,
    /// Its time was over before it was sent.
    TimedOutQueue,
}

/// How messages are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// Whether it counts against `retries`.
    pub counts: Counts,
    /// Whether they may stand in the log.
    pub persisted: Persisted,
    /// Whether the leader may have changed.
    pub leader: Leader,
    /// What they fail with when they were tried often enough.
    pub error: RdkafkaError,
    /// What the retry is said to be for.
    pub code: ErrorCode,
}

/// Whether a retry counts against `retries`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// What an error says of the partition's leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leader {
    /// Nothing.
    Same,
    /// It may have changed: metadata is asked for.
    Suspect,
}

impl Lost {
    fn again(self) -> Again {
        let (counts, persisted, leader, error, code) = match self {
            Self::Transport => (
                Counts::Yes,
                Persisted::Possibly,
                Leader::Suspect,
                RdkafkaError::Transport,
                ErrorCode::NetworkException,
            ),
            Self::NeverSent => (
                Counts::No,
                Persisted::No,
                Leader::Suspect,
                RdkafkaError::Transport,
                ErrorCode::NetworkException,
            ),
            Self::TimedOut => (
                Counts::Yes,
                Persisted::Possibly,
                Leader::Same,
                RdkafkaError::MsgTimedOut,
                ErrorCode::RequestTimedOut,
            ),
            Self::TimedOutQueue => (
                Counts::No,
                Persisted::No,
                Leader::Same,
                RdkafkaError::MsgTimedOut,
                ErrorCode::RequestTimedOut,
            ),
        };
        Again {
            counts,
            persisted,
            leader,
            error,
            code,
        }
    }
}

/// What a broker's refusal means to a producer that is not idempotent, or as far as both agree: how
/// its messages are sent again, or nothing where they fail.
pub fn again(code: ErrorCode) -> Option<Again> {
    use ErrorCode as E;
    let (counts, persisted, leader) = match code {
        E::RequestTimedOut | E::NotEnoughReplicasAfterAppend => {
            (Counts::Yes, Persisted::Possibly, Leader::Same)
        }
        E::NotEnoughReplicas | E::CorruptMessage | E::CoordinatorLoadInProgress => {
            (Counts::Yes, Persisted::No, Leader::Same)
        }
        E::NotLeaderOrFollower
        | E::LeaderNotAvailable
        | E::ReplicaNotAvailable
        | E::UnknownTopicOrPartition => (Counts::No, Persisted::No, Leader::Suspect),
        E::KafkaStorageError => (Counts::Yes, Persisted::No, Leader::Suspect),
        _ => return None,
    };
    Some(Again {
        counts,
        persisted,
        leader,
        error: RdkafkaError::of_broker(code),
        code,
    })
}

impl Rdkafka {
    /// A request that will not be answered is given up by its client.
    pub(super) fn give_up(
        &mut self,
        ctx: &mut Context<'_>,
        (request, api): (RequestId, ApiKey),
        lost: Lost,
    ) {
        match api {
            ApiKey::Produce => {
                let batch = ctx
                    .requests
                    .get(request)
                    .parts
                    .first()
                    .map(|part| part.batch);
                if let Some(id) = batch {
                    let batch = self.batches.take(id);
                    self.land(&batch);
                    self.send_again(ctx, &batch, lost.again());
                    self.batches.close(id, batch);
                }
            }
            ApiKey::Metadata => self.metadata_failed(ctx.now),
            ApiKey::InitProducerId => self.producer_id_failed(ctx.now),
            ApiKey::Transactional => self.transactional_lost(ctx, request, lost),
            ApiKey::ApiVersions => {}
        }
        ctx.requests.release(request);
    }

    /// A batch is no longer in flight.
    pub(super) fn land(&mut self, batch: &Batch) {
        let toppar = &mut self.toppars[batch.toppar as usize];
        toppar.in_flight -= batch.len();
        if let Some(broker) = toppar.thread {
            self.threads[broker.index()].wakes_at = SimTime::ZERO;
        }
        self.wakes_at = SimTime::ZERO;
    }

    /// All messages of a batch go back into their queue, or fail.
    pub(super) fn send_again(&mut self, ctx: &mut Context<'_>, batch: &Batch, again: Again) {
        if self.transaction_state().is_some_and(State::gives_up) {
            return self.fail_with_transaction(ctx, batch);
        }
        if self.settings.idempotence.is_on() {
            self.drain(ctx, batch.toppar);
        } else if self.settings.max_in_flight == 1 {
            // The next request may be built and unsent: it must not overtake this one.
            self.pull_back(ctx, batch.toppar);
        }
        let jitter = self.jitter_percent();
        let parts: Vec<(Run, Vec<Message>)> = batch
            .parts()
            .map(|(run, messages)| (*run, messages.to_vec()))
            .collect();
        let last = batch
            .runs
            .last()
            .map_or(0, |run| run.first + u64::from(run.count) - 1);
        for (run, messages) in parts {
            self.return_run(ctx, batch.toppar, (&run, &messages, last), (again, jitter));
        }
        if again.leader == Leader::Suspect {
            self.suspect_leaders(ctx.now);
        }
    }

    /// One draw for all messages of a batch.
    pub(super) fn jitter_percent(&mut self) -> u64 {
        let draw = self.draws.retry_backoff.below(2 * JITTER_PERCENT + 1);
        100 - JITTER_PERCENT + draw
    }

    /// Messages with the same past go back, or fail where they were tried often enough.
    pub(super) fn return_run(
        &mut self,
        ctx: &mut Context<'_>,
        place: u32,
        (run, messages, batch_last): (&Run, &[Message], u64),
        (again, jitter): (Again, u64),
    ) {
        let retries = run
            .retries
            .saturating_add(u32::from(again.counts == Counts::Yes));
        let numbered = (run.first..).zip(messages.iter().copied());
        if again.counts == Counts::Yes && retries > self.settings.retries {
            let failed: Vec<_> = numbered.collect();
            self.fail(ctx, place, &failed, &exception(again.error));
            return;
        }
        let backoff_us = backoff_us(
            (
                self.settings.retry_backoff_ms,
                self.settings.retry_backoff_max_ms,
            ),
            retries,
            jitter,
        );
        let persisted = if run.persisted == Persisted::Possibly {
            run.persisted
        } else {
            again.persisted
        };
        let returned: Vec<_> = numbered
            .map(|(ordinal, message)| Returned {
                ordinal,
                message,
                retries,
                not_before: ctx.now + SimSpan::from_micros(backoff_us),
                persisted,
                batch_last,
            })
            .collect();
        self.toppars[place as usize].put_back(&returned);
        let fact = Fact::BatchRetried {
            producer: self.me,
            partition: self.partition_at(place),
            records: run.count,
            attempts: retries,
            error: again.code,
        };
        ctx.trace(Trace {
            at: ctx.now,
            producer: self.me,
            partition: self.partition_at(place),
            first_ordinal: run.first,
            records: run.count,
            step: TraceStep::Retried { error: again.code },
        });
        ctx.fact(self.rank, fact);
    }

    pub(super) fn partition_at(&self, place: u32) -> PartitionIndex {
        self.toppars[place as usize].partition
    }

    /// All messages of a batch fail.
    pub(super) fn fail_batch(
        &mut self,
        ctx: &mut Context<'_>,
        batch: &Batch,
        exception: &Arc<Exception>,
    ) {
        let messages: Vec<_> = batch
            .parts()
            .flat_map(|(run, messages)| (run.first..).zip(messages.iter().copied()))
            .collect();
        self.fail(ctx, batch.toppar, &messages, exception);
    }
}

/// The wait before a message is sent again, in µs: `retry.backoff.ms` doubled with every retry that
/// counted, with jitter, and capped after that.
pub fn backoff_us((first_ms, max_ms): (u64, u64), retries: u32, jitter_percent: u64) -> u64 {
    let doublings = retries.saturating_sub(1).min(40);
    let wait = first_ms.saturating_mul(1 << doublings);
    (wait.saturating_mul(jitter_percent) * 10).min(max_ms * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_waits_longer_each_time_and_never_longer_than_the_maximum() {
        let waits = [0, 1, 2, 3, 4, 5, 60].map(|retries| backoff_us((100, 1_000), retries, 100));
        let millis = waits.map(|wait| wait / 1_000);
        assert_eq!(millis, [100, 100, 200, 400, 800, 1_000, 1_000]);
        // Jitter does not go beyond the maximum.
        assert_eq!(backoff_us((100, 1_000), 5, 120), 1_000_000);
        assert_eq!(backoff_us((100, 1_000), 1, 80), 80_000);
    }

    #[test]
    fn errors_of_a_leader_that_moved_do_not_count() {
        let moved = again(ErrorCode::NotLeaderOrFollower).unwrap();
        assert_eq!((moved.counts, moved.leader), (Counts::No, Leader::Suspect));
        let short = again(ErrorCode::NotEnoughReplicas).unwrap();
        assert_eq!(
            (short.counts, short.persisted),
            (Counts::Yes, Persisted::No)
        );
        assert_eq!(again(ErrorCode::MessageTooLarge), None);
    }
}
