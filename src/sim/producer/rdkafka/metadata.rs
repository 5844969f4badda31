//! Metadata: what the client asks for, when, and what it makes of the answer.
//!
//! Source: `rd_kafka_metadata_refresh_topics`, `rd_kafka_metadata_fast_leader_query`,
//! `rd_kafka_topic_metadata_update`, `rd_kafka_topic_scan_all`.
//!
//! Simplification: a request lists every topic that was used; the client splits them by what is
//! known of each.

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::wire::metadata_request_bytes;
use crate::sim::context::Context;
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex};
use crate::sim::metadata::Image;
use crate::sim::producer::rdkafka::partitioning::Knowledge;
use crate::sim::producer::rdkafka::retry::{Again, Counts, Leader};
use crate::sim::producer::rdkafka::serve::Outgoing;
use crate::sim::producer::rdkafka::toppar::{Drain, Persisted, Toppar};
use crate::sim::producer::rdkafka::{Rdkafka, SCAN_INTERVAL, exception};
use crate::sim::request::{ApiKey, RequestId};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::ConnectionState;

/// The main thread's plans.
#[derive(Clone, Copy, Debug)]
pub struct Metadata {
    /// Whether a request is on its way.
    pub request: Request,
    /// When the next question is due that something gave a reason for.
    asks_at: SimTime,
    /// How often it was asked in a row while a leader is unknown.
    repeats: u32,
    /// When the latest answer came.
    pub told: Option<SimTime>,
    /// When topics are looked at next.
    scan_at: SimTime,
}

/// Whether a metadata request is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// No.
    None,
    /// Yes.
    Sent,
}

/// What an answer said about leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaders {
    /// All are known.
    Known,
    /// Some partition has none, or some topic is unknown.
    Missing,
}

impl Metadata {
    /// Nothing known; the first question comes with the first topic.
    pub fn new(now: SimTime) -> Self {
        Self {
            request: Request::None,
            asks_at: SimTime::NEVER,
            repeats: 0,
            told: None,
            scan_at: now + SCAN_INTERVAL,
        }
    }
}

impl Rdkafka {
    /// What the main thread does: producer ids, metadata, ages, statistics; says when it has
    /// something to do again.
    pub(super) fn run_main(&mut self, ctx: &mut Context<'_>) -> SimTime {
        self.statistics.run(ctx.now);
        let mut next = self.statistics.emit_at;
        if self.metadata.scan_at <= ctx.now {
            let since = ctx.now.since(self.start).as_nanos() / SCAN_INTERVAL.as_nanos();
            self.metadata.scan_at = self.start + SCAN_INTERVAL.times(since + 1);
            self.scan_topics(ctx);
            self.ask_for_lost_leaders(ctx.now);
        }
        next = next.min(self.metadata.scan_at);
        next = next.min(self.serve_producer_id(ctx));
        next = next.min(self.serve_transaction(ctx));
        next.min(self.serve_metadata(ctx))
    }

    /// Something new is wanted at once.
    pub(super) fn ask_for_metadata(&mut self, now: SimTime) {
        self.metadata.asks_at = self.metadata.asks_at.min(now);
        self.wake_by(now);
    }

    /// A leader may have changed: one question at once, and then others until every leader is
    /// known.
    pub(super) fn suspect_leaders(&mut self, now: SimTime) {
        self.ask_for_metadata(now);
    }

    /// The scan of every second asks about topics whose leader's connection is down.
    fn ask_for_lost_leaders(&mut self, now: SimTime) {
        let is_lost = |toppar: &Toppar| {
            toppar.thread.is_none_or(|broker| {
                let slot = self.connections.slot_of(broker);
                let state = self.connections.get(slot).state;
                toppar.queued.messages > 0 && state == ConnectionState::Disconnected
            })
        };
        let is_unknown = |topic: &super::partitioning::Topic| {
            topic.first_used.is_some() && topic.knowledge != Knowledge::Known
        };
        if self.toppars.iter().any(is_lost) || self.topics.iter().any(is_unknown) {
            self.ask_for_metadata(now);
        }
    }

    /// When the next question is due.
    fn asks_at(&self) -> SimTime {
        let refresh = self.settings.metadata.refresh_interval_ms;
        let by_age = match (refresh, self.metadata.told) {
            (Some(ms), Some(told)) => told + SimSpan::from_millis(ms),
            _ => SimTime::NEVER,
        };
        self.metadata.asks_at.min(by_age)
    }

    fn serve_metadata(&mut self, ctx: &mut Context<'_>) -> SimTime {
        if self.metadata.request == Request::Sent {
            return SimTime::NEVER;
        }
        let at = self.asks_at();
        if at > ctx.now {
            return at;
        }
        // Without a usable broker the question waits for the first connection that stands.
        let Some(broker) = self.usable_broker(ctx.now) else {
            return SimTime::NEVER;
        };
        let topics: Vec<TopicIndex> = (0..)
            .zip(&self.topics)
            .filter(|(_, topic)| topic.first_used.is_some())
            .map(|(place, _)| TopicIndex(place))
            .collect();
        let names: Vec<u32> = topics
            .iter()
            .map(|topic| ctx.config.topics[topic.index()].name.len() as u32)
            .collect();
        let slot = self.connections.slot_of(broker);
        let request = self.connections.open_request(ctx, slot, ApiKey::Metadata);
        ctx.requests.get_mut(request).topics.extend(topics);
        let out = Outgoing {
            request,
            api: ApiKey::Metadata,
            bytes: metadata_request_bytes(self.client_id.len() as u32, &names),
            queued: ctx.now,
            deadline: self.socket_deadline(ctx.now),
        };
        self.threads[broker.index()].outbufs.push_back(out);
        self.wake_thread(broker, ctx.now);
        self.metadata.request = Request::Sent;
        self.metadata.asks_at = SimTime::NEVER;
        SimTime::NEVER
    }

    /// A metadata request failed with its connection.
    pub(super) fn metadata_failed(&mut self, now: SimTime) {
        self.metadata.request = Request::None;
        self.ask_for_metadata(now);
    }

    /// An answer replaces what was known, partition by partition where it is not older.
    pub(super) fn learn(&mut self, ctx: &mut Context<'_>, id: RequestId) {
        self.metadata.request = Request::None;
        self.metadata.told = Some(ctx.now);
        let request = ctx.requests.get(id);
        let Some(image) = request.image.clone() else {
            return;
        };
        let topics = request.topics.clone();
        let (mut leaders, mut is_news) = (Leaders::Known, false);
        for topic in topics {
            let known = image.topic(topic);
            if known.partitions.is_empty() {
                leaders = Leaders::Missing;
                self.topic_is_unknown(ctx, topic);
                continue;
            }
            let is_new = self.topics[topic.index()].knowledge != Knowledge::Known;
            is_news |= is_new;
            self.learn_partitions(ctx, topic, &known.partitions);
            if is_new {
                self.assign(ctx, topic);
            }
            for place in self.topics[topic.index()].toppars.clone() {
                match self.learn_leader(ctx, place, &image) {
                    Learned::Nothing => {}
                    Learned::Leader => is_news = true,
                    Learned::NoLeader => leaders = Leaders::Missing,
                }
            }
        }
        self.plan_next_question(ctx.now, leaders);
        if is_news {
            let is_known =
                |topic: &&super::partitioning::Topic| topic.knowledge == Knowledge::Known;
            let fact = Fact::MetadataUpdated {
                producer: self.me,
                topics: self.topics.iter().filter(is_known).count() as u32,
            };
            ctx.fact(self.rank, fact);
        }
        self.wake_all_threads(ctx.now);
    }

    /// While a leader is unknown the question is repeated, less and less often.
    fn plan_next_question(&mut self, now: SimTime, leaders: Leaders) {
        if leaders == Leaders::Known {
            self.metadata.repeats = 0;
            return;
        }
        self.metadata.repeats = self.metadata.repeats.saturating_add(1);
        let first_ms = self.settings.metadata.refresh_fast_interval_ms;
        let doublings = (self.metadata.repeats - 1).min(20);
        let wait_ms = first_ms
            .saturating_mul(1 << doublings)
            .min(self.settings.retry_backoff_max_ms.max(first_ms));
        let wait = SimSpan::from_micros(wait_ms * self.jitter_percent() * 10);
        self.metadata.asks_at = self.metadata.asks_at.min(now + wait);
    }

    fn learn_partitions(
        &mut self,
        ctx: &mut Context<'_>,
        topic: TopicIndex,
        partitions: &[PartitionIndex],
    ) {
        let known = self.topics[topic.index()].toppars.len();
        if known > 0 && known < partitions.len() {
            let fact = Fact::PartitionsLearned {
                producer: self.me,
                topic,
                from: known as u32,
                to: partitions.len() as u32,
            };
            ctx.fact(self.rank, fact);
        }
        for &partition in partitions.iter().skip(known) {
            let number = partition.name().number;
            let earlier = self.first_ordinals.get(partition.index());
            let toppar = Toppar::new(partition, topic, number, earlier.copied().unwrap_or(0));
            self.topics[topic.index()]
                .toppars
                .push(self.toppars.len() as u32);
            self.toppars.push(toppar);
        }
        let state = &mut self.topics[topic.index()];
        (state.knowledge, state.told) = (Knowledge::Known, Some(ctx.now));
    }

    fn learn_leader(&mut self, ctx: &mut Context<'_>, place: u32, image: &Image) -> Learned {
        let toppar = &self.toppars[place as usize];
        // A broker that lags behind may not have heard of a partition that another one told of.
        let Some(state) = image.find(toppar.partition) else {
            return Learned::Nothing;
        };
        if state.epoch < toppar.leader_epoch {
            return Learned::Nothing;
        }
        let before = toppar.thread;
        self.toppars[place as usize].leader_epoch = state.epoch;
        if state.leader != before {
            self.move_to(ctx, place, state.leader);
        }
        match state.leader {
            None => Learned::NoLeader,
            leader if leader != before => Learned::Leader,
            _ => Learned::Nothing,
        }
    }

    /// A partition joins another broker's thread; what the old one did not send comes back.
    fn move_to(&mut self, ctx: &mut Context<'_>, place: u32, leader: Option<BrokerIndex>) {
        if let Some(before) = self.toppars[place as usize].thread {
            self.pull_back(ctx, place);
            let thread = &mut self.threads[before.index()];
            thread.toppars.retain(|&other| other != place);
        }
        let toppar = &mut self.toppars[place as usize];
        toppar.thread = leader;
        if self.settings.idempotence.is_on() && toppar.in_flight > 0 {
            toppar.sequences.drain = Drain::Until;
        }
        if let Some(leader) = leader {
            let toppars = &mut self.threads[leader.index()].toppars;
            let at = toppars.partition_point(|&other| other < place);
            toppars.insert(at, place);
        }
    }

    /// Requests of a partition that are not on the wire: their messages go back, with a backoff.
    pub(super) fn pull_back(&mut self, ctx: &mut Context<'_>, place: u32) {
        let Some(broker) = self.toppars[place as usize].thread else {
            return;
        };
        let outbufs = std::mem::take(&mut self.threads[broker.index()].outbufs);
        for out in outbufs {
            let part = ctx.requests.get(out.request).parts.first().copied();
            let partition = self.toppars[place as usize].partition;
            let Some(part) = part.filter(|part| part.partition == partition) else {
                self.threads[broker.index()].outbufs.push_back(out);
                continue;
            };
            let batch = self.batches.take(part.batch);
            self.land(&batch);
            let again = Again {
                counts: Counts::No,
                persisted: Persisted::No,
                leader: Leader::Same,
                error: RdkafkaError::MsgTimedOut,
                code: crate::kafka::error::ErrorCode::NotLeaderOrFollower,
            };
            let jitter = self.jitter_percent();
            let last = batch
                .runs
                .last()
                .map_or(0, |run| run.first + u64::from(run.count) - 1);
            for (run, messages) in batch.parts() {
                self.return_run(ctx, place, (run, messages, last), (again, jitter));
            }
            self.batches.close(part.batch, batch);
            ctx.requests.release(out.request);
            ctx.requests.release(out.request);
        }
    }

    /// The cluster does not have a topic: that is believed when it had time to get it.
    fn topic_is_unknown(&mut self, ctx: &mut Context<'_>, topic: TopicIndex) {
        let grace = SimSpan::from_millis(self.settings.metadata.propagation_max_ms);
        let state = &mut self.topics[topic.index()];
        let is_over = state
            .first_used
            .is_some_and(|first| ctx.now.since(first) >= grace);
        if !is_over || state.knowledge == Knowledge::Known {
            return;
        }
        state.knowledge = Knowledge::Missing;
        let count = state.unassigned.len();
        let error = exception(RdkafkaError::UnknownTopicOrPart);
        self.expire_unassigned(ctx, topic, count, error);
    }
}

/// What an answer told about one partition.
enum Learned {
    /// Nothing new.
    Nothing,
    /// Another leader.
    Leader,
    /// That it has none.
    NoLeader,
}
