//! What comes back: responses to every kind of request, and requests whose connection is gone.
//!
//! Source: `Sender.handleProduceResponse`, `completeBatch`, `canRetry`, `TransactionManager`.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::message;
use crate::sim::context::Context;
use crate::sim::fact::{Acknowledged, Fact, Flow, Node};
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::sim::partition::next_sequence;
use crate::sim::producer::batch::{BatchId, LeaderOfRetry, Stage};
use crate::sim::producer::client::{Client, Left, Woken, exception};
use crate::sim::producer::connections::Slot;
use crate::sim::producer::idempotence::{Idempotence, ProducerIdState};
use crate::sim::producer::metadata::{News, Standing};
use crate::sim::request::{ApiKey, Part, RequestId};
use crate::sim::trace::{Trace, TraceStep};

/// A response to a produce request of one partition, with its frame: what byte counters take any
/// response for.
const RESPONSE_BYTES: u32 = 66;

impl Client {
    /// A response arrived on a present connection, which wakes the sender. Both holders of the
    /// request let go.
    pub fn on_response(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        let now_ms = ctx.now.as_millis();
        let (channel, api, throttle_ms) = {
            let request = ctx.requests.get(id);
            (request.channel, request.api, request.throttle_ms)
        };
        let connection = self.connections.get_mut(channel.slot);
        connection.used_ms = now_ms;
        let sent = connection.in_flight.pop_front();
        assert!(
            sent.is_some_and(|sent| sent.request == id),
            "responses come in order of requests"
        );
        if throttle_ms > 0 {
            connection.throttle(throttle_ms, ctx.now);
        }
        let received = (RESPONSE_BYTES, throttle_ms);
        self.metrics
            .response_received(channel.slot as usize, received, now_ms);
        match api {
            ApiKey::ApiVersions => self.on_ready(ctx, channel.slot),
            ApiKey::Metadata => self.on_metadata(ctx, id),
            ApiKey::InitProducerId => self.on_producer_id(ctx, id),
            ApiKey::Transactional => self.on_transactional(ctx, id),
            ApiKey::Produce => {
                let latency_ms =
                    sent.map_or(0, |sent| now_ms.saturating_sub(sent.sent.as_millis()));
                self.metrics
                    .produce_latency(channel.slot as usize, latency_ms, now_ms);
                self.complete_produce(ctx, id);
            }
        }
        ctx.requests.release(id);
        ctx.requests.release(id);
        if api == ApiKey::Produce {
            self.wake_for_response(ctx);
        } else {
            self.run_sender(ctx);
        }
    }

    #[cold]
    fn on_producer_id(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        let (producer_id, epoch) = ctx.requests.get(id).producer_id;
        if self.fatal.is_some() {
            return;
        }
        self.idempotence.state = ProducerIdState::Ready { producer_id, epoch };
        let producer = self.me;
        ctx.fact(
            self.rank,
            Fact::ProducerIdAssigned {
                producer,
                producer_id,
                epoch,
            },
        );
    }

    /// Metadata replaces what was known, partition by partition where it is not older.
    #[cold]
    fn on_metadata(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        let request = ctx.requests.get(id);
        let Some(image) = request.image.clone() else {
            return;
        };
        let topics = request.topics.clone();
        let mut news = News::Nothing;
        let mut wants_another = false;
        for &topic in &topics {
            let known = image.topic(topic);
            if known.partitions.is_empty() {
                wants_another = true;
                continue;
            }
            let before = self.metadata.topic(topic);
            let (from, to) = (before.queues.len(), known.partitions.len());
            if !before.is_known || from < to {
                news = News::Newer;
            }
            self.learn_partitions(topic, &known.partitions);
            if (1..to).contains(&from) {
                self.say_learned(ctx, topic, (from as u32, to as u32));
            }
            for place in self.metadata.topic(topic).queues.clone() {
                let queue = &mut self.accumulator.queues[place as usize];
                // The client may have heard of a partition from a broker that knows more.
                let state = image.find(queue.partition);
                let Some(state) = state.filter(|state| state.epoch >= queue.leader_epoch) else {
                    continue;
                };
                let is_newer = state.epoch > queue.leader_epoch;
                queue.leader_epoch = state.epoch;
                self.accumulator.front_mut(place).leader = state.leader;
                wants_another |= state.leader.is_none();
                if is_newer {
                    news = News::Newer;
                    self.skip_backoff(place);
                }
            }
        }
        let own_rack = self.rack(ctx.config);
        let nodes = (0_u16..).zip(&image.unfenced).zip(&ctx.config.brokers);
        let nodes = nodes
            .filter(|((_, unfenced), _)| **unfenced)
            .map(|((broker, _), config)| {
                let standing = Standing::of(own_rack.as_deref(), config.rack.as_deref());
                (BrokerIndex(broker), standing)
            });
        self.metadata.learn_nodes(nodes);
        self.sort_by_leader();
        let backoff = self.settings.retry_backoff;
        let moment = (news, ctx.now.as_millis());
        self.metadata
            .end_update(moment, &topics, backoff, &mut self.draws.retry_backoff);
        if wants_another {
            self.metadata.request_update();
        }
        self.woken.push(Woken::Metadata);
        if news == News::Newer {
            let topics = self.metadata.topics_known();
            ctx.fact(
                self.rank,
                Fact::MetadataUpdated {
                    producer: self.me,
                    topics,
                },
            );
        }
    }

    fn say_learned(&self, ctx: &mut Context<'_>, topic: TopicIndex, (from, to): (u32, u32)) {
        let producer = self.me;
        let fact = Fact::PartitionsLearned {
            producer,
            topic,
            from,
            to,
        };
        ctx.fact(self.rank, fact);
    }

    /// KIP-951: a retried batch goes at once to a leader that is newer than its last attempt.
    fn skip_backoff(&mut self, place: u32) {
        for id in self.accumulator.queues[place as usize].deque.clone() {
            self.skip_backoff_of(id);
        }
    }

    fn skip_backoff_of(&mut self, id: BatchId) {
        if self.settings.version.skips_backoff_for_new_leaders() {
            self.accumulator.batches.get_mut(id).leader = LeaderOfRetry::Newer;
        }
    }

    /// Every batch of a produce request gets its answer.
    pub(super) fn complete_produce(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        let parts = std::mem::take(&mut ctx.requests.get_mut(id).parts);
        let slot = ctx.requests.get(id).channel.slot;
        for part in &parts {
            self.unmute(part.batch);
            match part.error {
                // The broker has it, and has forgotten where: a success without offset.
                None | Some(ErrorCode::DuplicateSequenceNumber) => self.succeed(ctx, id, part),
                Some(error) => self.on_error(ctx, part.batch, error, slot),
            }
        }
        self.learn_named_leaders(&parts);
        ctx.requests.get_mut(id).parts = parts;
    }

    /// KIP-951: a broker that does not lead names who does; a client that knows no better turns
    /// to that one without asking for metadata first.
    fn learn_named_leaders(&mut self, parts: &[Part]) {
        if !self.settings.version.skips_backoff_for_new_leaders() {
            return;
        }
        let mut is_news = false;
        for part in parts {
            let Some((leader, epoch)) = part.current_leader else {
                continue;
            };
            let mut queues = self.accumulator.queues.iter_mut().zip(0_u32..);
            let queue = queues.find(|(queue, _)| queue.partition == part.partition);
            let Some((queue, place)) = queue.filter(|(queue, _)| epoch > queue.leader_epoch) else {
                continue;
            };
            queue.leader_epoch = epoch;
            self.accumulator.front_mut(place).leader = Some(leader);
            self.skip_backoff(place);
            is_news = true;
        }
        if is_news {
            self.sort_by_leader();
        }
    }

    /// A produce request will never be answered: its connection is gone.
    pub(super) fn lose_produce(&mut self, ctx: &mut Context<'_>, id: RequestId, error: ErrorCode) {
        let slot = ctx.requests.get(id).channel.slot;
        // The broker may still work on the request: its parts stay there.
        let batches: Vec<BatchId> = ctx.requests.get(id).parts.iter().map(|p| p.batch).collect();
        for batch in batches {
            self.unmute(batch);
            self.on_error(ctx, batch, error, slot);
        }
    }

    fn unmute(&mut self, batch: BatchId) {
        let place = self.accumulator.batches.get(batch).queue;
        self.accumulator.front_mut(place).is_muted = false;
    }

    fn succeed(&mut self, ctx: &mut Context<'_>, request: RequestId, part: &Part) {
        let batch = self.accumulator.batches.get(part.batch);
        let (created, drained, stage) = (batch.created, batch.drained, batch.stage);
        let queue = &mut self.accumulator.queues[batch.queue as usize];
        let identity = (batch.producer_id, batch.epoch);
        if batch.base_sequence >= 0 && queue.sequences.producer_id == identity {
            let last = next_sequence(batch.base_sequence, batch.records as i32 - 1);
            queue.sequences.last_acked = queue.sequences.last_acked.max(last);
        }
        if stage == Stage::ExpiredInFlight {
            self.release_expired(ctx, part.batch);
            return;
        }
        self.counts.acked += u64::from(part.records);
        let request = ctx.requests.get(request);
        let acknowledged = Acknowledged {
            producer: self.me,
            partition: part.partition,
            first_ordinal: part.first_ordinal,
            records: part.records,
            bytes: part.bytes,
            created,
            drained,
            arrived: request.arrived.max(drained),
            appended: request.appended.max(drained),
            answered: request.answered.max(drained),
            at: ctx.now,
        };
        ctx.flow(self.rank, Flow::Acknowledged(acknowledged));
        self.accumulator.finish(part.batch);
        self.say_completed();
        self.release(part.batch, ctx.now);
    }

    /// A batch that was failed while on the wire gets its answer: only its memory matters.
    fn release_expired(&mut self, ctx: &mut Context<'_>, id: BatchId) {
        if self.settings.version.keeps_memory_of_expired_requests() {
            self.free_memory(id, ctx.now);
        }
        self.accumulator.batches.close(id);
    }

    /// A batch came back with an error: it is sent again, or fails.
    #[cold]
    fn on_error(&mut self, ctx: &mut Context<'_>, id: BatchId, error: ErrorCode, slot: Slot) {
        self.left = Left::Something;
        let batch = self.accumulator.batches.get(id);
        if batch.stage == Stage::ExpiredInFlight {
            // `Sender.failBatch` counts such a batch a second time.
            let topic = self.accumulator.queues[batch.queue as usize].topic.index();
            let records = batch.records;
            self.metrics
                .batch_failed(topic, records, ctx.now.as_millis());
            self.release_expired(ctx, id);
            return;
        }
        if error == ErrorCode::MessageTooLarge && batch.records > 1 {
            self.split(ctx, id);
            return;
        }
        if error.is_invalid_metadata() {
            self.metadata.request_update();
        }
        if self.may_retry(ctx, id, error) {
            self.retry(ctx, id, error);
            return;
        }
        let batch = self.accumulator.batches.get(id);
        let (place, had_retries) = (batch.queue, batch.attempts < self.settings.retries);
        // What fails as out of order leaves a gap in the log, however often it was tried
        // (`TransactionManager.handleFailedBatch`; `UnknownProducerIdException` is one of these).
        let leaves_gap = matches!(
            error,
            ErrorCode::OutOfOrderSequenceNumber | ErrorCode::UnknownProducerId
        );
        let adjusts = (had_retries || leaves_gap) && self.idempotence.is_on();
        let node = match self.connections.node_of(slot) {
            Node::Bootstrap(broker) => -1 - i32::from(broker.0),
            Node::Broker(broker) => ctx.config.brokers[broker.index()].id as i32,
        };
        let failed = (batch.base_sequence, batch.records);
        let topic = self.accumulator.queues[place as usize].topic;
        let text = match error {
            ErrorCode::TopicAuthorizationFailed => {
                message::topic_not_authorized(&ctx.config.topics[topic.index()].name)
            }
            error => Self::text_of(error, node),
        };
        if self.transaction.is_none() && self.idempotence.is_fatal(error) {
            self.fail_for_good(ctx, error, &text);
        }
        self.fail_batch(ctx, id, error.exception(), text);
        self.release(id, ctx.now);
        if adjusts && self.transaction.is_some() {
            Idempotence::close_gap(&mut self.accumulator, place, failed);
        } else if adjusts {
            self.idempotence.request_bump(place);
        }
    }

    /// A fatal error of an idempotent producer: the sender gives up everything at its next turn.
    fn fail_for_good(&mut self, ctx: &mut Context<'_>, error: ErrorCode, text: &str) {
        if self.fatal.is_some() {
            return;
        }
        let fatal = exception(error.exception(), text);
        let fact = Fact::ClientFailed {
            producer: self.me,
            exception: Arc::clone(&fatal),
        };
        ctx.fact(self.rank, fact);
        self.fatal = Some(fatal);
        self.idempotence.state = ProducerIdState::Failed;
        self.sleep.wake_by(ctx.now);
    }

    fn may_retry(&mut self, ctx: &Context<'_>, id: BatchId, error: ErrorCode) -> bool {
        let now_ms = ctx.now.as_millis();
        let batch = self.accumulator.batches.get(id);
        let in_time = batch.age_ms(now_ms) < self.settings.delivery_timeout_ms;
        if !in_time || batch.attempts >= self.settings.retries {
            return false;
        }
        // No broker from 2.4 on says that it does not know a producer, and none could say where its
        // log begins: then the client asks again.
        if self.idempotence.is_on() && error == ErrorCode::UnknownProducerId {
            return true;
        }
        if !self.idempotence.is_on() || error != ErrorCode::OutOfOrderSequenceNumber {
            return error.is_retriable();
        }
        // An earlier batch that is still to come will fix it; else the client bumps its epoch.
        let sequences = self.accumulator.queues[batch.queue as usize].sequences;
        let follows = batch.base_sequence == next_sequence(sequences.last_acked, 1);
        if self.transaction.is_some() {
            return sequences.unresolved.is_none() && !follows;
        }
        if sequences.unresolved.is_none() && follows {
            self.idempotence.request_bump(batch.queue);
        }
        true
    }

    fn retry(&mut self, ctx: &mut Context<'_>, id: BatchId, error: ErrorCode) {
        let now_ms = ctx.now.as_millis();
        self.accumulator.reenqueue(id, now_ms);
        let batch = self.accumulator.batches.get(id);
        let place = batch.queue;
        // The client may have heard of a newer leader while the batch was under way.
        if self.accumulator.queues[place as usize].leader_epoch > batch.leader_epoch {
            self.skip_backoff_of(id);
        }
        let batch = self.accumulator.batches.get(id);
        let queue = &self.accumulator.queues[batch.queue as usize];
        self.metrics
            .batch_retried(queue.topic.index(), batch.records, now_ms);
        let (partition, records, attempts) = (queue.partition, batch.records, batch.attempts);
        let fact = Fact::BatchRetried {
            producer: self.me,
            partition,
            records,
            attempts,
            error,
        };
        let trace = Trace {
            at: ctx.now,
            producer: self.me,
            partition,
            first_ordinal: batch.first_ordinal,
            records,
            step: TraceStep::Retried { error },
        };
        ctx.trace(trace);
        ctx.fact(self.rank, fact);
    }
}
