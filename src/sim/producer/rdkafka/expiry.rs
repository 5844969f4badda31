//! What takes too long: messages in queues, requests on their way, connections under way.
//!
//! Source: `rd_kafka_broker_timeout_scan`, `rd_kafka_msgq_age_scan`,
//! `rd_kafka_broker_bufq_timeout_scan`, `rd_kafka_topic_scan_all`.

use std::collections::VecDeque;

use crate::kafka::rdkafka_error::RdkafkaError;
use crate::sim::context::Context;
use crate::sim::fact::Disconnect;
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::sim::producer::connections::InFlight;
use crate::sim::producer::rdkafka::retry::Lost;
use crate::sim::producer::rdkafka::toppar::Message;
use crate::sim::producer::rdkafka::transaction::Bump;
use crate::sim::producer::rdkafka::{Rdkafka, SCAN_INTERVAL, exception};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::ConnectionState;

impl Rdkafka {
    /// When a message is given up.
    pub(super) fn expires_at(&self, message: &Message) -> SimTime {
        let timeout = self.settings.message_timeout_ms;
        timeout.map_or(SimTime::NEVER, |ms| {
            message.enqueued + SimSpan::from_millis(ms)
        })
    }

    /// Whether a thread notices messages' deadlines while it waits to connect: since 2.16.
    fn notices_deadlines(&self, broker: Option<BrokerIndex>) -> bool {
        let Some(broker) = broker else { return false };
        let slot = self.connections.slot_of(broker);
        let is_up = self.connections.get(slot).state == ConnectionState::Ready;
        is_up || self.settings.version.expires_while_disconnected()
    }

    /// Messages of a partition that are too old fail, from the oldest on; says when the next one
    /// will be.
    pub(super) fn expire(&mut self, ctx: &mut Context<'_>, place: u32) -> SimTime {
        let thread = self.toppars[place as usize].thread;
        if self.settings.message_timeout_ms.is_none() {
            return SimTime::NEVER;
        }
        let Some((head, _)) = self.toppars[place as usize].head() else {
            return SimTime::NEVER;
        };
        let is_scanned = self.is_scanned(thread, ctx.now);
        if self.expires_at(&head) > ctx.now || !is_scanned {
            let notices = self.notices_deadlines(thread);
            let at = self.expires_at(&head);
            return if notices {
                at.max(ctx.now)
            } else {
                SimTime::NEVER
            };
        }
        let mut gone = Vec::new();
        while let Some((head, _)) = self.toppars[place as usize].head()
            && self.expires_at(&head) <= ctx.now
        {
            let toppar = &mut self.toppars[place as usize];
            match toppar.pop_returned() {
                Some(returned) => gone.push((returned.ordinal, returned.message)),
                None => gone.extend(toppar.pop_fresh()),
            }
        }
        self.fail(ctx, place, &gone, &exception(RdkafkaError::MsgTimedOut));
        if self.transactions.is_some() {
            self.expire_in_transaction(ctx, (place, gone.len()));
        } else if self.settings.idempotence.is_on() {
            self.drain_and_bump(place);
        }
        let next = self.toppars[place as usize].head();
        next.map_or(SimTime::NEVER, |(head, _)| self.expires_at(&head))
    }

    /// Messages of a transaction were too old: it can only be aborted.
    fn expire_in_transaction(&mut self, ctx: &mut Context<'_>, (place, count): (u32, usize)) {
        let toppar = &self.toppars[place as usize];
        let topic = &ctx.config.topics[toppar.topic.index()].name;
        let text = format!(
            "{count} message(s) timed out on {topic} [{}]",
            toppar.number
        );
        self.fail_transaction(ctx, (RdkafkaError::TimedOut, text), Bump::AfterAbort);
    }

    /// Whether the thread looks at ages now: every second, and where it notices deadlines always.
    fn is_scanned(&self, thread: Option<BrokerIndex>, now: SimTime) -> bool {
        match thread {
            Some(broker) if !self.notices_deadlines(thread) => {
                let thread = &self.threads[broker.index()];
                // An older client sleeps through its wait to connect.
                thread.reconnect_at.is_none_or(|at| at <= now)
            }
            _ => true,
        }
    }

    /// When a thread that has anything at all looks at ages next.
    pub(super) fn next_scan(&self, broker: BrokerIndex) -> SimTime {
        let thread = &self.threads[broker.index()];
        let slot = self.connections.slot_of(broker);
        let connection = self.connections.get(slot);
        let has_messages = || {
            let queued = |&place: &u32| self.toppars[place as usize].queued.messages > 0;
            self.settings.message_timeout_ms.is_some() && thread.toppars.iter().any(queued)
        };
        let is_idle = connection.in_flight.is_empty()
            && thread.outbufs.is_empty()
            && connection.state != ConnectionState::Connecting
            && !has_messages();
        if is_idle {
            return self.idle_at(slot);
        }
        thread.scan_at.min(self.idle_at(slot))
    }

    /// When a connection has idled for too long.
    fn idle_at(&self, slot: u16) -> SimTime {
        let connection = self.connections.get(slot);
        match self.settings.connections.idle_max_ms {
            Some(idle_ms) if connection.state == ConnectionState::Ready => {
                SimTime::from_millis(connection.used_ms.saturating_add(idle_ms))
            }
            _ => SimTime::NEVER,
        }
    }

    /// Once a second: requests whose time is over, and connections.
    pub(super) fn time_out_requests(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        let slot = self.connections.slot_of(broker);
        let is_idle = self.idle_at(slot) <= ctx.now;
        if is_idle && self.connections.get(slot).in_flight.is_empty() {
            self.lose_connection(ctx, slot, Disconnect::Idle);
            return;
        }
        if self.threads[broker.index()].scan_at > ctx.now {
            return;
        }
        let since = ctx.now.since(self.start).as_nanos() / SCAN_INTERVAL.as_nanos();
        self.threads[broker.index()].scan_at = self.start + SCAN_INTERVAL.times(since + 1);
        let connection = self.connections.get(slot);
        if connection.state == ConnectionState::Connecting
            && connection.setup_deadline_ms <= ctx.now.as_millis()
        {
            self.lose_connection(ctx, slot, Disconnect::SetupTimeout);
            return;
        }
        self.time_out_in_flight(ctx, (broker, slot));
    }

    fn time_out_in_flight(&mut self, ctx: &mut Context<'_>, (broker, slot): (BrokerIndex, u16)) {
        let now = ctx.now;
        let is_late = |sent: &InFlight| sent.deadline <= now;
        let connection = self.connections.get_mut(slot);
        let late: Vec<InFlight> = connection
            .in_flight
            .iter()
            .copied()
            .filter(is_late)
            .collect();
        connection.in_flight.retain(|sent| !is_late(sent));
        let thread = &mut self.threads[broker.index()];
        let outbufs = std::mem::take(&mut thread.outbufs);
        let (late_out, kept): (VecDeque<_>, VecDeque<_>) =
            outbufs.into_iter().partition(|out| out.deadline <= now);
        thread.outbufs = kept;
        let count = (late.len() + late_out.len()) as u32;
        if count == 0 {
            return;
        }
        self.statistics.brokers[broker.index()].request_timeouts += u64::from(count);
        for sent in late {
            self.give_up(ctx, (sent.request, sent.api), Lost::TimedOut);
        }
        for out in late_out {
            ctx.requests.release(out.request);
            self.give_up(ctx, (out.request, out.api), Lost::TimedOutQueue);
        }
        let thread = &mut self.threads[broker.index()];
        thread.timed_out += count;
        let fails_max = self.settings.connections.socket_fails_max;
        if fails_max.is_some_and(|max| self.threads[broker.index()].timed_out >= max) {
            self.lose_connection(ctx, slot, Disconnect::RequestTimeout);
        }
    }

    /// Once a second, the main thread: messages that wait for metadata or a leader.
    pub(super) fn scan_topics(&mut self, ctx: &mut Context<'_>) {
        for topic in (0..self.topics.len() as u16).map(TopicIndex) {
            let is_late = |first: &super::partitioning::Unassigned| {
                self.expires_at(&first.message) <= ctx.now
            };
            let waiting = &self.topics[topic.index()].unassigned;
            let late = waiting.iter().take_while(|first| is_late(first)).count();
            if late > 0 {
                let error = exception(RdkafkaError::MsgTimedOut);
                self.expire_unassigned(ctx, topic, late, error);
            }
        }
        for place in 0..self.toppars.len() as u32 {
            if self.toppars[place as usize].thread.is_none() {
                self.expire(ctx, place);
            }
        }
    }
}
