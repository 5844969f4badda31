//! The produce path: what a leader says to each batch of a request, and what it appends.
//!
//! Source: `KafkaApis.handleProduceRequest`, `ReplicaManager.appendRecords`, `UnifiedLog.append`.

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::TransactionVersion;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::broker::Space;
use crate::sim::cluster::key_watch::{lacks_key, remember_keys};
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::fact::{Appended, Flow};
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::partition::{Partition, Verdict, Waiting};
use crate::sim::queue::Rank;
use crate::sim::request::{Part, Request, RequestId};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::trace::{Trace, TraceStep};
use crate::sim::transactions::ask::TxnAsk;
use crate::sim::transactions::producer_states::Verifying;

/// Whether records belong to a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Membership {
    None,
    OfTransaction(Verifying),
}

impl Cluster {
    /// A Produce request is read, and waits for a coordinator's word if it has to.
    pub(super) fn handle_produce(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, id: RequestId) {
        let is_transactional = ctx.requests.get(id).transaction.is_some();
        if !is_transactional || !self.must_verify(ctx, at, id) {
            self.append_parts(ctx, at, id);
        }
    }

    /// Appends what a produce request brings, and answers when it is replicated.
    pub(super) fn append_parts(&mut self, ctx: &mut Context<'_>, at: BrokerIndex, id: RequestId) {
        let mut parts = std::mem::take(&mut ctx.requests.get_mut(id).parts);
        let (acks, producer, membership) = {
            let request = ctx.requests.get_mut(id);
            request.appended = ctx.now;
            let membership = self.membership(at, request);
            (request.acks, request.channel.producer, membership)
        };
        let mut waiting = 0;
        for (place, part) in parts.iter_mut().enumerate() {
            self.append(ctx, (at, acks, membership), producer, part);
            let partition = &mut self.partitions[part.partition.index()];
            let is_committed = partition.high_watermark_at(at) >= part.required_offset;
            if acks == -1 && part.error.is_none() && !is_committed {
                waiting += 1;
                partition.purgatory_at(at).push(Waiting {
                    request: id,
                    part: place as u16,
                    required_offset: part.required_offset,
                });
            }
        }
        let is_refused = parts.iter().any(|part| part.error.is_some());
        let request = ctx.requests.get_mut(id);
        request.parts = parts;
        request.waiting = waiting;
        if acks == 0 {
            self.finish_unanswered(ctx, at, id, is_refused);
        } else if waiting == 0 {
            self.answer_produce(ctx, at, id);
        } else {
            let deadline = ctx.now + SimSpan::from_millis(u64::from(request.timeout_ms));
            ctx.queue
                .push(deadline, Rank::broker(at), Event::PurgatoryExpired(id));
        }
        self.kick_followers(ctx, at, id);
        if !ctx.config.consumers.is_empty() {
            self.wake_readers_of(ctx, id);
        }
    }

    /// What was appended may be readable at once.
    fn wake_readers_of(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        if !ctx.requests.is_live(id) {
            return;
        }
        for place in 0..ctx.requests.get(id).parts.len() {
            let partition = ctx.requests.get(id).parts[place].partition;
            self.wake_readers(ctx, partition);
        }
    }

    /// One batch at its leader, by the checks of a produce request in their order.
    fn append(
        &mut self,
        ctx: &mut Context<'_>,
        (at, acks, membership): (BrokerIndex, i8, Membership),
        producer: ProducerIndex,
        part: &mut Part,
    ) {
        if part.error.is_some() {
            return;
        }
        let broker = &self.brokers[at.index()];
        let is_full = broker.disk.space == Space::Full;
        let is_known = broker.image.find(part.partition).is_some();
        let partition = &mut self.partitions[part.partition.index()];
        let is_judged = !is_full && is_known && partition.leads(at);
        let injected = if is_judged && matches!(acks, -1..=1) {
            partition.injected.pop_front()
        } else {
            None
        };
        // What a leader says only after it appended is said then here, too.
        let after_append = injected.filter(|error| is_said_after_append(*error));
        let refused = if is_full {
            Some(ErrorCode::KafkaStorageError)
        } else if !is_known {
            Some(ErrorCode::UnknownTopicOrPartition)
        } else if !partition.leads(at) {
            Some(ErrorCode::NotLeaderOrFollower)
        } else if !matches!(acks, -1..=1) {
            Some(ErrorCode::InvalidRequiredAcks)
        } else if injected.is_some() && after_append.is_none() {
            injected
        } else if acks == -1 && !partition.has_enough_in_sync(at) {
            Some(ErrorCode::NotEnoughReplicas)
        } else if partition.compaction.is_some() && lacks_key(ctx, producer, part) {
            Some(ErrorCode::InvalidRecord)
        } else {
            None
        };
        let is_stale = !partition.is_led_by(at);
        let verdict = refused.map_or_else(
            || judge(partition, (at, membership), producer, part),
            Verdict::Refuse,
        );
        match verdict {
            Verdict::Refuse(error) => part.error = Some(error),
            Verdict::Duplicate(offset) => {
                part.base_offset = Some(offset);
                say_recognised(ctx, (at, offset), producer, part);
            }
            Verdict::Append if is_stale => {
                part.base_offset = Some(partition.append_stale((at, ctx.now), producer, part));
            }
            Verdict::Append => {
                let base_offset = append_batch(partition, membership, (producer, ctx.now), part);
                part.base_offset = Some(base_offset);
                remember_keys(ctx, (at, base_offset), producer, part);
                say_appended(ctx, (at, base_offset), producer, part);
            }
        }
        part.required_offset = part
            .base_offset
            .map_or(0, |base| base + u64::from(part.records));
        part.error = part.error.or(after_append);
    }

    /// Whether the records of a request belong to a transaction.
    fn membership(&self, at: BrokerIndex, request: &Request) -> Membership {
        let Some(TxnAsk::Produce(_, version)) =
            request.transaction.as_ref().map(|transact| &transact.ask)
        else {
            return Membership::None;
        };
        let settings = &self.brokers[at.index()].settings.transactions;
        let is_verified = *version == TransactionVersion::Two || settings.partition_verification;
        Membership::OfTransaction(if is_verified {
            Verifying::On
        } else {
            Verifying::Off
        })
    }
}

/// What a leader says to a batch that it could take. One that does not know that it was deposed
/// takes nothing of transactions.
fn judge(
    partition: &mut Partition,
    (at, membership): (BrokerIndex, Membership),
    producer: ProducerIndex,
    part: &Part,
) -> Verdict {
    let stale = partition.judge_stale(at, producer, part);
    match membership {
        Membership::None => stale.unwrap_or_else(|| partition.judge(producer, part)),
        Membership::OfTransaction(_) if stale.is_some() => {
            Verdict::Refuse(ErrorCode::NotLeaderOrFollower)
        }
        Membership::OfTransaction(verifying) => partition.judge_in_transaction(part, verifying),
    }
}

/// Appends a batch; gives the offset of its first record.
fn append_batch(
    partition: &mut Partition,
    membership: Membership,
    (producer, now): (ProducerIndex, SimTime),
    part: &Part,
) -> u64 {
    let base_offset = match membership {
        Membership::None => partition.append(producer, part, now),
        Membership::OfTransaction(_) => partition.append_in_transaction(producer, part, now),
    };
    partition.advance_high_watermark();
    base_offset
}

fn say_appended(
    ctx: &mut Context<'_>,
    (broker, base_offset): (BrokerIndex, u64),
    producer: ProducerIndex,
    part: &Part,
) {
    let appended = Appended {
        producer,
        partition: part.partition,
        first_ordinal: part.first_ordinal,
        records: part.records,
        bytes: part.stored_bytes,
        base_offset,
        at: ctx.now,
    };
    ctx.flow(Rank::broker(broker), Flow::Appended(appended));
}

/// A leader knows a batch that came again.
#[cold]
fn say_recognised(
    ctx: &mut Context<'_>,
    (broker, base_offset): (BrokerIndex, u64),
    producer: ProducerIndex,
    part: &Part,
) {
    ctx.trace(Trace {
        at: ctx.now,
        producer,
        partition: part.partition,
        first_ordinal: part.first_ordinal,
        records: part.records,
        step: TraceStep::Recognised {
            broker,
            base_offset,
        },
    });
}

/// Whether a leader answers with this error only when the batch is in its log already.
const fn is_said_after_append(error: ErrorCode) -> bool {
    matches!(
        error,
        ErrorCode::RequestTimedOut | ErrorCode::NotEnoughReplicasAfterAppend
    )
}
