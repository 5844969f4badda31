//! The idempotent producer: one producer id, sequences by message number, and an epoch that is
//! bumped when nothing at all is in flight.
//!
//! Source: `rdkafka_idempotence.c`, `rd_kafka_handle_Produce_error` and
//! `rd_kafka_handle_idempotent_Produce_error`, `rd_kafka_toppar_pid_change`.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::settings::{RdkafkaIdempotence, RdkafkaProducerSettings};
use crate::kafka::wire::init_producer_id_request_bytes;
use crate::sim::context::Context;
use crate::sim::exception::Remedy;
use crate::sim::fact::Fact;
use crate::sim::partition::next_sequence;
use crate::sim::producer::rdkafka::batch::Batch;
use crate::sim::producer::rdkafka::retry::{Again, Counts, Leader, again};
use crate::sim::producer::rdkafka::serve::Outgoing;
use crate::sim::producer::rdkafka::toppar::{Drain, Persisted};
use crate::sim::producer::rdkafka::transaction::Bump;
use crate::sim::producer::rdkafka::{Rdkafka, exception, exception_for, exception_with};
use crate::sim::request::{ApiKey, RequestId};
use crate::sim::time::{SimSpan, SimTime};

/// Between two attempts to get a producer id, and before the first (`RD_KAFKA_PID_RETRY_…`).
pub const RETRY_INTERVAL: SimSpan = SimSpan::from_millis(500);

/// The client's producer id (`eos.idemp_state`).
#[derive(Clone, Copy, Debug)]
pub struct ProducerIds {
    /// How far it is.
    pub state: State,
    /// Since when.
    pub since: SimTime,
    /// `eos.epoch_cnt`: how often it got an id or an epoch.
    pub epochs: u64,
}

/// How far the producer id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `enable.idempotence=false`.
    Off,
    /// `Init`: `init_transactions()` was not called.
    Init,
    /// `RequestPID`: asked for not before this moment.
    Wanted {
        /// When.
        at: SimTime,
    },
    /// `WaitPID`: asked for.
    Asked,
    /// `Assigned`.
    Assigned {
        /// The id.
        producer_id: i64,
        /// Its epoch.
        epoch: i16,
    },
    /// `DrainBump`: nothing is sent until nothing is in flight, and then with the next epoch.
    DrainBump {
        /// The id.
        producer_id: i64,
        /// The epoch that ends.
        epoch: i16,
    },
    /// `WaitTxnAbort`: nothing is sent until the transaction is aborted, and then the epoch ends.
    WaitTxnAbort {
        /// The id.
        producer_id: i64,
        /// The epoch that ends.
        epoch: i16,
    },
}

impl ProducerIds {
    /// The state of a new client: the first attempt comes with a timer, or with
    /// `init_transactions()`.
    pub fn new(settings: &RdkafkaProducerSettings, now: SimTime) -> Self {
        let state = if settings.transactional_id.is_some() {
            State::Init
        } else if settings.idempotence.is_on() {
            State::Wanted {
                at: now + RETRY_INTERVAL,
            }
        } else {
            State::Off
        };
        Self {
            state,
            since: now,
            epochs: 0,
        }
    }

    /// Producer id and epoch, once assigned.
    pub const fn current(&self) -> Option<(i64, i16)> {
        match self.state {
            State::Assigned { producer_id, epoch }
            | State::DrainBump { producer_id, epoch }
            | State::WaitTxnAbort { producer_id, epoch } => Some((producer_id, epoch)),
            _ => None,
        }
    }

    /// Another state.
    pub fn set(&mut self, state: State, now: SimTime) {
        (self.state, self.since) = (state, now);
    }
}

impl Rdkafka {
    /// Asks for a producer id when it is time, and bumps the epoch when nothing is in flight; says
    /// when to look again.
    pub(super) fn serve_producer_id(&mut self, ctx: &mut Context<'_>) -> SimTime {
        match self.producer_ids.state {
            State::Wanted { at } if at <= ctx.now && self.transactions.is_some() => {
                self.want_transactional_id(ctx)
            }
            State::Wanted { at } if at <= ctx.now && self.fatal.is_none() => {
                let Some(broker) = self.usable_broker(ctx.now) else {
                    let at = ctx.now + RETRY_INTERVAL;
                    self.producer_ids.state = State::Wanted { at };
                    return at;
                };
                let slot = self.connections.slot_of(broker);
                let request = self
                    .connections
                    .open_request(ctx, slot, ApiKey::InitProducerId);
                let out = Outgoing {
                    request,
                    api: ApiKey::InitProducerId,
                    bytes: init_producer_id_request_bytes(self.client_id.len() as u32, None),
                    queued: ctx.now,
                    deadline: self.socket_deadline(ctx.now),
                };
                self.threads[broker.index()].outbufs.push_back(out);
                self.wake_thread(broker, ctx.now);
                self.producer_ids.set(State::Asked, ctx.now);
                SimTime::NEVER
            }
            State::Wanted { at } => at,
            State::DrainBump { .. } if self.transactions.is_some() => {
                if !self.is_drained() {
                    return SimTime::NEVER;
                }
                // Only the coordinator can give the next epoch.
                let at = ctx.now + SimSpan::from_millis(1);
                self.producer_ids.set(State::Wanted { at }, ctx.now);
                at
            }
            State::DrainBump { producer_id, epoch } => {
                if self.is_drained() {
                    self.assign_producer_id(ctx, (producer_id, (epoch + 1) & i16::MAX));
                }
                SimTime::NEVER
            }
            _ => SimTime::NEVER,
        }
    }

    /// Asks the coordinator, or for it; what it answers, or its connection, comes in between.
    fn want_transactional_id(&mut self, ctx: &mut Context<'_>) -> SimTime {
        if self.fatal.is_some() {
            return SimTime::NEVER;
        }
        if self.ask_for_producer_id(ctx) {
            self.producer_ids.set(State::Asked, ctx.now);
            return SimTime::NEVER;
        }
        let at = ctx.now + RETRY_INTERVAL;
        self.producer_ids.state = State::Wanted { at };
        at
    }

    /// Whether an epoch ends and nothing that carries it is in flight.
    pub(super) fn is_drained(&self) -> bool {
        matches!(self.producer_ids.state, State::DrainBump { .. })
            && self.toppars.iter().all(|toppar| toppar.in_flight == 0)
    }

    pub(super) fn producer_id_came(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        let given = ctx.requests.get(id).producer_id;
        self.assign_producer_id(ctx, given);
    }

    pub(super) fn producer_id_failed(&mut self, now: SimTime) {
        let at = now + RETRY_INTERVAL;
        self.producer_ids.set(State::Wanted { at }, now);
        self.wake_by(at);
    }

    /// A producer id, or another epoch.
    pub(super) fn assign_producer_id(
        &mut self,
        ctx: &mut Context<'_>,
        (producer_id, epoch): (i64, i16),
    ) {
        self.producer_ids
            .set(State::Assigned { producer_id, epoch }, ctx.now);
        self.producer_ids.epochs += 1;
        self.producer_id_assigned((producer_id, epoch));
        let fact = Fact::ProducerIdAssigned {
            producer: self.me,
            producer_id,
            epoch,
        };
        ctx.fact(self.rank, fact);
        self.wake_all_threads(ctx.now);
    }

    /// Whether a partition may send as far as producer ids go. One with another id adopts the
    /// present one when nothing of it is in flight, and its sequences start again.
    pub(super) fn adopt_producer_id(&mut self, place: u32) -> bool {
        let State::Assigned { producer_id, epoch } = self.producer_ids.state else {
            return self.producer_ids.state == State::Off;
        };
        let toppar = &mut self.toppars[place as usize];
        if toppar.sequences.producer_id == (producer_id, epoch) {
            return true;
        }
        if toppar.in_flight > 0 {
            return false;
        }
        let first = toppar.returned.front().map(|returned| returned.ordinal);
        let sequences = &mut toppar.sequences;
        sequences.producer_id = (producer_id, epoch);
        sequences.base = first.unwrap_or(toppar.next_ordinal - toppar.fresh.len() as u64);
        (sequences.next_ack, sequences.next_err) = (0, 0);
        true
    }

    /// A batch was written: what was sent before and waits to be sent again was written too.
    pub(super) fn acknowledge_sequences(&mut self, ctx: &mut Context<'_>, batch: &Batch) {
        let Some(run) = batch.runs.first() else {
            return;
        };
        let toppar = &mut self.toppars[batch.toppar as usize];
        if toppar.sequences.producer_id == batch.producer_id {
            let next = next_sequence(batch.base_sequence, batch.len() as i32);
            (toppar.sequences.next_ack, toppar.sequences.next_err) = (next, next);
        }
        toppar.sequences.acked = Some(run.first + batch.len() - 1);
        let mut written = Vec::new();
        while let Some(returned) = toppar.returned.front()
            && returned.ordinal < run.first
        {
            written.extend(toppar.pop_returned());
        }
        for returned in written {
            let message = (returned.ordinal, returned.message);
            self.delivered_implicitly(ctx, batch.toppar, message);
        }
    }

    /// What a refusal means to an idempotent producer, where it means something else; says whether
    /// it did.
    pub(super) fn refuse_idempotent(
        &mut self,
        ctx: &mut Context<'_>,
        batch: &Batch,
        code: ErrorCode,
    ) -> bool {
        let place = batch.toppar;
        let sequences = self.toppars[place as usize].sequences;
        let error = RdkafkaError::of_broker(code);
        if sequences.producer_id != batch.producer_id {
            self.fail_batch(ctx, batch, &exception(error));
            return true;
        }
        if self.transactions.is_some() && self.refuse_transactional(ctx, batch, code) {
            return true;
        }
        let was_tried = batch.runs.first().is_some_and(|run| run.retries > 0);
        match code {
            ErrorCode::DuplicateSequenceNumber => {
                self.acknowledge_sequences(ctx, batch);
                for (run, messages) in batch.parts() {
                    for (ordinal, message) in (run.first..).zip(messages) {
                        self.delivered_implicitly(ctx, place, (ordinal, *message));
                    }
                }
            }
            ErrorCode::OutOfOrderSequenceNumber if batch.base_sequence > sequences.next_ack => {
                self.rewind(ctx, batch, error, code);
            }
            ErrorCode::OutOfOrderSequenceNumber => {
                let what = if batch.base_sequence == sequences.next_ack {
                    "sequence desynchronization with broker"
                } else {
                    "rewound sequence number"
                };
                let text = format!("{}: failed due to {what}", error.text());
                self.fail_fatally(ctx, error, text);
                self.fail_batch(ctx, batch, &exception(error));
            }
            ErrorCode::UnknownProducerId
                if !was_tried && batch.base_sequence == sequences.next_err =>
            {
                self.rewind(ctx, batch, error, code);
            }
            ErrorCode::UnknownProducerId => {
                self.fail_fatally(ctx, error, error.text().to_owned());
                self.fail_batch(ctx, batch, &exception(error));
            }
            code if again(code).is_some() => return false,
            _ => {
                self.note_error(batch);
                self.fail_batch(ctx, batch, &exception(error));
                if self.settings.idempotence == RdkafkaIdempotence::Gapless {
                    let gapless = RdkafkaError::GaplessGuarantee;
                    self.fail_fatally(ctx, gapless, gapless.text().to_owned());
                } else {
                    self.drain_and_bump(place);
                }
            }
        }
        true
    }

    fn note_error(&mut self, batch: &Batch) {
        let sequences = &mut self.toppars[batch.toppar as usize].sequences;
        sequences.next_err = next_sequence(batch.base_sequence, batch.len() as i32);
    }

    /// The batch is sent again under the next epoch, without counting.
    fn rewind(
        &mut self,
        ctx: &mut Context<'_>,
        batch: &Batch,
        error: RdkafkaError,
        code: ErrorCode,
    ) {
        self.note_error(batch);
        let again = Again {
            counts: Counts::No,
            persisted: Persisted::No,
            leader: Leader::Same,
            error,
            code,
        };
        self.send_again(ctx, batch, again);
        if self.transactions.is_some() {
            let text = format!("{}: skipped sequence numbers", error.text());
            return self.fail_transaction(ctx, (error, text), Bump::AfterAbort);
        }
        self.drain_and_bump(batch.toppar);
    }

    /// What a refusal means to a transaction; says whether it meant something else than to an
    /// idempotent producer.
    fn refuse_transactional(
        &mut self,
        ctx: &mut Context<'_>,
        batch: &Batch,
        code: ErrorCode,
    ) -> bool {
        let is_known = matches!(
            code,
            ErrorCode::DuplicateSequenceNumber | ErrorCode::OutOfOrderSequenceNumber
        );
        if is_known || again(code).is_some() {
            return false;
        }
        let error = RdkafkaError::of_broker(code);
        let is_fenced = matches!(
            code,
            ErrorCode::InvalidProducerEpoch | ErrorCode::ProducerFenced
        );
        let meaning = if is_fenced {
            "transactional producer fenced by newer producer instance"
        } else {
            "current transaction must be aborted"
        };
        let text = self.refusal(ctx, batch, (error, meaning));
        self.note_error(batch);
        self.fail_batch(ctx, batch, &exception(error));
        if is_fenced {
            self.fail_fatally(ctx, RdkafkaError::Fenced, text);
        } else {
            self.fail_transaction(ctx, (error, text), Bump::AfterAbort);
        }
        true
    }

    fn refusal(
        &self,
        ctx: &Context<'_>,
        batch: &Batch,
        (error, meaning): (RdkafkaError, &str),
    ) -> String {
        let toppar = &self.toppars[batch.toppar as usize];
        let topic = &ctx.config.topics[toppar.topic.index()].name;
        let broker = toppar
            .thread
            .map(|broker| ctx.config.brokers[broker.index()].id);
        let broker = broker.map_or(-1, i64::from);
        let (producer_id, epoch) = batch.producer_id;
        format!(
            "ProduceRequest for {topic} [{}] with {} message(s) failed: {} (broker {broker} \
             PID{{Id:{producer_id},Epoch:{epoch}}}, base seq {}): {meaning}",
            toppar.number,
            batch.len(),
            error.text(),
            batch.base_sequence,
        )
    }

    /// A partition waits for what it has in flight; what was not sent yet comes back.
    pub(super) fn drain(&mut self, ctx: &mut Context<'_>, place: u32) {
        self.toppars[place as usize].sequences.drain = Drain::Until;
        self.pull_back(ctx, place);
    }

    /// The epoch ends: everything waits until nothing is in flight.
    pub(super) fn drain_and_bump(&mut self, place: u32) {
        self.toppars[place as usize].sequences.drain = Drain::Until;
        if let State::Assigned { producer_id, epoch } = self.producer_ids.state {
            self.producer_ids.state = State::DrainBump { producer_id, epoch };
            self.wakes_at = SimTime::ZERO;
        }
    }

    /// Nothing can be sent any more.
    pub(super) fn fail_for_good(
        &mut self,
        ctx: &mut Context<'_>,
        error: RdkafkaError,
        text: String,
    ) {
        if self.fatal.is_some() {
            return;
        }
        let fatal = if self.transactions.is_some() {
            exception_for(error, text, Remedy::NewClient)
        } else {
            exception_with(error, text)
        };
        let fact = Fact::ClientFailed {
            producer: self.me,
            exception: Arc::clone(&fatal),
        };
        ctx.fact(self.rank, fact);
        self.fatal = Some(fatal);
    }
}
